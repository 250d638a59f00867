//! Tests the S.Ha.R.K. reader on rings, gaps, damage and hostile input: one test per rule, and
//! every truncation and every changed byte of a small file.

mod support;

use proptest::prelude::*;
use support::shark::{framed, packet};
use support::{EventLog, fixture, settings};
use tracewell::analysis::scheduling::{Figures, Scheduling};
use tracewell::format::{FORMATS, recognise};
use tracewell::input::{Input, InputError};
use tracewell::model::{
    ContextId, ContextKind, Loss, LossCause, MaybeContext, Running, Severity, Trace,
};
use tracewell_wire::shark::{ChunkHeader, Record, ids};

fn record(tsc: u64, code: u8, par1: u16, par2: u32) -> Record {
    Record { code_word: u16::from(code), par1, tsc, par2 }
}

fn point(tsc: u64, number: u16) -> Record {
    record(tsc, ids::IPOINT, number, 0)
}

fn fast(tsc: u64, number: u16) -> Record {
    Record { code_word: Record::FAST | u16::from(ids::IPOINT), ..record(tsc, 0, number, 99) }
}

fn bytes(records: &[Record]) -> Vec<u8> {
    records.iter().flat_map(Record::to_bytes).collect()
}

fn read_with(bytes: Vec<u8>, options: &[&str]) -> Result<(Trace, EventLog), InputError> {
    let mut kept = EventLog::default();
    let trace = open(bytes, options)?.read(&mut kept)?;
    Ok((trace, kept))
}

/// Opens bytes. If an option specifies their kind, the format is S.Ha.R.K.; otherwise the reader
/// recognises the format.
fn open(bytes: Vec<u8>, options: &[&str]) -> Result<Input, InputError> {
    let mut settings = settings(options);
    let told = options.iter().any(|option| option.starts_with("kind="));
    settings.format = told.then(|| "shark".to_owned());
    Input::from_bytes("trace", bytes, settings)
}

fn read(records: &[Record]) -> (Trace, EventLog) {
    read_with(bytes(records), &["kind=records"]).unwrap()
}

/// Returns the first parameters in the order of events. Each test numbers its records in this
/// parameter.
fn numbers(kept: &EventLog) -> Vec<u16> {
    kept.rows.iter().map(|row| Record::read(&row.record).unwrap().par1).collect()
}

fn gaps(kept: &EventLog) -> Vec<(u64, Option<u64>, LossCause)> {
    kept.losses
        .iter()
        .map(|Loss { before, events, cause, .. }| (*before, *events, *cause))
        .collect()
}

fn remarks(trace: &Trace, severity: Severity) -> Vec<String> {
    let of = trace.diagnostics.iter().filter(|d| d.severity == severity);
    of.map(ToString::to_string).collect()
}

#[test]
fn a_ring_is_put_in_order_and_its_seam_is_a_gap() {
    let (trace, kept) =
        read(&[point(30, 3), point(40, 4), Record::EMPTY, point(10, 1), point(20, 2)]);
    assert_eq!(numbers(&kept), [1, 2, 3, 4]);
    assert_eq!(gaps(&kept), [(0, None, LossCause::Overwritten)]);
    assert_eq!((trace.span, trace.fact("empty_slots")), (30, Some(1)));
    assert_eq!(trace.losses.events(), None);
}

#[test]
fn a_fast_record_of_an_older_lap_is_sorted_by_its_timestamp() {
    // Two records of the newest lap, one of the previous lap, and an older record that neither lap
    // overwrote.
    let (trace, kept) = read(&[point(30, 3), point(40, 4), point(20, 2), fast(5, 1)]);
    assert_eq!(numbers(&kept), [1, 2, 3, 4]);
    let overwritten = LossCause::Overwritten;
    assert_eq!(gaps(&kept), [(0, None, overwritten), (1, None, overwritten)]);
    assert_eq!(
        trace.payload.argument(&kept.rows[0].payload, 1),
        None,
        "the fast path does not write it"
    );
    assert_eq!(trace.payload.argument(&kept.rows[1].payload, 1), Some(0));
    assert_eq!(trace.fact("fast_records"), Some(1));
}

#[test]
fn equal_stamps_stay_as_they_lie() {
    let (_, kept) = read(&[point(7, 2), point(9, 4), point(7, 3), point(9, 5), point(6, 1)]);
    assert_eq!(numbers(&kept), [1, 2, 3, 4, 5]);
}

