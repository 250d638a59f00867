//! What recording into POSIX trace streams costs, and taking records out of them.

use std::time::Instant;

use tracewell_posix::{Attributes, Error, EventSet, FilterChange, Stream, StreamPolicy, record};

use crate::stream::timed;

/// A stream of this process with the default attributes that runs, and an event type.
///
/// # Errors
/// Where there is no shared memory.
pub fn stream() -> Result<(Stream, u32), Error> {
    let stream = Stream::create(0, &Attributes::default())?;
    stream.core().start();
    Ok((stream, tracewell_posix::define(b"bench")?))
}

/// Nanoseconds of an event with 8 bytes of data.
pub fn events(id: u32) -> f64 {
    timed(|number| record(id, &u64::from(number).to_ne_bytes(), false, 1))
}

/// Nanoseconds of an event that the filter leaves out.
pub fn filtered(stream: &Stream, id: u32) -> f64 {
    let mut set = EventSet::EMPTY;
    set.add(id);
    stream.core().set_filter(&set, FilterChange::Set);
    let spent = events(id);
    stream.core().set_filter(&EventSet::EMPTY, FilterChange::Set);
    spent
}

/// Nanoseconds of an event while the stream is suspended.
pub fn suspended(stream: &Stream, id: u32) -> f64 {
    stream.core().stop();
    let spent = events(id);
    stream.core().start();
    spent
}

/// Events a second that are taken out of a stream.
///
/// # Errors
/// Where there is no shared memory.
pub fn read_back() -> Result<f64, Error> {
    let policy = Some(StreamPolicy::UntilFull);
    let attributes =
        Attributes { stream_size: 1 << 24, stream_policy: policy, ..Default::default() };
    let stream = Stream::create(0, &attributes)?;
    let id = tracewell_posix::define(b"bench")?;
    stream.core().start();
    for number in 0..300_000_u64 {
        record(id, &number.to_ne_bytes(), false, 1);
    }
    stream.core().stop();
    let (start, mut events, mut sum) = (Instant::now(), 0_u32, 0_u64);
    while stream.core().try_next(|_, data| sum = sum.wrapping_add(data[0]))?.is_some() {
        events += 1;
    }
    assert!(events > 300_000, "{events} events");
    std::hint::black_box(sum);
    Ok(f64::from(events) / start.elapsed().as_secs_f64())
}
