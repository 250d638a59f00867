//! Tests the values of CTF traces: each kind of field as an argument and in Babeltrace's form.

mod support;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::ctf::{structure, text};
use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::export::{ExportNames, ctf};
use tracewell::format::Options;
use tracewell::format::ctf::babeltrace::print;
use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, Flow, Sink, Trace};
use tracewell::select::{Expression, Selection};
use tracewell::source::Source;

/// Writes a trace of CTF 2 with one stream.
fn trace(folder: &Path, fragments: &[Value], stream: &[u8]) {
    fs::write(folder.join("metadata"), text(fragments)).unwrap();
    fs::write(folder.join("stream"), stream).unwrap();
}

/// Returns a class of 8 bits, with these further properties.
fn byte(kind: &str, more: Value) -> Value {
    let mut class = json!({ "type": kind, "length": 8, "byte-order": "little-endian" });
    class.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    class
}

fn unsigned(more: Value) -> Value {
    byte("fixed-length-unsigned-integer", more)
}

fn signed(more: Value) -> Value {
    byte("fixed-length-signed-integer", more)
}

/// Returns the arguments of each event, and the text in Babeltrace's form.
fn read(folder: &Path) -> (Vec<String>, String) {
    let mut events = Vec::new();
    let mut input = Input::open(folder, Settings::default()).unwrap();
    input.for_each(|event| events.push(event.args().to_string())).unwrap();
    let mut text = Vec::new();
    print(input.files(), folder, &mut text, |message| panic!("{message:?}")).unwrap();
    (events, String::from_utf8(text).unwrap())
}

/// Returns the argument and Babeltrace's text for a field. A byte precedes the field, because each
/// event needs at least one bit.
fn field(class: Value, bytes: &[u8]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let fragments = [
        json!({ "type": "data-stream-class" }),
        json!({
            "type": "event-record-class",
            "payload-field-class": structure(&[("n", unsigned(json!({}))), ("f", class)]),
        }),
    ];
    trace(folder.path(), &fragments, &[&[1], bytes].concat());
    let (events, text) = read(folder.path());
    assert_eq!(events.len(), 1, "{events:?}");
    let text = text.split_once("{ n = 1, f = ").expect(&text).1.trim_end();
    let argument = events[0].strip_prefix("n=1, ").expect(&events[0]);
    (argument.to_owned(), text.strip_suffix(" }").expect(text).to_owned())
}

#[test]
fn each_kind_of_number_has_its_text() {
    let base = |base: u8| json!({ "preferred-display-base": base });
    let cases = [
        (unsigned(json!({})), 200, "f=200", "200"),
        (unsigned(base(16)), 0x0A, "f=0x0A", "0xA"),
        (unsigned(base(8)), 0o17, "f=15", "017"),
        (unsigned(base(2)), 5, "f=5", "0b00000101"),
        (signed(json!({})), 0xFE, "f=-2", "-2"),
        (signed(base(16)), 0xFE, "f=-2", "0xFE"),
        (signed(base(8)), 0xFE, "f=-2", "0776"),
        (signed(base(2)), 0xFE, "f=-2", "0b11111110"),
        (byte("fixed-length-boolean", json!({})), 0, "f=false", "false"),
        (byte("fixed-length-boolean", json!({})), 8, "f=true", "true"),
        (byte("fixed-length-bit-array", json!({})), 0x1F, "f=0x1F", "0x1F"),
        (
            byte("fixed-length-bit-map", json!({ "flags": { "a": [[0, 0]], "b": [[1, 4]] } })),
            0x13,
            "f=0x13",
            "0x13",
        ),
        (
            unsigned(json!({ "mappings": { "low": [[0, 9]], "five": [[5, 5]] } })),
            5,
            "f=five",
            "( \"five\", \"low\" : container = 5 )",
        ),
        (
            signed(json!({ "mappings": { "below": [[-9, -1]] } })),
            0xFF,
            "f=below",
            "( \"below\" : container = -1 )",
        ),
    ];
    for (class, value, argument, text) in cases {
        assert_eq!(field(class.clone(), &[value]), (argument.into(), text.into()), "{class}");
    }
    let none = signed(json!({ "mappings": { "below": [[-9, -2]] } }));
    assert_eq!(field(none, &[0xFF]).1, "( <unknown> : container = -1 )");
}

