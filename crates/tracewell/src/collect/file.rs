//! A file that grows, as `tail -F` follows it or once to its end, and standard input. Both keep what is not read yet, so that nothing
//! has to be dropped: where there is no room, they wait.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::thread;

use super::intake::{Intake, PIECE, is_pause};
use super::pace::{Pace, READING, TICK};
use crate::text::shown_path;

/// Collects what is in a file and what is written to it, from its beginning.
pub(super) fn follow(path: &Path, intake: &mut Intake<'_>) -> io::Result<()> {
    while !intake.is_over() {
        match open(path) {
            Ok(file) => {
                match intake.counts.connections {
                    0 => intake.opened(&shown_path(path).to_string()),
                    _ => intake.restarted(),
                }
                if read_growing(path, file, intake)? {
                    break;
                }
            }
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
    let message = "expected a regular file; what is none can be given as standard input";
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

/// Reads a file until another one is in its place; true if its end is the end of the source.
fn read_growing(path: &Path, mut file: File, intake: &mut Intake<'_>) -> io::Result<bool> {
    let mut piece = vec![0; PIECE];
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
        let open = file.metadata()?;
        if open.len() < position {
            file.seek(SeekFrom::Start(0))?;
            position = 0;
            intake.restarted();
        } else if is_replaced(path, &open) && open.len() == position {
            return Ok(false);
        } else {
            intake.nothing();
            thread::sleep(TICK / 4);
        }
    }
    Ok(false)
}

/// Whether another file is at the path. One that was removed may come again.
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
pub(super) fn from_stdin(intake: &mut Intake<'_>) -> io::Result<()> {
    intake.opened("standard input");
    let mut stdin = stdin();
    let mut piece = vec![0; PIECE];
    let mut pace = Pace::new(READING);
    while intake.wait_for_room() {
        match stdin.read(&mut piece) {
            Ok(0) => {
                intake.closed(None, false);
                break;
            }
            Ok(length) => {
                intake.bytes(piece.get(..length).unwrap_or_default());
                if length < PIECE {
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
    super::poll::Polled(rustix::stdio::stdin())
}

/// Where there is no waiting with a time limit, the end of collecting is seen with the next bytes.
#[cfg(not(unix))]
fn stdin() -> impl Read {
    io::stdin()
}
