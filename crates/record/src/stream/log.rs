//! Moves records from a stream into a log: a file, a pipe, a socket, memory.
//!
//! Records are removed from the stream only after the sink has accepted them. If the sink fails (a
//! full disk), the pending bytes are kept and the next attempt continues at the first byte that was
//! not written. Meanwhile the stream can become full; events that do not fit are counted in their
//! lane.

use std::io::{self, Write};
use std::vec::Vec;

use tracewell_wire::ProgramEnd;
use tracewell_wire::native::block::{Kind, Start, StatusWords};
use tracewell_wire::native::image::{TYPE_TEXT, TypeHeader, at, lane};
use tracewell_wire::native::{EVENT_IDS, IndexEntry};

use super::blocks::Blocks;
use super::image::Image;
use super::reader::LaneReader;
use super::stream::Stream;
use super::sync::Ordering;

/// The log writes pending bytes to the sink when there are at least this many.
const FLUSH_SIZE: usize = 256 * 1024;

/// Maximum number of entries in an index block.
const INDEX_ENTRIES: usize = 4096;

/// Determines if records remain in the stream after a log has written them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Take {
    /// Records are removed from the stream. A stream may have only one such reader at a time.
    Out,
    /// Records remain in the stream. Any number of readers may do this at the same time.
    Copy,
}

/// Writes a stream's records to a sink in the log format.
///
/// ```
/// use tracewell_record::stream::{EventType, Family, Log, Stream, StreamOptions, Take};
///
/// const DISK: Family = Family::new(4, "disk");
/// static READ: EventType<(u64,)> = EventType::new(DISK, "read", &["block"]);
///
/// let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
/// stream.start();
/// stream.record(&READ, (17,));
/// stream.record(&READ, (18,));
///
/// let mut log = Log::new(Vec::new(), Take::Out);
/// assert_eq!(log.drain(&stream).unwrap(), 2);
/// stream.record(&READ, (19,));
/// let bytes = log.close(&stream).unwrap();
/// assert!(bytes.starts_with(b"TWB1"));
/// ```
#[derive(Debug)]
pub struct Log<W> {
    sink: W,
    take: Take,
    lanes: Vec<LaneReader>,
    blocks: Blocks,
    described: Described,
    index: Vec<IndexEntry>,
    last_index: u64,
    status: Option<StatusWords>,
    program_end: Option<ProgramEnd>,
    events: u64,
    errors: u64,
}

impl<W: Write> Log<W> {
    /// Creates a log for all records that are in the stream now, and for all later records.
    pub fn new(sink: W, take: Take) -> Self {
        Self {
            sink,
            take,
            lanes: Vec::new(),
            blocks: Blocks::default(),
            described: Described::default(),
            index: Vec::new(),
            last_index: 0,
            status: None,
            program_end: None,
            events: 0,
            errors: 0,
        }
    }

    /// Returns the number of events in the log so far.
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// Returns how many times the sink has failed.
    pub const fn errors(&self) -> u64 {
        self.errors
    }

    /// Returns the sink that the log writes to.
    pub const fn sink(&self) -> &W {
        &self.sink
    }

    /// Writes the records that were added since the last call, and returns the number of events.
    ///
    /// # Errors
    /// Returns an error if the sink fails. Nothing is lost: the next call continues with the bytes
    /// that the sink did not accept.
    pub fn drain(&mut self, stream: &Stream) -> io::Result<u64> {
        self.drain_image(&stream.image(), stream.stamp())
    }

    /// Does the same as [`Log::drain`] for memory that is not in a [`Stream`]. `stamp` is the
    /// current reading of the clock that gives events their timestamps.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Log::drain`].
    pub fn drain_image(&mut self, image: &Image<'_>, stamp: u64) -> io::Result<u64> {
        self.note(image, at::FLUSHING, 1);
        let result = self.drain_once(image, stamp);
        if let Err(error) = &result {
            self.errors += 1;
            if self.take == Take::Out {
                let code = error.raw_os_error().unwrap_or(libc::EIO) as u64;
                // The first error is kept until `take_flush_error` reads it.
                let word = image.word(at::FLUSH_ERROR);
                let _ = word.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
            }
        }
        self.note(image, at::FLUSHING, 0);
        result
    }

