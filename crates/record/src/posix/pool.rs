//! The packets of a stream: claimed, closed, displaced, freed.
//!
//! | shared word | stored by | ordering | read by |
//! |---|---|---|---|
//! | packet words | owner | relaxed | reader, relaxed; believed if the state is the same afterwards |
//! | head: committed | owner | release, after the record's words; with the order number of the opening, so that a number of the owner before is not taken for it | reader, acquire |
//! | head: state, to open | who claims | acquire-release exchange, then a release fence | reader, acquire before it copies, relaxed behind an acquire fence after it |
//! | head: state, to closed | owner | release, after last and closed | those who claim, reader: acquire |
//! | head: state, to free | reader | release exchange, after it copied | who claims, acquire |
//! | head: owner | who claims, exchange | acquire-release | who looks for packets of the dead |
//! | order | who opens or closes | relaxed: a number and nothing else | |
//!
//! Claiming looks at all packets, so it is bounded; what fails because others were faster is tried
//! again a fixed number of times, and then the event is lost and counted.

use tracewell_wire::native::join;
use tracewell_wire::posix::StreamPolicy;
use tracewell_wire::posix::object::{EXTRA_PACKETS, Geometry, at, head};

use super::writer::Place;
use crate::stream::sync::{AtomicU64, Ordering, fence};

/// An event does not fit and may not displace another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

/// The owner of a packet that no death of a thread sets free.
pub const UNENDING: u64 = u64::MAX;

/// How often claiming starts again when others were faster.
const ROUNDS: usize = 16;
/// Owners that are looked at in one claim, each by a system call.
const INQUIRIES: usize = 8;

const OPEN: u64 = 1;
const CLOSED: u64 = 2;
const TAG: u64 = 3;

/// The memory of a stream's packets.
#[derive(Clone, Copy, Debug)]
pub struct Pool<'a> {
    words: &'a [AtomicU64],
    geometry: Geometry,
    policy: StreamPolicy,
}

/// How the packets stand.
struct Survey {
    closed: u32,
    open: u32,
    /// The packet that was closed first, with its state.
    oldest: Option<(usize, u64)>,
}

impl<'a> Pool<'a> {
    /// The packets in the memory of a stream; `None` where it is too small for them.
    ///
    /// Geometry and policy come from the caller's own memory: nothing that others can change decides
    /// where a writer writes.
    pub fn new(words: &'a [AtomicU64], geometry: Geometry, policy: StreamPolicy) -> Option<Self> {
        let geometry = geometry.checked()?;
        #[cfg(not(all(loom, test)))]
        let words = words.get(..geometry.total())?;
        Some(Self { words, geometry, policy })
    }

    /// The same for a caller who judged geometry and memory before; what does not fit is not stored.
    #[inline(always)]
    pub const fn known(words: &'a [AtomicU64], geometry: Geometry, policy: StreamPolicy) -> Self {
        Self { words, geometry, policy }
    }

