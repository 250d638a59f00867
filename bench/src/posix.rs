//! Measures recording into POSIX trace streams and reading from them.

use std::time::Instant;

use tracewell_posix::{
    Attributes, Controller, Error, EventSet, FilterChange, StreamPolicy, record,
};

use crate::stream::timed;

/// Starts a stream of this process with default attributes, and defines an event type.
///
/// # Errors
/// Returns an error if the system has no shared memory left.
pub fn stream() -> Result<(Controller, u32), Error> {
    let controller = Controller::create(0, &Attributes::default())?;
    controller.stream().start();
    Ok((controller, tracewell_posix::define(b"bench")?))
}

/// Returns the time per event with 8 bytes of data, in nanoseconds.
pub fn events(id: u32) -> f64 {
    timed(|number| record(id, &u64::from(number).to_ne_bytes(), false, 1))
}

/// Returns the time, in nanoseconds, that an event takes if the stream's filter excludes it.
pub fn filtered(controller: &Controller, id: u32) -> f64 {
    let mut set = EventSet::EMPTY;
    set.add(id);
    controller.stream().set_filter(&set, FilterChange::Set);
    let spent = events(id);
    controller.stream().set_filter(&EventSet::EMPTY, FilterChange::Set);
    spent
}

/// Returns the time per event while the stream is suspended, in nanoseconds.
pub fn suspended(controller: &Controller, id: u32) -> f64 {
    controller.stream().stop();
    let spent = events(id);
    controller.stream().start();
    spent
}

/// Returns the number of events per second that a reader removes from a stream.
///
/// # Errors
/// Returns an error if the system has no shared memory left.
pub fn read_back() -> Result<f64, Error> {
    let policy = Some(StreamPolicy::UntilFull);
    let attributes =
        Attributes { stream_size: 1 << 24, stream_policy: policy, ..Default::default() };
    let controller = Controller::create(0, &attributes)?;
    let id = tracewell_posix::define(b"bench")?;
    controller.stream().start();
    for number in 0..300_000_u64 {
        record(id, &number.to_ne_bytes(), false, 1);
    }
    controller.stream().stop();
    let (start, mut events, mut sum) = (Instant::now(), 0_u32, 0_u64);
    while controller.stream().try_next(|_, data| sum = sum.wrapping_add(data[0]))?.is_some() {
        events += 1;
    }
    assert!(events > 300_000, "{events} events");
    std::hint::black_box(sum);
    Ok(f64::from(events) / start.elapsed().as_secs_f64())
}
