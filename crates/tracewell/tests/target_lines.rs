//! Reads the bytes that small targets send over a line. The tests cover late, repeated and missing
//! packets, restarts, silent cores, and text between packets.

#[path = "support/target.rs"]
mod packets;
mod support;

use packets::packet;
use support::{EventLog, in_pieces};
use tracewell::format::{self, Progress, Settings};
use tracewell::model::Trace;
use tracewell_wire::target::packet::{HEADER, MAX_PACKET};
use tracewell_wire::target::ring::CONTROL;
use tracewell_wire::target::{Header, ids};

/// Returns packet `number` of a run, with a mark at the packet's time, and a second mark after
/// `ticks`.
fn marks(number: u32, ticks: u8) -> Vec<u8> {
    let time = 1000 * u64::from(number);
    let header = Header { number, first: 2 * number, time, cores: 1, ..Header::default() };
    packet(header, &[ids::MARK, 0, 1, ids::MARK, ticks, 2])
}

fn run(ticks: u8) -> Vec<Vec<u8>> {
    (0..12).map(|number| marks(number, ticks)).collect()
}

fn read(bytes: &[u8]) -> (Trace, EventLog) {
    in_pieces("target", &Settings::default(), bytes, bytes.len()).unwrap()
}

fn times(log: &EventLog) -> Vec<u64> {
    log.rows.iter().map(|row| row.ticks).collect()
}

fn notes(trace: &Trace) -> String {
    trace.diagnostics.iter().map(|note| format!("{note}\n")).collect()
}

#[test]
fn a_late_packet_is_not_a_restart() {
    let mut packets = run(10);
    let expected = times(&read(&packets.concat()).1);
    packets.swap(8, 9);
    let (trace, log) = read(&packets.concat());
    assert_eq!(times(&log), [&expected[..16], &expected[18..]].concat());
    assert_eq!(trace.losses.events(), Some(2));
    assert_eq!(trace.fact("packets_out_of_order"), Some(1));
    let notes = notes(&trace);
    assert!(notes.contains("packet 8 of core 0 is late"), "{notes}");
    assert!(!notes.contains("restarted"), "{notes}");
}

#[test]
fn a_repeated_packet_changes_no_event() {
    let mut packets = run(10);
    let expected = times(&read(&packets.concat()).1);
    packets.insert(9, packets[7].clone());
    let (trace, log) = read(&packets.concat());
    assert_eq!((times(&log), trace.losses.events()), (expected, Some(0)));
    assert_eq!(trace.fact("packets_out_of_order"), Some(1));
    assert!(notes(&trace).contains("packet 7 of core 0 is repeated"));
}

#[test]
fn a_restart_after_few_packets_is_not_a_repetition() {
    let packets = [&run(10)[..5], &run(11)[..5]].concat();
    let (trace, log) = read(&packets.concat());
    let of_run =
        |base: u64, ticks| (0..5).flat_map(move |n| [base + 1000 * n, base + 1000 * n + ticks]);
    assert_eq!(times(&log), of_run(0, 10).chain(of_run(4010, 11)).collect::<Vec<_>>());
    assert_eq!((trace.losses.events(), trace.fact("packets_out_of_order")), (Some(0), Some(0)));
    assert!(notes(&trace).contains("restarted"));
}

#[test]
fn a_core_that_begins_after_a_restart_has_the_same_origin_of_time() {
    let of = |core, session, number, first, time| {
        let header = Header { core, session, number, first, time, cores: 2, ..Header::default() };
        packet(header, &[ids::MARK, 0, core])
    };
    let mut line = of(0, 0, 0, 0, 50_000);
    for n in 0..3 {
        line.extend(of(0, 1, 1 + n, n, 1000 * u64::from(n)));
        line.extend(of(1, 1, n, n, 1000 * u64::from(n) + 100));
    }
    let (_, log) = read(&line);
    assert_eq!(times(&log), [0, 0, 100, 1000, 1100, 2000, 2100]);
}

