//! Tracks the files that a command reads, so that it never overwrites one of them.
//!
//! Two paths can name the same file: through hard or symbolic links, different spellings, or
//! different case on a case-insensitive file system. If a trace is a folder, the command
//! reads all files in it, so no output may be in the folder.

use std::fs::{self, Metadata};
#[cfg(unix)]
use std::io;
use std::path::{Path, PathBuf};

use tracewell::text::shown_path;

use crate::outcome::Failure;

/// The files that a command reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    files: Vec<(PathBuf, Identity)>,
    folders: Vec<(PathBuf, Identity)>,
}

impl Inputs {
    /// Returns the files at these paths; `-` is standard input. Skips all paths that are not
    /// existing regular files or folders, because nothing else can be overwritten.
    pub(crate) fn of<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Self {
        let mut inputs = Self::default();
        inputs.add(paths);
        inputs
    }

    /// Adds the files at these paths.
    pub(crate) fn add<P: AsRef<Path>>(&mut self, paths: impl IntoIterator<Item = P>) {
        for path in paths {
            let path = path.as_ref();
            let file = if path == Path::new("-") { of_stdin() } else { of_path(path) };
            self.files.extend(file.map(|identity| (path.to_owned(), identity)));
            self.folders.extend(of_folder(path).map(|identity| (path.to_owned(), identity)));
        }
    }

    /// Returns the paths of the files.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().map(|(path, _)| path)
    }

    /// Fails if `output` is one of these files, or in one of these folders.
    pub(crate) fn refuse(&self, output: &Path) -> Result<(), Failure> {
        if output == Path::new("-") {
            return self.refuse_stdout();
        }
        self.refuse_in_folder(output)?;
        self.refuse_file(output, of_path(output))
    }

    fn refuse_in_folder(&self, output: &Path) -> Result<(), Failure> {
        if self.folders.is_empty() {
            return Ok(());
        }
        // The output and some of the folders above it may not exist yet.
        let Ok(output_path) = std::path::absolute(output) else { return Ok(()) };
        let existing = output_path.ancestors().find_map(|path| fs::canonicalize(path).ok());
        let above = existing.iter().flat_map(|path| path.ancestors()).filter_map(of_folder);
        let above: Vec<_> = above.collect();
        match self.folders.iter().find(|(_, folder)| above.contains(folder)) {
            None => Ok(()),
            Some((input, _)) => Err(Failure::usage(format!(
                "{}: is in the folder of an input ({}) and would become a part of it: name \
                 another output",
                shown_path(output),
                shown_path(input)
            ))),
        }
    }

    /// Fails if standard output is redirected into one of these files.
    pub(crate) fn refuse_stdout(&self) -> Result<(), Failure> {
        self.refuse_file(Path::new("standard output"), of_stdout())
    }

    fn refuse_file(&self, output: &Path, identity: Option<Identity>) -> Result<(), Failure> {
        let is_output = |(_, input): &&(PathBuf, Identity)| Some(input) == identity.as_ref();
        let Some((input, _)) = self.files.iter().find(is_output) else { return Ok(()) };
        let (output, same) = (shown_path(output), input == output);
        let stdin = input == Path::new("-");
        let of = match () {
            () if same => String::new(),
            () if stdin => " (standard input)".to_owned(),
            () => format!(" ({})", shown_path(input)),
        };
        Err(Failure::usage(format!(
            "{output}: is also an input{of} and would be overwritten: name another output"
        )))
    }
}

/// Identifies a file independently of its path.
#[cfg(unix)]
type Identity = (u64, u64);
/// Identifies a file by its path without symbolic links. Hard links are not detected.
#[cfg(not(unix))]
type Identity = PathBuf;

#[cfg(unix)]
fn of_metadata(metadata: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    metadata.is_file().then(|| (metadata.dev(), metadata.ino()))
}

#[cfg(unix)]
fn of_path(path: &Path) -> Option<Identity> {
    of_metadata(&fs::metadata(path).ok()?)
}

#[cfg(not(unix))]
fn of_path(path: &Path) -> Option<Identity> {
    let is_file = |metadata: &Metadata| metadata.is_file();
    fs::metadata(path).ok().filter(is_file).and_then(|_| fs::canonicalize(path).ok())
}

/// Returns the identity of an existing folder.
#[cfg(unix)]
fn of_folder(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(path).ok()?;
    metadata.is_dir().then(|| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn of_folder(path: &Path) -> Option<Identity> {
    fs::canonicalize(path).ok().filter(|path| path.is_dir())
}

#[cfg(unix)]
fn of_open(stream: &impl std::os::fd::AsFd) -> Option<Identity> {
    let file = fs::File::from(stream.as_fd().try_clone_to_owned().ok()?);
    of_metadata(&file.metadata().ok()?)
}

fn of_stdin() -> Option<Identity> {
    #[cfg(unix)]
    return of_open(&io::stdin());
    #[cfg(not(unix))]
    None
}

fn of_stdout() -> Option<Identity> {
    #[cfg(unix)]
    return of_open(&io::stdout());
    #[cfg(not(unix))]
    None
}
