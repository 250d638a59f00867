//! Tests that the example program `scheduling` reproduces the committed trace, and that the trace
//! follows the rules of the kernel.

mod support;

#[path = "../examples/scheduling/simulation/mod.rs"]
mod simulation;

use std::collections::HashMap;

use support::Image;
use tracewell_wire::threadx::{Event, PriorityWord, context};

const COMMITTED: &[u8] = include_bytes!("../../../examples/scheduling.trx");

const RESUME: u16 = 1;
const SUSPEND: u16 = 2;
const MUTEX_GET: u16 = 52;
const MUTEX_PUT: u16 = 57;
const MUTEX_WAIT: u64 = 13;

fn address_of(name: &str) -> u64 {
    let slots = Image::read(COMMITTED).slots();
    slots.iter().find(|slot| slot.name == name.as_bytes()).expect("registered").pointer
}

fn is_thread(event: &Event) -> bool {
    ![context::INTERRUPT, context::INITIALIZATION].contains(&event.context)
}

/// The control thread waits for the mutex `log file` several times. For each wait, returns the
/// events between the thread's suspension and its resumption.
fn waits_for_log_file(events: &[Event]) -> Vec<&[Event]> {
    let (control, log_file) = (address_of("control"), address_of("log file"));
    let gets = (0..events.len() - 1).filter(|&at| {
        let [get, suspend] = [events[at], events[at + 1]];
        (get.id(), get.context, get.info[0]) == (MUTEX_GET, control, log_file)
            && (suspend.id(), suspend.info[0], suspend.info[1]) == (SUSPEND, control, MUTEX_WAIT)
    });
    gets.map(|at| {
        let wait = &events[at + 2..];
        let resumed = |event: &Event| event.id() == RESUME && event.info[0] == control;
        &wait[..wait.iter().position(resumed).unwrap_or(wait.len())]
    })
    .collect()
}

#[test]
fn the_program_records_the_committed_bytes() {
    assert!(
        simulation::image(&simulation::example()) == COMMITTED,
        "examples/scheduling.trx differs from what its program records; if that is intended, run\n\
         cargo run -p tracewell-record --example scheduling -- examples/scheduling.trx"
    );
}

#[test]
fn the_trace_is_complete_small_and_has_every_kind_of_event() {
    let image = Image::read(COMMITTED);
    let (events, ids) = (image.events(), image.ids());
    assert!(COMMITTED.len() <= 64 * 1024);
    assert!((300..1500).contains(&events.len()), "{} events", events.len());
    assert!(events.len() < image.event_slots().len(), "the ring did not wrap");
    assert!(events.is_sorted_by(|a, b| a.stamp <= b.stamp));
    for id in [1, 2, 3, 4, 6, 30, 32, 36, 50, 52, 57, 60, 68, 69, 81, 83, 88, 100, 112, 120, 124]
        .into_iter()
        .chain(4096..=4100)
    {
        assert!(ids.contains(&id), "no event {id}");
    }
}

/// Information word 4 of a resume or suspend event contains the thread that runs next. Checks that
/// this thread records the next event.
#[test]
fn the_next_thread_of_resumes_and_suspends_records_next() {
    let events = Image::read(COMMITTED).events();
    let mut next = None;
    for (index, event) in events.iter().enumerate() {
        if let (Some(next), PriorityWord::Interrupted(thread)) = (next, event.priority()) {
            // Within an interrupt routine, the interrupted thread remains the same, even if other
            // threads are resumed.
            if event.id() == 3 {
                assert_eq!(thread, next, "event {index}");
            }
        } else if let (Some(next), true) = (next, is_thread(event)) {
            // The events of a priority change come from the thread that makes the change, not from
            // `next`.
            let changing = [RESUME, SUSPEND].contains(&event.id()) && event.info[1] == 14;
            assert!(changing || event.context == next, "event {index}");
        }
        if [RESUME, SUSPEND].contains(&event.id()) {
            next = Some(event.info[3]);
        }
    }
}

#[test]
fn mutex_events_show_owner_and_count_before_the_call_acts() {
    let mut holders: HashMap<u64, (u64, u64)> = HashMap::new();
    let mut waiting = HashMap::new();
    for event in Image::read(COMMITTED).events() {
        let [mutex, second, third, fourth] = event.info;
        let holder = holders.entry(mutex).or_default();
        match event.id() {
            MUTEX_GET => {
                assert_eq!((third, fourth), *holder);
                match *holder {
                    (owner, count) if owner == event.context || count == 0 => {
                        *holder = (event.context, count + 1);
                    }
                    _ => {
                        assert_eq!(waiting.insert(mutex, event.context), None);
                    }
                }
            }
            MUTEX_PUT => {
                assert_eq!((second, third), *holder);
                let mut handed_over = || waiting.remove(&mutex).map_or((0, 0), |next| (next, 1));
                *holder = if third == 1 { handed_over() } else { (second, third - 1) };
            }
            _ => {}
        }
    }
}

#[test]
fn a_less_urgent_thread_without_the_mutex_runs_while_control_waits() {
    let events = Image::read(COMMITTED).events();
    let waits = waits_for_log_file(&events);
    assert!(waits.len() > 1, "{} waits", waits.len());
    let telemetry = address_of("telemetry");
    let inverted =
        waits.iter().filter(|wait| wait.iter().any(|event| event.context == telemetry)).count();
    assert!(inverted >= 1, "telemetry ran in none of {} waits", waits.len());
    assert!(inverted < waits.len(), "every wait has a priority inversion");
}

#[test]
fn the_owner_of_the_bus_inherits_a_priority_and_loses_it_again() {
    let logger = address_of("logger");
    let events = Image::read(COMMITTED).events();
    let mut priorities: Vec<_> = events
        .iter()
        .filter(|event| event.context == logger)
        .map(|event| match event.priority() {
            PriorityWord::Thread { priority, .. } => priority,
            _ => unreachable!("a thread's context has a priority"),
        })
        .collect();
    priorities.dedup();
    assert!(priorities.starts_with(&[20, 8, 20]), "{priorities:?}");
}