#[test]
fn records_of_several_parts_are_merged() {
    let (first, second) = ([point(10, 1), point(30, 3)], [point(20, 2), point(40, 4)]);
    let mut both = bytes(&first);
    both.extend(bytes(&second));
    let (trace, kept) = read_with(both, &["parts=32"]).unwrap();
    assert_eq!((numbers(&kept), gaps(&kept)), (vec![1, 2, 3, 4], vec![]));
    assert_eq!((trace.fact("parts"), trace.fact("descents")), (Some(2), Some(0)));
}

#[test]
fn a_truncated_record_is_a_loss_after_the_previous_record() {
    let mut cut = bytes(&[point(30, 3), point(10, 1), point(20, 2)]);
    cut.extend([1; 9]);
    let (trace, kept) = read_with(cut, &[]).unwrap();
    let expected = [(0, None, LossCause::Overwritten), (2, Some(1), LossCause::Truncated)];
    assert_eq!(gaps(&kept), expected);
    assert_eq!(kept.losses[1].offset, 48);
    let damage = remarks(&trace, Severity::Damage);
    assert_eq!(damage, ["damaged: at byte 48: expected a record of 16 bytes, found 9"]);
}

#[test]
fn the_clock_goes_by_the_start_and_by_its_changes() {
    let start = record(1000, ids::TRACE_START, 0x100, 1_000_000);
    let change = record(3000, ids::CYCLES_PER_MSEC, 0, 500_000);
    let again = record(5000, ids::TRACE_START, 0x100, 250_000);
    let trace =
        [point(999, 1), start, point(2000, 2), change, point(4000, 3), again, point(6000, 4)];
    let (trace, kept) = read(&trace);
    let times: Vec<_> = kept.rows.iter().map(|row| trace.clock.nanoseconds(row.ticks)).collect();
    assert_eq!(times, [0, 1, 1001, 2001, 4001, 6001, 10_001].map(Some));
    assert_eq!(trace.clock.rate.unwrap().ratio(), (1_000_000_000, 1));
}

#[test]
fn the_users_rate_replaces_a_missing_start_record() {
    let ring = [point(2000, 2), point(1000, 1)];
    assert_eq!(read(&ring).0.clock.nanoseconds(1000), None);
    let (trace, _) = read_with(bytes(&ring), &["rate=2GHz"]).unwrap();
    assert_eq!(trace.clock.nanoseconds(1000), Some(500));
    let change = [record(1000, ids::CYCLES_PER_MSEC, 0, 5), point(2000, 2)];
    let (trace, _) = read(&change);
    assert_eq!(trace.clock.nanoseconds(1000), None);
    assert_eq!(remarks(&trace, Severity::Warning).len(), 1);
}

#[test]
fn a_context_names_one_task_after_the_other() {
    let (trace, kept) = read_with(
        bytes(&[
            record(1, ids::ID, 0x100, 4),
            record(2, ids::TASK_SCHEDULE, 0x100, 0x100),
            point(3, 0),
            record(4, ids::TASK_END, 0x100, 4),
            record(5, ids::TASK_CREATE, 0x100, 7),
            record(6, ids::TASK_SCHEDULE, 0x100, 0x100),
            point(7, 0),
        ]),
        &["names=4=first"],
    )
    .unwrap();
    let ran = |row: usize| trace.contexts.get(kept.rows[row].context).unwrap().name.as_str();
    assert_eq!((ran(1), ran(2), ran(6)), ("unknown", "first", "pid 7"));
    let named = |ticks| trace.objects.at(0x100, ticks, Some(1)).unwrap().1.label.as_str();
    assert_eq!((named(0), named(3), named(4), named(6)), ("first", "first", "pid 7", "pid 7"));
    // The record `ID` names a task that existed before the trace began, so the start of the task is
    // unknown. Ticks are counted from the first record.
    let lives = trace.objects.iter().map(|(_, object)| object);
    let lives: Vec<_> = lives.filter(|object| object.key == 0x100).collect();
    let lives: Vec<_> = lives.iter().map(|o| (o.lifetime.from, o.lifetime.until)).collect();
    assert_eq!(lives, [(None, Some(3)), (Some(4), None)]);
}

