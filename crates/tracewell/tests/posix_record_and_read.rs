//! Records events with the POSIX trace library and reads them back, in logs of all policies and in
//! live streams.
#![cfg(target_os = "linux")]

mod support;

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use support::{EventLog, settings};
use tracewell::input::Input;
use tracewell::model::{LossCause, Trace};
use tracewell_posix::{Attributes, Controller, LogPolicy, StreamPolicy, define, record};

fn read(path: &Path) -> (Trace, EventLog) {
    let mut kept = EventLog::default();
    let mut input = Input::open(path, settings(&[])).unwrap();
    let trace = input.read(&mut kept).unwrap();
    (trace, kept)
}

/// Returns the numbers in the data of events with this name.
fn numbers(trace: &Trace, kept: &EventLog, name: &str) -> Vec<u64> {
    let rows = kept.rows.iter().filter(|row| trace.schema.event(row.id).name == name);
    rows.map(|row| {
        let data = trace.payload.bytes(&row.payload, 0);
        u64::from_le_bytes(data.try_into().unwrap())
    })
    .collect()
}

/// A test holds this lock while it records. An event goes to all streams of the process, so the
/// events of another test could fill the log.
static RECORDING: Mutex<()> = Mutex::new(());

/// Records a number of events into a stream with a log, and reads the log.
fn logged(log_policy: LogPolicy, name: &str, events: u64) -> (Trace, Vec<u64>, EventLog) {
    let _recording = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let file = File::create(&path).unwrap();
    let attributes = Attributes {
        stream_size: 1 << 20,
        stream_policy: Some(StreamPolicy::Flush),
        log_policy,
        log_size: 65_536,
        ..Attributes::default()
    };
    let stream = Controller::create_with_log(0, &attributes, file.as_raw_fd()).unwrap();
    let id = define(name.as_bytes()).unwrap();
    stream.stream().start();
    for number in 0..events {
        record(id, &number.to_le_bytes(), false, 0x1234);
    }
    stream.shutdown().unwrap();
    let (trace, kept) = read(&path);
    assert_eq!(trace.diagnostics.iter().count(), 0, "{:?}", trace.diagnostics);
    let numbers = numbers(&trace, &kept, name);
    (trace, numbers, kept)
}

#[test]
fn a_log_that_grows_has_every_event_with_its_name() {
    let (trace, numbers, kept) = logged(LogPolicy::Append, "grows", 10_000);
    assert!(numbers.iter().copied().eq(0..10_000), "{}", numbers.len());
    assert!(kept.losses.is_empty(), "{:?}", kept.losses);
    assert_eq!(trace.fact("log_overrun_status"), Some(0));
}

#[test]
fn a_log_that_loops_has_the_newest_events_and_says_that_others_are_gone() {
    let (trace, numbers, kept) = logged(LogPolicy::Loop, "loops", 10_000);
    let first = 10_000 - numbers.len() as u64;
    assert!(first > 0 && numbers.iter().copied().eq(first..10_000), "{first}");
    let causes: Vec<_> = kept.losses.iter().map(|loss| (loss.before, loss.cause)).collect();
    assert_eq!(causes, [(0, LossCause::Overwritten)]);
    assert_eq!(trace.fact("log_full_status"), Some(1));
}

#[test]
fn a_log_that_is_full_has_the_oldest_events_and_says_that_others_are_missing() {
    let (trace, numbers, kept) = logged(LogPolicy::UntilFull, "ends", 10_000);
    let length = numbers.len() as u64;
    assert!((1..10_000).contains(&length) && numbers.iter().copied().eq(0..length), "{length}");
    assert_eq!(kept.losses.last().map(|loss| loss.cause), Some(LossCause::BufferFull));
    assert_eq!(trace.fact("log_overrun_status"), Some(1));
}
