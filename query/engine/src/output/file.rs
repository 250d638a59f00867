//! An output file that appears when it is complete. The program writes to pipes and devices
//! directly.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use tracewell::text::shown_path;

use crate::failure::Failure;

/// An output file. Unless it is a pipe or a device, it has a temporary name in its folder until
/// `commit`, and is removed if it is dropped without `commit`.
pub(crate) struct OutputFile {
    path: PathBuf,
    replaces: bool,
    content: Content,
}

enum Content {
    Partial(BufWriter<NamedTempFile>),
    Direct(BufWriter<File>),
}

impl OutputFile {
    /// Creates the file. Fails if the path exists and must not be replaced.
    pub(crate) fn create(path: &Path, replaces: bool) -> Result<Self, Failure> {
        let content = match path.metadata() {
            Ok(there) if !there.is_file() => {
                File::options().write(true).open(path).map(BufWriter::new).map(Content::Direct)
            }
            Ok(_) if !replaces => return Err(exists(path)),
            _ => partial(path).map(BufWriter::new).map(Content::Partial),
        };
        let content = content.map_err(|error| Failure::io(path, &error))?;
        Ok(Self { path: path.to_owned(), replaces, content })
    }

    /// Returns the writer of the content.
    pub(crate) fn writer(&mut self) -> &mut (dyn Write + Send) {
        match &mut self.content {
            Content::Partial(file) => file,
            Content::Direct(file) => file,
        }
    }

    /// Gives the file its final name. All content must be flushed.
    pub(crate) fn commit(self) -> Result<(), Failure> {
        let Self { path, replaces, content } = self;
        let Content::Partial(file) = content else { return Ok(()) };
        let file = file.into_inner().map_err(|error| Failure::io(&path, error.error()))?;
        let named = match replaces {
            true => file.persist(&path),
            false => file.persist_noclobber(&path),
        };
        match named {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(exists(&path)),
            Err(error) => Err(Failure::io(&path, &error.error)),
        }
    }
}

/// Creates a file under a temporary name beside its final name.
fn partial(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let prefix = format!("{}.", path.file_name().unwrap_or_default().to_string_lossy());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".partial");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The mask of the process still restricts the permissions, as for any new file.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder.unwrap_or(Path::new(".")))
}

fn exists(path: &Path) -> Failure {
    let path = shown_path(path);
    Failure::usage(format!("{path}: already exists: name a new file, or use --force"))
}
