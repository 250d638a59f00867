//! Tests the ThreadX reader on damaged, unusual and hostile input: one test for each condition of
//! the format's robustness table, and every truncation and every changed byte of small dumps.

#[path = "support/dump.rs"]
mod dump;
mod support;

use dump::{BASE, Dump, USUAL, event, thread};
use support::{EventLog, fixture, in_pieces, settings};
use tracewell::format::{FORMATS, Input as Window, Progress, Settings};
use tracewell::input::{Input, InputError};
use tracewell::model::{Batch, Direction, Flow, LossCause, Severity, Sink, Trace};
use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{Event, Layout, Width};

fn read_with(bytes: Vec<u8>, options: &[&str]) -> Result<(Trace, EventLog), InputError> {
    let mut kept = EventLog::default();
    let trace = Input::from_bytes("dump", bytes, settings(options))?.read(&mut kept)?;
    Ok((trace, kept))
}

fn read(dump: &Dump) -> (Trace, EventLog) {
    read_with(dump.bytes(), &[]).unwrap()
}

fn error(bytes: &[u8]) -> String {
    read_with(bytes.to_vec(), &[]).unwrap_err().to_string()
}

/// Returns the messages of this severity, each with its offset.
fn remarks(trace: &Trace, severity: Severity) -> Vec<String> {
    let of = trace.diagnostics.iter().filter(|d| d.severity == severity);
    of.map(ToString::to_string).collect()
}

fn stamps(kept: &EventLog) -> Vec<u64> {
    kept.rows.iter().map(|row| Event::read(USUAL, &row.record).unwrap().stamp).collect()
}

#[test]
fn an_empty_or_very_short_input_is_an_error() {
    assert!(error(b"").contains("an empty input"), "{}", error(b""));
    assert!(error(b"BT").contains("too short"), "{}", error(b"BT"));
}

#[test]
fn an_unknown_id_is_an_error_that_shows_the_bytes() {
    let message = error(b"\x7FELF\x02\x01\x01\0\0\0\0");
    assert!(message.contains("expected one of the formats threadx"), "{message}");
    assert!(message.contains("7F 45 4C 46"), "{message}");
}

#[test]
fn a_truncated_header_is_an_error_that_says_how_many_bytes_are_needed() {
    let bytes = Dump::small(USUAL).bytes();
    let message = error(&bytes[..47]);
    assert!(message.contains("at least 48 bytes, found 47"), "{message}");
}

#[test]
fn names_of_1_to_4096_bytes_are_accepted() {
    for name_size in [1, 16, 63, 64, 255, 4096] {
        let (trace, kept) = read(&Dump::small(Layout { name_size, ..USUAL }));
        assert_eq!((kept.rows.len(), trace.objects.len()), (6, 2), "{name_size}");
        assert_eq!(trace.diagnostics.worst(), None, "{name_size}");
    }
    for name_size in [0, 4097] {
        let message = error(&Dump::small(Layout { name_size, ..USUAL }).bytes());
        assert!(message.contains("at byte 18: object_name_size"), "{message}");
    }
}

#[test]
fn a_registry_without_slots_is_accepted() {
    let dump = Dump::new(USUAL, Vec::new(), Dump::small(USUAL).events, 6);
    let (trace, kept) = read(&dump);
    assert_eq!(kept.rows.len(), 6);
    assert_eq!(trace.diagnostics.worst(), None);
    assert_eq!(trace.objects.iter().next().unwrap().1.label, "thread 0x21000100");
}

#[test]
fn a_truncated_registry_keeps_its_complete_slots() {
    let bytes = Dump::small(USUAL).bytes();
    let (trace, kept) = read_with(bytes[..48 + 48 + 20].to_vec(), &[]).unwrap();
    assert_eq!((trace.objects.len(), kept.rows.len()), (1, 0));
    let damage = remarks(&trace, Severity::Damage);
    assert!(damage[0].contains("registry: expected 2 slots, found 1"), "{damage:?}");
    assert!(damage[0].contains("at byte 96"), "{damage:?}");
}

#[test]
fn no_room_for_events_is_a_warning() {
    let mut dump = Dump::small(USUAL);
    for end in [dump.header.buffer_start, dump.header.buffer_start - 4] {
        dump.header.buffer_end = end;
        let (trace, kept) = read(&dump);
        assert_eq!(kept.rows.len(), 0);
        assert!(!remarks(&trace, Severity::Warning).is_empty());
    }
}

