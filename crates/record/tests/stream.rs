//! Tests streams: filters, control, several streams, several processes, failing sinks.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tracewell_record::event;
use tracewell_record::stream::{
    DefineError, EventType, FIRST_FREE_ID, Family, Flusher, FullPolicy, Log, Stream, StreamOptions,
    Take,
};

const ONE: Family = Family::new(1, "one");
const TWO: Family = Family::new(2, "two");
static FIRST: EventType<(u32,)> = EventType::new(ONE, "first", &["number"]);
static SECOND: EventType<(u32,)> = EventType::new(TWO, "second", &["number"]);

fn small(policy: FullPolicy) -> StreamOptions {
    StreamOptions { policy, lanes: 8, packets: 4, packet_size: 512, ..StreamOptions::default() }
}

fn count(stream: &Stream) -> u64 {
    Log::new(io::sink(), Take::Out).drain(stream).unwrap()
}

fn record_both(stream: &Stream) {
    stream.record(&FIRST, (1,));
    stream.record(&SECOND, (2,));
}

#[test]
fn family_and_id_filters_can_change_at_any_time() {
    let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    record_both(&stream);
    assert_eq!(count(&stream), 0, "a new stream is suspended");
    stream.start();
    record_both(&stream);
    assert_eq!(count(&stream), 2);
    stream.image().set_family_filter(ONE.bit());
    assert!(!stream.wants(&FIRST) && stream.wants(&SECOND));
    record_both(&stream);
    assert_eq!(count(&stream), 1);
    stream.image().set_filtered(stream.define(&SECOND).unwrap(), true);
    record_both(&stream);
    assert_eq!(count(&stream), 0);
    stream.image().set_family_filter(0);
    record_both(&stream);
    assert_eq!(count(&stream), 1);
    stream.set_filter(&[0; 32]);
    record_both(&stream);
    assert_eq!(count(&stream), 2);
    stream.stop();
    record_both(&stream);
    assert_eq!(count(&stream), 0);
    let status = stream.image().status();
    assert_eq!(
        status.lost + status.lost_unplaced + status.lost_suspended,
        0,
        "filters lose nothing"
    );
}

#[test]
fn fields_are_computed_only_for_recorded_events() {
    let stream = Stream::anonymous(&small(FullPolicy::UntilFull)).unwrap();
    let computed = std::cell::Cell::new(0);
    let number = || computed.replace(computed.get() + 1);
    event!(stream, FIRST, number());
    assert_eq!(computed.get(), 0, "suspended");
    stream.start();
    event!(stream, FIRST, number());
    stream.image().set_family_filter(ONE.bit());
    event!(stream, FIRST, number());
    assert_eq!((computed.get(), count(&stream)), (1, 1));
    stream.image().set_family_filter(0);
    (0..200).for_each(|_| event!(stream, FIRST, number()));
    let status = stream.image().status();
    assert_eq!(count(&stream) + status.lost + status.lost_suspended, 200);
}

#[test]
fn a_filter_set_before_an_event_was_defined_applies() {
    static LATE: EventType<()> = EventType::new(ONE, "late", &[]);
    let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    stream.set_filter(&[u64::MAX; 32]);
    stream.start();
    stream.define(&LATE).unwrap();
    stream.record(&LATE, ());
    assert_eq!(count(&stream), 0);
    stream.set_filter(&[0; 32]);
    stream.record(&LATE, ());
    assert_eq!(count(&stream), 1);
}

#[test]
fn an_event_is_recorded_under_its_id_in_each_stream() {
    let streams = [(); 3].map(|()| Stream::anonymous(&StreamOptions::default()).unwrap());
    streams[0].image().define_as(FIRST_FREE_ID, 0, b"other/thing()").unwrap();
    streams[1].define(&SECOND).unwrap();
    for stream in &streams {
        stream.start();
        record_both(stream);
    }
    let ids = streams.each_ref().map(|stream| stream.define(&FIRST).unwrap() - FIRST_FREE_ID);
    assert_eq!(ids, [1, 1, 0]);
    assert!(streams.iter().all(|stream| count(stream) == 2));
    assert!(streams.iter().all(|stream| stream.image().status().lost_unplaced == 0));
}

