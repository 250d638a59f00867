//! Creates files and folders that appear only when they are complete. Each is written under a
//! temporary name in the same folder and renamed at the end.
//!
//! A dropped draft leaves no file. If a signal ends the command, drafts created with
//! [`Ending::Removed`] leave no file either. An existing file stays in place until the rename.

#[cfg(target_os = "linux")]
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tracewell::text::shown_path;

use crate::inputs::Inputs;
use crate::outcome::Failure;

/// The action on a draft when a signal arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// The draft is removed, and the signal ends the command as usual.
    Removed,
    /// The command handles signals itself.
    Handled,
}

/// A file that is written under a temporary name and later renamed to its final path. If the final
/// path is a symbolic link, the link stays, and the file to which it points is replaced. The
/// command writes to an existing pipe or device directly.
#[derive(Debug)]
pub(crate) struct Draft {
    /// Path of the file after the rename.
    target: PathBuf,
    /// The temporary path; `None` after the rename, and for a file that is written directly.
    partial: Option<PathBuf>,
    /// True if the final path is a file with content.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "`record` is for Linux"))]
    replaces: bool,
}

impl Draft {
    /// Creates the draft, with the permissions of the file that it will replace. The replaced file
    /// must be writable, and must not be an input of the command.
    pub(crate) fn create(
        path: &Path,
        inputs: &Inputs,
        ending: Ending,
    ) -> Result<(Self, File), Failure> {
        inputs.refuse(path)?;
        Self::make(path, ending).map_err(|error| Failure::io(path, &error))
    }

    fn make(path: &Path, ending: Ending) -> io::Result<(Self, File)> {
        // A signal ends most verbs immediately, so a handler must remove their drafts. `record` and
        // `collect` handle signals themselves and save the data received so far.
        #[cfg(unix)]
        if ending == Ending::Removed {
            interrupt::remove_drafts();
        }
        let there = match fs::metadata(path) {
            Ok(there) if there.is_file() => Some(there),
            Ok(_) => {
                // Write to a pipe or device directly: a rename would replace it, and its readers
                // would get no bytes.
                let file = File::options().write(true).open(path)?;
                let draft = Self { target: path.to_owned(), partial: None, replaces: false };
                return Ok((draft, file));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        // A rename would replace the link itself.
        let target = end_of_links(path);
        if there.is_some() {
            // A rename would succeed even if the file is not writable, as it needs only a writable
            // folder.
            File::options().write(true).open(&target)?;
        }
        let (partial, file) = {
            // Hold the lock, so that a signal takes effect either before the draft exists or after
            // it is in the list of unfinished drafts.
            let mut unfinished = unfinished();
            let made = create_partial(&target, |path| {
                let file = File::create_new(path)?;
                // The lock shows that the draft is in use, so a later `record` does not remove it.
                let _ = file.try_lock();
                Ok(file)
            })?;
            if ending == Ending::Removed {
                unfinished.push(made.0.clone());
            }
            made
        };
        // An empty file has no content to lose, so it may be replaced immediately.
        let replaces = there.as_ref().is_some_and(|there| there.len() > 0);
        let draft = Self { target, partial: Some(partial), replaces };
        if let Some(there) = there {
            file.set_permissions(there.permissions())?;
        }
        Ok((draft, file))
    }

    /// Renames the draft to its final path.
    pub(crate) fn commit(&mut self) -> io::Result<()> {
        // Hold the lock, so that a signal takes effect either before or after the rename.
        let mut unfinished = unfinished();
        if let Some(partial) = &self.partial {
            fs::rename(partial, &self.target)?;
            unfinished.retain(|path| path != partial);
            self.partial = None;
        }
        Ok(())
    }

    /// Renames the draft to its final path. If the rename fails, keeps the file under its temporary
    /// name, so no recorded data is deleted. The error message contains this name.
    pub(crate) fn commit_or_keep(&mut self) -> Result<(), Failure> {
        self.commit().map_err(|error| {
            let left = self.partial.take().unwrap_or_default();
            let place = format!("{error}; the recording is in {}", shown_path(&left));
            Failure::io(&self.target, &io::Error::other(place))
        })
    }
}

/// Functions that only `record` uses.
#[cfg(target_os = "linux")]
impl Draft {
    /// Returns the current path of the file.
    pub(crate) fn path(&self) -> &Path {
        self.partial.as_deref().unwrap_or(&self.target)
    }

    /// Returns the final path.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Returns true if a rename would replace a file with content.
    pub(crate) fn replaces(&self) -> bool {
        self.replaces && self.partial.is_some()
    }

    /// Does the same as [`Draft::commit_or_keep`], but renames the draft to this target.
    pub(crate) fn commit_as(&mut self, target: &Path) -> Result<(), Failure> {
        target.clone_into(&mut self.target);
        self.commit_or_keep()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            let mut unfinished = unfinished();
            remove(partial);
            unfinished.retain(|path| path != partial);
        }
    }
}

/// A folder that has a temporary name while it is filled, and is renamed at the end. It never
/// replaces a folder with content.
#[derive(Debug)]
pub(crate) struct DraftFolder {
    target: PathBuf,
    /// The temporary path; `None` after the rename.
    partial: Option<PathBuf>,
}

impl DraftFolder {
    /// Creates the draft. Fails if `path` exists and is not an empty folder.
    pub(crate) fn create(path: &Path, inputs: &Inputs) -> Result<Self, Failure> {
        inputs.refuse(path)?;
        // `components` removes a separator at the end of the path.
        let target: PathBuf = path.components().collect();
        let is_free = match fs::read_dir(&target) {
            Ok(mut content) => content.next().is_none(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if !is_free || target.file_name().is_none() {
            return Err(Failure::usage(format!(
                "{}: expected a new or an empty folder: choose another name, or remove it",
                shown_path(path)
            )));
        }
        #[cfg(unix)]
        interrupt::remove_drafts();
        let mut unfinished = unfinished();
        let made = create_partial(&target, |path| fs::create_dir(path));
        let (partial, ()) = made.map_err(|error| Failure::io(path, &error))?;
        unfinished.push(partial.clone());
        Ok(Self { target, partial: Some(partial) })
    }

    /// Returns the current path of the folder.
    pub(crate) fn path(&self) -> &Path {
        self.partial.as_deref().unwrap_or(&self.target)
    }

    /// Renames the folder to its final path.
    pub(crate) fn commit(&mut self) -> io::Result<()> {
        let mut unfinished = unfinished();
        if let Some(partial) = &self.partial {
            // Remove the empty folder, because some systems do not rename a folder to the path of
            // an existing folder.
            match fs::remove_dir(&self.target) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => fs::rename(partial, &self.target)?,
            }
            unfinished.retain(|path| path != partial);
            self.partial = None;
        }
        Ok(())
    }
}

impl Drop for DraftFolder {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            let mut unfinished = unfinished();
            remove(partial);
            unfinished.retain(|path| path != partial);
        }
    }
}