#[test]
fn the_context_of_an_event_is_the_running_task() {
    let (trace, kept) = read(&[
        record(1, ids::TRACE_START, 0x100, 1000),
        record(2, ids::INTERRUPT_START, 5, 0),
        record(3, ids::TASK_SCHEDULE, 0x108, 0x108),
        record(4, ids::INTERRUPT_END, 5, 0),
        record(5, ids::TASK_END_CYCLE, 0x108, 1),
        record(6, ids::TASK_SCHEDULE, 0x110, 0x108),
        record(7, ids::CONTEXT_SWITCH, 0x110, 0),
    ]);
    let names: Vec<_> = kept
        .rows
        .iter()
        .map(|row| trace.contexts.get(row.context).unwrap().key_text.as_str())
        .collect();
    let expected = ["0x0100", "interrupt", "interrupt", "interrupt", "0x0108", "0x0108", "0x0110"];
    assert_eq!(names, expected);
}

fn full_packet(number: u32, first: u16) -> Vec<u8> {
    let records: Vec<_> = (first..first + 60).map(|n| point(u64::from(n), n)).collect();
    packet(number, &records)
}

#[test]
fn packets_are_placed_by_number_and_a_missing_one_is_a_gap_between_its_neighbours() {
    let capture = [
        framed(&[]),
        full_packet(4, 181),
        full_packet(2, 61),
        full_packet(1, 1),
        full_packet(2, 61),
        packet(5, &[point(241, 241)]),
    ]
    .concat();
    let (trace, kept) = read_with(capture, &[]).unwrap();
    let expected: Vec<_> = (1..=120).chain(181..=241).collect();
    assert_eq!(numbers(&kept), expected);
    assert_eq!(gaps(&kept), [(120, Some(60), LossCause::Missing)]);
    let notes = remarks(&trace, Severity::Note);
    assert_eq!(
        notes,
        ["note: 1 datagram of chunks without records", "note: 1 packet arrived twice"]
    );
}

#[test]
fn nothing_is_reckoned_across_a_gap() {
    let (main, other) = (0x100, 0x108);
    let begin = [
        record(0, ids::TRACE_START, main, 1000),
        record(10, ids::TASK_ACTIVATE, other, 0),
        record(11, ids::TASK_SCHEDULE, other, 0x108),
    ];
    let filled = (0..57).map(|n| point(20 + n, 0));
    let first: Vec<_> = begin.into_iter().chain(filled).collect();
    let last = [
        record(1000, ids::TASK_END_CYCLE, other, 1),
        record(1001, ids::TASK_SCHEDULE, main, 0x100),
        record(1002, ids::TASK_TIMER, other, 1),
        record(1010, ids::TASK_SCHEDULE, other, 0x108),
        record(1020, ids::TASK_END_CYCLE, other, 1),
    ];
    let capture = [packet(1, &first), packet(3, &last)].concat();
    let mut sink = Scheduling::default();
    let trace = open(capture, &[]).unwrap().read(&mut sink).unwrap();
    let figures = sink.figures(&trace);
    // From 76 to 1000 the task is unknown. From 1000 to 1001, the trace does not show yet that a
    // task is running.
    assert_eq!((figures.gaps, figures.gap_ticks, figures.charged_ticks), (1, 924, Some(76 + 19)));
    let jobs = figures.tasks[1].jobs.unwrap();
    assert_eq!((jobs.activations, jobs.across_gaps, jobs.orphan_completions), (2, 1, 1));
    assert_eq!((jobs.response.count, jobs.response.max, jobs.release_gap.count), (1, 18, 0));
    assert_eq!(figures.tasks[1].execution.unwrap().ticks, 65 + 10);
    // Now the same records without a gap.
    let mut sink = Scheduling::default();
    let whole: Vec<_> = first.iter().chain(&last).copied().collect();
    let trace = open(bytes(&whole), &["kind=records"]).unwrap().read(&mut sink).unwrap();
    let figures = sink.figures(&trace);
    assert_eq!((figures.gaps, figures.charged_ticks), (0, Some(1020)));
    let jobs = figures.tasks[1].jobs.unwrap();
    assert_eq!((jobs.across_gaps, jobs.orphan_completions), (0, 0));
    assert_eq!((jobs.response.max, jobs.release_gap.max), (990, 992));
}

#[test]
fn times_in_which_a_family_was_filtered_are_reported() {
    let filter = ids::filter_record(ids::family::MUTEX);
    let records = [
        point(1, 0),
        record(2, filter, 1, 0),
        record(3, filter, 1, 0),
        record(5, filter, 0, 0),
        record(7, ids::filter_record(ids::family::TIMER), 1, 0),
        point(9, 0),
    ];
    let mut sink = Scheduling::default();
    let trace = open(bytes(&records), &[]).unwrap().read(&mut sink).unwrap();
    let hidden: Vec<_> =
        sink.figures(&trace).hidden.iter().map(|h| (h.id, h.from, h.until)).collect();
    assert_eq!(hidden, [(0xF6, 1, 4), (0xFB, 6, 8)]);
}

