//! Copies a stream's memory while other processes write into it. Appends the names of the stream's
//! event types to the copy.
//!
//! Each stream has a reference file `s.NN`. The reference points to the stream's memory, which is
//! another file in the same folder or a file descriptor of the stream's controller. Control words
//! and packet headers are copied before the packets and again after them. A packet that was
//! reopened in the meantime is omitted. If the first copy of a header marks a record as committed,
//! the record was stored before the packet was copied. Copies are made with read calls, not from a
//! mapping, so that the copied data cannot change during decoding.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tracewell_wire::native::{WORD, word};
use tracewell_wire::posix::area::{NAMES_WORDS, NO_DESCRIPTOR, REFERENCE_MAGIC, REFERENCE_WORDS};
use tracewell_wire::posix::object::{Geometry, ObjectHeader, at, head};

use crate::format::copies::{Room, fill};

/// Returns the bytes of a stream, if the file contains the stream's memory or refers to it. Returns
/// `None` for any other file.
///
/// # Errors
/// Returns an error if reading fails, or if a reference does not name a stream. Returns
/// `InvalidData` if the stream is too large.
pub fn take(path: &Path, file: &File) -> io::Result<Option<Vec<u8>>> {
    let mut reference = [0; REFERENCE_WORDS * WORD];
    let is_long_enough = fill(file, &mut reference, 0)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    if is_long_enough && word(&reference, 0) == Some(REFERENCE_MAGIC) {
        let memory = open_regular(&place(&reference, folder))?;
        let copy = copy(&memory, folder)?;
        return copy.map(Some).ok_or_else(|| io::ErrorKind::NotFound.into());
    }
    copy(file, folder)
}

/// Returns the path of the memory to which a reference points.
fn place(reference: &[u8], folder: &Path) -> PathBuf {
    let at = |index| word(reference, index).unwrap_or(0);
    match at(4) {
        NO_DESCRIPTOR => folder.join(format!("o.{:016x}", at(1))),
        descriptor => PathBuf::from(format!("/proc/{}/fd/{descriptor}", at(2) as u32)),
    }
}

/// Opens a regular file. Another user may have created a different kind of file there, such as a
/// pipe, which blocks when it is opened.
fn open_regular(path: &Path) -> io::Result<File> {
    if !path.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    File::open(path)
}

fn copy(file: &File, folder: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut start = [0; ObjectHeader::WORDS * WORD];
    if !fill(file, &mut start, 0)? {
        return Ok(None);
    }
    let words = std::array::from_fn(|index| word(&start, index).unwrap_or(0));
    let Some(header) = ObjectHeader::of_words(&words) else { return Ok(None) };
    let geometry = header.geometry;
    let total = geometry.total().saturating_mul(WORD);
    // Do not pad a file that is too short, because the size in its header may be wrong.
    let metadata = file.metadata()?;
    if metadata.len() < total as u64 {
        return Ok(None);
    }
    let mut room = Room::new(total, &metadata)?;
    let control = geometry.head(geometry.packets as usize) * WORD;
    room.spend(control)?;
    // Copy the headers before the packets: if a copied header marks a record as committed, the
    // record is already in the packet when the packet is copied.
    fill(file, &mut room.bytes[..control], 0)?;
    for packet in 0..geometry.packets as usize {
        let place = geometry.head(packet) + head::COMMITTED;
        let used = word(&room.bytes, place).unwrap_or(0) as u32;
        let start = geometry.packet(packet) * WORD;
        let length = used.min(geometry.packet_words) as usize * WORD;
        room.spend(length)?;
        fill(file, &mut room.bytes[start..start + length], start)?;
    }
    let Room { mut bytes, .. } = room;
    // Copy the headers again: the copy of a packet with a changed header can be inconsistent.
    let mut later = vec![0; control];
    fill(file, &mut later, 0)?;
    settle(geometry, &mut bytes, &later);
    bytes.extend(names(folder, header.names).unwrap_or_default());
    Ok(Some(bytes))
}

/// Removes packets that were opened again during the copy, and stores the later control words.
fn settle(geometry: Geometry, bytes: &mut [u8], later: &[u8]) {
    for packet in 0..geometry.packets as usize {
        let place = geometry.head(packet) + head::STATE;
        let opened = |bytes: &[u8]| word(bytes, place).unwrap_or(0) >> 2;
        // A word of 0 marks the packet as free, so its records are not read.
        if opened(bytes) != opened(later) {
            bytes[place * WORD..][..WORD].fill(0);
        }
    }
    let control = at::HEADS * WORD;
    bytes[..control].copy_from_slice(&later[..control]);
}

/// Reads the names of event types from a file in the reference's folder. `nonce` is a part of the
/// file's name.
fn names(folder: &Path, nonce: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(&folder.join(format!("n.{nonce:016x}")))?;
    let mut bytes = Vec::new();
    file.take((NAMES_WORDS * WORD) as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn the_memory_is_a_file_or_a_descriptor_of_the_controller() {
        let place = |descriptor: u64| {
            let reference = bytes(&[REFERENCE_MAGIC, 0xAB, 5 << 32 | 17, 4, descriptor]);
            place(&reference, Path::new("folder"))
        };
        assert_eq!(place(NO_DESCRIPTOR), Path::new("folder/o.00000000000000ab"));
        assert_eq!(place(9), Path::new("/proc/17/fd/9"));
    }

    #[test]
    fn a_packet_that_was_opened_again_is_removed() {
        let geometry = Geometry { packet_words: 64, packets: 4, closed: 1 };
        let control = geometry.head(geometry.packets as usize);
        let copied: Vec<u64> = (0..control as u64).map(|word| word + 1000).collect();
        let mut later: Vec<u64> = copied.iter().map(|word| word + 5000).collect();
        let states: Vec<_> = (0..4).map(|packet| geometry.head(packet) + head::STATE).collect();
        let mut first = copied.clone();
        // Bits 0 and 1 are the state, and the other bits count how often the packet was opened.
        for (place, (word, now)) in states.iter().zip([(9, 9), (9, 10), (9, 13), (0, 4)]) {
            (first[*place], later[*place]) = (word, now);
        }
        let mut expected = first.clone();
        expected[..at::HEADS].copy_from_slice(&later[..at::HEADS]);
        expected[states[2]] = 0;
        expected[states[3]] = 0;
        let mut settled = bytes(&first);
        settle(geometry, &mut settled, &bytes(&later));
        assert_eq!(settled, bytes(&expected));
    }
}
