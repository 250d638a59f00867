//! Traces that consist of several files in a folder.
//!
//! A format finds the files of such a trace, `input` maps them, and the decoder gets their bytes
//! through [`Settings::files`](super::Settings::files).

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Finds the files of the trace at a path. The path is the folder of the trace, or a file in this
/// folder. Returns `None` if the path is not a trace of the format.
pub type FindFiles = fn(&Path) -> io::Result<Option<FolderFiles>>;

/// The files of a trace that is stored in a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FolderFiles {
    /// The file that describes the trace. The decoder receives the bytes of this file as its input.
    pub main: PathBuf,
    /// All files, in the order in which the decoder gets them. They include `main`.
    pub files: Vec<PathBuf>,
}

/// A file of a trace that consists of several files.
///
/// ```
/// use std::sync::Arc;
///
/// use tracewell::format::TraceFile;
///
/// let file = TraceFile::new("trace/stream_0".into(), Arc::new(b"bytes".to_vec()));
/// assert_eq!((file.bytes(), file.name()), (&b"bytes"[..], "stream_0".into()));
/// ```
#[derive(Clone)]
pub struct TraceFile {
    path: PathBuf,
    bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
}

impl TraceFile {
    /// Creates a file from its path and its bytes. Messages show the path.
    pub fn new(path: PathBuf, bytes: Arc<dyn AsRef<[u8]> + Send + Sync>) -> Self {
        Self { path, bytes }
    }

    /// Returns the path as the user would type it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the last part of the path.
    pub fn name(&self) -> std::borrow::Cow<'_, str> {
        self.path.file_name().unwrap_or_default().to_string_lossy()
    }

    /// Returns the content of the file.
    pub fn bytes(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }
}

impl fmt::Debug for TraceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} bytes)", self.path.display(), self.bytes().len())
    }
}
