//! Claims and closes packets for writers. A packet can be exclusive, shared, displaced, or
//! inherited from a dead owner.
//!
//! A writer **owns** a packet while its owner number is in the packet's header. As long as there
//! are enough packets, each thread owns a packet **exclusively** from one event to the next, and
//! stores records in it without locked instructions. Once [`SHARE_NEW_FROM`] packets are open, new
//! threads **share** packets. For each record, such a thread takes an unowned packet with an atomic
//! exchange, and then gives it back. So idle threads own at most [`SHARE_NEW_FROM`] packets, and no
//! thread delays another, because a thread skips packets that have an owner. If a thread dies while
//! it stores a record, one packet is blocked. The packet stays blocked until another thread needs a
//! packet and notices that the owner is dead.
//!
//! A claim examines each packet once, so its time is bounded. If other threads are faster, the
//! writer repeats the claim, at most [`MAX_ATTEMPTS`] times. After that, the event is lost and
//! counted.

use tracewell_wire::native::{join, split};
use tracewell_wire::posix::StreamPolicy;
use tracewell_wire::posix::object::{EXTRA_PACKETS, at, head};

use super::cursor::{Cursor, not_before};
use super::pool::{CLOSED, IMMORTAL_OWNER, OPEN, Pool, Survey, TAG};
use crate::stream::Full;
use crate::stream::sync::{Ordering, fence};

/// If at least this many packets are open, a thread without a packet of its own shares packets.
const SHARE_NEW_FROM: u32 = if cfg!(all(loom, test)) { 1 } else { EXTRA_PACKETS / 4 };
/// If at least this many packets are open, every thread whose packet is full shares packets.
const SHARE_ALL_FROM: u32 = if cfg!(all(loom, test)) { 2 } else { EXTRA_PACKETS / 2 };
/// Maximum number of attempts per claim. An attempt fails if other threads are faster.
const MAX_ATTEMPTS: usize = 16;
/// Maximum number of owners that one claim checks; each check is a system call.
const MAX_LIVENESS_CHECKS: usize = 8;

/// A writer's request for a packet.
pub(super) struct Claim<'a> {
    pub(super) cursor: &'a Cursor,
    pub(super) owner: u64,
    /// Length of the record in words.
    pub(super) words: usize,
    /// Timestamp of the record.
    pub(super) stamp: u64,
    /// Returns true if the thread that an owner number identifies may still exist.
    pub(super) is_alive: &'a dyn Fn(u64) -> bool,
    /// True if the writer had an exclusive packet and has just closed it.
    pub(super) closed_own: bool,
}

/// Result of a successful claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Claimed {
    /// True if the writer owns the packet only while it writes this record.
    pub(super) shared: bool,
    /// True if this claim opened the packet.
    pub(super) fresh: bool,
}

