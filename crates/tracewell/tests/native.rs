//! Records streams and logs with our own recorder, and reads them back.

mod support;

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use support::{EventLog, Row, settings};
use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::input::{Input, Settings};
use tracewell::model::schema::Extension;
use tracewell::model::{LossCause, Meaning, Trace};
use tracewell_record::stream::{
    EventType, Family, FullPolicy, Hex, Log, Stream, StreamOptions, Take,
};
use tracewell_wire::native::{SPAN_ENTER, SPAN_EXIT};

const TEST: Family = Family::new(1, "test");
const OTHER: Family = Family::new(2, "other");
static NONE: EventType<()> = EventType::new(TEST, "none", &[]);
static PAIR: EventType<(u32, i32)> = EventType::new(TEST, "pair", &["number", "balance"]);
static WIDE: EventType<(u64, Hex, bool, f64)> =
    EventType::new(OTHER, "wide", &["a", "address", "flag", "share"]);
static NOTE: EventType<(u32,), str> = EventType::new(OTHER, "note", &["number", "text"]);

fn small(policy: FullPolicy) -> StreamOptions {
    StreamOptions { policy, lanes: 4, packets: 4, packet_size: 512, ..StreamOptions::default() }
}

fn read(bytes: Vec<u8>) -> (Trace, EventLog) {
    let mut kept = EventLog::default();
    let mut input = Input::from_bytes("stream", bytes, settings(&[])).unwrap();
    let trace = input.read(&mut kept).unwrap();
    (trace, kept)
}

fn open(path: &Path) -> (Trace, EventLog) {
    let mut kept = EventLog::default();
    let trace = Input::open(path, settings(&[])).unwrap().read(&mut kept).unwrap();
    (trace, kept)
}

fn log_of(stream: &Stream) -> Vec<u8> {
    stream.save(Vec::new()).unwrap()
}

fn argument(trace: &Trace, row: &Row, index: usize) -> u64 {
    trace.payload.argument(&row.payload, index).unwrap()
}

fn first_fields(trace: &Trace, kept: &EventLog) -> Vec<u64> {
    kept.rows.iter().map(|row| argument(trace, row, 0)).collect()
}

#[test]
fn events_have_the_wall_clock_of_their_stream() {
    // This test needs its own event types, because a type keeps its id in all streams of the
    // process.
    static NOW: EventType<()> = EventType::new(TEST, "now", &[]);
    let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    stream.start();
    stream.record(&NOW, ());
    let (trace, _) = read(log_of(&stream));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let recorded = trace.wall_clock_ns(trace.span).unwrap();
    let apart = (now.as_nanos() as u64).abs_diff(recorded);
    assert!(apart < 3_600_000_000_000, "{apart} ns apart");
}

#[test]
fn a_text_of_a_program_cannot_turn_a_line_around() {
    static TURNED: EventType<(u32,), str> = EventType::new(TEST, "turned", &["number", "text"]);
    let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    stream.start();
    stream.record_with(&TURNED, (9,), "a\u{202e}b\u{200b}c\x1b");
    let bytes = log_of(&stream);
    for format in [EventFormat::JsonLines, EventFormat::Tsv, EventFormat::Csv] {
        let selection = tracewell::select::Selection::default();
        let mut writer = EventWriter::new(Vec::new(), format, selection);
        Input::from_bytes("log", bytes.clone(), settings(&[])).unwrap().read(&mut writer).unwrap();
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let plain = |c| matches!(c, '\n' | '\t') || tracewell::text::is_plain(c);
        assert!(text.chars().all(plain), "{text:?}");
        if format == EventFormat::JsonLines {
            let line: serde_json::Value =
                serde_json::from_str(text.lines().next().unwrap()).unwrap();
            assert_eq!(line["args"]["text"], "a\u{202e}b\u{200b}c\x1b");
            assert_eq!(line["text"], "number=9, text=a\\u{202e}b\\u{200b}c\\x1b");
        }
    }
}