/// Removes a draft, if possible.
fn remove(partial: &Path) {
    // Repeat the removal, because the writer may create files while a signal removes its folder.
    for _ in 0..MAX_REMOVALS {
        let removed =
            if partial.is_dir() { fs::remove_dir_all(partial) } else { fs::remove_file(partial) };
        match removed {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            // Ignore other errors, because nothing more can be done.
            _ => return,
        }
    }
}

/// Maximum number of attempts to remove a folder.
const MAX_REMOVALS: usize = 100;

/// Drafts that a signal removes. A thread holds the lock while it creates or renames a draft, and
/// while a signal ends the process.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a temporary file or folder in the directory that contains `path`: `NAME.PID.partial`, or
/// `NAME.PID-2.partial` if a process with the same id in another container has taken that name.
fn create_partial<T>(
    path: &Path,
    create: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(PathBuf, T)> {
    let process = std::process::id();
    let mut number = 1;
    loop {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(match number {
            1 => format!(".{process}.partial"),
            _ => format!(".{process}-{number}.partial"),
        });
        let partial = path.with_file_name(name);
        match create(&partial) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < MAX_NAMES => {
                number += 1;
            }
            made => return made.map(|made| (partial, made)),
        }
    }
}

/// If `name` is the name of a draft of `path` in the same folder, returns the id of the process
/// that created the draft.
#[cfg(target_os = "linux")]
pub(crate) fn process_of_partial(path: &Path, name: &OsStr) -> Option<u32> {
    let rest = name.as_encoded_bytes().strip_prefix(path.file_name()?.as_encoded_bytes())?;
    let number = rest.strip_prefix(b".")?.strip_suffix(b".partial")?;
    let process = number.split(|byte| *byte == b'-').next()?;
    std::str::from_utf8(process).ok()?.parse().ok()
}

/// Maximum number of temporary names to try.
const MAX_NAMES: u32 = 1000;

/// Follows symbolic links at the end of a path, even if their target does not exist.
fn end_of_links(path: &Path) -> PathBuf {
    let mut end = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&end) else { break };
        end = end.parent().unwrap_or(Path::new("")).join(next);
    }
    end
}

/// Maximum number of links to follow, as in Linux.
const MAX_LINKS: usize = 40;

/// Removes drafts when a signal ends the command.
#[cfg(unix)]
mod interrupt {
    use std::sync::Once;

    use super::unfinished;

    static STARTED: Once = Once::new();

    /// Installs handlers for SIGINT, SIGTERM and SIGHUP that remove the drafts before the command
    /// ends.
    pub(super) fn remove_drafts() {
        STARTED.call_once(|| {
            let signals = crate::signals::not_ignored(&[
                signal_hook::consts::SIGINT,
                signal_hook::consts::SIGTERM,
                signal_hook::consts::SIGHUP,
            ]);
            // If this fails, drafts remain after a signal. Writing continues anyway.
            let Ok(mut signals) = signal_hook::iterator::Signals::new(signals) else { return };
            let wait = move || {
                let Some(signal) = signals.forever().next() else { return };
                // Keep the lock, so that no further draft is created or renamed.
                let drafts = unfinished();
                drafts.iter().for_each(|path| super::remove(path));
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            };
            let _ = std::thread::Builder::new().name("signals".into()).spawn(wait);
        });
    }
}
