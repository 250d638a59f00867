//! Tests for how long tasks hold a mutex if its events say how often the owner holds it.

#[path = "support/dump.rs"]
mod dump;
mod support;

use dump::{Dump, USUAL, event, thread};
use support::settings;
use tracewell::analysis::tracks::{Holder, TrackBuilder};
use tracewell::input::Input;
use tracewell_wire::threadx::{Event, RegistrySlot};

const A: u64 = 0x2100_0000;
const B: u64 = 0x2100_0100;
const MUTEX: u64 = 0x2200_0000;
const GET: u64 = 52;
const PUT: u64 = 57;
const RUNNING: u64 = 6;

/// Returns a request of a thread at a time. The owner holds the mutex `count` times before.
fn get(thread: u64, owner: u64, count: u64, stamp: u64) -> Event {
    Event { info: [MUTEX, 0, owner, count], ..event(thread, GET, stamp) }
}

fn put(thread: u64, owner: u64, count: u64, stamp: u64) -> Event {
    Event { info: [MUTEX, owner, count, 0], ..event(thread, PUT, stamp) }
}

/// Returns the number, the sum and the maximum of the holds of the mutex. Checks that the row of
/// its holders shows the same.
fn holds(events: Vec<Event>) -> (u64, u64, u64) {
    let mutex = RegistrySlot { object_type: 5, ..thread(MUTEX, "file") };
    let count = events.len();
    let dump = Dump::new(USUAL, vec![thread(A, "alpha"), thread(B, "beta"), mutex], events, count);
    let mut input = Input::from_bytes("dump.trx", dump.bytes(), settings(&[])).unwrap();
    let mut builder = TrackBuilder::default();
    let trace = input.read(&mut builder).unwrap();
    let tracks = builder.finish(&trace);
    let hold = tracks.figures.resources[0].figures.hold;
    let found = (hold.count, hold.sum(), hold.max);
    let lengths: Vec<u64> = tracks.locks[0]
        .holder
        .spans(0..trace.span, trace.span)
        .filter(|span| matches!(span.state, Holder::Context(_)))
        .map(|span| span.ticks())
        .collect();
    let longest = lengths.iter().copied().max().unwrap_or(0);
    assert_eq!((lengths.len() as u64, lengths.iter().sum(), longest), found);
    found
}

#[test]
fn a_mutex_that_is_locked_twice_is_held_until_the_last_unlock() {
    let events = vec![get(A, 0, 0, 100), get(A, A, 1, 110), put(A, A, 2, 120), put(A, A, 1, 150)];
    assert_eq!(holds(events), (1, 50, 50));
}

#[test]
fn a_request_for_a_mutex_that_another_thread_has_held_since_before_the_trace_is_no_hold() {
    let events = vec![
        get(B, A, 1, 100),
        event(A, RUNNING, 110),
        put(A, A, 1, 120),
        get(B, 0, 0, 140),
        put(B, B, 1, 170),
    ];
    assert_eq!(holds(events), (1, 30, 30));
}
