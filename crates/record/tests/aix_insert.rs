//! Tests the entries that each AIX trace call records, and the conditions under which it records no
//! entry.

mod aix_support;

use aix_support::{Event, THREAD, counting, short_ids, stopped};
use tracewell_record::aix::{Context, EventList, Machine, Options, Outcome, Trace};
use tracewell_record::clock::{Clock, Masked};
use tracewell_wire::aix::{
    EntryError, Env, HookId, HookType, HookWord32, HookWord64, MAX_DATA_LENGTH,
};

const ID: HookId = HookId::short(0x100);
const PLAIN: HookWord32 = HookWord32(0x1001_0000);
const GENERIC: HookWord32 = HookWord32(0x1000_0000);

/// Returns the entries that `act` records on channel 0, without the start and stop entries.
fn recorded<C: Clock>(clock: C, act: impl FnOnce(&mut Trace<'_, C>)) -> Vec<Event> {
    let mut memory = [0; 4 * 5000];
    let mut trace = Trace::new(clock, Machine::default());
    let channel = trace.trcstart(THREAD, &mut memory, Options::default()).unwrap();
    act(&mut trace);
    let events = stopped(&mut trace, channel);
    assert_eq!(short_ids(&events[..3]), ["003", "00A", "001"]);
    assert_eq!(events.last().unwrap().id.to_string(), "002");
    events[3..events.len() - 1].to_vec()
}

#[test]
fn trchook_records_as_many_words_as_its_type_holds() {
    let words = [1, 2, 3, 4, 0xFFFF_FFFF];
    let types = [
        (HookType::Trchk, 0),
        (HookType::Trchklt, 1),
        (HookType::Trchkg, 5),
        (HookType::Trchkgt, 5),
    ];
    let events = recorded(counting(), |trace| {
        for (hook_type, _) in types {
            let hook = HookWord32::new(ID, hook_type, 0xBEEF);
            assert_eq!(trace.trchook(THREAD, hook, words), Outcome::Recorded);
        }
    });
    for (event, (hook_type, count)) in events.iter().zip(types) {
        assert_eq!(event.hook, HookWord32::new(ID, hook_type, 0xBEEF).into());
        assert_eq!(event.words, words.map(u64::from)[..count]);
    }
    assert_eq!(events.len(), types.len());
}

#[test]
fn trchook64_records_the_words_that_its_length_asks_for() {
    let words = [1, 2, 3, 4, u64::MAX];
    let events = recorded(counting(), |trace| {
        for count in 0..=5 {
            let hook = HookWord64::plain(HookId(0x1001), 9, count);
            assert_eq!(trace.trchook64(THREAD, hook, words), Outcome::Recorded);
        }
    });
    assert_eq!(events.len(), 6);
    for (count, event) in events.iter().enumerate() {
        assert_eq!((event.head.env, event.id), (Env::Bits64, HookId(0x1001)));
        assert_eq!(event.words, words[..count]);
    }
}

#[test]
fn macros_use_the_smallest_type() {
    let events = recorded(counting(), |trace| {
        // The macro replaces the type in this constant.
        let hkwd = 0x100F_0007;
        trace.trchkl(THREAD, hkwd, []);
        trace.trchkl(THREAD, hkwd, [1]);
        trace.trchkl(THREAD, hkwd, [1, 2]);
        trace.trchkl(THREAD, hkwd, [1, 2, 3, 4, 5]);
        trace.trchklt(THREAD, hkwd, []);
        trace.trchklt(THREAD, hkwd, [1]);
        trace.trchklt(THREAD, hkwd, [1, 2, 3]);
    });
    let found: Vec<_> = events.iter().map(|event| (event.bytes[1], &event.words[..])).collect();
    let expected: [(u8, &[u64]); 7] = [
        (0x1, &[]),
        (0x2, &[1]),
        (0x6, &[1, 2, 0, 0, 0]),
        (0x6, &[1, 2, 3, 4, 5]),
        (0x9, &[]),
        (0xA, &[1]),
        (0xE, &[1, 2, 3, 0, 0]),
    ];
    assert_eq!(found, expected);
}

#[test]
fn generic_calls_record_one_word_and_the_data() {
    let wide = HookWord64::new(0, 0, HookId(0x1001), 9);
    let events = recorded(counting(), |trace| {
        trace.trcgen(THREAD, 0, GENERIC.into(), 0x1_0000_0002, b"abc");
        trace.trcgent(THREAD, 0, PLAIN.into(), 2, b"");
        trace.trcgen(THREAD, 0, wide.into(), 0x1_0000_0002, b"abc");
        trace.trcgent(THREAD, 0, wide.into(), 2, b"");
    });
    let hooks = events.iter().map(|event| event.hook).collect::<Vec<_>>();
    let expected = [
        HookWord32(0x1000_0003).into(),
        HookWord32(0x1008_0000).into(),
        HookWord64(0x4000_000B_1001_0009).into(),
        HookWord64(0xC000_0008_1001_0009).into(),
    ];
    assert_eq!(hooks, expected);
    let words: Vec<_> = events.iter().map(|event| event.words[0]).collect();
    assert_eq!(words, [2, 2, 0x1_0000_0002, 2]);
    let data: Vec<_> = events.iter().map(|event| &event.data[..]).collect();
    assert_eq!(data, [&b"abc"[..], b"", b"abc", b""]);
}

#[test]
fn more_than_4096_bytes_of_data_are_refused_as_documented() {
    let data = [7; MAX_DATA_LENGTH + 1];
    let events = recorded(counting(), |trace| {
        let refused = Outcome::Refused(EntryError::DataTooLong { found: 4097 });
        assert_eq!(trace.trcgen(THREAD, 0, GENERIC.into(), 1, &data), refused);
        let most = trace.trcgen(THREAD, 0, GENERIC.into(), 1, &data[1..]);
        assert_eq!(most, Outcome::Recorded);
        assert_eq!(trace.counts(0).unwrap().missed, 0);
    });
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].data, &data[1..]);
}

