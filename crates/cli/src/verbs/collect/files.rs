//! Where the bytes of the sources are kept: a file for each, and beside it the one with the times of arrival.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracewell::collect::{Collected, Raw, Reader, Source};
use tracewell::input::ARRIVALS;
use tracewell::text::shown_path;

use crate::draft::{Draft, Ending};
use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome, tell};
use crate::output;

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
    /// What `-o` means for these sources, of a command that reads these files.
    pub(super) fn new(
        output: Option<&'a Path>,
        sources: &[Source],
        inputs: &Inputs,
    ) -> Result<Self, Failure> {
        let Some(output) = output else { return Ok(Self::None) };
        if output == Path::new("-") {
            let one = sources.len() == 1;
            let several = || Failure::usage("-o -: several sources need a folder");
            return one.then_some(Self::Stdout).ok_or_else(several);
        }
        if sources.len() == 1 && !output.is_dir() {
            refuse_inputs(&[output.to_owned()], inputs)?;
            return Ok(Self::One(output));
        }
        fs::create_dir_all(output).map_err(|error| Failure::io(output, &error))?;
        let files: Vec<_> = names(sources).iter().map(|name| output.join(name)).collect();
        refuse_inputs(&files, inputs)?;
        Ok(Self::Folder(output))
    }

    /// The files of a source. What was there before stays until something comes.
    pub(super) fn of(
        &self,
        reader: &Reader,
        name: &str,
        inputs: &Inputs,
    ) -> Result<Option<Kept>, Failure> {
        let path = match self {
            Self::None => return Ok(None),
            Self::Stdout => {
                let raw = Raw { bytes: Box::new(io::stdout()), arrivals: None };
                return Ok(Some(Kept { raw, place: Place::default() }));
            }
            Self::One(path) => path.to_path_buf(),
            Self::Folder(folder) => folder.join(name),
        };
        let (draft, file) = Draft::create(&path, inputs, Ending::Handled)?;
        let (mut drafts, mut arrivals) = (Vec::new(), None);
        // What is no file (a pipe, a device) has nothing beside it.
        if file.metadata().is_ok_and(|data| data.is_file()) {
            let (beside, file) = Draft::create(&arrivals_path(&path), inputs, Ending::Handled)?;
            drafts = vec![draft, beside];
            arrivals = Some(Box::new(file) as _);
        }
        let is_open = reader.local_addr().is_some();
        let waiting = Arc::new(Mutex::new(Waiting { drafts, failed: false }));
        let place = Place { path, is_open, waiting };
        let bytes = Box::new(Bytes { file, place: place.clone() });
        Ok(Some(Kept { raw: Raw { bytes, arrivals }, place }))
    }
}

/// The files of a source, and the place that they take.
pub(super) struct Kept {
    pub(super) raw: Raw<'static>,
    pub(super) place: Place,
}

/// The place of a source's files. They take it together, so that no arrivals stand beside bytes that
/// are not theirs.
#[derive(Clone, Default)]
pub(super) struct Place {
    path: PathBuf,
    /// Whether the source was open before anything was collected.
    is_open: bool,
    waiting: Arc<Mutex<Waiting>>,
}

#[derive(Default)]
struct Waiting {
    /// Files that wait for something to come.
    drafts: Vec<Draft>,
    /// Whether one of them could not be put in its place.
    failed: bool,
}

impl Place {
    /// Puts the files there, where they are not yet. One that cannot be put there goes on where it is.
    fn take(&self) {
        let mut waiting = self.waiting();
        for mut draft in std::mem::take(&mut waiting.drafts) {
            if let Err(failure) = draft.put_or_leave() {
                failure.tell();
                waiting.failed = true;
            }
        }
    }

    /// Collecting is over: from a source that was open nothing is what came. Of one that never could be opened
    /// there is nothing to keep.
    pub(super) fn settle(&self, collected: &Collected) -> Outcome {
        if self.is_open && collected.unreadable.is_none() && collected.unwritable.is_none() {
            self.take();
        }
        let mut waiting = self.waiting();
        if waiting.drafts.drain(..).next().is_some() {
            tell!("tracewell: {}: not written; what was there stays", shown_path(&self.path));
        }
        let outcome = if waiting.failed { Outcome::Io } else { Outcome::Done };
        let told = collected.unwritable.as_ref().map(|error| {
            let path = if self.path == Path::new("") { output::stdout_path() } else { &self.path };
            Failure::io(path, error).tell()
        });
        told.into_iter().fold(outcome, Outcome::max)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The file of the bytes. With the first of them it takes its place, or when it is flushed: that is done as soon as
/// anything happened, as a connection.
struct Bytes {
    file: File,
    place: Place,
}

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.place.take();
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.place.take();
        self.file.flush()
    }
}

/// Fails before anything is made: a file that is read and written at the same time would never end.
fn refuse_inputs(files: &[PathBuf], inputs: &Inputs) -> Result<(), Failure> {
    let mut written = files.iter().flat_map(|path| [path.to_owned(), arrivals_path(path)]);
    written.try_for_each(|path| inputs.refuse(&path))
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