#[test]
fn a_gap_makes_the_states_of_all_tasks_unknown() {
    let labels = |first_of_core_1| {
        let of = |core, first, time, payload: &[u8]| {
            let number = u32::from(time > 0);
            let header = Header { core, number, first, time, cores: 2, ..Header::default() };
            packet(header, payload)
        };
        let line = [
            of(0, 0, 0, &[ids::RUNS, 0, 1]),
            of(1, 0, 0, &[ids::MARK, 1, 1]),
            of(1, first_of_core_1, 10, &[ids::MARK, 0, 1]),
            of(0, 1, 20, &[ids::RUNS, 0, 2]),
        ];
        let (trace, log) = read(&line.concat());
        log.rows.iter().map(|row| trace.schema.label(row.id).to_string()).collect::<Vec<_>>()
    };
    assert_eq!(labels(1), ["run", "mark", "mark", "preempt"]);
    assert_eq!(labels(2), ["run", "mark", "mark", "run"]);
}

#[test]
fn diagnostics_are_at_the_bytes_that_cause_them() {
    let header = Header { number: 1, first: 2, time: 1000, cores: 1, ..Header::default() };
    let partial = packet(header, &[ids::MARK, 0, 1, ids::MARK]);
    // The memory did not survive this restart.
    let header = Header { time: 500, cores: 1, ..Header::default() };
    let restarted = packet(header, &[ids::MARK, 0, 1]);
    let cut = &marks(1, 10)[..HEADER + 1];
    let line = [&marks(0, 10)[..], &partial, &restarted, cut].concat();
    let (trace, _) = read(&line);
    let second = HEADER + 6;
    let third = second + HEADER + 4;
    let expected = format!(
        "damaged: at byte {}: expected an event, found a part of one\n\
         note: at byte {}: the target restarted here: its clock begins again\n\
         note: at byte {}: the input ends within a packet\n",
        second + HEADER + 3,
        third + HEADER,
        third + HEADER + 3
    );
    assert_eq!(notes(&trace), expected);
}

/// Numbers of packets wrap, so half of the numbers are later than a packet's number.
#[test]
fn a_packet_that_is_far_ahead_is_not_old() {
    // The last event before this packet has the time 10. An older packet with an earlier time is
    // the first one after a restart.
    for (number, time, events, is_old) in [
        (1 << 31, 5000, 4, false),
        ((1 << 31) + 1, 5000, 2, true),
        ((1 << 31) + 1, 10, 2, true),
        ((1 << 31) + 1, 9, 4, false),
    ] {
        let header = Header { number, first: 2, time, cores: 1, ..Header::default() };
        let line = [marks(0, 10), packet(header, &[ids::MARK, 0, 1, ids::MARK, 1, 2])];
        let (trace, log) = read(&line.concat());
        assert_eq!((log.rows.len(), notes(&trace).contains("is older than")), (events, is_old));
    }
}

/// A target sends its definitions again and again.
#[test]
fn repeated_definitions_are_counted_once() {
    let entry = |part, priority, name: &[u8]| {
        let mut entry = [0; 32];
        // The kind is a task, and its number is 7.
        entry[..5].copy_from_slice(&[2, part, 0, priority, 7]);
        entry[12..][..name.len()].copy_from_slice(name);
        entry
    };
    // Only the first part has a priority.
    let entries = [entry(0, 3, b"a name of 20 letters"), entry(1, 0, b"and more")].concat();
    let header = Header { core: 255, cores: 1, ..Header::default() };
    let definitions = packet(header, &entries);
    let (trace, _) = read(&[&definitions[..], &definitions, &marks(0, 1)].concat());
    assert_eq!(trace.fact("definitions"), Some(2));
    let names: Vec<_> = trace.objects.iter().map(|(_, object)| &*object.label).collect();
    assert_eq!(names, ["a name of 20 lettersand more"]);
}