#[test]
fn a_file_that_ends_inside_the_events_keeps_complete_slots() {
    let bytes = Dump::small(USUAL).bytes();
    let (trace, kept) = read_with(bytes[..48 + 96 + 3 * 32 + 31].to_vec(), &[]).unwrap();
    assert_eq!(stamps(&kept), [100, 110, 120]);
    let damage = remarks(&trace, Severity::Damage);
    assert_eq!(damage.len(), 1, "{damage:?}");
    assert!(damage[0].contains("at byte 240"), "{damage:?}");
    assert_eq!(kept.losses.len(), 1);
    assert_eq!((kept.losses[0].cause, kept.losses[0].events), (LossCause::Truncated, None));
}

#[test]
fn the_first_stamp_is_that_of_the_oldest_event() {
    for width in [Width::Bits32, Width::Bits64] {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let layout = Layout { width, order, ..USUAL };
            let first_stamp = |dump: Dump| read(&dump).0.clock.first_stamp;
            assert_eq!(first_stamp(Dump::small(layout)), 100, "{layout:?}");
            assert_eq!(first_stamp(Dump::wrapped(layout)), 503, "{layout:?}");
        }
    }
}

#[test]
fn a_truncated_wrapped_file_counts_the_missing_events_at_their_position() {
    let bytes = Dump::wrapped(USUAL).bytes();
    let (trace, kept) = read_with(bytes[..bytes.len() - 40].to_vec(), &[]).unwrap();
    assert_eq!(stamps(&kept), [503, 504, 505, 1000, 1001, 1002]);
    let gaps: Vec<_> = kept.losses.iter().map(|l| (l.before, l.events, l.cause)).collect();
    assert_eq!(gaps, [(0, None, LossCause::Overwritten), (3, Some(2), LossCause::Truncated)]);
    assert_eq!(trace.losses.events(), None);
}

#[test]
fn a_truncated_later_dump_of_the_same_run_keeps_its_complete_slots() {
    let (first, later) = (Dump::small(USUAL).bytes(), Dump::wrapped(USUAL).bytes());
    let bytes = [&first[..], &later[..later.len() - 40]].concat();
    let (trace, kept) = read_with(bytes, &[]).unwrap();
    let first = [100, 110, 120, 130, 140, 150];
    assert_eq!(stamps(&kept), [&first[..], &[503, 504, 505, 1000, 1001, 1002]].concat());
    let truncated = kept.losses.iter().find(|loss| loss.cause == LossCause::Truncated).unwrap();
    assert_eq!((truncated.before, truncated.events), (9, Some(2)));
    assert!(!remarks(&trace, Severity::Damage).is_empty());
}

#[test]
fn a_file_that_ends_inside_unused_slots_is_fine() {
    let bytes = Dump::small(USUAL).bytes();
    let (trace, kept) = read_with(bytes[..bytes.len() - 20].to_vec(), &[]).unwrap();
    assert_eq!(kept.rows.len(), 6);
    assert_eq!(trace.diagnostics.worst(), None);
    assert!(trace.losses.is_empty());
}

#[test]
fn a_trace_without_events_is_an_empty_trace() {
    let events = vec![Event::UNUSED; 8];
    let (trace, kept) = read(&Dump::new(USUAL, vec![thread(1, "a")], events, 0));
    assert_eq!((kept.rows.len(), trace.span), (0, 0));
    assert_eq!(trace.diagnostics.worst(), None);
}

#[test]
fn slot_0_unused_is_one_damaged_record_like_any_other() {
    for mut dump in [Dump::small(USUAL), Dump::wrapped(USUAL)] {
        let whole = read(&dump).1.rows.len();
        dump.events[0].context = 0;
        let (trace, kept) = read(&dump);
        assert_eq!(kept.rows.len(), whole - 1);
        assert_eq!(trace.losses.damaged(), 1);
        assert_eq!(trace.diagnostics.worst(), Some(Severity::Damage));
    }
}

#[test]
fn the_next_slot_unused_in_a_full_ring_is_one_damaged_record() {
    let mut dump = Dump::wrapped(USUAL);
    dump.header.buffer_current = dump.header.buffer_start;
    // An intact last slot shows that the ring is full. The result must be the same if the last slot
    // is damaged.
    for damaged in [&[0][..], &[0, 7]] {
        let mut dump = dump.clone();
        for slot in damaged {
            dump.events[*slot].context = 0;
        }
        let (trace, kept) = read(&dump);
        assert_eq!(kept.rows.len(), 8 - damaged.len());
        assert_eq!(trace.losses.damaged(), damaged.len() as u64);
        assert!(trace.clock.counter.direction == Direction::Up);
    }
}

