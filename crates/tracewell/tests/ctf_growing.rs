//! Tests traces in growing folders: reading a trace in several steps returns the same data as
//! reading it in one step.

mod support;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::json;
use support::ctf::structure;
use support::{EventLog, fixture, settings, shared};
use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::input::{Growing, Input, State};
use tracewell::select::Selection;

/// Number of steps in which a trace grows.
const STEPS: usize = 6;

/// Length of a packet of LTTng's metadata. Other metadata appears in a single step.
const METADATA_PACKET: usize = 4096;

fn writer() -> EventWriter<Vec<u8>> {
    EventWriter::new(Vec::new(), EventFormat::JsonLines, Selection::default())
}

fn lines(writer: EventWriter<Vec<u8>>) -> String {
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

/// Returns the files below a folder, relative to it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(path.strip_prefix(folder).unwrap().to_owned()),
            }
        }
    }
    found.sort();
    found
}

/// Writes each file up to the length that it has in this step. Files grow at different speeds.
fn write(from: &Path, to: &Path, step: usize) {
    for (index, file) in files(from).iter().enumerate() {
        let bytes = fs::read(from.join(file)).unwrap();
        let is_metadata = file.ends_with("metadata");
        let is_packets = [[0x57, 0x1D, 0xD1, 0x75], [0x75, 0xD1, 0x1D, 0x57]]
            .iter()
            .any(|magic| bytes.starts_with(magic));
        let length = match (step == STEPS, is_metadata) {
            (true, _) => bytes.len(),
            (false, true) if !is_packets => bytes.len() * usize::from(step > 0),
            (false, true) => bytes.len() * step / STEPS / METADATA_PACKET * METADATA_PACKET,
            (false, false) => bytes.len() * (step + index % 3).min(STEPS) / STEPS,
        };
        let target = to.join(file);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(target, &bytes[..length]).unwrap();
    }
}

/// Reads a growing copy of a trace. Returns a list of strings: the number of events after each
/// step, and then all events as lines.
fn grown(from: &Path, options: &[&str], moved: bool) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut current = folder.path().join("trace");
    let mut growing = None;
    let (mut writer, mut steps) = (writer(), Vec::new());
    for step in 0..=STEPS {
        write(from, &current, step);
        if moved && step == STEPS / 2 {
            // Move the folder as a rotation moves a chunk.
            let archive = folder.path().join("archive");
            fs::rename(&current, &archive).unwrap();
            current = archive;
        }
        let growing = growing.get_or_insert_with(|| {
            Growing::open(folder.path(), settings(options)).unwrap().unwrap()
        });
        for _ in 0..3 {
            growing.advance(&mut writer).unwrap();
        }
        steps.push(growing.trace().events);
    }
    let mut growing = growing.unwrap();
    growing.end(&mut writer).unwrap();
    let mut found: Vec<_> = steps.iter().map(u64::to_string).collect();
    found.push(lines(writer));
    found
}

/// Compares the events of a growing trace with the events of the complete trace. Returns the number
/// of events after each step.
fn compare(from: &Path, moved: bool) -> Vec<u64> {
    let mut steps = grown(from, &[], moved);
    let found = steps.pop().unwrap();
    let mut expected = writer();
    let whole = Input::open(from, settings(&[])).unwrap().read(&mut expected).unwrap();
    let expected = lines(expected);
    let differing = expected.lines().zip(found.lines()).find(|(one, other)| one != other);
    assert_eq!(differing, None, "{}", from.display());
    assert_eq!(expected.lines().count(), found.lines().count(), "{}", from.display());
    let steps: Vec<u64> = steps.iter().map(|step| step.parse().unwrap()).collect();
    assert!(steps.iter().all(|step| *step <= whole.events));
    steps
}

#[test]
fn a_growing_trace_equals_the_complete_one() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let fixtures = ["classes", "odd", "zephyr"].map(|name| fixture("ctf").join(name));
    fixtures.iter().for_each(|trace| drop(compare(trace, false)));
    // If a file was moved, its stream is found again only if the stream has a number.
    for moved in [false, true] {
        compare(&examples.join("lttng"), moved);
    }
}

