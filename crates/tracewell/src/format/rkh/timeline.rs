//! Follows sequence numbers and timestamps, and detects restarts of the target.
//!
//! Sequence numbers have eight bits, so a loss of exactly 256 frames cannot be noticed. A stream
//! may begin with any number. A restarted target sends its configuration record and counts from 0.
//! This change of the number is not a loss.
//!
//! Only events set the previous number and the previous timestamp. If a frame has a valid checksum
//! but is not an event, it may consist of parts of two frames. If such a frame has the expected
//! number, it counts as one frame. The number of the next event then shows whether this was right.

use tracewell_wire::rkh::Settings;

use crate::model::{Counter, Direction};

/// The result of comparing a frame's number with the number of the previous event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// The number follows the previous number, or it is the first number of the stream.
    Next,
    /// The number is 0 after a configuration record: the target restarted.
    Restarted,
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
    /// True if a configuration record has followed the latest numbered frame.
    configured: bool,
    counter: Counter,
    last_stamp: Option<u32>,
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

    /// Compares the number of an event with the previous number. A 0 after 255 means a restart only
    /// if the timestamp decreased.
    #[inline]
    pub(super) fn order(&self, number: u8, stamp: Option<u32>) -> Order {
        let Some(last) = self.last_number else { return Order::Next };
        let missing = number.wrapping_sub(last).wrapping_sub(1);
        // Without a restart, the number 0 follows 255. So after 255, only a decreasing timestamp
        // indicates a restart.
        if self.configured && number == 0 && (missing != 0 || self.goes_back(stamp)) {
            return Order::Restarted;
        }
        match missing.checked_sub(self.skipped) {
            // The skipped frames may be damage that looks like frames, so perhaps the target never
            // sent them.
            _ if missing == 0 => Order::Next,
            Some(0) => Order::Next,
            Some(rest) => Order::Gap(rest),
            None => Order::Gap(missing),
        }
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
            number.wrapping_sub(last).wrapping_sub(1) == self.skipped && self.skipped < u8::MAX
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

    fn goes_back(&self, stamp: Option<u32>) -> bool {
        stamp.zip(self.last_stamp).is_some_and(|(stamp, last)| stamp < last)
    }

    /// Begins a new run of the target. The timestamps of the new run have no relation to the
    /// earlier timestamps, and the time between the runs is unknown. One tick separates the runs.
    pub(super) fn restart(&mut self) {
        self.last_stamp = None;
        self.ticks += 1;
    }

    /// Stores the timestamp of an event.
    #[inline]
    pub(super) fn stamp(&mut self, stamp: u32) {
        if let Some(last) = self.last_stamp {
            let elapsed = self.counter.elapsed(u64::from(last), u64::from(stamp));
            self.ticks = self.ticks.saturating_add(elapsed);
        }
        self.last_stamp = Some(stamp);
    }
}

fn counter(settings: &Settings) -> Counter {
    let mask = match settings.stamp {
        1 => 0xFF,
        2 => 0xFFFF,
        _ => 0xFFFF_FFFF,
    };
    Counter::of_mask(mask, Direction::Up)
}
