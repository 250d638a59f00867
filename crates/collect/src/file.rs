//! Reads a growing file, as `tail -F` does, and standard input. These sources do not lose data
//! while the reader waits. So if the buffer is full, the reader waits and drops nothing.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::thread;

use crate::intake::{CHUNK_LEN, Intake, is_pause};
use crate::pace::{Pace, READING, TICK};
use tracewell::text::shown_path;

/// Collects the content of a file from its start, and all data appended to it.
pub(crate) fn follow(path: &Path, intake: &mut Intake<'_>) -> io::Result<()> {
    while !intake.is_over() {
        match open(path) {
            Ok(file) => {
                // Only the first file counts as a connection. Each later file replaced the previous
                // one.
                match intake.counts.connections {
                    0 => intake.opened(&shown_path(path).to_string()),
                    _ => intake.restarted(),
                }
                if read_growing(path, file, intake)? {
                    break;
                }
            }
            // A folder or a device never becomes a regular file, so do not try again.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Err(error),
            Err(error) => intake.back_off(Some(&error)),
        }
    }
    Ok(())
}

fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    let message = "expected a regular file; use standard input for anything else";
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

/// Reads a file until another file replaces it. Returns true if the source ends with this file.
fn read_growing(path: &Path, mut file: File, intake: &mut Intake<'_>) -> io::Result<bool> {
    let mut piece = vec![0; CHUNK_LEN];
    let mut position = 0;
    while intake.wait_for_room() {
        let length = file.read(&mut piece)?;
        if length > 0 {
            position += length as u64;
            intake.bytes(piece.get(..length).unwrap_or_default());
            continue;
        }
        if intake.control.until.disconnected {
            intake.closed(None, false);
            return Ok(true);
        }
        // This is the current end of the file. The file's length and identity reveal if it was
        // truncated or replaced.
        let open = file.metadata()?;
        if open.len() < position {
            file.seek(SeekFrom::Start(0))?;
            position = 0;
            intake.restarted();
        // Read the old file to its end first: the writer may have added bytes just before the
        // rename.
        } else if is_replaced(path, &open) && open.len() == position {
            return Ok(false);
        } else {
            intake.nothing();
            // There is no portable way to wait until a file grows.
            thread::sleep(TICK / 4);
        }
    }
    Ok(false)
}

/// Returns true if the path now refers to a different file. Returns false if the file was removed,
/// because it can reappear.
#[cfg(unix)]
fn is_replaced(path: &Path, open: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |data: &Metadata| (data.dev(), data.ino());
    std::fs::metadata(path).is_ok_and(|there| identity(&there) != identity(open))
}

#[cfg(not(unix))]
fn is_replaced(_: &Path, _: &Metadata) -> bool {
    false
}

/// Collects from standard input to its end.
pub(crate) fn from_stdin(intake: &mut Intake<'_>) -> io::Result<()> {
    intake.opened("standard input");
    let mut stdin = stdin();
    let mut piece = vec![0; CHUNK_LEN];
    let mut pace = Pace::new(READING);
    while intake.wait_for_room() {
        match stdin.read(&mut piece) {
            Ok(0) => {
                intake.closed(None, false);
                break;
            }
            Ok(length) => {
                intake.bytes(piece.get(..length).unwrap_or_default());
                // A full read means that more data is waiting.
                if length < CHUNK_LEN {
                    pace.rest();
                }
            }
            Err(error) if is_pause(&error) => intake.nothing(),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn stdin() -> impl Read {
    crate::poll::Polled(rustix::stdio::stdin())
}

/// Returns standard input. On this system, reads have no time limit, so the collection ends only
/// when the next bytes arrive.
#[cfg(not(unix))]
fn stdin() -> impl Read {
    io::stdin()
}