/// Returns the metadata of traces with the packets that [`packet`] returns.
fn metadata() -> String {
    let number = |bits: u8, roles: &[&str]| {
        json!({
            "type": "fixed-length-unsigned-integer", "length": bits, "alignment": 8,
            "byte-order": "little-endian", "roles": roles,
        })
    };
    let byte = |roles: &[&str]| number(8, roles);
    let context = structure(&[
        ("total", byte(&["packet-total-length"])),
        ("content", byte(&["packet-content-length"])),
        ("begin", number(64, &["default-clock-timestamp"])),
        ("number", byte(&["packet-sequence-number"])),
    ]);
    let header = structure(&[("stamp", byte(&["default-clock-timestamp"]))]);
    let fragments = [
        json!({ "type": "preamble", "version": 2, "uuid": vec![7; 16] }),
        json!({
            "type": "trace-class",
            "packet-header-field-class": structure(&[("instance", byte(&["data-stream-id"]))]),
        }),
        json!({ "type": "clock-class", "id": "c", "frequency": 5 }),
        json!({
            "type": "data-stream-class", "default-clock-class-id": "c",
            "packet-context-field-class": context, "event-record-header-field-class": header,
        }),
        json!({ "type": "event-record-class", "payload-field-class": structure(&[("f", byte(&[]))]) }),
    ];
    fragments.map(|fragment| format!("\u{1e}{fragment}\n")).concat()
}

/// Returns a packet of a stream. Packet `n` begins at tick `10 * n` and contains two events: one at
/// this tick, and one five ticks later.
fn packet(instance: u8, number: u8) -> Vec<u8> {
    let begin = 10 * number;
    packet_of(instance, number, begin, &[begin, 1, begin + 5, 2])
}

/// Returns a packet with the bytes of its events.
fn packet_of(instance: u8, number: u8, begin: u8, events: &[u8]) -> Vec<u8> {
    let bits = 8 * (12 + events.len() as u8);
    let begin = u64::from(begin).to_le_bytes();
    [&[instance, bits, bits], &begin[..], &[number], events].concat()
}

fn packets(instance: u8, numbers: Range<u8>) -> Vec<u8> {
    numbers.flat_map(|number| packet(instance, number)).collect()
}

/// Writes files into a folder, and metadata beside them.
fn write_files(folder: &Path, files: &[(&str, Vec<u8>)]) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("metadata"), metadata()).unwrap();
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).unwrap();
    }
}

/// Writes a chunk of a stream: the metadata, and a file with one packet for each number.
fn write_chunk(folder: &Path, numbers: Range<u8>) {
    write_files(folder, &[("stream", packets(3, numbers))]);
}

/// Returns an index of LTTng with an entry for each packet of a chunk.
fn index_of(numbers: Range<u8>) -> Vec<u8> {
    let mut index = [0xC1F1_DCC1_u32, 1, 1, 48].map(u32::to_be_bytes).concat();
    for number in numbers.map(u64::from) {
        index.extend([16 * number, 128, 128, 10 * number, 0, 0].map(u64::to_be_bytes).concat());
    }
    index
}

fn messages(growing: &Growing) -> Vec<&str> {
    growing.trace().diagnostics.iter().map(|diagnostic| &*diagnostic.message).collect()
}

#[test]
fn an_index_that_appears_after_its_first_packet_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let chunk = folder.path().join("chunk");
    write_chunk(&chunk, 0..1);
    let mut growing = Growing::open(folder.path(), settings(&[])).unwrap().unwrap();
    let mut found = writer();
    growing.advance(&mut found).unwrap();
    assert_eq!(growing.trace().events, 2);
    fs::write(chunk.join("stream"), packets(3, 0..3)).unwrap();
    fs::create_dir(chunk.join("index")).unwrap();
    // The index lists one packet more than the stream contains.
    fs::write(chunk.join("index/stream.idx"), index_of(0..4)).unwrap();
    growing.advance(&mut found).unwrap();
    growing.end(&mut found).unwrap();
    assert_eq!(growing.trace().events, 6);
    let messages = messages(&growing);
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].ends_with("the index lists 1 packet after the end of the file"));
}

