//! Tests starting, switching, stopping and ending AIX traces.

mod aix_support;

use aix_support::{THREAD, counting, drain, short_ids, stopped};
use tracewell_record::Refused;
use tracewell_record::aix::{
    CHANNELS, ControlError, DISCARDBUFS, Machine, Mode, Options, Outcome, SERIAL, StartError, Trace,
};
use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{Env, TimeConversion};

const HKWD: u32 = 0x1000_0000;

fn machine() -> Machine<'static> {
    Machine {
        env: Env::Bits32,
        order: ByteOrder::Big,
        conversion: TimeConversion { multiplier: 1000, divisor: 512 },
        cpus: 4,
        cpus_traced: 2,
        system: b"AIX 7.3",
        node: b"node",
        machine: b"00EX",
        address: b"192.0.2.1",
    }
}

fn generic() -> Options<'static> {
    Options { generic: true, ..Options::default() }
}

#[test]
fn a_trace_starts_with_heading_time_conversion_and_trace_on() {
    for env in [Env::Bits32, Env::Bits64] {
        let mut memory = [0; 2048];
        let mut trace = Trace::new(counting(), Machine { env, ..machine() });
        let wall_clock_ns = 1_772_442_000_999_999_999;
        let options = Options { command: b"trace -a", wall_clock_ns, ..Options::default() };
        let channel = trace.trcstart(THREAD, &mut memory, options).unwrap();
        let events = stopped(&mut trace, channel);
        assert_eq!(short_ids(&events), ["003", "00A", "001", "002"]);
        assert!(events.iter().all(|event| event.head.env == env));
        assert_eq!(events[0].words, [1_772_442_000]);
        assert_eq!(events[0].data, b"AIX 7.3\0node\x0000EX\x00192.0.2.1\0trace -a\0alternate\0");
        assert_eq!(events[1].conversion(), Some(machine().conversion));
        assert_eq!((events[2].words[0], events[3].words[0]), (0, 0));
    }
}

#[test]
fn the_header_reflects_the_options() {
    let (mut first, mut second) = ([0; 2048], [0; 2048]);
    let mut trace = Trace::new(counting(), machine());
    assert_eq!(trace.header(1), None);
    let options = Options { mode: Mode::Circular, per_cpu: true, wall_clock_ns: 7, ..generic() };
    trace.trcstart(THREAD, &mut first, generic()).unwrap();
    let channel = trace.trcstart(THREAD, &mut second, options).unwrap();
    let header = trace.header(channel).unwrap();
    assert_eq!((header.channel, header.start_tick, header.wall_clock_ns), (2, 2, 7));
    assert_eq!((header.order, header.env), (ByteOrder::Big, Env::Bits32));
    assert_eq!((header.per_cpu, header.circular), (true, true));
    assert_eq!((header.cpus, header.cpus_traced), (4, 2));
    assert_eq!(
        (header.conversion, header.texts.buffering),
        (machine().conversion, &b"circular"[..])
    );
    let other = trace.header(1).unwrap();
    assert_eq!((other.per_cpu, other.circular, other.start_tick), (false, false, 1));
}

#[test]
fn the_log_of_one_cpu_has_only_its_events() {
    let mut memory = [0; 2048];
    let mut trace = Trace::new(counting(), machine());
    let options = Options { per_cpu: true, ..Options::default() };
    let channel = trace.trcstart(THREAD, &mut memory, options).unwrap();
    trace.trchkl(THREAD, HKWD, []);
    trace.trcoff(THREAD, channel).unwrap();
    assert_eq!(trace.trchkl(THREAD, HKWD, []), Outcome::Off);
    assert_eq!(short_ids(&stopped(&mut trace, channel)), ["100"]);
}

