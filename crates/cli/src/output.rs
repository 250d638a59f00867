//! Where results go: standard output, or a file that appears only when it is whole.

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
/// output for `-`. A failure leaves what was at `path` before.
pub(crate) fn write_whole<T>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if path == Path::new("-") {
        let mut out = BufWriter::with_capacity(1 << 16, stdout());
        let result = write(&mut out)?;
        out.flush().map_err(|error| Failure::io(stdout_path(), &error))?;
        return Ok(result);
    }
    let partial = partial_path(path);
    let written = File::create(&partial)
        .map_err(|error| Failure::io(path, &error))
        .and_then(|file| {
            let mut out = BufWriter::with_capacity(1 << 16, file);
            let result = write(&mut out)?;
            out.flush().map_err(|error| Failure::io(path, &error))?;
            Ok(result)
        })
        .and_then(|result| match fs::rename(&partial, path) {
            Ok(()) => Ok(result),
            Err(error) => Err(Failure::io(path, &error)),
        });
    if written.is_err() {
        // Nothing more can be done where even this fails.
        let _ = fs::remove_file(&partial);
    }
    written
}

fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    path.with_file_name(name)
}
