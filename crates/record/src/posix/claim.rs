//! Packets for writers: had alone, shared, displaced, taken over from the dead; closed.
//!
//! A writer **has** a packet while its number stands in the packet's head. As long as there are packets
//! enough, each thread has one from event to event, and stores into it without a locked instruction. Once
//! [`ALONE`] packets are open, newcomers **share**: a packet that nobody has is taken for one record, by one
//! exchange, and given back. So idle threads keep at most that many, and a thread holds up no other:
//! a packet that somebody has is passed over. Who dies within a record keeps one packet from others, until
//! somebody who needs one finds that it died.
//!
//! Claiming looks at all packets, so it is bounded; what fails because others were faster is tried
//! again a fixed number of times, and then the event is lost and counted.

use tracewell_wire::native::{join, split};
use tracewell_wire::posix::StreamPolicy;
use tracewell_wire::posix::object::{EXTRA_PACKETS, at, head};

use super::pool::{CLOSED, Full, OPEN, Pool, Survey, TAG, UNENDING};
use super::writer::{Place, not_before};
use crate::stream::sync::{Ordering, fence};

/// Open packets from which on newcomers share, and from which on all do.
const ALONE: u32 = if cfg!(all(loom, test)) { 1 } else { EXTRA_PACKETS / 4 };
const ALONE_MAX: u32 = if cfg!(all(loom, test)) { 2 } else { EXTRA_PACKETS / 2 };
/// How often claiming starts again when others were faster.
const ROUNDS: usize = 16;
/// Owners that are looked at in one claim, each by a system call.
const INQUIRIES: usize = 8;

/// A writer that needs a packet.
pub(super) struct Claim<'a> {
    pub(super) place: &'a Place,
    pub(super) owner: u64,
    /// Words of the record.
    pub(super) words: usize,
    /// The record's stamp.
    pub(super) stamp: u64,
    /// Whether the thread of an owner may still be there.
    pub(super) lives: &'a dyn Fn(u64) -> bool,
    /// Had a packet alone that it has just closed.
    pub(super) had_one: bool,
}

/// How a packet was come by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Claimed {
    /// For this record only.
    pub(super) shared: bool,
    /// It was opened just now.
    pub(super) fresh: bool,
}

