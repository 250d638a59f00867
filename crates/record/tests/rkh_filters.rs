//! Tests filters and compiled-in records. The truth tables cover both kinds of dialects: in some, a
//! set bit passes records; in others, it suppresses them. Other tests cover all functions and the
//! ends of the tables.

use tracewell_record::rkh::{
    About, Buffer, Compiled, Filter, FilterKinds, Options, Outcome, Refusal, StreamBuffer, Trace,
};
use tracewell_wire::rkh::events::{Event, Table, V2_4_3, V3_4, asks};
use tracewell_wire::rkh::{Dialect, Settings, SymbolKind, ids, switches};

type Recorder<'m> = Trace<'m, fn() -> u64, StreamBuffer<'m>>;

fn recorder<'m>(options: Options, memory: &'m mut [u8], signals: &'m mut [u8]) -> Recorder<'m> {
    Trace::new(options, StreamBuffer::new(memory), signals, || 0)
}

fn of(table: &'static Table) -> Options {
    Options { table, ..Options::default() }
}

/// Returns true if the filters pass a record about signal 9 and the active object with priority 5.
fn passes(trace: &mut Recorder<'_>, event: &Event) -> bool {
    let arguments = vec![9; event.fields.len()];
    match trace.record(event, About::signal(5, 9), &arguments) {
        Outcome::Recorded => true,
        Outcome::Filtered => false,
        other => panic!("{other:?}"),
    }
}

/// Tests all sixteen states of the four tables for an event.
fn truth_table(table: &'static Table, event: &Event) {
    for kinds in 0..8 {
        let on = |bit| kinds >> bit & 1 != 0;
        let filters = FilterKinds { events: on(0), objects: on(1), signals: on(2) };
        for state in 0..16 {
            let open = |bit| if state >> bit & 1 != 0 { Filter::Off } else { Filter::On };
            let (mut memory, mut signals) = ([0; 64], [0; 4]);
            let options = Options { filters, ..of(table) };
            let mut trace = recorder(options, &mut memory, &mut signals);
            // `event` also opens the event's group, so set the group after the event.
            trace.filters().event(event, open(1));
            let (group, _) = table.place(event.code).unwrap();
            trace.filters().group(group, open(0));
            trace.filters().object(5, open(2));
            trace.filters().signal(9, open(3));
            let asked = |kind, compiled| event.asks & kind != 0 && compiled && filters.events;
            let expected = [
                asked(asks::EVENT, true),
                asked(asks::EVENT, true),
                asked(asks::OBJECT, filters.objects),
                asked(asks::SIGNAL, filters.signals),
            ];
            let expected = (0..4).all(|bit| !expected[bit] || open(bit) == Filter::Off);
            assert_eq!(passes(&mut trace, event), expected, "{} {kinds} {state}", event.name);
        }
    }
}

#[test]
fn a_record_passes_if_every_table_that_applies_lets_it_pass() {
    for event in [&V3_4::SM_DCH, &V3_4::SM_TRN, &V3_4::MP_GET, &V3_4::FWK_EXE_FUN, &V3_4::TMR_TOUT]
    {
        truth_table(V3_4::TABLE, event);
    }
    for event in [&V2_4_3::SM_DCH, &V2_4_3::SM_TRN, &V2_4_3::MP_GET] {
        truth_table(V2_4_3::TABLE, event);
    }
}

#[test]
fn at_the_start_newer_versions_hold_back_and_older_ones_let_pass() {
    for dialect in Dialect::ALL {
        let table = Table::of(dialect);
        for event in table.events.iter().filter(|event| !event.name.ends_with("TCFG")) {
            let (mut memory, mut signals) = ([0; 64], [0; 4]);
            let mut trace = recorder(of(table), &mut memory, &mut signals);
            let begun = trace.begin(event, About::signal(5, 9)).map(|_| ());
            let newer = dialect >= Dialect::V2_4_4 && event.asks != 0;
            let expected = if newer { Err(Outcome::Filtered) } else { Ok(()) };
            assert_eq!(begun, expected, "{dialect} {}", event.name);
        }
        let (mut memory, mut signals) = ([0; 64], [0; 4]);
        let mut trace = recorder(of(table), &mut memory, &mut signals);
        let user = trace.user(31, |record| record);
        let expected =
            if dialect >= Dialect::V2_4_4 { Outcome::Filtered } else { Outcome::Recorded };
        assert_eq!(user, expected, "{dialect}");
    }
}

