//! Tests the reader of POSIX trace logs and streams. The tests construct logs and streams word by
//! word, and then damage some of them.

#[path = "support/posix.rs"]
mod posix;
mod support;

use std::sync::Arc;

use posix::{EPOCH, Event, block, geometry, log, memory, name, records, ring};
use proptest::prelude::*;
use support::{EventLog, in_pieces, settings};
use tracewell::input::{Input, Settings as InputSettings};
use tracewell::model::schema::Extension;
use tracewell::model::{ContextKind, FactForm, LossCause, Severity, Trace};
use tracewell::report::trcrpt::{Options, Settings, Timestamp, TrcReport};
use tracewell::template::{Program, Source};
use tracewell_wire::frame::HEAD;
use tracewell_wire::native::{WORD, join};
use tracewell_wire::posix::area::{NAME_SLOT, NAMES_MAGIC, NO_DESCRIPTOR, REFERENCE_MAGIC, names};
use tracewell_wire::posix::log::{Kind, LogHeader, LogStatus};
use tracewell_wire::posix::object::{ObjectHeader, State, at, head};
use tracewell_wire::posix::{
    EVENT_NAME_MAX, EventSet, FILTER, FLAG_HIDDEN, FLAG_TRUNCATED, Fill, LAST_USER, OVERFLOW,
    RESUME, START, STOP, USER_EVENT_MAX, text_words,
};

fn read(bytes: &[u8]) -> (Trace, EventLog) {
    let mut kept = EventLog::default();
    let mut input = Input::from_bytes("log", bytes.to_vec(), settings(&[])).unwrap();
    let trace = input.read(&mut kept).unwrap();
    (trace, kept)
}

fn argument(trace: &Trace, kept: &EventLog, row: usize, index: usize) -> Option<u64> {
    trace.payload.argument(&kept.rows[row].payload, index)
}

fn bytes<'a>(trace: &Trace, kept: &'a EventLog, row: usize, index: usize) -> &'a [u8] {
    trace.payload.bytes(&kept.rows[row].payload, index)
}

/// Returns the events of a run under the POSIX policy until-full.
fn run() -> Vec<Event> {
    let mut set = EventSet::EMPTY;
    set.add(65).unwrap();
    let both = [set.bytes(), EventSet::filled(Fill::System).bytes()].concat();
    let mut cut = Event::user(64, 40, b"cut");
    cut.flags = FLAG_TRUNCATED;
    vec![
        Event::system(START, 0, &EventSet::EMPTY.bytes()),
        Event::user(65, 10, &[1, 2, 3]),
        Event::system(STOP, 20, &1_i32.to_le_bytes()),
        Event::system(OVERFLOW, 25, &[]),
        Event::system(RESUME, 30, &[]),
        Event::system(START, 30, &set.bytes()),
        cut,
        Event::system(FILTER, 50, &both),
        Event::user(66, 60, b""),
    ]
}

#[test]
fn a_log_is_read_with_names_facts_and_the_place_of_its_loss() {
    let run = run();
    let blocks = [name(65, b"step"), records(0, &run[..4]), records(1, &run[4..])];
    let status = LogStatus { overrun: 1, log_full: 1, ..LogStatus::default() };
    let (trace, kept) = read(&log(&blocks, Some(status)));
    assert_eq!(trace.diagnostics.iter().count(), 0, "{:?}", trace.diagnostics);
    assert_eq!((trace.text("trace_name"), trace.fact("traced_process")), ("motor", Some(4711)));
    assert_eq!(
        (trace.fact("log_full_status"), trace.fact("stream_overrun_status")),
        (Some(1), Some(1))
    );
    let names: Vec<_> = kept.rows.iter().map(|row| &*trace.schema.event(row.id).name).collect();
    let expected = [
        "posix_trace_start",
        "step",
        "posix_trace_stop",
        "posix_trace_overflow",
        "posix_trace_resume",
        "posix_trace_start",
        "posix_trace_unnamed_userevent",
        "posix_trace_filter",
        "user_event_66",
    ];
    assert_eq!(names, expected);
    let ticks: Vec<_> = kept.rows.iter().map(|row| row.ticks).collect();
    assert_eq!(ticks, [0, 10, 20, 25, 30, 30, 40, 50, 60]);
    assert_eq!(trace.wall_clock_ns(60), Some(EPOCH + 60));
    assert_eq!(bytes(&trace, &kept, 1, 0), [1, 2, 3]);
    assert_eq!(argument(&trace, &kept, 1, 1), Some(0x40_1234));
    assert_eq!([1, 6].map(|row| argument(&trace, &kept, row, 2)), [None, Some(1)]);
    assert_eq!(argument(&trace, &kept, 2, 0), Some(1));
    assert_eq!(
        (bytes(&trace, &kept, 5, 0), bytes(&trace, &kept, 7, 0)),
        (&b"step"[..], &b"step"[..])
    );
    assert!(bytes(&trace, &kept, 7, 1).starts_with(b"posix_trace_error posix_trace_start "));
    let losses: Vec<_> =
        kept.losses.iter().map(|loss| (loss.before, loss.events, loss.cause)).collect();
    assert_eq!(losses, [(3, None, LossCause::BufferFull)]);
    let who = |row: usize| trace.contexts.get(kept.rows[row].context).unwrap();
    assert_eq!((who(0).kind, who(1).kind), (ContextKind::System, ContextKind::Thread));
    assert_eq!((&*who(1).name, trace.process_of(who(1))), ("process 4711", Some(4711)));
}

