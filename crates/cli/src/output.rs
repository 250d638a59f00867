//! Writes results to standard output, to a file that appears only when it is complete, or directly
//! to an existing pipe or device.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use tracewell::text::fold;

use crate::draft::{Draft, DraftFolder, Ending};
use crate::inputs::Inputs;
pub(crate) use crate::outcome::stdout_path;
use crate::outcome::{Failure, Outcome};
use crate::pager::Stdout;
use crate::screen;

/// Returns standard output. The returned writer adds no buffer, so a caller that writes many lines
/// needs a buffer of its own.
pub(crate) fn stdout() -> Stdout {
    Stdout
}

/// Prints text on standard output, and folds its lines to the width of the screen.
pub(crate) fn print(text: &str) -> Outcome {
    outcome(write(text))
}

/// Prints text on standard output without folding its lines, because programs read it.
pub(crate) fn print_exactly(text: impl AsRef<[u8]>) -> Outcome {
    outcome(stdout().write_all(text.as_ref()))
}

fn outcome(written: io::Result<()>) -> Outcome {
    match written {
        Ok(()) => Outcome::Done,
        Err(error) => Failure::io(stdout_path(), &error).report(),
    }
}

/// Writes text for people to standard output, folded to the screen.
pub(crate) fn write(text: &str) -> io::Result<()> {
    stdout().write_all(folded(text, screen::width()).as_bytes())
}

/// Returns text whose lines are folded to `width` columns. If `width` is `None`, returns the text
/// unchanged.
fn folded(text: &str, width: Option<usize>) -> std::borrow::Cow<'_, str> {
    let Some(width) = width else { return text.into() };
    let mut folded = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let indent = line.len() - line.trim_start_matches(' ').len();
        folded.push_str(&fold(line, width, indent + CONTINUED));
        folded.push_str(end);
    }
    folded.into()
}

/// Number of additional spaces by which the continuation of a folded line is indented.
const CONTINUED: usize = 4;

/// A writer of text that folds its lines.
pub(crate) struct Folding<W> {
    out: W,
    width: Option<usize>,
    /// The beginning of a line whose end has not arrived yet.
    line: Vec<u8>,
}

impl<W: Write> Folding<W> {
    /// Creates a writer that folds lines to `width` columns and writes them to `out`. If `width` is
    /// `None`, it does not fold them.
    pub(crate) fn new(out: W, width: Option<usize>) -> Self {
        Self { out, width, line: Vec::new() }
    }
}

impl<W: Write> Write for Folding<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.width.is_none() {
            return self.out.write(bytes);
        }
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            self.line.extend_from_slice(bytes);
            return Ok(bytes.len());
        };
        let (lines, rest) = bytes.split_at(end + 1);
        self.line.extend_from_slice(lines);
        let lines = std::mem::take(&mut self.line);
        self.line.extend_from_slice(rest);
        self.out.write_all(folded(&String::from_utf8_lossy(&lines), self.width).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.line);
        self.out.write_all(folded(&String::from_utf8_lossy(&rest), self.width).as_bytes())?;
        self.out.flush()
    }
}

/// Runs `write` on a draft, which replaces the file at `path` if `write` succeeds. If `path` is
/// `-`, `write` writes to standard output.
///
/// Fails if the file is one of the inputs.
pub(crate) fn write_whole<T>(
    path: &Path,
    inputs: &Inputs,
    write: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if path == Path::new("-") {
        inputs.refuse_stdout()?;
        return buffered(stdout(), stdout_path(), write);
    }
    let (mut draft, file) = Draft::create(path, inputs, Ending::Removed)?;
    let result = buffered(file, path, write)?;
    draft.commit().map_err(|error| Failure::io(path, &error))?;
    Ok(result)
}

/// Runs `write` on the path of an empty draft folder, which becomes the folder at `path` if `write`
/// succeeds.
///
/// Fails if `path` exists and is not an empty folder.
pub(crate) fn write_folder<T>(
    path: &Path,
    inputs: &Inputs,
    write: impl FnOnce(&Path) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut draft = DraftFolder::create(path, inputs)?;
    let result = write(draft.path())?;
    draft.commit().map_err(|error| Failure::io(path, &error))?;
    Ok(result)
}

fn buffered<T>(
    out: impl Write,
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let result = write(&mut out)?;
    out.flush().map_err(|error| Failure::io(path, &error))?;
    Ok(result)
}
