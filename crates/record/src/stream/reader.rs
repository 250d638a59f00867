//! The reading side of a lane: copies committed records without ever delaying a writer.
//!
//! The reader first copies words and then checks them. It trusts no copy until `oldest` shows that
//! the words were not overwritten in the meantime. All state that a reader keeps between two calls
//! comes from checked copies. The head comment of `writer` lists the memory orderings.

use std::vec::Vec;

use tracewell_wire::native::image::{Committed, lane};
use tracewell_wire::native::{PacketHeader, REBASE, RecordHeader, split};

use super::image::Image;
use super::sync::{Ordering, fence};

/// All or some of the unread records of one packet.
#[derive(Clone, Copy, Debug)]
pub struct PacketPart<'a> {
    /// A packet header. Its base, first event and lengths describe only these records.
    pub header: PacketHeader,
    /// The words of the records.
    pub records: &'a [u64],
    /// Number of events in the records.
    pub events: u64,
    /// Timestamp of the first event.
    pub first: u64,
}

/// Reads one lane, starting at its oldest record.
///
/// ```
/// use tracewell_record::stream::{EventType, Family, LaneReader, Stream, StreamOptions};
///
/// const DISK: Family = Family::new(4, "disk");
/// static READ: EventType<(u64,)> = EventType::new(DISK, "read", &["block"]);
///
/// # #[cfg(target_os = "linux")] {
/// let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
/// stream.start();
/// stream.record(&READ, (17,));
///
/// let mut reader = LaneReader::new(&stream.image(), 0);
/// let image = stream.image();
/// let part = reader.next(&image).unwrap();
/// assert_eq!((part.events, part.records[1]), (1, 17));
/// assert!(reader.next(&image).is_none());
/// # }
/// ```
#[derive(Debug)]
pub struct LaneReader {
    lane: usize,
    /// Position of the first unread record.
    position: u64,
    /// Another reader has removed the records before this position; they are skipped.
    floor: u64,
    /// Header of the packet at `position`, with the base and the event number of the record at that
    /// position; `None` at the start of a packet.
    packet: Option<PacketHeader>,
    /// Number of events lost in this lane before the last clear.
    cleared: u64,
    /// Number of the first event that this reader returned or will return; `None` if it is not
    /// known yet.
    from: Option<u64>,
    /// Number of packets with invalid contents, which a correct writer cannot have stored.
    damaged: u64,
    /// Buffer for the copied words.
    words: Vec<u64>,
}

impl LaneReader {
    /// Creates a reader that starts at the oldest record not yet consumed.
    pub fn new(image: &Image<'_>, lane: usize) -> Self {
        // Acquire: pairs with the release store in `consume`.
        let floor = image.head(lane, lane::CONSUMED).load(Ordering::Acquire);
        let words = image.packet_words();
        // Start at the packet's header, which is needed even if some of its records are skipped.
        let position = floor / words * words;
        let cleared = image.head(lane, lane::LOST_CLEARED).load(Ordering::Relaxed);
        let from = (floor == 0).then_some(0);
        let words = Vec::new();
        Self { lane, position, floor, packet: None, cleared, from, damaged: 0, words }
    }

    /// Returns the position after the last record that was read.
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Returns the number of packets that were skipped because they were damaged.
    pub const fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Skips all records before this position.
    pub fn skip_to(&mut self, floor: u64) {
        self.floor = self.floor.max(floor);
    }

