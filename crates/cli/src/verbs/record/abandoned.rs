//! Finds the temporary files that a killed `tracewell record` left behind. Removes files without
//! events. Keeps files that contain events, and prints a note with the names of these files.
//!
//! A file is abandoned if the process in its name has ended and no process holds the lock of the
//! file. The lock protects recordings of processes in other containers, whose ids are unknown here.

use std::fs::{self, File};
use std::path::Path;

use tracewell::text::shown_path;

use super::posix::has_events;
use crate::draft::process_of_partial;
use crate::outcome::note;

/// Removes abandoned files of earlier recordings with the output path `target`. Keeps files that
/// contain events, and prints a note about each of them.
pub(super) fn remove_abandoned(target: &Path) {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    for entry in entries {
        let process = process_of_partial(target, &entry.file_name());
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let path = target.with_file_name(entry.file_name());
        let has_ended = |process| !Path::new(&format!("/proc/{process}")).exists();
        if !is_file || !process.is_some_and(has_ended) {
            continue;
        }
        let Ok(file) = File::open(&path) else { continue };
        if file.try_lock().is_err() {
            continue;
        }
        let is_empty = file.metadata().is_ok_and(|metadata| metadata.len() == 0);
        if is_empty || !has_events(&path) {
            // Ignore an error, because this file does not affect the new recording.
            let _ = fs::remove_file(&path);
        } else {
            note!("{}: a `tracewell record` that was killed left these events", shown_path(&path));
        }
    }
}
