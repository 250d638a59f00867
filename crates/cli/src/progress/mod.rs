//! Progress of long work on a terminal: the finished part, the rate, and the remaining time.
//!
//! The lines are on standard error and disappear before any other output. This file
//! contains the progress of verbs that read traces. `live` shows the progress of `collect` and
//! `record`, and `lines` draws the lines.

mod lines;
mod live;

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use tracewell::input::{Advance, Input};
use tracewell::text::{grouped, plural};

pub(crate) use self::lines::{clear, end};
pub(crate) use self::live::{Rate, during};
use crate::screen;

/// Time before the first update.
const PATIENCE: Duration = Duration::from_millis(500);

/// Time between two updates.
const INTERVAL: Duration = Duration::from_millis(100);

/// Decides when a progress line appears, so that short operations show none and updates are not too
/// frequent.
#[derive(Debug)]
pub(crate) struct Pace {
    start: Instant,
    /// The time of the next update; `None` if there are no progress lines.
    next: Option<Instant>,
}

impl Pace {
    /// Begins work. Progress is shown only if standard error is a terminal.
    pub(crate) fn start() -> Self {
        let shows = is_possible();
        let start = Instant::now();
        Self { start, next: shows.then(|| start + PATIENCE) }
    }

    /// Returns true if there are progress lines at all.
    pub(crate) fn shows(&self) -> bool {
        self.next.is_some()
    }

    /// If an update is due, shows the line that `text` returns. The argument of `text` is the time
    /// since the start.
    pub(crate) fn update(&mut self, text: impl FnOnce(Duration) -> String) {
        let Some(next) = self.next else { return };
        let now = Instant::now();
        if now < next {
            return;
        }
        self.next = Some(now + INTERVAL);
        lines::show(&[text(now - self.start)]);
    }
}

/// Returns true if standard error is a terminal that can replace lines, and no option forbids
/// progress.
pub(crate) fn is_possible() -> bool {
    screen::allows_progress() && io::stderr().is_terminal() && replaces_lines(env::var_os("TERM"))
}

/// Returns true if a terminal can replace lines. `kind` is the value of `TERM`. Windows and some
/// services do not set the variable.
fn replaces_lines(kind: Option<OsString>) -> bool {
    kind.is_none_or(|kind| kind != "dumb")
}

/// Returns true if standard output is a file or `/dev/null`, so that nothing written to it can
/// appear on a terminal. For a pipe, returns false, because the reader of the pipe could print on
/// the terminal.
#[cfg(unix)]
pub(crate) fn has_separate_output() -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let output = io::stdout().as_fd().try_clone_to_owned().map(std::fs::File::from);
    let Ok(output) = output.and_then(|output| output.metadata()) else { return false };
    let null = || std::fs::metadata("/dev/null").map(|null| null.rdev());
    output.is_file() || null().is_ok_and(|null| null == output.rdev())
}

/// Returns true if nothing that is written to standard output can appear on a terminal.
#[cfg(not(unix))]
pub(crate) fn has_separate_output() -> bool {
    !io::stdout().is_terminal()
}

/// Shows a progress line while this input is read.
pub(crate) fn watch(input: &mut Input) {
    let size = input.size();
    let mut pace = Pace::start();
    if pace.shows() {
        input.watch(move |advance| pace.update(|elapsed| reading(advance, size, elapsed)));
    }
}

/// Returns the line for reading an input of `size` bytes.
fn reading(advance: Advance, size: Option<u64>, elapsed: Duration) -> String {
    let Advance { bytes, events } = advance;
    let per_second = |count: u64| (count as f64 / elapsed.as_secs_f64().max(1e-3)) as u64;
    let (count, rate) = (grouped(events), grouped(per_second(events)));
    let mut line = format!("{count} {}, {rate}/s", plural(events, "event"));
    if let Some(size) = size.filter(|size| *size > 0) {
        let (bytes, rate) = (bytes.min(size), per_second(bytes).max(1));
        line = format!("{:3} %, {line}, {}/s", percent(bytes, size), data(rate));
        line += &format!(", {} left", span((size - bytes) / rate));
    }
    line
}

fn percent(part: u64, whole: u64) -> u64 {
    // Compute in 128 bits, because sizes times 100 can exceed 64 bits.
    (100 * u128::from(part) / u128::from(whole.max(1))) as u64
}

/// Returns an amount of data as text, in a unit that keeps the number short: `12.3 MB`.
pub(crate) fn data(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB")];
    match units.into_iter().find(|(scale, _)| bytes >= *scale) {
        Some((scale, unit)) => format!("{}.{} {unit}", bytes / scale, bytes % scale * 10 / scale),
        None => format!("{bytes} B"),
    }
}

/// Returns a time in seconds in the form of a clock: `7 s`, `2:05`, `1:00:00`.
pub(crate) fn span(seconds: u64) -> String {
    let (hours, minutes) = (seconds / 3600, seconds / 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, _) => format!("{minutes}:{:02}", seconds % 60),
        _ => format!("{hours}:{:02}:{:02}", minutes % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_share_a_rate_and_a_time_left() {
        let advance = Advance { bytes: 250_000_000, events: 7_812_500 };
        let line = reading(advance, Some(1_000_000_000), Duration::from_secs(5));
        let expected = " 25 %, 7,812,500 events, 1,562,500/s, 50.0 MB/s, 15 s left";
        assert_eq!(line, expected);
    }

    #[test]
    fn a_stream_has_a_rate_only() {
        let advance = Advance { bytes: 1000, events: 2000 };
        let line = reading(advance, None, Duration::from_secs(2));
        assert_eq!(line, "2,000 events, 1,000/s");
    }

    #[test]
    fn a_dumb_terminal_has_no_progress() {
        let kinds = [None, Some("xterm"), Some("dumb")];
        let replaced = kinds.map(|kind| replaces_lines(kind.map(OsString::from)));
        assert_eq!(replaced, [true, true, false]);
    }

    #[test]
    fn data_and_times_are_in_their_largest_unit() {
        let amounts = [999, 1500, 12_345_678, 2_000_000_000].map(data);
        assert_eq!(amounts, ["999 B", "1.5 kB", "12.3 MB", "2.0 GB"]);
        assert_eq!([59, 125, 3600].map(span), ["59 s", "2:05", "1:00:00"]);
    }
}