#[test]
fn fields_names_and_contexts_come_back() {
    let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    stream.start();
    stream.record(&PAIR, (7, -3));
    stream.record(&WIDE, (u64::MAX, Hex(0xBEEF), true, 0.5));
    stream.record_with(&NOTE, (9,), "a string longer than one word");
    stream.record(&NONE, ());
    let (trace, kept) = read(log_of(&stream));
    let names: Vec<_> =
        kept.rows.iter().map(|row| trace.schema.event(row.id).name.as_str()).collect();
    assert_eq!(names, ["pair", "wide", "note", "none"]);
    assert_eq!(argument(&trace, &kept.rows[0], 1), -3_i64 as u64);
    assert_eq!(argument(&trace, &kept.rows[1], 3), 0.5_f64.to_bits());
    assert_eq!(argument(&trace, &kept.rows[2], 1), 29);
    assert_eq!(&kept.rows[2].payload[16..45], b"a string longer than one word");
    assert_eq!(trace.schema.event(kept.rows[1].id).family, "other");
    let context = trace.contexts.get(kept.rows[0].context).unwrap();
    let own = format!("{}:", std::process::id());
    assert!(context.key_text.starts_with(&own), "{}", context.key_text);
    assert_eq!(context.name, "fields_names_an");
    assert!(trace.losses.is_empty());
    assert_eq!(trace.diagnostics.worst(), None);
}

#[test]
fn types_that_streams_met_in_different_orders_keep_their_names_in_each() {
    static RED: EventType<(u32,)> = EventType::new(TEST, "red", &["value"]);
    static BLUE: EventType<(u32,)> = EventType::new(TEST, "blue", &["value"]);
    let streams = [(); 2].map(|()| Stream::anonymous(&StreamOptions::default()).unwrap());
    streams.iter().for_each(Stream::start);
    streams[0].record(&RED, (1,));
    streams[1].record(&BLUE, (2,));
    streams[0].record(&BLUE, (2,));
    streams[1].record(&RED, (1,));
    for (stream, expected) in streams.iter().zip([["red", "blue"], ["blue", "red"]]) {
        let (trace, kept) = read(log_of(stream));
        let names: Vec<_> =
            kept.rows.iter().map(|row| trace.schema.event(row.id).name.as_str()).collect();
        assert_eq!(names, expected);
        assert!(trace.losses.is_empty());
    }
}

#[test]
fn a_loop_keeps_the_newest_and_counts_the_overwritten() {
    let stream = Stream::anonymous(&small(FullPolicy::Loop)).unwrap();
    stream.start();
    (0..500).for_each(|number| stream.record(&PAIR, (number, 0)));
    let (trace, kept) = read(log_of(&stream));
    let numbers = first_fields(&trace, &kept);
    let first = numbers[0];
    assert_eq!(numbers, (first..500).collect::<Vec<_>>());
    assert!(numbers.len() >= 3 * 18, "three packets are always there: {}", numbers.len());
    let losses: Vec<_> = kept.losses.iter().map(|l| (l.before, l.events, l.cause)).collect();
    assert_eq!(losses, [(0, Some(first), LossCause::Overwritten)]);
}

#[test]
fn until_full_keeps_the_oldest_counts_the_rest_and_continues_when_empty() {
    let stream = Stream::anonymous(&small(FullPolicy::UntilFull)).unwrap();
    stream.start();
    (0..500).for_each(|number| stream.record(&PAIR, (number, 0)));
    let status = stream.image().status();
    assert!(status.full);
    assert_eq!(status.state.as_str(), "suspended, full");
    assert!(!stream.image().resume_if_empty());
    let mut log = Log::new(Vec::new(), Take::Out);
    let stored = log.drain(&stream).unwrap();
    assert_eq!(stored + status.lost + status.lost_suspended, 500);
    assert!(stream.image().resume_if_empty());
    (500..510).for_each(|number| stream.record(&PAIR, (number, 0)));
    let (trace, kept) = read(log.close(&stream).unwrap());
    assert_eq!(first_fields(&trace, &kept), (0..stored).chain(500..510).collect::<Vec<_>>());
    assert_eq!(trace.losses.events(), Some(500 - stored));
    assert_eq!((kept.losses[0].before, kept.losses[0].events), (stored, Some(1)));
}

#[test]
fn flush_counts_events_that_are_recorded_too_fast_at_their_position() {
    let stream = Stream::anonymous(&small(FullPolicy::Flush)).unwrap();
    stream.start();
    let mut log = Log::new(Vec::new(), Take::Out);
    let mut stored = 0;
    for round in 0..10 {
        (0..200).for_each(|number| stream.record(&PAIR, (round * 200 + number, 0)));
        stored += log.drain(&stream).unwrap();
    }
    let (trace, kept) = read(log.close(&stream).unwrap());
    assert_eq!(kept.rows.len() as u64, stored);
    assert_eq!(trace.losses.events(), Some(2000 - stored));
    // For each run of missing numbers, the reader reports a gap with the position and length of the
    // run.
    let numbers = first_fields(&trace, &kept);
    let gaps: Vec<_> = (1..numbers.len())
        .filter(|row| numbers[*row] != numbers[row - 1] + 1)
        .map(|row| (row as u64, Some(numbers[row] - numbers[row - 1] - 1)))
        .collect();
    let last = (kept.rows.len() as u64, Some(1999 - numbers[numbers.len() - 1]));
    let expected: Vec<_> = gaps.into_iter().chain([last]).collect();
    let found: Vec<_> = kept.losses.iter().map(|l| (l.before, l.events)).collect();
    assert_eq!(found, expected);
}