#[test]
fn a_recorded_slot_after_the_next_one_is_counted() {
    let mut dump = Dump::small(USUAL);
    dump.events[7] = Event { context: 0, ..event(0, 0, 0) };
    dump.events.extend([Event::UNUSED; 4]);
    dump = Dump::new(USUAL, dump.objects, dump.events, 6);
    dump.events[8] = event(0x2100_0000, 83, 1);
    let (trace, kept) = read(&dump);
    assert_eq!(kept.rows.len(), 6);
    assert_eq!(trace.losses.damaged(), 1);
}

/// The ring has wrapped if the slot that is written next or the last slot is used, or if more than
/// half of the slots from the next one on are used.
#[test]
fn a_ring_has_wrapped_if_the_slots_after_the_next_one_are_used() {
    // The next slot, the used slots after it, and whether the ring has wrapped.
    for (current, used, is_wrapped) in [
        (3, &[][..], false),
        (3, &[4], false),
        (3, &[5, 6], false),
        (3, &[4, 5, 6], true),
        (3, &[3], true),
        (3, &[7], true),
        (4, &[5, 6], false),
        (4, &[4], true),
        (4, &[7], true),
        (0, &[], false),
        (0, &[1, 2, 3, 4], false),
        (0, &[1, 2, 3, 4, 5], true),
    ] {
        let events = (0..8).map(|slot| {
            let is_used = slot < current || used.contains(&slot);
            let stamp = if slot < current { 1000 + slot } else { 500 + slot };
            event(if is_used { 0x2100_0000 } else { 0 }, 83, stamp as u64)
        });
        let dump = Dump::new(USUAL, vec![thread(0x2100_0000, "alpha")], events.collect(), current);
        let (_, kept) = read(&dump);
        let newer = (0..current).map(|slot| 1000 + slot as u64);
        let older = used.iter().map(|slot| 500 + *slot as u64).filter(|_| is_wrapped);
        let what = format!("{used:?} from slot {current} on");
        assert_eq!(stamps(&kept), older.chain(newer).collect::<Vec<_>>(), "{what}");
        let start = dump.header.buffer_start - BASE;
        let current_place = start + 32 * current as u64;
        let first = kept.losses.first().map(|loss| (loss.events, loss.cause, loss.offset));
        let expected = match used.len() {
            _ if is_wrapped => Some((None, LossCause::Overwritten, current_place)),
            0 => None,
            strays => Some((Some(strays as u64), LossCause::Damaged, current_place)),
        };
        assert_eq!(first, expected, "{what}");
        let damaged = kept.losses.iter().filter(|loss| loss.cause == LossCause::Damaged);
        let unused = 8 - current - used.len();
        let expected = if is_wrapped { unused } else { used.len() };
        assert_eq!(damaged.filter_map(|loss| loss.events).sum::<u64>(), expected as u64, "{what}");
    }
}

#[test]
fn a_damaged_start_of_the_dump_does_not_decide_the_direction() {
    let mut dump = Dump::small(USUAL);
    dump.events.iter_mut().take(2).for_each(|event| event.context = 0);
    dump.events[2].stamp = 320;
    dump.events[3].stamp = 100;
    dump.events.truncate(4);
    let (trace, kept) = read(&Dump::new(USUAL, dump.objects, dump.events, 0));
    assert_eq!(trace.clock.counter.direction, Direction::Down);
    assert_eq!(kept.rows.iter().map(|row| row.ticks).collect::<Vec<_>>(), [0, 220]);
}

#[test]
fn a_damaged_oldest_slot_does_not_turn_the_clock_round() {
    // The timestamps of the slots; 0 is an unused slot. The newest event is in the slot before the
    // current one.
    for (current, stamps) in [
        (2, &[30, 20, 50, 40][..]),
        (2, &[30, 20, 0, 40]),
        (2, &[30, 20, 60, 50, 40]),
        (2, &[30, 20, 0, 0, 40]),
        (1, &[20, 0, 0, 40, 30]),
        (3, &[30, 20, 0, 0, 40]),
    ] {
        for direction in [Direction::Down, Direction::Up] {
            let events = stamps.iter().map(|stamp| match (*stamp, direction) {
                (0, _) => Event::UNUSED,
                (stamp, Direction::Up) => event(0x2100_0000, 83, 1000 - stamp),
                (stamp, Direction::Down) => event(0x2100_0000, 83, stamp),
            });
            let objects = vec![thread(0x2100_0000, "alpha")];
            let (trace, _) = read(&Dump::new(USUAL, objects, events.collect(), current));
            assert_eq!(trace.clock.counter.direction, direction, "{stamps:?}");
            let used = stamps.iter().filter(|stamp| **stamp > 0);
            let (least, most) = (used.clone().min().unwrap(), used.max().unwrap());
            assert_eq!(trace.span, most - least, "{stamps:?}");
        }
    }
}