    /// A word of the stream's memory.
    #[inline(always)]
    pub fn word(&self, index: usize) -> &'a AtomicU64 {
        &self.words[Self::at(index)]
    }

    /// Where a word lies: a model has only words that the packets need.
    #[inline(always)]
    fn at(index: usize) -> usize {
        #[cfg(all(loom, test))]
        let index = if index < at::HEADS { index - at::ORDER } else { index - at::HEADS + 8 };
        index
    }

    /// The memory.
    pub(super) const fn memory(&self) -> &'a [AtomicU64] {
        self.words
    }

    /// Some words of a stream's memory.
    #[inline(always)]
    pub(super) fn range(words: &[AtomicU64], from: usize, to: usize) -> Option<&[AtomicU64]> {
        words.get(Self::at(from)..Self::at(to))
    }

    /// Words `from` to `to` of a packet.
    #[cfg(feature = "std")]
    #[inline]
    pub(super) fn packet(&self, packet: usize, from: usize, to: usize) -> &'a [AtomicU64] {
        let start = self.geometry.packet(packet);
        let to = to.min(self.geometry.packet_words as usize);
        Self::range(self.words, start + from, start + to).unwrap_or_default()
    }

    /// A word of a packet's head.
    #[inline]
    pub(super) fn head(&self, packet: usize, word: usize) -> &'a AtomicU64 {
        self.word(self.geometry.head(packet) + word)
    }

    /// How large its parts are.
    pub const fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// What happens when it is full.
    pub const fn policy(&self) -> StreamPolicy {
        self.policy
    }

    /// Packets that were ever used lie below this.
    pub(super) fn used(&self) -> usize {
        let used = self.word(at::USED).load(Ordering::Acquire);
        used.min(u64::from(self.geometry.packets)) as usize
    }

    /// Whether more than half of what may be closed is.
    pub fn is_half_full(&self) -> bool {
        2 * self.survey().closed >= self.geometry.closed
    }

    /// Two numbers that change when something is recorded or a packet is opened: by recorders, and by
    /// the controller for the stream itself.
    pub fn progress(&self) -> [u64; 2] {
        let mut sums = [0_u64; 2];
        for packet in 0..self.used() {
            let word = |word| self.head(packet, word).load(Ordering::Relaxed);
            let sum = &mut sums[usize::from(word(head::OWNER) == UNENDING)];
            *sum = sum.wrapping_add(word(head::COMMITTED));
        }
        sums
    }

    fn survey(&self) -> Survey {
        let mut survey = Survey { closed: 0, open: 0, oldest: None };
        let mut first = u64::MAX;
        for packet in 0..self.used() {
            let state = self.head(packet, head::STATE).load(Ordering::Acquire);
            match state & TAG {
                OPEN => survey.open += 1,
                CLOSED => {
                    survey.closed += 1;
                    let order = self.head(packet, head::CLOSED).load(Ordering::Relaxed);
                    if order < first {
                        first = order;
                        survey.oldest = Some((packet, state));
                    }
                }
                _ => {}
            }
        }
        survey
    }

    fn next_order(&self) -> u64 {
        self.word(at::ORDER).fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    /// Closes the packet of a place, if it has one, and opens another for it.
    ///
    /// Without a `budget` the place takes any packet, whatever is promised to others: it is for what
    /// always finds room. `lives` says whether the thread of an owner still is.
    pub(super) fn claim(
        &self,
        place: &Place,
        owner: u64,
        words: usize,
        lives: &dyn Fn(u64) -> bool,
    ) -> Result<(), Full> {
        self.close(place);
        for _ in 0..ROUNDS {
            let survey = self.survey();
            if survey.closed > self.geometry.closed && owner != UNENDING {
                if self.policy != StreamPolicy::Loop {
                    return Err(Full);
                }
                if self.displace(&survey, place, owner) {
                    return Ok(());
                }
                continue;
            }
            let crowded = survey.open > EXTRA_PACKETS / 2;
            if crowded && self.adopt(place, owner, words, lives)
                || self.open_free(place, owner)
                || self.adopt(place, owner, words, lives)
            {
                return Ok(());
            }
            if self.policy != StreamPolicy::Loop || survey.oldest.is_none() {
                return Err(Full);
            }
            if self.displace(&survey, place, owner) {
                return Ok(());
            }
        }
        Err(Full)
    }

    /// Says that nothing more comes into the packet of a place.
    pub fn close(&self, place: &Place) {
        let Some((packet, opened)) = place.leave() else { return };
        self.head(packet, head::CLOSED).store(self.next_order(), Ordering::Relaxed);
        // Release: who sees it closed sees its records, its last stamp and its order.
        self.head(packet, head::STATE).store(opened << 2 | CLOSED, Ordering::Release);
    }

    /// Takes over the packet that was closed first, with all records in it.
    fn displace(&self, survey: &Survey, place: &Place, owner: u64) -> bool {
        let Some((packet, state)) = survey.oldest else { return false };
        let last = self.head(packet, head::LAST).load(Ordering::Relaxed);
        let order = self.head(packet, head::CLOSED).load(Ordering::Relaxed);
        if !self.open(packet, state, place, owner) {
            return false;
        }
        self.word(at::GONE_STAMP).store(last, Ordering::Relaxed);
        self.word(at::GONE_ORDER).store(order, Ordering::Relaxed);
        self.word(at::LOOP_FULL).store(1, Ordering::Relaxed);
        self.word(at::DISPLACED).fetch_add(1, Ordering::Relaxed);
        true
    }

    fn open_free(&self, place: &Place, owner: u64) -> bool {
        (0..self.geometry.packets as usize).any(|packet| {
            let state = self.head(packet, head::STATE).load(Ordering::Relaxed);
            state & TAG == 0 && self.open(packet, state, place, owner)
        })
    }

    fn open(&self, packet: usize, before: u64, place: &Place, owner: u64) -> bool {
        let opened = self.next_order();
        let word = self.head(packet, head::STATE);
        let after = opened << 2 | OPEN;
        // Acquire: what its reader or its owner before did is done.
        if word.compare_exchange(before, after, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return false;
        }
        // Release: a reader that sees a word stored behind this fence, and fences, sees the state.
        fence(Ordering::Release);
        self.head(packet, head::OWNER).store(owner, Ordering::Relaxed);
        self.head(packet, head::COMMITTED).store(join(0, opened as u32), Ordering::Release);
        self.word(at::USED).fetch_max(packet as u64 + 1, Ordering::AcqRel);
        place.enter(&self.geometry, packet, opened, 0);
        true
    }

    /// Goes on in an open packet whose owner has ended, if there is one with enough room.
    fn adopt(&self, place: &Place, owner: u64, words: usize, lives: &dyn Fn(u64) -> bool) -> bool {
        let used = self.used();
        let from = self.word(at::ORDER).load(Ordering::Relaxed) as usize;
        let mut inquiries = 0;
        for packet in (0..used).map(|index| (from + index) % used) {
            let state = self.head(packet, head::STATE).load(Ordering::Acquire);
            let before = self.head(packet, head::OWNER).load(Ordering::Relaxed);
            if state & TAG != OPEN || before == UNENDING || before == owner {
                continue;
            }
            if inquiries == INQUIRIES {
                return false;
            }
            inquiries += 1;
            if !lives(before) && self.inherit(packet, state, before, place, owner, words) {
                return true;
            }
        }
        false
    }

    fn inherit(
        &self,
        packet: usize,
        state: u64,
        before: u64,
        place: &Place,
        owner: u64,
        words: usize,
    ) -> bool {
        let word = self.head(packet, head::OWNER);
        if word.compare_exchange(before, owner, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return false;
        }
        let end = self.geometry.packet_words as usize;
        let next = (self.head(packet, head::COMMITTED).load(Ordering::Acquire) as u32) as usize;
        place.enter(&self.geometry, packet, state >> 2, next.min(end));
        if next + words <= end {
            return true;
        }
        self.close(place);
        false
    }

    /// The order number of an open or closed packet's opening, and whether it is closed.
    #[cfg(feature = "std")]
    pub(super) fn occupied(state: u64) -> Option<(u64, bool)> {
        match state & TAG {
            OPEN => Some((state >> 2, false)),
            CLOSED => Some((state >> 2, true)),
            _ => None,
        }
    }

    /// Frees a closed packet that was read to its end.
    #[cfg(feature = "std")]
    pub(super) fn free(&self, packet: usize, opened: u64) {
        let word = self.head(packet, head::STATE);
        // Release: the copies are made before somebody acquires it to write there. Where it fails,
        // a writer has displaced it already.
        let closed = opened << 2 | CLOSED;
        let _ = word.compare_exchange(closed, 0, Ordering::Release, Ordering::Relaxed);
    }
}
