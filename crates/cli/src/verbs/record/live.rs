//! The progress line of a recording, and the conditions under which it may appear.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use tracewell::text::{grouped, plural};
use tracewell_record::stream::{Status, Stream};

use crate::progress::{self, Rate, data, span};

/// The progress of a recording.
pub(super) struct Line<'s> {
    /// The stream of a program that this process started.
    stream: Option<&'s Stream>,
    /// The log of the events of `posix_trace_event`.
    log: Option<File>,
    /// Length of the log at the first update, in bytes.
    log_start: Option<u64>,
    rate: Rate,
}

/// Counts of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Counts {
    recorded: u64,
    lost: u64,
}

impl<'s> Line<'s> {
    pub(super) fn new(stream: Option<&'s Stream>, log: Option<File>) -> Self {
        Self { stream, log, log_start: None, rate: Rate::default() }
    }

    /// Returns the line to show; `time` is the time since the start.
    pub(super) fn at(&mut self, time: Duration) -> String {
        let counts = self.stream.map(|stream| {
            let image = stream.image();
            Counts { recorded: image.recorded(), lost: lost(&image.status()) }
        });
        let log = self.log.as_ref().and_then(|log| log.metadata().ok()).map(|log| log.len());
        let start = *self.log_start.get_or_insert(log.unwrap_or(0));
        // If there is a stream, there is always a log too. Show the log only if the program has
        // recorded events in it.
        let log = log.filter(|bytes| self.stream.is_none() || *bytes > start);
        line(time, counts, log, &mut self.rate)
    }
}

/// Returns the number of events that a stream lost.
pub(super) fn lost(status: &Status) -> u64 {
    status.lost + status.lost_unplaced + status.lost_suspended + status.lost_log
}

/// Returns the progress line for a time since the start. `log` is the length of the log of
/// `posix_trace_event` in bytes.
fn line(time: Duration, counts: Option<Counts>, log: Option<u64>, rate: &mut Rate) -> String {
    let mut line = span(time.as_secs());
    if let Some(Counts { recorded, lost }) = counts {
        let per_second = grouped(rate.at(time, recorded));
        let events = plural(recorded, "event");
        let (recorded, lost) = (grouped(recorded), grouped(lost));
        line += &format!(", {recorded} {events}, {per_second}/s, {lost} lost");
    }
    let log = log.filter(|bytes| *bytes > 0);
    match (counts, log) {
        (Some(_), Some(bytes)) => line += &format!(", posix_trace_event: {}", data(bytes)),
        (None, Some(bytes)) => {
            line += &format!(", {}, {}/s", data(bytes), data(rate.at(time, bytes)));
        }
        (_, None) => {}
    }
    line
}

/// Returns true if the line may appear while a program runs. The program shares the standard output
/// and the standard error of this process.
pub(super) fn shows_beside_program(demanded: bool) -> bool {
    progress::is_possible() && (demanded || progress::has_separate_output())
}

/// Returns true if the line may appear while this program records a process that it did not start.
pub(super) fn shows_beside_process(demanded: bool, process: i32) -> bool {
    let prints_here = || {
        let error = io::stderr().as_fd().try_clone_to_owned().map(File::from);
        let here = error.and_then(|error| error.metadata());
        here.is_ok_and(|here| [1, 2].iter().any(|stream| is_same(process, *stream, &here)))
    };
    progress::is_possible() && (demanded || !prints_here())
}

/// Returns true if an output of a process may be the terminal `here`.
fn is_same(process: i32, stream: u32, here: &Metadata) -> bool {
    match fs::metadata(Path::new(&format!("/proc/{process}/fd/{stream}"))) {
        Ok(output) => output.rdev() == here.rdev(),
        // If the entry does not exist, the process has closed the stream. After any other error,
        // assume that the output is the terminal.
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_has_a_time_a_count_a_rate_and_losses() {
        let counts = Some(Counts { recorded: 1_234_567, lost: 1200 });
        let at = Duration::from_millis(125_500);
        let made = line(at, counts, None, &mut Rate::default());
        assert_eq!(made, "2:05, 1,234,567 events, 9,837/s, 1,200 lost");
        let made = line(at, counts, Some(1500), &mut Rate::default());
        assert!(made.ends_with(" 1,200 lost, posix_trace_event: 1.5 kB"), "{made}");
    }

    #[test]
    fn a_recording_of_a_process_has_the_size_of_its_log() {
        let at = Duration::from_secs(2);
        assert_eq!(line(at, None, Some(4000), &mut Rate::default()), "2 s, 4.0 kB, 2.0 kB/s");
        assert_eq!(line(at, None, Some(0), &mut Rate::default()), "2 s");
    }
}
