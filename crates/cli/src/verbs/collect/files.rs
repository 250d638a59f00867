//! Stores the bytes of each source in a file, and their arrival times in a second one.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracewell::format::arrivals::sidecar::SUFFIX;
use tracewell::text::shown_path;
use tracewell_collect::{Collected, Raw, Reader, Source};

use crate::draft::{Draft, Ending};
use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome, warn};
use crate::output;

/// The destination of the bytes.
pub(super) enum Files<'a> {
    /// The bytes are not stored.
    None,
    /// There is one source, and its bytes go to standard output.
    Stdout,
    /// There is one source, and its bytes go to this file.
    One(&'a Path),
    /// Each source gets a file in this folder.
    Folder(&'a Path),
}

impl<'a> Files<'a> {
    /// Interprets `-o` for these sources. Fails if an output is one of the inputs.
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
        // With several sources, or if the folder exists, `-o` names a folder.
        if sources.len() == 1 && !output.is_dir() {
            refuse_inputs(&[output.to_owned()], inputs)?;
            return Ok(Self::One(output));
        }
        fs::create_dir_all(output).map_err(|error| Failure::io(output, &error))?;
        // In a folder, the program chooses the names of the outputs, so an output could have the
        // name of an input.
        let files: Vec<_> = names(sources).iter().map(|name| output.join(name)).collect();
        refuse_inputs(&files, inputs)?;
        Ok(Self::Folder(output))
    }

    /// Creates the files of a source. Existing files stay until the first byte arrives.
    pub(super) fn of(
        &self,
        reader: &Reader,
        name: &str,
        inputs: &Inputs,
    ) -> Result<Option<Storage>, Failure> {
        let path = match self {
            Self::None => return Ok(None),
            Self::Stdout => {
                let raw = Raw { bytes: Box::new(io::stdout()), arrivals: None };
                return Ok(Some(Storage { raw, place: Place::default() }));
            }
            Self::One(path) => path.to_path_buf(),
            Self::Folder(folder) => folder.join(name),
        };
        let (draft, file) = Draft::create(&path, inputs, Ending::Handled)?;
        let (mut drafts, mut arrivals) = (Vec::new(), None);
        // A pipe or device gets no arrival file.
        if file.metadata().is_ok_and(|data| data.is_file()) {
            let (second, file) = Draft::create(&arrivals_path(&path), inputs, Ending::Handled)?;
            drafts = vec![draft, second];
            arrivals = Some(Box::new(file) as _);
        }
        // A source that listens for targets is already open, even though no target has connected.
        let is_open = reader.local_addr().is_some();
        let waiting = Arc::new(Mutex::new(Waiting { drafts, failed: false }));
        let place = Place { path, is_open, waiting };
        let bytes = Box::new(Bytes { file, place: place.clone() });
        Ok(Some(Storage { raw: Raw { bytes, arrivals }, place }))
    }
}

/// The writers of a source, and the final paths of its files.
pub(super) struct Storage {
    pub(super) raw: Raw<'static>,
    pub(super) place: Place,
}

/// The final paths of a source's two files. Both are renamed together, so that arrival times never
/// accompany the bytes of another run.
#[derive(Clone, Default)]
pub(super) struct Place {
    path: PathBuf,
    /// True if the source was open before collecting began.
    is_open: bool,
    waiting: Arc<Mutex<Waiting>>,
}

#[derive(Default)]
struct Waiting {
    /// Drafts that wait for the first write or flush, which renames them.
    drafts: Vec<Draft>,
    /// True if a draft could not be renamed.
    failed: bool,
}

impl Place {
    /// Renames the files, unless this has already been done. If a file cannot be renamed, it keeps
    /// its temporary name.
    fn take(&self) {
        let mut waiting = self.waiting();
        for mut draft in std::mem::take(&mut waiting.drafts) {
            if let Err(failure) = draft.commit_or_keep() {
                failure.report();
                waiting.failed = true;
            }
        }
    }

    /// Finishes the files after collecting. If a source was opened but sent no data, its files are
    /// empty. If it could not be opened, existing files stay as they are.
    pub(super) fn settle(&self, collected: &Collected) -> Outcome {
        if self.is_open && collected.unreadable.is_none() && collected.unwritable.is_none() {
            self.take();
        }
        let mut waiting = self.waiting();
        if waiting.drafts.drain(..).next().is_some() {
            warn!(
                "{}: not written; the earlier file, if any, is unchanged",
                shown_path(&self.path)
            );
        }
        let outcome = if waiting.failed { Outcome::Io } else { Outcome::Done };
        let failed = collected.unwritable.as_ref().map(|error| {
            let path = if self.path == Path::new("") { output::stdout_path() } else { &self.path };
            Failure::io(path, error).report()
        });
        failed.into_iter().fold(outcome, Outcome::max)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The file that stores the bytes. The file is renamed to its final path at the first write or
/// flush. The collector flushes after each batch, even if the batch contains only the mark of a
/// connection.
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

/// Fails if an output is also an input: the input would grow while it is read, and never end.
fn refuse_inputs(files: &[PathBuf], inputs: &Inputs) -> Result<(), Failure> {
    let mut written = files.iter().flat_map(|path| [path.to_owned(), arrivals_path(path)]);
    written.try_for_each(|path| inputs.refuse(&path))
}

fn arrivals_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(SUFFIX);
    name.into()
}

/// Returns the names of the sources. Appends numbers to equal names.
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
