//! Taking records out of a stream into a log: a file, a pipe, a socket, memory.
//!
//! What was read from a lane is given free only when the writer took it. A writer that fails (a full
//! disk) keeps what is pending; the next attempt goes on at the very byte. Meanwhile the stream fills
//! up, and what finds no room is counted in its lane, in its place.

use std::io::{self, Write};
use std::vec::Vec;

use tracewell_wire::native::block::{Kind, Start, StatusWords};
use tracewell_wire::native::image::{TYPE_TEXT, TypeHead, at, lane};
use tracewell_wire::native::{EVENT_IDS, IndexEntry};

use super::blocks::Blocks;
use super::image::Image;
use super::reader::LaneReader;
use super::sync::Ordering;

/// Bytes that are gathered before the writer gets them.
const PIECE: usize = 256 * 1024;

/// Entries of an index block.
const ENTRIES: usize = 4096;

/// Whether what goes into the log leaves the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Take {
    /// It leaves the stream; there may be one such reader at a time.
    Out,
    /// It stays; any number of readers may do this.
    Copy,
}

/// Writes a stream's records as a log.
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
    events: u64,
    errors: u64,
}

impl<W: Write> Log<W> {
    /// A log of everything that is in the stream and comes into it.
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
            events: 0,
            errors: 0,
        }
    }

    /// Events in the blocks so far.
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// How often the sink failed.
    pub const fn errors(&self) -> u64 {
        self.errors
    }

    /// The sink.
    pub const fn sink(&self) -> &W {
        &self.sink
    }

    /// Writes what came into the stream since the last time; `stamp` is the stream's clock now.
    /// Returns how many events that were.
    ///
    /// # Errors
    /// The sink's. Nothing is lost by that: what it did not take is kept, and is what the next call
    /// begins with.
    pub fn drain(&mut self, image: &Image<'_>, stamp: u64) -> io::Result<u64> {
        self.note(image, at::FLUSHING, 1);
        let result = self.round(image, stamp);
        if let Err(error) = &result {
            self.errors += 1;
            if self.take == Take::Out {
                let code = error.raw_os_error().unwrap_or(libc::EIO) as u64;
                // The first error stays until somebody asks for it.
                let word = image.word(at::FLUSH_ERROR);
                let _ = word.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
            }
        }
        self.note(image, at::FLUSHING, 0);
        result
    }

    fn note(&self, image: &Image<'_>, word: usize, value: u64) {
        if self.take == Take::Out {
            image.word(word).store(value, Ordering::Relaxed);
        }
    }

    fn round(&mut self, image: &Image<'_>, stamp: u64) -> io::Result<u64> {
        let before = self.events;
        if self.blocks.none_added() {
            let (policy, clock) = (image.policy(), image.clock());
            let start = Start { version: 1, policy, clock, process: image.process() };
            self.blocks.add(Kind::Start, &start.words(), &[]);
        }
        self.flush(image)?;
        for lane in 0..image.geometry().lanes as usize {
            if image.head(lane, lane::COMMITTED).load(Ordering::Relaxed) == 0 {
                continue;
            }
            self.reach(image, lane);
            while self.piece(image, lane) {
                if self.blocks.kept() >= PIECE {
                    self.flush(image)?;
                }
            }
        }
        // Types that were defined and not recorded yet are worth knowing, too.
        self.described.add_new(image, &mut self.blocks);
        self.status(image, stamp);
        self.flush(image)?;
        Ok(self.events - before)
    }

    /// Sees to it that there is a reader of this lane.
    fn reach(&mut self, image: &Image<'_>, lane: usize) {
        while self.lanes.len() <= lane {
            self.lanes.push(LaneReader::new(image, self.lanes.len()));
        }
    }

    /// Adds the next records of a lane; false where there are none.
    fn piece(&mut self, image: &Image<'_>, lane: usize) -> bool {
        let Some(reader) = self.lanes.get_mut(lane) else { return false };
        if self.take == Take::Out {
            // A clear gives free what was not read yet.
            reader.pass_over(image.head(lane, lane::CONSUMED).load(Ordering::Relaxed));
        }
        let Some(piece) = reader.next(image) else { return false };
        // Only now: what the piece has the types of is defined.
        self.described.add_new(image, &mut self.blocks);
        self.index.push(IndexEntry {
            offset: self.blocks.offset(),
            first: piece.first,
            last: piece.header.last,
            lane: lane as u32,
            events: piece.events as u32,
        });
        self.blocks.add(Kind::Packet, &piece.header.words(), piece.records);
        self.events += piece.events;
        if self.index.len() == ENTRIES {
            self.index_block();
        }
        true
    }

    fn status(&mut self, image: &Image<'_>, stamp: u64) {
        let status = image.status_words(stamp);
        let known = self.status.map(|known| StatusWords { complete_before: stamp, ..known });
        if known != Some(status) || self.blocks.wait() {
            self.blocks.add(Kind::Status, &status.words(), &[]);
            self.status = Some(status);
        }
    }

    fn index_block(&mut self) {
        let entries = std::mem::take(&mut self.index);
        let mut words = std::vec![self.last_index];
        words.extend(entries.iter().flat_map(IndexEntry::words));
        self.last_index = self.blocks.offset();
        self.blocks.add(Kind::Index, &words, &[]);
    }

    /// Gives the sink what is pending, and then the stream what was taken out.
    fn flush(&mut self, image: &Image<'_>) -> io::Result<()> {
        self.blocks.write(&mut self.sink)?;
        if self.take == Take::Out {
            for (lane, reader) in self.lanes.iter().enumerate() {
                image.consume(lane, reader.position());
            }
        }
        Ok(())
    }

    /// Ends the log: what is left, the index, the end block. What cannot be written is counted.
    ///
    /// # Errors
    /// The sink's; what is in the file until then can be read all the same.
    pub fn close(mut self, image: &Image<'_>, stamp: u64) -> Result<W, CloseError> {
        let result = self.drain(image, stamp).and_then(|_| {
            if !self.index.is_empty() {
                self.index_block();
            }
            self.blocks.add(Kind::End, &[self.last_index], &[]);
            self.flush(image)
        });
        match result {
            Ok(()) => Ok(self.sink),
            Err(error) => Err(CloseError { error, lost: self.unwritten(image) }),
        }
    }

    /// Events that are pending or still in the stream.
    fn unwritten(&mut self, image: &Image<'_>) -> u64 {
        let mut lost = self.blocks.events_waiting();
        self.reach(image, image.geometry().lanes as usize - 1);
        for reader in &mut self.lanes {
            while let Some(piece) = reader.next(image) {
                lost += piece.events;
            }
        }
        if self.take == Take::Out {
            image.word(at::LOST_LOG).fetch_add(lost, Ordering::Relaxed);
        }
        lost
    }
}

/// Event types that have their block.
#[derive(Debug, Default)]
struct Described([u64; EVENT_IDS / 64]);

impl Described {
    /// Adds the event types that were defined meanwhile. A record's type is defined before it is
    /// recorded, and so is seen by whoever asks after the record was read.
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
    let head = TypeHead { state: id, family, length: length as u32 };
    blocks.add_text(Kind::Type, head.pack(), &text[..length]);
}

/// A log could not be ended.
#[derive(Debug)]
pub struct CloseError {
    /// What the sink said.
    pub error: io::Error,
    /// Events that were in the stream and are not in the log.
    pub lost: u64,
}

impl std::fmt::Display for CloseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} events did not reach the log: {}", self.lost, self.error)
    }
}

impl std::error::Error for CloseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
