//! Where the bytes of the sources are kept: a file for each, and beside it the one with the times of arrival.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tracewell::collect::{Raw, Source};
use tracewell::input::ARRIVALS;

use crate::outcome::Failure;

/// Where files are made.
pub(super) enum Files<'a> {
    /// Nowhere.
    None,
    /// The only source goes to standard output.
    Stdout,
    /// The only source goes to this file.
    One(&'a Path),
    /// Each source gets a file in this folder.
    Folder(&'a Path),
}

impl<'a> Files<'a> {
    /// What `-o` means for these sources.
    pub(super) fn new(output: Option<&'a Path>, sources: &[Source]) -> Result<Self, Failure> {
        let Some(output) = output else { return Ok(Self::None) };
        if output == Path::new("-") {
            let one = sources.len() == 1;
            let several = || Failure::usage("-o -: several sources need a folder");
            return one.then_some(Self::Stdout).ok_or_else(several);
        }
        if sources.len() == 1 && !output.is_dir() {
            refuse_own_input(output, sources)?;
            return Ok(Self::One(output));
        }
        fs::create_dir_all(output).map_err(|error| Failure::io(output, &error))?;
        Ok(Self::Folder(output))
    }

    /// Makes the files of a source. What was there before is overwritten.
    pub(super) fn raw(&mut self, name: &str) -> Result<Option<Raw<'static>>, Failure> {
        let path = match self {
            Self::None => return Ok(None),
            Self::Stdout => return Ok(Some(Raw { bytes: Box::new(io::stdout()), arrivals: None })),
            Self::One(path) => path.to_owned(),
            Self::Folder(folder) => folder.join(name),
        };
        let file = create(&path)?;
        // What is no file (a pipe, a device) has nothing beside it.
        let is_file = file.metadata().is_ok_and(|data| data.is_file());
        let arrivals = is_file.then(|| create(&arrivals_path(&path))).transpose()?;
        let arrivals = arrivals.map(|file| Box::new(file) as _);
        Ok(Some(Raw { bytes: Box::new(file), arrivals }))
    }
}

/// A file that is read and written at the same time would never end.
fn refuse_own_input(output: &Path, sources: &[Source]) -> Result<(), Failure> {
    let there = |path: &Path| fs::canonicalize(path).ok();
    let own = sources.iter().any(|source| match source {
        Source::File(path) => there(path).is_some_and(|path| there(output) == Some(path)),
        _ => false,
    });
    let message = || Failure::usage(format!("{}: is the source, too", output.display()));
    if own { Err(message()) } else { Ok(()) }
}

fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| Failure::io(path, &error))
}

fn arrivals_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ARRIVALS);
    name.into()
}

/// The names of the sources, each of them once.
pub(super) fn names(sources: &[Source]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for source in sources {
        let name = source.name();
        let free = |name: &String| !names.contains(name);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        names.extend(std::iter::once(name.clone()).chain(numbered).find(free));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_numbered() {
        let tcp = |address: &str| Source::Tcp(address.to_owned());
        let file = |path: &str| Source::File(path.into());
        let sources = [file("a/x"), tcp("[::1]:5"), file("b/x"), file("c/x-2"), file("x")];
        assert_eq!(names(&sources), ["x", "tcp----1--5", "x-2", "x-2-2", "x-3"]);
    }
}
