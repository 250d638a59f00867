//! Tests addresses that several objects used in turn. The reader gives each event and argument of a
//! ThreadX dump the name of the object that existed at that time, or no name.

#[path = "support/dump.rs"]
mod dump;
mod support;

use dump::{Dump, USUAL, event, thread};
use support::{EventLog, fixture, read, settings};
use tracewell::input::Input;
use tracewell::model::Trace;
use tracewell_wire::threadx::Event;

/// Returns the name of an event's context.
fn context(trace: &Trace, kept: &EventLog, seq: usize) -> String {
    trace.contexts.get(kept.rows[seq].context).unwrap().name.clone()
}

/// Returns the name of an argument of event `seq`: the name of the object of this kind that existed
/// at that time.
fn named(
    trace: &Trace,
    kept: &EventLog,
    seq: usize,
    (index, kind): (usize, u32),
) -> Option<String> {
    let row = &kept.rows[seq];
    let key = trace.payload.argument(&row.payload, index).unwrap();
    trace.objects.at(key, row.ticks, Some(kind)).map(|(_, object)| object.label.clone())
}

const THREAD: u32 = 1;
const QUEUE: u32 = 3;
const SEMAPHORE: u32 = 4;
const MUTEX: u32 = 5;

#[test]
fn contexts_of_one_address_have_the_names_of_their_lives() {
    let (trace, kept) = read(&fixture("threadx/two-slots.trx"), &[]);
    // The event `thread_identify` of each lifetime, which the thread itself records.
    assert_eq!(context(&trace, &kept, 10), "first A");
    assert_eq!(context(&trace, &kept, 47), "second A");
    assert_eq!(context(&trace, &kept, 50), "second B");
    // A thread suspends itself: context and argument are the same.
    for seq in [12, 23, 49, 52, 60, 66] {
        let argument = named(&trace, &kept, seq, (0, THREAD));
        assert_eq!(argument.as_deref(), Some(context(&trace, &kept, seq).as_str()), "event {seq}");
    }
    let distinct = kept.rows[10].context != kept.rows[47].context;
    assert!(distinct, "two threads are two contexts");
}

#[test]
fn an_address_does_not_name_an_object_of_another_kind() {
    let (trace, kept) = read(&fixture("threadx/two-slots.trx"), &[]);
    for (seq, kind) in [(76, SEMAPHORE), (77, SEMAPHORE), (79, QUEUE), (80, QUEUE), (82, MUTEX)] {
        assert_eq!(named(&trace, &kept, seq, (0, kind)), None, "event {seq}");
    }
    let timer = kept.rows.iter().position(|row| row.id == 124).unwrap();
    assert_eq!(named(&trace, &kept, timer, (0, 2)).as_deref(), Some("un timer"));
}

#[test]
fn an_object_whose_registry_slot_was_reused_has_no_name() {
    let (trace, kept) = read(&fixture("threadx/one-slot.trx"), &[]);
    // The slot of 0x568CF1D4 has the name of its fourth thread, created at tick 243035837.
    let (early, late): (Vec<_>, Vec<_>) = kept
        .rows
        .iter()
        .filter(|row| trace.contexts.get(row.context).unwrap().key == 0x568C_F1D4)
        .partition(|row| row.ticks < 243_035_837);
    assert_eq!((early.len(), late.len()), (12, 4));
    for row in early {
        assert_eq!(trace.contexts.get(row.context).unwrap().name, "thread 0x568CF1D4");
    }
    for row in late {
        assert_eq!(trace.contexts.get(row.context).unwrap().name, r"delta\tTab");
    }
    assert_eq!(named(&trace, &kept, 4, (0, THREAD)).as_deref(), Some("thread 0x568CF1D4"));
}

/// A dump of these objects and events, oldest first.
fn dump_of(objects: &[(u64, &'static str)], events: Vec<Event>) -> Dump {
    let objects = objects.iter().map(|(pointer, name)| thread(*pointer, name)).collect();
    let next = events.len();
    Dump::new(USUAL, objects, [events, vec![Event::UNUSED]].concat(), next)
}

fn read_dump(dump: &Dump) -> (Trace, EventLog) {
    let mut kept = EventLog::default();
    let mut input = Input::from_bytes("dump", dump.bytes(), settings(&[])).unwrap();
    let trace = input.read(&mut kept).unwrap();
    (trace, kept)
}

#[test]
fn the_last_creation_belongs_to_the_thread_that_is_alive() {
    let created = |stamp: u64, priority: u64| {
        let info = [0x2100_0000, priority, 0x1000, 512];
        Event { info, ..event(0x2200_0000, 100, stamp) }
    };
    // The ring lost the creation of the first thread at this address.
    let events = vec![event(0x2100_0000, 103, 10), created(20, 7), event(0x2100_0000, 103, 30)];
    let mut dump =
        dump_of(&[(0x2200_0000, "maker"), (0x2100_0000, "old"), (0x2100_0000, "new")], events);
    dump.objects[1].available = 1;
    let (trace, kept) = read_dump(&dump);
    assert_eq!(context(&trace, &kept, 0), "old");
    assert_eq!(context(&trace, &kept, 2), "new");
}

#[test]
fn a_thread_that_two_dumps_record_as_alive_keeps_its_name() {
    let (thread_key, other) = (0x2100_0000, 0x2200_0000);
    let events = [10, 20, 30].map(|stamp| event(thread_key, 103, stamp));
    let dump = |second: (u64, &'static str), used: usize| {
        let objects = vec![thread(thread_key, "one"), thread(second.0, second.1)];
        let mut slots = events[..used].to_vec();
        slots.resize(4, Event::UNUSED);
        Dump::new(USUAL, objects, slots, used).bytes()
    };
    // In the later registry, both slots have the same address. Only damage can cause this.
    let bytes = [dump((other, "other"), 2), dump((thread_key, "two"), 3)].concat();
    let mut kept = EventLog::default();
    let trace = Input::from_bytes("dumps", bytes, settings(&[])).unwrap().read(&mut kept).unwrap();
    assert_eq!(kept.rows.len(), 3);
    assert!((0..3).all(|seq| context(&trace, &kept, seq) == "one"));
}

#[test]
fn an_object_whose_parameters_differ_from_a_creation_is_not_the_one_created() {
    let created = |stamp: u64, priority: u64| {
        let info = [0x2100_0000, priority, 0x1000, 512];
        Event { info, ..event(0x2200_0000, 100, stamp) }
    };
    let deleted = Event { info: [0x2100_0000, 0, 0, 0], ..event(0x2200_0000, 101, 40) };
    let events = vec![
        created(10, 9),
        event(0x2100_0000, 103, 20),
        deleted,
        created(50, 7),
        event(0x2100_0000, 103, 60),
    ];
    let dump = dump_of(&[(0x2200_0000, "maker"), (0x2100_0000, "seven")], events);
    let (trace, kept) = read_dump(&dump);
    assert_eq!(context(&trace, &kept, 1), "thread 0x21000000");
    assert_eq!(context(&trace, &kept, 4), "seven");
}

#[test]
fn lives_of_one_address_name_and_stack_are_one_context() {
    let (trace, kept) = read(&fixture("threadx/one-slot.trx"), &[]);
    let mut contexts: Vec<_> = kept.rows.iter().map(|row| row.context).collect();
    contexts.sort();
    contexts.dedup();
    let unnamed = contexts.iter().filter(|id| trace.contexts.get(**id).unwrap().key == 0x568C_F1D4);
    assert_eq!(unnamed.count(), 2, "one for three unnamed lives and one for the named life");
}