#[test]
fn chunks_that_were_sent_one_after_the_other_are_no_ring() {
    // A packet that is not full is the last of its chunk.
    let capture = [packet(1, &[point(20, 2)]), packet(2, &[point(10, 1)])].concat();
    let (_, kept) = read_with(capture, &[]).unwrap();
    assert_eq!((numbers(&kept), gaps(&kept)), (vec![1, 2], vec![]));
    // After a full packet, the next packet continues the chunk.
    let capture = [full_packet(1, 61), full_packet(2, 1)].concat();
    let (trace, kept) = read_with(capture, &[]).unwrap();
    assert!(numbers(&kept).into_iter().eq(1..=120));
    assert_eq!(gaps(&kept), [(0, None, LossCause::Overwritten)]);
    let notes = remarks(&trace, Severity::Note);
    assert_eq!(notes, ["note: timestamps decrease once in memory order: a ring wrapped"]);
}

#[test]
fn names_of_tasks_that_do_not_occur_are_reported() {
    let records = bytes(&[record(1, ids::ID, 0x100, 4), point(2, 1)]);
    for (names, warnings) in [("names=4=low,5=high", 0), ("names=5=high", 1)] {
        let (trace, _) = read_with(records.clone(), &["kind=records", names]).unwrap();
        let found = remarks(&trace, Severity::Warning);
        assert_eq!(found.len(), warnings, "{found:?}");
        assert!(
            found.iter().all(|warning| warning.ends_with("none of them is a pid of this trace"))
        );
    }
}

#[test]
fn bits_that_no_writer_sets_are_reported_at_the_first_place() {
    let odd = |tsc| Record { code_word: 0x2000 | u16::from(ids::IPOINT), ..point(tsc, 1) };
    let (trace, kept) = read(&[point(1, 1), odd(2), fast(3, 1), odd(4)]);
    let warning = "warning: at byte 16: 2 code words have bits that no writer sets; the first one \
        is here";
    assert_eq!((remarks(&trace, Severity::Warning), kept.rows.len()), (vec![warning.into()], 4));
}

/// The reader examines 512 slots at once, unless they contain a record that needs attention.
#[test]
fn a_special_record_among_ordinary_ones_is_noticed() {
    const START: Record = Record { code_word: ids::TRACE_START as u16, par2: 5, ..Record::EMPTY };
    let change = Record { code_word: ids::CYCLES_PER_MSEC.into(), ..START };
    let odd = |bit: u16| Record { code_word: ids::IPOINT as u16 | 1 << bit, ..Record::EMPTY };
    let specials = [Record::EMPTY, START, change, fast(0, 0)].into_iter().chain((8..15).map(odd));
    for places in [&[512][..], &[700], &[1023], &[600, 601], &[513, 800, 1022]] {
        for special in specials.clone() {
            let mut records: Vec<_> = (0..1536).map(|n| point(10 + n, n as u16)).collect();
            for place in places {
                let tsc = if special.is_empty() { 0 } else { 10 + *place as u64 };
                records[*place] = Record { tsc, ..special };
            }
            let (trace, kept) = read(&records);
            let what = format!("{special:?} at {places:?}");
            let count = |condition: bool| if condition { places.len() as u64 } else { 0 };
            let empty = count(special.is_empty());
            assert_eq!(kept.rows.len() as u64, 1536 - empty, "{what}");
            assert!(kept.losses.is_empty(), "{what}");
            assert_eq!(trace.fact("slots"), Some(1536), "{what}");
            assert_eq!(trace.fact("empty_slots"), Some(empty), "{what}");
            assert_eq!(trace.fact("fast_records"), Some(count(special.is_fast())), "{what}");
            assert_eq!(trace.fact("descents"), Some(0), "{what}");
            // Only a start sets the first rate of the clock. A change in a trace without a start
            // causes a warning.
            assert_eq!(trace.clock.rate.is_some(), special == START, "{what}");
            let warnings = remarks(&trace, Severity::Warning);
            let of_bits = warnings.iter().filter(|warning| {
                let start = format!(
                    "warning: at byte {}: {} code words have bits that no writer sets",
                    16 * places[0],
                    places.len()
                );
                warning.starts_with(&start)
            });
            let is_odd = special.unexpected_code_bits() != 0;
            assert_eq!(of_bits.count(), usize::from(is_odd), "{what}: {warnings:?}");
            let is_change = special == change;
            assert_eq!(warnings.len(), usize::from(is_odd || is_change), "{what}: {warnings:?}");
        }
    }
}