/// A sink that stores the number of cores that the trace has when the first events arrive.
#[derive(Default)]
struct FirstCores(Option<u16>);

impl Sink for FirstCores {
    fn events(&mut self, trace: &Trace, _: &Batch<'_>) -> Flow {
        self.0.get_or_insert(trace.cpus);
        Flow::Continue(())
    }
}

#[test]
fn the_number_of_cores_is_known_before_the_first_event() {
    let orders = [ByteOrder::Little, ByteOrder::Big];
    let widths = [Width::Bits32, Width::Bits64];
    for (order, width) in orders.into_iter().flat_map(|order| widths.map(|width| (order, width))) {
        // All bits of the id's low byte are 0.
        let mut events: Vec<_> =
            (0..6000).map(|n| event(0x2100_0000, 0x1000, 2_000_000_000 + n)).collect();
        let cpus = |events: &[Event]| {
            let layout = Layout { order, width, ..USUAL };
            let dump = Dump::new(layout, Vec::new(), events.to_vec(), 0);
            let mut cores = FirstCores::default();
            let input = Input::from_bytes("dump", dump.bytes(), Settings::default());
            input.unwrap().read(&mut cores).unwrap();
            cores.0
        };
        assert_eq!(cpus(&events), Some(1));
        events[5500].id_word |= 3 << 24;
        assert_eq!(cpus(&events), Some(4));
        events[5501] = Event { context: 0, id_word: 200 << 24, ..events[5501] };
        assert_eq!(cpus(&events), Some(4));
    }
}

#[test]
fn an_unused_slot_does_not_end_the_survey_of_the_clock() {
    let mut dump = Dump::small(USUAL);
    dump.events[1].context = 0;
    let (trace, kept) = read(&dump);
    assert_eq!(trace.clock.counter.direction, Direction::Up);
    assert_eq!(kept.rows.last().unwrap().ticks, 50);
}

#[test]
fn a_current_pointer_that_points_at_no_slot_keeps_file_order() {
    let start = Dump::wrapped(USUAL).header.buffer_start;
    for current in [0, start + 5, start + 8 * 32, start - 32] {
        let mut dump = Dump::wrapped(USUAL);
        dump.header.buffer_current = current;
        let (trace, kept) = read(&dump);
        assert_eq!(stamps(&kept)[..4], [1000, 1001, 1002, 503], "{current:#x}");
        assert_eq!(kept.rows.len(), 8, "the last slot is read, too");
        let damage = remarks(&trace, Severity::Damage);
        assert!(damage[0].contains("try -O oldest=3"), "{damage:?}");
        let (_, kept) = read_with(dump.bytes(), &["oldest=3"]).unwrap();
        assert_eq!(stamps(&kept)[..4], [503, 504, 505, 506], "{current:#x}");
        let (trace, kept) = read_with(dump.bytes(), &[&format!("oldest={}", usize::MAX)]).unwrap();
        assert_eq!(stamps(&kept)[..4], [1000, 1001, 1002, 503], "{current:#x}");
        assert!(!remarks(&trace, Severity::Warning).is_empty());
    }
}

#[test]
fn bytes_after_the_last_slot_are_reported() {
    let mut bytes = Dump::small(USUAL).bytes();
    bytes.extend_from_slice(&[0xAA; 1000]);
    let (trace, kept) = read_with(bytes.clone(), &[]).unwrap();
    assert_eq!(kept.rows.len(), 6);
    assert_eq!(trace.diagnostics.worst(), Some(Severity::Note));
    let notes = remarks(&trace, Severity::Note);
    assert!(
        notes[0].contains("at byte 400: the 1000 bytes from here on belong to no dump"),
        "{notes:?}"
    );
    // A kernel leaves less than a slot unused at the end of its memory.
    let (trace, _) = read_with(bytes[..400 + 31].to_vec(), &[]).unwrap();
    assert_eq!(trace.diagnostics.worst(), None);
}

