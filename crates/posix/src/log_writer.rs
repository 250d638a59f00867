//! Writes the log of a stream: blocks of records, names, and an end block.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use tracewell_wire::ProgramEnd;
use tracewell_wire::frame::HEAD;
use tracewell_wire::native::{WORD, put_words};
use tracewell_wire::posix::log::{Kind, LogHeader, LogStatus, seal};
use tracewell_wire::posix::{
    EventSet, FIRST_USER, FLAG_SYSTEM, LogPolicy, RECORD_WORDS, RecordHeader, record_words,
    text_words,
};

use crate::attributes::Attributes;
use crate::error::Error;
use crate::log_slots::Slots;
use crate::names::NameFile;
use crate::sys::{self, Errno};

/// Number of bytes after which a block is finished, in logs without slots.
const BLOCK: usize = 64 * 1024;
/// Minimum number of slots in a looping log.
const SLOTS: usize = 32;

/// Error for a log that has no space left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LogFull;

/// A log that is being written.
#[derive(Debug)]
pub(crate) struct LogWriter {
    file: File,
    regular: bool,
    header: LogHeader,
    /// Byte offset at which the next block is written, unless it is written to a slot.
    end: u64,
    slots: Slots,
    /// The block being filled, which begins with space for its header.
    block: Vec<u8>,
    number: u64,
    /// Number of bytes of records in the log.
    used: u64,
    names: usize,
    /// Number of user events that were stored in the log.
    pub(crate) events: u64,
    /// How the traced program ended, if known.
    pub(crate) program_end: Option<ProgramEnd>,
    /// True if records were overwritten or could not be written.
    pub(crate) overrun: bool,
    /// True if there is no space left. In a log with the loop policy: true if records have been
    /// overwritten.
    pub(crate) full: bool,
    /// True if the log accepts no further records.
    ended: bool,
    error: Errno,
}

impl LogWriter {
    /// Creates a log in a duplicate of an open descriptor, and writes the header.
    pub(crate) fn create(
        descriptor: i32,
        attributes: &Attributes,
        process: u32,
    ) -> Result<Self, Error> {
        let (file, flags) = sys::duplicate(descriptor).map_err(|_| Error(libc::EBADF))?;
        // A descriptor with O_PATH can be duplicated, but not written.
        if flags & libc::O_ACCMODE == libc::O_RDONLY || flags & libc::O_PATH != 0 {
            return Err(Error(libc::EBADF));
        }
        let facts = sys::facts(file.as_fd())?;
        let regular = facts.is_regular();
        // All policies except append write at given positions in the file. A pipe or a terminal has
        // no positions.
        let odd = !regular && attributes.log_policy != LogPolicy::Append;
        // With O_APPEND, the system moves each write to the end of the file.
        if flags & libc::O_APPEND != 0 || odd || facts.is_directory() {
            return Err(Error::INVALID);
        }
        let header = header(attributes, process);
        let mut writer = Self {
            file: file.into(),
            regular,
            slots: Slots::new(&header),
            header,
            end: 0,
            block: vec![0; HEAD],
            number: 0,
            used: 0,
            names: 0,
            events: 0,
            program_end: None,
            overrun: false,
            full: false,
            ended: false,
            error: 0,
        };
        writer.begin()?;
        Ok(writer)
    }

    /// Truncates a regular file and writes the header.
    fn begin(&mut self) -> Result<(), Error> {
        if self.regular {
            sys::resize(self.file.as_fd(), 0)?;
            self.end = 0;
        }
        self.append(Kind::Header, &self.header.words())?;
        // In a log with slots, the other blocks follow the area of the slots.
        self.end = if self.header.slots > 0 { self.header.tail } else { self.end };
        Ok(())
    }

    /// Removes all records; a regular file starts again with its header.
    pub(crate) fn clear(&mut self) {
        self.block.truncate(HEAD);
        (self.overrun, self.full, self.ended) = (false, false, false);
        if self.regular {
            (self.number, self.used, self.names) = (0, 0, 0);
            self.slots = Slots::new(&self.header);
            let begun = self.begin();
            self.note(begun.map_err(Error::number));
        }
    }