/// Passes the bytes to a decoder in pieces, as if more input followed. Returns the number of events
/// and the largest number of bytes that the decoder kept.
fn live(bytes: &[u8]) -> (usize, usize) {
    let mut decoder = format::by_name("target").unwrap().decoder(&Settings::default()).unwrap();
    let (mut trace, mut log) = (decoder.trace(), EventLog::default());
    let (mut start, mut most) = (0, 0);
    for end in (0..=bytes.len()).step_by(1000) {
        let bytes = &bytes[start..end];
        let window = format::Input { offset: start as u64, bytes, last: false };
        match decoder.decode(window, &mut trace, &mut log).unwrap() {
            Progress::Done => panic!("the input continues"),
            Progress::More { consumed, .. } => start += consumed,
        }
        most = most.max(end - start);
    }
    (log.rows.len(), most)
}

#[test]
fn a_live_line_can_begin_with_text() {
    let text = b"[    0.000] memory: 512 KiB\r\n".repeat(2000);
    let adjacent = [text.clone(), run(10).concat(), text.clone()].concat();
    let apart = [text.clone(), run(10).join(&b"ready\r\n"[..]), text.clone()].concat();
    for line in [adjacent, apart] {
        let (events, most) = live(&line);
        assert_eq!(events, 24);
        assert!(most < 1 << 14, "{most}");
        let (whole, of_whole) = read(&line);
        for piece in [1000, 10_007] {
            let settings = Settings::default();
            let (trace, log) = in_pieces("target", &settings, &line, piece).unwrap();
            assert_eq!((times(&log), &log.losses), (times(&of_whole), &of_whole.losses));
            assert_eq!(trace.facts, whole.facts);
        }
    }
}

/// Decodes the parts of a live line. Returns the number of events after each part, and the log.
fn live_counts(parts: &[Vec<u8>]) -> (Vec<usize>, EventLog) {
    let mut decoder = format::by_name("target").unwrap().decoder(&Settings::default()).unwrap();
    let (mut trace, mut log, mut offset) = (decoder.trace(), EventLog::default(), 0);
    let mut count = |bytes: &Vec<u8>| {
        let window = format::Input { offset, bytes, last: false };
        let progress = decoder.decode(window, &mut trace, &mut log).unwrap();
        assert_eq!(progress, Progress::More { consumed: bytes.len(), wanted: HEADER });
        offset += bytes.len() as u64;
        log.rows.len()
    };
    (parts.iter().map(&mut count).collect(), log)
}

#[test]
fn an_event_is_delivered_when_every_core_has_sent_a_later_one() {
    let of = |core, number, time| {
        let header = Header { core, number, first: number, time, cores: 2, ..Header::default() };
        packet(header, &[ids::MARK, 0, core])
    };
    let (counts, log) = live_counts(&[of(0, 0, 10), of(1, 0, 5), of(1, 1, 20), of(0, 1, 20)]);
    assert_eq!(counts, [0, 1, 2, 3]);
    let rows: Vec<_> = log.rows.iter().map(|row| (row.cpu, row.ticks)).collect();
    assert_eq!(rows, [(1, 0), (0, 5), (0, 15)]);
}

/// The decoder holds less than 64 KiB of packets.
#[test]
fn a_silent_core_delays_the_others_for_at_most_64_kib() {
    // The payload of the largest packet has room for this number of marks.
    const MARKS: usize = (MAX_PACKET - HEADER) / 3;
    let full = |number: u32| {
        let first = number * MARKS as u32;
        let header = Header { number, first, cores: 2, time: first.into(), ..Header::default() };
        packet(header, &[ids::MARK, 0, 1].repeat(MARKS))
    };
    let mut parts: Vec<_> = (0..18).map(full).collect();
    assert_eq!(parts[0].len(), MAX_PACKET);
    let counts = live_counts(&parts).0;
    assert_eq!(counts[..15], [0; 15]);
    assert_eq!(counts[15..], [MARKS, 2 * MARKS, 3 * MARKS]);
    // The first of 16 packets lacks the last byte, so one byte is missing.
    let header = Header { cores: 2, ..Header::default() };
    parts[0] = packet(header, &[ids::MARK, 0, 1].repeat(MARKS)[..3 * MARKS - 1]);
    let header = Header { number: 1, first: MARKS as u32 - 1, cores: 2, ..Header::default() };
    parts[1] = packet(header, &[ids::MARK, 0, 1].repeat(MARKS));
    assert_eq!(live_counts(&parts[..16]).0, [0; 16]);
}