    /// Returns the next records, never from more than one packet, or `None` if all were read.
    pub fn next(&mut self, image: &Image<'_>) -> Option<PacketPart<'_>> {
        // Each iteration advances by one packet or catches up with the writer. The limit stops a
        // reader that a fast writer overtakes repeatedly.
        for _ in 0..image.geometry().packets.saturating_add(4) {
            let end = self.end_of_part(image)?;
            if let Some((header, events, first, start)) = self.copy(image, end) {
                if events == 0 {
                    continue;
                }
                let records = self.words.get(start..).unwrap_or_default();
                return Some(PacketPart { header, records, events, first });
            }
        }
        None
    }

    /// Moves `position` to the start of the next part, and returns the position at which that part
    /// ends. Returns `None` if all records were read.
    fn end_of_part(&mut self, image: &Image<'_>) -> Option<u64> {
        let words = image.packet_words();
        loop {
            // Acquire: pairs with the writer's commit, so the words before this position are
            // visible.
            let committed = image.head(self.lane, lane::COMMITTED).load(Ordering::Acquire);
            let committed = Committed(committed).position();
            // `oldest` may be slightly out of date. So also compute the oldest position from the
            // newest packet and the size of the ring.
            let oldest = image.head(self.lane, lane::OLDEST).load(Ordering::Relaxed);
            let oldest = oldest.max(
                (committed.saturating_sub(1) / words * words + words)
                    .saturating_sub(image.geometry().lane_words()),
            );
            if self.position < oldest {
                self.go_to(oldest.div_ceil(words) * words);
            }
            if committed <= self.position {
                return None;
            }
            let packet = self.position / words * words;
            // The writer is still in this packet: read to the last committed record.
            if committed - packet <= words {
                return Some(committed);
            }
            // The header of a completed packet contains the length that is in use.
            let used = image.word(image.index_of(self.lane, packet) + PacketHeader::USED);
            let used = u64::from(split(used.load(Ordering::Relaxed)).0);
            if used <= words && packet + used > self.position {
                return Some(packet + used);
            }
            self.go_to(packet + words);
        }
    }

    fn go_to(&mut self, position: u64) {
        self.position = position;
        self.packet = None;
    }

    /// Copies the records before `end` and checks them. Returns the header of the part, the number
    /// of its events, the timestamp of the first event, and the index in the copy at which the part
    /// begins. Returns `None` if the words were overwritten or are damaged.
    fn copy(&mut self, image: &Image<'_>, end: u64) -> Option<(PacketHeader, u64, u64, usize)> {
        let words = image.packet_words();
        let packet = self.position / words * words;
        let from = if self.packet.is_some() { self.position } else { packet };
        let length = (end - from) as usize;
        self.words.clear();
        self.words.resize(length, 0);
        image.copy(self.lane, from, length, &mut self.words);
        // After this check, the copy contains what a writer stored, unless the memory is damaged.
        if overwritten(image, self.lane, packet) {
            return None;
        }
        let (header, start) = match self.packet {
            Some(header) => (header, 0),
            None => match self.words.first_chunk() {
                Some(header) => (PacketHeader::of_words(header), PacketHeader::WORDS),
                None => return self.skip_damaged(packet + words),
            },
        };
        if header.number != packet / words {
            return self.skip_damaged(packet + words);
        }
        // First pass: skips the records that were already removed, counts them, and finds the base
        // of the next record.
        let mut walk = Walk { base: header.base, ..Walk::default() };
        let skipped = (self.floor.saturating_sub(from) as usize).clamp(start, self.words.len());
        let Some(begin) = walk.pass(&self.words, start, skipped) else {
            return self.skip_damaged(packet + words);
        };
        let base = walk.base;
        let passed = std::mem::take(&mut walk.events);
        walk.first = None;
        if walk.pass(&self.words, begin, self.words.len()).is_none() {
            return self.skip_damaged(packet + words);
        }
        let first_event = header.first_event.wrapping_add(passed);
        let used = (PacketHeader::WORDS + self.words.len() - begin) as u32;
        let part = PacketHeader {
            base,
            first_event,
            used,
            lane: self.lane as u32,
            last: walk.last,
            lost_before: header.lost_before.saturating_sub(self.cleared),
            covered_from: *self.from.get_or_insert(first_event),
            ..header
        };
        let next = PacketHeader {
            base: walk.base,
            first_event: first_event.wrapping_add(walk.events),
            ..header
        };
        self.position = end;
        self.packet = (!end.is_multiple_of(words)).then_some(next);
        Some((part, walk.events, walk.first.unwrap_or(0), begin))
    }

    /// Counts a damaged packet and continues with the next packet.
    fn skip_damaged<T>(&mut self, next: u64) -> Option<T> {
        self.damaged += 1;
        self.go_to(next);
        None
    }
}

/// Returns true if words copied from `position` onwards may have been overwritten during the copy.
fn overwritten(image: &Image<'_>, lane: usize, position: u64) -> bool {
    // If one of the copied words was stored after the writer's release fence, this fence
    // synchronises with the writer's fence. The load below therefore sees the value of `oldest`
    // that the writer stored before the fence.
    fence(Ordering::Acquire);
    image.head(lane, lane::OLDEST).load(Ordering::Relaxed) > position
}

/// The state of a pass over records.
#[derive(Default)]
struct Walk {
    /// Timestamp to which the delta of the next record is relative.
    base: u64,
    /// Number of events that the reader has passed so far.
    events: u64,
    /// Timestamp of the first event that the reader passed.
    first: Option<u64>,
    /// Timestamp of the last event that the reader passed.
    last: u64,
}

impl Walk {
    /// Walks from `at` to the first record that begins at or after `end`, and returns its index.
    /// Returns `None` if a record extends beyond the words.
    fn pass(&mut self, words: &[u64], mut at: usize, end: usize) -> Option<usize> {
        while at < end {
            let head = RecordHeader::unpack(*words.get(at)?);
            let next = at + 1 + usize::from(head.words);
            let fields = words.get(at + 1..next)?;
            // A base is no event: it sets the time to which the ticks of the next records are
            // relative.
            if head.id == REBASE {
                self.base = *fields.first()?;
            } else {
                self.events += 1;
                self.last = self.base.wrapping_add(u64::from(head.delta));
                self.first.get_or_insert(self.last);
            }
            at = next;
        }
        Some(at)
    }
}
