//! Stores records, and gets packets for them.
//!
//! Timestamps never decrease within a packet. For a thread's next record, one of the following
//! holds:
//!
//! * It follows the thread's last record in the same packet.
//! * It is in a packet that was opened only after the packet of the last record had been closed.
//! * Its timestamp is later than the last record's timestamp. A reader that does not see the last
//!   record in its current pass leaves both records for the next pass ([`Pool::after`]).
//!
//! So a reader can return each thread's records in their original order, regardless of the clocks.

use tracewell_wire::native::split;
use tracewell_wire::posix::object::{at, head};
use tracewell_wire::posix::record_words;

use super::claim::Claim;
use super::cursor::{Cursor, Event, not_before};
use super::pool::Pool;
use crate::stream::Full;
use crate::stream::sync::{Ordering, fence};

impl Cursor {
    /// Repairs the cursor after its thread abandoned a record by a jump (`longjmp`).
    pub fn repair(&self, pool: &Pool<'_>, owner: u64) {
        let Some(packet) = self.held() else { return self.drop_packet() };
        // The thread may have jumped before it owned the packet, or after it released the packet.
        let owned = pool.head(packet, head::OWNER).load(Ordering::Relaxed) == owner;
        let opened = self.leave().filter(|(known, _)| owned && *known == packet);
        match opened {
            Some((_, opened)) if self.exclusive.get() == opened => {
                // Continue after the committed records: the cursor may already be past them.
                let committed = pool.head(packet, head::COMMITTED).load(Ordering::Relaxed);
                let (words, order) = split(committed);
                let words = if order == opened as u32 { words } else { 0 };
                self.enter(&pool.geometry(), packet, opened, words, self.last.get());
            }
            _ if owned => pool.give_back(self),
            _ => self.release(),
        }
    }

    /// Stores a record, claiming a packet for it if necessary.
    ///
    /// `owner` identifies the writer: a value from [`tracewell_wire::posix::object::owner`],
    /// different at each depth of signal handlers, or [`IMMORTAL_OWNER`](super::IMMORTAL_OWNER).
    /// `is_alive` returns true if the thread of an owner may still exist; it is called only when
    /// packets are scarce.
    ///
    /// # Errors
    /// Returns an error if there is no room. Does not count the event as lost; see [`Pool::lose`].
    pub fn push(
        &self,
        pool: &Pool<'_>,
        event: &Event,
        data: &[u8],
        owner: u64,
        is_alive: &dyn Fn(u64) -> bool,
    ) -> Result<(), Full> {
        if self.append(pool.memory(), *event, data) {
            return Ok(());
        }
        let words = record_words(data.len());
        if words > pool.geometry().packet_words as usize {
            return Err(Full);
        }
        let (closed_own, last) = (self.packet().1 != 0, self.last.get());
        if closed_own {
            // The timestamp may be slightly earlier than the last timestamp: try again with the
            // last timestamp.
            let event = Event { stamp: not_before(event.stamp, last), ..*event };
            if self.append(pool.memory(), event, data) {
                return Ok(());
            }
            // The packet is full, or the clock was set back. Timestamps must not decrease within a
            // packet, so the record needs another packet.
            pool.close(self);
        }
        let before = self.shared();
        let stamp = event.stamp;
        let claim = Claim { cursor: self, owner, words, stamp, is_alive, closed_own };
        let Ok(claimed) = pool.claim(&claim) else {
            self.last.set(last);
            return Err(Full);
        };
        let mut stamp = event.stamp;
        let (packet, opened) = self.packet();
        // If the packet of the thread's last record may still be open, readers can order the two
        // records only by their timestamps. An exclusive packet is closed before the writer opens
        // another packet.
        let may_be_open = before.is_some() || !claimed.fresh;
        if may_be_open && before != Some((packet, opened)) {
            stamp = pool.after(stamp, last);
        }
        if claimed.fresh {
            stamp = not_before(stamp, pool.word(at::CLOSED_STAMP).load(Ordering::Relaxed));
        }
        let stamp = not_before(stamp, self.last.get());
        self.shared.set(if claimed.shared { (packet as u32, opened) } else { (0, 0) });
        self.exclusive.set(if claimed.shared { 0 } else { opened });
        let stored = self.append(pool.memory(), Event { stamp, ..*event }, data);
        if claimed.shared {
            self.drop_packet();
            pool.give_back(self);
        }
        if stored { Ok(()) } else { Err(Full) }
    }
}

impl Pool<'_> {
    /// Returns a timestamp for a record whose thread stored its last record in another packet.
    /// `last` is the timestamp of that last record. Unless the clock was set back, the result is
    /// later than `last` and not before `stamp`. If a reader's current pass may miss the last
    /// record, the result is also later than the cutoff of that reader.
    pub fn after(&self, stamp: u64, last: u64) -> u64 {
        // Pairs with the reader's fence: either the reader sees what this thread stored, or this
        // thread sees the reader's cutoff.
        fence(Ordering::SeqCst);
        let cutoff = self.word(at::CUTOFF).load(Ordering::Relaxed);
        let floor = if cutoff == 0 { 0 } else { cutoff.saturating_add(1) };
        not_before(not_before(stamp, last.saturating_add(1)), floor)
    }

    /// Counts an event as lost.
    pub fn lose(&self) {
        self.word(at::LOST).fetch_add(1, Ordering::Relaxed);
    }
}