#[test]
fn types_defined_at_run_time_are_recorded_by_id() {
    let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    let id = stream.define_text(None, ONE, "one/late(data:bytes)").unwrap();
    assert_eq!(stream.define_text(None, ONE, "one/late(data:bytes)"), Ok(id));
    assert_eq!(stream.define_text(Some(7), TWO, "two/fixed()"), Ok(7));
    assert_eq!(stream.define_text(Some(7), TWO, "two/other()"), Err(DefineError::Conflict));
    assert_eq!(stream.define_text(None, TWO, "two"), Err(DefineError::NoEventType));
    stream.start();
    stream.record_as(id, ONE, &[3], b"abc");
    stream.record_as(7, TWO, &[], &[]);
    stream.record_as(8, TWO, &[], &[]);
    stream.record_as(u16::MAX, TWO, &[], &[]);
    assert_eq!((count(&stream), stream.image().status().lost_unplaced), (2, 2));
    stream.image().set_filtered(7, true);
    stream.record_as(7, TWO, &[], &[]);
    assert_eq!(count(&stream), 0);
}

#[test]
fn a_thread_without_a_lane_in_one_stream_gets_one_in_the_next() {
    let options = StreamOptions { lanes: 1, ..StreamOptions::default() };
    for _ in 0..3 {
        let full = Stream::anonymous(&options).unwrap();
        full.start();
        let barrier = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                full.record(&FIRST, (1,));
                barrier.wait();
                barrier.wait();
            });
            barrier.wait();
            full.record(&FIRST, (2,));
            barrier.wait();
        });
        assert_eq!(full.image().status().lost_unplaced, 1);
        drop(full);
        let free = Stream::anonymous(&options).unwrap();
        free.start();
        free.record(&FIRST, (3,));
        assert_eq!((count(&free), free.image().status().lost_unplaced), (1, 0));
    }
}

#[test]
fn lanes_of_ended_threads_are_reused() {
    let stream =
        Stream::anonymous(&StreamOptions { lanes: 2, ..StreamOptions::default() }).unwrap();
    stream.start();
    for number in 0..14 {
        let record = || {
            stream.record(&FIRST, (number,));
            std::fs::read_link("/proc/thread-self").unwrap_or_default()
        };
        let thread = std::thread::scope(|scope| scope.spawn(record).join().unwrap());
        // A joined thread can still exist in the kernel for a moment.
        while !thread.as_os_str().is_empty() && Path::new("/proc").join(&thread).exists() {
            std::thread::yield_now();
        }
    }
    assert_eq!((count(&stream), stream.image().status().lost_unplaced), (14, 0));
}

#[test]
fn events_of_too_many_threads_are_counted() {
    let stream =
        Stream::anonymous(&StreamOptions { lanes: 2, ..StreamOptions::default() }).unwrap();
    stream.start();
    let barrier = std::sync::Barrier::new(3);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                stream.record(&FIRST, (0,));
                barrier.wait();
                (0..9).for_each(|_| stream.record(&FIRST, (0,)));
                barrier.wait();
            });
        }
    });
    assert_eq!((count(&stream), stream.image().status().lost_unplaced), (20, 10));
}

/// A sink that accepts some bytes, then fails several times, then accepts everything.
struct Failing {
    room: usize,
    failures: u32,
    taken: Vec<u8>,
}

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.room == 0 && self.failures > 0 {
            self.failures -= 1;
            return Err(io::Error::from_raw_os_error(28));
        }
        let taken = if self.failures > 0 { bytes.len().min(self.room).min(7) } else { bytes.len() };
        self.room = self.room.saturating_sub(taken);
        self.taken.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_reported_and_loses_only_events_without_room() {
    let whole = |room, failures| {
        let stream = Stream::anonymous(&small(FullPolicy::Flush)).unwrap();
        stream.start();
        let mut log = Log::new(Failing { room, failures, taken: Vec::new() }, Take::Out);
        let mut recorded = 0;
        for _ in 0..20 {
            (0..10).for_each(|number| stream.record(&FIRST, (number,)));
            recorded += 10;
            let _ = log.drain(&stream);
        }
        let (errors, events) = (log.errors(), log.events());
        let status = stream.image().status();
        assert_eq!(status.flush_error, if failures > 0 { 28 } else { 0 });
        assert_eq!(errors, u64::from(failures));
        assert_eq!(stream.image().take_flush_error(), status.flush_error);
        assert_eq!(stream.image().status().flush_error, 0);
        assert_eq!(events + status.lost, recorded);
        log.close(&stream).unwrap().taken
    };
    let blocks = |log: &[u8]| {
        use tracewell_wire::native::block::{HEAD, Lookup, find};
        let (mut at, mut count) = (0, 0);
        while let Lookup::Block(found) = find(&log[at..]) {
            at += HEAD + found.body.len();
            count += 1;
        }
        assert_eq!(at, log.len(), "every block is whole");
        count
    };
    assert!(blocks(&whole(usize::MAX, 0)) > 40);
    for room in (0..900).step_by(13) {
        assert!(blocks(&whole(room, 1)) > 40);
        assert!(blocks(&whole(room, 9)) > 20);
    }
}

