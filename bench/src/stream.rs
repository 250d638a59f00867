//! Measures the time to record into Tracewell's own streams, and separately the time to read only
//! the cycle counter.

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::time::Instant;

use tracewell_record::clock::counter;
use tracewell_record::stream::{
    EventType, Family, Flusher, FullPolicy, Log, Stream, StreamOptions, Take,
};

const FAMILY: Family = Family::new(0, "bench");
static PAIR: EventType<(u32, u32)> = EventType::new(FAMILY, "pair", &["first", "second"]);

/// Events per measurement: enough for half a millisecond, so that most measurements are not
/// interrupted on a busy machine.
pub const EVENTS: u32 = 50_000;

/// Returns the time per event in nanoseconds.
pub(crate) fn timed(mut event: impl FnMut(u32)) -> f64 {
    let start = Instant::now();
    for number in 0..EVENTS {
        event(number);
    }
    start.elapsed().as_nanos() as f64 / f64::from(EVENTS)
}

/// Returns the time that one reading of the counter takes, in nanoseconds.
pub fn counter_reads() -> f64 {
    timed(|_| {
        black_box(counter::read());
    })
}

/// Returns the time of reading the counter and storing 32 bytes, in nanoseconds.
pub fn counter_and_stores(memory: &mut [[u64; 4]]) -> f64 {
    let slots = memory.len() as u32;
    let spent = timed(|number| {
        memory[(number % slots) as usize] = [counter::read(), 1, u64::from(number), 2];
    });
    black_box(memory);
    spent
}

/// Returns a started stream in which the event type `PAIR` is already defined.
///
/// # Errors
/// Returns an error if the stream cannot be created.
pub fn stream() -> io::Result<Stream> {
    let stream = Stream::anonymous(&StreamOptions::default())?;
    stream.start();
    stream.record(&PAIR, (0, 0));
    Ok(stream)
}

/// Returns the time per event with two fields of 32 bits, in nanoseconds.
pub fn events(stream: &Stream) -> f64 {
    timed(|number| stream.record(&PAIR, (number, 2)))
}

/// Returns the mean of [`events`] over two threads that record at the same time.
pub fn events_of_two(stream: &Stream) -> f64 {
    let barrier = Barrier::new(2);
    of_two(&|| {
        // The first run wraps the thread's lane once, so that its pages are mapped.
        events(stream);
        barrier.wait();
        events(stream)
    })
}

/// Runs [`counter_reads`] on two threads in parallel and returns the mean of their results.
pub fn counter_reads_of_two() -> f64 {
    let barrier = Barrier::new(2);
    of_two(&|| {
        barrier.wait();
        counter_reads()
    })
}

fn of_two(run: &(dyn Fn() -> f64 + Sync)) -> f64 {
    std::thread::scope(|scope| {
        let threads = [scope.spawn(run), scope.spawn(run)];
        threads.map(|thread| thread.join().unwrap_or(f64::NAN)).into_iter().sum::<f64>() / 2.0
    })
}

/// Returns the time per event while the stream is suspended, in nanoseconds.
pub fn suspended(stream: &Stream) -> f64 {
    stream.stop();
    let spent = events(stream);
    stream.start();
    spent
}

/// Returns the time per excluded event in nanoseconds: first with a filter that excludes the family
/// of the events, then with a filter that excludes their id.
pub fn filtered(stream: &Stream) -> (f64, f64) {
    stream.image().set_family_filter(FAMILY.bit());
    let by_family = events(stream);
    stream.image().set_family_filter(0);
    let id = PAIR.define(&stream.image()).expect("a stream has room for a type");
    stream.image().set_filtered(id, true);
    let by_id = events(stream);
    stream.image().set_filtered(id, false);
    (by_family, by_id)
}

/// The result of [`flush`].
#[derive(Clone, Copy, Debug)]
pub struct Flushed {
    /// Events recorded or lost per second.
    pub attempted: f64,
    /// Events written to the file per second. The time includes closing the file.
    pub stored: f64,
    /// Events in the file.
    pub events: u64,
    /// Events counted as lost.
    pub lost: u64,
}

/// Records `events` events at full speed while a thread flushes them to a file.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn flush(path: &Path, events: u32) -> io::Result<Flushed> {
    let options = StreamOptions { policy: FullPolicy::Flush, packets: 64, ..Default::default() };
    let stream = Arc::new(Stream::anonymous(&options)?);
    stream.start();
    let log = Log::new(File::create(path)?, Take::Out);
    let flusher = Flusher::start(Arc::clone(&stream), log)?;
    let start = Instant::now();
    for number in 0..events {
        stream.record(&PAIR, (number, 2));
    }
    let recorded = start.elapsed().as_secs_f64();
    flusher.stop().map_err(|error| error.error)?;
    let closed = start.elapsed().as_secs_f64();
    let lost = stream.image().status().lost;
    let stored = u64::from(events) - lost;
    Ok(Flushed {
        attempted: f64::from(events) / recorded,
        stored: stored as f64 / closed,
        events: stored,
        lost,
    })
}