#[test]
fn threads_are_merged_by_time() {
    let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    stream.start();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let stream = &stream;
            let record = move || {
                for number in 0..20_000 {
                    stream.record(&PAIR, (number, thread));
                }
            };
            std::thread::Builder::new()
                .name(format!("worker {thread}"))
                .spawn_scoped(scope, record)
                .unwrap();
        }
    });
    let (trace, kept) = read(log_of(&stream));
    assert_eq!(kept.rows.len(), 80_000);
    assert!(kept.rows.is_sorted_by_key(|row| row.ticks));
    for thread in 0..4 {
        let of_thread = kept.rows.iter().filter(|row| argument(&trace, row, 1) == thread);
        let numbers: Vec<_> = of_thread.clone().map(|row| argument(&trace, row, 0)).collect();
        assert_eq!(numbers, (0..20_000).collect::<Vec<_>>());
        let mut names = of_thread.map(|row| &trace.contexts.get(row.context).unwrap().name);
        assert!(names.all(|name| *name == format!("worker {thread}")));
    }
}

#[test]
fn a_stream_in_a_file_is_read_while_it_lives_and_when_it_is_dead() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stream");
    let stream = Stream::create(&path, &StreamOptions::default()).unwrap();
    stream.start();
    (0..1000).for_each(|number| stream.record(&PAIR, (number, 0)));
    let (trace, kept) = open(&path);
    assert_eq!(first_fields(&trace, &kept), (0..1000).collect::<Vec<_>>());
    assert_eq!(trace.fact("state"), Some(1));
    let remark = trace.diagnostics.iter().next().unwrap().to_string();
    let maker = format!("process {}, which created the stream, is running", std::process::id());
    assert!(remark.contains(&maker), "{remark}");
    stream.record(&PAIR, (1000, 0));
    stream.stop();
    stream.record(&PAIR, (1001, 0));
    drop(stream);
    let (trace, kept) = open(&path);
    assert_eq!(first_fields(&trace, &kept), (0..=1000).collect::<Vec<_>>());
    assert_eq!((trace.fact("state"), trace.fact("lanes_owned")), (Some(0), Some(1)));
}

#[test]
fn a_cleared_stream_shows_neither_old_events_nor_losses() {
    let stream = Stream::anonymous(&small(FullPolicy::Flush)).unwrap();
    stream.start();
    (0..500).for_each(|number| stream.record(&PAIR, (number, 0)));
    stream.image().clear();
    (500..520).for_each(|number| stream.record(&PAIR, (number, 0)));
    assert_eq!(stream.image().status().lost, 0);
    let (trace, kept) = read(log_of(&stream));
    assert_eq!(first_fields(&trace, &kept), (500..520).collect::<Vec<_>>());
    assert!(trace.losses.is_empty(), "{:?}", kept.losses);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn recorded_events_are_read_back(
        calls in proptest::collection::vec((0..4_u8, any::<u32>(), "[a-z]{0,40}"), 0..200),
        packet_size in (64..300_u32).prop_map(|words| words * 8),
        drains in proptest::collection::vec(any::<bool>(), 200),
    ) {
        let options = StreamOptions { packet_size, packets: 64, ..small(FullPolicy::Flush) };
        let stream = Stream::anonymous(&options).unwrap();
        stream.start();
        let mut log = Log::new(Vec::new(), Take::Out);
        for ((event, number, text), drain) in calls.iter().zip(&drains) {
            match event {
                0 => stream.record(&NONE, ()),
                1 => stream.record(&PAIR, (*number, -1)),
                2 => stream.record(&WIDE, (u64::from(*number), Hex(1), false, 1.0)),
                _ => stream.record_with(&NOTE, (*number,), text.as_str()),
            }
            if *drain {
                log.drain(&stream).unwrap();
            }
        }
        let (trace, kept) = read(log.close(&stream).unwrap());
        prop_assert!(trace.losses.is_empty());
        prop_assert_eq!(kept.rows.len(), calls.len());
        for (row, (event, number, text)) in kept.rows.iter().zip(&calls) {
            let name = trace.schema.event(row.id).name.as_str();
            prop_assert_eq!(name, ["none", "pair", "wide", "note"][usize::from(*event)]);
            if *event > 0 {
                prop_assert_eq!(argument(&trace, row, 0), u64::from(*number));
            }
            if *event == 3 {
                prop_assert_eq!(argument(&trace, row, 1), text.len() as u64);
                prop_assert_eq!(&row.payload[16..16 + text.len()], text.as_bytes());
            }
        }
    }
}

