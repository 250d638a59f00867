//! Tests the buffers and the log of AIX trace channels, and the loss marks.

mod aix_support;

use aix_support::{Event, THREAD, counting, drain, short_ids, stopped};
use tracewell_record::aix::{LogFull, Machine, Mode, Options, Outcome, Trace};
use tracewell_record::clock::Clock;
use tracewell_wire::aix::{Env, ids};

const HKWD: u32 = 0x1000_0000;

/// Length of the memory for two alternate buffers of 1 kB each.
const MEMORY: usize = 2048;

fn start<'m, C: Clock>(trace: &mut Trace<'m, C>, memory: &'m mut [u8], options: Options<'m>) {
    assert_eq!(trace.trcstart(THREAD, memory, options).unwrap(), 0);
}

/// Records events, numbered from `first`, until an event is not recorded. Returns the number of
/// recorded events.
fn fill<C: Clock>(trace: &mut Trace<'_, C>, first: u32) -> u32 {
    let recorded = |&number: &u32| trace.trchkl(THREAD, HKWD, [number]) == Outcome::Recorded;
    (first..).take_while(recorded).count() as u32
}

/// Returns the first words of the events with the test's id.
fn numbers(events: &[Event]) -> Vec<u64> {
    let mine = events.iter().filter(|event| event.id.to_string() == "100");
    mine.map(|event| event.words[0]).collect()
}

/// Returns the number of events before each hook 006, and the hook's two words.
fn losses(events: &[Event]) -> Vec<(usize, u64, u64)> {
    let marks = events.iter().enumerate().filter(|(_, event)| event.id == ids::BUFFER_WRAP);
    marks.map(|(at, event)| (at, event.words[0], event.words[1])).collect()
}

#[test]
fn alternate_buffers_lose_nothing_while_they_are_drained() {
    let mut memory = [0; MEMORY];
    let mut trace = Trace::new(counting(), Machine::default());
    start(&mut trace, &mut memory, Options::default());
    let mut log = Vec::new();
    for number in 0..500 {
        assert_eq!(trace.trchkl(THREAD, HKWD, [number]), Outcome::Recorded);
        drain(&mut trace, 0, &mut log);
    }
    log.extend(stopped(&mut trace, 0));
    assert_eq!(numbers(&log), (0..500).collect::<Vec<_>>());
    assert!(log.is_sorted_by(|a, b| a.head.tick <= b.head.tick));
    assert_eq!((losses(&log), log.len()), (vec![], 504));
}

#[test]
fn a_waiting_buffer_does_not_change_while_the_other_fills() {
    let mut memory = [0; MEMORY];
    let mut trace = Trace::new(counting(), Machine::default());
    start(&mut trace, &mut memory, Options::default());
    assert_eq!(trace.waiting(0), None);
    let mut number = 0;
    while trace.waiting(0).is_none() {
        trace.trchkl(THREAD, HKWD, [number]);
        number += 1;
    }
    let before = trace.waiting(0).unwrap().bytes.to_vec();
    fill(&mut trace, number);
    assert_eq!(trace.waiting(0).unwrap().bytes, before);
}

#[test]
fn missed_entries_are_marked_before_the_first_that_is_stored_again() {
    let mut memory = [0; MEMORY];
    let mut trace = Trace::new(counting(), Machine { env: Env::Bits32, ..Machine::default() });
    start(&mut trace, &mut memory, Options::default());
    let first = fill(&mut trace, 0);
    for _ in 0..9 {
        assert_eq!(trace.trchkl(THREAD, HKWD, [999]), Outcome::Missed);
    }
    let mut log = Vec::new();
    drain(&mut trace, 0, &mut log);
    let second = fill(&mut trace, first);
    assert!(first > 20 && second > 10, "{first} {second}");
    drain(&mut trace, 0, &mut log);
    log.extend(stopped(&mut trace, 0));
    // Each `fill` ends with one missed entry, when both buffers are full. So the first loss
    // consists of ten entries: this entry, and the nine of the loop. The second loss is a single
    // entry.
    let first_mark = 3 + first as usize;
    let second_mark = first_mark + 1 + second as usize;
    assert_eq!(losses(&log), [(first_mark, 1, 10), (second_mark, 2, 1)]);
    let stored = u64::from(first + second);
    assert_eq!(numbers(&log), (0..stored).collect::<Vec<_>>());
    let counts = trace.counts(0).unwrap();
    assert_eq!((counts.missed, counts.buffer_wraps, counts.recorded), (11, 2, log.len() as u64));
}

#[test]
fn a_stop_with_full_buffers_still_reports_missed_entries() {
    let mut memory = [0; MEMORY];
    let mut trace = Trace::new(counting(), Machine::default());
    start(&mut trace, &mut memory, Options::default());
    fill(&mut trace, 0);
    let log = stopped(&mut trace, 0);
    assert_eq!(short_ids(&log[log.len() - 3..]), ["100", "006", "002"]);
    assert_eq!(losses(&log), [(log.len() - 2, 1, 1)]);
}

#[test]
fn an_entry_too_large_for_a_buffer_is_missed_and_recording_continues() {
    for mode in [Mode::Alternate, Mode::Circular] {
        let mut memory = [0; MEMORY];
        let mut trace = Trace::new(counting(), Machine::default());
        start(&mut trace, &mut memory, Options { mode, ..Options::default() });
        let large = [0; 4096];
        trace.trchkl(THREAD, HKWD, [1]);
        let hook = tracewell_wire::aix::HookWord32(HKWD).into();
        assert_eq!(trace.trcgen(THREAD, 0, hook, 1, &large), Outcome::Missed);
        trace.trchkl(THREAD, HKWD, [2]);
        let log = stopped(&mut trace, 0);
        assert_eq!(numbers(&log), [1, 2]);
        // A ring has a single mark for all losses, at its front.
        let (at, wraps) = if mode == Mode::Circular { (0, 0) } else { (4, 1) };
        assert_eq!(losses(&log), [(at, wraps, 1)], "{mode:?}");
    }
}

