//! The packets in the data stream of one core, and the index of a stream file.
//!
//! All numbers in a stream are little-endian. All numbers in an index are big-endian.
//!
//! | offset | bytes | content of a packet |
//! |---|---|---|
//! | 0 | 4 | magic number |
//! | 4 | 16 | UUID of the trace |
//! | 20 | 4 | id of the stream class, 0 |
//! | 24 | 8, 8 | stamps of the beginning and the end |
//! | 40 | 8, 8 | size of the content and size of the packet in bits; both include this header |
//! | 56 | 8 | sequence number |
//! | 64 | 8 | lost events of this stream up to the end of the packet |
//! | 72 | 4 | number of the core |
//! | 76 | | events: id (4), stamp (8), context and arguments |
//!
//! A loss of a known number of events is written as an empty packet. Its counter of lost events is
//! larger than that of the previous packet. Readers report the difference as events that are
//! missing between the end of the previous packet and the end of this packet. A loss of an unknown
//! number of events is written as an empty packet whose sequence number skips one number.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The magic number of packets.
const MAGIC: u32 = 0xC1FC_1FC1;

/// The header of an index: magic number, version 1.1, length of an entry.
const INDEX_HEAD: [u32; 4] = [0xC1F1_DCC1, 1, 1, INDEX_ENTRY];

/// Size of an index entry in bytes.
const INDEX_ENTRY: u32 = 72;

/// Id of the only stream class.
const CLASS: u32 = 0;

/// Number of bytes that the stamps, the sizes and the counters of a packet occupy.
const COUNTERS: usize = 48;

/// Offset of the stamps in a packet.
const STAMPS: usize = 24;

/// The writer ends a packet when the packet has at least this number of bytes.
const PACKET: usize = 1 << 16;

/// Finished packets are written to the file when they have at least this number of bytes in total.
const WRITTEN_AT_ONCE: usize = 1 << 18;

/// One stream with its file and its index.
#[derive(Debug)]
pub(super) struct Stream {
    path: PathBuf,
    index_path: PathBuf,
    cpu: u16,
    uuid: [u8; 16],
    /// Finished packets, and after them the open packet, if there is one.
    bytes: Vec<u8>,
    /// Offset of the open packet in `bytes`.
    open: Option<usize>,
    index: Vec<u8>,
    /// Number of bytes in the file.
    written: u64,
    /// Stamp of the beginning of the open packet.
    begin: u64,
    /// Stamp of the latest event, or of the latest packet's end.
    end: u64,
    /// Sequence number of the next packet.
    number: u64,
    discarded: u64,
}

impl Stream {
    /// Creates the stream of a core in a folder. The caller creates one stream for each core.
    pub(super) fn new(folder: &Path, cpu: u16, uuid: [u8; 16]) -> Self {
        Self {
            path: folder.join(format!("stream_{cpu}")),
            index_path: folder.join(format!("index/stream_{cpu}.idx")),
            cpu,
            uuid,
            bytes: Vec::new(),
            open: None,
            index: Vec::new(),
            written: 0,
            begin: 0,
            end: 0,
            number: 0,
            discarded: 0,
        }
    }

    /// Returns the stamp of the latest event or packet end. Later stamps must not be smaller.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    /// Returns the number of bytes in memory.
    pub(super) fn buffered(&self) -> usize {
        self.bytes.len() + self.index.len()
    }

    /// Appends an event. `put` appends the context and the arguments of the event. The stamp must
    /// not be smaller than [`Stream::end`].
    pub(super) fn event(
        &mut self,
        id: u32,
        stamp: u64,
        put: impl FnOnce(&mut Vec<u8>),
    ) -> io::Result<()> {
        if self.open.is_none() {
            self.begin(stamp);
        }
        self.bytes.extend(id.to_le_bytes());
        self.bytes.extend(stamp.to_le_bytes());
        put(&mut self.bytes);
        self.end = stamp;
        let length = self.open.map_or(0, |start| self.bytes.len() - start);
        if length >= PACKET { self.close() } else { Ok(()) }
    }

    /// Writes a loss between the stamps `after` and `before`. `events` is the number of lost
    /// events, or `None` if this number is unknown. Neither stamp may be smaller than
    /// [`Stream::end`].
    pub(super) fn loss(&mut self, events: Option<u64>, after: u64, before: u64) -> io::Result<()> {
        if self.open.is_none() && (self.number == 0 || self.end < after) {
            // For readers, a loss begins at the end of the previous packet. Readers ignore the
            // counter of a stream's first packet, because they do not know when it began to count.
            self.begin(self.end.max(after));
        }
        self.end = after;
        self.close()?;
        match events {
            Some(events) => self.discarded = self.discarded.wrapping_add(events),
            None => self.number += 1,
        }
        self.begin(before);
        self.end = before;
        self.close()
    }

    /// Extends the last packet, or adds an empty one, so that the recording ends at this stamp.
    pub(super) fn extend(&mut self, stamp: u64) {
        if stamp > self.end {
            if self.open.is_none() {
                self.begin(self.end);
            }
            self.end = stamp;
        }
    }

    fn begin(&mut self, stamp: u64) {
        self.begin = stamp;
        self.open = Some(self.bytes.len());
        self.bytes.extend(MAGIC.to_le_bytes());
        self.bytes.extend(self.uuid);
        self.bytes.extend(CLASS.to_le_bytes());
        // `close` replaces the stamps, the sizes and the counters.
        self.bytes.extend([0; COUNTERS]);
        self.bytes.extend(u32::from(self.cpu).to_le_bytes());
    }

    /// Ends the open packet. Writes the finished packets to the file if there are many.
    fn close(&mut self) -> io::Result<()> {
        let Some(start) = self.open.take() else { return Ok(()) };
        let bits = (self.bytes.len() - start) as u64 * 8;
        let fields = [self.begin, self.end, bits, bits, self.number, self.discarded];
        for (field, place) in fields.into_iter().zip((start + STAMPS..).step_by(8)) {
            self.bytes[place..place + 8].copy_from_slice(&field.to_le_bytes());
        }
        let offset = self.written + start as u64;
        // The class and the instance of the stream are 0.
        let entry = [offset, bits, bits, self.begin, self.end, self.discarded, 0, 0, self.number];
        self.index.extend(entry.into_iter().flat_map(u64::to_be_bytes));
        self.number += 1;
        if self.bytes.len() >= WRITTEN_AT_ONCE { self.write() } else { Ok(()) }
    }

    /// Ends the open packet, and writes everything to the file.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.close()?;
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        // The file is opened for each write, because a trace can have more cores than a process may
        // have open files.
        append(&self.path)?.write_all(&self.bytes)?;
        let mut index = append(&self.index_path)?;
        if self.written == 0 {
            index.write_all(&INDEX_HEAD.map(u32::to_be_bytes).concat())?;
        }
        index.write_all(&self.index)?;
        self.written += self.bytes.len() as u64;
        self.bytes.clear();
        self.index.clear();
        Ok(())
    }
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}
