//! Compares two ways to write lines: with cached texts, and part by part. With a selection, even a
//! selection of all events, the writer uses the second way. The output must be the same.

#[path = "support/dump.rs"]
mod dump;
mod support;

use std::path::PathBuf;

use dump::{Dump, USUAL, thread};
use proptest::prelude::*;
use support::{dumps, fixture, settings, shark};
use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::input::{Input, Settings};
use tracewell::report::{Layout as ReportLayout, Report, ReportOptions};
use tracewell::select::Selection;
use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{Event, Layout, PriorityWord, RegistrySlot, Width, context, ids};

/// Returns two ways to read all events: without a selection, and with a selection that selects all
/// events.
fn selections() -> [Selection; 2] {
    [Selection::default(), Selection { head: Some(u64::MAX), ..Selection::default() }]
}

fn events(mut input: Input, format: EventFormat, selection: Selection) -> String {
    let mut writer = EventWriter::new(Vec::new(), format, selection);
    input.read(&mut writer).unwrap();
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

fn report(mut input: Input, color: bool, selection: Selection) -> String {
    let layout = ReportLayout { color, ..ReportLayout::default() };
    let options = ReportOptions { selection, layout, ..ReportOptions::default() };
    let mut report = Report::new(Vec::new(), options);
    input.read(&mut report).unwrap();
    String::from_utf8(report.into_inner().unwrap()).unwrap()
}

/// Checks all outputs of an input.
fn check(what: &str, open: impl Fn() -> Input) {
    let same = |[kept, whole]: [String; 2]| {
        let differing = kept.lines().zip(whole.lines()).find(|(kept, whole)| kept != whole);
        assert_eq!(differing, None, "{what}");
        assert_eq!(kept.len(), whole.len(), "{what}");
    };
    for format in [EventFormat::Tsv, EventFormat::Csv, EventFormat::JsonLines] {
        same(selections().map(|selection| events(open(), format, selection)));
    }
    for color in [false, true] {
        same(selections().map(|selection| report(open(), color, selection)));
    }
}

#[test]
fn dumps_have_the_same_lines() {
    let ours = ["tiny.trx", "tiny_be.trx", "wide.trx", "wrapped-exactly.trx", "one-slot.trx"];
    let ours = ours.map(|name| fixture("threadx").join(name));
    let paths: Vec<PathBuf> = dumps().into_iter().map(|(path, _)| path).chain(ours).collect();
    for path in paths {
        for options in [&[][..], &["rate=1MHz"], &["rate=3/7"]] {
            let open = || Input::open(&path, settings(options)).unwrap();
            check(&path.display().to_string(), open);
        }
    }
}

#[test]
fn shark_files_have_the_same_lines() {
    for folder in shark::folders() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "dat") {
                let open = || Input::open(&path, Settings::default()).unwrap();
                check(&path.display().to_string(), open);
            }
        }
    }
}

/// Names with characters that need escapes, and names that are too long for a cached text.
const NAMES: [&str; 8] = [
    "plain",
    "",
    "tab\tquote\" back\\slash, comma",
    "=1+1",
    "\u{1b}[31m\u{202e}gr\u{fc}n",
    "'apostrophe   ",
    "a name of more than forty-eight bytes, which is longer than a kept text",
    "\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{1}\u{2}\u{3}\u{4}\u{5}\
     \u{6}\u{7}\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}",
];

fn object(index: usize) -> RegistrySlot<'static> {
    let object_type = 1 + (index % 9) as u8;
    RegistrySlot { object_type, ..thread(address(index as u64), NAMES[index % NAMES.len()]) }
}

fn address(index: u64) -> u64 {
    0x2100_0000 + 0x40 * index
}

/// Generates a word of an event: the address of an object, a common value, or an arbitrary value.
fn word() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => (0..24_u64).prop_map(address),
        2 => 0..4_u64,
        1 => Just(u64::from(u32::MAX)),
        1 => Just(u64::MAX),
        2 => any::<u64>(),
    ]
}

fn event_of_a_dump() -> impl Strategy<Value = Event> {
    // These ids include creations, deletions, and events that show a special text for an argument
    // with the value 0.
    let id =
        prop_oneof![4 => 0..130_u64, 1 => 4096..4100_u64, 1 => any::<u16>().prop_map(u64::from)];
    let step = prop_oneof![8 => 0..5_000_u64, 1 => any::<u64>()];
    let context = prop_oneof![6 => (0..24_u64).prop_map(address), 2 => Just(context::INTERRUPT)];
    let priority = prop_oneof![
        2 => (0..32_u16, 0..32_u16).prop_map(|(one, two)| PriorityWord::of_thread(one, two)),
        1 => word(),
    ];
    (context, priority, id, step, [word(), word(), word(), word()]).prop_map(
        |(context, priority_word, id_word, stamp, info)| Event {
            context,
            priority_word,
            id_word,
            stamp,
            info,
        },
    )
}

fn layout() -> impl Strategy<Value = Layout> {
    let order = prop_oneof![3 => Just(ByteOrder::Little), 1 => Just(ByteOrder::Big)];
    let width = prop_oneof![3 => Just(Width::Bits32), 1 => Just(Width::Bits64)];
    (order, width).prop_map(|(order, width)| Layout { order, width, name_size: 96 })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_dump_has_the_same_lines(
        layout in layout(),
        objects in 0..24_usize,
        events in prop::collection::vec((event_of_a_dump(), 1..40_usize), 1..60),
        is_timed: bool,
    ) {
        // A repeated event keeps its first words, and its last words change with each repetition.
        let mut stamp = 1000_u64;
        let mut all = Vec::new();
        for (event, repeated) in events {
            for number in 0..repeated as u64 {
                stamp = stamp.wrapping_add(event.stamp);
                let [first, second, third, last] = event.info;
                let info = [first, second, third ^ (number & 1), last.wrapping_add(number)];
                all.push(Event { stamp, info, ..event });
            }
        }
        let objects = (0..objects).map(object).collect();
        let bytes = Dump::new(layout, objects, all, 0).bytes();
        let options: &[&str] = if is_timed { &["rate=80MHz"] } else { &[] };
        check("random", || Input::from_bytes("dump", bytes.clone(), settings(options)).unwrap());
    }
}

#[test]
fn arguments_that_always_change_have_the_same_lines() {
    let event = |number: u64| Event {
        context: address(1),
        priority_word: PriorityWord::of_thread(1, 1),
        id_word: u64::from(if number.is_multiple_of(3) { ids::ISR_ENTER } else { 83 }),
        stamp: 40_000_000 * number,
        info: [address(number), number, 3 * number, number.wrapping_mul(0x9E37_79B9)],
    };
    let objects = (0..24).map(object).collect();
    let bytes = Dump::new(USUAL, objects, (0..3000).map(event).collect(), 0).bytes();
    check("changing", || Input::from_bytes("dump", bytes.clone(), settings(&[])).unwrap());
}