/// The tick of a packet that is written after events of tick 35 were delivered.
const LATE: u8 = 7;

#[test]
fn only_late_packets_with_late_events_are_reported() {
    for (events, expected) in
        [(&[][..], None), (&[LATE, 1], Some("later by 23 cycles")), (&[LATE + 23, 1, 36, 1], None)]
    {
        let folder = tempfile::tempdir().unwrap();
        let chunk = folder.path().join("chunk");
        write_chunk(&chunk, 0..5);
        let first = packet_of(4, 0, 1, &[1, 3]);
        fs::write(chunk.join("other"), &first).unwrap();
        let mut growing = Growing::open(folder.path(), settings(&["wait=1s"])).unwrap().unwrap();
        let mut found = writer();
        growing.advance(&mut found).unwrap();
        let late = packet_of(4, 1, LATE, events);
        fs::write(chunk.join("other"), [first, late].concat()).unwrap();
        growing.advance(&mut found).unwrap();
        growing.end(&mut found).unwrap();
        let messages = messages(&growing);
        assert_eq!(messages.len(), usize::from(expected.is_some()), "{messages:?}");
        assert!(expected.is_none_or(|end| messages[0].ends_with(end)), "{messages:?}");
    }
}

#[test]
fn a_chunk_that_is_missing_while_it_is_moved_is_read_once() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let second = elsewhere.path().join("2");
    let chunk = |name: &str| folder.path().join(name);
    write_chunk(&chunk("1"), 0..3);
    write_chunk(&second, 3..5);
    let mut growing = Growing::open(folder.path(), settings(&[])).unwrap().unwrap();
    let mut found = writer();
    let mut advance = || {
        growing.advance(&mut found).unwrap();
        growing.trace().events
    };
    assert_eq!(advance(), 6);
    fs::rename(&second, chunk("2")).unwrap();
    assert_eq!(advance(), 10);
    // A slow rotation moves the chunk. For several steps, the folder does not contain it.
    fs::rename(chunk("2"), &second).unwrap();
    (0..3).for_each(|_| assert_eq!(advance(), 10));
    write_chunk(&chunk("3"), 5..6);
    fs::rename(&second, chunk("archive")).unwrap();
    assert_eq!(advance(), 12);
    growing.end(&mut found).unwrap();
    let mut expected = writer();
    Input::open(folder.path(), settings(&[])).unwrap().read(&mut expected).unwrap();
    assert_eq!(lines(found), lines(expected));
}

#[test]
fn events_are_delivered_while_a_trace_grows() {
    let steps = compare(&fixture("ctf/zephyr"), false);
    assert!(steps.windows(2).filter(|pair| pair[0] < pair[1]).count() > 2, "{steps:?}");
}

#[test]
fn shared_traces_that_grow_equal_the_complete_ones() {
    let Some(shared) = shared() else { return };
    let data = shared.join("data/ctf");
    let mut begun = 0;
    for system in ["lttng-ust", "barectf", "zephyr", "made"] {
        for entry in fs::read_dir(data.join(system)).unwrap() {
            let trace = entry.unwrap().path().join("trace");
            if trace.is_dir() {
                let steps = compare(&trace, system == "lttng-ust");
                begun += usize::from(steps[STEPS - 1] > 0);
            }
        }
    }
    assert!(begun > 8, "{begun}");
}