    /// Stores a word of the stream's status, unless this log only copies records.
    fn note(&self, image: &Image<'_>, word: usize, value: u64) {
        if self.take == Take::Out {
            image.word(word).store(value, Ordering::Relaxed);
        }
    }

    fn drain_once(&mut self, image: &Image<'_>, stamp: u64) -> io::Result<u64> {
        let before = self.events;
        if self.blocks.none_added() {
            let (policy, clock) = (image.policy(), image.clock());
            let start = Start { version: 1, policy, clock, process: image.process() };
            self.blocks.add(Kind::Start, &start.words(), &[]);
        }
        // First write the bytes that are pending since an earlier failure.
        self.flush(image)?;
        for lane in 0..image.geometry().lanes as usize {
            if image.head(lane, lane::COMMITTED).load(Ordering::Relaxed) == 0 {
                continue;
            }
            self.ensure_reader(image, lane);
            while self.add_records(image, lane) {
                if self.blocks.len() >= FLUSH_SIZE {
                    self.flush(image)?;
                }
            }
        }
        // Also describe types that are defined but have not been recorded yet.
        self.described.add_new(image, &mut self.blocks);
        self.status(image, stamp);
        self.flush(image)?;
        Ok(self.events - before)
    }

    /// Creates the readers for all lanes up to `lane`, if they do not exist yet.
    fn ensure_reader(&mut self, image: &Image<'_>, lane: usize) {
        while self.lanes.len() <= lane {
            self.lanes.push(LaneReader::new(image, self.lanes.len()));
        }
    }

    /// Adds a block with the next records of a lane. Returns false if there are none.
    fn add_records(&mut self, image: &Image<'_>, lane: usize) -> bool {
        let Some(reader) = self.lanes.get_mut(lane) else { return false };
        if self.take == Take::Out {
            // If the stream was cleared, skip the records that were cleared.
            reader.skip_to(image.head(lane, lane::CONSUMED).load(Ordering::Relaxed));
        }
        let Some(part) = reader.next(image) else { return false };
        // Add the types after the records were read: a type is defined before its first record is
        // stored, so no type is missing.
        self.described.add_new(image, &mut self.blocks);
        self.index.push(IndexEntry {
            offset: self.blocks.offset(),
            first: part.first,
            last: part.header.last,
            lane: lane as u32,
            events: part.events as u32,
        });
        self.blocks.add(Kind::Packet, &part.header.words(), part.records);
        self.events += part.events;
        if self.index.len() == INDEX_ENTRIES {
            self.index_block();
        }
        true
    }

    /// Adds a status block if the status changed or other blocks are pending.
    fn status(&mut self, image: &Image<'_>, stamp: u64) {
        let status = image.status_words(stamp);
        // If only the timestamp changed, do not add a status block.
        let known = self.status.map(|known| StatusWords { complete_before: stamp, ..known });
        if known != Some(status) || self.blocks.are_pending() {
            self.blocks.add(Kind::Status, &status.words(), &[]);
            self.status = Some(status);
        }
    }

    /// Adds an index block with the entries so far.
    fn index_block(&mut self) {
        let entries = std::mem::take(&mut self.index);
        let mut words = std::vec![self.last_index];
        words.extend(entries.iter().flat_map(IndexEntry::words));
        self.last_index = self.blocks.offset();
        self.blocks.add(Kind::Index, &words, &[]);
    }

    /// Writes all pending bytes to the sink, then releases their records in the stream.
    fn flush(&mut self, image: &Image<'_>) -> io::Result<()> {
        self.blocks.write(&mut self.sink)?;
        // Until the sink has accepted the bytes, the records must remain in the stream.
        if self.take == Take::Out {
            for (lane, reader) in self.lanes.iter().enumerate() {
                image.consume(lane, reader.position());
            }
        }
        Ok(())
    }

    /// Stores how the recorded program ended. [`Log::close`] writes this to the log.
    pub const fn program_ended(&mut self, end: ProgramEnd) {
        self.program_end = Some(end);
    }

