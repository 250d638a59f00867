//! The memory of a stream and the heads of its packets.
//!
//! | shared word | stored by | ordering | read by |
//! |---|---|---|---|
//! | packet words | owner | relaxed | reader, relaxed; believed if the state is the same afterwards |
//! | head: owner, from 0 | a writer, exchange | acquire: what the owner before stored is there | writers |
//! | head: owner, to 0 | the owner | release, after all it stored | writers |
//! | head: owner, of a dead writer | a writer, exchange | acquire-release | writers |
//! | head: committed | owner | release, after the record's words; with the order number of the opening, so that a number of the opening before is not taken for it | reader, next owner: acquire |
//! | head: state, to open | owner | acquire-release exchange, then a release fence | reader, acquire before it copies, relaxed behind an acquire fence after it |
//! | head: state, to closed | owner | release, after last and closed | writers, reader: acquire |
//! | head: state, to free | reader | release exchange, after it copied | writers, acquire |
//! | order | who opens or closes | acquire-release: who sees the number of an opening sees what its thread closed before | reader, acquire, before it looks |
//! | cutoff | reader | relaxed, then a sequentially consistent fence, then it looks; release to 0 | a writer that changes packets, behind such a fence |
//! | latest closed stamp | who closes | relaxed: only as good as clocks are | who opens |
//!
//! Only the owner of a packet changes its state, but for the reader, which makes a closed packet free. So two
//! writers never have one packet, whatever became of the owner before.

use tracewell_wire::posix::StreamPolicy;
use tracewell_wire::posix::object::{Geometry, at, head};

use crate::stream::sync::{AtomicU64, Ordering};

/// An event does not fit and may not displace another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

/// The owner of a packet that no death of a thread sets free.
pub const UNENDING: u64 = u64::MAX;

pub(super) const OPEN: u64 = 1;
pub(super) const CLOSED: u64 = 2;
pub(super) const TAG: u64 = 3;

/// The memory of a stream's packets.
#[derive(Clone, Copy, Debug)]
pub struct Pool<'a> {
    words: &'a [AtomicU64],
    geometry: Geometry,
    policy: StreamPolicy,
}

/// How the packets stand.
pub(super) struct Survey {
    pub(super) closed: u32,
    pub(super) open: u32,
    /// The packet that was closed first, with its state.
    pub(super) oldest: Option<(usize, u64)>,
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
        let index = match index {
            at::CUTOFF => 0,
            at::HEADS.. => index - at::HEADS + 16,
            _ => index - at::ORDER + 8,
        };
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

    pub(super) fn survey(&self) -> Survey {
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

    pub(super) fn next_order(&self) -> u64 {
        self.word(at::ORDER).fetch_add(1, Ordering::AcqRel).wrapping_add(1)
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