#[test]
fn other_reserved_words_are_a_note() {
    let mut dump = Dump::small(USUAL);
    dump.header.reserved = [1, 2, 3];
    let (trace, kept) = read(&dump);
    assert_eq!(kept.rows.len(), 6);
    assert_eq!(trace.diagnostics.worst(), Some(Severity::Note));
}

#[test]
fn a_mask_of_0_makes_all_ticks_0_and_warns() {
    let mut dump = Dump::small(USUAL);
    dump.header.timer_valid_mask = 0;
    let (trace, kept) = read(&dump);
    assert!(kept.rows.iter().all(|row| row.ticks == 0));
    assert_eq!(kept.rows.len(), 6);
    assert_eq!(remarks(&trace, Severity::Warning).len(), 1);
}

#[test]
fn an_unregistered_context_becomes_one_thread() {
    let mut dump = Dump::small(USUAL);
    for slot in [1, 3, 5] {
        dump.events[slot].context = 0x2222_0000;
    }
    let (trace, _) = read(&dump);
    let made: Vec<_> = trace.objects.iter().filter(|(_, o)| o.key == 0x2222_0000).collect();
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].1.label, "thread 0x22220000");
}

#[test]
fn a_context_whose_address_is_first_registered_as_something_else_is_its_thread() {
    let mut dump = Dump::small(USUAL);
    let mut queue = thread(0x2100_0000, "queue");
    queue.object_type = 3;
    dump = Dump::new(USUAL, vec![queue, dump.objects[0], dump.objects[1]], dump.events, 6);
    let (trace, kept) = read(&dump);
    assert_eq!(trace.contexts.get(kept.rows[1].context).unwrap().name, "alpha");
    assert_eq!(trace.objects.len(), 3);
}

#[test]
fn odd_names_are_escaped_and_empty_ones_become_addresses() {
    let mut dump = Dump::small(USUAL);
    dump.objects[0].name = b"\x01\xFFx";
    dump.objects[1].name = b"";
    let (trace, _) = read(&dump);
    let labels: Vec<_> = trace.objects.iter().map(|(_, o)| o.label.clone()).collect();
    assert_eq!(labels, [r"\x01\xffx", "thread 0x21000100"]);
    assert_eq!(trace.objects.iter().next().unwrap().1.name, b"\x01\xFFx");
}

#[test]
fn sections_that_are_not_consecutive_are_read_at_their_addresses() {
    let mut dump = Dump::small(USUAL);
    let mut bytes = dump.bytes();
    // The events move to addresses that are 32 bytes higher.
    bytes.splice(48 + 96..48 + 96, [0x55; 32]);
    dump.header.buffer_start += 32;
    dump.header.buffer_end += 32;
    dump.header.buffer_current += 32;
    dump.header.write(USUAL, &mut bytes).unwrap();
    let (trace, kept) = read_with(bytes, &[]).unwrap();
    assert_eq!(kept.rows.len(), 6);
    assert_eq!(trace.diagnostics.worst(), Some(Severity::Warning));
}

#[test]
fn sections_outside_the_file_are_read_in_sequence() {
    let mut dump = Dump::small(USUAL);
    dump.header.trace_base_address = 0x1000;
    let (trace, kept) = read(&dump);
    assert_eq!(kept.rows.len(), 6);
    assert_eq!(remarks(&trace, Severity::Warning).len(), 2);
    // If the address of the events is exactly the end of the file, no bytes follow, so the reader
    // reads the sections in sequence.
    let mut dump = Dump::small(USUAL);
    let mut bytes = dump.bytes();
    let to_end = bytes.len() as u64 - (dump.header.buffer_start - dump.header.trace_base_address);
    dump.header.buffer_start += to_end;
    dump.header.buffer_end += to_end;
    dump.header.buffer_current += to_end;
    dump.header.write(USUAL, &mut bytes).unwrap();
    let (_, kept) = read_with(bytes, &[]).unwrap();
    assert_eq!(kept.rows.len(), 6);
}

#[test]
fn a_section_begins_after_the_header_and_before_the_end_of_the_file() {
    let dump = Dump::small(USUAL);
    let length = dump.bytes().len() as u64;
    for (found, taken) in [(47, 144), (48, 48), (143, 143), (length - 1, length - 1), (length, 144)]
    {
        let mut dump = dump.clone();
        let moved = BASE.wrapping_add(found).wrapping_sub(dump.header.buffer_start);
        let header = &mut dump.header;
        for address in
            [&mut header.buffer_start, &mut header.buffer_end, &mut header.buffer_current]
        {
            *address = address.wrapping_add(moved);
        }
        let (trace, _) = read(&dump);
        let warnings = remarks(&trace, Severity::Warning);
        let expected = format!(
            "buffer_start: expected offset 144 (sections follow each other), found {found}; \
             reading at {taken}"
        );
        assert!(warnings[0].ends_with(&expected), "{warnings:?}");
    }
}