    /// Adds a record, which the next [`LogWriter::sync`] writes to the file.
    pub(crate) fn push(
        &mut self,
        head: RecordHeader,
        words: [u64; 3],
        data: &[u64],
    ) -> Result<(), LogFull> {
        let bytes = head.words() * WORD;
        if self.header.log_policy == LogPolicy::UntilFull {
            // Keep space for one system record, which `store` adds without a check.
            let system = 8 * record_words(EventSet::BYTES);
            let fits =
                self.used + bytes as u64 <= self.header.log_size.saturating_sub(system as u64);
            if !fits {
                self.full = true;
                return Err(LogFull);
            }
        }
        self.store(head, words, data);
        Ok(())
    }

    /// Adds a record for which space has been reserved.
    pub(crate) fn store(&mut self, head: RecordHeader, words: [u64; 3], data: &[u64]) {
        let bytes = head.words() * WORD;
        let longest = if self.header.slots > 0 { self.header.slot_bytes as usize } else { BLOCK };
        // An empty block accepts a record of any length.
        if self.block.len() > HEAD && self.block.len() + bytes > longest {
            self.turn();
        }
        let [stamp, address, thread] = words;
        for word in [head.pack(), stamp, address, thread].iter().chain(data) {
            self.block.extend_from_slice(&word.to_le_bytes());
        }
        debug_assert_eq!(data.len() + RECORD_WORDS, head.words());
        self.used += bytes as u64;
        self.events += u64::from(head.flags & FLAG_SYSTEM == 0);
    }

    /// Returns true if the log is permanently full.
    pub(crate) const fn has_ended(&self) -> bool {
        self.ended
    }

    /// Ends the log: it accepts no further records.
    pub(crate) const fn end_here(&mut self) {
        self.ended = true;
    }

    /// Writes the full block and starts the next block.
    fn turn(&mut self) {
        self.write_block();
        self.block.truncate(HEAD);
        self.number += 1;
        self.slots.finish();
    }

    fn write_block(&mut self) {
        if self.block.len() == HEAD || seal(&mut self.block, Kind::Records, self.number).is_none() {
            return;
        }
        let written = if self.header.slots > 0 {
            self.write_slot()
        } else {
            let written = self.write(&self.block);
            // After a failure, the next block replaces the incomplete one.
            self.end += if written.is_ok() { self.block.len() as u64 } else { 0 };
            written
        };
        if written.is_err() {
            self.overrun = true;
        }
        self.note(written);
    }

    /// Writes the block to a slot other than the slot with the block's last copy.
    fn write_slot(&mut self) -> Result<(), Errno> {
        let slot = self.slots.take();
        // A slot that has records contains the oldest block, which is overwritten now.
        (self.full, self.overrun) =
            (self.full || slot.has_records, self.overrun || slot.has_records);
        let written = self.file.write_all_at(&self.block, slot.place);
        self.slots.put(slot, self.block.len(), written.is_ok());
        written.map_err(|error| number(&error))
    }

    /// Ensures that the name of an event type is written before its records.
    pub(crate) fn introduce(&mut self, id: u32, names: NameFile<'_>) {
        if id >= FIRST_USER + self.names as u32 {
            self.write_names(names);
        }
    }

    /// Writes the block being filled, and all new names.
    pub(crate) fn sync(&mut self, names: NameFile<'_>) {
        self.write_names(names);
        self.write_block();
        if self.header.slots == 0 && self.block.len() > HEAD {
            self.block.truncate(HEAD);
            self.number += 1;
        }
    }

    fn write_names(&mut self, names: NameFile<'_>) {
        while self.names < names.count() {
            let id = FIRST_USER + self.names as u32;
            let name = names.name(id).unwrap_or_default();
            let text: [u64; 8] = text_words(&name);
            let mut words = [0; 10];
            words[0] = id.into();
            words[1] = name.len() as u64;
            words[2..].copy_from_slice(&text);
            let written = self.append(Kind::Name, &words);
            self.note(written);
            self.names += 1;
        }
    }

