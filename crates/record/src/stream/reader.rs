//! The reading side of a lane: copies what was committed, never holds a writer up.
//!
//! Words are copied first and judged afterwards, and nothing that was copied is believed before
//! `oldest` says that it was not overwritten meanwhile. What a reader keeps from one look to the next
//! comes from judged copies. The memory orderings stand at the head of `writer`.

use std::vec::Vec;

use tracewell_wire::native::image::{Committed, lane};
use tracewell_wire::native::{PacketHeader, REBASE, RecordHead, split};

use super::image::Image;
use super::sync::{Ordering, fence};

/// Records of a lane that were not read before: all of one packet, or a part of it.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// A header for these records alone: its base, its first event and its lengths are theirs.
    pub header: PacketHeader,
    /// The records, word by word.
    pub records: &'a [u64],
    /// How many events they are.
    pub events: u64,
    /// Stamp of the first of them.
    pub first: u64,
}

/// Reads one lane from its oldest record on.
#[derive(Debug)]
pub struct LaneReader {
    lane: usize,
    /// Position of the first record that was not read.
    position: u64,
    /// Records before this position were taken out by others and are passed over.
    floor: u64,
    /// The header of the packet that `position` lies in, with the base and the first event of the
    /// record there; none at the start of a packet.
    packet: Option<PacketHeader>,
    /// Events lost in this lane before the last clear.
    cleared: u64,
    /// Number of the first event that is to be read; known when the first piece was.
    from: Option<u64>,
    /// Packets whose words could not be what a writer stores.
    damaged: u64,
    words: Vec<u64>,
}

impl LaneReader {
    /// A reader that begins with what is there and not yet consumed.
    pub fn new(image: &Image<'_>, lane: usize) -> Self {
        let floor = image.head(lane, lane::CONSUMED).load(Ordering::Acquire);
        let words = image.packet_words();
        let position = floor / words * words;
        let cleared = image.head(lane, lane::LOST_CLEARED).load(Ordering::Relaxed);
        let from = (floor == 0).then_some(0);
        let words = Vec::new();
        Self { lane, position, floor, packet: None, cleared, from, damaged: 0, words }
    }

    /// Position behind what was read.
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Packets that were passed over because their words made no sense.
    pub const fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Passes over everything before this position.
    pub fn pass_over(&mut self, floor: u64) {
        self.floor = self.floor.max(floor);
    }

    /// The next records, at most those of one packet; `None` where everything was read.
    pub fn next(&mut self, image: &Image<'_>) -> Option<Piece<'_>> {
        // Each round goes one packet on or catches up with the writer; a writer that laps the
        // reader again and again cannot hold it for more rounds than this.
        for _ in 0..image.geometry().packets.saturating_add(4) {
            let end = self.end_of_piece(image)?;
            if let Some((header, events, first, start)) = self.copy(image, end) {
                if events == 0 {
                    continue;
                }
                let records = self.words.get(start..).unwrap_or_default();
                return Some(Piece { header, records, events, first });
            }
        }
        None
    }

    /// Where the next piece ends; brings `position` to where it begins.
    fn end_of_piece(&mut self, image: &Image<'_>) -> Option<u64> {
        let words = image.packet_words();
        loop {
            // Acquire: pairs with the writer's commit; the words before this position are there.
            let committed = image.head(self.lane, lane::COMMITTED).load(Ordering::Acquire);
            let committed = Committed(committed).position();
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
            if committed - packet <= words {
                return Some(committed);
            }
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

    /// Copies up to `end` and judges it: header of the piece, events in it, stamp of the first, and
    /// where in the copy it begins. `None` where it was overwritten or made no sense.
    fn copy(&mut self, image: &Image<'_>, end: u64) -> Option<(PacketHeader, u64, u64, usize)> {
        let words = image.packet_words();
        let packet = self.position / words * words;
        let from = if self.packet.is_some() { self.position } else { packet };
        let length = (end - from) as usize;
        self.words.clear();
        self.words.resize(length, 0);
        image.copy(self.lane, from, length, &mut self.words);
        if overwritten(image, self.lane, packet) {
            return None;
        }
        let (header, start) = match self.packet {
            Some(header) => (header, 0),
            None => match self.words.first_chunk() {
                Some(header) => (PacketHeader::of_words(header), PacketHeader::WORDS),
                None => return self.give_up(packet + words),
            },
        };
        if header.number != packet / words {
            return self.give_up(packet + words);
        }
        let mut walk = Walk { base: header.base, ..Walk::default() };
        let skipped = (self.floor.saturating_sub(from) as usize).clamp(start, self.words.len());
        let Some(begin) = walk.pass(&self.words, start, skipped) else {
            return self.give_up(packet + words);
        };
        let base = walk.base;
        let passed = std::mem::take(&mut walk.events);
        walk.first = None;
        if walk.pass(&self.words, begin, self.words.len()).is_none() {
            return self.give_up(packet + words);
        }
        let first_event = header.first_event.wrapping_add(passed);
        let used = (PacketHeader::WORDS + self.words.len() - begin) as u32;
        let piece = PacketHeader {
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
        Some((piece, walk.events, walk.first.unwrap_or(0), begin))
    }

    fn give_up<T>(&mut self, next: u64) -> Option<T> {
        self.damaged += 1;
        self.go_to(next);
        None
    }
}

/// Whether what was copied from `position` on may have been overwritten meanwhile.
fn overwritten(image: &Image<'_>, lane: usize, position: u64) -> bool {
    // A copied word that the writer had already overwritten makes this fence synchronise with the
    // writer's release fence before that store, so the load below sees the `oldest` that was stored
    // before that fence.
    fence(Ordering::Acquire);
    image.head(lane, lane::OLDEST).load(Ordering::Relaxed) > position
}

/// A walk over records.
#[derive(Default)]
struct Walk {
    base: u64,
    events: u64,
    first: Option<u64>,
    last: u64,
}

impl Walk {
    /// Walks from `at` to the first record that begins at `end` or behind it, and says where that
    /// is; `None` where a record reaches beyond the words.
    fn pass(&mut self, words: &[u64], mut at: usize, end: usize) -> Option<usize> {
        while at < end {
            let head = RecordHead::unpack(*words.get(at)?);
            let next = at + 1 + usize::from(head.words);
            let fields = words.get(at + 1..next)?;
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
