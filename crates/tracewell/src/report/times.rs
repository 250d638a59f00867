//! Writes the time columns of a line: the date or the time since the first event, and the time
//! since the previous line.

use super::columns::Columns;
use crate::model::{Clock, Trace};
use crate::text::calendar::Dates;
use crate::text::{IncrementalRight, LineWindow, Reservation, Seconds, TimeForm};

/// Appends the time columns, line by line. Puts a space before each number, even before a number
/// that is too long for its column.
#[derive(Debug)]
pub(super) struct Times {
    /// Ticks and nanoseconds of the previous line.
    before: Option<(u64, Option<u64>)>,
    first: FirstColumn,
    /// Ticks in the first column, if the clock's rate is unknown.
    ticks: IncrementalRight<8>,
    widths: (usize, usize),
}

/// The first time column. The next column shows the time since the previous line.
#[derive(Debug)]
enum FirstColumn {
    /// The time since the first event.
    Since(Seconds),
    Date(Box<Dates>),
    Absent,
}

impl Times {
    pub(super) fn new(columns: Columns, form: &TimeForm) -> Self {
        // The widths of the columns include the space before them.
        let widths = (columns.time.saturating_sub(1), columns.delta - 1);
        let first = match form {
            TimeForm::Relative => FirstColumn::Since(Seconds::new(widths.0)),
            TimeForm::Delta => FirstColumn::Absent,
            TimeForm::Absolute(zone) => FirstColumn::Date(Box::new(Dates::new(zone.clone()))),
        };
        Self { before: None, first, ticks: IncrementalRight::new(widths.0), widths }
    }

    /// Returns true if the first column is the time since the first event.
    pub(super) fn are_relative(&self) -> bool {
        matches!(self.first, FirstColumn::Since(_))
    }

    /// Like [`Times::put`], but only for relative times and for lines of limited length. `time` is
    /// `ticks` in nanoseconds. Call [`Times::note`] when the line is complete.
    #[inline(always)]
    pub(super) fn put_line(&mut self, line: &mut LineWindow<'_>, ticks: u64, time: Option<u64>) {
        let delta_width = self.widths.1;
        let (before, time_before) = self.before.unwrap_or((ticks, time));
        line.mark(b" ");
        match (time, &mut self.first) {
            (Some(time), FirstColumn::Since(seconds)) => {
                let delta = time.saturating_sub(time_before.unwrap_or(time));
                seconds.put_line(line, time);
                line.mark(b" ");
                line.right(delta / 1000, delta_width - 4);
                line.thousandths(delta % 1000);
            }
            _ => {
                self.ticks.put(line, ticks);
                line.mark(b" ");
                line.right(ticks.saturating_sub(before), delta_width);
            }
        }
    }

    /// Stores the ticks and nanoseconds of a line.
    #[inline(always)]
    pub(super) fn note(&mut self, ticks: u64, time: Option<u64>) {
        self.before = Some((ticks, time));
    }

    /// Converts the previous line's time again, because the clock's rate may become known between
    /// batches.
    pub(super) fn begin(&mut self, clock: &Clock) {
        if let Some((ticks, time)) = &mut self.before {
            *time = clock.nanoseconds(*ticks);
        }
    }

    /// Stores `ticks` as the ticks of the previous line.
    pub(super) fn resume(&mut self, clock: &Clock, ticks: u64) {
        self.before = Some((ticks, clock.nanoseconds(ticks)));
    }

    /// Appends both columns for an event with these ticks.
    #[inline(always)]
    pub(super) fn put<'a>(
        &mut self,
        room: Reservation<'a>,
        trace: &Trace,
        ticks: u64,
    ) -> Reservation<'a> {
        let (width, delta_width) = self.widths;
        let time = trace.clock.nanoseconds(ticks);
        // A clock that runs backwards within a source causes a difference of 0, not a negative
        // difference.
        let (before, time_before) = self.before.replace((ticks, time)).unwrap_or((ticks, time));
        match time {
            None => {
                let elapsed = ticks.saturating_sub(before);
                let room = match self.first {
                    FirstColumn::Since(_) => room.byte(b' ').right(ticks, width),
                    _ => self.other(room, trace, ticks),
                };
                room.byte(b' ').right(elapsed, delta_width)
            }
            Some(time) => {
                let delta = time.saturating_sub(time_before.unwrap_or(time));
                let room = match &mut self.first {
                    FirstColumn::Since(seconds) => seconds.put(room.byte(b' '), time),
                    _ => self.other(room, trace, ticks),
                };
                let room = room.byte(b' ');
                // The point and three decimals are part of the column's width.
                room.right(delta / 1000, delta_width - 4).thousandths(delta % 1000)
            }
        }
    }

    /// Appends the first column if it is not the time since the first event.
    #[inline(never)]
    fn other<'a>(&mut self, room: Reservation<'a>, trace: &Trace, ticks: u64) -> Reservation<'a> {
        match (&mut self.first, trace.wall_clock_ns(ticks)) {
            (FirstColumn::Date(dates), Some(ns)) => dates.put(room.text(b"  "), ns),
            // The date is before 1970, or its nanoseconds do not fit into 64 bits.
            (FirstColumn::Date(_), None) => room.blanks(self.widths.0).byte(b'-'),
            (FirstColumn::Since(_) | FirstColumn::Absent, _) => room,
        }
    }
}
