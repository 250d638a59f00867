//! The columns of a line before its text: who an event is of, and when it was.
//!
//! A value that is too wide for its column takes the blanks of the next one, so that the columns behind it stay where they
//! are. Times end in one column: longer ones begin further to the left, as far as the column before leaves room.

use super::facts::{ContextFacts, Facts};
use super::formatter::Row;
use super::heading::{CPU, DELTA, ELAPSED, MARKER, PID, PROCESS_NAME, SYSTEM_CALL, TID};
use super::options::{Options, Timestamp};
use crate::model::EventRef;
use crate::text::{Room, TextBuffer, calendar, put};

/// Seconds with one digit before the point and nine behind it, milliseconds with six.
const USUAL_SECONDS: usize = 11;
const USUAL_MILLISECONDS: usize = 8;

/// The times of an event in nanoseconds, where the clock's rate is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) now: u64,
    pub(super) first: u64,
    pub(super) before: u64,
}

/// Fills a column up to its width, with a blank at least.
#[inline]
fn pad(out: &mut TextBuffer, start: usize, width: usize) {
    let written = out.len() - start;
    out.blanks(width.saturating_sub(written).max(1));
}

/// Takes blanks from the end until the text is as long as `end`; one stays.
#[inline]
fn align(out: &mut TextBuffer, end: usize) {
    while out.len() > end && out.as_bytes().ends_with(b"  ") {
        out.truncate(out.len() - 1);
    }
}

/// Puts the columns that say who an event is of behind its id; the line began at `start`.
#[inline]
pub(super) fn put_who(
    out: &mut TextBuffer,
    start: usize,
    (options, facts): (&Options, &Facts),
    event: &EventRef<'_>,
    context: &ContextFacts,
    (call, interrupt): (&str, bool),
) {
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

/// Puts the columns of times; the line began at `start`.
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
        // A clock that goes back within a source makes no negative time.
        let (elapsed, delta) =
            (event.ticks.saturating_sub(row.first), event.ticks.saturating_sub(row.before));
        align(out, at);
        out.room(2 * Room::NUMBER + ELAPSED + DELTA).left(elapsed, ELAPSED).done();
        align(out, at + ELAPSED);
        out.room(Room::NUMBER + DELTA).left(delta, DELTA).done();
        return align(out, at + ELAPSED + DELTA);
    };
    let (elapsed, delta) = (now.saturating_sub(first), now.saturating_sub(before));
    if options.timestamp != Timestamp::Elapsed {
        align(out, at);
        let of_day = facts.of_day_ns.map(|ns| ns.saturating_add(now));
        return other_times(out, options.timestamp, of_day, elapsed);
    }
    if elapsed < 10_000_000_000 && delta < 10_000_000 && out.len() == at {
        let room = out.room(3 * Room::NUMBER + ELAPSED + DELTA);
        return room.seconds_left(elapsed, ELAPSED).milliseconds_left(delta, DELTA).done();
    }
    let (seconds, rest) = (elapsed / 1_000_000_000, elapsed % 1_000_000_000);
    put_right(out, at + USUAL_SECONDS, seconds, rest, 9);
    let begun = out.len().min(at);
    pad(out, begun, at + ELAPSED - begun);
    put_right(out, at + ELAPSED + USUAL_MILLISECONDS, delta / 1_000_000, delta % 1_000_000, 6);
    let begun = out.len().min(at);
    pad(out, begun, at + ELAPSED + DELTA - begun);
}

/// Puts a number with so many decimals so that it ends at `end`, if the blanks before it are enough for that.
fn put_right(out: &mut TextBuffer, end: usize, whole: u64, part: u64, decimals: u32) {
    let length = whole.checked_ilog10().unwrap_or(0) as usize + 2 + decimals as usize;
    let begin = end.saturating_sub(length);
    align(out, begin);
    out.blanks(begin.saturating_sub(out.len()));
    fraction(out, whole, part, decimals);
}

/// The column of times in another than the usual form.
fn other_times(out: &mut TextBuffer, form: Timestamp, of_day: Option<u64>, elapsed: u64) {
    let start = out.len();
    match form {
        Timestamp::Short => {
            fraction(out, elapsed / 1_000_000_000, elapsed % 1_000_000_000 / 1000, 6);
            pad(out, start, ELAPSED);
        }
        Timestamp::Microseconds => {
            fraction(out, elapsed / 1000, elapsed % 1000, 3);
            pad(out, start, ELAPSED);
        }
        Timestamp::WallClock => {
            match of_day {
                Some(of_day) => {
                    put(out, format_args!("{}", calendar::TimeOfDay(of_day / 1_000_000_000)));
                    out.byte(b'.');
                    digits(out, of_day % 1_000_000_000, 9);
                }
                // The moment is out of the clock's range.
                None => out.byte(b'-'),
            }
            pad(out, start, ELAPSED + 1);
        }
        Timestamp::None | Timestamp::Elapsed => {}
    }
}

/// A number with so many decimals.
#[inline]
fn fraction(out: &mut TextBuffer, whole: u64, part: u64, decimals: u32) {
    out.decimal(whole);
    out.byte(b'.');
    digits(out, part, decimals);
}

/// So many digits of a number.
#[inline]
fn digits(out: &mut TextBuffer, number: u64, count: u32) {
    let mut text = [b'0'; 9];
    let mut rest = number;
    for digit in text[..count as usize].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.text(&text[..count as usize]);
}
