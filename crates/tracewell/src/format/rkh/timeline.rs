//! Follows sequence numbers and timestamps, and detects restarts of the target.
//!
//! Sequence numbers have eight bits, so a loss of exactly 256 frames cannot be noticed. A stream
//! may begin with any number. A restarted target sends its configuration record and counts from 0.
//! This change of the number is not a loss. If the first frames of the new run are missing, or if
//! frames have no numbers, a decreasing timestamp after the configuration record shows the restart.
//!
//! Only events set the previous number and the previous timestamp. If a frame has a valid checksum
//! but is not an event, it may consist of parts of two frames. If such a frame has the expected
//! number, it counts as one frame. The number of the next event then shows whether this was right.

use tracewell_wire::rkh::Settings;

use crate::model::{Counter, Direction};

/// The result of comparing an event with the previous event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// The number follows the previous number, or it is the first number of the stream.
    Next,
    /// The event is the first one after a restart of the target. Before it, this number of frames
    /// of the new run are missing, 0 to 255.
    Restarted(u8),
    /// Number of frames that are missing before this frame, 1 to 255.
    Gap(u8),
}

/// The position in the stream: previous sequence number, previous timestamp, and ticks.
#[derive(Debug)]
pub(super) struct Timeline {
    last_number: Option<u8>,
    /// Number of frames that are not events but have the expected numbers, counted since the
    /// previous event.
    skipped: u8,
    pub(super) first_number: Option<u8>,
    /// True if a configuration record has followed the latest event with a number or a timestamp.
    configured: bool,
    counter: Counter,
    /// `None` before the first timestamp, and if the width of timestamps has changed since then.
    last_stamp: Option<u32>,
    /// True after the first timestamp.
    stamped: bool,
    ticks: u64,
}

impl Timeline {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            last_number: None,
            skipped: 0,
            first_number: None,
            configured: false,
            counter: counter(settings),
            last_stamp: None,
            stamped: false,
            ticks: 0,
        }
    }

    /// Returns the ticks since the first timestamp.
    #[inline]
    pub(super) const fn ticks(&self) -> u64 {
        self.ticks
    }

    pub(super) const fn last_number(&self) -> Option<u8> {
        self.last_number
    }

    pub(super) const fn counter(&self) -> Counter {
        self.counter
    }

    /// Applies the settings of a configuration record.
    pub(super) fn configure(&mut self, settings: &Settings) {
        self.configured = true;
        let counter = counter(settings);
        if counter != self.counter {
            self.counter = counter;
            // Timestamps of different widths cannot be compared.
            self.last_stamp = None;
        }
    }

    /// Compares an event with the previous event.
    #[inline]
    pub(super) fn order(&self, number: Option<u8>, stamp: Option<u32>) -> Order {
        if self.configured && self.has_restarted(number, stamp) {
            // The target counts from 0.
            return Order::Restarted(number.unwrap_or(0));
        }
        let (Some(number), Some(last)) = (number, self.last_number) else { return Order::Next };
        let missing = missing(last, number);
        match missing.checked_sub(self.skipped) {
            // The skipped frames may be damage that looks like frames, so perhaps the target never
            // sent them.
            _ if missing == 0 => Order::Next,
            Some(0) => Order::Next,
            Some(rest) => Order::Gap(rest),
            None => Order::Gap(missing),
        }
    }

    /// Returns true if the first event after a configuration record belongs to a new run. A target
    /// may also repeat its configuration record within a run.
    #[cold]
    fn has_restarted(&self, number: Option<u8>, stamp: Option<u32>) -> bool {
        let goes_back = self.goes_back(stamp);
        let Some((number, last)) = number.zip(self.last_number) else { return goes_back };
        let missing = missing(last, number);
        if missing == 0 || missing == self.skipped {
            // Within a run, a counter of one byte wraps often. So if the numbers continue, a
            // decreasing timestamp is not enough.
            number == 0 && goes_back
        } else {
            number == 0 || goes_back
        }
    }

    /// Returns true if a timestamp is less than the previous one, or if their widths differ. The
    /// width is compiled into the target, so a new width means that another program has started.
    fn goes_back(&self, stamp: Option<u32>) -> bool {
        stamp.is_some_and(|stamp| self.last_stamp.map_or(self.stamped, |last| stamp < last))
    }

    /// Stores the number of an event.
    #[inline]
    pub(super) fn number(&mut self, number: u8) {
        self.first_number = self.first_number.or(Some(number));
        (self.last_number, self.skipped, self.configured) = (Some(number), 0, false);
    }

    /// Counts a frame that is not an event. Returns true if the frame has the expected number.
    pub(super) fn skip(&mut self, number: u8) -> bool {
        let follows = self.last_number.is_some_and(|last| {
            // `skipped` cannot exceed 255.
            missing(last, number) == self.skipped && self.skipped < u8::MAX
        });
        self.skipped += u8::from(follows);
        follows
    }

    /// Returns the number and the timestamp of the previous frame if it was an event. The next
    /// frame must then have the next number, unless frames were lost.
    pub(super) const fn steady(&self) -> Option<(u8, u32)> {
        match (self.last_number, self.last_stamp) {
            (Some(number), Some(stamp)) if !self.configured && self.skipped == 0 => {
                Some((number, stamp))
            }
            _ => None,
        }
    }

    /// Stores number, timestamp and ticks of the last of several consecutive frames.
    pub(super) const fn advance(&mut self, number: u8, stamp: u32, ticks: u64) {
        (self.last_number, self.last_stamp) = (Some(number), Some(stamp));
        self.ticks = ticks;
    }

    /// Begins a new run of the target. The timestamps of the new run have no relation to the
    /// earlier timestamps, and the time between the runs is unknown. One tick separates the runs.
    pub(super) fn restart(&mut self) {
        self.last_stamp = None;
        self.ticks += 1;
    }

    /// Stores the timestamp of an event. Returns true if it is the first timestamp of the stream.
    #[inline]
    pub(super) fn stamp(&mut self, stamp: u32) -> bool {
        if let Some(last) = self.last_stamp {
            let elapsed = self.counter.elapsed(u64::from(last), u64::from(stamp));
            self.ticks = self.ticks.saturating_add(elapsed);
        }
        (self.last_stamp, self.configured) = (Some(stamp), false);
        !std::mem::replace(&mut self.stamped, true)
    }
}

/// Returns the number of frames that are missing between two sequence numbers.
#[inline]
const fn missing(last: u8, number: u8) -> u8 {
    number.wrapping_sub(last).wrapping_sub(1)
}

fn counter(settings: &Settings) -> Counter {
    let mask = match settings.stamp {
        1 => 0xFF,
        2 => 0xFFFF,
        _ => 0xFFFF_FFFF,
    };
    Counter::of_mask(mask, Direction::Up)
}
