//! Tests templates for events that have no hook words. The tests cover the data at the data
//! pointer, and the words `$D1`, `$D2` and so on.

mod support;

use std::fmt::Write;
use std::path::PathBuf;

use support::{fixture, number, settings, table};
use tracewell::input::{Input, Settings as InputSettings};
use tracewell::report::trcrpt::{Options, Settings, Timestamp, TrcReport};
use tracewell::select::Selection;
use tracewell::template::{Program, Source};
use tracewell_record::stream::{EventType, Family, FullPolicy, Stream, StreamOptions};
use tracewell_wire::rkh::ESCAPE;
use tracewell_wire::systemview::{Form, Packet, ids};

/// Returns the lines that templates produce for a trace, without columns.
fn lines(mut input: Input, templates: &str, events: &[&str]) -> Vec<String> {
    let compiled = Program::of(&[Source::new("test.fmt", templates)]);
    assert!(compiled.is_valid(), "{:?}", compiled.findings);
    let options = Options { ids: false, timestamp: Timestamp::None, ..Options::default() };
    let selection = Selection {
        events: events.iter().map(|event| (*event).to_owned()).collect(),
        ..Selection::default()
    };
    let settings = Settings { options, selection, without_heading: true, ..Settings::default() };
    let mut report = TrcReport::new(Vec::new(), &compiled.program, settings);
    input.read(&mut report).unwrap();
    let text = report.into_inner().unwrap();
    let text = String::from_utf8(text).unwrap();
    text.lines().map(|line| line.trim_start().to_owned()).collect()
}

fn capture(name: &str) -> (Input, PathBuf) {
    let path = fixture("rkh").join(name);
    (Input::open(&path, settings(&[])).unwrap(), path)
}

/// Returns the lines that templates produce for one of two captures. Both captures are of the same
/// program. In capture `b`, ids, signals and sizes are wider, timestamps are shorter, and records
/// name the senders.
fn rkh(name: &str, templates: &str, events: &[&str]) -> Vec<String> {
    lines(capture(name).0, templates, events)
}

/// States and active objects have the same names and different addresses in the two captures.
const LIFE: &str = r#"
RKH_TE_SM_INIT 1.0 "@init" "init " OBJECT($D1) "in " OBJECT($D2)
RKH_TE_SM_DCH 1.0 "@dispatch" "dispatch " $D2%U4 "to " OBJECT($D1) "in " OBJECT($D3)
RKH_TE_SM_TRN 1.0 "@transition" "transition " OBJECT($D2) "-> " OBJECT($D3)
RKH_TE_SM_STATE 1.0 "@state" "now in " OBJECT($D2)
RKH_TE_SMA_FIFO 1.0 "@post" "post " $D2%U4 "to " OBJECT($D1) "count " $D5%U4 "queued " $D6%U4
"#;
const OF_LIFE: [&str; 5] =
    ["RKH_TE_SM_INIT", "RKH_TE_SM_DCH", "RKH_TE_SM_TRN", "RKH_TE_SM_STATE", "RKH_TE_SMA_FIFO"];

#[test]
fn words_of_rkh_events_are_the_arguments_for_all_widths() {
    let [narrow, wide] = ["ahsm-a.bin", "ahsm-b.bin"].map(|name| rkh(name, LIFE, &OF_LIFE));
    assert_eq!(narrow, wide);
    // The sender precedes the count. One of the targets does not record the sender.
    let posted = |line: &String| line == "post 1 to my count 1 queued 1";
    assert!(narrow.iter().any(posted) && narrow.iter().any(|line| line == "now in S112"));
}