#[test]
fn a_decreasing_timestamp_among_ordinary_ones_is_a_descent() {
    for places in [&[512][..], &[700], &[1023], &[1024], &[600, 602], &[513, 800, 1022]] {
        let mut tsc = 1_000_000;
        let records = (0..1536).map(|n| {
            tsc = if places.contains(&n) { tsc - 2000 } else { tsc + 1 };
            point(tsc, n as u16)
        });
        let records: Vec<_> = records.collect();
        let (trace, kept) = read(&records);
        assert_eq!(trace.fact("descents"), Some(places.len() as u64), "{places:?}");
        assert_eq!(kept.losses.len(), places.len(), "{places:?}");
        let mut expected = records.clone();
        expected.sort_by_key(|record| record.tsc);
        let expected: Vec<_> = expected.iter().map(|record| record.par1).collect();
        assert_eq!(numbers(&kept), expected, "{places:?}");
    }
}

#[test]
fn long_runs_of_several_parts_are_merged_in_order_of_time() {
    for block in [1, 2, 300, 512, 1000] {
        let part = |first: u64| {
            (0..2000).map(move |n| point(n / block * 2 * block + n % block + first * block, 0))
        };
        let records: Vec<_> = part(0).chain(part(1)).collect();
        let (trace, kept) = read_with(bytes(&records), &["kind=records", "parts=32000"]).unwrap();
        assert_eq!((trace.fact("descents"), kept.losses.len()), (Some(0), 0));
        let mut expected: Vec<_> = records.iter().map(|record| record.tsc).collect();
        expected.sort_unstable();
        let stamps = kept.rows.iter().map(|row| Record::read(&row.record).unwrap().tsc);
        assert!(stamps.eq(expected), "{block}");
    }
}

#[test]
fn datagrams_with_wrong_lengths_are_refused() {
    let mut wrong = packet(2, &[point(2, 2)]);
    wrong[4 + 16] = 2;
    let cut = packet(4, &[point(4, 4)]);
    let cut = &cut[..cut.len() - 1];
    let capture = [
        packet(1, &[point(1, 1)]),
        wrong,
        framed(b"hello"),
        packet(3, &[point(3, 3)]),
        cut.to_vec(),
    ];
    let (trace, kept) = read_with(capture.concat(), &[]).unwrap();
    assert_eq!(numbers(&kept), [1, 3]);
    let expected = [(1, Some(60), LossCause::Missing), (2, None, LossCause::Truncated)];
    assert_eq!(gaps(&kept), expected);
    assert_eq!(remarks(&trace, Severity::Damage).len(), 4);
}

fn chunk(number: u32, records: &[Record], slots: u32) -> Vec<u8> {
    let header = ChunkHeader {
        number,
        flags: 0,
        size: 16 * slots,
        emergency_size: 32,
        head: 24,
        position: 0,
        start: 48,
        recording_flags: 0,
        next: 0,
    };
    let mut image = vec![0; ChunkHeader::SIZE];
    header.write(&mut image).unwrap();
    image.extend(bytes(records));
    image.resize(ChunkHeader::SIZE + 16 * slots as usize + 32, 0);
    image
}