/// Returns JSON lines of the events for which an expression is true.
fn selected(folder: &Path, expression: &str) -> String {
    let expressions = vec![Expression::parse(&Source::new("where", expression)).unwrap()];
    let selection = Selection { expressions, ..Selection::default() };
    let mut writer = EventWriter::new(Vec::new(), EventFormat::JsonLines, selection);
    Input::open(folder, Settings::default()).unwrap().read(&mut writer).unwrap();
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

#[test]
fn numbers_of_signed_enumerations_keep_their_sign() {
    let folder = tempfile::tempdir().unwrap();
    // A signed and an unsigned enumeration have equal labels, but each needs a table of its own.
    let mappings = json!({ "mappings": { "one": [[1, 1]] } });
    let below = json!({ "mappings": { "below": [[-9, -2]] } });
    let members =
        [("n", unsigned(mappings.clone())), ("f", signed(mappings)), ("g", signed(below))];
    let fragments = [
        json!({ "type": "data-stream-class" }),
        json!({ "type": "event-record-class", "payload-field-class": structure(&members) }),
    ];
    trace(folder.path(), &fragments, &[0xFF, 0xFF, 0xFE, 1, 1, 1]);
    let (events, _) = read(folder.path());
    assert_eq!(events, ["n=255, f=-1, g=below", "n=one, f=one, g=1"]);
    let first = selected(folder.path(), "f = -1");
    assert!(first.contains(r#""args":{"n":255,"f":-1,"g":-2}"#), "{first}");
    assert_eq!(first.matches("\"seq\"").count(), 1, "{first}");
    assert_eq!(selected(folder.path(), "f < 0 && g < 0 && n > 0"), first);
    assert!(!selected(folder.path(), "f > 1").contains("\"seq\""));
    assert_eq!(selected(folder.path(), "f = \"-1\" && g = below"), first);
    // Our own writer keeps the sign, too.
    let copy = tempfile::tempdir().unwrap();
    let names = ExportNames { input: "trace".to_owned(), output: "copy".to_owned() };
    let mut input = Input::open(folder.path(), Settings::default()).unwrap();
    ctf::CTF.write_folder(&mut input, &Options::default(), &names, copy.path()).unwrap();
    let metadata = fs::read_to_string(copy.path().join("metadata")).unwrap();
    assert!(metadata.contains("\"below\" = -2,"), "{metadata}");
    let again = selected(copy.path(), "f = -1");
    assert!(again.contains(r#""n":255,"f":-1,"g":-2"#), "{again}");
}

#[test]
fn numbers_of_several_bytes_have_their_value() {
    let float = |length: u32| {
        json!({
            "type": "fixed-length-floating-point-number", "length": length,
            "byte-order": "big-endian",
        })
    };
    let variable = |kind: &str, more: Value| {
        let mut class = json!({ "type": format!("variable-length-{kind}") });
        class.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        class
    };
    let mappings = json!({ "mappings": { "large": [[10_000, 20_000]] } });
    // As unsigned LEB128, the bytes stand for 0x7F + 0x7E * 128. As signed LEB128, they stand for
    // this value minus 2^14.
    let leb: &[u8] = &[0xFF, 0x7E];
    let named = "( \"large\" : container = 16255 )";
    let cases: [(Value, &[u8], &str, &str); 6] = [
        (float(32), &(-1.5_f32).to_be_bytes(), "f=-1.5", "-1.5"),
        (float(64), &0.1_f64.to_be_bytes(), "f=0.1", "0.1"),
        (variable("signed-integer", json!({})), leb, "f=-129", "-129"),
        (variable("unsigned-integer", json!({})), leb, "f=16255", "16255"),
        (variable("unsigned-integer", mappings.clone()), leb, "f=16255", named),
        (variable("unsigned-enumeration", mappings), leb, "f=16255", named),
    ];
    for (class, bytes, argument, text) in cases {
        assert_eq!(field(class.clone(), bytes), (argument.into(), text.into()), "{class}");
    }
}

/// Returns the error for a trace with this field.
fn error(class: Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    let fragments = [
        json!({ "type": "data-stream-class" }),
        json!({ "type": "event-record-class", "payload-field-class": structure(&[("f", class)]) }),
    ];
    trace(folder.path(), &fragments, &[0; 32]);
    let read = Input::open(folder.path(), Settings::default())
        .and_then(|mut input| input.for_each(|_| ()));
    read.unwrap_err().to_string()
}

#[test]
fn a_float_of_another_size_is_refused_with_its_size() {
    for length in [0, 8, 16, 31, 33, 48, 63, 65, 96, 127, 128, 129, 160] {
        let found = error(json!({
            "type": "fixed-length-floating-point-number", "length": length,
            "byte-order": "big-endian",
        }));
        // These sizes of IEEE 754 are valid, but not supported.
        let expected = match length {
            16 | 128 | 160 => "a floating-point number of 32 or 64 bits",
            _ => "16, 32 or 64 bits, or a multiple of 32 from 128",
        };
        let expected = format!(": expected {expected}, found {length}");
        assert!(found.ends_with(&expected), "{found}");
    }
}

#[test]
fn each_kind_of_text_and_bytes_has_its_text() {
    let zero = |encoding: &str| json!({ "type": "null-terminated-string", "encoding": encoding });
    let sized = |length: u32| json!({ "type": "static-length-string", "length": length });
    let blob = |length: u32| json!({ "type": "static-length-blob", "length": length });
    let list = |length: u32| {
        let element = unsigned(json!({}));
        json!({ "type": "static-length-array", "length": length, "element-field-class": element })
    };
    let both = structure(&[("x", unsigned(json!({}))), ("y", blob(2)), ("z", sized(1))]);
    let cases: [(Value, &[u8], &str, &str); 13] = [
        (
            zero("utf-8"),
            b"a\x07\x08\x1B\x0C\n\r\t\x0B\x01\x7F\\'\"?z\0",
            r#"f=a\x07\x08\x1b\x0c\n\r\t\x0b\x01\x7f\'"?z"#,
            r#""a\a\b\e\f\n\r\t\v\x01\x7f\\\'\"\?z""#,
        ),
        (zero("utf-16le"), b"h\0i\0\0\0", "f=hi", "\"hi\""),
        (zero("utf-16be"), b"\0h\0i\0\0", "f=hi", "\"hi\""),
        (zero("utf-32le"), b"h\0\0\0i\0\0\0\0\0\0\0", "f=hi", "\"hi\""),
        (zero("utf-32be"), b"\0\0\0h\0\0\0i\0\0\0\0", "f=hi", "\"hi\""),
        (sized(4), b"ab\0c", "f=ab", "\"ab\""),
        (sized(0), b"", "f=", "\"\""),
        (blob(3), &[1, 2, 255], "f=0102FF", "[ [0] = 1, [1] = 2, [2] = 255 ]"),
        (blob(0), &[], "f=", "[ ]"),
        (list(2), &[3, 4], "f=[ 3, 4 ]", "[ [0] = 3, [1] = 4 ]"),
        (list(0), &[], "f=[ ]", "[ ]"),
        (
            both,
            &[1, 2, 3, b'q'],
            "f={ x = 1, y = [0203], z = q }",
            "{ x = 1, y = [ [0] = 2, [1] = 3 ], z = \"q\" }",
        ),
        (structure(&[]), &[], "f={ }", "{ }"),
    ];
    for (class, bytes, argument, text) in cases {
        assert_eq!(field(class.clone(), bytes), (argument.into(), text.into()), "{class}");
    }
}

#[test]
fn an_optional_field_has_a_text_if_it_is_absent() {
    let folder = tempfile::tempdir().unwrap();
    let members = structure(&[
        ("s", unsigned(json!({}))),
        (
            "o",
            json!({
                "type": "optional", "field-class": unsigned(json!({})),
                "selector-field-location": { "path": ["s"] },
                "selector-field-ranges": [[1, 1]],
            }),
        ),
    ]);
    let fragments = [
        json!({ "type": "data-stream-class" }),
        json!({ "type": "event-record-class", "payload-field-class": members }),
    ];
    trace(folder.path(), &fragments, &[1, 7, 0]);
    let (_, text) = read(folder.path());
    assert_eq!(text, ": { s = 1, o = 7 }\n: { s = 0, o = <none> }\n");

    // A byte of 1 precedes these fields.
    let member = |selected: u8, bytes: &[u8]| {
        let optional = json!({
            "type": "optional", "field-class": unsigned(json!({})),
            "selector-field-location": { "origin": "event-record-payload", "path": ["n"] },
            "selector-field-ranges": [[selected, selected]],
        });
        field(structure(&[("o", optional)]), bytes)
    };
    assert_eq!(member(1, &[7]), ("f={ o = 7 }".to_owned(), "{ o = 7 }".to_owned()));
    assert_eq!(member(2, &[]), ("f={ o = none }".to_owned(), "{ o = <none> }".to_owned()));
}

#[test]
fn events_have_their_offsets() {
    struct Offsets(Vec<u64>);

    impl Sink for Offsets {
        fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
            self.0.extend((0..batch.len()).map(|row| batch.records.offset(row)));
            Flow::Continue(())
        }
    }

    let folder = tempfile::tempdir().unwrap();
    let number = unsigned(json!({}));
    let list = json!({ "type": "static-length-array", "length": 2, "element-field-class": number.clone() });
    for (class, size) in [(number, 1), (list, 2)] {
        let payload = structure(&[("f", class)]);
        let fragments = [
            json!({ "type": "data-stream-class" }),
            json!({ "type": "event-record-class", "payload-field-class": payload }),
        ];
        trace(folder.path(), &fragments, &[7; 20]);
        let mut offsets = Offsets(Vec::new());
        Input::open(folder.path(), Settings::default()).unwrap().read(&mut offsets).unwrap();
        assert_eq!(offsets.0, (0..20).step_by(size).collect::<Vec<_>>());
    }
}

/// Values before the events of a packet: a structure, a float, a string and bytes.
#[test]
fn the_context_of_a_packet_has_values_of_each_kind() {
    let folder = tempfile::tempdir().unwrap();
    let float = json!({ "type": "fixed-length-floating-point-number", "length": 32,
                        "byte-order": "big-endian" });
    let context = structure(&[
        ("number", unsigned(json!({}))),
        ("real", float.clone()),
        ("text", json!({ "type": "null-terminated-string" })),
        ("blob", json!({ "type": "static-length-blob", "length": 2 })),
        (
            "both",
            structure(&[
                ("number", unsigned(json!({}))),
                ("real", float),
                ("text", json!({ "type": "null-terminated-string" })),
                ("blob", json!({ "type": "static-length-blob", "length": 2 })),
            ]),
        ),
    ]);
    let fragments = [
        json!({ "type": "data-stream-class", "packet-context-field-class": context }),
        json!({ "type": "event-record-class",
                "payload-field-class": structure(&[("f", unsigned(json!({})))]) }),
    ];
    let mut bytes = vec![7];
    for start in [b"one\0\x01\x02".as_slice(), b"\x08"] {
        if start.len() > 1 {
            bytes.extend(2.5_f32.to_be_bytes());
        }
        bytes.extend(start);
    }
    bytes.extend((-0.25_f32).to_be_bytes());
    bytes.extend(b"two\0\x03\x04\x63");
    trace(folder.path(), &fragments, &bytes);
    let (events, text) = read(folder.path());
    let values = "number=7, real=2.5, text=one, blob=0102, \
                  both={ number = 8, real = -0.25, text = two, blob = [0304] }";
    assert_eq!(events, [format!("f=99, {values}")]);
    let of = |number: u8, real: f32, text: &str, [a, b]: [u8; 2]| {
        format!(
            "number = {number}, real = {real}, text = \"{text}\", blob = [ [0] = {a}, [1] = {b} ]"
        )
    };
    let (first, second) = (of(7, 2.5, "one", [1, 2]), of(8, -0.25, "two", [3, 4]));
    assert_eq!(text, format!(": {{ {first}, both = {{ {second} }} }}, {{ f = 99 }}\n"));
}
