//! The writing side of a lane. One thread writes, with ordinary stores and one release store per
//! event.
//!
//! The state that determines the address of the next store is private to the writer ([`Writer`]);
//! the shared words are only copies of it. So a process that overwrites the image can corrupt the
//! data that readers see, but not the addresses that writers store to.
//!
//! | shared word | stored by | ordering | read by |
//! |---|---|---|---|
//! | packet words | writer | relaxed | readers, relaxed; they then check `overwritten` |
//! | committed | writer | release, after the record | readers, acquire: they see the record |
//! | oldest | writer | relaxed, then release fence (1) | readers, acquire fence (2), then relaxed |
//! | lost | writer | relaxed, because it publishes no other word | readers |
//! | consumed | one reader | release, after its copy | writer, acquire, before it overwrites |
//!
//! 1. The writer executes this fence before it overwrites a packet.
//! 2. A reader executes this fence after it has copied words.

use core::cell::Cell;

use tracewell_wire::native::image::{Committed, lane};
use tracewell_wire::native::{FullPolicy, PacketHeader, REBASE, RecordHeader, join};

use super::image::Image;
use super::sync::{Ordering, fence};

/// Error for an event that does not fit and is not allowed to overwrite older events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

/// The thread that writes a lane. The header of each packet in the lane contains these fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Identity {
    /// Id of the process.
    pub process: u32,
    /// Id of the thread.
    pub thread: u32,
    /// Thread name, padded with 0.
    pub name: [u8; 16],
}

/// The writer of a lane, including its private state.
///
/// ```
/// use tracewell_record::stream::{AtomicU64, FullPolicy, Identity, Image, Writer};
/// use tracewell_wire::native::image::{Geometry, ImageHeader};
/// use tracewell_wire::native::{ClockFacts, ClockKind};
///
/// let geometry = Geometry { lanes: 1, packets: 4, packet_words: 128 };
/// let memory: Vec<_> = (0..geometry.total()).map(|_| AtomicU64::new(0)).collect();
/// let clock = ClockFacts {
///     kind: ClockKind::Custom,
///     ticks_per_second: 1_000_000,
///     origin: 0,
///     origin_realtime: 0,
///     origin_monotonic: 0,
/// };
/// let header = ImageHeader { geometry, policy: FullPolicy::Loop, clock, process: 1 };
/// let image = Image::create(&memory, &header).unwrap();
/// let id = image.define(0, b"net/sent(length:u64)").unwrap();
///
/// let writer = Writer::new();
/// writer.take(&image, 0, Identity { process: 1, thread: 1, name: [0; 16] });
/// writer.push(&image, id, 1_000, &[1500], &[]).unwrap();
/// ```
#[derive(Debug)]
pub struct Writer {
    /// Index of the next word to be written.
    next: Cell<usize>,
    /// Index of the first word after the open packet; 0 if no packet is open.
    end: Cell<usize>,
    /// Timestamp to which the delta of the next record is relative.
    base: Cell<u64>,
    /// Last value stored to the shared word `committed`.
    committed: Cell<u64>,
    /// Position of the open packet.
    packet: Cell<u64>,
    /// Number of the first event in the open packet.
    first_event: Cell<u64>,
    lost: Cell<u64>,
    lane: Cell<usize>,
    identity: Cell<Identity>,
}

impl Writer {
    /// Creates a writer without a lane. It must [`take`](Self::take) one before it stores a record.
    pub const fn new() -> Self {
        let identity = Identity { process: 0, thread: 0, name: [0; 16] };
        Self {
            next: Cell::new(0),
            end: Cell::new(0),
            base: Cell::new(0),
            committed: Cell::new(0),
            packet: Cell::new(0),
            first_event: Cell::new(0),
            lost: Cell::new(0),
            lane: Cell::new(0),
            identity: Cell::new(identity),
        }
    }

