//! Files that appear only when they are whole: each is written beside its place, and takes it at the end.
//!
//! A draft that is dropped leaves nothing; so does one whose command is ended by a signal, if it was made for
//! [`Ending::Removed`]. What was at its place stays until then.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tracewell::text::shown_path;

use crate::inputs::Inputs;
use crate::outcome::Failure;

/// What becomes of a draft when a signal ends the command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// It is removed, and the signal ends the command as usual.
    Removed,
    /// The command handles signals by itself.
    Handled,
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
    /// Whether a file with something in it is at its place.
    replaces: bool,
}

impl Draft {
    /// Makes the file, which has the rights of the one that it will replace; that one must be writable, and no
    /// input of the command.
    pub(crate) fn create(
        path: &Path,
        inputs: &Inputs,
        ending: Ending,
    ) -> Result<(Self, File), Failure> {
        inputs.refuse(path)?;
        Self::make(path, ending).map_err(|error| Failure::io(path, &error))
    }

    fn make(path: &Path, ending: Ending) -> io::Result<(Self, File)> {
        if ending == Ending::Removed {
            interrupt::remove_drafts();
        }
        let there = match fs::metadata(path) {
            Ok(there) if there.is_file() => Some(there),
            Ok(_) => {
                let file = File::options().write(true).open(path)?;
                let draft = Self { target: path.to_owned(), partial: None, replaces: false };
                return Ok((draft, file));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let target = end_of_links(path);
        if there.is_some() {
            // Renaming would ask only whether the folder is writable.
            File::options().write(true).open(&target)?;
        }
        let (partial, file) = {
            let mut unfinished = unfinished();
            let made = create_beside(&target)?;
            if ending == Ending::Removed {
                unfinished.push(made.0.clone());
            }
            made
        };
        let replaces = there.as_ref().is_some_and(|there| there.len() > 0);
        let draft = Self { target, partial: Some(partial), replaces };
        if let Some(there) = there {
            file.set_permissions(there.permissions())?;
        }
        Ok((draft, file))
    }

    /// Puts the file in its place.
    pub(crate) fn put(&mut self) -> io::Result<()> {
        // A signal comes before this or after it.
        let mut unfinished = unfinished();
        if let Some(partial) = &self.partial {
            fs::rename(partial, &self.target)?;
            unfinished.retain(|path| path != partial);
            self.partial = None;
        }
        Ok(())
    }

    /// Puts the file in its place, or leaves it where it is, which the failure then tells: nothing
    /// that was recorded is thrown away.
    pub(crate) fn put_or_leave(&mut self) -> Result<(), Failure> {
        self.put().map_err(|error| {
            let left = self.partial.take().unwrap_or_default();
            let place = format!("{error}; what was recorded is in {}", shown_path(&left));
            Failure::io(&self.target, &io::Error::other(place))
        })
    }
}

/// What `record` needs besides.
#[cfg(target_os = "linux")]
impl Draft {
    /// Where the bytes are.
    pub(crate) fn path(&self) -> &Path {
        self.partial.as_deref().unwrap_or(&self.target)
    }

    /// What it is to be.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Returns true if there is something at its place that it would replace.
    pub(crate) fn replaces(&self) -> bool {
        self.replaces && self.partial.is_some()
    }

    /// Does [`Draft::put_or_leave`] for a draft that is to be what another one was made for.
    pub(crate) fn put_or_leave_as(&mut self, target: &Path) -> Result<(), Failure> {
        target.clone_into(&mut self.target);
        self.put_or_leave()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            let mut unfinished = unfinished();
            // Nothing more can be done where even this fails.
            let _ = fs::remove_file(partial);
            unfinished.retain(|path| path != partial);
        }
    }
}

/// Drafts that a signal removes. Who holds the lock makes one, puts one in its place, or ends the command.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a new file beside another: `NAME.N.partial`, in which N is the number of the process. Where a process of
/// another container has the same number it is `NAME.N-2.partial`.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let process = std::process::id();
    let mut number = 1;
    loop {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(match number {
            1 => format!(".{process}.partial"),
            _ => format!(".{process}-{number}.partial"),
        });
        let partial = path.with_file_name(name);
        match File::create_new(&partial) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < MAX_NAMES => {
                number += 1;
            }
            made => return made.map(|file| (partial, file)),
        }
    }
}

/// Names that are tried for a draft.
const MAX_NAMES: u32 = 1000;

/// What symbolic links at the end of a path lead to, be something there or not.
fn end_of_links(path: &Path) -> PathBuf {
    let mut end = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&end) else { break };
        end = end.parent().unwrap_or(Path::new("")).join(next);
    }
    end
}

/// As many links in a row as Linux follows.
const MAX_LINKS: usize = 40;

/// Signals that end a command: they remove its drafts first.
mod interrupt {
    use std::fs;
    use std::sync::Once;

    use super::unfinished;

    static STARTED: Once = Once::new();

    /// From here on INT, TERM and HUP remove the drafts before they end the command.
    #[cfg(unix)]
    pub(super) fn remove_drafts() {
        STARTED.call_once(|| {
            let heeded = crate::signals::heeded(&[
                signal_hook::consts::SIGINT,
                signal_hook::consts::SIGTERM,
                signal_hook::consts::SIGHUP,
            ]);
            // Without them a draft stays after a signal, which is no reason not to write.
            let Ok(mut signals) = signal_hook::iterator::Signals::new(heeded) else { return };
            let wait = move || {
                let Some(signal) = signals.forever().next() else { return };
                // The lock is kept: nothing is made or put in its place any more.
                let drafts = unfinished();
                drafts.iter().for_each(|path| drop(fs::remove_file(path)));
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            };
            let _ = std::thread::Builder::new().name("signals".into()).spawn(wait);
        });
    }

    #[cfg(not(unix))]
    pub(super) fn remove_drafts() {}
}