#[test]
fn the_bits_mean_the_opposite_in_older_versions() {
    for (table, byte) in [(V3_4::TABLE, 0xFF), (V2_4_3::TABLE, 0)] {
        let (mut memory, mut signals) = ([0; 64], [0; 4]);
        let mut trace = recorder(of(table), &mut memory, &mut signals);
        let filters = trace.filters();
        assert_eq!((filters.group_table(), filters.object_table()), (0, &[0; 8]));
        filters.all(Filter::Off);
        assert_eq!((filters.group_table(), filters.object_table()), (byte, &[byte; 8]));
        assert_eq!(filters.signal_table(), [byte; 4]);
        assert!(filters.event_table().iter().all(|found| *found == byte));
        filters.all(Filter::On);
        assert_eq!((filters.group_table(), filters.object_table()), (!byte, &[!byte; 8]));
    }
}

#[test]
fn the_tables_are_laid_out_as_in_the_framework() {
    let (mut memory, mut signals) = ([0; 64], [0; 4]);
    let mut trace = recorder(of(V3_4::TABLE), &mut memory, &mut signals);
    let filters = trace.filters();
    assert_eq!(filters.group_map(), [0, 1, 2, 4, 7, 8, 11, 15]);
    assert_eq!(filters.event_table().len(), 17);
    filters.event(&V3_4::SM_EXE_ACT, Filter::Off);
    assert_eq!(filters.event_table()[6], 1);
    assert_eq!(filters.group_table(), 1 << ids::SM_GROUP);
    // `group` changes only the bit of the group. `group_all_events` also changes the bits of its
    // events.
    filters.group(ids::SM_GROUP, Filter::On);
    assert_eq!((filters.group_table(), filters.event_table()[6]), (0, 1));
    filters.group_all_events(ids::FWK_GROUP, Filter::Off);
    assert_eq!(filters.event_table()[7..12], [0, 0xFF, 0xFF, 0xFF, 0]);
    assert_eq!(filters.group_table(), 1 << ids::FWK_GROUP);
    // When `event` suppresses an event, it changes only the bit of this event.
    filters.event(&V3_4::FWK_EN, Filter::On);
    assert_eq!((filters.event_table()[8], filters.group_table()), (0xFE, 1 << ids::FWK_GROUP));
}

#[test]
fn numbers_past_a_table_change_nothing_and_do_not_pass() {
    let (mut memory, mut signals) = ([0; 64], [0; 2]);
    let mut trace = recorder(of(V3_4::TABLE), &mut memory, &mut signals);
    let filters = trace.filters();
    assert!(filters.object(63, Filter::Off) && !filters.object(64, Filter::Off));
    assert!(filters.signal(15, Filter::Off) && !filters.signal(16, Filter::Off));
    assert!(filters.group(7, Filter::Off) && !filters.group(8, Filter::Off));
    // The group MP has the codes 0 to 2. `UT_FAIL` is the last event of the last group.
    assert!(filters.code(2, Filter::Off) && !filters.code(3, Filter::Off));
    assert!(filters.event(&V3_4::UT_FAIL, Filter::On));
    filters.all(Filter::Off);
    let dispatch = |signal| About { priority: None, signal: Some(signal) };
    assert!(filters.pass(0x71, asks::EVENT | asks::SIGNAL, dispatch(15)));
    assert!(!filters.pass(0x71, asks::EVENT | asks::SIGNAL, dispatch(16)));
}

