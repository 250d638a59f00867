//! Reads the logs of closed streams.

use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;

use tracewell_wire::frame::{self, Lookup};
use tracewell_wire::posix::log::{Kind, LogHeader, LogRecord, LogStatus, MAGIC, name};
use tracewell_wire::posix::{FIRST_USER, LAST_USER};

use crate::attributes::Attributes;
use crate::error::Error;
use crate::status::{EventInfo, Status};
use crate::sys;
use crate::types::TypeNames;

/// A log, which the standard calls a pre-recorded stream. It is read into memory completely.
#[derive(Debug)]
pub struct RecordedLog {
    bytes: Vec<u8>,
    attributes: Attributes,
    status: Status,
    names: Vec<Vec<u8>>,
    /// Byte ranges of the records of each block, oldest block first.
    blocks: Vec<std::ops::Range<usize>>,
    position: Mutex<Position>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Position {
    block: usize,
    byte: usize,
    listed: usize,
}

impl RecordedLog {
    /// Reads the log in an open file, starting at the beginning of the file.
    ///
    /// # Errors
    ///
    /// EINVAL if the file is not a log, has a damaged header, or is not open for reading; ENOMEM if
    /// there is not enough memory.
    pub fn open(descriptor: i32) -> Result<Self, Error> {
        let (file, flags) = sys::duplicate(descriptor).map_err(|_| Error::INVALID)?;
        let readable = flags & libc::O_ACCMODE != libc::O_WRONLY && flags & libc::O_PATH == 0;
        let facts = sys::facts(file.as_fd()).map_err(|_| Error::INVALID)?;
        if !readable || !facts.is_regular() {
            return Err(Error::INVALID);
        }
        let size = usize::try_from(facts.size).map_err(|_| Error(libc::ENOMEM))?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| Error(libc::ENOMEM))?;
        bytes.resize(size, 0);
        let file = std::fs::File::from(file);
        let mut read = 0;
        // The file can become shorter while it is read.
        while read < size {
            match file.read_at(&mut bytes[read..], read as u64) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(_) => return Err(Error::INVALID),
            }
        }
        bytes.truncate(read);
        Self::from_bytes(bytes)
    }

    /// Reads a log that is already in memory.
    ///
    /// # Errors
    ///
    /// EINVAL if the bytes are not a log, or if its header is damaged.
    ///
    /// ```
    /// use tracewell_posix::RecordedLog;
    ///
    /// let error = RecordedLog::from_bytes(b"not a log".to_vec()).unwrap_err();
    /// assert_eq!(error.number(), 22); // EINVAL
    /// ```
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, Error> {
        let header = match frame::find(&bytes, MAGIC) {
            Lookup::Block { kind, body, .. } if Kind::of_code(kind) == Some(Kind::Header) => {
                LogHeader::read(body)
            }
            _ => None,
        };
        let header = header.ok_or(Error::INVALID)?;
        let mut found = Blocks::default();
        let after = found.slots(&bytes, &header);
        found.sequence(&bytes, after);
        // If two blocks have the same number, the longer block is newer.
        found.records.sort_by_key(|(number, range)| (*number, std::cmp::Reverse(range.len())));
        found.records.dedup_by_key(|(number, _)| *number);
        let mut status = Status::of_log(found.end.unwrap_or_default());
        if found.end.is_none() {
            (status.overrun, status.log_overrun) = (true, true);
        }
        Ok(Self {
            attributes: Attributes::of_log(&header),
            status,
            names: found.names,
            blocks: found.records.into_iter().map(|(_, range)| range).collect(),
            position: Mutex::default(),
            bytes,
        })
    }

    /// Returns the attributes of the stream.
    pub const fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Returns the status of the stream at the time its log was closed.
    pub const fn status(&self) -> Status {
        self.status
    }

    /// Passes the next event and its data to `copy` and returns the result, or returns `None` at
    /// the end.
    pub fn next<R>(&self, copy: impl FnOnce(EventInfo, &[u8]) -> R) -> Option<R> {
        let mut position = crate::lock(&self.position);
        loop {
            let range = self.blocks.get(position.block)?.clone();
            let rest = self.bytes.get(range)?.get(position.byte..)?;
            let Some((record, after)) = LogRecord::read(rest) else {
                // The block has no further record. The next block begins at byte 0.
                (position.block, position.byte) = (position.block + 1, 0);
                continue;
            };
            position.byte += rest.len() - after.len();
            return Some(copy(EventInfo::of_log(&record), record.data));
        }
    }

    /// Restarts reading at the oldest event.
    pub fn rewind(&self) {
        let mut position = crate::lock(&self.position);
        (position.block, position.byte) = (0, 0);
    }

    /// Returns the next event type in the list, or `None` at the end.
    pub fn next_type(&self) -> Option<u32> {
        let mut position = crate::lock(&self.position);
        crate::types::next(self, &mut position.listed)
    }

    /// Restarts the list of event types.
    pub fn rewind_types(&self) {
        crate::lock(&self.position).listed = 0;
    }
}

impl TypeNames for RecordedLog {
    fn count(&self) -> usize {
        self.names.len()
    }

    fn user_name(&self, id: u32) -> Option<Vec<u8>> {
        self.names.get(id.checked_sub(FIRST_USER)? as usize).cloned()
    }
}

/// The contents of the blocks of a log.
#[derive(Default)]
struct Blocks {
    records: Vec<(u64, std::ops::Range<usize>)>,
    names: Vec<Vec<u8>>,
    end: Option<LogStatus>,
}

impl Blocks {
    /// Reads the blocks that are in slots. Returns the offset at which the other blocks begin.
    fn slots(&mut self, bytes: &[u8], header: &LogHeader) -> usize {
        let (size, first) = (header.slot_bytes as usize, LogHeader::BLOCK);
        if size == 0 {
            return first;
        }
        let tail = usize::try_from(header.tail).unwrap_or(usize::MAX).min(bytes.len());
        let area = bytes.get(first..tail).unwrap_or_default();
        for (slot, piece) in area.chunks(size).enumerate().take(header.slots as usize) {
            // A slot contains no valid block if it was never written or was written only in part.
            if let Lookup::Block { kind, number, body } = frame::find(piece, MAGIC)
                && Kind::of_code(kind) == Some(Kind::Records)
            {
                self.records.push((number, range_of(body, first + slot * size)));
            }
        }
        tail
    }

    /// Reads consecutive blocks until the end of the log or the first damaged block.
    fn sequence(&mut self, bytes: &[u8], mut at: usize) {
        while let Some(rest) = bytes.get(at..) {
            let Lookup::Block { kind, number, body } = frame::find(rest, MAGIC) else { return };
            match Kind::of_code(kind) {
                Some(Kind::Records) => self.records.push((number, range_of(body, at))),
                Some(Kind::Name) => self.name(body),
                Some(Kind::End) => self.end = LogStatus::read(body),
                Some(Kind::Header | Kind::ProgramEnd) | None => {}
            }
            at += frame::HEAD + body.len();
        }
    }

    fn name(&mut self, body: &[u8]) {
        let Some((id, text)) = name(body) else { return };
        if id == FIRST_USER + self.names.len() as u32 && id <= LAST_USER {
            self.names.push(text.to_vec());
        }
    }
}

fn range_of(body: &[u8], block: usize) -> std::ops::Range<usize> {
    let start = block + frame::HEAD;
    start..start + body.len()
}
