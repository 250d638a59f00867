//! A copy of a stream's memory while others write into it.
//!
//! Lane heads are copied first, then the lanes, then each lane's word `oldest` once more: what the
//! heads call committed was stored before the lanes were copied, and what a writer overwrote
//! meanwhile lies before the new `oldest`. Event types come last, for the same reason: the type of a
//! committed record was there before it. Copies are made with read calls, not from a mapping, so that
//! nothing changes under the reader.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use tracewell_wire::native::image::{
    Committed, Geometry, HEADER, ImageHeader, TYPE_WORDS, TypeHead, lane,
};
use tracewell_wire::native::{WORD, word};

use crate::format::copies::Room;

/// The bytes of the stream in a file; `None` where there is no stream that can be copied, so that
/// the file has to be read as any other.
///
/// # Errors
/// Where reading fails; InvalidData for a stream that is too large.
pub fn take(file: &File) -> io::Result<Option<Vec<u8>>> {
    let mut head = [0; HEADER * WORD];
    if !read(file, &mut head, 0)? {
        return Ok(None);
    }
    let words = std::array::from_fn(|index| word(&head, index).unwrap_or(0));
    let Ok(header) = ImageHeader::of_words(&words) else { return Ok(None) };
    let geometry = header.geometry;
    // A file that is too short is not made up for: its size is no claim of its bytes.
    let metadata = file.metadata()?;
    if metadata.len() != (geometry.total() * WORD) as u64 {
        return Ok(None);
    }
    let mut room = Room::new(geometry.total() * WORD, &metadata)?;
    room.spend(geometry.data() * WORD)?;
    let bytes = &mut room.bytes;
    if !read(file, &mut bytes[..geometry.data() * WORD], 0)? {
        return Ok(None);
    }
    for number in 0..geometry.lanes as usize {
        let head = geometry.head(number) * WORD;
        let committed =
            Committed(word(&room.bytes[head..], lane::COMMITTED).unwrap_or(0)).position();
        let used = committed.min(geometry.lane_words()) as usize;
        room.spend(used * WORD)?;
        let bytes = &mut room.bytes;
        let start = geometry.lane(number) * WORD;
        let _ = read(file, &mut bytes[start..start + used * WORD], start)?;
        let oldest = head + lane::OLDEST * WORD;
        let _ = read(file, &mut bytes[oldest..oldest + WORD], oldest)?;
    }
    types(file, geometry, &mut room.bytes)?;
    Ok(Some(room.bytes))
}

/// Copies the event types.
fn types(file: &File, geometry: Geometry, bytes: &mut [u8]) -> io::Result<()> {
    let all = geometry.types() * WORD..geometry.heads() * WORD;
    let _ = read(file, &mut bytes[all.clone()], all.start)?;
    for slot in all.step_by(TYPE_WORDS * WORD) {
        let head = TypeHead::unpack(word(&bytes[slot..], 0).unwrap_or(0));
        // The text of one that became ready during the copy may have been copied before its head.
        if head.state == TypeHead::READY {
            let text = slot + WORD..slot + TYPE_WORDS * WORD;
            let _ = read(file, &mut bytes[text.clone()], text.start)?;
        }
    }
    Ok(())
}

/// What is to be said of a stream's memory beside what is in it: whether the process that made it
/// lives on this machine. `None` where these are not the first bytes of such a memory.
pub fn remark(start: &[u8]) -> Option<String> {
    let words = std::array::from_fn(|index| word(start, index).unwrap_or(0));
    let process = ImageHeader::of_words(&words).ok()?.process;
    // Where the system shows its processes as files.
    let lives = Path::new("/proc/self").exists().then(|| format!("/proc/{process}"));
    let state = match lives.map(|path| Path::new(&path).exists()) {
        Some(true) => ", which made it, lives",
        Some(false) => ", which made it, has ended",
        None => " made it",
    };
    Some(format!("a copy of a stream's memory; process {process}{state}"))
}

/// Fills `bytes` from a file; false where it ends before that.
fn read(mut file: &File, bytes: &mut [u8], at: usize) -> io::Result<bool> {
    file.seek(SeekFrom::Start(at as u64))?;
    match file.read_exact(bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        result => result.map(|()| true),
    }
}
