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

/// Returns the arguments of the events of a stream of CTF 1.8, and the first diagnostic.
fn read_language(text: &str, stream: &[u8]) -> (Vec<String>, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    let metadata = format!(
        "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; }};
         typealias integer {{ size = 8; }} := u8;
         typealias integer {{ size = 16; align = 16; }} := u16;
         typealias integer {{ size = 2; }} := le2;
         typealias integer {{ size = 2; align = 4; }} := aligned2;
         typealias integer {{ size = 2; byte_order = be; }} := be2;
         typealias integer {{ size = 4; }} := le4;
         typealias integer {{ size = 4; byte_order = be; }} := be4;
         typealias integer {{ size = 3; }} := le3;
         typealias integer {{ size = 3; byte_order = be; }} := be3;
         typealias integer {{ size = 5; }} := le5;
         {text}"
    );
    fs::write(folder.path().join("metadata"), metadata).unwrap();
    fs::write(folder.path().join("stream"), stream).unwrap();
    let mut events = Vec::new();
    let mut input = Input::open(folder.path(), Settings::default()).unwrap();
    let trace = input.for_each(|event| events.push(event.args().to_string())).unwrap();
    let message = trace.diagnostics.iter().next().map(|found| found.message.clone());
    (events, message)
}

#[test]
fn lengths_of_all_scopes_are_kept_apart() {
    let text = "stream { packet.context := struct { u8 p; };
            event.header := struct { u8 id; u8 n; }; event.context := struct { u8 k; }; };
        event { id = 0; context := struct { u8 c; }; fields := struct {
            u8 m; u8 header[stream.event.header.n]; u8 own[m]; u8 context[stream.event.context.k];
            u8 specific[event.context.c]; u8 again[m]; u8 packet[stream.packet.context.p];
            u8 last[stream.event.header.n]; }; };
        event { id = 1; context := struct { u8 c; u8 d; }; fields := struct {
            u8 own[event.context.d]; u8 header[stream.event.header.n]; }; };";
    let first = [0, 1, 3, 4, 2, 10, 20, 21, 30, 31, 32, 40, 41, 42, 43, 50, 51, 60, 70];
    let second = [1, 2, 0, 1, 3, 80, 81, 82, 90, 91];
    let (events, message) = read_language(text, &[&[1][..], &first, &second].concat());
    assert_eq!(
        events,
        [
            "m=2, header=[ 10 ], own=[ 20, 21 ], context=[ 30, 31, 32 ], \
             specific=[ 40, 41, 42, 43 ], again=[ 50, 51 ], packet=[ 60 ], last=[ 70 ], c=4, k=3, \
             p=1",
            "own=[ 80, 81, 82 ], header=[ 90, 91 ], c=1, d=3, k=0, p=1",
        ]
    );
    assert_eq!(message, None);
}

