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

/// Runs `write` on a file beside `path` that takes its place when all went well, or on standard
/// output for `-`. A failure leaves what was at `path` before. A symbolic link stays one: its target
/// is replaced. What exists and is no regular file is written to as it is.
pub(crate) fn write_whole<T>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if path == Path::new("-") {
        return buffered(stdout(), stdout_path(), write);
    }
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => {
            let out = File::options().write(true).open(path);
            buffered(out.map_err(|error| Failure::io(path, &error))?, path, write)
        }
        Ok(_) => {
            let target = fs::canonicalize(path).map_err(|error| Failure::io(path, &error))?;
            replace(&target, path, write)
        }
        // Nothing is there, or nothing that can be looked at: making the file tells which.
        Err(_) => replace(path, path, write),
    }
}

/// Writes a file beside `target` and renames it; `path` is what the user called it.
fn replace<T>(
    target: &Path,
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let partial = partial_path(target);
    let written = File::create(&partial)
        .map_err(|error| Failure::io(path, &error))
        .and_then(|file| buffered(file, path, write))
        .and_then(|result| match fs::rename(&partial, target) {
            Ok(()) => Ok(result),
            Err(error) => Err(Failure::io(path, &error)),
        });
    if written.is_err() {
        // Nothing more can be done where even this fails.
        let _ = fs::remove_file(&partial);
    }
    written
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

fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    path.with_file_name(name)
}