#[test]
fn templates_show_the_words_that_a_program_recorded() {
    let data = [7_u64, 9].map(u64::to_le_bytes).concat();
    let blocks = [name(65, b"pair"), records(0, &[Event::user(65, 10, &data)])];
    let log = log(&blocks, Some(LogStatus::default()));
    let templates = Source::new("test.fmt", "pair 1.0 \"@\" $D1%U8 $D2%U8 U8 U8 $HL%U4\n");
    let program = Program::of(&[templates]).program;
    let options = Options { ids: false, timestamp: Timestamp::None, ..Options::default() };
    let settings_of_report = Settings { options, without_heading: true, ..Settings::default() };
    let mut report = TrcReport::new(Vec::new(), &program, settings_of_report);
    Input::from_bytes("log", log, settings(&[])).unwrap().read(&mut report).unwrap();
    let text = String::from_utf8(report.into_inner().unwrap()).unwrap();
    assert_eq!(text.trim(), "7 9 7 9 16");
}

#[test]
fn every_truncation_gives_the_whole_blocks_before_it() {
    let run = run();
    let blocks = [name(65, b"step"), records(0, &run[..4]), records(1, &run[4..])];
    let bytes = log(&blocks, Some(LogStatus::default()));
    let ends = [LogHeader::BLOCK, blocks[0].len(), blocks[1].len(), blocks[2].len()];
    let ends: Vec<_> = ends
        .iter()
        .scan(0, |sum, length| {
            *sum += length;
            Some(*sum)
        })
        .collect();
    for cut in LogHeader::BLOCK..bytes.len() {
        let (trace, kept) = read(&bytes[..cut]);
        let events = match cut {
            cut if cut < ends[2] => 0,
            cut if cut < ends[3] => 4,
            _ => 9,
        };
        assert_eq!(kept.rows.len(), events, "cut at {cut}");
        let warning = trace.diagnostics.iter().last().unwrap();
        assert!(warning.message.starts_with("the log was not closed"), "cut at {cut}");
        assert_eq!(warning.severity, Severity::Warning);
        // The log has no end block, so later records are missing even if the last block is
        // complete.
        let last = kept.losses.last().unwrap();
        assert_eq!((last.events, last.cause), (None, LossCause::Truncated), "cut at {cut}");
        let truncated = kept.losses.iter().filter(|loss| loss.cause == LossCause::Truncated);
        assert_eq!(truncated.count(), 1, "cut at {cut}");
        // The standard's functions report the same status.
        for name in ["stream_overrun_status", "log_overrun_status"] {
            assert_eq!(trace.fact(name), Some(1), "cut at {cut}");
        }
    }
}

