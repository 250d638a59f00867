//! Tests the committed AIX trace `hooks`. The example program must reproduce the trace, and the
//! content must match the description in `examples/README.md`.

mod aix_support;

#[path = "../examples/hooks/system/mod.rs"]
mod system;

use std::collections::{HashMap, HashSet};

use aix_support::{Event, Log};
use tracewell_wire::aix::{Env, TimeConversion, ids};

const COMMITTED: [&[u8]; 3] = [
    include_bytes!("../../../examples/hooks.twx"),
    include_bytes!("../../../examples/hooks.twx-0"),
    include_bytes!("../../../examples/hooks.twx-1"),
];

fn logs() -> [Log; 3] {
    COMMITTED.map(Log::read)
}

/// Returns the events of both CPUs in time order.
fn merged() -> Vec<Event> {
    let [_, first, second] = logs();
    let mut events = [first.events, second.events].concat();
    events.sort_by_key(|event| (event.head.tick, event.head.cpu));
    events
}

/// Returns the thread and path of an exec entry.
fn exec(event: &Event) -> (u64, &str) {
    let (tid, path) = event.data.split_at(event.head.env.word_bytes());
    let tid = tid.iter().fold(0, |tid, &byte| tid << 8 | u64::from(byte));
    let path = path.strip_suffix(&[0]).expect("a path ends with NUL");
    (tid, std::str::from_utf8(path).unwrap())
}

#[test]
fn the_program_reproduces_the_committed_bytes() {
    for (made, committed) in system::files().iter().zip(COMMITTED) {
        assert!(
            made.1 == committed,
            "examples/hooks.twx{} differs from what its program makes; if that is wanted, run\n\
             cargo run -p tracewell-record --example hooks -- examples/hooks.twx",
            made.0
        );
    }
}

#[test]
fn the_base_has_the_frame_of_the_trace_and_the_cpus_have_the_events() {
    let [base, first, second] = logs();
    assert_eq!(base.short_ids(), ["003", "00A", "001", "002"]);
    assert_eq!(base.events[1].conversion(), Some(base.conversion));
    assert_eq!(base.conversion, TimeConversion { multiplier: 1000, divisor: 512 });
    assert_eq!([base.per_cpu, first.per_cpu, second.per_cpu], [false, true, true]);
    for (cpu, log) in [first, second].into_iter().enumerate() {
        assert!(log.events.iter().all(|event| usize::from(event.head.cpu) == cpu));
        assert!(log.events.is_sorted_by_key(|event| event.head.tick));
    }
    let size: usize = COMMITTED.iter().map(|bytes| bytes.len()).sum();
    assert!(size < 16 * 1024 && merged().len() >= 40, "{size} bytes");
}

#[test]
fn every_kind_of_entry_occurs() {
    let events = merged();
    let forms: HashSet<_> =
        events.iter().map(|event| (event.head.env, event.generic, event.words.len())).collect();
    for (env, generic, words) in [
        (Env::Bits32, false, 0),
        (Env::Bits32, false, 1),
        (Env::Bits32, false, 5),
        (Env::Bits32, true, 1),
        (Env::Bits64, false, 0),
        (Env::Bits64, false, 2),
        (Env::Bits64, false, 3),
        (Env::Bits64, true, 1),
    ] {
        assert!(forms.contains(&(env, generic, words)), "{env:?} {generic} {words}");
    }
    let found: HashSet<_> = events.iter().map(|event| event.id).collect();
    let kernels = [ids::DISPATCH, ids::DISPATCH_IDLE, ids::EXEC, ids::FORK, ids::THREAD_CREATE];
    for id in kernels.into_iter().chain([ids::USER_FIRST, ids::USER_LAST]) {
        assert!(found.contains(&id), "{id}");
    }
}

#[test]
fn events_are_recorded_by_the_thread_dispatched_on_the_cpu() {
    let mut running = HashMap::new();
    for event in merged() {
        if [ids::DISPATCH, ids::DISPATCH_IDLE].contains(&event.id) {
            running.insert(event.head.cpu, (event.words[0], event.words[1]));
        }
        let recorder = (event.head.tid.unwrap(), event.head.pid.unwrap());
        assert_eq!(running.get(&event.head.cpu), Some(&recorder), "{event:?}");
    }
}

#[test]
fn processes_are_forked_first_and_named_by_exec() {
    let mut threads = HashMap::new();
    let mut programs = Vec::new();
    for event in merged() {
        match event.id {
            ids::FORK => {
                threads.insert(event.words[1], event.words[0]);
            }
            ids::THREAD_CREATE => {
                threads.insert(event.words[0], event.words[1]);
            }
            ids::EXEC => {
                let (tid, path) = exec(&event);
                assert_eq!(threads.get(&tid), Some(&event.words[0]));
                assert_eq!((event.head.tid, event.head.pid), (Some(tid), Some(event.words[0])));
                programs.push(path.to_owned());
            }
            _ => {}
        }
    }
    let expected = ["/usr/bin/ksh", "/opt/example/bin/readrec", "/opt/example/bin/sortrec"];
    assert_eq!(programs, expected);
}

#[test]
fn entries_are_missed_once_and_the_loss_is_marked_in_its_place() {
    let [_, first, second] = logs();
    let losses = |log: &Log| {
        let marks = log.events.iter().enumerate().filter(|(_, e)| e.id == ids::BUFFER_WRAP);
        marks.map(|(at, event)| (at, event.words.clone())).collect::<Vec<_>>()
    };
    assert_eq!(losses(&first), []);
    let spilled = second.events.iter().filter(|event| event.id == ids::USER_LAST).count();
    let [(at, words)] = &losses(&second)[..] else { panic!("one loss") };
    assert_eq!(words[..], [1, 60 - spilled as u64]);
    assert_eq!(second.events[at - 1].id, ids::USER_LAST);
    assert_eq!(second.short_ids()[at + 1], "011");
}
