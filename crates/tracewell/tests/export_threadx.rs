//! Tests dumps that are exported from traces. A reader of an exported dump gets the same events and
//! objects.

#[path = "support/dump.rs"]
mod dump;
mod support;

use std::collections::BTreeMap;

use dump::{Dump, USUAL, event, thread};
use proptest::prelude::*;
use support::{EventLog, fixture, settings};
use tracewell::export::{ExportNames, by_extension, by_name};
use tracewell::format::Options;
use tracewell::input::{Input, Settings};
use tracewell::model::{LossCause, Trace};
use tracewell_wire::threadx::{Event, Layout, RegistrySlot, Width};

fn convert(bytes: Vec<u8>, options: &[&str]) -> Result<Vec<u8>, String> {
    let mut chosen = Options::default();
    for option in options {
        chosen.add(option).unwrap();
    }
    let mut input = Input::from_bytes("in", bytes, Settings::default()).unwrap();
    let mut out = Vec::new();
    let export = by_name("threadx").unwrap();
    export
        .write(&mut input, &chosen, &ExportNames::default(), &mut out)
        .map_err(|error| error.to_string())?;
    Ok(out)
}

fn read(bytes: Vec<u8>) -> (Trace, EventLog) {
    let mut kept = EventLog::default();
    let trace = Input::from_bytes("out", bytes, settings(&[])).unwrap().read(&mut kept).unwrap();
    (trace, kept)
}

/// The content that an export must preserve: ticks and words of events, registry slots, and whether
/// older events were overwritten. The layout can change.
type Essence = (Vec<(u64, Event)>, Vec<(u8, u64, u64, u64, Vec<u8>)>, bool);

fn essence(bytes: Vec<u8>) -> Essence {
    let (trace, kept) = read(bytes);
    let layout = tracewell::format::threadx::layout(&trace);
    let rows = kept.rows.iter().map(|r| (r.ticks, Event::read(layout, &r.record).unwrap()));
    let rows = rows.collect();
    let slots = trace.objects.iter().filter_map(|(_, o)| RegistrySlot::read(layout, &o.record));
    let slots = slots
        .map(|s| (s.available, s.pointer, s.parameter1, s.parameter2, s.name.to_vec()))
        .collect();
    (rows, slots, kept.losses.iter().any(|loss| loss.cause == LossCause::Overwritten))
}

#[test]
fn a_kernels_dump_survives_every_order_and_width() {
    let dump = std::fs::read(fixture("threadx/tiny.trx")).unwrap();
    let expected = essence(dump.clone());
    for order in ["order=little", "order=big"] {
        for width in ["ulong=32", "ulong=64"] {
            let written = convert(dump.clone(), &[order, width]).unwrap();
            assert!(essence(written) == expected, "{order} {width}");
        }
    }
}

#[test]
fn a_wrapped_dump_says_afterwards_that_it_wrapped() {
    let dump = Dump::wrapped(USUAL).bytes();
    let written = convert(dump.clone(), &["order=big"]).unwrap();
    assert_eq!(essence(written.clone()), essence(dump));
    assert!(essence(written).2);
}

#[test]
fn a_dump_of_which_nothing_was_overwritten_says_so_afterwards() {
    let mut dump = Dump::small(USUAL);
    // Replace the two events that a kernel records when it enables tracing.
    dump.events[..2].iter_mut().for_each(|event| event.id_word = 83);
    let before = essence(dump.bytes());
    assert!(!before.2);
    assert_eq!(essence(convert(dump.bytes(), &[]).unwrap()), before);
}

#[test]
fn a_single_event_after_overwritten_ones_stays_a_single_event() {
    let dump = Dump::new(USUAL, Vec::new(), vec![event(0x2100_0000, 83, 7)], 0).bytes();
    let before = essence(dump.clone());
    assert_eq!((before.0.len(), before.2), (1, true));
    assert_eq!(essence(convert(dump, &[]).unwrap()), before);
}

#[test]
fn an_empty_trace_becomes_an_empty_dump() {
    let dump = Dump::new(USUAL, Vec::new(), vec![Event::UNUSED; 2], 0);
    let (trace, kept) = read(convert(dump.bytes(), &[]).unwrap());
    assert_eq!((kept.rows.len(), trace.objects.len()), (0, 0));
    assert_eq!(trace.fact("registry_slots"), Some(1), "TraceX refuses a registry without slots");
}

#[test]
fn addresses_that_would_fall_together_are_refused() {
    let wide = Layout { width: Width::Bits64, ..USUAL };
    let (low, high) = (0x5000, 0x7_0000_5000);
    let dump = Dump::new(
        wide,
        vec![thread(low, "low"), thread(high, "high")],
        vec![event(low, 6, 1), event(high, 6, 2)],
        0,
    );
    let message = convert(dump.bytes(), &["ulong=32"]).unwrap_err();
    assert_eq!(message, "two objects would share the address 0x00005000");
    assert!(convert(dump.bytes(), &[]).is_ok());
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let dump = Dump::small(USUAL).bytes();
    let refused = |option: &str| convert(dump.clone(), &[option]).unwrap_err();
    assert_eq!(refused("order=middle"), "-T order: expected little or big, found 'middle'");
    assert!(refused("colour=red").starts_with("-T colour: unknown option"));
}

#[test]
fn an_extension_asks_for_its_format() {
    let by: BTreeMap<_, _> = ["trx", "TSV", "csv", "jsonl", "bin"]
        .map(|extension| (extension, by_extension(extension).map(|export| export.name)))
        .into();
    assert_eq!(by["trx"], Some("threadx"));
    assert_eq!(by["TSV"], Some("tsv"));
    assert_eq!(by["bin"], None);
}

proptest! {
    #[test]
    fn any_events_survive(
        words in proptest::collection::vec(
            (1..=u32::MAX, any::<u32>(), any::<u32>(), any::<u32>(), any::<[u32; 4]>()), 1..40,
        ),
        current in 0..40_usize,
        big: bool,
    ) {
        let events: Vec<_> = words
            .iter()
            .map(|(context, priority_word, id_word, stamp, info)| Event {
                context: u64::from(*context),
                priority_word: u64::from(*priority_word),
                id_word: u64::from(*id_word),
                stamp: u64::from(*stamp),
                info: info.map(u64::from),
            })
            .collect();
        let current = current % events.len();
        let dump = Dump::new(USUAL, vec![thread(0x2100_0000, "a")], events, current).bytes();
        let order = if big { "order=big" } else { "order=little" };
        let before = essence(dump.clone());
        let after = essence(convert(dump, &[order]).unwrap());
        // The reader infers the direction of the clock from the order of the slots in memory. The
        // export can change the order of the slots, so the ticks of events can differ.
        let events = |rows: &[(u64, Event)]| rows.iter().map(|(_, e)| *e).collect::<Vec<_>>();
        prop_assert_eq!(events(&before.0), events(&after.0));
        prop_assert_eq!((before.1, before.2), (after.1, after.2));
    }
}