#[test]
fn bytes_after_the_end_of_a_log_are_reported_at_their_position() {
    let run = run();
    let blocks = [name(65, b"step"), records(0, &run[..4]), records(1, &run[4..])];
    let in_line = log(&blocks, Some(LogStatus::default()));
    for log in [in_line, ring(4, 3)] {
        let (_, whole) = read(&log);
        let end = log.len() as u64;
        for (rest, reported) in [
            (&b"garbage"[..], "7 bytes follow the end of the log"),
            (&log[..], "another log begins here"),
        ] {
            let bytes = [&log, rest].concat();
            let (trace, kept) = read(&bytes);
            assert_eq!(kept.rows, whole.rows);
            let loss = kept.losses.last().unwrap();
            assert_eq!((loss.before, loss.events), (whole.rows.len() as u64, None));
            assert_eq!((loss.cause, loss.offset), (LossCause::Damaged, end));
            let remark = trace.diagnostics.iter().last().unwrap().to_string();
            assert!(remark.starts_with(&format!("damaged: at byte {end}: {reported}")), "{remark}");
            assert!(remark.contains(&format!("{} byte", rest.len())), "{remark}");
            assert_eq!(in_pieces("posix", &settings(&[]), &bytes, 1).unwrap().1, kept);
        }
        let (trace, kept) = read(&[&log[..], &[0; 40]].concat());
        assert_eq!((kept.losses.len(), trace.diagnostics.iter().count()), (whole.losses.len(), 0));
    }
}

#[test]
fn a_changed_byte_loses_its_block_and_says_so() {
    let run = run();
    let blocks = [name(65, b"step"), records(0, &run[..4]), records(1, &run[4..])];
    let bytes = log(&blocks, Some(LogStatus::default()));
    let first = LogHeader::BLOCK + blocks[0].len();
    for changed in first..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[changed] ^= 0x10;
        let (trace, kept) = read(&bytes);
        let events = match changed - first {
            at if at < blocks[1].len() => 5,
            at if at < blocks[1].len() + blocks[2].len() => 4,
            _ => 9,
        };
        assert_eq!(kept.rows.len(), events, "byte {changed}");
        assert!(trace.diagnostics.iter().count() > 0, "byte {changed}");
        let found = kept.losses.iter().any(|loss| loss.cause != LossCause::BufferFull);
        assert!(found, "byte {changed}");
    }
}

#[test]
fn pieces_of_a_log_give_the_same_as_the_whole() {
    let run = run();
    let blocks = [name(65, b"step"), records(0, &run[..4]), records(1, &run[4..])];
    let bytes = log(&blocks, Some(LogStatus::default()));
    for damaged in [None, Some(LogHeader::BLOCK), Some(LogHeader::BLOCK + HEAD + 2)] {
        let mut bytes = bytes.clone();
        damaged.into_iter().for_each(|at| bytes[at] ^= 1);
        let (_, whole) = read(&bytes);
        for piece in [1, 7, 64, 100, 1000] {
            let (_, kept) = in_pieces("posix", &settings(&[]), &bytes, piece).unwrap();
            assert_eq!(kept, whole, "pieces of {piece}, damaged at {damaged:?}");
        }
    }
}

#[test]
fn a_ring_is_read_oldest_first() {
    for written in [0_u64, 1, 3, 4, 5, 11] {
        let (trace, kept) = read(&ring(4, written));
        let numbers: Vec<_> = (0..kept.rows.len())
            .map(|row| u64::from_le_bytes(bytes(&trace, &kept, row, 0).try_into().unwrap()))
            .collect();
        assert_eq!(numbers, (written.saturating_sub(4)..written).collect::<Vec<_>>());
        assert!(kept.rows.iter().all(|row| trace.schema.event(row.id).name == "step"));
        let overwritten = kept.losses.first().map(|loss| (loss.before, loss.cause));
        let lost = if written > 4 { LossCause::Overwritten } else { LossCause::BufferFull };
        let place = if written > 4 { 0 } else { written };
        assert_eq!(overwritten, Some((place, lost)), "{written}");
        assert_eq!(trace.diagnostics.iter().count(), 0);
    }
}

#[test]
fn a_damaged_slot_is_a_gap() {
    let mut bytes = ring(4, 11);
    let size = records(0, &[Event::user(65, 0, &[0; 8])]).len();
    // Slot 1 holds block 9; the slots next to it hold blocks 8 and 10.
    let slot = LogHeader::BLOCK + size;
    bytes[slot + HEAD + 2] ^= 1;
    let (trace, kept) = read(&bytes);
    assert_eq!(kept.rows.len(), 3);
    let causes: Vec<_> = kept.losses.iter().map(|loss| loss.cause).collect();
    assert!(causes.contains(&LossCause::Damaged), "{causes:?}");
    let places: Vec<_> = trace.diagnostics.iter().map(|found| found.offset).collect();
    assert_eq!(places, [Some(slot as u64)]);
}

