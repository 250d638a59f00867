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
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use tracewell_wire::native::{WORD, word};
use tracewell_wire::posix::area::{NAMES_WORDS, NO_DESCRIPTOR, REFERENCE_MAGIC, REFERENCE_WORDS};
use tracewell_wire::posix::object::{Geometry, ObjectHeader, at, head};

use crate::format::copies::Room;

/// Returns the bytes of a stream, if the file contains the stream's memory or refers to it. Returns
/// `None` for any other file.
///
/// # Errors
/// Returns an error if reading fails, or if a reference does not name a stream. Returns
/// `InvalidData` if the stream is too large.
pub fn take(path: &Path, file: &File) -> io::Result<Option<Vec<u8>>> {
    let mut start = [0; ObjectHeader::WORDS * WORD];
    let length = read(file, &mut start, 0)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    if length >= REFERENCE_WORDS * WORD && word(&start, 0) == Some(REFERENCE_MAGIC) {
        let memory = open_regular(&place(&start, folder))?;
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
    read(file, &mut start, 0)?;
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
    read(file, &mut room.bytes[..control], 0)?;
    for packet in 0..geometry.packets as usize {
        let place = geometry.head(packet) + head::COMMITTED;
        let used = word(&room.bytes, place).unwrap_or(0) as u32;
        let start = geometry.packet(packet) * WORD;
        let length = used.min(geometry.packet_words) as usize * WORD;
        room.spend(length)?;
        read(file, &mut room.bytes[start..start + length], start)?;
    }
    let Room { mut bytes, .. } = room;
    // Copy the headers again: the copy of a packet with a changed header can be inconsistent.
    let mut later = vec![0; control];
    read(file, &mut later, 0)?;
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

/// Fills `bytes` from an offset of a file. Returns the number of bytes read.
fn read(mut file: &File, bytes: &mut [u8], at: usize) -> io::Result<usize> {
    file.seek(SeekFrom::Start(at as u64))?;
    let mut length = 0;
    while length < bytes.len() {
        match file.read(&mut bytes[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}
