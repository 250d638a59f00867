//! Tests for how long threads of ThreadX hold a mutex or wait for it: their events say how often
//! the owner holds the mutex, and which thread deletes another thread.

#[path = "support/dump.rs"]
mod dump;
mod support;

use dump::{Dump, USUAL, event, thread};
use support::settings;
use tracewell::analysis::tracks::{Holder, State, TrackBuilder, Tracks};
use tracewell::input::Input;
use tracewell::model::{ContextId, Trace};
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

/// Returns an event with which a thread resumes another one, which runs from then on.
fn resume(thread: u64, other: u64, stamp: u64) -> Event {
    Event { info: [other, 0, 0, other], ..event(thread, 1, stamp) }
}

/// Returns an event with which a thread suspends itself, and another one runs from then on.
fn suspend(thread: u64, next: u64, stamp: u64) -> Event {
    Event { info: [thread, 13, 0, next], ..event(thread, 2, stamp) }
}

/// Returns an event with which a thread deletes an object.
fn delete(thread: u64, id: u64, object: u64, stamp: u64) -> Event {
    Event { info: [object, 0, 0, 0], ..event(thread, id, stamp) }
}

const THREAD_DELETE: u64 = 101;
const MUTEX_DELETE: u64 = 51;

fn tracks(events: Vec<Event>) -> (Trace, Tracks) {
    let mutex = RegistrySlot { object_type: 5, ..thread(MUTEX, "file") };
    let count = events.len();
    let dump = Dump::new(USUAL, vec![thread(A, "alpha"), thread(B, "beta"), mutex], events, count);
    let mut input = Input::from_bytes("dump.trx", dump.bytes(), settings(&[])).unwrap();
    let mut builder = TrackBuilder::default();
    let trace = input.read(&mut builder).unwrap();
    let tracks = builder.finish(&trace);
    (trace, tracks)
}

/// Returns the number, the sum and the maximum of the holds of the mutex. Checks that the row of
/// its holders shows the same.
fn holds(events: Vec<Event>) -> (u64, u64, u64) {
    let (trace, tracks) = tracks(events);
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

fn context(trace: &Trace, thread: u64) -> ContextId {
    trace.contexts.find(thread).unwrap()
}

/// The event names the deleted thread as its object. Its subject is the thread that deletes.
#[test]
fn the_wait_of_a_deleted_thread_ends_and_the_thread_that_deletes_it_keeps_the_mutex() {
    let (trace, tracks) = tracks(vec![
        get(B, 0, 0, 0),
        resume(B, A, 10),
        get(A, B, 1, 20),
        suspend(A, B, 30),
        delete(B, THREAD_DELETE, A, 100),
        put(B, B, 1, 200),
        event(B, RUNNING, 900),
    ]);
    let figures = tracks.figures.resources[0].figures;
    assert_eq!((figures.wait.count, figures.wait.max), (1, 80));
    assert_eq!((figures.hold.count, figures.hold.max), (1, 200));
    let [wait] = tracks.locks[0].waits.as_slice() else { panic!("{:?}", tracks.locks) };
    assert_eq!((wait.context, wait.until.unwrap().ticks), (context(&trace, A), 100));
    let states = tracks.context(context(&trace, A)).unwrap().changes();
    assert_eq!(states.last().map(|last| (last.at.ticks, last.state)), Some((100, State::Deleted)));
}

#[test]
fn it_is_unknown_who_holds_the_mutex_of_a_deleted_thread() {
    let (_, tracks) = tracks(vec![
        get(A, 0, 0, 0),
        event(A, RUNNING, 5),
        suspend(A, B, 10),
        delete(B, THREAD_DELETE, A, 100),
        event(B, RUNNING, 900),
    ]);
    assert_eq!(tracks.figures.resources[0].figures.hold.count, 0);
    let last = tracks.locks[0].holder.changes().last();
    assert_eq!(last.map(|last| (last.at.ticks, last.state)), Some((100, Holder::Unknown)));
}

/// A thread is preempted as before after it has deleted something.
#[test]
fn a_thread_that_deletes_an_object_is_not_deleted() {
    for (id, object) in [(MUTEX_DELETE, MUTEX), (THREAD_DELETE, A + 0x800)] {
        let (trace, tracks) = tracks(vec![
            event(B, RUNNING, 0),
            delete(B, id, object, 10),
            resume(B, A, 20),
            event(A, RUNNING, 30),
        ]);
        let mut tasks = tracks.figures.tasks.iter();
        let deleter = tasks.find(|task| task.context == context(&trace, B)).unwrap();
        assert_eq!(deleter.preemptions.unwrap().count, 1, "{id}");
    }
}
