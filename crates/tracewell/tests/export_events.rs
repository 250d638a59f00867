//! Tests the event lists that other programs read. The tests parse JSON lines with a JSON library,
//! and check the fields of tables.

#[path = "support/dump.rs"]
mod dump;
mod support;

use dump::{Dump, USUAL};
use serde_json::Value;
use support::settings;
use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::input::Input;
use tracewell::select::Selection;

fn write(bytes: Vec<u8>, options: &[&str], format: EventFormat, selection: Selection) -> String {
    let mut writer = EventWriter::new(Vec::new(), format, selection);
    let mut input = Input::from_bytes("dump", bytes, settings(options)).unwrap();
    input.read(&mut writer).unwrap();
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

fn json(bytes: Vec<u8>, options: &[&str]) -> Vec<Value> {
    let text = write(bytes, options, EventFormat::JsonLines, Selection::default());
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_json_line_has_the_promised_keys_in_order() {
    let text = write(
        Dump::small(USUAL).bytes(),
        &["rate=1MHz"],
        EventFormat::JsonLines,
        Selection::default(),
    );
    assert_eq!(
        text.lines().nth(2).unwrap(),
        r#"{"seq":2,"ticks":20,"time_ns":20000,"cpu":0,"context":"0x21000000","context_name":"alpha","priority":7,"id":83,"name":"TX_TRACE_SEMAPHORE_GET","args":{"semaphore_ptr":"0x00000001","wait_option":2,"current_count":3,"stack_ptr":"0x00000004"},"text":"semaphore=0x00000001, wait option=2 ticks, current count=3, stack ptr=0x00000004"}"#
    );
}

#[test]
fn words_without_a_name_are_called_by_their_position() {
    let lines = json(Dump::small(USUAL).bytes(), &[]);
    let user = &lines[5];
    let args: Vec<_> = user["args"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(args, ["arg1", "arg2", "arg3", "arg4"]);
    assert_eq!(user["id"], 5000);
    assert!(user.get("time_ns").is_none(), "the rate is not known");
}

#[test]
fn names_that_hold_anything_are_still_json_and_tables() {
    let mut dump = Dump::small(USUAL);
    dump.objects[0].name = b"a\"b\\c,d";
    dump.objects[1].name = "gr\u{fc}n\u{2028}".as_bytes();
    let lines = json(dump.bytes(), &[]);
    assert_eq!(lines[1]["context_name"], "a\"b\\c,d");
    assert_eq!(lines[0]["context_name"], "gr\u{fc}n\\u{2028}");
    let csv = write(dump.bytes(), &[], EventFormat::Csv, Selection::default());
    assert!(csv.lines().nth(2).unwrap().contains(r#","a""b\c,d","#), "{csv}");
    let tsv = write(dump.bytes(), &[], EventFormat::Tsv, Selection::default());
    assert!(tsv.lines().nth(2).unwrap().contains("\ta\"b\\\\c,d\t"), "{tsv}");
}

#[test]
fn a_gap_is_a_line_in_its_place() {
    let bytes = Dump::wrapped(USUAL).bytes();
    let lines = json(bytes.clone(), &[]);
    assert_eq!(lines[0], serde_json::json!({"lost": null, "cause": "overwritten", "offset": 240}));
    assert_eq!(lines[1]["seq"], 0);
    for (format, separator) in [(EventFormat::Tsv, '\t'), (EventFormat::Csv, ',')] {
        let text = write(bytes.clone(), &[], format, Selection::default());
        let row: Vec<_> = text.lines().nth(1).unwrap().split(separator).collect();
        assert_eq!((row.len(), row[0], row[8]), (10, "", "lost"));
        assert_eq!(row[9], "cause=overwritten offset=240");
    }
}

#[test]
fn tables_have_as_many_fields_as_columns() {
    let text = write(Dump::small(USUAL).bytes(), &[], EventFormat::Tsv, Selection::default());
    assert_eq!(text.lines().count(), 7);
    assert!(text.lines().all(|line| line.split('\t').count() == 10), "{text}");
}

fn sequence(selection: Selection) -> Vec<u64> {
    let bytes = Dump::small(USUAL).bytes();
    let text = write(bytes, &["rate=1MHz"], EventFormat::JsonLines, selection);
    let seq = |line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap();
    text.lines().map(seq).collect()
}

#[test]
fn selections_choose_by_context_event_time_and_place() {
    let texts = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    let all = Selection::default;
    assert_eq!(sequence(Selection { contexts: texts(&["BETA"]), ..all() }), [0, 3]);
    assert_eq!(sequence(Selection { contexts: texts(&["0x21000100"]), ..all() }), [0, 3]);
    assert_eq!(sequence(Selection { events: texts(&["tx_semaphore_*"]), ..all() }), [2, 4]);
    assert_eq!(sequence(Selection { events: texts(&["5000", "6"]), ..all() }), [0, 1, 5]);
    assert_eq!(sequence(Selection { objects: texts(&["0x1"]), ..all() }), [2, 3, 4]);
    assert_eq!(sequence(Selection { from: "20".parse().ok(), ..all() }), [2, 3, 4, 5]);
    assert_eq!(sequence(Selection { to: "20us".parse().ok(), ..all() }), [0, 1, 2]);
    assert_eq!(sequence(Selection { head: Some(2), ..all() }), [0, 1]);
    assert_eq!(sequence(Selection { tail: Some(2), ..all() }), [4, 5]);
    assert!(sequence(Selection { tail: Some(0), ..all() }).is_empty());
}