#[test]
fn a_log_that_cannot_be_completed_reports_how_many_events_are_missing() {
    let stream = Stream::anonymous(&small(FullPolicy::Flush)).unwrap();
    stream.start();
    (0..30).for_each(|number| stream.record(&FIRST, (number,)));
    let log = Log::new(Failing { room: 0, failures: u32::MAX, taken: Vec::new() }, Take::Out);
    let error = log.close(&stream).err().unwrap();
    assert_eq!((error.lost, error.error.raw_os_error()), (30, Some(28)));
    assert_eq!(stream.image().status().lost_log, 30);
}

#[test]
fn a_waiting_reader_is_woken_by_the_next_event() {
    let stream = Arc::new(Stream::anonymous(&StreamOptions::default()).unwrap());
    stream.start();
    let recording = Arc::clone(&stream);
    let mut log = Log::new(io::sink(), Take::Copy);
    let start = Instant::now();
    assert_eq!(log.drain_or_wait(&stream, Duration::from_millis(60)).unwrap(), 0);
    assert!(start.elapsed() >= Duration::from_millis(60));
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        recording.record(&FIRST, (1,));
    });
    assert_eq!(log.drain_or_wait(&stream, Duration::from_secs(900)).unwrap(), 1);
    thread.join().unwrap();
    // No reader waits now, so this event makes no system call to wake a reader.
    stream.record(&FIRST, (2,));
    assert_eq!(log.drain(&stream).unwrap(), 1);
}

#[test]
fn a_flusher_writes_all_stored_events() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let options = StreamOptions { policy: FullPolicy::Flush, ..StreamOptions::default() };
    let stream = Arc::new(Stream::anonymous(&options).unwrap());
    stream.start();
    let log = Log::new(std::fs::File::create(&path).unwrap(), Take::Out);
    let flusher = Flusher::start(Arc::clone(&stream), log).unwrap();
    (0..200_000).for_each(|number| stream.record(&FIRST, (number,)));
    flusher.stop().unwrap();
    let lost = stream.image().status().lost;
    let size = std::fs::metadata(&path).unwrap().len();
    // Each event takes 16 bytes; headers take additional space.
    assert!(size >= (200_000 - lost) * 16, "{size} bytes, {lost} lost");
    assert_eq!(count(&stream), 0);
}

#[test]
fn another_process_with_the_file_records_and_controls() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stream");
    let first = Stream::create(&path, &StreamOptions::default()).unwrap();
    assert!(Stream::create(&path, &StreamOptions::default()).is_err(), "the file exists already");
    let second = Stream::open(&path).unwrap();
    second.start();
    first.record(&FIRST, (1,));
    second.record(&SECOND, (2,));
    assert_eq!(first.image().status().lanes, 2);
    assert_eq!(count(&second), 2);
    assert!(first.is_whole());
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4096).unwrap();
    assert!(!first.is_whole());
    assert!(Stream::open(&path).is_err());
}

#[test]
fn sizes_out_of_range_are_refused() {
    let options = StreamOptions::default();
    for bad in [
        StreamOptions { lanes: 0, ..options },
        StreamOptions { lanes: 4097, ..options },
        StreamOptions { packets: 1, ..options },
        StreamOptions { packet_size: 256, ..options },
        StreamOptions { packet_size: 1001, ..options },
    ] {
        assert!(Stream::anonymous(&bad).is_err(), "{bad:?}");
    }
}