/// The emergency area keeps old records of a chunk whose normal area is a ring.
#[test]
fn a_ring_that_begins_after_its_emergency_area_has_lost_records() {
    let overwritten = |before| vec![(before, None, LossCause::Overwritten)];
    for (stamps, expected) in [
        ([30, 40, 50, 60, 10, 20], overwritten(2)),
        ([30, 40, 50, 60, 29, 70], overwritten(1)),
        ([30, 40, 50, 60, 30, 70], vec![]),
        ([30, 40, 50, 60, 31, 70], vec![]),
        // The ring has a seam of its own.
        ([50, 60, 30, 40, 10, 20], overwritten(2)),
    ] {
        let records = stamps.map(|tsc| point(tsc, tsc as u16));
        let (trace, kept) = read_with(chunk(0, &records, 4), &[]).unwrap();
        let mut sorted: Vec<_> = stamps.map(|tsc| tsc as u16).to_vec();
        sorted.sort_unstable();
        assert_eq!(numbers(&kept), sorted, "{stamps:?}");
        assert_eq!(gaps(&kept), expected, "{stamps:?}");
        assert_eq!(trace.fact("descents"), Some(u64::from(stamps[0] == 50)), "{stamps:?}");
    }
    // Without records in the emergency area, nothing shows that the ring overwrote records.
    let (_, kept) =
        read_with(chunk(0, &[30, 40, 50, 60].map(|tsc| point(tsc, 1)), 4), &[]).unwrap();
    assert_eq!((kept.rows.len(), gaps(&kept)), (4, vec![]));
    // The file may end with the normal area, within the emergency area, or before both.
    let whole = chunk(0, &[30, 40, 50, 60, 10, 20].map(|tsc| point(tsc, tsc as u16)), 4);
    let truncated = |before| (before, None, LossCause::Truncated);
    for (slots, expected, lost) in [
        (0, vec![], vec![truncated(0)]),
        (3, vec![30, 40, 50], vec![truncated(3)]),
        (4, vec![30, 40, 50, 60], vec![truncated(4)]),
        (5, vec![10, 30, 40, 50, 60], vec![truncated(1), overwritten(1)[0]]),
    ] {
        let bytes = whole[..ChunkHeader::SIZE + 16 * slots + 7].to_vec();
        let (trace, kept) = read_with(bytes, &[]).unwrap();
        assert_eq!(numbers(&kept), expected, "{slots}");
        assert_eq!(gaps(&kept), lost, "{slots}");
        let message = format!("the chunk has 96 bytes for records, found {}", 16 * slots + 7);
        assert!(remarks(&trace, Severity::Damage)[0].ends_with(&message), "{slots}");
    }
}

#[test]
fn chunk_images_are_read_one_after_the_other() {
    let mut images = chunk(0, &[point(10, 1), point(20, 2)], 4);
    images.extend(chunk(1, &[point(30, 3)], 2));
    let (trace, kept) = read_with(images.clone(), &[]).unwrap();
    assert_eq!((numbers(&kept), gaps(&kept)), (vec![1, 2, 3], vec![]));
    assert_eq!(trace.fact("empty_slots"), Some(2 + 2 + 1 + 2));
    images.truncate(images.len() - 40);
    let (_, kept) = read_with(images, &[]).unwrap();
    assert_eq!(gaps(&kept), [(3, None, LossCause::Truncated)]);
}

#[test]
fn bytes_of_other_formats_are_not_recognised_as_records() {
    let found = |bytes: &[u8]| recognise(bytes).map(|format| format.name);
    assert_eq!(found(&bytes(&[point(1, 1), point(2, 2)])), Some("shark"));
    assert_eq!(found(&[0; 64]), None);
    assert_eq!(found(b"a text of more than sixteen bytes\n"), None);
    assert_eq!(found(&bytes(&[record(1, ids::NEXT_CHUNK, 0, 0)])), None);
    assert_eq!(found(&bytes(&[point(0, 1), point(2, 2)])), None, "a timestamp is 0");
    let odd = Record { code_word: 0x0100 | u16::from(ids::IPOINT), ..point(2, 1) };
    assert_eq!(found(&bytes(&[point(1, 1), odd])), None);
    // A ring with an emergency area has two decreasing timestamps.
    let descents = [point(4, 1), point(4, 1), point(3, 1), point(2, 1), point(1, 1)];
    assert_eq!(found(&bytes(&descents[..4])), Some("shark"));
    assert_eq!(found(&bytes(&descents)), None);
    assert_eq!(found(&bytes(&[&[Record::EMPTY; 300][..], &[point(1, 1)]].concat())), Some("shark"));
    assert_eq!(found(&bytes(&[record(1, 0x0C, 0, 0)])), None, "no such event");
    let dump = std::fs::read(fixture("threadx/tiny.trx")).unwrap();
    assert_eq!(found(&dump), Some("threadx"));
    assert!(FORMATS.iter().any(|format| format.name == "shark"));
    let error = read_with(vec![0; 64], &["rate=1"]).unwrap_err().to_string();
    assert!(error.contains("expected one of the formats"), "{error}");
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let error = |option: &str| read_with(bytes(&[point(1, 1)]), &[option]).unwrap_err().to_string();
    for (option, message) in [
        ("kind=udp", "-O kind: expected records, chunk or capture, found 'udp'"),
        ("names=5", "-O names: expected a pid and a name such as 5=tau1, found '5'"),
        ("direction=up", "-O direction: unknown option; this format has rate, names, kind"),
    ] {
        assert!(error(option).starts_with(message), "{}", error(option));
    }
}

