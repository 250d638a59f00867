//! Where results go: standard output, a file that appears only when it is whole, or whatever else
//! is at a path already (a pipe, a device), which is written to and never replaced.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::outcome::Failure;

/// Standard output, in pieces as large as they come: the writers of lines have their own buffer.
pub(crate) fn stdout() -> impl Write {
    io::stdout().lock()
}

/// A path for messages about standard output.
pub(crate) fn stdout_path() -> &'static Path {
    Path::new("standard output")
}

/// Runs `write` on a draft of the file at `path`, which takes its place when all went well, or on standard
/// output for `-`.
pub(crate) fn write_whole<T>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if path == Path::new("-") {
        return buffered(stdout(), stdout_path(), write);
    }
    let (mut draft, file) = Draft::create(path)?;
    let result = buffered(file, path, write)?;
    draft.put().map_err(|error| Failure::io(path, &error))?;
    Ok(result)
}

/// A file that is written beside the one whose place it takes later. Until then what was there stays, and
/// a draft that is dropped leaves nothing behind. A symbolic link stays one: its target is replaced. What
/// exists and is no regular file is written to as it is.
#[derive(Debug)]
pub(crate) struct Draft {
    /// What it is to be.
    target: PathBuf,
    /// Where it is until then; none for what is written in place.
    partial: Option<PathBuf>,
}

impl Draft {
    /// Makes the file, which has the rights of the one that it will replace; that one must be writable.
    pub(crate) fn create(path: &Path) -> Result<(Self, File), Failure> {
        Self::make(path).map_err(|error| Failure::io(path, &error))
    }

    fn make(path: &Path) -> io::Result<(Self, File)> {
        let rights = match fs::metadata(path) {
            Ok(there) if there.is_file() => Some(there.permissions()),
            Ok(_) => {
                let file = File::options().write(true).open(path)?;
                return Ok((Self { target: path.to_owned(), partial: None }, file));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let target = end_of_links(path);
        if rights.is_some() {
            // Renaming would ask only whether the folder is writable.
            File::options().write(true).open(&target)?;
        }
        let partial = partial_path(&target);
        let file = File::create(&partial)?;
        let draft = Self { target, partial: Some(partial) };
        if let Some(rights) = rights {
            file.set_permissions(rights)?;
        }
        Ok((draft, file))
    }

    /// Where the bytes are.
    pub(crate) fn path(&self) -> &Path {
        self.partial.as_deref().unwrap_or(&self.target)
    }

    /// Puts the file in its place.
    pub(crate) fn put(&mut self) -> io::Result<()> {
        if let Some(partial) = &self.partial {
            fs::rename(partial, &self.target)?;
            self.partial = None;
        }
        Ok(())
    }

    /// Puts the file in its place, or leaves it where it is, which the failure then tells: nothing
    /// that was recorded is thrown away.
    pub(crate) fn put_or_leave(&mut self) -> Result<(), Failure> {
        self.put().map_err(|error| {
            let left = self.partial.take().unwrap_or_default();
            let place = format!("{error}; what was recorded is in {}", left.display());
            Failure::io(&self.target, &io::Error::other(place))
        })
    }
}

/// What `record` needs besides.
#[cfg(target_os = "linux")]
impl Draft {
    /// What it is to be.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Does [`Draft::put_or_leave`] for a draft that is to be what another one was made for.
    pub(crate) fn put_or_leave_as(&mut self, other: &Self) -> Result<(), Failure> {
        self.target.clone_from(&other.target);
        self.put_or_leave()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            // Nothing more can be done where even this fails.
            let _ = fs::remove_file(partial);
        }
    }
}

/// What symbolic links at the end of a path lead to, be something there or not.
fn end_of_links(path: &Path) -> PathBuf {
    let mut end = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(next) = fs::read_link(&end) else { break };
        end = end.parent().unwrap_or(Path::new("")).join(next);
    }
    end
}

/// As many links in a row as Linux follows.
const MOST_LINKS: usize = 40;

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

fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    path.with_file_name(name)
}