    /// Takes over a lane that no other writer uses. The first event opens a new packet after the
    /// existing records.
    ///
    /// # Panics
    /// Panics if the image has no such lane.
    pub fn take(&self, image: &Image<'_>, lane: usize, identity: Identity) {
        // Acquire: pairs with the last release store of the previous writer, whose packet this
        // writer completes.
        let committed = Committed(image.head(lane, lane::COMMITTED).load(Ordering::Acquire));
        let packet_words = image.packet_words();
        // The position after a full packet is the start of the next packet, so subtract one to get
        // the packet itself.
        let packet = committed.position().saturating_sub(1) / packet_words * packet_words;
        let begun = committed.position() > packet;
        let first = if begun { image.packet_header(lane, packet).first_event } else { 0 };
        self.lane.set(lane);
        self.identity.set(identity);
        self.committed.set(committed.0);
        self.packet.set(packet);
        self.first_event.set(first);
        self.lost.set(image.head(lane, lane::LOST).load(Ordering::Relaxed));
        // `end` is 0, so the first record does not fit and a new packet is opened.
        self.next.set(image.index_of(lane, committed.position()));
        self.end.set(0);
        self.base.set(0);
    }

    /// Takes over the writer's own lane again after an abandoned record.
    #[cfg(all(feature = "std", target_os = "linux", not(loom)))]
    pub(super) fn take_again(&self, image: &Image<'_>) {
        self.take(image, self.lane.get(), self.identity.get());
    }

    /// Stores a record: one word per field, then bytes, padded to a whole word. The number of bytes
    /// is not stored; if it is needed, the caller must store it as the last field.
    ///
    /// # Errors
    /// Returns an error if there is no room for the record. The event is counted as lost.
    #[inline]
    pub fn push(
        &self,
        image: &Image<'_>,
        id: u16,
        stamp: u64,
        fields: &[u64],
        bytes: &[u8],
    ) -> Result<(), Full> {
        let next = self.next.get();
        let delta = stamp.wrapping_sub(self.base.get());
        let words = fields.len() + bytes.len().div_ceil(8);
        // The comparison is `<` because the record needs one word more than `words`, for its
        // header.
        if next + words < self.end.get() && delta <= u64::from(u32::MAX) {
            self.store(image, next, id, delta as u32, fields, bytes);
            return Ok(());
        }
        self.push_slowly(image, id, stamp, fields, bytes)
    }

