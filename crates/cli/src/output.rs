//! Where results go: standard output, a file that appears only when it is whole, or whatever else
//! is at a path already (a pipe, a device), which is written to and never replaced.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::draft::{Draft, Ending};
use crate::inputs::Inputs;
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
/// output for `-`. A file that is one of the inputs is not written to.
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
    draft.put().map_err(|error| Failure::io(path, &error))?;
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
