//! What an event of the crate `tracing` costs when its layer records it into a stream, beside an event of the
//! stream itself.
//!
//! The time has two parts: `tracing` finds its subscriber and hands the event to the layer, and the layer
//! records. A layer that does nothing shows the first part.

use std::io;
use std::sync::{Arc, Barrier};
use std::time::Instant;

use tracewell_record::stream::{Stream, StreamOptions};
use tracewell_tracing::StreamLayer;
use tracing::Dispatch;
use tracing_subscriber::layer::{Layer, SubscriberExt};

/// Events between two looks at the clock: a few hundred microseconds, as in `stream`.
const EVENTS: u32 = 5_000;

/// Nanoseconds of an event.
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

/// A subscriber whose layer records into a stream.
///
/// # Errors
/// Where there is no memory.
pub fn recording() -> io::Result<Dispatch> {
    let stream = Arc::new(Stream::anonymous(&StreamOptions::default())?);
    stream.start();
    Ok(Dispatch::new(tracing_subscriber::registry().with(StreamLayer::new(stream))))
}

/// A subscriber whose layer does nothing.
pub fn silent() -> Dispatch {
    Dispatch::new(tracing_subscriber::registry().with(Nothing))
}

/// Nanoseconds of an event with two numbers.
pub fn events(subscriber: &Dispatch) -> f64 {
    tracing::dispatcher::with_default(subscriber, || {
        timed(|number| tracing::info!(first = number, second = 2_u32))
    })
}

/// Nanoseconds of an event with a number and a text.
pub fn texts(subscriber: &Dispatch) -> f64 {
    tracing::dispatcher::with_default(subscriber, || {
        timed(|number| tracing::info!(first = number, "a text"))
    })
}

/// The same as [`events`] by four threads at a time, the mean of them.
pub fn events_of_four(subscriber: &Dispatch) -> f64 {
    of_four(&|| events(subscriber))
}

/// An event of a stream by four threads at a time, the mean of them.
pub fn stream_events_of_four(stream: &Stream) -> f64 {
    of_four(&|| crate::stream::events(stream))
}

fn of_four(run: &(dyn Fn() -> f64 + Sync)) -> f64 {
    let barrier = Barrier::new(4);
    let run = || {
        // The thread's lane goes round once, so that its pages are there.
        run();
        barrier.wait();
        run()
    };
    std::thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(run));
        threads.map(|thread| thread.join().unwrap_or(f64::NAN)).into_iter().sum::<f64>() / 4.0
    })
}
