//! Tests the Rust interface with streams of this process: recorded events can be read once and in
//! order, from the stream and from a log.
//!
//! The tests run in parallel in one process, and every stream receives all events of the process.
//! So each test uses a different event name, and its streams filter out all other events.

use std::fs::{self, File};
use std::os::fd::AsRawFd;

use tracewell_posix::{
    Attributes, Controller, EventInfo, EventSet, FilterChange, LogPolicy, RecordedLog,
    StreamPolicy, TypeNames, record,
};
use tracewell_wire::posix::{FIRST_USER, OVERFLOW, RESUME, START, STOP, UNNAMED};

/// Creates a stream that records one event type only.
fn stream_of(id: u32, attributes: &Attributes) -> Controller {
    let controller = Controller::create(0, attributes).unwrap();
    controller.stream().set_filter(&others(id), FilterChange::Set);
    controller
}

fn others(id: u32) -> EventSet {
    let mut set = EventSet::EMPTY;
    (FIRST_USER..FIRST_USER + 1024).chain([UNNAMED]).for_each(|other| {
        set.add(other);
    });
    set.remove(id);
    set
}

fn drain(controller: &Controller) -> Vec<(EventInfo, Vec<u8>)> {
    std::iter::from_fn(|| controller.try_next().unwrap()).collect()
}

fn ids(events: &[(EventInfo, Vec<u8>)]) -> Vec<u32> {
    events.iter().map(|(info, _)| info.id).collect()
}

#[test]
fn what_is_recorded_is_read_once_and_in_order() {
    let id = tracewell_posix::define(b"read once").unwrap();
    let controller = stream_of(id, &Attributes::default());
    record(id, b"before the start", false, 1);
    controller.stream().start();
    record(id, b"first", false, 0x1234);
    record(id, b"", true, 0);
    controller.stream().stop();
    record(id, b"after the stop", false, 1);
    let events = drain(&controller);
    assert_eq!(ids(&events), [START, id, id, STOP]);
    let (info, data) = &events[1];
    assert_eq!((info.address, info.truncated, &data[..]), (0x1234, false, &b"first"[..]));
    assert_eq!(info.process, std::process::id());
    assert_eq!((events[2].0.truncated, events[2].1.len()), (true, 0));
    assert!(events.is_sorted_by_key(|(info, _)| info.stamp));
    assert_eq!(controller.try_next().unwrap(), None);
    let status = controller.take_status();
    assert!(!status.running && !status.full && !status.overrun, "{status:?}");
}

#[test]
fn a_full_stream_stops_and_starts_again_when_it_is_empty() {
    let id = tracewell_posix::define(b"until full").unwrap();
    let policy = Some(StreamPolicy::UntilFull);
    let attributes = Attributes { stream_size: 0, stream_policy: policy, ..Default::default() };
    let controller = stream_of(id, &attributes);
    controller.stream().start();
    for number in 0..100_000_u32 {
        record(id, &number.to_ne_bytes(), false, 1);
    }
    let status = controller.take_status();
    assert!(!status.running && status.full && status.overrun, "{status:?}");
    assert!(!controller.take_status().overrun);
    let events = drain(&controller);
    let (first, rest) = events.split_first().unwrap();
    assert_eq!(first.0.id, START);
    let (numbered, end) = rest.split_at(rest.len() - 4);
    let numbers = numbered.iter().map(|(_, data)| u32::from_ne_bytes(data[..].try_into().unwrap()));
    assert!(numbers.eq(0..numbered.len() as u32));
    assert_eq!(ids(end), [STOP, OVERFLOW, RESUME, START]);
    assert_eq!(end[0].1, 1_i32.to_ne_bytes());
    assert!(controller.take_status().running);
}

#[test]
fn a_looping_stream_keeps_the_newest_without_a_gap() {
    let id = tracewell_posix::define(b"loop").unwrap();
    let controller = stream_of(id, &Attributes { stream_size: 0, ..Default::default() });
    controller.stream().start();
    for number in 0..100_000_u32 {
        record(id, &number.to_ne_bytes(), false, 1);
    }
    let status = controller.take_status();
    assert!(status.running && status.full && status.overrun, "{status:?}");
    let events = drain(&controller);
    let count = events.len() as u32;
    assert!(count > 100, "{count}");
    let numbers = events.iter().map(|(_, data)| u32::from_ne_bytes(data[..].try_into().unwrap()));
    assert!(numbers.eq(100_000 - count..100_000));
    assert!(!controller.take_status().full);
}

