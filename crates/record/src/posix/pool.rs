//! The memory of a stream and the headers of its packets.
//!
//! | shared word | stored by | ordering | read by |
//! |---|---|---|---|
//! | packet words | owner | relaxed | reader, relaxed; trusted if the state is unchanged |
//! | header: owner, if it was 0 | a writer, exchange | acquire (1) | writers |
//! | header: owner, to 0 | the owner | release, after its other stores | writers |
//! | header: owner, if it was dead | a writer, exchange | acquire-release | writers |
//! | header: committed | owner | release, after the record (2) | reader, next owner: acquire |
//! | header: state, to open | owner | acquire-release exchange, release fence | reader (3) |
//! | header: state, to closed | owner | release, after LAST and CLOSED | writers, reader: acquire |
//! | header: state, to free | reader | release exchange, after its copy | writers, acquire |
//! | order | a writer that opens or closes a packet | acquire-release (4) | reader, acquire |
//! | cutoff | reader | relaxed, then a fence (5) | writers (5) |
//! | cutoff, to 0 | reader | release, after its pass | writers (5) |
//! | waiters, to 1 | reader | sequentially consistent (7) | writers, relaxed (7) |
//! | waiters, to 0 | a writer | sequentially consistent (7) | writers, relaxed (7) |
//! | fences, to 1 | reader | sequentially consistent (7) | writers, relaxed (7) |
//! | latest closed timestamp | writer that closes a packet | relaxed (6) | writer that opens one |
//!
//! 1. The new owner sees what the previous owner stored.
//! 2. The word contains the order number that the packet got when it was opened, so it cannot be
//!    mistaken for a count from an earlier use of the packet.
//! 3. The reader loads the state with acquire before its copy. After the copy, it executes an
//!    acquire fence and loads the state again, relaxed.
//! 4. A thread that sees the order number of an opened packet also sees that the opener's earlier
//!    packets are closed. The reader loads the number before its pass.
//! 5. The fence is sequentially consistent. A writer that moves to another packet executes such a
//!    fence before it loads the cutoff.
//! 6. The value is only as accurate as the clocks.
//! 7. `waiting` explains the barriers.
//!
//! Only the owner of a packet changes the packet's state, with one exception: the reader frees
//! closed packets. So two writers never have the same packet, even if its previous owner died.

use tracewell_wire::posix::StreamPolicy;
use tracewell_wire::posix::object::{Geometry, at, head};

use crate::stream::sync::{AtomicU64, Ordering};

/// Owner number of the stream's controller, whose packets must never be inherited.
pub const IMMORTAL_OWNER: u64 = u64::MAX;

/// Tag of the state of an open packet.
pub(super) const OPEN: u64 = 1;
/// Tag of the state of a closed packet.
pub(super) const CLOSED: u64 = 2;
/// Mask for the tag in a state; the other bits are the order number that the packet got when it was
/// opened.
pub(super) const TAG: u64 = 3;

/// The packets in the memory of a stream. See [`Cursor`](super::Cursor) for an example.
#[derive(Clone, Copy, Debug)]
pub struct Pool<'a> {
    words: &'a [AtomicU64],
    geometry: Geometry,
    policy: StreamPolicy,
}

/// The number of packets in each state, and the packet that was closed first.
pub(super) struct Survey {
    /// Number of closed packets.
    pub(super) closed: u32,
    /// Number of open packets.
    pub(super) open: u32,
    /// The packet that was closed first, with its state word.
    pub(super) oldest: Option<(usize, u64)>,
}

impl<'a> Pool<'a> {
    /// Creates a pool in the memory of a stream. Returns `None` if the memory is too small or the
    /// geometry is invalid.
    ///
    /// Geometry and policy must come from the caller's own memory. Otherwise another process could
    /// change where a writer writes.
    pub fn new(words: &'a [AtomicU64], geometry: Geometry, policy: StreamPolicy) -> Option<Self> {
        let geometry = geometry.checked()?;
        #[cfg(not(all(loom, test)))]
        let words = words.get(..geometry.total())?;
        Some(Self { words, geometry, policy })
    }

    /// Creates a pool in memory whose size and geometry the caller has checked. The pool does not
    /// store a record that does not fit in the memory.
    #[inline(always)]
    pub const fn trusted(words: &'a [AtomicU64], geometry: Geometry, policy: StreamPolicy) -> Self {
        Self { words, geometry, policy }
    }

