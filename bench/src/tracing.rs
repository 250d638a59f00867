//! Measures events of the crate `tracing` that a layer records into a stream.
//!
//! The time has two parts: `tracing` finds its subscriber and passes the event to the layer, and
//! the layer records it. A run with a layer that does nothing measures the first part.

use std::io;
use std::sync::{Arc, Barrier};
use std::time::Instant;

use tracewell_record::stream::{Stream, StreamOptions};
use tracewell_tracing::StreamLayer;
use tracing::Dispatch;
use tracing_subscriber::layer::{Layer, SubscriberExt};

/// Events per measurement: enough for a few hundred microseconds, so that most measurements are not
/// interrupted on a busy machine.
const EVENTS: u32 = 5_000;

/// Returns the time per event in nanoseconds.
fn timed(mut event: impl FnMut(u32)) -> f64 {
    let start = Instant::now();
    for number in 0..EVENTS {
        event(number);
    }
    start.elapsed().as_nanos() as f64 / f64::from(EVENTS)
}

/// A layer that records nothing.
struct Nothing;

impl<S: tracing::Subscriber> Layer<S> for Nothing {}

/// Returns a subscriber whose layer records into a new stream.
///
/// # Errors
/// Returns an error if the stream cannot be created.
pub fn recording() -> io::Result<Dispatch> {
    let stream = Arc::new(Stream::anonymous(&StreamOptions::default())?);
    stream.start();
    Ok(Dispatch::new(tracing_subscriber::registry().with(StreamLayer::new(stream))))
}

/// Returns a subscriber whose layer does nothing.
pub fn silent() -> Dispatch {
    Dispatch::new(tracing_subscriber::registry().with(Nothing))
}

/// Returns the time for an event with two numbers, in nanoseconds.
pub fn events(subscriber: &Dispatch) -> f64 {
    tracing::dispatcher::with_default(subscriber, || {
        timed(|number| tracing::info!(first = number, second = 2_u32))
    })
}

/// Returns the time for an event with a number and a string, in nanoseconds.
pub fn texts(subscriber: &Dispatch) -> f64 {
    tracing::dispatcher::with_default(subscriber, || {
        timed(|number| tracing::info!(first = number, "a text"))
    })
}

/// Returns the mean of [`events`] over four threads that record at the same time.
pub fn events_of_four(subscriber: &Dispatch) -> f64 {
    of_four(&|| events(subscriber))
}

/// Records events of a stream on four threads at the same time, and returns the mean time per
/// event.
pub fn stream_events_of_four(stream: &Stream) -> f64 {
    of_four(&|| crate::stream::events(stream))
}

fn of_four(run: &(dyn Fn() -> f64 + Sync)) -> f64 {
    let barrier = Barrier::new(4);
    let run = || {
        // The first run wraps the thread's lane once, so that its pages are mapped.
        run();
        barrier.wait();
        run()
    };
    std::thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(run));
        threads.map(|thread| thread.join().unwrap_or(f64::NAN)).into_iter().sum::<f64>() / 4.0
    })
}