#[test]
fn numbers_of_different_byte_orders_do_not_share_a_byte() {
    let share_in = |text: &str| {
        let (_, message) = read_language(text, &[0x21; 8]);
        message.is_some_and(|message| {
            message.ends_with("found numbers of different byte orders in one byte")
        })
    };
    let share = |fields: &str| share_in(&format!("event {{ fields := struct {{ {fields} }}; }};"));
    for fields in [
        "u8 n; le4 a; le4 b; u16 c;",
        "u8 n; be4 a; be4 b; u16 c;",
        "u8 n; le4 a; le4 b; be4 c; be4 d;",
        "u8 n; le4 a; string b; be4 c; be4 d;",
        "u8 n; le4 a; u8 b; be4 c; be4 d;",
        "u16 n; be4 a; be4 b; le4 c; le4 d;",
        "u16 n; u8 a; be4 b; be4 c;",
        "aligned2 a; le2 b; aligned2 c;",
        "u8 n; le4 a[2]; be4 b[2];",
        "u8 n; be4 a[0]; le4 b; le4 c;",
        "u8 n; le4 a; be4 b[0]; le4 c;",
        "u8 n; struct { le4 x; u8 y; be4 z; } align(8) s[2];",
        "enum : u8 { x = 33, y } t; le4 a; variant <t> { le4 x; be4 y; } v; le4 b;",
        "enum : u8 { x = 33, y } t; le4 a; variant <t> { u8 x; be4 y; } v; be4 b;",
        "enum : u8 { x = 33, y } t; variant <t> { u8 x; le4 y; } v; be4 b;",
    ] {
        assert!(!share(fields), "{fields}");
    }
    for fields in [
        "u8 n; le4 a; be4 b;",
        "u8 n; be4 a; le4 b;",
        "u16 n; le4 a; be4 b;",
        "u16 n; u8 a; be4 b; le4 c;",
        "u8 n; le4 a; le2 b; be2 c;",
        "aligned2 a; be2 b; le4 c;",
        "u8 n; be4 a; floating_point { exp_dig = 8; mant_dig = 24; align = 1; } b; be4 c;",
        "u8 n; le4 a; be4 b[1];",
        "u8 n; le4 a[1]; be4 b;",
        "u8 n; le4 a[1]; be4 b[1];",
        "u8 n; le4 a; be4 b[0]; be4 c;",
        "u8 n; struct { le4 x; be4 y; } s[2];",
        "u8 n; struct { le4 x; le4 y; be4 z; } s[2];",
        "le2 a; u8 n; struct { be2 x; } s[2]; struct { le4 x; } t[1];",
        "enum : u8 { x = 33 } t; le4 a; variant <t> { be4 x; } v;",
        "enum : u8 { x = 33 } t; le4 a; variant <t> { struct { be4 x; } x; } v;",
        "enum : u8 { x = 33, y } t; variant <t> { le4 x; u8 y; } v; be4 b;",
        "enum : u8 { x = 33, y } t; le4 a; variant <t> { struct { } x; be4 y; } v; be4 b;",
        "enum : u8 { x = 33, y } t; variant <t> { le4 x; u8 y; } v[1]; be4 b[1];",
    ] {
        assert!(share(fields), "{fields}");
    }
    // The number in the last bits of each byte is 1, the id of the first event.
    for (scopes, number, is_shared) in [
        ("event.header := struct { le5 id; };", "le3 a;", false),
        ("event.header := struct { le5 id; };", "be3 a;", true),
        ("event.header := struct { le4 id; };", "le4 a; be4 b;", true),
        ("event.header := struct { le4 id; };", "u8 n; be4 a;", true),
        ("event.header := struct { le4 id; };", "u8 n; le4 a;", false),
        ("event.header := struct { le4 id; } align(8);", "u8 n; be4 a;", false),
        ("event.context := struct { le4 c; };", "le4 a;", false),
        ("event.context := struct { le4 c; };", "be4 a;", true),
        (
            "packet.context := struct { u8 p; le4 c; }; event.header := struct { le4 n; };",
            "u8 a;",
            false,
        ),
        (
            "packet.context := struct { u8 p; le4 c; }; event.header := struct { be4 n; };",
            "u8 a;",
            true,
        ),
    ] {
        let id = if scopes.contains("id") { "id = 1;" } else { "" };
        let text = format!(
            "stream {{ {scopes} }}; event {{ {id} fields := struct {{ {number} }}; }};
             event {{ id = 2; fields := struct {{ u8 n; }}; }};"
        );
        assert_eq!(share_in(&text), is_shared, "{scopes} {number}");
    }
}

