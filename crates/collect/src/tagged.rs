//! Merges the lines of several sources into one output. Each line begins with the name of its
//! source.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// The tag that names the source of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tag {
    /// Text before each line.
    pub before: String,
    /// The tag replaces this number of bytes at the start of each line.
    pub instead_of: usize,
    /// Text before the line of column names; `None` for output without column names. Only the first
    /// writer prints the line of column names.
    pub heading: Option<String>,
}

/// An output that several writers share. Each write must consist of whole lines.
///
/// ```
/// use std::io::Write;
/// use tracewell_collect::{SharedOutput, Tag};
///
/// let shared = SharedOutput::new(Vec::new());
/// let tag = Tag { before: "left: ".to_owned(), instead_of: 0, heading: None };
/// shared.writer(Some(tag)).write_all(b"one\ntwo\n")?;
/// assert_eq!(shared.into_inner(), b"left: one\nleft: two\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct SharedOutput<W> {
    state: Mutex<State<W>>,
}

#[derive(Debug)]
struct State<W> {
    out: W,
    headed: bool,
    lines: Vec<u8>,
}

impl<W: Write> SharedOutput<W> {
    /// Creates a shared output.
    pub fn new(out: W) -> Self {
        Self { state: Mutex::new(State { out, headed: false, lines: Vec::new() }) }
    }

    /// Returns the underlying output, without writing anything.
    pub fn into_inner(self) -> W {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).out
    }

    /// Returns a writer whose lines get this tag. With `None`, the writer passes the lines on
    /// unchanged.
    pub fn writer(&self, tag: Option<Tag>) -> TaggedWriter<'_, W> {
        TaggedWriter {
            output: self,
            heading: tag.as_ref().and_then(|tag| tag.heading.clone()),
            tag,
        }
    }
}

/// One of the writers that share an output.
#[derive(Debug)]
pub struct TaggedWriter<'a, W> {
    output: &'a SharedOutput<W>,
    tag: Option<Tag>,
    /// The heading for the first line; `None` after that line.
    heading: Option<String>,
}

impl<W: Write> Write for TaggedWriter<'_, W> {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let mut state = self.output.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Assemble lines under the lock and write them in one call, so that lines of two sources
        // never mix.
        let State { out, headed, lines: room } = &mut *state;
        let Some(tag) = &self.tag else {
            return out.write_all(lines).map(|()| lines.len());
        };
        room.clear();
        // The caller writes whole lines, so each part begins at the start of a line.
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let before = match self.heading.take() {
                // Another source has already printed the column names.
                Some(_) if std::mem::replace(headed, true) => continue,
                Some(heading) => heading,
                None => {
                    room.extend_from_slice(tag.before.as_bytes());
                    room.extend_from_slice(line.get(tag.instead_of..).unwrap_or(line));
                    continue;
                }
            };
            room.extend_from_slice(before.as_bytes());
            room.extend_from_slice(line);
        }
        out.write_all(room).map(|()| lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.state.lock().unwrap_or_else(PoisonError::into_inner).out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_its_tag_and_column_names_appear_once() {
        let mut out = Vec::new();
        let shared = SharedOutput::new(&mut out);
        let tag = |name: &str| Tag {
            before: format!("{name}\t"),
            instead_of: 0,
            heading: Some("source\t".to_owned()),
        };
        let (mut a, mut b) = (shared.writer(Some(tag("a"))), shared.writer(Some(tag("b"))));
        a.write_all(b"x\ty\n1\t2\n").unwrap();
        b.write_all(b"x\ty\n").unwrap();
        b.write_all(b"3\t4\n5\t6\n").unwrap();
        shared.writer(None).write_all(b"as it is\n").unwrap();
        let expected = "source\tx\ty\na\t1\t2\nb\t3\t4\nb\t5\t6\nas it is\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_tag_can_replace_the_start_of_a_line() {
        let mut out = Vec::new();
        let shared = SharedOutput::new(&mut out);
        let before = "{\"source\":\"a\",".to_owned();
        let mut writer = shared.writer(Some(Tag { before, instead_of: 1, heading: None }));
        writer.write_all(b"{\"seq\":0}\n").unwrap();
        assert_eq!(out, b"{\"source\":\"a\",\"seq\":0}\n");
    }
}