/// If the first blocks of a ring are missing, they were in damaged slots, unless the ring may have
/// overwritten them.
#[test]
fn missing_blocks_at_the_start_of_a_ring_are_damaged_or_overwritten() {
    let size = records(0, &[Event::user(65, 0, &[0; 8])]).len();
    let slot = |number: usize| LogHeader::BLOCK + number * size;
    // The number of slots, of blocks and of damaged slots, and the cause of the loss.
    for (slots, written, damaged, cause) in [
        (4, 4, 1, LossCause::Damaged),
        (4, 4, 2, LossCause::Overwritten),
        (4, 4, 3, LossCause::Overwritten),
        (5, 5, 2, LossCause::Damaged),
        (5, 5, 3, LossCause::Overwritten),
        (5, 3, 2, LossCause::Damaged),
    ] {
        let mut bytes = ring(slots, written);
        for number in 0..damaged {
            bytes[slot(number) + HEAD + 2] ^= 1;
        }
        let (trace, kept) = read(&bytes);
        let what = format!("{damaged} of {slots} slots");
        assert_eq!(kept.rows.len(), written as usize - damaged, "{what}");
        let loss = &kept.losses[0];
        let place = (slot(damaged) + HEAD) as u64;
        assert_eq!((loss.before, loss.cause, loss.offset), (0, cause, place), "{what}");
        let places: Vec<_> = trace.diagnostics.iter().map(|found| found.offset).collect();
        assert_eq!(places, (0..damaged).map(|n| Some(slot(n) as u64)).collect::<Vec<_>>());
    }
}

#[test]
fn packets_of_a_memory_are_merged_and_hidden_records_are_not_shown() {
    let event = |stamp| Event::user(65, stamp, &[stamp as u8]);
    let hidden = Event { flags: FLAG_HIDDEN, ..event(5) };
    let (trace, kept) =
        read(&memory(&[vec![event(1), hidden, event(6)], vec![event(2), event(9)]]));
    assert_eq!(kept.rows.iter().map(|row| row.ticks).collect::<Vec<_>>(), [0, 1, 5, 8]);
    let status = trace.facts.iter().find(|fact| fact.name == "stream_status").unwrap();
    assert_eq!(status.value, 1);
    assert_eq!(trace.diagnostics.iter().count(), 0);
}

#[test]
fn the_status_of_a_stream_is_that_in_its_memory() {
    let [running, suspended] = ["POSIX_TRACE_RUNNING", "POSIX_TRACE_SUSPENDED"];
    let [full, not_full] = ["POSIX_TRACE_FULL", "POSIX_TRACE_NOT_FULL"];
    for (state, loop_full, displaced, expected) in [
        (State::Running, 0, 0, [running, not_full]),
        (State::Running, 1, 3, [running, full]),
        (State::Suspended, 0, 1, [suspended, not_full]),
        (State::Full, 0, 0, [suspended, full]),
    ] {
        let mut bytes = memory(&[vec![Event::user(65, 1, b"")]]);
        for (index, word) in [
            (at::STATE, state as u64),
            (at::LOOP_FULL, loop_full),
            (at::DISPLACED, displaced),
            (at::MEMBERS, 21),
            (at::MEMBERS + 6, 22),
        ] {
            set(&mut bytes, index, word);
        }
        let (trace, kept) = read(&bytes);
        let of = |name| trace.facts.iter().filter(move |fact| fact.name == name);
        let texts =
            ["stream_status", "stream_full_status"].map(|name| of(name).next().unwrap().form);
        assert_eq!(texts, expected.map(FactForm::Text));
        assert!(of("traced_process").map(|fact| fact.value).eq([21, 22]));
        let causes: Vec<_> = kept.losses.iter().map(|loss| loss.cause).collect();
        assert_eq!(causes, vec![LossCause::Overwritten; usize::from(displaced > 0)]);
    }
}

fn set(bytes: &mut [u8], index: usize, word: u64) {
    bytes[index * WORD..][..WORD].copy_from_slice(&word.to_le_bytes());
}