#[test]
fn long_texts_have_all_their_bytes() {
    // Fields are read together up to this number of bytes.
    let most = 1 << 17;
    let sized = |length: u32| json!({ "type": "static-length-string", "length": length });
    for lengths in [[most - 1, 1], [most, 2], [most + 1, 3], [most, most], [1, most]] {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = lengths;
        let members = structure(&[
            ("n", unsigned(json!({}))),
            ("a", sized(first)),
            ("b", sized(second)),
            ("c", sized(2)),
            ("m", unsigned(json!({}))),
        ]);
        let fragments = [
            json!({ "type": "data-stream-class" }),
            json!({ "type": "event-record-class", "payload-field-class": members }),
        ];
        let text = |length: u32, byte: u8| {
            let mut text = vec![byte; length as usize];
            text[length as usize - 1] = b'.';
            text
        };
        let texts = [text(first, b'x'), text(second, b'y'), b"zz".to_vec()];
        trace(folder.path(), &fragments, &[&[7][..], &texts.concat(), &[9]].concat());
        let (events, _) = read(folder.path());
        let [a, b, c] = texts.map(|text| String::from_utf8(text).unwrap());
        assert!(events == [format!("n=7, a={a}, b={b}, c={c}, m=9")], "{lengths:?}");
    }
    // This number of bits is 8 more than 2^32.
    let members = structure(&[("n", unsigned(json!({}))), ("a", sized((1 << 29) + 1))]);
    let fragments = [
        json!({ "type": "data-stream-class" }),
        json!({ "type": "event-record-class", "payload-field-class": members }),
    ];
    let folder = tempfile::tempdir().unwrap();
    trace(folder.path(), &fragments, b"12345678");
    let mut input = Input::open(folder.path(), Settings::default()).unwrap();
    let trace = input.for_each(|_| ()).unwrap();
    assert_eq!((trace.events, trace.losses.damaged()), (0, 1));
}

/// A field: its declaration, its bytes, and its text as an argument and as a member of `others`.
type Sample = (&'static str, &'static [u8], &'static str, &'static str);

const PAYLOAD: [Sample; 13] = [
    ("u8 n;", &[5], "n=5", "n = 5"),
    ("string t;", b"ab\0", "t=ab", "t = ab"),
    ("floating_point { exp_dig = 8; mant_dig = 24; } r;", &[0, 0, 0xC0, 0x3F], "r=1.5", "r = 1.5"),
    ("struct { u8 x; string y; } s;", b"\x07q\0", "s={ x = 7, y = q }", "s = { x = 7, y = q }"),
    ("u8 a[2];", &[3, 4], "a=[ 3, 4 ]", "a = [ 3, 4 ]"),
    ("u8 e[0];", &[], "e=[ ]", "e = [ ]"),
    (
        "struct { u8 x; } l[2];",
        &[1, 2],
        "l=[ { x = 1 }, { x = 2 } ]",
        "l = [ { x = 1 }, { x = 2 } ]",
    ),
    ("string m[2];", b"c\0\0", "m=[ c, \"\" ]", "m = [ c, \"\" ]"),
    ("integer { size = 8; encoding = UTF8; } w[3];", b"xy\0", "w=xy", "w = xy"),
    ("enum : u8 { A = 1, B } k;", &[1], "k=A", "k = 1"),
    ("variant <k> { u8 A; string B; } v;", &[9], "v={ A = 9 }", "v = { A = 9 }"),
    ("integer { size = 8; signed = true; } i;", &[0xFE], "i=-2", "i = -2"),
    ("u8 z;", &[6], "z=6", "z = 6"),
];

const SPECIFIC: [Sample; 2] =
    [("u8 sn;", &[50], "sn=50", "sn = 50"), ("string st;", b"sp\0", "st=sp", "st = sp")];

const COMMON: [Sample; 2] =
    [("u8 cn;", &[60], "cn=60", "cn = 60"), ("u8 ca[1];", &[61], "ca=[ 61 ]", "ca = [ 61 ]")];