#[test]
fn late_packets_are_moved_after_the_limit_of_waiting() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lttng");
    let steps = grown(&examples, &["wait=1ns"], false);
    let (found, steps) = steps.split_last().unwrap();
    // Without a limit on the wait, no event is delivered before all streams have begun.
    assert!(steps.iter().any(|step| step != "0"), "{steps:?}");
    let ticks = found.lines().filter_map(|line| line.split("\"ticks\":").nth(1));
    let ticks: Vec<u64> =
        ticks.map(|rest| rest.split(',').next().unwrap().parse().unwrap()).collect();
    assert_eq!(ticks.len(), 205);
    assert!(ticks.is_sorted());
}

#[test]
fn a_wrong_time_to_wait_is_refused() {
    let folder = fixture("ctf/zephyr");
    let error = Growing::open(&folder, settings(&["wait=1"])).unwrap_err();
    let expected = "-O wait: expected a time such as 1s or 200ms, found '1'";
    assert!(error.to_string().contains(expected), "{error}");
}

/// Follows the trace in a folder. Returns the number of events after each of the given changes.
fn counts(folder: &Path, changes: &[&dyn Fn()]) -> Vec<u64> {
    let mut growing = Growing::open(folder, settings(&[])).unwrap().unwrap();
    let mut log = EventLog::default();
    let count = |change: &&dyn Fn()| {
        change();
        growing.advance(&mut log).unwrap();
        growing.trace().events
    };
    let counts = changes.iter().map(count).collect();
    assert!(matches!(growing.end(&mut log), Ok(State::Done)));
    counts
}

#[test]
fn an_empty_file_of_a_new_stream_delays_events() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str| folder.path().join(name);
    let begin = || write_chunk(&of("1/cpu"), 0..2);
    // A file with the same name in a folder with the same name continues the stream.
    let continued = || {
        write_files(&of("2/cpu"), &[("stream", Vec::new())]);
        write_chunk(&of("1/cpu"), 0..3);
    };
    let other_name = || {
        write_files(&of("2/cpu"), &[("other", Vec::new())]);
        write_chunk(&of("1/cpu"), 0..4);
    };
    let filled = || write_files(&of("2/cpu"), &[("other", packets(4, 0..4))]);
    let other_folder = || {
        write_files(&of("2/cpu1"), &[("stream", Vec::new())]);
        write_chunk(&of("1/cpu"), 0..5);
        write_files(&of("2/cpu"), &[("other", packets(4, 0..5))]);
    };
    let all_filled = || write_files(&of("2/cpu1"), &[("stream", packets(5, 4..5))]);
    let changes: [&dyn Fn(); 6] =
        [&begin, &continued, &other_name, &filled, &other_folder, &all_filled];
    // The last events of the streams have equal times. The last event of a stream waits, because an
    // earlier stream may still record an event with this time.
    assert_eq!(counts(folder.path(), &changes), [4, 6, 6, 15, 15, 20]);
}

#[test]
fn a_stream_begins_once_its_first_packet_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let write = |length: usize| {
        let (stream, other) = (packets(3, 0..2), packets(4, 0..2));
        write_files(folder.path(), &[("stream", stream[..length].to_vec()), ("other", other)]);
    };
    let changes: [&dyn Fn(); 5] =
        [&|| write(1), &|| write(5), &|| write(15), &|| write(16), &|| write(32)];
    // The first event of the file `other` has the earliest possible time, so it does not wait. The
    // last two events have equal times, and one of them waits for the other file.
    assert_eq!(counts(folder.path(), &changes), [1, 1, 1, 4, 7]);
}

