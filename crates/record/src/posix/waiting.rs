//! How a writer learns that a reader waits for a record.
//!
//! A reader that finds no record announces that it waits, looks once more, and then sleeps. A
//! writer that has stored a record checks for an announcement. Each side stores first and loads
//! afterwards, so both sides need a full memory barrier in between. Otherwise the reader could miss
//! the record while the writer misses the announcement.
//!
//! A writer executes no barrier of its own if the reader can execute one in all writers by a system
//! call. If the kernel rejects this call, the reader sets a flag in the stream's memory, and from
//! then on the writers execute fences.
//!
//! The system calls for barriers, sleeping and waking are in `tracewell-posix`.

use tracewell_wire::posix::object::at;

use super::pool::Pool;
use crate::stream::sync::{Ordering, fence};

impl Pool<'_> {
    /// Announces that a reader waits. After this call, the reader must look for a record once more
    /// before it sleeps.
    ///
    /// `order_writers` executes a memory barrier in all writers, or returns false if it cannot. In
    /// that case, this function requests fences from the writers. A writer that has not seen the
    /// request yet may have stored words without a fence; `outwait_stores` waits until such words
    /// are visible.
    pub fn announce_reader(
        &self,
        order_writers: impl FnOnce() -> bool,
        outwait_stores: impl FnOnce(),
    ) {
        self.word(at::WAITERS).store(1, Ordering::SeqCst);
        if !order_writers() && self.word(at::FENCES).swap(1, Ordering::SeqCst) == 0 {
            outwait_stores();
        }
        fence(Ordering::SeqCst);
    }

    /// Returns true if a reader is possibly waiting for the record that the caller has just stored.
    ///
    /// `unreachable` must be true if the barriers of readers do not reach the caller's process.
    #[inline(always)]
    pub fn may_have_waiter(&self, unreachable: bool) -> bool {
        if self.word(at::FENCES).load(Ordering::Relaxed) != 0 || unreachable {
            // Pairs with the fence in `announce_reader`.
            fence(Ordering::SeqCst);
        }
        self.word(at::WAITERS).load(Ordering::Relaxed) != 0
    }

    /// Withdraws the announcement. Returns true if there was one: the caller must then wake the
    /// readers.
    pub fn withdraw_readers(&self) -> bool {
        self.word(at::WAITERS).swap(0, Ordering::SeqCst) != 0
    }
}

#[cfg(all(test, not(loom), feature = "std"))]
mod tests {
    use std::vec::Vec;

    use tracewell_wire::posix::StreamPolicy;
    use tracewell_wire::posix::object::Geometry;

    use super::*;
    use crate::stream::sync::AtomicU64;

    /// Without barriers and fences, about one event in two million would not wake the reader.
    /// `model` shows that the fences suffice.
    #[test]
    fn a_reader_whose_barriers_are_refused_requests_fences_and_waits_for_earlier_stores_once() {
        let geometry = Geometry::for_promise(4096, 64).unwrap();
        let memory: Vec<_> = (0..geometry.total()).map(|_| AtomicU64::new(0)).collect();
        let pool = Pool::new(&memory, geometry, StreamPolicy::UntilFull).unwrap();
        let has_fences = || pool.word(at::FENCES).load(Ordering::Relaxed) != 0;
        assert!(!pool.may_have_waiter(false));
        pool.announce_reader(|| true, || panic!("the writers executed a barrier"));
        assert!(pool.may_have_waiter(false) && !has_fences());
        assert!(pool.withdraw_readers() && !pool.withdraw_readers());
        let mut waited = 0;
        for _ in 0..3 {
            pool.announce_reader(|| false, || waited += 1);
            assert!(has_fences() && pool.may_have_waiter(false));
        }
        assert_eq!(waited, 1);
    }
}