#[test]
fn invalid_hook_words_of_plain_entries_are_refused() {
    let events = recorded(counting(), |trace| {
        let refused = |error| Outcome::Refused(error);
        let mut narrow = |word| trace.trchook(THREAD, HookWord32(word), [0; 5]);
        assert_eq!(narrow(0x1000_0000), refused(EntryError::Generic));
        assert_eq!(narrow(0x1003_0000), refused(EntryError::UnknownType { found: 3 }));
        let length = EntryError::Length { found: 48, generic: false };
        let wide = HookWord64::plain(ID, 0, 6);
        assert_eq!(trace.trchook64(THREAD, wide, [0; 5]), refused(length));
        let wide = HookWord64::generic(ID, 0);
        assert_eq!(trace.trchook64(THREAD, wide, [0; 5]), refused(EntryError::Generic));
    });
    assert_eq!(events, []);
}

#[test]
fn every_event_has_its_timestamp_and_context() {
    let contexts = [
        Context::thread(3, 10, 20),
        Context { cpu: 65535, tid: None, pid: Some(0) },
        Context { cpu: 0, tid: Some(u64::MAX), pid: None },
    ];
    let events = recorded(counting(), |trace| {
        for context in contexts {
            trace.trchook(context, PLAIN, [0; 5]);
        }
    });
    for (index, (event, context)) in events.iter().zip(contexts).enumerate() {
        let Context { cpu, tid, pid } = context;
        assert_eq!((event.head.cpu, event.head.tid, event.head.pid), (cpu, tid, pid));
        // The start entries and TRACE ON share the first tick.
        assert_eq!(event.head.tick, 2 + index as u64);
    }
    assert_eq!(events.len(), 3);
}

#[test]
fn ticks_of_a_narrow_clock_are_unwrapped() {
    let readings = [0xFFFF_FFF0_u64, 0xFFFF_FFFF, 5, 5, 4, 0xAAAA_0000_0000_0007, 8];
    let mut rest = readings.into_iter();
    let clock = Masked { clock: move || rest.next().unwrap(), mask: 0xFFFF_FFFF };
    let events = recorded(clock, |trace| {
        for _ in 0..5 {
            trace.trchook(THREAD, PLAIN, [0; 5]);
        }
    });
    let ticks: Vec<_> = events.iter().map(|event| event.head.tick).collect();
    let expected = [0xFFFF_FFFF, 0x1_0000_0005, 0x1_0000_0005, 0x2_0000_0004, 0x2_0000_0007];
    assert_eq!(ticks, expected);
}

#[test]
fn only_generic_calls_reach_a_generic_channel() {
    let (mut first, mut second) = ([0; 2048], [0; 2048]);
    let mut trace = Trace::new(counting(), Machine::default());
    let generic = Options { generic: true, ..Options::default() };
    let channel = trace.trcstart(THREAD, &mut first, generic).unwrap();
    assert_eq!(channel, 1);
    assert_eq!(trace.trchook(THREAD, PLAIN, [0; 5]), Outcome::Off);
    assert_eq!(trace.trcgen(THREAD, 0, GENERIC.into(), 1, b""), Outcome::Off);
    assert_eq!(trace.trcgen(THREAD, 8, GENERIC.into(), 1, b""), Outcome::Off);
    assert_eq!(trace.trcgen(THREAD, u32::MAX, GENERIC.into(), 1, b""), Outcome::Off);
    trace.trcstart(THREAD, &mut second, Options::default()).unwrap();
    assert_eq!(trace.trchook(THREAD, PLAIN, [0; 5]), Outcome::Recorded);
    assert_eq!(trace.trcgen(THREAD, 1, GENERIC.into(), 1, b"x"), Outcome::Recorded);
    let generic = stopped(&mut trace, 1);
    assert_eq!(short_ids(&generic), ["003", "00A", "001", "100", "002"]);
    assert_eq!((&generic[3].data[..], generic[2].words[0], generic[4].words[0]), (&b"x"[..], 1, 1));
    assert_eq!(short_ids(&stopped(&mut trace, 0)), ["003", "00A", "001", "100", "002"]);
}

#[test]
fn event_lists_apply_only_to_the_callers_events() {
    let cases = [
        (EventList::All, true, true),
        (EventList::Only(&[ID]), true, false),
        (EventList::Except(&[ID]), false, true),
        (EventList::Only(&[]), false, false),
    ];
    for (events, first, second) in cases {
        let mut memory = [0; 2048];
        let mut trace = Trace::new(counting(), Machine::default());
        let options = Options { events, ..Options::default() };
        let channel = trace.trcstart(THREAD, &mut memory, options).unwrap();
        let outcome = |admitted| if admitted { Outcome::Recorded } else { Outcome::Excluded };
        assert_eq!(trace.trchkl(THREAD, 0x1000_0000, []), outcome(first));
        let generic = trace.trcgen(THREAD, 0, HookWord32(0x2000_0000).into(), 1, b"");
        assert_eq!(generic, outcome(second));
        let ids = short_ids(&stopped(&mut trace, channel));
        let mut expected = vec!["003", "00A", "001"];
        expected.extend(first.then_some("100"));
        expected.extend(second.then_some("200"));
        expected.push("002");
        assert_eq!(ids, expected);
    }
}