#[test]
fn a_dump_inside_a_larger_image_is_found() {
    let dump = Dump::small(USUAL).bytes();
    for before in [1, 4, 1000, 65_000] {
        let mut bytes = vec![0xE5; before];
        bytes.extend_from_slice(&dump);
        bytes.extend_from_slice(&[0xE5; 77]);
        let (_, kept) = read_with(bytes.clone(), &[]).unwrap();
        assert_eq!(kept.rows.len(), 6, "{before}");
        let (_, kept) = read_with(bytes, &[&format!("offset={before}")]).unwrap();
        assert_eq!(kept.rows.len(), 6, "{before}");
    }
    let mut far = vec![0xE5; 100_000];
    far.extend_from_slice(&dump);
    assert!(read_with(far.clone(), &[]).is_err());
    assert!(read_with(far, &["search=200000"]).is_err(), "the format is not recognised");
}

#[test]
fn an_unused_slot_between_used_ones_is_one_damaged_record() {
    let mut dump = Dump::small(USUAL);
    dump.events[2].context = 0;
    let (trace, kept) = read(&dump);
    assert_eq!(stamps(&kept), [100, 110, 130, 140, 150]);
    assert_eq!(kept.losses.len(), 1);
    assert_eq!((kept.losses[0].before, kept.losses[0].events), (2, Some(1)));
    let events = dump.header.buffer_start - dump.header.trace_base_address;
    assert_eq!(kept.losses[0].offset, events + 2 * USUAL.event_size() as u64);
    assert_eq!(trace.losses.damaged(), 1);
}

#[test]
fn the_direction_is_that_of_most_steps_and_a_tie_counts_up() {
    let of = |stamps: &[u64], options: &[&str]| {
        let mut dump = Dump::small(USUAL);
        for (event, stamp) in dump.events.iter_mut().zip(stamps) {
            event.stamp = *stamp;
        }
        dump.events[stamps.len()..].fill(Event::UNUSED);
        dump = Dump::new(USUAL, dump.objects, dump.events, stamps.len());
        let (trace, kept) = read_with(dump.bytes(), options).unwrap();
        (trace.clock.counter.direction, kept.rows.last().unwrap().ticks)
    };
    assert_eq!(of(&[1, 2, 3, 4, 5, 6], &[]).0, Direction::Up);
    assert_eq!(of(&[6, 5, 4, 3, 2, 1], &[]).0, Direction::Down);
    // The reader compares slots 2 to 5 with the slots before them, and finds two increases and two
    // decreases. The difference between slots 0 and 1, which the reader otherwise ignores, decides
    // the tie.
    assert_eq!(of(&[1, 2, 3, 2, 3, 2], &[]).0, Direction::Up);
    assert_eq!(of(&[3, 2, 3, 2, 3, 2], &[]).0, Direction::Down);
    assert_eq!(of(&[6, 5, 4, 3, 2, 1], &["direction=up"]).0, Direction::Up);
    assert_eq!(of(&[100, 320], &[]), (Direction::Up, 220));
    assert_eq!(of(&[320, 100], &[]), (Direction::Down, 220));
    assert_eq!(of(&[7], &[]), (Direction::Up, 0));
}

#[test]
fn a_clock_that_does_not_advance_is_reported() {
    let mut dump = Dump::small(USUAL);
    dump.events[..6].iter_mut().for_each(|event| event.stamp = 5);
    let (trace, kept) = read(&dump);
    assert_eq!(trace.clock.counter.direction, Direction::Up);
    assert!(kept.rows.iter().all(|row| row.ticks == 0));
    let warnings = remarks(&trace, Severity::Warning);
    assert!(
        warnings[0].contains("every timestamp is 5: the target's clock stood still"),
        "{warnings:?}"
    );
}

#[test]
fn a_full_ring_that_does_not_begin_with_the_start_of_tracing_lost_events() {
    let (trace, kept) = support::read(&fixture("threadx/wrapped-exactly.trx"), &[]);
    assert_eq!(kept.rows.len(), 5);
    assert_eq!((kept.losses[0].cause, kept.losses[0].events), (LossCause::Overwritten, None));
    assert_eq!(trace.losses.events(), None);
    let mut dump = Dump::wrapped(USUAL);
    dump.header.buffer_current = dump.header.buffer_start;
    dump.events[..2].iter_mut().for_each(|event| event.id_word = 6);
    assert!(read(&dump).0.losses.is_empty(), "full for the first time");
}