    /// Completes the log: writes the remaining records, the index and the end block.
    ///
    /// # Errors
    /// Returns an error if the sink fails. The error contains the number of events that did not
    /// reach the log. The part of the log that was written is readable.
    pub fn close(self, stream: &Stream) -> Result<W, CloseError> {
        self.close_image(&stream.image(), stream.stamp())
    }

    /// Does the same as [`Log::close`] for memory that is not in a [`Stream`].
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Log::close`].
    pub fn close_image(mut self, image: &Image<'_>, stamp: u64) -> Result<W, CloseError> {
        let result = self.drain_image(image, stamp).and_then(|_| {
            if !self.index.is_empty() {
                self.index_block();
            }
            if let Some(end) = self.program_end {
                self.blocks.add(Kind::ProgramEnd, &end.words(), &[]);
            }
            self.blocks.add(Kind::End, &[self.last_index], &[]);
            self.flush(image)
        });
        match result {
            Ok(()) => Ok(self.sink),
            Err(error) => Err(CloseError { error, lost: self.unwritten(image) }),
        }
    }

    /// Counts the events that are pending or still in the stream, and records them as lost.
    fn unwritten(&mut self, image: &Image<'_>) -> u64 {
        let mut lost = self.blocks.pending_events();
        self.ensure_reader(image, image.geometry().lanes as usize - 1);
        for reader in &mut self.lanes {
            while let Some(part) = reader.next(image) {
                lost += part.events;
            }
        }
        // If records are only copied, they remain in the stream, so they are not lost.
        if self.take == Take::Out {
            image.word(at::LOST_LOG).fetch_add(lost, Ordering::Relaxed);
        }
        lost
    }
}

impl Stream {
    /// Removes all records from the stream and writes them to `writer` as a complete log.
    ///
    /// ```
    /// use tracewell_record::stream::{EventType, Family, Stream, StreamOptions};
    ///
    /// const DISK: Family = Family::new(4, "disk");
    /// static READ: EventType<(u64,)> = EventType::new(DISK, "read", &["block"]);
    ///
    /// let stream = Stream::anonymous(&StreamOptions::default())?;
    /// stream.start();
    /// stream.record(&READ, (17,));
    /// let log = stream.save(Vec::new())?;
    /// assert!(log.starts_with(b"TWB1"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if writing fails. The error contains the number of events that did not
    /// reach the log.
    pub fn save<W: Write>(&self, writer: W) -> io::Result<W> {
        Ok(Log::new(writer, Take::Out).close(self)?)
    }
}

/// Ids whose event type the log already describes, one bit each.
#[derive(Debug, Default)]
struct Described([u64; EVENT_IDS / 64]);

impl Described {
    /// Adds the event types that were defined since the last call. A type is defined before its
    /// first record is stored, so once a record was read, its type is in the bitmap.
    fn add_new(&mut self, image: &Image<'_>, blocks: &mut Blocks) {
        for (index, described) in self.0.iter_mut().enumerate() {
            let defined = image.word(at::DEFINED + index).load(Ordering::Acquire);
            let mut new = defined & !*described;
            *described |= new;
            while new != 0 {
                let id = (index * 64) as u16 + new.trailing_zeros() as u16;
                new &= new - 1;
                add_type(image, id, blocks);
            }
        }
    }
}

fn add_type(image: &Image<'_>, id: u16, blocks: &mut Blocks) {
    let mut text = [0; TYPE_TEXT];
    let Some((family, length)) = image.event_type(id, &mut text) else { return };
    let head = TypeHeader { state: id, family, length: length as u32 };
    blocks.add_text(Kind::Type, head.pack(), &text[..length]);
}

/// Error for a log that could not be completed.
#[derive(Debug)]
pub struct CloseError {
    /// The error of the sink, which ended the attempt to write the rest of the log.
    pub error: io::Error,
    /// Number of events that were in the stream and are not in the log.
    pub lost: u64,
}

impl std::fmt::Display for CloseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} events did not reach the log: {}", self.lost, self.error)
    }
}

impl From<CloseError> for io::Error {
    fn from(error: CloseError) -> Self {
        Self::new(error.error.kind(), error)
    }
}

impl std::error::Error for CloseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