#[test]
fn text_and_fractions_are_shown_as_such() {
    let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    stream.start();
    stream.record(&WIDE, (1, Hex(2), true, -0.25));
    stream.record_with(&NOTE, (9,), "a \"quoted\", tabbed\ttext");
    stream.record(&WIDE, (1, Hex(2), true, f64::INFINITY));
    let bytes = log_of(&stream);
    let written = |format| {
        let selection = tracewell::select::Selection::default();
        let mut writer = EventWriter::new(Vec::new(), format, selection);
        Input::from_bytes("log", bytes.clone(), settings(&[])).unwrap().read(&mut writer).unwrap();
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let values: Vec<serde_json::Value> = written(EventFormat::JsonLines)
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(values[0]["args"]["share"], -0.25);
    assert_eq!(values[0]["text"], "a=1, address=0x0000000000000002, flag=true, share=-0.25");
    assert_eq!(values[1]["args"]["text"], "a \"quoted\", tabbed\ttext");
    assert_eq!(values[1]["text"], r#"number=9, text=a "quoted", tabbed\ttext"#);
    assert!(values[2]["args"]["share"].is_null());
    let tsv = written(EventFormat::Tsv);
    assert!(tsv[2].ends_with("\tnumber=9 text=a \"quoted\", tabbed\\ttext"), "{}", tsv[2]);
    let csv = written(EventFormat::Csv);
    assert!(csv[2].ends_with(",\"number=9 text=a \"\"quoted\"\", tabbed\ttext\""), "{}", csv[2]);
}

#[test]
fn a_number_below_zero_has_its_sign_everywhere() {
    static SIGNED: EventType<(i32, i64)> = EventType::new(TEST, "signed", &["small", "large"]);
    let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    stream.start();
    stream.record(&SIGNED, (-3, i64::MIN));
    stream.record(&SIGNED, (3, i64::MAX));
    let bytes = log_of(&stream);
    let exported = |format| {
        let mut writer = EventWriter::new(Vec::new(), format, Default::default());
        let mut input = Input::from_bytes("log", bytes.clone(), settings(&[])).unwrap();
        input.read(&mut writer).unwrap();
        String::from_utf8(writer.into_inner().unwrap()).unwrap()
    };
    let json = exported(EventFormat::JsonLines);
    assert!(json.contains(r#""small":-3,"large":-9223372036854775808"#), "{json}");
    assert!(json.contains(r#""small":3,"large":9223372036854775807"#), "{json}");
    for format in [EventFormat::Tsv, EventFormat::Csv] {
        let table = exported(format);
        assert!(table.contains("small=-3 large=-9223372036854775808"), "{table}");
    }
    // The text is the same as in a report.
    assert!(json.contains(r#""text":"small=-3, large=-9223372036854775808""#), "{json}");
}

#[test]
fn a_type_that_the_user_describes_replaces_that_of_the_stream() {
    static TEMPERATURE: EventType<(u32,)> = EventType::new(TEST, "temperature", &["celsius"]);
    let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    stream.start();
    stream.record(&TEMPERATURE, (7,));
    let log = log_of(&stream);
    let (trace, kept) = read(log.clone());
    let id = kept.rows[0].id;
    assert_eq!(trace.schema.event(id).name, "temperature");
    let text = format!(
        "format = \"native\"\n[[event]]\nid = {id}\nname = \"heat\"\nargs = [\"degrees\"]\n"
    );
    let file = Extension::parse(&text, "app.toml").unwrap();
    let settings = Settings { schemas: vec![Arc::new(file)], ..Settings::default() };
    let mut events = Vec::new();
    let mut input = Input::from_bytes("stream", log, settings).unwrap();
    input.for_each(|event| events.push(format!("{} {}", event.label(), event.args()))).unwrap();
    assert_eq!(events, ["heat degrees=7"]);
}

#[test]
fn spans_are_calls_and_returns() {
    let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    let span = Family::new(57, "span");
    let ids = [SPAN_ENTER, SPAN_EXIT, "span/enter(other:u64)"]
        .map(|text| stream.define_text(None, span, text).unwrap());
    let (trace, _) = read(log_of(&stream));
    let meaning =
        |id: u16| trace.schema.event(u32::from(id)).means.map(|means| (means.meaning, means.value));
    assert_eq!(
        ids.map(meaning),
        [Some((Meaning::Call, Some(0))), Some((Meaning::Return, Some(0))), None]
    );
}