    /// Writes the end block.
    pub(crate) fn close(&mut self, status: LogStatus, names: NameFile<'_>) {
        let unused = self.header.slots > self.slots.used;
        if unused {
            // The remaining writes go to offsets without records, so the log remains valid until
            // the new header is written.
            self.end = self.slots.reach;
            self.header.tail = self.end;
            self.names = 0;
            self.write_names(names);
        }
        if let Some(end) = self.program_end {
            let written = self.append(Kind::ProgramEnd, &end.words());
            self.note(written);
        }
        let mut written = self.append(Kind::End, &status.words());
        if unused && written.is_ok() && self.error == 0 {
            written = self.rewrite_header();
        }
        self.note(written);
        // `sync_data` fails on pipes and similar files, and matters only for files on disk.
        let _ = self.file.sync_data();
    }

    fn rewrite_header(&mut self) -> Result<(), Errno> {
        let end = std::mem::replace(&mut self.end, 0);
        self.append(Kind::Header, &self.header.words())?;
        sys::resize(self.file.as_fd(), end)
    }

    fn append(&mut self, kind: Kind, words: &[u64]) -> Result<(), Errno> {
        let mut block = vec![0; HEAD + words.len() * WORD];
        put_words(&mut block[HEAD..], words).ok_or(libc::EINVAL)?;
        seal(&mut block, kind, 0).ok_or(libc::EINVAL)?;
        self.write(&block)?;
        self.end += block.len() as u64;
        Ok(())
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Errno> {
        let written = if self.regular {
            // Exceeding the file size limit would send SIGXFSZ to the calling thread.
            sys::within_limit(self.end + bytes.len() as u64)?;
            self.file.write_all_at(bytes, self.end)
        } else {
            (&self.file).write_all(bytes)
        };
        written.map_err(|error| number(&error))
    }

    fn note(&mut self, result: Result<(), Errno>) {
        if let (Err(error), 0) = (result, self.error) {
            self.error = error;
        }
    }

    /// Returns the first error since the last call, or 0 if there was none.
    pub(crate) fn take_error(&mut self) -> Errno {
        std::mem::take(&mut self.error)
    }
}

fn number(error: &std::io::Error) -> Errno {
    error.raw_os_error().unwrap_or(libc::EIO)
}

pub(crate) fn header(attributes: &Attributes, process: u32) -> LogHeader {
    let (slot_bytes, slots) = slots(attributes);
    LogHeader {
        stream_policy: attributes
            .stream_policy
            .unwrap_or(tracewell_wire::posix::StreamPolicy::Flush),
        log_policy: attributes.log_policy,
        inherited: attributes.inherited,
        max_data: attributes.max_data as u64,
        stream_size: attributes.stream_size as u64,
        log_size: attributes.log_size as u64,
        created: attributes.created,
        resolution: attributes.resolution,
        process: process.into(),
        slot_bytes,
        slots,
        tail: LogHeader::BLOCK as u64 + u64::from(slots) * u64::from(slot_bytes),
        name: attributes.name,
        version: attributes.version,
    }
}

/// For a log with the loop policy: returns the size of a slot in bytes, and the number of slots.
/// There are two more slots than the log size requires, because the block being filled can occupy
/// two slots.
fn slots(attributes: &Attributes) -> (u32, u32) {
    if attributes.log_policy != LogPolicy::Loop {
        return (0, 0);
    }
    let longest = 8 * record_words(attributes.max_data.max(2 * EventSet::BYTES)) + HEAD;
    let slot = (attributes.log_size / SLOTS).max(2 * longest).next_multiple_of(PAGE).min(1 << 23);
    let slots = attributes.log_size.div_ceil(slot) + 2;
    (slot as u32, slots.clamp(3, 1 << 24) as u32)
}

const PAGE: usize = 4096;