/// Asserts that the reader finds one event, and then damage at `offset`.
fn check_damage(bytes: &[u8], offset: usize) {
    let (trace, kept) = read(bytes);
    let places: Vec<_> = trace.diagnostics.iter().map(|found| found.offset).collect();
    assert_eq!((kept.rows.len(), places), (1, vec![Some(offset as u64)]));
    let damaged: Vec<_> = kept.losses.iter().map(|loss| (loss.before, loss.cause)).collect();
    assert_eq!(damaged, [(1, LossCause::Damaged)]);
}

#[test]
fn a_record_that_does_not_end_in_its_block_or_packet_is_damage() {
    let [whole, cut] = [Event::user(65, 1, &[1; 12]), Event::user(65, 2, &[2; 20])];
    let [length, longer] = [whole.bytes(), cut.bytes()].map(|bytes| bytes.len());
    let mut bytes = memory(&[vec![whole.clone(), cut.clone()]]);
    let geometry = geometry(1);
    let words = (length + longer) / WORD - 1;
    set(&mut bytes, geometry.head(0) + head::COMMITTED, join(words as u32, 5));
    check_damage(&bytes, geometry.packet(0) * WORD + length);
    let body = [whole.bytes(), cut.bytes()[..longer - WORD].to_vec()].concat();
    let bytes = log(&[block(Kind::Records, 0, &body)], Some(LogStatus::default()));
    check_damage(&bytes, LogHeader::BLOCK + HEAD + length);
}

#[test]
fn only_a_log_of_consecutive_blocks_can_be_followed() {
    let is_whole = tracewell::format::by_name("posix").unwrap().is_whole;
    let in_line = log(&[records(0, &run())], None);
    let starts = [memory(&[vec![]]), ring(4, 3), in_line, Vec::new()];
    assert_eq!(starts.map(|start| is_whole(&start)), [true, true, false, false]);
}