const PACKET: [Sample; 5] = [
    ("u8 pn;", &[70], "pn=70", "pn = 70"),
    ("string pt;", b"pk\0", "pt=pk", "pt = pk"),
    (
        "floating_point { exp_dig = 8; mant_dig = 24; } pr;",
        &[0, 0, 0xC0, 0xBF],
        "pr=-1.5",
        "pr = -1.5",
    ),
    ("struct { u8 x; } ps;", &[71], "ps={ x = 71 }", "ps = { x = 71 }"),
    ("u8 pa[2];", &[72, 73], "pa=[ 72, 73 ]", "pa = [ 72, 73 ]"),
];

/// An event with more than 32 fields has the fields from the 32nd on in the argument `others`.
#[test]
fn fields_beyond_the_arguments_are_members_of_one_argument() {
    for leading in [0, 9, 10, 11, 15, 18, 20, 22, 24, 26, 30, 31, 32, 40] {
        let numbers = (0..leading).map(|n| (format!("u8 f{n};"), vec![n as u8], n));
        let own = numbers.map(|(declaration, bytes, n)| {
            (declaration, bytes, format!("f{n}={n}"), format!("f{n} = {n}"))
        });
        let owned = |(declaration, bytes, flat, nested): &Sample| {
            let bytes = bytes.to_vec();
            ((*declaration).to_owned(), bytes, (*flat).to_owned(), (*nested).to_owned())
        };
        let payload: Vec<_> = own.chain(PAYLOAD.iter().map(owned)).collect();
        let [specific, common, packet] = [&SPECIFIC[..], &COMMON, &PACKET]
            .map(|part| part.iter().map(owned).collect::<Vec<_>>());
        let scopes = [&payload, &specific, &common, &packet];
        let [of_event, of_specific, of_common, of_packet] = scopes.map(|scope| {
            scope.iter().map(|(declaration, ..)| format!("{declaration} ")).collect::<String>()
        });
        let text = format!(
            "stream {{ packet.context := struct {{ {of_packet} }};
                event.context := struct {{ {of_common} }}; }};
             event {{ context := struct {{ {of_specific} }}; fields := struct {{ {of_event} }}; }};"
        );
        let bytes = [&packet, &common, &specific, &payload, &common, &specific, &payload];
        let bytes: Vec<u8> =
            bytes.iter().flat_map(|scope| scope.iter().flat_map(|field| field.1.clone())).collect();
        let all: Vec<_> = scopes.into_iter().flatten().collect();
        let shown = if all.len() > 32 { 31 } else { all.len() };
        let mut expected: Vec<_> = all[..shown].iter().map(|field| field.2.clone()).collect();
        if all.len() > 32 {
            // The members are in the order of the bytes, except that the packet's are last.
            let mut first = 0;
            let rests = scopes.map(|scope| {
                let rest = scope.iter().skip(shown.saturating_sub(first));
                first += scope.len();
                rest.map(|field| field.3.clone()).collect::<Vec<_>>()
            });
            let [payload, specific, common, packet] = rests;
            let others = [common, specific, payload, packet].concat().join(", ");
            expected.push(format!("others={{ {others} }}"));
        }
        let expected = expected.join(", ");
        assert_eq!(read_language(&text, &bytes), (vec![expected.clone(), expected], None));
    }
}

