//! Writes the columns before the text of a line: context and time.
//!
//! A value that is too wide uses the spaces of the next column, so that later columns keep their
//! position. Times are right-aligned. Longer times begin further left, as far as the previous
//! column allows.

use super::facts::{ContextFacts, Facts};
use super::heading::{CPU, DELTA, ELAPSED, MARKER, PID, PROCESS_NAME, SYSTEM_CALL, TID};
use super::options::{Options, Timestamp};
use crate::model::EventRef;
use crate::text::{Reservation, TextBuffer, calendar, put, put_digits, put_fraction};

/// Values that depend on the events before the current event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The system call in progress in the event's context.
    pub(super) call: Option<u64>,
    /// Ticks of the first event of the report.
    pub(super) first: u64,
    /// Ticks of the previous event shown.
    pub(super) before: u64,
    /// Byte offset of the event in the source.
    pub(super) offset: u64,
}

/// Number of characters in a time. Seconds have one digit before the point and nine digits after
/// it. Milliseconds have one digit before the point and six digits after it.
const SECONDS_WIDTH: usize = 11;
const MILLISECONDS_WIDTH: usize = 8;

/// The times of an event in nanoseconds, if the clock's rate is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) now: u64,
    pub(super) first: u64,
    pub(super) before: u64,
}

/// Pads a column with spaces to its width. Appends at least one space.
#[inline]
fn pad(out: &mut TextBuffer, start: usize, width: usize) {
    let written = out.len() - start;
    out.blanks(width.saturating_sub(written).max(1));
}

/// Removes spaces from the end until the text has length `end`. At least one space stays.
#[inline]
fn align(out: &mut TextBuffer, end: usize) {
    while out.len() > end && out.as_bytes().ends_with(b"  ") {
        out.truncate(out.len() - 1);
    }
}

/// Appends the columns about the context. The line began at `start`.
#[inline]
pub(super) fn put_who(
    out: &mut TextBuffer,
    start: usize,
    (options, facts): (&Options, &Facts),
    event: &EventRef<'_>,
    context: &ContextFacts,
    (call, interrupt): (&str, bool),
) {
    // Each column ends at a fixed position. A value that is too long uses the spaces of the next
    // column.
    let mut end = start + facts.id_width;
    let mut column = |out: &mut TextBuffer, width: usize| {
        end += width;
        align(out, end);
    };
    if options.exec {
        out.literal(&context.name_column);
        column(out, PROCESS_NAME);
    }
    if options.cpu {
        let start = out.len();
        out.decimal(u64::from(event.cpu));
        pad(out, start, CPU);
        column(out, CPU);
    }
    if options.pid {
        out.literal(&context.pid_column);
        column(out, PID);
    }
    if options.tid {
        out.literal(&context.tid_column);
        column(out, TID);
    }
    if options.svc {
        out.text(if interrupt { "I" } else { " " });
        out.blanks(MARKER - 1);
        let start = out.len();
        out.text(call);
        pad(out, start, SYSTEM_CALL);
        column(out, MARKER + SYSTEM_CALL);
    }
}

/// Appends the columns of times. The line began at `start`.
#[inline(never)]
pub(super) fn put_times(
    out: &mut TextBuffer,
    start: usize,
    (options, facts): (&Options, &Facts),
    event: &EventRef<'_>,
    row: Row,
    times: Option<Times>,
) {
    let at = start + facts.times_at;
    if options.timestamp == Timestamp::None {
        return align(out, at);
    }
    let Some(Times { now, first, before }) = times else {
        // A clock that runs backwards within a source causes a difference of 0, not a negative
        // difference.
        let (elapsed, delta) =
            (event.ticks.saturating_sub(row.first), event.ticks.saturating_sub(row.before));
        align(out, at);
        out.room(2 * Reservation::NUMBER + ELAPSED + DELTA).left(elapsed, ELAPSED).done();
        align(out, at + ELAPSED);
        out.room(Reservation::NUMBER + DELTA).left(delta, DELTA).done();
        return align(out, at + ELAPSED + DELTA);
    };
    let (elapsed, delta) = (now.saturating_sub(first), now.saturating_sub(before));
    if options.timestamp != Timestamp::Elapsed {
        align(out, at);
        let of_day = facts.of_day_ns.map(|ns| ns.saturating_add(now));
        return other_times(out, options.timestamp, of_day, elapsed);
    }
    // In nearly all lines, both times fit their usual widths and no earlier column is too wide.
    if elapsed < 10_000_000_000 && delta < 10_000_000 && out.len() == at {
        let room = out.room(3 * Reservation::NUMBER + ELAPSED + DELTA);
        return room.seconds_left(elapsed, ELAPSED).milliseconds_left(delta, DELTA).done();
    }
    let (seconds, rest) = (elapsed / 1_000_000_000, elapsed % 1_000_000_000);
    // A long time can begin before its column. The padding after it is therefore counted from the
    // start of the column.
    put_right(out, at + SECONDS_WIDTH, seconds, rest, 9);
    let begun = out.len().min(at);
    pad(out, begun, at + ELAPSED - begun);
    put_right(out, at + ELAPSED + MILLISECONDS_WIDTH, delta / 1_000_000, delta % 1_000_000, 6);
    let begun = out.len().min(at);
    pad(out, begun, at + ELAPSED + DELTA - begun);
}

/// Appends a number with decimals so that it ends at `end`. If the number needs more room, removes
/// spaces before the number. At least one space stays.
fn put_right(out: &mut TextBuffer, end: usize, whole: u64, part: u64, decimals: u32) {
    let length = whole.checked_ilog10().unwrap_or(0) as usize + 2 + decimals as usize;
    let begin = end.saturating_sub(length);
    align(out, begin);
    out.blanks(begin.saturating_sub(out.len()));
    put_fraction(out, whole, part, decimals);
}

/// Appends the time in a form other than the default.
fn other_times(out: &mut TextBuffer, form: Timestamp, of_day: Option<u64>, elapsed: u64) {
    let start = out.len();
    match form {
        Timestamp::Short => {
            put_fraction(out, elapsed / 1_000_000_000, elapsed % 1_000_000_000 / 1000, 6);
            pad(out, start, ELAPSED);
        }
        Timestamp::Microseconds => {
            put_fraction(out, elapsed / 1000, elapsed % 1000, 3);
            pad(out, start, ELAPSED);
        }
        Timestamp::WallClock => {
            match of_day {
                Some(of_day) => {
                    put(out, format_args!("{}", calendar::TimeOfDay(of_day / 1_000_000_000)));
                    out.byte(b'.');
                    put_digits(out, of_day % 1_000_000_000, 9);
                }
                // The first event was before 1970, or its nanoseconds do not fit into 64 bits.
                None => out.byte(b'-'),
            }
            pad(out, start, ELAPSED + 1);
        }
        Timestamp::None | Timestamp::Elapsed => {}
    }
}