#[test]
fn a_mask_hides_junk_and_a_counter_wraps_at_it() {
    let mut dump = Dump::small(USUAL);
    dump.header.timer_valid_mask = 0x00FF_FFFF;
    let stamps = [0xABFF_FFFE, 0xABFF_FFFF, 0xCD00_0001, 0x1100_0002, 3, 4];
    for (event, stamp) in dump.events.iter_mut().zip(stamps) {
        event.stamp = stamp;
    }
    let (_, kept) = read(&dump);
    let ticks: Vec<_> = kept.rows.iter().map(|row| row.ticks).collect();
    assert_eq!(ticks, [0, 1, 3, 4, 5, 6]);
}

#[test]
fn nanoseconds_of_the_second_are_recognised() {
    let mut dump = Dump::small(USUAL);
    let stamps = [999_999_000, 999_999_100, 999_999_200, 999_999_900, 100, 200];
    for (event, stamp) in dump.events.iter_mut().zip(stamps) {
        event.stamp = stamp;
    }
    let (trace, kept) = read(&dump);
    let ticks: Vec<_> = kept.rows.iter().map(|row| row.ticks).collect();
    assert_eq!(ticks, [0, 100, 200, 900, 1100, 1200]);
    assert_eq!(trace.clock.nanoseconds(1200), Some(1200));
    let (trace, kept) = read_with(dump.bytes(), &["modulus=4294967296"]).unwrap();
    assert_eq!(kept.rows[4].ticks, 900 + 3_294_967_496);
    assert_eq!(trace.clock.rate, None);
}

#[test]
fn a_clock_that_goes_both_ways_is_a_warning() {
    let mut dump = Dump::small(USUAL);
    dump.events =
        (0..200).map(|n| event(0x2100_0000, 83, if n % 5 == 4 { n } else { n + 50 })).collect();
    dump = Dump::new(USUAL, dump.objects, dump.events, 0);
    let (trace, _) = read(&dump);
    let warnings = remarks(&trace, Severity::Warning);
    assert!(warnings[0].contains("timestamps run in both directions"), "{warnings:?}");
}

#[test]
fn wide_words_and_both_orders_are_read_alike() {
    let expected = read(&Dump::small(USUAL)).1;
    for width in [Width::Bits32, Width::Bits64] {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let (trace, kept) = read(&Dump::small(Layout { order, width, name_size: 32 }));
            let rows = |kept: &EventLog| -> Vec<_> {
                kept.rows.iter().map(|r| (r.ticks, r.context, r.id, r.priority)).collect()
            };
            assert_eq!(rows(&kept), rows(&expected));
            let third = trace.payload.argument(&kept.rows[0].payload, 2);
            assert_eq!(third, Some(3));
            assert_eq!(trace.fact("trace_base_address"), Some(BASE));
        }
    }
}

#[test]
fn cutting_the_input_does_not_matter() {
    for dump in [Dump::small(USUAL), Dump::wrapped(USUAL)] {
        let mut bytes = vec![0xE5; 40];
        bytes.extend_from_slice(&dump.bytes());
        let read = |piece| {
            let read = in_pieces("threadx", &Settings::default(), &bytes, piece);
            read.ok().map(|(_, kept)| kept)
        };
        let whole = read(bytes.len());
        assert!(whole.as_ref().is_some_and(|kept| !kept.rows.is_empty()));
        for piece in [1, 3, 50, 333] {
            assert_eq!(read(piece), whole, "{piece}");
        }
    }
}

#[test]
fn bytes_after_a_dump_may_arrive_in_pieces() {
    let [small, later] = [Dump::small(USUAL), Dump::wrapped(USUAL)].map(|dump| dump.bytes());
    let settings = settings(&["search=64"]);
    for rest in [0, 64, 65, 160, 161, 400] {
        let junk = vec![0xAA; rest];
        let unused = [&small[..], &junk].concat();
        let followed = [&small[..], &vec![0xAA; rest.min(60)], &later, &junk];
        for (bytes, events) in [(unused, 6), (followed.concat(), 14)] {
            let (trace, kept) = in_pieces("threadx", &settings, &bytes, bytes.len()).unwrap();
            assert_eq!(kept.rows.len(), events, "{rest}");
            let place = bytes.len() - rest;
            let note =
                format!("note: at byte {place}: the {rest} bytes from here on belong to no dump");
            let notes = remarks(&trace, Severity::Note);
            assert_eq!(notes.contains(&note), rest > 0, "{rest}: {notes:?}");
            for piece in [1, 32, 160] {
                let (again, same) = in_pieces("threadx", &settings, &bytes, piece).unwrap();
                assert_eq!(same, kept, "{rest} in pieces of {piece}");
                assert!(again.diagnostics.iter().eq(trace.diagnostics.iter()), "{rest} {piece}");
            }
        }
    }
}

