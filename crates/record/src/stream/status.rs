//! How a stream stands, in numbers that only grow; who wants to know what is new subtracts.

use tracewell_wire::native::FullPolicy;
use tracewell_wire::native::block::StatusWords;
use tracewell_wire::native::image::{Committed, State, at, lane};

use super::image::Image;
use super::sync::Ordering::{Acquire, Relaxed, Release};

/// How a stream stands. Counts are since it was made, or since the last clear where they say so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    /// Whether it records.
    pub state: State,
    /// Whether the next event of some thread displaces another one, or has no room.
    pub full: bool,
    /// Events lost for want of room, since the last clear.
    pub lost: u64,
    /// Events lost because no lane was free, signal handlers interrupted each other too deeply, or
    /// the event type had no place.
    pub lost_unplaced: u64,
    /// Events lost while a full stream was suspended.
    pub lost_suspended: u64,
    /// Events that were in the stream and never reached its log.
    pub lost_log: u64,
    /// Error number of the first flush that failed and was not asked for yet; 0 for none.
    pub flush_error: i32,
    /// Whether a flush is under way.
    pub flushing: bool,
    /// Lanes that have an owner.
    pub lanes: u32,
}

impl Image<'_> {
    /// How the stream stands. The numbers are read one after the other while others count.
    pub fn status(&self) -> Status {
        let words = self.status_words(0);
        let lanes = 0..self.geometry().lanes as usize;
        let owned = |lane: &usize| self.head(*lane, lane::OWNER).load(Relaxed) != 0;
        Status {
            state: State::of_code(words.state),
            full: words.state == State::Full.code() || lanes.clone().any(|lane| self.is_full(lane)),
            lost: words.lost,
            lost_unplaced: words.lost_unplaced,
            lost_suspended: words.lost_suspended,
            lost_log: words.lost_log,
            flush_error: words.flush_error as i32,
            flushing: self.word(at::FLUSHING).load(Relaxed) != 0,
            lanes: lanes.filter(owned).count() as u32,
        }
    }

    /// The first error of the flushes since this was asked for last; 0 for none.
    pub fn take_flush_error(&self) -> i32 {
        self.word(at::FLUSH_ERROR).swap(0, Relaxed) as i32
    }

    /// The process that made the stream.
    pub fn process(&self) -> u32 {
        self.word(at::PROCESS).load(Relaxed) as u32
    }

    pub(super) fn status_words(&self, complete_before: u64) -> StatusWords {
        let word = |index| self.word(index).load(Relaxed);
        let lost = (0..self.geometry().lanes as usize).map(|lane| {
            let lost = self.head(lane, lane::LOST).load(Relaxed);
            lost.wrapping_sub(self.head(lane, lane::LOST_CLEARED).load(Relaxed))
        });
        StatusWords {
            complete_before,
            state: word(at::STATE),
            lost: lost.fold(0, u64::wrapping_add),
            lost_unplaced: word(at::LOST_UNPLACED),
            lost_suspended: word(at::LOST_SUSPENDED),
            lost_log: word(at::LOST_LOG),
            flush_error: word(at::FLUSH_ERROR),
        }
    }

    /// Whether the packet behind the open one holds records that nobody took out.
    fn is_full(&self, lane: usize) -> bool {
        let committed = Committed(self.head(lane, lane::COMMITTED).load(Acquire)).position();
        let behind = committed.div_ceil(self.packet_words()) * self.packet_words();
        let end = behind + self.packet_words();
        let consumed = self.head(lane, lane::CONSUMED).load(Relaxed);
        end.checked_sub(self.geometry().lane_words()).is_some_and(|gone| consumed < gone)
    }

    /// Gives the room before a position of a lane free: the position of a reader that has copied
    /// everything before it. There may be one at a time who does this.
    pub fn consume(&self, lane: usize, position: u64) {
        let word = self.head(lane, lane::CONSUMED);
        if word.load(Relaxed) < position {
            // Release: the copies are made before the writer, who acquires this, stores there.
            word.store(position, Release);
        }
    }

    fn is_empty(&self) -> bool {
        (0..self.geometry().lanes as usize).all(|lane| {
            let committed = Committed(self.head(lane, lane::COMMITTED).load(Acquire)).position();
            self.head(lane, lane::CONSUMED).load(Relaxed) >= committed
        })
    }

    /// Lets an until-full stream that stopped itself record again, if everything was taken out.
    /// Returns whether it does.
    pub fn resume_if_empty(&self) -> bool {
        if self.policy() != FullPolicy::UntilFull || !self.is_empty() {
            return false;
        }
        let (full, running) = (State::Full.code(), State::Running.code());
        let resumed =
            self.word(at::STATE).compare_exchange(full, running, Release, Relaxed).is_ok();
        if resumed {
            self.make_gate();
        }
        resumed
    }

    /// Forgets all records. The writers go on where they are and take no notice.
    pub fn clear(&self) {
        for lane in 0..self.geometry().lanes as usize {
            let committed = Committed(self.head(lane, lane::COMMITTED).load(Acquire)).position();
            self.consume(lane, committed);
            let lost = self.head(lane, lane::LOST).load(Relaxed);
            self.head(lane, lane::LOST_CLEARED).store(lost, Relaxed);
        }
        for counter in [at::LOST_UNPLACED, at::LOST_SUSPENDED, at::LOST_LOG, at::FLUSH_ERROR] {
            self.word(counter).store(0, Relaxed);
        }
        let (full, suspended) = (State::Full.code(), State::Suspended.code());
        let _ = self.word(at::STATE).compare_exchange(full, suspended, Release, Relaxed);
        self.make_gate();
    }
}