/// Reads and analyses bytes. Returns the number of events.
fn survives(bytes: Vec<u8>, options: &[&str]) -> usize {
    let size = bytes.len();
    let Ok((trace, kept)) = read_with(bytes.clone(), options) else { return 0 };
    assert!(16 * kept.rows.len() <= size, "an event needs a slot");
    assert!(kept.rows.is_sorted_by_key(|row| row.ticks), "ticks decrease");
    assert_eq!(trace.events as usize, kept.rows.len());
    let mut sink = Scheduling::default();
    let trace = open(bytes, options).unwrap().read(&mut sink).unwrap();
    let Figures { charged_ticks, .. } = sink.figures(&trace);
    assert!(charged_ticks.unwrap() <= trace.span, "more time was charged than elapsed");
    kept.rows.len()
}

#[test]
fn every_truncation_keeps_all_complete_records() {
    let file = std::fs::read(fixture("shark/2c_linked.dat")).unwrap();
    for end in 0..file.len() {
        let kept = survives(file[..end].to_vec(), &["kind=records"]);
        assert_eq!(kept, end / 16, "{end}");
    }
}

#[test]
fn every_changed_byte_is_survived() {
    let file = std::fs::read(fixture("shark/0c_linked.dat")).unwrap();
    // A file with a map of tasks, some jobs, interrupts and a mutex.
    let start = &file[..1280];
    for at in 0..start.len() {
        for value in [0, 0x20, 0xFF] {
            let mut changed = start.to_vec();
            changed[at] = value;
            let kept = survives(changed, &["kind=records"]);
            assert!(kept >= start.len() / 16 - 1, "byte {at}");
        }
    }
}

#[test]
fn every_truncation_and_changed_byte_of_a_capture_is_survived() {
    let capture = std::fs::read(fixture("shark/a_linear.udpcap")).unwrap();
    let capture = &capture[..2 * 988];
    for end in 0..capture.len() {
        survives(capture[..end].to_vec(), &["kind=capture"]);
        let mut changed = capture.to_vec();
        changed[end] ^= 0xFF;
        assert!(survives(changed, &["kind=capture"]) <= 120);
    }
}

fn any_record() -> impl Strategy<Value = Record> {
    // There are few values, so contexts, pids and timestamps repeat.
    let codes = prop::sample::select(vec![
        ids::TRACE_START,
        ids::ID,
        ids::TASK_CREATE,
        ids::TASK_END,
        ids::TASK_ACTIVATE,
        ids::TASK_TIMER,
        ids::TASK_END_CYCLE,
        ids::TASK_SCHEDULE,
        ids::CONTEXT_SWITCH,
        ids::INTERRUPT_START,
        ids::INTERRUPT_END,
        ids::TIMER_WAKEUP_START,
        ids::TIMER_WAKEUP_END,
        ids::SET_MUTEX_LOCK,
        ids::SET_MUTEX_UNLOCK,
        ids::SERVER_ACTIVE,
        ids::SERVER_EXHAUST,
        ids::SERVER_REPLENISH,
        ids::IPOINT,
        ids::CYCLES_PER_MSEC,
    ]);
    (codes, 0..4_u16, 0..500_u64, 0..4_u32, prop::bool::weighted(0.05)).prop_map(
        |(code, context, tsc, par2, fast)| {
            let second = matches!(code, ids::TASK_SCHEDULE) as u32;
            Record {
                code_word: u16::from(code) | if fast { Record::FAST } else { 0 },
                par1: 0xF8 + 8 * context,
                tsc,
                par2: par2 + second * (0xF8 + 7 * par2),
            }
        },
    )
}

/// Consecutive records of a kernel. Each is a code and the number of a task or an interrupt, or 0.
fn any_phrase() -> impl Strategy<Value = Vec<(u8, u16)>> {
    let timer = |nested: bool, chosen: bool| {
        move |(here, next): (u16, u16)| {
            let device = [(ids::INTERRUPT_START, 5), (ids::INTERRUPT_END, 5)];
            let choice = [(ids::TASK_TIMER, next), (ids::TASK_SCHEDULE, next)];
            std::iter::once((ids::TIMER_WAKEUP_START, 0))
                .chain(device.into_iter().filter(|_| nested))
                .chain(choice.into_iter().filter(|_| chosen))
                .chain([(ids::TIMER_POST, 0), (ids::TIMER_WAKEUP_END, here)])
                .collect()
        }
    };
    let tasks = || (1..5_u16, 1..5_u16);
    prop_oneof![
        4 => tasks().prop_map(timer(false, true)),
        4 => tasks().prop_map(timer(false, false)),
        1 => tasks().prop_map(timer(true, true)),
        1 => tasks().prop_map(|(task, _)| vec![(ids::INTERRUPT_END, 5), (ids::ID, task)]),
        4 => tasks().prop_map(|(_, next)| vec![
            (ids::INTERRUPT_START, 5), (ids::INTERRUPT_END, 5), (ids::TASK_SCHEDULE, next)]),
        4 => tasks().prop_map(|(here, next)| vec![
            (ids::TASK_END_CYCLE, here), (ids::TASK_SCHEDULE, next), (ids::CONTEXT_SWITCH, next)]),
        9 => tasks().prop_map(|_| vec![(ids::IPOINT, 0)]),
    ]
}

