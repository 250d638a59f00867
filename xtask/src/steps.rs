//! Steps that several modules use: commands, copies, links, the version of a crate.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version of a crate as text, for file names.
pub(crate) struct Version {
    pub(crate) whole: String,
    pub(crate) major: String,
    pub(crate) minor: String,
}

impl Version {
    /// Returns the version of a crate of the workspace.
    pub(crate) fn of(root: &Path, name: &str) -> Result<Self, String> {
        let output = run(cargo(root).args(["pkgid", "--package", name]))?;
        let whole = output.trim().rsplit(['#', '@']).next().unwrap_or_default().to_owned();
        let mut numbers = whole.split('.').map(str::to_owned);
        let (major, minor) = (numbers.next(), numbers.next());
        Ok(Self { major: major.unwrap_or_default(), minor: minor.unwrap_or_default(), whole })
    }
}

/// Copies a file to the path `to`, and sets the permissions of the copy. Creates the folder of the
/// copy if necessary.
pub(crate) fn copy(from: &Path, to: &Path, mode: u32) -> Result<(), String> {
    make_folder_of(to)?;
    // Remove the old file instead of overwriting it, because running programs may still use its
    // content.
    let _ = fs::remove_file(to);
    fs::copy(from, to).map_err(|error| fault(from, &error))?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).map_err(|error| fault(to, &error))
}

/// Writes a file that every user can read, and creates its folder.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    make_folder_of(path)?;
    fs::write(path, bytes).map_err(|error| fault(path, &error))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644))
        .map_err(|error| fault(path, &error))
}

fn make_folder_of(path: &Path) -> Result<(), String> {
    let folder = path.parent().ok_or("a file lies in a folder")?;
    fs::create_dir_all(folder).map_err(|error| fault(folder, &error))
}

/// Returns the files of a folder, sorted by name.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| fault(folder, &error))?;
    let mut files: Vec<_> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    Ok(files)
}

/// Creates an empty folder. Removes an existing folder with its content.
pub(crate) fn empty(folder: &Path) -> Result<(), String> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| fault(folder, &error))?;
    }
    fs::create_dir_all(folder).map_err(|error| fault(folder, &error))
}

/// Creates a symbolic link, and replaces an existing file at the path of the link.
pub(crate) fn link(target: &str, path: &Path) -> Result<(), String> {
    let _ = fs::remove_file(path);
    symlink(target, path).map_err(|error| fault(path, &error))
}

/// Returns the command `cargo` in the root of the repository.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    command.current_dir(root);
    command
}

/// Runs a command and returns its standard output. If the command fails, the error contains its
/// output on standard error.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the message of a fault in a file.
pub(crate) fn fault(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}
