//! Logs that were closed, as streams to be read again.

use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;

use tracewell_wire::frame::{self, Found};
use tracewell_wire::posix::log::{Kind, LogHeader, LogRecord, LogStatus, MAGIC, name};
use tracewell_wire::posix::{FIRST_USER, LAST_USER};

use crate::attributes::Attributes;
use crate::error::Error;
use crate::status::{EventInfo, Status};
use crate::sys;
use crate::types::TypeNames;

/// A log.
#[derive(Debug)]
pub struct Recorded {
    bytes: Vec<u8>,
    attributes: Attributes,
    status: Status,
    names: Vec<Vec<u8>>,
    /// Where the records of each block lie, oldest block first.
    blocks: Vec<std::ops::Range<usize>>,
    position: Mutex<Position>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Position {
    block: usize,
    byte: usize,
    listed: usize,
}

impl Recorded {
    /// Reads the log that an open file is, from its start on.
    ///
    /// # Errors
    /// EINVAL where the file is no log, is damaged in its header, or is not open for reading; ENOMEM.
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
        while read < size {
            match file.read_at(&mut bytes[read..], read as u64) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(_) => return Err(Error::INVALID),
            }
        }
        bytes.truncate(read);
        Self::of_bytes(bytes)
    }

    /// Reads the bytes of a log.
    ///
    /// # Errors
    /// EINVAL where they are no log, or its header is damaged.
    pub fn of_bytes(bytes: Vec<u8>) -> Result<Self, Error> {
        let header = match frame::find(&bytes, MAGIC) {
            Found::Block { kind, body, .. } if Kind::of_code(kind) == Some(Kind::Header) => {
                LogHeader::read(body)
            }
            _ => None,
        };
        let header = header.ok_or(Error::INVALID)?;
        let mut found = Blocks::default();
        let behind = found.slots(&bytes, &header);
        found.sequence(&bytes, behind);
        // The longest of blocks with the same number is the newest.
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

    /// Attributes of the stream.
    pub const fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// How the stream stood when its log was closed.
    pub const fn status(&self) -> Status {
        self.status
    }

    /// Takes the next event; its data is given to `copy`. `None` at the end.
    ///
    /// # Errors
    /// None now.
    pub fn next<R>(&self, copy: impl FnOnce(EventInfo, &[u8]) -> R) -> Option<R> {
        let mut position = crate::lock(&self.position);
        loop {
            let range = self.blocks.get(position.block)?.clone();
            let rest = self.bytes.get(range)?.get(position.byte..)?;
            let Some((record, behind)) = LogRecord::read(rest) else {
                (position.block, position.byte) = (position.block + 1, 0);
                continue;
            };
            position.byte += rest.len() - behind.len();
            return Some(copy(EventInfo::of_log(&record), record.data));
        }
    }

    /// Begins again with the oldest event.
    pub fn rewind(&self) {
        let mut position = crate::lock(&self.position);
        (position.block, position.byte) = (0, 0);
    }

    /// The next event type of the list; `None` at its end.
    pub fn next_type(&self) -> Option<u32> {
        let mut position = crate::lock(&self.position);
        crate::types::next(self, &mut position.listed)
    }

    /// Begins the list of event types again.
    pub fn rewind_types(&self) {
        crate::lock(&self.position).listed = 0;
    }
}

impl TypeNames for Recorded {
    fn count(&self) -> usize {
        self.names.len()
    }

    fn user_name(&self, id: u32) -> Option<Vec<u8>> {
        self.names.get(id.checked_sub(FIRST_USER)? as usize).cloned()
    }
}

/// The blocks of a log.
#[derive(Default)]
struct Blocks {
    records: Vec<(u64, std::ops::Range<usize>)>,
    names: Vec<Vec<u8>>,
    end: Option<LogStatus>,
}

impl Blocks {
    /// The blocks in slots; where the others begin.
    fn slots(&mut self, bytes: &[u8], header: &LogHeader) -> usize {
        let (size, first) = (header.slot_bytes as usize, LogHeader::BLOCK);
        if size == 0 {
            return first;
        }
        let tail = usize::try_from(header.tail).unwrap_or(usize::MAX).min(bytes.len());
        let area = bytes.get(first..tail).unwrap_or_default();
        for (slot, piece) in area.chunks(size).enumerate().take(header.slots as usize) {
            if let Found::Block { kind, number, body } = frame::find(piece, MAGIC)
                && Kind::of_code(kind) == Some(Kind::Records)
            {
                self.records.push((number, range_of(body, first + slot * size)));
            }
        }
        tail
    }

    /// The blocks that follow each other, to the end or to the first damage.
    fn sequence(&mut self, bytes: &[u8], mut at: usize) {
        while let Some(rest) = bytes.get(at..) {
            let Found::Block { kind, number, body } = frame::find(rest, MAGIC) else { return };
            match Kind::of_code(kind) {
                Some(Kind::Records) => self.records.push((number, range_of(body, at))),
                Some(Kind::Name) => self.name(body),
                Some(Kind::End) => self.end = LogStatus::read(body),
                Some(Kind::Header) | None => {}
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