/// Reads any input. The result is irrelevant, but the reader must not panic or hang.
fn survives(bytes: &[u8]) -> usize {
    let mut kept = EventLog::default();
    let mut decoder = FORMATS[0].decoder(&Settings::default()).unwrap();
    let mut trace = decoder.trace();
    let window = Window { offset: 0, bytes, last: true };
    let done = decoder.decode(window, &mut trace, &mut kept);
    assert!(matches!(done, Ok(Progress::Done) | Err(_)));
    // The input must contain a slot for each event.
    assert!(kept.rows.len() * 32 <= bytes.len());
    assert!(trace.objects.len() * 17 <= bytes.len() + kept.rows.len() * 32);
    kept.rows.len()
}

#[test]
fn every_truncation_keeps_all_complete_slots() {
    for layout in [USUAL, Layout { order: ByteOrder::Big, width: Width::Bits64, ..USUAL }] {
        let bytes = Dump::small(layout).bytes();
        let events = layout.header_size() + 2 * layout.registry_slot_size();
        for end in 0..bytes.len() {
            let complete = end.saturating_sub(events) / layout.event_size();
            assert_eq!(survives(&bytes[..end]), complete.min(6), "{end}");
        }
    }
}

#[test]
fn every_changed_byte_is_survived() {
    for dump in [Dump::small(USUAL), Dump::wrapped(USUAL)] {
        let bytes = dump.bytes();
        for at in 0..bytes.len() {
            for change in 1..=255_u8 {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                survives(&changed);
            }
        }
    }
}

#[test]
fn every_flipped_bit_and_truncation_of_a_real_kernels_dump_is_survived() {
    let Ok(bytes) = std::fs::read(fixture("threadx/tiny.trx")) else {
        panic!("the fixture is part of the project")
    };
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        survives(&changed);
        if at % 7 == 0 {
            survives(&bytes[..at]);
        }
    }
}

#[test]
fn a_file_that_ends_before_the_events_has_lost_an_unknown_number() {
    let bytes = Dump::small(USUAL).bytes();
    for end in [48, 48 + 96, 48 + 96 + 31] {
        let (trace, kept) = read_with(bytes[..end].to_vec(), &[]).unwrap();
        assert_eq!(kept.rows.len(), 0, "{end}");
        assert_eq!(kept.losses.len(), 1, "{end}");
        assert_eq!((kept.losses[0].cause, kept.losses[0].events), (LossCause::Truncated, None));
        assert_eq!(trace.diagnostics.worst(), Some(Severity::Damage), "{end}");
    }
}

/// The number of cores that a sink sees at the first batch.
struct CoresAtFirst(Option<u16>);

impl Sink for CoresAtFirst {
    fn events(&mut self, trace: &Trace, _: &Batch<'_>) -> Flow {
        self.0.get_or_insert(trace.cpus);
        Flow::Continue(())
    }
}

#[test]
fn cores_are_counted_by_the_highest_number_even_if_it_occurs_late() {
    let with_core = |core: u64, at: usize| {
        let mut events: Vec<_> =
            (0..20_000).map(|n| event(0x2100_0000, 83, 2_000_000_000 + n)).collect();
        events[0].id_word |= 1 << 24;
        events[at].id_word |= core << 24;
        let registry = vec![thread(0x2100_0000, "a")];
        let bytes = Dump::new(USUAL, registry, events, 0).bytes();
        let mut cores = CoresAtFirst(None);
        let trace = Input::from_bytes("dump", bytes, settings(&[])).unwrap().read(&mut cores);
        assert_eq!(cores.0, Some(trace.unwrap().cpus));
        cores.0.unwrap()
    };
    assert_eq!(with_core(2, 5), 3, "cores 0, 1 and 2 are three");
    assert_eq!(with_core(7, 19_000), 8, "after the clock's direction is known");
}