#[test]
fn events_are_found_by_their_ids() {
    let names = |header: &str, ids: &[u64], stream: &[u8]| {
        let events: String = ids
            .iter()
            .map(|id| {
                format!("event {{ name = e{id}; id = {id}; fields := struct {{ u8 a; }}; }};")
            })
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let metadata = format!(
            "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; }};
             typealias integer {{ size = 8; }} := u8; typealias integer {{ size = 16; }} := u16;
             typealias integer {{ size = 64; }} := u64;
             stream {{ event.header := struct {{ {header} }}; }}; {events}"
        );
        fs::write(folder.path().join("metadata"), metadata).unwrap();
        fs::write(folder.path().join("stream"), stream).unwrap();
        let mut names = Vec::new();
        let mut input = Input::open(folder.path(), Settings::default()).unwrap();
        let trace = input.for_each(|event| names.push(event.kind().name.clone())).unwrap();
        (names.join(" "), trace.losses.damaged())
    };
    // Ids from 4096 on are found in another way.
    let ids = [0, 1, 4094, 4095, 4096, 4097, 65_535];
    let stream: Vec<u8> =
        ids.iter().flat_map(|id| [&(*id as u16).to_le_bytes()[..], &[7]].concat()).collect();
    let all = "e0 e1 e4094 e4095 e4096 e4097 e65535";
    assert_eq!(names("u16 id;", &ids, &stream), (all.to_owned(), 0));
    for (unknown, known) in [(4094, 4095), (4095, 4096), (4096, 4095), (4097, 4096), (2, 1)] {
        let bytes = |id: u16| [&id.to_le_bytes()[..], &[7]].concat();
        let stream = [bytes(known), bytes(unknown)].concat();
        let found = names("u16 id;", &[known.into()], &stream);
        assert_eq!(found, (format!("e{known}"), 1), "{unknown}");
    }
    let largest = [&u64::MAX.to_le_bytes()[..], &[7]].concat();
    assert_eq!(names("u64 id;", &[0, u64::MAX], &largest), (format!("e{}", u64::MAX), 0));
    // Without an id in the header, an event is of the only class or of class 0.
    assert_eq!(names("u8 x;", &[9], &[1, 7]), ("e9".to_owned(), 0));
    assert_eq!(names("u8 x;", &[9, 0], &[1, 7]), ("e0".to_owned(), 0));
    assert_eq!(names("u8 x;", &[9, 1], &[1, 7]), (String::new(), 1));
}

#[test]
fn arguments_of_several_scopes_have_different_names() {
    let read = |payload: &str, specific: &str, common: &str| {
        let text = format!(
            "stream {{ packet.context := struct {{ u8 a; }};
                event.context := struct {{ {common} }}; }};
             event {{ context := struct {{ {specific} }}; fields := struct {{ {payload} }}; }};"
        );
        let fields = [payload, specific, common].concat().matches(';').count() as u8;
        // The contexts come before the payload. Texts show an underscore as a space.
        let (events, message) =
            read_language(&text, &[9].into_iter().chain(1..=fields).collect::<Vec<_>>());
        assert_eq!((events.len(), message), (1, None));
        events[0].clone()
    };
    assert_eq!(read("u8 a;", "u8 a;", "u8 a;"), "a=3, event context a=2, context a=1, packet a=9");
    assert_eq!(
        read("u8 a; u8 context_a;", "u8 b;", "u8 a;"),
        "a=3, context a=4, b=2, context a 4=1, packet a=9"
    );
    assert_eq!(
        read("u8 payload_a; u8 b;", "u8 a;", "u8 b;"),
        "payload a=3, b=4, a=2, context b=1, packet a=9"
    );
}

#[test]
fn labels_of_few_values_name_them() {
    let read = |labels: &str| {
        let text = format!(
            "event {{ fields := struct {{ enum : integer {{ size = 16; }} {{ {labels} }} e; }}; }};"
        );
        let (events, message) = read_language(&text, &[5, 0]);
        assert_eq!((events.len(), message), (1, None));
        events[0].clone()
    };
    for (labels, expected) in [
        ("A = 0 ... 4095", "e=A"),
        ("A = 0 ... 4096", "e=5"),
        ("A = 1 ... 4096", "e=A"),
        ("A = 1 ... 4097", "e=5"),
        ("A = 0 ... 4094, B", "e=A"),
        ("A = 0 ... 4094, B = 4095 ... 4096", "e=5"),
        ("A = 6, B = 4", "e=5"),
        ("A = 6, B = 4, C", "e=C"),
        ("", "e=5"),
    ] {
        assert_eq!(read(labels), expected, "{labels}");
    }
}