impl Pool<'_> {
    /// Claims a packet with room for the record, and moves the writer's cursor into it.
    pub(super) fn claim(&self, claim: &Claim<'_>) -> Result<Claimed, Full> {
        let cursor = claim.cursor;
        // The packet that this thread shared last usually has room left.
        if let Some((packet, opened)) = cursor.shared()
            && self.share(packet, Some(opened), claim)
        {
            return Ok(Claimed { shared: true, fresh: false });
        }
        for _ in 0..MAX_ATTEMPTS {
            let survey = self.survey();
            // The controller may close more packets than the stream's size allows, so that system
            // events always fit.
            let full = survey.closed > self.geometry().closed && claim.owner != IMMORTAL_OWNER;
            if full && self.policy() != StreamPolicy::Loop {
                return Err(Full);
            }
            let shared = !claim.may_be_exclusive(&survey);
            let fresh = Claimed { shared, fresh: true };
            if full {
                if self.displace(&survey, claim) {
                    return Ok(fresh);
                }
                continue;
            }
            if shared {
                // A thread may make system calls when it records its first event, but should not
                // make system calls for later events.
                if claim.is_first() && self.inherit(claim) {
                    return Ok(Claimed { shared: false, fresh: false });
                }
                if self.share_any(claim) {
                    return Ok(Claimed { shared, fresh: false });
                }
            }
            if self.open_free(claim) {
                return Ok(fresh);
            }
            if self.share_any(claim) {
                return Ok(Claimed { shared: true, fresh: false });
            }
            // Every packet is closed or has an owner.
            if self.inherit(claim) {
                return Ok(Claimed { shared: false, fresh: false });
            }
            if self.policy() != StreamPolicy::Loop || survey.oldest.is_none() {
                return Err(Full);
            }
            if self.displace(&survey, claim) {
                return Ok(fresh);
            }
        }
        Err(Full)
    }

    /// Makes the writer the owner of a packet that has none. Returns false if the packet already
    /// has an owner.
    pub(super) fn take(&self, packet: usize, claim: &Claim<'_>) -> bool {
        let word = self.head(packet, head::OWNER);
        if word.load(Ordering::Relaxed) != 0 {
            return false;
        }
        // Store the packet in the cursor before the exchange. If the thread leaves by a jump,
        // `repair` checks this packet.
        claim.cursor.hold(packet);
        // Acquire: pairs with the release store of the previous owner.
        let taken = word.compare_exchange(0, claim.owner, Ordering::Acquire, Ordering::Relaxed);
        if taken.is_err() {
            claim.cursor.release();
        }
        taken.is_ok()
    }

    /// Releases the packet that a cursor owns, so that another thread can take it.
    pub(super) fn give_back(&self, cursor: &Cursor) {
        if let Some(packet) = cursor.held() {
            self.head(packet, head::OWNER).store(0, Ordering::Release);
            cursor.release();
        }
    }

    /// Takes an open packet for one record, if it has no owner and the record fits.
    fn share(&self, packet: usize, opened: Option<u64>, claim: &Claim<'_>) -> bool {
        if !self.take(packet, claim) {
            return false;
        }
        let state = self.head(packet, head::STATE).load(Ordering::Acquire);
        let same = opened.is_none_or(|opened| opened == state >> 2);
        // Before it was taken, the packet may have been closed, or opened again by another thread.
        if state & TAG == OPEN && same && self.resume(packet, state >> 2, claim) {
            return true;
        }
        self.give_back(claim.cursor);
        false
    }

    /// Takes any available open packet for one record.
    fn share_any(&self, claim: &Claim<'_>) -> bool {
        (0..self.used()).any(|packet| {
            let state = self.head(packet, head::STATE).load(Ordering::Relaxed);
            state & TAG == OPEN && self.share(packet, None, claim)
        })
    }

    /// Moves the cursor to the end of the records in an open packet that the writer owns. Closes
    /// the packet and returns false if the record does not fit, or if the clock was set back in the
    /// meantime.
    fn resume(&self, packet: usize, opened: u64, claim: &Claim<'_>) -> bool {
        let (words, order) = split(self.head(packet, head::COMMITTED).load(Ordering::Acquire));
        let last = self.head(packet, head::LAST).load(Ordering::Relaxed);
        // If the count is from an earlier opening, the packet has been opened again and contains no
        // record yet.
        let (words, last) = if order == opened as u32 { (words, last) } else { (0, 0) };
        claim.cursor.enter(&self.geometry(), packet, opened, words, last);
        if claim.cursor.has_room(claim.words) && not_before(claim.stamp, last) >= last {
            return true;
        }
        self.close(claim.cursor);
        false
    }

    /// Closes the packet of a cursor, so that no more records are stored in it, and gives the
    /// packet back.
    pub fn close(&self, cursor: &Cursor) {
        let Some((packet, opened)) = cursor.leave() else { return };
        let last = self.head(packet, head::LAST).load(Ordering::Relaxed);
        let latest = self.word(at::CLOSED_STAMP);
        let _ = latest.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |before| {
            (not_before(last, before) == last).then_some(last)
        });
        self.head(packet, head::CLOSED).store(self.next_order(), Ordering::Relaxed);
        // Release: a thread that sees the packet closed also sees its records, its last timestamp
        // and its order number.
        self.head(packet, head::STATE).store(opened << 2 | CLOSED, Ordering::Release);
        self.give_back(cursor);
    }

    /// Reuses the packet that was closed first, discarding its records.
    fn displace(&self, survey: &Survey, claim: &Claim<'_>) -> bool {
        let Some((packet, state)) = survey.oldest else { return false };
        if !self.take(packet, claim) {
            return false;
        }
        // Read these values before the packet is opened, because the opening resets them.
        let last = self.head(packet, head::LAST).load(Ordering::Relaxed);
        let order = self.head(packet, head::CLOSED).load(Ordering::Relaxed);
        if !self.open(packet, state, claim) {
            self.give_back(claim.cursor);
            return false;
        }
        self.word(at::GONE_STAMP).store(last, Ordering::Relaxed);
        self.word(at::GONE_ORDER).store(order, Ordering::Relaxed);
        self.word(at::LOOP_FULL).store(1, Ordering::Relaxed);
        self.word(at::DISPLACED).fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Opens a free packet.
    fn open_free(&self, claim: &Claim<'_>) -> bool {
        (0..self.geometry().packets as usize).any(|packet| {
            let state = self.head(packet, head::STATE).load(Ordering::Relaxed);
            if state & TAG != 0 {
                return false;
            }
            // Raise the count before the packet is taken, so that other threads find the packet if
            // its owner dies.
            self.word(at::USED).fetch_max(packet as u64 + 1, Ordering::AcqRel);
            if !self.take(packet, claim) {
                return false;
            }
            // Another thread may have opened and closed the packet before this thread took it.
            let opened = self.open(packet, 0, claim);
            if !opened {
                self.give_back(claim.cursor);
            }
            opened
        })
    }

    /// Opens a packet that the writer already owns. Returns false if its state is no longer
    /// `before`.
    pub(super) fn open(&self, packet: usize, before: u64, claim: &Claim<'_>) -> bool {
        let opened = self.next_order();
        let word = self.head(packet, head::STATE);
        let after = opened << 2 | OPEN;
        // Acquire: the reader has finished with the packet.
        if word.compare_exchange(before, after, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return false;
        }
        // Release: a reader that sees a word stored after this fence, and then executes its own
        // fence, also sees the state.
        fence(Ordering::Release);
        self.head(packet, head::LAST).store(0, Ordering::Relaxed);
        self.head(packet, head::COMMITTED).store(join(0, opened as u32), Ordering::Release);
        claim.cursor.enter(&self.geometry(), packet, opened, 0, 0);
        true
    }

    /// Takes over a packet whose owner has died, if that packet has room or can be opened.
    fn inherit(&self, claim: &Claim<'_>) -> bool {
        let used = self.used();
        // Start at a different packet each time, so that every owner is checked eventually.
        let from = self.word(at::ORDER).load(Ordering::Relaxed) as usize;
        let mut checks = 0;
        for packet in (0..used).map(|index| (from + index) % used) {
            let before = self.head(packet, head::OWNER).load(Ordering::Relaxed);
            if matches!(before, 0 | IMMORTAL_OWNER) || before == claim.owner {
                continue;
            }
            if checks == MAX_LIVENESS_CHECKS {
                return false;
            }
            checks += 1;
            if !(claim.is_alive)(before) && self.inherit_from(packet, before, claim) {
                return true;
            }
        }
        false
    }

    /// Takes over a packet from the dead owner `before`.
    fn inherit_from(&self, packet: usize, before: u64, claim: &Claim<'_>) -> bool {
        let word = self.head(packet, head::OWNER);
        claim.cursor.hold(packet);
        // No other writer uses the dead owner's number, so the exchange has a single winner.
        let taken = word.compare_exchange(before, claim.owner, Ordering::AcqRel, Ordering::Relaxed);
        if taken.is_err() {
            claim.cursor.release();
            return false;
        }
        let state = self.head(packet, head::STATE).load(Ordering::Acquire);
        let useful = match state & TAG {
            OPEN => self.resume(packet, state >> 2, claim),
            0 => self.open(packet, state, claim),
            _ => false,
        };
        if !useful {
            self.give_back(claim.cursor);
        }
        useful
    }
}

impl Claim<'_> {
    /// Returns true if there are enough packets for the writer to own one exclusively.
    fn may_be_exclusive(&self, survey: &Survey) -> bool {
        let limit = if self.closed_own { SHARE_ALL_FROM } else { SHARE_NEW_FROM };
        self.owner == IMMORTAL_OWNER || survey.open < limit
    }

    /// Returns true if the thread has never owned a packet of the stream.
    fn is_first(&self) -> bool {
        !self.closed_own && self.cursor.shared().is_none()
    }
}