#[test]
fn data_of_rkh_events_are_their_bytes_as_recorded() {
    // Signals have one byte in capture `a`, and two bytes, the lower one first, in capture `b`.
    let narrow = rkh("ahsm-a.bin", "RKH_TE_SM_DCH 1.0 \"@dch\" X4 U1 X4", &["RKH_TE_SM_DCH"]);
    let wide = rkh("ahsm-b.bin", "RKH_TE_SM_DCH 1.0 \"@dch\" X4 U2 X4", &["RKH_TE_SM_DCH"]);
    let signals = |lines: &[String]| -> Vec<String> {
        lines.iter().map(|line| line.split(' ').nth(1).unwrap().to_owned()).collect()
    };
    assert_eq!(signals(&narrow), signals(&wide));
    assert_eq!(narrow[0], "08052080 1 08051C00");
    // The string directly follows the four bytes of the address, as recorded. Its NUL is part of
    // the data.
    let names =
        rkh("ahsm-b.bin", "RKH_TE_FWK_AO 1.0 \"@ao\" X4 S0 \"of \" $HL%U2", &["RKH_TE_FWK_AO"]);
    assert_eq!(names, ["08052080 my of 7"]);
}

#[test]
fn rkh_events_have_as_many_bytes_of_data_as_their_records() {
    let templates = (0..256).fold(String::new(), |mut text, id| {
        let _ = writeln!(text, "{id:04X} 1.0 \"@event\" $HL%U4");
        text
    });
    // Number of bytes of a frame without its arguments: first for a configuration record, then for
    // all other records.
    for (name, configuration, others) in [("ahsm-a.bin", 2, 7), ("ahsm-b.bin", 2, 5)] {
        let (input, path) = capture(name);
        let stream = std::fs::read(&path).unwrap();
        let found = lines(input, &templates, &[]);
        let expected: Vec<_> = table(&path.with_extension("frames.tsv"))
            .iter()
            .map(|row| {
                let around = if row["event"] == "FWK_TCFG" { configuration } else { others };
                let [start, length] = ["offset", "raw_len"].map(|name| number(&row[name]) as usize);
                let record = &stream[start..start + length];
                let escapes = record.iter().filter(|byte| **byte == ESCAPE).count();
                (length - escapes - around).to_string()
            })
            .collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn words_of_systemview_events_are_their_decoded_parameters() {
    let mut bytes = vec![0; tracewell_wire::systemview::SYNC];
    // The first parameter has two bytes, all others have one byte.
    for (id, payload) in [(ids::TRACE_START, &[][..]), (ids::INIT, &[0xAC, 0x02, 7, 0, 0])] {
        let mut room = [0; 80];
        let packet = Packet { core: 0, id, payload, delta: 1, length: 0 };
        let length = packet.write(Form::default(), &mut room).unwrap();
        bytes.extend(&room[..length]);
    }
    let format = Some("systemview".to_owned());
    let settings = InputSettings { format, ..settings(&[]) };
    let input = Input::from_bytes("recording", bytes, settings).unwrap();
    let found = lines(input, "INIT 1.0 \"@\" $D1%U4 $D2%U4 $HL%U4", &["INIT"]);
    assert_eq!(found, ["300 7 5"]);
}

const FAMILY: Family = Family::new(1, "test");
static PAIR: EventType<(u32, i32)> = EventType::new(FAMILY, "pair", &["number", "balance"]);
static NOTE: EventType<(u32,), str> = EventType::new(FAMILY, "note", &["number", "text"]);
static DATA: EventType<(), [u8]> = EventType::new(FAMILY, "data", &["data"]);

fn native(templates: &str) -> Vec<String> {
    let options = StreamOptions {
        policy: FullPolicy::UntilFull,
        lanes: 1,
        packets: 4,
        packet_size: 512,
        ..StreamOptions::default()
    };
    let stream = Stream::anonymous(&options).unwrap();
    stream.start();
    stream.record(&PAIR, (7, -3));
    stream.record_with(&NOTE, (9,), "eight by");
    stream.record_with(&DATA, (), &[1, 2, 3]);
    let log = stream.save(Vec::new()).unwrap();
    lines(Input::from_bytes("log", log, settings(&[])).unwrap(), templates, &[])
}

#[test]
fn data_of_tracewell_events_are_those_of_the_program() {
    let templates = "pair 1.0 \"@\" $D1%U8 $D2%D8 U8 D8 $HL%U4\n\
                     note 1.0 \"@\" $D1%U8 U8 S0 $HL%U4\n\
                     data 1.0 \"@\" X1 X1 X1 $HL%U4 X1\n";
    assert_eq!(native(templates), ["7 -3 7 -3 16", "9 9 eight by 16", "01 02 03 3 <TRUNCATED>"]);
}