#[test]
fn reserved_signals_pass() {
    for (size, largest) in [(1, 0xFF), (2, 0xFFFF), (4, u32::MAX)] {
        let settings = Settings { signal: size, ..Settings::default() };
        let options = Options { settings, ..Options::default() };
        let (mut memory, mut signals) = ([0; 64], [0; 4]);
        let mut trace = recorder(options, &mut memory, &mut signals);
        trace.filters().all_events(Filter::Off);
        trace.filters().all_objects(Filter::Off);
        let mut pass = |signal| {
            let about = About::signal(0, signal);
            trace.record(&V3_4::SM_DCH, about, &[1, signal, 2]) == Outcome::Recorded
        };
        assert_eq!(
            [largest, largest - 1, largest - 2, 9].map(&mut pass),
            [true, true, false, false]
        );
    }
}

#[test]
fn records_that_are_not_compiled_in_are_not_recorded() {
    let groups = switches::SMA | switches::SM | switches::ASSERT;
    let compiled = Compiled::groups(groups).without(&V3_4::SM_EXE_ACT);
    let options = Options { compiled, filters: FilterKinds::NONE, ..Options::default() };
    let mut memory = [0; 256];
    let mut trace = recorder(options, &mut memory, &mut []);
    let mut said = |event| trace.begin(event, About::NOTHING).map(|_| ()).err();
    assert_eq!(said(&V3_4::SM_TRN), None);
    assert_eq!(said(&V3_4::SM_EXE_ACT), Some(Outcome::NotCompiled));
    assert_eq!(said(&V3_4::TMR_INIT), Some(Outcome::NotCompiled));
    assert_eq!(said(&V3_4::FWK_SYNC_EVT), Some(Outcome::NotCompiled));
    assert_eq!(said(&V2_4_3::SM_TRN), Some(Outcome::Refused(Refusal::NotInDialect)));
    assert_eq!(trace.assertion(b"main", 7), Outcome::Recorded);
    assert_eq!(trace.symbol(SymbolKind::Signal, None, 1, b"GO"), Outcome::Recorded);
    assert_eq!(trace.user(0, |record| record), Outcome::NotCompiled);
    let flags = trace.options().configuration().unwrap().flags;
    assert_eq!(flags, groups | switches::SEQUENCE | switches::STAMP | switches::CHECKSUM);
}

#[test]
fn the_filters_of_group_and_event_apply_to_an_assertion() {
    let (mut memory, mut signals) = ([0; 256], [0; 4]);
    let mut trace = recorder(Options::default(), &mut memory, &mut signals);
    trace.open();
    let before = trace.buffer().len();
    assert_eq!(trace.assertion(b"main", 7), Outcome::Filtered);
    assert_eq!(trace.buffer().len(), before);
    trace.filters().event(&V3_4::FWK_ASSERT, Filter::Off);
    assert_eq!(trace.assertion(b"main", 7), Outcome::Recorded);
    assert_eq!(trace.assertion(b"ma\0in", 7), Outcome::Refused(Refusal::Text));
}

#[test]
fn filtered_records_use_no_number() {
    let (mut memory, mut signals) = ([0; 256], [0; 4]);
    let options = Options {
        settings: Settings { stamp: 0, checksum: false, ..Settings::default() },
        ..Options::default()
    };
    let mut trace = recorder(options, &mut memory, &mut signals);
    trace.record(&V3_4::FWK_EN, About::NOTHING, &[]);
    trace.filters().all_events(Filter::Off);
    trace.record(&V3_4::FWK_EN, About::NOTHING, &[]);
    trace.filters().all_events(Filter::On);
    trace.record(&V3_4::FWK_EX, About::NOTHING, &[]);
    trace.filters().event(&V3_4::FWK_EX, Filter::Off);
    trace.record(&V3_4::FWK_EX, About::NOTHING, &[]);
    assert_eq!(trace.buffer().block(99), [0xA0, 0, 0x7E, 0xA1, 1, 0x7E]);
}