#[test]
fn switching_is_recorded_once_and_events_between_are_not() {
    let mut memory = [0; 2048];
    let mut trace = Trace::new(counting(), machine());
    let options = Options { deferred: true, ..Options::default() };
    let channel = trace.trcstart(THREAD, &mut memory, options).unwrap();
    assert!(!trace.is_on(channel));
    assert_eq!(trace.trchkl(THREAD, HKWD, []), Outcome::Off);
    for on in [false, true, true, false, false, true] {
        let switch = if on { Trace::trcon } else { Trace::trcoff };
        assert_eq!(switch(&mut trace, THREAD, channel), Ok(()));
        assert_eq!(trace.is_on(channel), on);
        let outcome = if on { Outcome::Recorded } else { Outcome::Off };
        assert_eq!(trace.trchkl(THREAD, HKWD, []), outcome);
    }
    trace.trcoff(THREAD, channel).unwrap();
    let expected = ["003", "00A", "001", "100", "100", "002", "001", "100", "002"];
    assert_eq!(short_ids(&stopped(&mut trace, channel)), expected);
}

#[test]
fn channels_are_0_and_then_1_to_7() {
    let mut memories = [[0; 2048]; CHANNELS + 2];
    let [event, again, generics @ ..] = &mut memories;
    let mut trace = Trace::new(counting(), machine());
    assert_eq!(trace.trcstart(THREAD, event, Options::default()).unwrap(), 0);
    let refused = trace.trcstart(THREAD, again, Options::default()).unwrap_err();
    assert_eq!(refused.reason, StartError::NoChannel);
    let started = generics.each_mut().map(|memory| trace.trcstart(THREAD, memory, generic()).ok());
    let expected = [1, 2, 3, 4, 5, 6, 7].map(Some);
    assert_eq!((&started[..7], started[7]), (&expected[..], None));
    stopped(&mut trace, 3);
    let memory = trace.finish(3).unwrap();
    assert_eq!(trace.trcstart(THREAD, memory, generic()).unwrap(), 3);
}

#[test]
fn a_refused_start_returns_its_memory_unchanged() {
    let mut trace = Trace::new(counting(), machine());
    let mut memory = [0xEE; 4096];
    let pointer = memory.as_ptr();
    let long = [b'x'; 4096];
    let options = Options { command: &long, ..Options::default() };
    let Refused { reason, memory } = trace.trcstart(THREAD, &mut memory, options).unwrap_err();
    assert_eq!(reason, StartError::TextsTooLong);
    assert_eq!((memory.as_ptr(), &memory[..]), (pointer, &[0xEE; 4096][..]));
}

#[test]
fn the_reported_minimum_of_memory_is_exact() {
    for mode in [Mode::Alternate, Mode::Circular, Mode::Single] {
        for command in [&b""[..], &[b'x'; 300]] {
            let options = Options { mode, command, ..Options::default() };
            let mut trace = Trace::new(counting(), Machine::default());
            let refused = trace.trcstart(THREAD, &mut [], options).unwrap_err();
            let StartError::MemoryTooSmall { needed } = refused.reason else { panic!() };
            let mut memory = vec![0; needed];
            let less = trace.trcstart(THREAD, &mut memory[1..], options).unwrap_err().reason;
            assert_eq!(less, StartError::MemoryTooSmall { needed });
            let mut trace = Trace::new(counting(), Machine::default());
            let channel = trace.trcstart(THREAD, &mut memory, options).unwrap();
            assert_eq!(short_ids(&stopped(&mut trace, channel)), ["003", "00A", "001", "002"]);
        }
    }
}

#[test]
fn a_buffer_is_at_most_half_as_large_as_the_log_or_as_large_in_single_mode() {
    let least = [(Mode::Alternate, 2048), (Mode::Circular, 2 * (2048 - 56)), (Mode::Single, 2048)];
    for (mode, by_rule) in least {
        let mut memory = [0; 2048];
        let mut trace = Trace::new(counting(), Machine::default());
        // In single mode the log must also hold its header.
        let needed = if mode == Mode::Single { by_rule + 96 + 5 + 7 } else { by_rule };
        let options = |size| Options { mode, log_size: Some(size), ..Options::default() };
        let refused = trace.trcstart(THREAD, &mut memory, options(needed - 1)).unwrap_err();
        assert_eq!(refused.reason, StartError::LogTooSmall { needed });
        assert_eq!(trace.trcstart(THREAD, refused.memory, options(needed)).unwrap(), 0);
    }
}