#[test]
fn events_wait_at_most_as_long_as_the_option_allows() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["1", "2"].map(|name| folder.path().join(name));
    for split in [2, 3] {
        // The first stream has three packets, in one file or in two. The last one begins at tick
        // 20. The second stream has one packet, and the third stream has none. A second has five
        // ticks.
        let first = packets(3, 0..split);
        write_files(&paths[0], &[("a", first), ("b", packet(4, 0))]);
        let of_second = [("a", packets(3, split..3)), ("b", Vec::new()), ("new", Vec::new())];
        write_files(&paths[1], &of_second);
        for (wait, expected) in [
            ("0.2s", &[0, 0, 5, 5, 10, 15][..]),
            ("1s", &[0, 0, 5, 5, 10, 15]),
            ("1.2s", &[0, 0, 5, 5, 10]),
            ("2s", &[0, 0, 5, 5, 10]),
            ("2.2s", &[0, 0, 5, 5]),
            ("100s", &[0, 0, 5, 5]),
        ] {
            let option = format!("wait={wait}");
            let mut growing = Growing::open(folder.path(), settings(&[&option])).unwrap().unwrap();
            let mut log = EventLog::default();
            growing.advance(&mut log).unwrap();
            let ticks: Vec<_> = log.rows.iter().map(|row| row.ticks).collect();
            assert_eq!(ticks, expected, "{split} {wait}");
        }
    }
}

#[test]
fn a_late_packet_begins_after_the_delivered_events() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), &[("a", packets(3, 0..3)), ("b", packet(4, 0))]);
    let mut growing = Growing::open(folder.path(), settings(&["wait=1s"])).unwrap().unwrap();
    let mut log = EventLog::default();
    let ticks = |log: &EventLog| log.rows.iter().map(|row| row.ticks).collect::<Vec<_>>();
    growing.advance(&mut log).unwrap();
    assert_eq!(ticks(&log), [0, 0, 5, 5, 10, 15]);
    // The packet begins at tick 10, but the events up to tick 15 were delivered.
    fs::write(folder.path().join("b"), packets(4, 0..2)).unwrap();
    growing.advance(&mut log).unwrap();
    assert_eq!(ticks(&log)[6..], [15, 20, 20]);
    assert!(matches!(growing.end(&mut log), Ok(State::Done)));
    assert_eq!(ticks(&log)[9..], [25]);
    let messages = growing.trace().diagnostics.iter().map(|found| found.message.clone());
    let messages: Vec<_> = messages.collect();
    let expected = "b: at byte 28: from this event on, the packet was written later than the \
                    option `wait` allows; its events get times that are later by 5 cycles";
    assert!(messages.len() == 1 && messages[0].ends_with(expected), "{messages:?}");
}

/// Metadata of two streams, with a clock of 1 Hz. Packets of stream 0 state their sizes, packets of
/// stream 1 do not.
const TWO_STREAMS: &str = "/* CTF 1.8 */ typealias integer { size = 8; } := u8;
    typealias integer { size = 8; map = clock.c.value; } := stamp;
    trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u8 stream_id; }; };
    clock { name = c; freq = 1; };
    stream {
        id = 0; event.header := struct { stamp time; };
        packet.context := struct {
            u8 packet_size; u8 content_size; stamp timestamp_begin; u8 timestamp_end;
        };
    };
    stream {
        id = 1; event.header := struct { stamp time; };
        packet.context := struct { stamp timestamp_begin; };
    };
    event { stream_id = 0; name = a; fields := struct { u8 f; }; };
    event { stream_id = 1; name = b; fields := struct { u8 f; }; };";

/// Returns a packet of stream 0 with events at the given ticks.
fn sized(ticks: &[u8]) -> Vec<u8> {
    let bits = 8 * (5 + 2 * ticks.len() as u8);
    let header = [0, bits, bits, ticks[0], ticks[ticks.len() - 1]];
    let events = ticks.iter().flat_map(|tick| [*tick, 0]);
    header.into_iter().chain(events).collect()
}