#[test]
fn a_reader_requests_as_many_bytes_as_the_next_decision_needs() {
    let mut decoder = format::by_name("target").unwrap().decoder(&Settings::default()).unwrap();
    let (mut trace, mut log) = (decoder.trace(), EventLog::default());
    let text = vec![b'.'; 3 * MAX_PACKET];
    let line = [text.clone(), run(10).concat()].concat();
    let mut decode = |range: std::ops::Range<usize>| {
        let (offset, bytes) = (range.start as u64, &line[range]);
        let window = format::Input { offset, bytes, last: false };
        let progress = decoder.decode(window, &mut trace, &mut log).unwrap();
        (progress, log.rows.len())
    };
    // A control block can begin with the last bytes.
    let rest = CONTROL - 1;
    let more = |consumed, wanted| Progress::More { consumed, wanted };
    assert_eq!(decode(0..text.len()), (more(text.len() - rest, CONTROL), 0));
    let start = text.len() - rest;
    let each = marks(0, 10).len();
    // One packet does not show that this is a line, and the second one is incomplete.
    let two = text.len() + 2 * each;
    assert_eq!(decode(start..two - 1), (more(rest, 2 * each), 0));
    let (progress, events) = decode(text.len()..two);
    assert_eq!((progress, events), (more(2 * each, HEADER), 4));
    // The header of the next packet contains its length.
    assert_eq!(decode(two..two + HEADER - 1), (more(0, HEADER), 4));
    assert_eq!(decode(two..two + HEADER), (more(0, each), 4));
    let diagnostics: Vec<_> = trace.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(diagnostics, ["note: at byte 0: the input begins within a packet"]);
    assert_eq!(trace.fact("skipped_bytes"), Some(text.len() as u64));
}

#[test]
fn two_packets_near_each_other_are_a_line() {
    // Returns the number of events of two packets in a text, one this number of bytes after the
    // other.
    let events = |distance: usize| {
        let text = |length: usize| vec![b'.'; length];
        let first = marks(0, 10);
        let between = text(distance - first.len());
        let bytes = [text(2 * MAX_PACKET), first, between, marks(1, 10), text(100)].concat();
        let mut decoder = format::by_name("target").unwrap().decoder(&Settings::default()).unwrap();
        let (mut trace, mut log) = (decoder.trace(), EventLog::default());
        let window = format::Input { offset: 0, bytes: &bytes, last: false };
        decoder.decode(window, &mut trace, &mut log).unwrap();
        log.rows.len()
    };
    assert_eq!([2 * MAX_PACKET, 2 * MAX_PACKET + 1].map(events), [4, 0]);
}

#[test]
fn arguments_with_equal_names_get_unique_ones() {
    for (text, expected) in
        [("e(a,a_3,a)", ["a", "a_3", "a_2"]), ("e(a,a,a_2)", ["a", "a_2", "a_2_2"])]
    {
        let mut entry = vec![10, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0];
        entry.extend(text.as_bytes());
        entry.resize(32, 0);
        let header = Header { core: 255, cores: 1, ..Header::default() };
        let (trace, _) = read(&[packet(header, &entry), marks(0, 1)].concat());
        let arguments = trace.schema.event(0x1003).args.iter();
        let names: Vec<_> = arguments.map(|argument| argument.name.as_str()).collect();
        assert_eq!(names, expected);
    }
}
