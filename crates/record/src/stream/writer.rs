//! The writing side of a lane: one thread, plain stores, one release store an event.
//!
//! What decides where the next store goes is private to the writer ([`Writer`]); the shared words are
//! only ever told. So another process that scribbles over the image can spoil what is read from it,
//! but not where its writers write.
//!
//! | shared word | stored by | ordering | read by |
//! |---|---|---|---|
//! | packet words | writer | relaxed | readers, relaxed; believed after `overwritten` said no |
//! | committed | writer | release, after the record's words | readers, acquire: they see the record |
//! | oldest | writer | relaxed, then a release fence, before it overwrites a packet | readers, relaxed behind an acquire fence, after they copied |
//! | lost | writer | relaxed: a count, publishes nothing | readers |
//! | consumed | one reader | release, after it copied | writer, acquire, before it overwrites what was consumed |

use core::cell::Cell;

use tracewell_wire::native::image::{Committed, lane};
use tracewell_wire::native::{FullPolicy, PacketHeader, REBASE, RecordHead, join};

use super::image::Image;
use super::sync::{Ordering, fence};

/// An event does not fit and may not displace another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

/// Who writes a lane; stands in the header of each of its packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Identity {
    /// Process id.
    pub process: u32,
    /// Thread id.
    pub thread: u32,
    /// Name of the thread, the rest 0.
    pub name: [u8; 16],
}

/// What the writer of a lane knows and shares with nobody.
#[derive(Debug)]
pub struct Writer {
    /// Index of the word that is written next.
    next: Cell<usize>,
    /// Index of the word behind the packet.
    end: Cell<usize>,
    /// The stamp from which the next record counts.
    base: Cell<u64>,
    /// The shared word `committed` as it was stored last.
    committed: Cell<u64>,
    /// Position of the packet that is open.
    packet: Cell<u64>,
    /// Number of that packet's first event.
    first_event: Cell<u64>,
    lost: Cell<u64>,
    lane: Cell<usize>,
    identity: Cell<Identity>,
}

impl Writer {
    /// A writer without a lane: every event finds it full.
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

    /// Takes over a lane that nobody else writes to. The first event opens a packet behind what
    /// was committed there before.
    ///
    /// # Panics
    /// When the image has no such lane.
    pub fn take(&self, image: &Image<'_>, lane: usize, identity: Identity) {
        // Acquire: pairs with the last release store of the writer before, whose packet this one
        // is about to complete.
        let committed = Committed(image.head(lane, lane::COMMITTED).load(Ordering::Acquire));
        let packet_words = image.packet_words();
        // A packet that is full to its last word ends where the next one will begin.
        let packet = committed.position().saturating_sub(1) / packet_words * packet_words;
        let begun = committed.position() > packet;
        let first = if begun { image.packet_header(lane, packet).first_event } else { 0 };
        self.lane.set(lane);
        self.identity.set(identity);
        self.committed.set(committed.0);
        self.packet.set(packet);
        self.first_event.set(first);
        self.lost.set(image.head(lane, lane::LOST).load(Ordering::Relaxed));
        // No room here: whatever comes first opens a packet.
        self.next.set(image.index_of(lane, committed.position()));
        self.end.set(0);
        self.base.set(0);
    }

    /// Takes its lane over from itself: after a record that was left in the middle.
    #[cfg(all(feature = "std", target_os = "linux", not(loom)))]
    pub(super) fn begin_again(&self, image: &Image<'_>) {
        self.take(image, self.lane.get(), self.identity.get());
    }