impl Pool<'_> {
    /// Takes a packet with room for the record and lets the place stand in it.
    pub(super) fn claim(&self, claim: &Claim<'_>) -> Result<Claimed, Full> {
        let place = claim.place;
        if let Some((packet, opened)) = place.shared()
            && self.share(packet, Some(opened), claim)
        {
            return Ok(Claimed { shared: true, fresh: false });
        }
        for _ in 0..ROUNDS {
            let survey = self.survey();
            let full = survey.closed > self.geometry().closed && claim.owner != UNENDING;
            if full && self.policy() != StreamPolicy::Loop {
                return Err(Full);
            }
            let shared = !claim.may_be_alone(&survey);
            let fresh = Claimed { shared, fresh: true };
            if full {
                if self.displace(&survey, claim) {
                    return Ok(fresh);
                }
                continue;
            }
            if shared {
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
            // Every packet is closed, or had by somebody.
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

    /// Makes the claimant the owner of a packet that nobody has.
    pub(super) fn take(&self, packet: usize, claim: &Claim<'_>) -> bool {
        let word = self.head(packet, head::OWNER);
        if word.load(Ordering::Relaxed) != 0 {
            return false;
        }
        // First, so that a thread that leaves by a jump is known to have it.
        claim.place.hold(packet);
        // Acquire: pairs with the release store of the owner before.
        let taken = word.compare_exchange(0, claim.owner, Ordering::Acquire, Ordering::Relaxed);
        if taken.is_err() {
            claim.place.let_go();
        }
        taken.is_ok()
    }

    /// Gives the packet back that a place holds.
    pub(super) fn give_back(&self, place: &Place) {
        if let Some(packet) = place.held() {
            self.head(packet, head::OWNER).store(0, Ordering::Release);
            place.let_go();
        }
    }

    /// Takes a packet that is open for one record, if nobody has it and the record has room.
    fn share(&self, packet: usize, opened: Option<u64>, claim: &Claim<'_>) -> bool {
        if !self.take(packet, claim) {
            return false;
        }
        let state = self.head(packet, head::STATE).load(Ordering::Acquire);
        let same = opened.is_none_or(|opened| opened == state >> 2);
        if state & TAG == OPEN && same && self.go_on(packet, state >> 2, claim) {
            return true;
        }
        self.give_back(claim.place);
        false
    }

    fn share_any(&self, claim: &Claim<'_>) -> bool {
        (0..self.used()).any(|packet| {
            let state = self.head(packet, head::STATE).load(Ordering::Relaxed);
            state & TAG == OPEN && self.share(packet, None, claim)
        })
    }

    /// Lets a place stand behind the last record of an open packet that it holds; where the record has no
    /// room, or the clock was set back since, the packet is closed.
    fn go_on(&self, packet: usize, opened: u64, claim: &Claim<'_>) -> bool {
        let (words, order) = split(self.head(packet, head::COMMITTED).load(Ordering::Acquire));
        let last = self.head(packet, head::LAST).load(Ordering::Relaxed);
        let (words, last) = if order == opened as u32 { (words, last) } else { (0, 0) };
        claim.place.enter(&self.geometry(), packet, opened, words, last);
        if claim.place.has_room(claim.words) && not_before(claim.stamp, last) >= last {
            return true;
        }
        self.close(claim.place);
        false
    }

    /// Says that nothing more comes into the packet of a place, and gives it back.
    pub fn close(&self, place: &Place) {
        let Some((packet, opened)) = place.leave() else { return };
        let last = self.head(packet, head::LAST).load(Ordering::Relaxed);
        let latest = self.word(at::CLOSED_STAMP);
        let _ = latest.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |before| {
            (not_before(last, before) == last).then_some(last)
        });
        self.head(packet, head::CLOSED).store(self.next_order(), Ordering::Relaxed);
        // Release: who sees it closed sees its records, its last stamp and its order.
        self.head(packet, head::STATE).store(opened << 2 | CLOSED, Ordering::Release);
        self.give_back(place);
    }

    /// Takes over the packet that was closed first, with all records in it.
    fn displace(&self, survey: &Survey, claim: &Claim<'_>) -> bool {
        let Some((packet, state)) = survey.oldest else { return false };
        if !self.take(packet, claim) {
            return false;
        }
        let last = self.head(packet, head::LAST).load(Ordering::Relaxed);
        let order = self.head(packet, head::CLOSED).load(Ordering::Relaxed);
        if !self.open(packet, state, claim) {
            self.give_back(claim.place);
            return false;
        }
        self.word(at::GONE_STAMP).store(last, Ordering::Relaxed);
        self.word(at::GONE_ORDER).store(order, Ordering::Relaxed);
        self.word(at::LOOP_FULL).store(1, Ordering::Relaxed);
        self.word(at::DISPLACED).fetch_add(1, Ordering::Relaxed);
        true
    }

    fn open_free(&self, claim: &Claim<'_>) -> bool {
        (0..self.geometry().packets as usize).any(|packet| {
            let state = self.head(packet, head::STATE).load(Ordering::Relaxed);
            if state & TAG != 0 {
                return false;
            }
            // Before it is taken, so that it is found if its owner dies.
            self.word(at::USED).fetch_max(packet as u64 + 1, Ordering::AcqRel);
            if !self.take(packet, claim) {
                return false;
            }
            // Somebody may have filled it before it was taken.
            let opened = self.open(packet, 0, claim);
            if !opened {
                self.give_back(claim.place);
            }
            opened
        })
    }

    /// Opens a packet that the claimant holds.
    pub(super) fn open(&self, packet: usize, before: u64, claim: &Claim<'_>) -> bool {
        let opened = self.next_order();
        let word = self.head(packet, head::STATE);
        let after = opened << 2 | OPEN;
        // Acquire: what its reader did is done.
        if word.compare_exchange(before, after, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return false;
        }
        // Release: a reader that sees a word stored behind this fence, and fences, sees the state.
        fence(Ordering::Release);
        self.head(packet, head::LAST).store(0, Ordering::Relaxed);
        self.head(packet, head::COMMITTED).store(join(0, opened as u32), Ordering::Release);
        claim.place.enter(&self.geometry(), packet, opened, 0, 0);
        true
    }

    /// Takes over a packet whose owner has died, if one is found that has room, or can be opened.
    fn inherit(&self, claim: &Claim<'_>) -> bool {
        let used = self.used();
        let from = self.word(at::ORDER).load(Ordering::Relaxed) as usize;
        let mut inquiries = 0;
        for packet in (0..used).map(|index| (from + index) % used) {
            let before = self.head(packet, head::OWNER).load(Ordering::Relaxed);
            if matches!(before, 0 | UNENDING) || before == claim.owner {
                continue;
            }
            if inquiries == INQUIRIES {
                return false;
            }
            inquiries += 1;
            if !(claim.lives)(before) && self.inherit_from(packet, before, claim) {
                return true;
            }
        }
        false
    }

    fn inherit_from(&self, packet: usize, before: u64, claim: &Claim<'_>) -> bool {
        let word = self.head(packet, head::OWNER);
        claim.place.hold(packet);
        // The number of the dead is nobody else's, so that who finds it has the packet.
        let taken = word.compare_exchange(before, claim.owner, Ordering::AcqRel, Ordering::Relaxed);
        if taken.is_err() {
            claim.place.let_go();
            return false;
        }
        let state = self.head(packet, head::STATE).load(Ordering::Acquire);
        let useful = match state & TAG {
            OPEN => self.go_on(packet, state >> 2, claim),
            0 => self.open(packet, state, claim),
            _ => false,
        };
        if !useful {
            self.give_back(claim.place);
        }
        useful
    }
}

impl Claim<'_> {
    fn may_be_alone(&self, survey: &Survey) -> bool {
        let limit = if self.had_one { ALONE_MAX } else { ALONE };
        self.owner == UNENDING || survey.open < limit
    }

    /// Whether the thread has had no packet of the stream yet: its first event may ask the system.
    fn is_first(&self) -> bool {
        !self.had_one && self.place.shared().is_none()
    }
}
