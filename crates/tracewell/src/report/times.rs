//! The columns of time of a line: since the first event, and since the line before.

use super::columns::Columns;
use crate::model::Clock;
use crate::text::{Room, Seconds};

/// Appends the columns of time, line by line. A number too long for its column keeps a blank before it.
#[derive(Debug)]
pub(super) struct Times {
    /// Ticks and nanoseconds of the line before.
    before: Option<(u64, Option<u64>)>,
    seconds: Seconds,
    widths: (usize, usize),
}

impl Times {
    pub(super) fn new(columns: Columns) -> Self {
        // Behind a blank.
        let widths = (columns.time - 1, columns.delta - 1);
        Self { before: None, seconds: Seconds::new(columns.time - 1), widths }
    }

    /// Looks at the clock again: from one batch to the next it may be known better.
    pub(super) fn begin(&mut self, clock: &Clock) {
        if let Some((ticks, time)) = &mut self.before {
            *time = clock.nanoseconds(*ticks);
        }
    }

    /// Appends both columns, of a line with an event of these ticks.
    #[inline(always)]
    pub(super) fn put<'a>(&mut self, room: Room<'a>, clock: &Clock, ticks: u64) -> Room<'a> {
        let (width, delta_width) = self.widths;
        let time = clock.nanoseconds(ticks);
        // A clock that goes back within a source makes no negative time; the line before stands.
        let (before, time_before) = self.before.replace((ticks, time)).unwrap_or((ticks, time));
        match time {
            None => {
                let elapsed = ticks.saturating_sub(before);
                room.byte(b' ').right(ticks, width).byte(b' ').right(elapsed, delta_width)
            }
            Some(time) => {
                let delta = time.saturating_sub(time_before.unwrap_or(time));
                let room = self.seconds.put(room.byte(b' '), time).byte(b' ');
                room.right(delta / 1000, delta_width - 4).thousandths(delta % 1000)
            }
        }
    }
}