#[test]
fn single_mode_stops_when_the_buffer_is_full() {
    let mut memory = [0; MEMORY];
    let mut trace = Trace::new(counting(), Machine::default());
    start(&mut trace, &mut memory, Options { mode: Mode::Single, ..Options::default() });
    let count = fill(&mut trace, 0);
    assert!(!trace.is_on(0));
    assert_eq!(trace.trchkl(THREAD, HKWD, [999]), Outcome::Off);
    let log = stopped(&mut trace, 0);
    assert_eq!(numbers(&log), (0..u64::from(count)).collect::<Vec<_>>());
    assert_eq!(short_ids(&log[log.len() - 3..]), ["100", "006", "002"]);
    assert_eq!(losses(&log), [(log.len() - 2, 1, 1)]);
}

#[test]
fn a_single_buffer_is_not_drained_before_the_stop() {
    for mode in [Mode::Single, Mode::Circular] {
        let mut memory = [0; MEMORY];
        let mut trace = Trace::new(counting(), Machine::default());
        start(&mut trace, &mut memory, Options { mode, ..Options::default() });
        trace.trchkl(THREAD, HKWD, [0]);
        assert_eq!(trace.waiting(0), None);
        assert!(!trace.drained(0));
        assert_eq!(short_ids(&stopped(&mut trace, 0)), ["003", "00A", "001", "100", "002"]);
    }
}

#[test]
fn circular_mode_keeps_the_newest_entries_and_marks_the_loss_at_the_front() {
    let mut memory = [0; 1024];
    let mut trace = Trace::new(counting(), Machine::default());
    start(&mut trace, &mut memory, Options { mode: Mode::Circular, ..Options::default() });
    for number in 0..1000 {
        assert_eq!(trace.trchkl(THREAD, HKWD, [number]), Outcome::Recorded);
    }
    let log = stopped(&mut trace, 0);
    let kept = numbers(&log);
    assert_eq!(kept, (1000 - kept.len() as u64..1000).collect::<Vec<_>>());
    // The ring has 968 bytes. The frame of an entry has 40 bytes, and the frame of TRACE OFF 48
    // bytes.
    assert!(kept.len() >= 20, "{} kept", kept.len());
    let counts = trace.counts(0).unwrap();
    assert_eq!(losses(&log), [(0, counts.buffer_wraps, counts.overwritten)]);
    assert_eq!(counts.overwritten + kept.len() as u64, 1003);
    assert_eq!(log[0].head.tick, log[1].head.tick);
    assert_eq!(log.last().unwrap().id, ids::TRACE_OFF);
}

#[test]
fn a_full_log_wraps_and_counts_the_wraps() {
    let mut memory = [0; MEMORY];
    let mut trace = Trace::new(counting(), Machine::default());
    // This command makes the header of the log long.
    let command = &[b'x'; 350];
    let options = Options { log_size: Some(4096), command, ..Options::default() };
    start(&mut trace, &mut memory, options);
    let header = trace.header(0).unwrap().length();
    let (mut log, mut restarts) = (Vec::new(), 0);
    for number in 0..500 {
        trace.trchkl(THREAD, HKWD, [number]);
        if let Some(chunk) = trace.waiting(0) {
            if chunk.starts_over {
                restarts += 1;
                log.clear();
            }
            log.extend(chunk.bytes);
            trace.drained(0);
            assert!(header + log.len() <= 4096, "{} bytes", header + log.len());
        }
    }
    let counts = trace.counts(0).unwrap();
    assert!(restarts > 3 && counts.log_wraps - restarts <= 1, "{restarts} {counts:?}");
    let events = aix_support::events(trace.header(0).unwrap().order, &log);
    assert_eq!((events[0].id, &events[0].words[..]), (ids::LOG_WRAP, &[restarts][..]));
    let kept = numbers(&events);
    assert!(kept.windows(2).all(|pair| pair[0] + 1 == pair[1]));
    assert_eq!((counts.missed, counts.overwritten), (0, 0));
}

#[test]
fn a_channel_may_stop_when_the_log_is_full() {
    let mut memory = [0; MEMORY];
    let mut trace = Trace::new(counting(), Machine::default());
    let options = Options { log_size: Some(4096), log_full: LogFull::Stop, ..Options::default() };
    start(&mut trace, &mut memory, options);
    let (mut log, mut number) = (Vec::new(), 0);
    while trace.is_on(0) {
        trace.trchkl(THREAD, HKWD, [number]);
        number += 1;
        drain(&mut trace, 0, &mut log);
    }
    assert_eq!(trace.waiting(0), None);
    assert_eq!(numbers(&log), (0..u64::from(number) - 1).collect::<Vec<_>>());
    assert_eq!(short_ids(&log[log.len() - 2..]), ["006", "002"]);
    let bytes: usize = log.iter().map(|event| 32 + event.bytes.len().next_multiple_of(8)).sum();
    let bytes = bytes + trace.header(0).unwrap().length();
    assert!((4096 - 1024..=4096).contains(&bytes), "{bytes} bytes");
}
