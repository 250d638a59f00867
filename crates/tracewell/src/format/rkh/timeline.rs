//! Sequence numbers, stamps, and restarts of the target.
//!
//! Numbers have eight bits: 256 lost frames in a row cannot be seen. The first number of a stream
//! sets the base. A target that starts again sends its configuration record and counts from 0;
//! that is no loss.
//!
//! Only events set numbers and stamps. A frame that adds up to 0 and is no event may be a piece of two
//! others: it is one in its place if its number follows, and the next event then accounts for it.

use tracewell_wire::rkh::Settings;

use crate::model::{Counter, Direction};

/// What a frame's number says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// It follows the last one, or is the first.
    Next,
    /// The target has started again.
    Restarted,
    /// So many frames are missing before it: 1 to 255.
    Gap(u8),
}

/// Where the stream stands.
#[derive(Debug)]
pub(super) struct Timeline {
    last_number: Option<u8>,
    /// Frames behind the last event that are no events and whose numbers follow.
    unread: u8,
    pub(super) first_number: Option<u8>,
    /// Whether a configuration record came since the last numbered frame.
    configured: bool,
    counter: Counter,
    last_stamp: Option<u32>,
    ticks: u64,
}

impl Timeline {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            last_number: None,
            unread: 0,
            first_number: None,
            configured: false,
            counter: counter(settings),
            last_stamp: None,
            ticks: 0,
        }
    }

    /// Ticks since the first stamp.
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

    /// Takes the settings of a configuration record.
    pub(super) fn configure(&mut self, settings: &Settings) {
        self.configured = true;
        let counter = counter(settings);
        if counter != self.counter {
            self.counter = counter;
            // A stamp of another width cannot be compared.
            self.last_stamp = None;
        }
    }

    /// What the number of an event says; stamps decide only whether 0 after 255 is a restart.
    #[inline]
    pub(super) fn order(&self, number: u8, stamp: Option<u32>) -> Order {
        let Some(last) = self.last_number else { return Order::Next };
        let missing = number.wrapping_sub(last).wrapping_sub(1);
        if self.configured && number == 0 && (missing != 0 || self.goes_back(stamp)) {
            return Order::Restarted;
        }
        match missing.checked_sub(self.unread) {
            // What was no event may be no frame of the target's at all.
            _ if missing == 0 => Order::Next,
            Some(0) => Order::Next,
            Some(rest) => Order::Gap(rest),
            None => Order::Gap(missing),
        }
    }

    /// Takes the number of an event.
    #[inline]
    pub(super) fn number(&mut self, number: u8) {
        self.first_number = self.first_number.or(Some(number));
        (self.last_number, self.unread, self.configured) = (Some(number), 0, false);
    }

    /// Takes the number of a frame that is no event; true if it follows.
    pub(super) fn unread(&mut self, number: u8) -> bool {
        let follows = self.last_number.is_some_and(|last| {
            number.wrapping_sub(last).wrapping_sub(1) == self.unread && self.unread < u8::MAX
        });
        self.unread += u8::from(follows);
        follows
    }

    /// Number and stamp of the last frame, where the next one can only follow it or be missing.
    pub(super) const fn steady(&self) -> Option<(u8, u32)> {
        match (self.last_number, self.last_stamp) {
            (Some(number), Some(stamp)) if !self.configured && self.unread == 0 => {
                Some((number, stamp))
            }
            _ => None,
        }
    }

    /// Takes number and stamp of the last of some frames that followed each other.
    pub(super) const fn went_on(&mut self, number: u8, stamp: u32, ticks: u64) {
        (self.last_number, self.last_stamp) = (Some(number), Some(stamp));
        self.ticks = ticks;
    }

    fn goes_back(&self, stamp: Option<u32>) -> bool {
        stamp.zip(self.last_stamp).is_some_and(|(stamp, last)| stamp < last)
    }

    /// The target has started again: its stamps mean nothing to those before. How long it was away
    /// is not known; one tick keeps before and after apart.
    pub(super) fn restart(&mut self) {
        self.last_stamp = None;
        self.ticks += 1;
    }

    /// Takes the stamp of an event.
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