/// Follows two streams with `wait=1s`. Before each reading, the second stream grows by some bytes.
/// The last bytes appear before the end. Returns the ticks of the events, and the ends of the
/// messages.
fn grown_by(first: &[u8], second: &[&[u8]]) -> (Vec<u64>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("metadata"), TWO_STREAMS).unwrap();
    fs::write(folder.path().join("a"), first).unwrap();
    let mut growing = Growing::open(folder.path(), settings(&["wait=1s"])).unwrap().unwrap();
    let (mut log, mut bytes) = (EventLog::default(), Vec::new());
    for (step, more) in second.iter().enumerate() {
        bytes.extend(*more);
        fs::write(folder.path().join("b"), &bytes).unwrap();
        match step + 1 < second.len() {
            true => drop(growing.advance(&mut log).unwrap()),
            false => assert!(matches!(growing.end(&mut log), Ok(State::Done))),
        }
    }
    let ticks = log.rows.iter().map(|row| row.ticks).collect();
    let about = |message: &str| message.split_once(": at byte ").unwrap().1.to_owned();
    (ticks, messages(&growing).into_iter().map(about).collect())
}

#[test]
fn late_events_of_a_growing_packet_get_later_times() {
    let late = |at: u64, cycles: u64| {
        format!(
            "{at}: from this event on, the packet was written later than the option `wait` allows; \
             its events get times that are later by {cycles} cycles"
        )
    };
    let first = sized(&[0, 2, 8, 10]);
    // The packet appears late and without events.
    let found = grown_by(&first, &[&[], &[1, 5], &[], &[6, 0], &[]]);
    assert_eq!(found, (vec![0, 2, 8, 10, 10], vec![late(2, 4)]));
    // The packet and its event appear together.
    let found = grown_by(&first, &[&[], &[1, 5, 6, 0], &[]]);
    assert_eq!(found, (vec![0, 2, 8, 10, 10], vec![late(2, 4)]));
    // The packet is on time, but its events are late.
    let found = grown_by(&first, &[&[1, 1], &[3, 0], &[4, 0], &[12, 0], &[]]);
    assert_eq!(found, (vec![0, 2, 8, 8, 8, 10, 12], vec![late(2, 5), late(4, 4)]));
    // An event on time appears together with a late one, and waits for the other stream.
    let found = grown_by(&first, &[&[1, 1], &[3, 0, 12, 0], &[], &[13, 0]]);
    assert_eq!(found, (vec![0, 2, 8, 8, 10, 12, 13], vec![late(2, 5)]));
    // The late event appears in two pieces.
    let found = grown_by(&first, &[&[1, 1], &[3], &[], &[0], &[]]);
    assert_eq!(found, (vec![0, 2, 8, 8, 10], vec![late(2, 5)]));
    // The late event appears before the end.
    let found = grown_by(&first, &[&[1, 1], &[3, 0, 4, 0]]);
    assert_eq!(found, (vec![0, 2, 8, 8, 9, 10], vec![late(2, 5)]));
    // Events at the times of delivered events, and after them, are on time.
    let found = grown_by(&first, &[&[1, 1], &[8, 0, 11, 0], &[12, 0], &[]]);
    assert_eq!(found, (vec![0, 2, 8, 8, 10, 11, 12], vec![]));
}

#[test]
fn late_packets_of_a_stream_stay_in_order() {
    // Several packets appear after the event of tick 12 was delivered. A packet's clock counts from
    // its beginning, so it does not contain the increases of earlier packets.
    let late = [sized(&[3, 7]), sized(&[8, 9]), sized(&[20])].concat();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("metadata"), TWO_STREAMS).unwrap();
    fs::write(folder.path().join("a"), sized(&[0, 12])).unwrap();
    let mut growing = Growing::open(folder.path(), settings(&["wait=1s"])).unwrap().unwrap();
    let mut log = EventLog::default();
    growing.advance(&mut log).unwrap();
    fs::write(folder.path().join("b"), late).unwrap();
    growing.advance(&mut log).unwrap();
    assert!(matches!(growing.end(&mut log), Ok(State::Done)));
    let ticks: Vec<_> = log.rows.iter().map(|row| row.ticks).collect();
    assert_eq!(ticks, [0, 12, 12, 16, 16, 17, 20]);
    let messages = messages(&growing);
    let ends = ["later by 9 cycles", "later by 8 cycles"];
    assert!(
        messages.len() == 2 && messages.iter().zip(ends).all(|(found, end)| found.ends_with(end))
    );
}