#[test]
fn serial_and_discardbufs_exclude_each_other() {
    let mut memory = [0; 2048];
    let mut trace = Trace::new(counting(), machine());
    let channel = trace.trcstart(THREAD, &mut memory, Options::default()).unwrap();
    let both = trace.trcstop(THREAD, channel | SERIAL | DISCARDBUFS);
    assert_eq!(both, Err(ControlError::Flags));
    assert!(trace.is_on(channel));
    assert_eq!((SERIAL, DISCARDBUFS, ControlError::CODE), (0x4000_0000, 0x2000_0000, -1));
}

#[test]
fn a_serial_stop_is_complete_when_the_log_is() {
    let mut memory = [0; 2048];
    let mut trace = Trace::new(counting(), machine());
    let channel = trace.trcstart(THREAD, &mut memory, generic()).unwrap();
    assert_eq!(trace.trcstop(THREAD, channel | SERIAL), Err(ControlError::Draining));
    assert!(!trace.is_on(channel));
    let mut log = Vec::new();
    drain(&mut trace, channel, &mut log);
    assert_eq!(trace.trcstop(THREAD, channel | SERIAL), Ok(()));
    assert_eq!(short_ids(&log), ["003", "00A", "001", "002"]);
}

#[test]
fn discarded_entries_are_counted_and_never_drained() {
    for mode in [Mode::Alternate, Mode::Circular, Mode::Single] {
        let mut memory = [0; 2048];
        let mut trace = Trace::new(counting(), machine());
        let options = Options { mode, ..Options::default() };
        let channel = trace.trcstart(THREAD, &mut memory, options).unwrap();
        for _ in 0..100 {
            trace.trchkl(THREAD, HKWD, []);
        }
        assert_eq!(trace.trcstop(THREAD, channel | DISCARDBUFS), Ok(()));
        assert_eq!(trace.waiting(channel), None);
        let counts = trace.counts(channel).unwrap();
        assert_eq!(counts.recorded, counts.discarded + counts.overwritten);
        assert!(counts.discarded > 20, "{mode:?}: {counts:?}");
        assert_eq!(trace.finish(channel).unwrap().len(), 2048);
    }
}

#[test]
fn a_channel_can_be_finished_after_it_stopped_and_was_drained() {
    let mut memory = [0; 2048];
    let mut trace = Trace::new(counting(), machine());
    assert_eq!(trace.finish(0), Err(ControlError::NotStarted));
    let channel = trace.trcstart(THREAD, &mut memory, Options::default()).unwrap();
    assert_eq!(trace.finish(channel), Err(ControlError::Running));
    trace.trcstop(THREAD, channel).unwrap();
    assert_eq!(trace.trcstop(THREAD, channel), Ok(()));
    assert_eq!(trace.finish(channel), Err(ControlError::Draining));
    assert_eq!(trace.trcon(THREAD, channel), Err(ControlError::Stopped));
    assert_eq!(trace.trcoff(THREAD, channel), Err(ControlError::Stopped));
    assert_eq!(trace.trchkl(THREAD, HKWD, []), Outcome::Off);
    assert!(trace.drained(channel) && !trace.drained(channel));
    assert_eq!(trace.finish(channel).unwrap().len(), 2048);
    let not_started = Err(ControlError::NotStarted);
    assert_eq!(trace.trcstop(THREAD, channel), not_started);
    assert_eq!(trace.trcon(THREAD, 8), not_started);
    assert_eq!(trace.trcoff(THREAD, u32::MAX), not_started);
    assert_eq!((trace.waiting(channel), trace.counts(channel)), (None, None));
}