#[test]
fn records_of_the_promised_size_fit_over_many_threads() {
    let id = tracewell_posix::define(b"promise").unwrap();
    let policy = Some(StreamPolicy::UntilFull);
    let attributes =
        Attributes { stream_size: 1 << 19, stream_policy: policy, ..Attributes::default() };
    let controller = stream_of(id, &attributes);
    controller.stream().start();
    let room = attributes.stream_size - Attributes::max_system_event_size();
    let each = room / attributes.max_user_event_size(40) / 32;
    std::thread::scope(|scope| {
        for thread in 0..32_u32 {
            scope.spawn(move || {
                for number in 0..each as u32 {
                    let mut data = [0; 40];
                    data[..4].copy_from_slice(&thread.to_ne_bytes());
                    data[4..8].copy_from_slice(&number.to_ne_bytes());
                    record(id, &data, false, 1);
                }
            });
        }
    });
    assert!(!controller.take_status().overrun);
    let mut next = [0; 32];
    let events = drain(&controller);
    for (_, data) in &events[1..] {
        let word = |at: usize| u32::from_ne_bytes(data[at..at + 4].try_into().unwrap());
        assert_eq!(word(4), next[word(0) as usize]);
        next[word(0) as usize] += 1;
    }
    assert_eq!(next, [each as u32; 32]);
}

/// Returns a log with all kinds of blocks. Each caller uses a different `name`.
fn log_with(name: &str, policy: LogPolicy, size: usize, events: u32) -> Vec<u8> {
    let id = tracewell_posix::define(name.as_bytes()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let file = File::create_new(&path).unwrap();
    let attributes =
        Attributes { log_policy: policy, log_size: size, max_data: 64, ..Attributes::default() };
    let controller = Controller::create_with_log(0, &attributes, file.as_raw_fd()).unwrap();
    controller.stream().set_filter(&others(id), FilterChange::Set);
    controller.stream().start();
    for number in 0..events {
        record(id, &number.to_ne_bytes(), false, 0x77);
        if number % 500 == 499 {
            controller.flush().unwrap();
            while controller.take_status().flushing {
                std::thread::yield_now();
            }
        }
    }
    controller.shutdown().unwrap();
    fs::read(path).unwrap()
}

fn numbers(log: &RecordedLog) -> Vec<u32> {
    let user = |info: EventInfo, data: &[u8]| {
        (info.id >= FIRST_USER).then(|| u32::from_ne_bytes(data.try_into().unwrap()))
    };
    std::iter::from_fn(|| log.next(user)).flatten().collect()
}

#[test]
fn a_log_has_what_its_policy_says() {
    let log = RecordedLog::from_bytes(log_with("logged", LogPolicy::Append, 0, 5000)).unwrap();
    assert!(numbers(&log).into_iter().eq(0..5000));
    assert!(!log.status().log_overrun && !log.status().log_full);
    let log = RecordedLog::from_bytes(log_with("logged", LogPolicy::Loop, 32_768, 5000)).unwrap();
    let found = numbers(&log);
    assert!(found.len() > 500 && found.len() < 4900, "{}", found.len());
    assert!(found.iter().copied().eq(5000 - found.len() as u32..5000));
    assert!(log.status().log_full);
    let log =
        RecordedLog::from_bytes(log_with("logged", LogPolicy::UntilFull, 32_768, 5000)).unwrap();
    let found = numbers(&log);
    assert!(found.len() > 500 && found.len() < 4900, "{}", found.len());
    assert!(found.iter().copied().eq(0..found.len() as u32));
    let id = tracewell_posix::define(b"logged").unwrap();
    assert_eq!(log.name(id).as_deref(), Some(&b"logged"[..]));
}

#[test]
fn every_truncation_gives_a_beginning_or_nothing() {
    let bytes = log_with("truncated", LogPolicy::Append, 0, 100);
    let all = numbers(&RecordedLog::from_bytes(bytes.clone()).unwrap());
    for length in 0..bytes.len() {
        if let Ok(log) = RecordedLog::from_bytes(bytes[..length].to_vec()) {
            assert!(all.starts_with(&numbers(&log)), "{length}");
            assert!(log.status().log_overrun, "{length}");
        }
    }
}

#[test]
fn a_stream_that_ended_refuses() {
    let controller = Controller::create(0, &Attributes::default()).unwrap();
    controller.shutdown().unwrap();
    assert_eq!(controller.try_next().unwrap_err().number(), 22);
    assert_eq!(controller.shutdown().unwrap_err().number(), 22);
    assert_eq!(Controller::create(-1, &Attributes::default()).unwrap_err().number(), 3);
}

/// The fuzzer's corpus contains these logs. `BLESS=1` writes them.
#[test]
fn the_corpus_has_small_logs() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/posix_log");
    let kinds = [("append", LogPolicy::Append), ("loop", LogPolicy::Loop)];
    for (name, policy) in kinds {
        let path = format!("{folder}/{name}");
        if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
            fs::write(&path, log_with("in the corpus", policy, 0, 3)).unwrap();
        }
        let log = RecordedLog::from_bytes(fs::read(&path).unwrap()).unwrap();
        assert_eq!(numbers(&log), [0, 1, 2], "{name}");
    }
}
