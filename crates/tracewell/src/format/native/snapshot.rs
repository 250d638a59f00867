//! Copies a stream's memory while other processes write into it.
//!
//! First the lane headers are copied, then the lanes, and then each lane's word `oldest` again. If
//! a header marks a record as committed, the record was stored before the lanes were copied. If a
//! writer overwrote words during the copy, `oldest` has moved past these words. Event types are
//! copied last, because the type of a committed record was defined before the record. Copies are
//! made with read calls, not from a mapping, so that the copied data cannot change during decoding.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::Path;

use tracewell_wire::native::image::{
    Committed, Geometry, HEADER, ImageHeader, State, TYPE_WORDS, TypeHeader, at, lane,
};
use tracewell_wire::native::{WORD, word};

use crate::format::Note;
use crate::format::copies::{Room, fill};
use crate::model::{Fact, FactForm};

/// Returns the bytes of the stream in a file. Returns `None` if the file contains no stream or is
/// truncated; the caller then reads it like any other file.
///
/// # Errors
/// Returns an error if reading fails, or `InvalidData` if the stream is too large.
pub fn take(file: &File) -> io::Result<Option<Vec<u8>>> {
    let mut head = [0; HEADER * WORD];
    if !fill(file, &mut head, 0)? {
        return Ok(None);
    }
    let words = std::array::from_fn(|index| word(&head, index).unwrap_or(0));
    let Ok(header) = ImageHeader::of_words(&words) else { return Ok(None) };
    let geometry = header.geometry;
    // If the length of the file differs from the size in its header, the header may be wrong.
    let metadata = file.metadata()?;
    if metadata.len() != (geometry.total() * WORD) as u64 {
        return Ok(None);
    }
    let mut room = Room::new(geometry.total() * WORD, &metadata)?;
    room.spend(geometry.data() * WORD)?;
    let bytes = &mut room.bytes;
    if !fill(file, &mut bytes[..geometry.data() * WORD], 0)? {
        return Ok(None);
    }
    for number in 0..geometry.lanes as usize {
        let head = geometry.head(number) * WORD;
        let committed =
            Committed(word(&room.bytes[head..], lane::COMMITTED).unwrap_or(0)).position();
        // Words after the committed position may be changing, and are not needed.
        let used = committed.min(geometry.lane_words()) as usize;
        room.spend(used * WORD)?;
        let bytes = &mut room.bytes;
        let start = geometry.lane(number) * WORD;
        let _ = fill(file, &mut bytes[start..start + used * WORD], start)?;
        let oldest = head + lane::OLDEST * WORD;
        let _ = fill(file, &mut bytes[oldest..oldest + WORD], oldest)?;
    }
    types(file, geometry, &mut room.bytes)?;
    Ok(Some(room.bytes))
}

/// Copies the event types.
fn types(file: &File, geometry: Geometry, bytes: &mut [u8]) -> io::Result<()> {
    let all = geometry.types() * WORD..geometry.heads() * WORD;
    let _ = fill(file, &mut bytes[all.clone()], all.start)?;
    copy_ready_again(file, all, bytes)
}

/// Copies the definitions of all ready types a second time. If a type became ready during the first
/// copy, its copied definition can be older than its copied header.
fn copy_ready_again(file: &File, types: Range<usize>, bytes: &mut [u8]) -> io::Result<()> {
    for slot in types.step_by(TYPE_WORDS * WORD) {
        let head = TypeHeader::unpack(word(&bytes[slot..], 0).unwrap_or(0));
        if head.state == TypeHeader::READY {
            let text = slot + WORD..slot + TYPE_WORDS * WORD;
            let _ = fill(file, &mut bytes[text.clone()], text.start)?;
        }
    }
    Ok(())
}

/// Returns a note about the process that created a stream's memory. If the system shows processes
/// as files, the note also says whether this process is still running. Returns `None` if `start` is
/// not the start of a stream's memory.
pub fn note(start: &[u8]) -> Option<Note> {
    let words = std::array::from_fn(|index| word(start, index).unwrap_or(0));
    let process = ImageHeader::of_words(&words).ok()?.process;
    let recorded_state = word(start, at::STATE).map(State::of_code);
    // Some systems do not show processes as files.
    let runs = Path::new("/proc/self").exists().then(|| is_running(process));
    let (state, fact) = match runs {
        Some(true) => (", which created the stream, is running", None),
        Some(false) if recorded_state == Some(State::Running) => {
            (", which created the stream, ended without closing it", Some(not_closed()))
        }
        Some(false) if recorded_state == Some(State::Suspended) => {
            (", which created the stream, has ended; the stream was already stopped", None)
        }
        Some(false) => (", which created the stream, has ended", None),
        None => (" created the stream", None),
    };
    let message = format!("a copy of a stream's memory; process {process}{state}");
    Some(Note { message, fact })
}

/// Returns true if at least one thread of a process has not ended. A killed process remains visible
/// until its parent waits for it. The first thread of a process remains visible until the other
/// threads end, so the state of this thread does not suffice. The list of threads does not suffice
/// either: while some threads end, a reader of the list can miss other threads that are still
/// running.
fn is_running(process: u32) -> bool {
    let status = fs::read(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name is in brackets, and may itself contain brackets and spaces. The state follows it.
    let name_end = status.iter().rposition(|byte| *byte == b')');
    let Some(fields) = name_end.and_then(|end| status.get(end + 2..)) else { return false };
    let mut fields = fields.split(|byte| *byte == b' ');
    let has_ended = matches!(fields.next(), Some(b"Z" | b"X" | b"x"));
    // The state is field 3, and the number of threads is field 20 (proc(5)).
    !has_ended || fields.nth(16).is_some_and(|threads| threads != b"1")
}

/// Returns the state of a stream or log that its process did not close. The recorded state still
/// says that the stream is running.
pub(super) fn not_closed() -> Fact {
    let form = FactForm::Text("not closed");
    Fact { name: "state", value: State::Running.code(), form }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_definitions_of_ready_types_are_copied_again() {
        const SLOT: usize = TYPE_WORDS * WORD;
        let ready = TypeHeader { state: TypeHeader::READY, ..TypeHeader::unpack(0) }.pack();
        let mut file = tempfile::tempfile().unwrap();
        let stored: Vec<u8> = (0..5 * SLOT).map(|at| at as u8 | 1).collect();
        file.write_all(&stored).unwrap();
        // Slot 0 is not part of the types, slots 1 and 3 are ready, and slots 2 and 4 are not.
        let mut bytes = vec![0; 5 * SLOT];
        for slot in [0, 1, 3] {
            bytes[slot * SLOT..][..WORD].copy_from_slice(&ready.to_le_bytes());
        }
        let mut expected = bytes.clone();
        for slot in [1, 3] {
            let text = slot * SLOT + WORD..(slot + 1) * SLOT;
            expected[text.clone()].copy_from_slice(&stored[text]);
        }
        copy_ready_again(&file, SLOT..5 * SLOT, &mut bytes).unwrap();
        assert!(bytes == expected);
    }
}
