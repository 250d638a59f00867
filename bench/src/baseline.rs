//! Compiles and runs the baselines in C, with the C compiler of the machine.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Compiles `baseline/NAME.c` with `-O2`, and writes the program to `folder`. Returns the path of
/// the program.
///
/// # Errors
/// Returns an error if there is no C compiler, or if it rejects the source.
pub fn compile(name: &str, folder: &Path) -> io::Result<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("baseline").join(name);
    let program = folder.join(name);
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let status = Command::new(&compiler)
        .args(["-O2", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(source.with_extension("c"))
        .status()
        .map_err(|error| io::Error::other(format!("{compiler}: {error}")))?;
    if status.success() { Ok(program) } else { Err(io::Error::other(format!("{compiler} failed"))) }
}

/// Runs a program on a file. Returns its output.
///
/// # Errors
/// Returns an error if the program cannot be started or fails.
pub fn output(program: &Path, file: &Path) -> io::Result<String> {
    let output = Command::new(program).arg(file).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("{} failed", program.display())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