    /// Stores a record: fields of a word each, then bytes, filled up to a whole word. The number of
    /// bytes is not stored; who wants it back stores it as the last field.
    ///
    /// # Errors
    /// Where there is no room for it; it was counted as lost.
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
        if next + words < self.end.get() && delta <= u64::from(u32::MAX) {
            self.store(image, next, id, delta as u32, fields, bytes);
            return Ok(());
        }
        self.push_slowly(image, id, stamp, fields, bytes)
    }

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
        head.store(RecordHead { delta, id, words: words as u16 }.pack(), Ordering::Relaxed);
        for (to, field) in rest.iter().zip(fields) {
            to.store(*field, Ordering::Relaxed);
        }
        for (to, piece) in rest.iter().skip(fields.len()).zip(bytes.chunks(8)) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            to.store(u64::from_le_bytes(word), Ordering::Relaxed);
        }
        self.next.set(next + 1 + words);
        self.commit(image, 1 + words as u64 + Committed::EVENT);
    }

    #[inline]
    fn commit(&self, image: &Image<'_>, step: u64) {
        let committed = self.committed.get().wrapping_add(step);
        self.committed.set(committed);
        // Release: a reader that acquires this value sees the words stored before.
        image.head(self.lane.get(), lane::COMMITTED).store(committed, Ordering::Release);
    }

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
        let fits = words < image.geometry().longest_record();
        if !fits || self.make_room(image, stamp, 1 + words).is_err() {
            self.lose(image);
            return Err(Full);
        }
        let delta = stamp.wrapping_sub(self.base.get()) as u32;
        self.store(image, self.next.get(), id, delta, fields, bytes);
        Ok(())
    }

    fn lose(&self, image: &Image<'_>) {
        self.lost.set(self.lost.get().wrapping_add(1));
        image.head(self.lane.get(), lane::LOST).store(self.lost.get(), Ordering::Relaxed);
        // What comes next goes into a packet of its own, whose header counts the loss in its place.
        self.end.set(0);
    }

    /// Sees to it that `words` words can be written, and that `stamp` is near enough to the base.
    fn make_room(&self, image: &Image<'_>, stamp: u64, words: usize) -> Result<(), Full> {
        // Two more words for a base.
        if self.next.get() + 2 + words > self.end.get() {
            return self.open(image, stamp);
        }
        let next = self.next.get();
        image
            .word(next)
            .store(RecordHead { delta: 0, id: REBASE, words: 1 }.pack(), Ordering::Relaxed);
        image.word(next + 1).store(stamp, Ordering::Relaxed);
        self.base.set(stamp);
        self.next.set(next + 2);
        self.commit(image, 2);
        Ok(())
    }

    /// Completes the open packet and opens the next.
    fn open(&self, image: &Image<'_>, stamp: u64) -> Result<(), Full> {
        let committed = Committed(self.committed.get());
        let packet_words = image.packet_words();
        let begun = committed.position() > self.packet.get();
        let position = if begun { self.packet.get() + packet_words } else { self.packet.get() };
        self.displace(image, position)?;
        if begun {
            self.close(image, committed.position());
        }
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

    /// Stores how much of the open packet is used; the next commit publishes it.
    fn close(&self, image: &Image<'_>, end: u64) {
        let lane = self.lane.get();
        let used = (end - self.packet.get()) as u32;
        let word = image.index_of(lane, self.packet.get()) + PacketHeader::USED;
        image.word(word).store(join(used, lane as u32), Ordering::Relaxed);
    }

    /// Gives up the packet that lies where the one at `position` will, if there is one.
    fn displace(&self, image: &Image<'_>, position: u64) -> Result<(), Full> {
        let lane = self.lane.get();
        let end = position + image.packet_words();
        let Some(gone) = end.checked_sub(image.geometry().lane_words()) else { return Ok(()) };
        if image.policy() != FullPolicy::Loop {
            // Acquire: pairs with the reader's release store; its copies are made.
            let consumed = image.head(lane, lane::CONSUMED).load(Ordering::Acquire);
            if consumed < gone {
                return Err(Full);
            }
        }
        image.head(lane, lane::OLDEST).store(gone, Ordering::Relaxed);
        // Release: whoever sees a word stored behind this fence, and fences, sees `oldest`, too.
        fence(Ordering::Release);
        Ok(())
    }
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}