    /// Returns a word of the stream's memory.
    #[inline(always)]
    pub fn word(&self, index: usize) -> &'a AtomicU64 {
        &self.words[Self::at(index)]
    }

    /// Converts the index of a word in the stream's layout to its index in `words`. The two differ
    /// only in models, which omit the words that packets do not need.
    #[inline(always)]
    fn at(index: usize) -> usize {
        #[cfg(all(loom, test))]
        let index = match index {
            at::CUTOFF => 0,
            at::FENCES => 1,
            at::WAITERS => 2,
            at::HEADS.. => index - at::HEADS + 16,
            _ => index - at::ORDER + 8,
        };
        index
    }

    /// Returns the memory of the whole object.
    pub(super) const fn memory(&self) -> &'a [AtomicU64] {
        self.words
    }

    /// Returns a range of words of a stream's memory, or `None` if the memory is too small.
    #[inline(always)]
    pub(super) fn range(words: &[AtomicU64], from: usize, to: usize) -> Option<&[AtomicU64]> {
        words.get(Self::at(from)..Self::at(to))
    }

    /// Returns words `from` to `to` of a packet.
    #[cfg(feature = "std")]
    #[inline]
    pub(super) fn packet(&self, packet: usize, from: usize, to: usize) -> &'a [AtomicU64] {
        let start = self.geometry.packet(packet);
        let to = to.min(self.geometry.packet_words as usize);
        Self::range(self.words, start + from, start + to).unwrap_or_default()
    }

    /// Returns a word of a packet's header.
    #[inline]
    pub(super) fn head(&self, packet: usize, word: usize) -> &'a AtomicU64 {
        self.word(self.geometry.head(packet) + word)
    }

    /// Returns the sizes of the stream's parts.
    pub const fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Returns the policy that applies when the stream is full.
    pub const fn policy(&self) -> StreamPolicy {
        self.policy
    }

    /// Returns the number of packets that were ever used. Packets from this index on are free.
    pub(super) fn used(&self) -> usize {
        // Limit the value, because the word is in shared memory.
        let used = self.word(at::USED).load(Ordering::Acquire);
        used.min(u64::from(self.geometry.packets)) as usize
    }

    /// Returns true if the number of closed packets has reached half of its limit.
    pub fn is_half_full(&self) -> bool {
        2 * self.survey().closed >= self.geometry.closed
    }

    /// Returns two sums of the words `COMMITTED`: over the packets of recorders, and over the
    /// packets of the controller. The first sum changes when a recorder stores a record or opens a
    /// packet, the second when the controller does.
    pub fn progress(&self) -> [u64; 2] {
        let mut sums = [0_u64; 2];
        for packet in 0..self.used() {
            let word = |word| self.head(packet, word).load(Ordering::Relaxed);
            // The controller's packets have an owner that never dies.
            let sum = &mut sums[usize::from(word(head::OWNER) == IMMORTAL_OWNER)];
            *sum = sum.wrapping_add(word(head::COMMITTED));
        }
        sums
    }

    /// Counts the packets by state.
    pub(super) fn survey(&self) -> Survey {
        let mut survey = Survey { closed: 0, open: 0, oldest: None };
        let mut first = u64::MAX;
        for packet in 0..self.used() {
            let state = self.head(packet, head::STATE).load(Ordering::Acquire);
            match state & TAG {
                OPEN => survey.open += 1,
                CLOSED => {
                    survey.closed += 1;
                    // The writer stores the order before the state, so the order is valid here.
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

    /// Returns the next order number, for opening or closing a packet.
    pub(super) fn next_order(&self) -> u64 {
        self.word(at::ORDER).fetch_add(1, Ordering::AcqRel).wrapping_add(1)
    }

    /// Splits the state of a packet into the order number that the packet got when it was opened,
    /// and a flag that is true if the packet is closed. Returns `None` for a free packet.
    #[cfg(feature = "std")]
    pub(super) fn occupied(state: u64) -> Option<(u64, bool)> {
        match state & TAG {
            OPEN => Some((state >> 2, false)),
            CLOSED => Some((state >> 2, true)),
            _ => None,
        }
    }

    /// Frees a closed packet whose records have all been read.
    #[cfg(feature = "std")]
    pub(super) fn free(&self, packet: usize, opened: u64) {
        let word = self.head(packet, head::STATE);
        // Release: a writer loads this word with acquire, so the writer reuses the packet only
        // after the reader has copied its records. If the exchange fails, a writer has already
        // displaced the packet.
        let closed = opened << 2 | CLOSED;
        let _ = word.compare_exchange(closed, 0, Ordering::Release, Ordering::Relaxed);
    }
}