/// Damages a packet: its content is longer than the packet.
fn damaged(mut packet: Vec<u8>) -> Vec<u8> {
    packet[2] = 255;
    packet
}

#[test]
fn the_index_fits_after_damage_whenever_it_appears() {
    let all = [packet(3, 0), damaged(packet(3, 1)), packet(3, 2), packet(3, 3), packet(3, 4)];
    // The number of packets at the first reading, and of the entries of the index at each reading.
    for first in [2, 3] {
        for entries in [
            [None, None, Some(5)],
            [None, Some(5), Some(5)],
            [Some(5), Some(5), Some(5)],
            [Some(1), Some(2), Some(5)],
            [Some(0), Some(4), Some(5)],
        ] {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("index")).unwrap();
            let mut growing = None;
            let mut log = EventLog::default();
            for (count, entries) in [first, first + 1, 5].into_iter().zip(entries) {
                write_files(folder.path(), &[("stream", all[..count].concat())]);
                if let Some(entries) = entries {
                    write_files(folder.path(), &[("index/stream.idx", index_of(0..entries))]);
                }
                let growing = growing.get_or_insert_with(|| {
                    Growing::open(folder.path(), settings(&[])).unwrap().unwrap()
                });
                growing.advance(&mut log).unwrap();
            }
            let mut growing = growing.unwrap();
            assert!(matches!(growing.end(&mut log), Ok(State::Done)));
            let messages = messages(&growing);
            assert!(
                messages.iter().all(|message| !message.contains("index")),
                "{entries:?} {messages:?}"
            );
            assert_eq!(growing.trace().losses.damaged(), 1, "{entries:?}");
        }
    }
}

/// The metadata of one folder can begin with all metadata of another folder, and can grow.
#[test]
fn each_folder_has_metadata_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let event = |name: &str, id: u8| {
        format!("event {{ name = {name}; id = {id}; fields := struct {{ u8 a; }}; }};\n")
    };
    let short = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
        typealias integer { size = 8; } := u8;
        stream { event.header := struct { u8 id; }; };\n"
        .to_owned()
        + &event("one", 0);
    let long = short.clone() + &event("two", 1);
    let write = |name: &str, metadata: &str, stream: &[u8]| {
        let folder = folder.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("metadata"), metadata).unwrap();
        fs::write(folder.join("stream"), stream).unwrap();
    };
    for (more, expected) in [(event("three", 2), 0), (event("four", 2), 0), (String::new(), 1)] {
        write("1", &short, &[0, 11]);
        write("2", &long, &[0, 21]);
        let mut growing = Growing::open(folder.path(), settings(&[])).unwrap().unwrap();
        let mut found = writer();
        growing.advance(&mut found).unwrap();
        // The short metadata never declares event 1, and declares event 2 once it has grown.
        write("1", &short, &[0, 11, 2, 12]);
        write("2", &long, &[0, 21, 1, 22]);
        growing.advance(&mut found).unwrap();
        write("1", &(short.clone() + &more), &[0, 11, 2, 12, 0, 13]);
        growing.advance(&mut found).unwrap();
        write("2", &long, &[0, 21, 1, 22, 0, 23, 2, 24]);
        assert!(matches!(growing.end(&mut found), Ok(State::Done)));
        let names: Vec<_> = lines(found)
            .lines()
            .filter_map(|line| {
                Some(line.split_once("\"name\":\"")?.1.split('"').next()?.to_owned())
            })
            .collect();
        let grown = more.split(' ').nth(4).map(|name| name.trim_end_matches(';'));
        let first = [Some("one"), grown, grown.map(|_| "one")];
        let all: Vec<_> =
            first.into_iter().flatten().chain(["one", "two", "one"]).map(str::to_owned).collect();
        assert_eq!(names, all, "{more}");
        // The metadata of the second folder never declares event 2.
        assert_eq!(growing.trace().losses.damaged(), 1 + expected, "{more}");
    }
}