    /// Stores a record at `next` and commits it. The caller has checked that there is room.
    #[inline]
    fn store(
        &self,
        image: &Image<'_>,
        next: usize,
        id: u16,
        delta: u32,
        fields: &[u64],
        bytes: &[u8],
    ) {
        let words = fields.len() + bytes.len().div_ceil(8);
        let Some((head, rest)) = image.words(next..next + 1 + words).split_first() else { return };
        head.store(RecordHeader { delta, id, words: words as u16 }.pack(), Ordering::Relaxed);
        for (to, field) in rest.iter().zip(fields) {
            to.store(*field, Ordering::Relaxed);
        }
        // The last word is padded with zeros.
        for (to, piece) in rest.iter().skip(fields.len()).zip(bytes.chunks(8)) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            to.store(u64::from_le_bytes(word), Ordering::Relaxed);
        }
        self.next.set(next + 1 + words);
        // The record becomes visible only with this step.
        self.commit(image, 1 + words as u64 + Committed::EVENT);
    }

    /// Makes stored words visible to readers, and increments the event count if `step` includes an
    /// event.
    #[inline]
    fn commit(&self, image: &Image<'_>, step: u64) {
        let committed = self.committed.get().wrapping_add(step);
        self.committed.set(committed);
        // Release: a reader that loads this value with acquire sees all words stored before this
        // store.
        image.head(self.lane.get(), lane::COMMITTED).store(committed, Ordering::Release);
    }

    /// Stores a record that needs a new packet or a new base.
    #[cold]
    #[inline(never)]
    fn push_slowly(
        &self,
        image: &Image<'_>,
        id: u16,
        stamp: u64,
        fields: &[u64],
        bytes: &[u8],
    ) -> Result<(), Full> {
        let words = fields.len() + bytes.len().div_ceil(8);
        let fits = words < image.geometry().max_record_words();
        if !fits || self.make_room(image, stamp, 1 + words).is_err() {
            self.lose(image);
            return Err(Full);
        }
        // `make_room` has set a base from which the ticks fit into 32 bits.
        let delta = stamp.wrapping_sub(self.base.get()) as u32;
        self.store(image, self.next.get(), id, delta, fields, bytes);
        Ok(())
    }

    /// Counts an event as lost.
    fn lose(&self, image: &Image<'_>) {
        self.lost.set(self.lost.get().wrapping_add(1));
        image.head(self.lane.get(), lane::LOST).store(self.lost.get(), Ordering::Relaxed);
        // The next record opens a new packet, whose header reports the loss at the right position.
        self.end.set(0);
    }

    /// Prepares for a record of `words` words at `stamp`: stores a new base, or opens a packet if
    /// the current packet has too little room.
    fn make_room(&self, image: &Image<'_>, stamp: u64, words: usize) -> Result<(), Full> {
        // A new base is a record of two words.
        if self.next.get() + 2 + words > self.end.get() {
            return self.open(image, stamp);
        }
        let next = self.next.get();
        image
            .word(next)
            .store(RecordHeader { delta: 0, id: REBASE, words: 1 }.pack(), Ordering::Relaxed);
        image.word(next + 1).store(stamp, Ordering::Relaxed);
        self.base.set(stamp);
        self.next.set(next + 2);
        self.commit(image, 2);
        Ok(())
    }

    /// Completes the open packet, if any, and opens the next packet.
    fn open(&self, image: &Image<'_>, stamp: u64) -> Result<(), Full> {
        let committed = Committed(self.committed.get());
        let packet_words = image.packet_words();
        // If the open packet contains no words yet, this function opens the same packet again.
        let begun = committed.position() > self.packet.get();
        let position = if begun { self.packet.get() + packet_words } else { self.packet.get() };
        // First make sure that there is room: a failure must leave the open packet unchanged.
        self.displace(image, position)?;
        if begun {
            self.close(image, committed.position());
        }
        // The shared word counts events only modulo 2^20. So add the events since `before`, which
        // is a full number.
        let before = self.first_event.get();
        let first_event = before.wrapping_add(committed.events_since(before));
        let Identity { process, thread, name } = self.identity.get();
        let header = PacketHeader {
            number: position / packet_words,
            base: stamp,
            process,
            thread,
            first_event,
            lost_before: self.lost.get(),
            used: 0,
            lane: self.lane.get() as u32,
            last: 0,
            name,
            covered_from: 0,
        };
        // Readers may copy these words immediately, but do not trust them before the commit below.
        let start = image.index_of(self.lane.get(), position);
        for (to, word) in image.words(start..start + PacketHeader::WORDS).iter().zip(header.words())
        {
            to.store(word, Ordering::Relaxed);
        }
        self.packet.set(position);
        self.first_event.set(first_event);
        self.base.set(stamp);
        self.next.set(start + PacketHeader::WORDS);
        self.end.set(start + image.geometry().packet_words as usize);
        self.committed.set(Committed::new(position, first_event).0);
        self.commit(image, PacketHeader::WORDS as u64);
        Ok(())
    }

    /// Stores the final length of the open packet. The next commit publishes it.
    fn close(&self, image: &Image<'_>, end: u64) {
        let lane = self.lane.get();
        let used = (end - self.packet.get()) as u32;
        let word = image.index_of(lane, self.packet.get()) + PacketHeader::USED;
        image.word(word).store(join(used, lane as u32), Ordering::Relaxed);
    }

    /// Discards the older packet whose words the packet at `position` will reuse, if there is one.
    ///
    /// # Errors
    /// Returns an error if the policy is not *loop* and some records of the packet have not been
    /// read yet.
    fn displace(&self, image: &Image<'_>, position: u64) -> Result<(), Full> {
        let lane = self.lane.get();
        let end = position + image.packet_words();
        let Some(gone) = end.checked_sub(image.geometry().lane_words()) else { return Ok(()) };
        if image.policy() != FullPolicy::Loop {
            // Acquire: pairs with the release store that the reader makes after its copy.
            let consumed = image.head(lane, lane::CONSUMED).load(Ordering::Acquire);
            if consumed < gone {
                return Err(Full);
            }
        }
        image.head(lane, lane::OLDEST).store(gone, Ordering::Relaxed);
        // Release: a reader that sees a word stored after this fence, and then executes its own
        // fence, also sees `oldest`.
        fence(Ordering::Release);
        Ok(())
    }
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}