fn write_words(path: &std::path::Path, words: &[u64]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_reference_leads_to_the_memory_and_the_names() {
    let folder = tempfile::tempdir().unwrap();
    let reference = folder.path().join("s.03");
    write_words(&reference, &[REFERENCE_MAGIC, 7, 17, 4, NO_DESCRIPTOR]);
    let open = || Input::open(&reference, settings(&[]));
    assert!(open().is_err(), "there is no memory yet");
    let memory = memory(&[vec![Event::user(65, 1, b"one")], vec![Event::user(66, 2, b"two")]]);
    std::fs::write(folder.path().join("o.0000000000000007"), memory).unwrap();
    let named = |trace: &Trace, id| trace.schema.event(id).name.clone();
    let mut kept = EventLog::default();
    let trace = open().unwrap().read(&mut kept).unwrap();
    assert_eq!((kept.rows.len(), named(&trace, 65)), (2, "user_event_65".to_owned()));
    for (magic, name) in [(NAMES_MAGIC + 1, "user_event_65"), (NAMES_MAGIC, "step")] {
        let mut space = vec![magic, 9, 1, 0, 0, 0, 0, 0, 4];
        space.push(u64::from_le_bytes(*b"step\0\0\0\0"));
        write_words(&folder.path().join("n.0000000000000009"), &space);
        let mut kept = EventLog::default();
        let trace = open().unwrap().read(&mut kept).unwrap();
        assert_eq!((kept.rows.len(), named(&trace, 65).as_str()), (2, name));
    }
}

/// Returns a name space of event types with these words in its slots.
fn name_space(count: u64, slots: &[[u64; NAME_SLOT]]) -> Vec<u8> {
    let mut words = vec![NAMES_MAGIC, 9, count];
    words.resize(names::SLOTS, 0);
    words.extend(slots.iter().flatten());
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns the slot of a name of `length` bytes. The slot contains all bytes of `name`.
fn name_slot(length: u64, name: &[u8]) -> [u64; NAME_SLOT] {
    let [mut slot, text] = [[0; NAME_SLOT], text_words(name)];
    slot[0] = length;
    slot[1..].copy_from_slice(&text[..NAME_SLOT - 1]);
    slot
}

#[test]
fn a_memory_is_followed_by_the_names_of_its_event_types() {
    let long = [b'n'; EVENT_NAME_MAX];
    let slots = [
        name_slot(4, b"step"),
        name_slot(0, b"unused"),
        name_slot(3, b"cut off"),
        name_slot(100, b"short"),
        name_slot(EVENT_NAME_MAX as u64, &long),
        name_slot(4, b"last"),
    ];
    let long = str::from_utf8(&long).unwrap();
    let types = 65..=70;
    let events: Vec<_> = types.clone().map(|id| Event::user(id, u64::from(id), b"")).collect();
    let memory = memory(&[events]);
    for (count, last) in [(5, "user_event_70"), (6, "last"), (u64::MAX, "last")] {
        let (trace, kept) = read(&[memory.clone(), name_space(count, &slots)].concat());
        let names: Vec<_> = types.clone().map(|id| trace.schema.event(id).name.clone()).collect();
        assert_eq!(names, ["step", "user_event_66", "cut", "short", long, last]);
        assert_eq!((kept.rows.len(), trace.diagnostics.iter().count()), (6, 0));
    }
    // Ids end with the last user event type.
    let slots = vec![name_slot(1, b"x"); USER_EVENT_MAX + 1];
    let (trace, _) = read(&[memory, name_space(u64::MAX, &slots)].concat());
    assert!(trace.schema.defines(LAST_USER) && !trace.schema.defines(LAST_USER + 1));
    assert_eq!(trace.diagnostics.iter().count(), 0);
}

/// System events that lack their data have no arguments, and all of them have the stream as their
/// context.
#[test]
fn system_events_without_data_have_no_arguments() {
    let set = EventSet::filled(Fill::System).bytes();
    let run = [
        Event::system(START, 0, &[]),
        Event::system(START, 1, &set[..set.len() - 1]),
        Event::system(FILTER, 2, &set),
        Event::system(FILTER, 3, &[&set[..], &set[1..]].concat()),
        Event::system(STOP, 4, &[1, 2, 3]),
        Event::system(STOP, 5, &[1, 2, 3, 0xFF]),
        Event::system(RESUME, 6, &[]),
    ];
    let (trace, kept) = read(&log(&[records(0, &run)], Some(LogStatus::default())));
    let are_present: Vec<_> = (0..run.len())
        .map(|row| [0, 1].map(|index| argument(&trace, &kept, row, index).is_some()))
        .collect();
    let [none, first] = [[false, false], [true, false]];
    assert_eq!(are_present, [none, none, first, first, none, first, none]);
    assert_eq!(argument(&trace, &kept, 5, 0).unwrap() as i64, -0x00FC_FDFF);
    let shown = bytes(&trace, &kept, 2, 0);
    assert!(shown.starts_with(b"posix_trace_error posix_trace_start"));
    assert!(bytes(&trace, &kept, 0, 0).is_empty() && bytes(&trace, &kept, 2, 1).is_empty());
    let contexts: Vec<_> = trace.contexts.iter().collect();
    let [(_, stream)] = &contexts[..] else { panic!("{contexts:?}") };
    assert_eq!((stream.key, &*stream.key_text, &*stream.name), (0, "0", "stream"));
}

/// A row has at most 32 slots: those of the fields, and then the data, the address and whether the
/// data was cut off.
#[test]
fn a_row_has_slots_for_29_fields() {
    for fields in [1, 2, 28, 29] {
        let args: Vec<_> = (0..fields).map(|n| format!("\"a{n} as u8\"")).collect();
        let args = args.join(", ");
        let text = format!("format = \"posix\"\n[[event]]\nname = \"many\"\nargs = [{args}]\n");
        let file = Extension::parse(&text, "app.toml").unwrap();
        let data: Vec<u8> = (1..=fields as u8).collect();
        let whole = Event::user(65, 1, &data);
        let cut = Event { flags: FLAG_TRUNCATED, ..Event::user(65, 2, &data[1..]) };
        let log = log(&[name(65, b"many"), records(0, &[whole, cut])], Some(LogStatus::default()));
        let settings = InputSettings { schemas: vec![Arc::new(file)], ..settings(&[]) };
        let mut kept = EventLog::default();
        let trace = Input::from_bytes("log", log, settings).unwrap().read(&mut kept).unwrap();
        // The second event lacks the first byte, so it has one field fewer.
        for (row, missing) in [(0, 0), (1, 1)] {
            let data = &data[missing..];
            for field in 0..fields {
                let expected = data.get(field).map(|byte| u64::from(*byte));
                assert_eq!(argument(&trace, &kept, row, field), expected, "{field} of {fields}");
            }
            assert_eq!(bytes(&trace, &kept, row, fields), data, "{fields}");
            assert_eq!(argument(&trace, &kept, row, fields + 1), Some(0x40_1234), "{fields}");
            let is_cut = (row == 1).then_some(1);
            assert_eq!(argument(&trace, &kept, row, fields + 2), is_cut, "{fields}");
        }
    }
}

#[test]
fn threads_are_numbered_per_process() {
    let of = |process, stamp| Event { process, ..Event::user(65, stamp, b"") };
    let mut second = of(4711, 3).bytes();
    // The word before the data is the thread.
    second[3 * WORD..][..WORD].copy_from_slice(&0xABCD_u64.to_le_bytes());
    let body = [of(4711, 1).bytes(), of(4712, 2).bytes(), second, of(4711, 4).bytes()].concat();
    let log = log(&[block(Kind::Records, 0, &body)], Some(LogStatus::default()));
    let (trace, kept) = read(&log);
    let found: Vec<_> = kept
        .rows
        .iter()
        .map(|row| trace.contexts.get(row.context).unwrap())
        .map(|context| (context.key, &*context.key_text, &*context.name))
        .collect();
    let key = |process: u64, number: u64| process << 32 | number;
    let first = (key(4711, 1), "4711:0x7F0000000700", "process 4711");
    let other = (key(4712, 1), "4712:0x7F0000000700", "process 4712");
    let second = (key(4711, 2), "4711:0xABCD", "process 4711/2");
    assert_eq!(found, [first, other, second, first]);
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let data = prop::collection::vec(any::<u8>(), 0..20);
    let event = (64_u32..1089, 0_u64..1 << 40, 1_u32..1 << 24, data)
        .prop_map(|(id, stamp, process, data)| Event { id, flags: 0, process, stamp, data });
    prop::collection::vec(event, 0..60)
}

proptest! {
    #[test]
    fn the_events_of_a_log_are_read_back(events in events(), size in 1_usize..10) {
        let blocks: Vec<_> = events.chunks(size).zip(0..).map(|(e, n)| records(n, e)).collect();
        let (trace, kept) = read(&log(&blocks, Some(LogStatus::default())));
        prop_assert_eq!(kept.rows.len(), events.len());
        for (row, event) in events.iter().enumerate() {
            prop_assert_eq!(kept.rows[row].id, event.id);
            prop_assert_eq!(bytes(&trace, &kept, row, 0), &event.data);
            let context = trace.contexts.get(kept.rows[row].context).unwrap();
            prop_assert_eq!(trace.process_of(context), Some(u64::from(event.process)));
        }
        prop_assert!(kept.losses.is_empty());
    }

    #[test]
    fn any_words_are_a_memory_without_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 1..20),
    ) {
        let mut bytes = memory(&[vec![Event::user(65, 1, b"one")], vec![Event::user(66, 2, b"two")]]);
        // The header remains valid; the bytes after it are arbitrary.
        let free = bytes.len() / WORD - ObjectHeader::WORDS;
        for (index, word) in changes {
            let place = (ObjectHeader::WORDS + index.index(free.min(700))) * WORD;
            bytes[place..place + WORD].copy_from_slice(&word.to_le_bytes());
        }
        read(&bytes);
    }
}

/// A sparse file of a terabyte, with the header of a stream that would fill it. On a 32-bit
/// machine, no stream can be that large, so the reader refuses it.
#[cfg(all(unix, target_pointer_width = "64"))]
#[test]
fn a_header_that_claims_a_terabyte_is_refused_without_taking_memory() {
    let packet_words = 1 << 21;
    let geometry =
        tracewell_wire::posix::object::Geometry { packet_words, packets: 1 << 16, closed: 1 };
    let header = ObjectHeader {
        nonce: 7,
        geometry: geometry.checked().unwrap(),
        policy: tracewell_wire::posix::StreamPolicy::Loop,
        inherited: false,
        max_data: 4096,
        created: 1,
        controller: (1, 1),
        tick: 0,
        names: 9,
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse");
    let bytes: Vec<u8> = header.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(&path, bytes).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    if file.set_len(geometry.total() as u64 * 8).is_err() {
        println!("skipped: files here cannot be a terabyte long");
        return;
    }
    let error =
        Input::open(&path, tracewell::input::Settings::default()).err().unwrap().to_string();
    assert!(error.contains("at byte 0: expected a stream that fits into memory"), "{error}");
}
