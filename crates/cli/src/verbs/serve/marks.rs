//! The file with the marks of the user, `FILE.marks.txt` next to the trace. The server writes no
//! other files, except the summaries of `cache` and the private file of `redirect`.
//!
//! The first line of the file is [`HEAD`]; the page interprets the other lines. The server replaces
//! a file only if the file has this first line, and its content has not changed since the page read
//! it.

use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tracewell::text::shown_path;

/// The first line of a marks file.
pub(super) const HEAD: &str = "# tracewell marks 1";

/// Maximum number of bytes of the file.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// Error for marks that cannot be read or written.
#[derive(Debug)]
pub(super) enum MarkError {
    /// The body of a request is not the content of a marks file.
    Content(String),
    /// The file has changed since the page read it.
    Changed(String),
    /// The file cannot be read or written, or is not a marks file.
    File(String),
}

/// The content of the file. The version is a hash of the content, and identifies it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Marks {
    pub(super) content: String,
    pub(super) version: u64,
}

impl Marks {
    fn new(content: String) -> Self {
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        Self { version: hasher.finish(), content }
    }
}

/// The marks file.
#[derive(Debug)]
pub(super) struct MarkFile {
    path: PathBuf,
    /// The lock is held while the file is compared and replaced.
    writing: Mutex<()>,
}

impl MarkFile {
    /// Returns the marks file for a trace. A trace can be a folder; the marks file is next to it.
    pub(super) fn of(trace: &Path) -> Self {
        // The name of `trace/` is `trace`. `.` and `..` have no name.
        let named = match trace.file_name() {
            Some(name) => trace.with_file_name(name),
            None => fs::canonicalize(trace).unwrap_or_else(|_| trace.to_owned()),
        };
        let mut path = named.into_os_string();
        path.push(".marks.txt");
        Self { path: path.into(), writing: Mutex::new(()) }
    }

    /// Reads the file. If the file does not exist, the content is empty.
    pub(super) fn read(&self) -> Result<Marks, MarkError> {
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Marks::new(String::new()));
            }
            Err(error) => return Err(self.error(error)),
            Ok(found) if !found.is_file() => return Err(self.error("expected a regular file")),
            Ok(_) => {}
        }
        let mut bytes = Vec::new();
        let file = File::open(&self.path).map_err(|error| self.error(error))?;
        file.take(MAX_BYTES as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| self.error(error))?;
        let content = marks(bytes).map_err(|message| self.error(message))?;
        Ok(Marks::new(content))
    }

    /// Replaces the file if its version is still `was`. Returns the new marks.
    pub(super) fn write(&self, content: Vec<u8>, was: u64) -> Result<Marks, MarkError> {
        let content = marks(content).map_err(MarkError::Content)?;
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.read()?.version != was {
            return Err(MarkError::Changed(format!(
                "{}: another page or program has changed the marks: load this page again",
                shown_path(&self.path)
            )));
        }
        self.replace(content.as_bytes()).map_err(|error| self.error(error))?;
        Ok(Marks::new(content))
    }

    /// Writes a new file and renames it. If this fails, the old content stays.
    fn replace(&self, content: &[u8]) -> io::Result<()> {
        let mut new = self.path.as_os_str().to_owned();
        new.push(format!(".{}", std::process::id()));
        let mut file = OpenOptions::new().write(true).create_new(true).open(&new)?;
        let written = file.write_all(content).and_then(|()| fs::rename(&new, &self.path));
        written.inspect_err(|_| drop(fs::remove_file(&new)))
    }

    fn error(&self, message: impl std::fmt::Display) -> MarkError {
        MarkError::File(format!("{}: {message}", shown_path(&self.path)))
    }
}

/// Returns the content of a marks file as text. Returns an error message if the bytes are not a
/// marks file.
fn marks(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.len() > MAX_BYTES {
        return Err(format!("a marks file has at most {MAX_BYTES} bytes"));
    }
    let expected = || format!("not a marks file: expected the first line '{HEAD}' and UTF-8");
    let content = String::from_utf8(bytes).map_err(|_| expected())?;
    let first = content.lines().next();
    if first == Some(HEAD) { Ok(content) } else { Err(expected()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(marks: &str) -> Vec<u8> {
        format!("{HEAD}\n{marks}").into_bytes()
    }

    #[test]
    fn marks_replace_only_the_version_that_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = MarkFile::of(&folder.path().join("a.trx"));
        let none = file.read().unwrap();
        assert_eq!(none.content, "");
        let one = file.write(text("5 begin\n"), none.version).unwrap();
        assert_eq!(file.read().unwrap(), one);
        assert!(matches!(file.write(text("6 x\n"), none.version), Err(MarkError::Changed(_))));
        file.write(text("6 x\n"), one.version).unwrap();
        let content = fs::read(folder.path().join("a.trx.marks.txt")).unwrap();
        assert_eq!(content, text("6 x\n"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_marks_of_a_folder_are_next_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("trace");
        fs::create_dir_all(trace.join("sub")).unwrap();
        for name in ["trace", "trace/", "trace/sub/.."] {
            let file = MarkFile::of(&folder.path().join(name));
            let version = file.read().unwrap().version;
            file.write(text(name), version).unwrap();
            let content = fs::read(folder.path().join("trace.marks.txt")).unwrap();
            assert_eq!(content, text(name), "{name}");
        }
        assert_eq!(fs::read_dir(&trace).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_no_file_of_marks_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (trace, path) = (folder.path().join("a.trx"), folder.path().join("a.trx.marks.txt"));
        let file = MarkFile::of(&trace);
        let none = file.read().unwrap().version;
        fs::write(&path, "my notes\n").unwrap();
        assert!(matches!(file.read(), Err(MarkError::File(_))));
        assert!(matches!(file.write(text(""), none), Err(MarkError::File(_))));
        assert_eq!(fs::read(&path).unwrap(), b"my notes\n");
        fs::remove_file(&path).unwrap();
        for wrong in [b"".to_vec(), b"5 begin\n".to_vec(), [HEAD.as_bytes(), b"\n\xff"].concat()] {
            assert!(matches!(file.write(wrong, none), Err(MarkError::Content(_))));
        }
        assert!(matches!(
            file.write(text(&"x".repeat(MAX_BYTES)), none),
            Err(MarkError::Content(_))
        ));
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (trace, path) = (folder.path().join("a.trx"), folder.path().join("a.trx.marks.txt"));
        let target = folder.path().join("target");
        fs::write(&target, text("")).unwrap();
        std::os::unix::fs::symlink(&target, &path).unwrap();
        let file = MarkFile::of(&trace);
        let version = Marks::new(String::from_utf8(text("")).unwrap()).version;
        assert!(matches!(file.write(text("1 x\n"), version), Err(MarkError::File(_))));
        assert_eq!(fs::read(&target).unwrap(), text(""));
    }
}