/// Records in time order, as a kernel writes them.
fn plausible_records() -> impl Strategy<Value = Vec<Record>> {
    prop::collection::vec(any_phrase(), 1..300).prop_map(|phrases| {
        let record = |(tsc, (code, number)): (usize, (u8, u16))| {
            let names = code != ids::IPOINT && code != ids::INTERRUPT_START;
            let par1 = if names && code != ids::INTERRUPT_END { 0xF8 + 8 * number } else { number };
            Record { code_word: u16::from(code), par1, tsc: tsc as u64, par2: u32::from(par1) }
        };
        phrases.into_iter().flatten().enumerate().map(record).collect()
    })
}

/// Returns the context of each record according to a simple model. Contexts are task numbers.
fn recorded_by(running: &mut Running<MaybeContext>, record: &Record) -> Result<u32, &'static str> {
    let now = |running: &Running<MaybeContext>| match running.task() {
        _ if running.in_interrupt() => Err("interrupt"),
        Some(task) => Ok(task.0),
        None => Err("unknown"),
    };
    let before = now(running);
    let task = ContextId(u32::from(record.par1));
    match record.code() {
        ids::TRACE_START => running.start(task),
        ids::CONTEXT_SWITCH if record.par1 == ids::context::KERNEL => running.load_system(task),
        ids::CONTEXT_SWITCH => running.load(task),
        ids::INTERRUPT_START | ids::TIMER_WAKEUP_START => running.enter(),
        ids::TASK_SCHEDULE => {
            running.choose(task.into());
            return before;
        }
        ids::INTERRUPT_END => {
            running.exit(None);
            return before;
        }
        ids::TIMER_WAKEUP_END => {
            running.exit(Some(task));
            return before;
        }
        _ => return before,
    }
    now(running)
}

proptest! {
    #[test]
    fn written_records_are_read_in_the_order_of_time(
        records in prop::collection::vec(any_record(), 1..600),
    ) {
        let (trace, kept) = read(&records);
        let mut expected = records.clone();
        expected.sort_by_key(|record| record.tsc);
        let found: Vec<_> =
            kept.rows.iter().map(|row| Record::read(&row.record).unwrap()).collect();
        prop_assert_eq!(&found, &expected);
        for (row, record) in kept.rows.iter().zip(&expected) {
            prop_assert_eq!(row.ticks, record.tsc - expected[0].tsc);
            prop_assert_eq!(row.id, u32::from(record.code()));
            prop_assert!(trace.contexts.get(row.context).is_some());
        }
        prop_assert_eq!(trace.span, expected[expected.len() - 1].tsc - expected[0].tsc);
        survives(bytes(&records), &["kind=records"]);
    }

    #[test]
    fn contexts_agree_with_a_simple_model(
        records in prop_oneof![prop::collection::vec(any_record(), 1..600), plausible_records()],
    ) {
        let (trace, kept) = read(&records);
        let mut model = Running::<MaybeContext>::default();
        for row in &kept.rows {
            if kept.losses.iter().any(|loss| loss.before == row.seq) {
                model = Running::default();
            }
            let expected = recorded_by(&mut model, &Record::read(&row.record).unwrap());
            let found = trace.contexts.get(row.context).unwrap();
            let found = match found.kind {
                ContextKind::Interrupt => Err("interrupt"),
                ContextKind::Unknown => Err("unknown"),
                _ => Ok(found.key as u32),
            };
            prop_assert_eq!(found, expected, "event {}", row.seq);
        }
    }

    #[test]
    fn no_bytes_panic(bytes: Vec<u8>, kind in 0..3_usize) {
        survives(bytes, &[["kind=records", "kind=chunk", "kind=capture"][kind]]);
    }
}
