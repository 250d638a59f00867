//! The state and counts of a stream. Counts never decrease while events are recorded, so a caller
//! can subtract two readings.

use tracewell_wire::native::FullPolicy;
use tracewell_wire::native::block::StatusWords;
use tracewell_wire::native::image::{Committed, State, at, lane};

use super::image::Image;
use super::sync::Ordering::{Acquire, Relaxed, Release};
use super::sync::fence;

/// Maximum number of attempts to read the header of a packet that is being overwritten.
const MAX_ATTEMPTS: u32 = 16;

/// The state and counts of a stream. Counts start at 0 when the stream is created or cleared.
///
/// ```
/// use tracewell_record::stream::{EventType, Family, Stream, StreamOptions};
///
/// const DISK: Family = Family::new(4, "disk");
/// static READ: EventType<(u64,)> = EventType::new(DISK, "read", &["block"]);
///
/// # #[cfg(target_os = "linux")] {
/// let stream = Stream::anonymous(&StreamOptions { lanes: 1, ..Default::default() }).unwrap();
/// stream.start();
/// stream.record(&READ, (17,));
/// // The only lane belongs to this thread.
/// std::thread::scope(|scope| scope.spawn(|| stream.record(&READ, (18,))).join().unwrap());
/// assert_eq!(stream.image().status().lost_unplaced, 1);
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    /// State of the stream.
    pub state: State,
    /// True if the next event of some thread would overwrite older events, or would be lost.
    pub full: bool,
    /// Number of events lost because their lane was full.
    pub lost: u64,
    /// Number of events lost because no lane was free, because signal handlers were nested too
    /// deeply, or because the event type could not be defined.
    pub lost_unplaced: u64,
    /// Number of events lost while a full stream was suspended.
    pub lost_suspended: u64,
    /// Number of events that were in the stream but never reached its log.
    pub lost_log: u64,
    /// Error number of the first flush that failed since the last [`Image::take_flush_error`]; 0 if
    /// none failed.
    pub flush_error: i32,
    /// True if a flush is in progress.
    pub flushing: bool,
    /// Number of lanes that have an owner.
    pub lanes: u32,
}

impl Image<'_> {
    /// Returns the status. The fields are not read at a single moment: other threads can record in
    /// between.
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

    /// Returns the number of events that were recorded since the stream was created, including
    /// events that were removed or overwritten. Lost events are not included.
    ///
    /// Reads a few words of each lane and stores nothing, so it does not disturb writers. Events
    /// that are recorded during the call may be missing in the result.
    ///
    /// ```
    /// use tracewell_record::stream::{EventType, Family, Stream, StreamOptions};
    ///
    /// const DISK: Family = Family::new(4, "disk");
    /// static READ: EventType<(u64,)> = EventType::new(DISK, "read", &["block"]);
    ///
    /// # #[cfg(target_os = "linux")] {
    /// let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    /// stream.start();
    /// stream.record(&READ, (17,));
    /// stream.record(&READ, (18,));
    /// assert_eq!(stream.image().recorded(), 2);
    /// # }
    /// ```
    pub fn recorded(&self) -> u64 {
        let lanes = 0..self.geometry().lanes as usize;
        lanes.map(|lane| self.recorded_in(lane)).fold(0, u64::wrapping_add)
    }

    /// Returns the number of events that were recorded in a lane.
    fn recorded_in(&self, lane: usize) -> u64 {
        let words = self.packet_words();
        let mut recorded = 0;
        // A writer that overwrites the packet during the copy makes the copy invalid. To reach this
        // packet again, the writer must fill the whole lane during the copy, so a second attempt is
        // rare.
        for _ in 0..MAX_ATTEMPTS {
            let committed = Committed(self.head(lane, lane::COMMITTED).load(Acquire));
            if committed.position() == 0 {
                return 0;
            }
            // The position after a full packet is the start of the next packet.
            let packet = (committed.position() - 1) / words * words;
            let header = self.packet_header(lane, packet);
            recorded = header.first_event.wrapping_add(committed.events_since(header.first_event));
            // Acquire: pairs with the writer's fence before it overwrites a packet.
            fence(Acquire);
            if self.head(lane, lane::OLDEST).load(Relaxed) <= packet {
                break;
            }
        }
        recorded
    }

    /// Returns the error number of the first flush that failed since the last call; 0 if none
    /// failed.
    pub fn take_flush_error(&self) -> i32 {
        self.word(at::FLUSH_ERROR).swap(0, Relaxed) as i32
    }

    /// Returns the id of the process that created the stream.
    pub fn process(&self) -> u32 {
        self.word(at::PROCESS).load(Relaxed) as u32
    }

    /// Returns the status in the form that a log stores.
    pub(super) fn status_words(&self, complete_before: u64) -> StatusWords {
        let word = |index| self.word(index).load(Relaxed);
        let lost = (0..self.geometry().lanes as usize).map(|lane| {
            // Only the writer changes `LOST`, and it never decreases. Clearing the stream copies
            // `LOST` to `LOST_CLEARED`, which is subtracted here.
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

    /// Returns true if the packet after the open one contains records that have not been removed.
    fn is_full(&self, lane: usize) -> bool {
        let committed = Committed(self.head(lane, lane::COMMITTED).load(Acquire)).position();
        let next = committed.div_ceil(self.packet_words()) * self.packet_words();
        let end = next + self.packet_words();
        let consumed = self.head(lane, lane::CONSUMED).load(Relaxed);
        end.checked_sub(self.geometry().lane_words()).is_some_and(|gone| consumed < gone)
    }

    /// Releases the words of a lane before `position`; a reader must have copied all their records.
    /// Only one reader at a time may call this.
    pub fn consume(&self, lane: usize, position: u64) {
        let word = self.head(lane, lane::CONSUMED);
        if word.load(Relaxed) < position {
            // Release: the writer loads this with acquire, so the writer reuses the words only
            // after the reader has copied them.
            word.store(position, Release);
        }
    }

    /// Returns true if all records were removed.
    fn is_empty(&self) -> bool {
        (0..self.geometry().lanes as usize).all(|lane| {
            let committed = Committed(self.head(lane, lane::COMMITTED).load(Acquire)).position();
            self.head(lane, lane::CONSUMED).load(Relaxed) >= committed
        })
    }

    /// Restarts an until-full stream that suspended itself, if all records were removed. Returns
    /// true if the stream records again.
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

    /// Discards all records and resets the counts. Does not disturb writers.
    pub fn clear(&self) {
        for lane in 0..self.geometry().lanes as usize {
            // The reader continues after these records.
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
