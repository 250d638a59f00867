//! Tests the rules of the metadata language of CTF 2, one test for each rule.

mod support;

use serde_json::{Value, json};
use support::ctf::{Types, structure, text};
use tracewell::format::ctf::metadata::{self, MAX_FIELDS, Parsed};

fn read(fragments: &[Value]) -> Result<Parsed, String> {
    metadata::read(text(fragments).as_bytes()).map_err(|error| error.message)
}

/// Returns the class of an unsigned integer of 8 bits, with these further properties.
fn byte(more: Value) -> Value {
    let mut class = json!({
        "type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian",
    });
    class.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    class
}

/// Declares an event whose payload has these members. Returns the lines that describe its types.
fn fields(members: &[(&str, Value)]) -> Result<Vec<String>, String> {
    let parsed = read(&[
        json!({ "type": "data-stream-class" }),
        json!({ "type": "event-record-class", "payload-field-class": structure(members) }),
    ])?;
    let lines = Types::of(&parsed.metadata, true);
    let lines = lines.lines().skip_while(|line| !line.contains("Payload field class")).skip(1);
    Ok(lines.map(|line| line.strip_prefix("        ").unwrap().to_owned()).collect())
}

/// Returns a field location without an origin.
fn path(path: Value) -> Value {
    json!({ "path": path })
}

#[test]
fn each_field_class_is_read() {
    let found = fields(&[
        (
            "bits",
            json!({ "type": "fixed-length-bit-array", "length": 5, "byte-order": "big-endian" }),
        ),
        (
            "map",
            json!({
                "type": "fixed-length-bit-map", "length": 16, "byte-order": "little-endian",
                "alignment": 16, "flags": { "b": [[1, 3]], "a": [[0, 0], [5, 6]] },
            }),
        ),
        (
            "truth",
            json!({ "type": "fixed-length-boolean", "length": 1, "byte-order": "big-endian" }),
        ),
        (
            "signed",
            json!({
                "type": "fixed-length-signed-integer", "length": 7, "byte-order": "big-endian",
                "bit-order": "first-to-last", "preferred-display-base": 16,
                "mappings": { "low": [[-64, -1]] },
            }),
        ),
        (
            "real",
            json!({
                "type": "fixed-length-floating-point-number", "length": 64,
                "byte-order": "little-endian", "bit-order": "last-to-first", "alignment": 8,
            }),
        ),
        ("leb", json!({ "type": "variable-length-signed-integer" })),
        ("zero", json!({ "type": "null-terminated-string", "encoding": "utf-16be" })),
        ("sized", json!({ "type": "static-length-string", "length": 9 })),
        ("blob", json!({ "type": "static-length-blob", "length": 3, "media-type": "a/b" })),
        ("length", byte(json!({}))),
        (
            "text",
            json!({
                "type": "dynamic-length-string", "length-field-location": path(json!(["length"])),
                "encoding": "utf-32le",
            }),
        ),
        (
            "data",
            json!({
                "type": "dynamic-length-blob",
                "length-field-location": { "origin": "event-record-payload", "path": ["length"] },
            }),
        ),
        (
            "list",
            json!({
                "type": "static-length-array", "length": 2, "minimum-alignment": 32,
                "element-field-class": structure(&[("x", byte(json!({ "alignment": 4 })))]),
            }),
        ),
    ]);
    let expected = [
        "bits: Bit array (5-bit, Base 10, alignment 1, big)",
        "map: Bit map (16-bit, Base 10, alignment 16, little):",
        "  a: [0] [5, 6]",
        "  b: [1, 3]",
        "truth: Boolean (1-bit, Base 10, alignment 1, big)",
        "signed: Signed enumeration (7-bit, Base 16, 1 mapping, alignment 1, big, reversed):",
        "  low: [-64, -1]",
        "real: Double-precision real (alignment 8, little, reversed)",
        "leb: Signed integer (64-bit, variable, Base 10, alignment 8, little)",
        "zero: String (Utf16(Big))",
        "sized: String (Utf8, Length 9)",
        "blob: Blob (Length 3)",
        "length: Unsigned integer (8-bit, Base 10, alignment 1, little)",
        "text: String (Utf32(Little), Length field path [Event payload: 9])",
        "data: Blob (Length field path [Event payload: 9])",
        "list: Static array (Length 2, alignment 32):",
        "  Element: Structure (1 member, alignment 4):",
        "    x: Unsigned integer (8-bit, Base 10, alignment 4, little)",
    ];
    assert_eq!(found.unwrap(), expected);
}

#[test]
fn mappings_keep_the_order_of_the_text() {
    // Insert the mappings as text, because `serde_json` would sort them.
    let class = byte(json!({ "mappings": {} })).to_string();
    let class = class.replace("\"mappings\":{}", "\"mappings\":{\"z\":[[1,1]],\"a\":[[1,2]]}");
    let text = text(&[
        json!({ "type": "data-stream-class" }),
        json!({ "type": "event-record-class", "payload-field-class": structure(&[("e", json!("X"))]) }),
    ]);
    let parsed = metadata::read(text.replace("\"X\"", &class).as_bytes()).unwrap();
    let payload = parsed.metadata.streams[0].events[0].payload.clone().unwrap();
    let tracewell::format::ctf::classes::Class::Integer(integer) = &payload.members[0].class else {
        panic!("{payload:?}");
    };
    let labels: Vec<_> = integer.mappings.iter().map(|mapping| &*mapping.label).collect();
    assert_eq!(labels, ["z", "a"]);
}

#[test]
fn null_goes_up_one_structure() {
    let array = |location: Value| {
        json!({
            "type": "dynamic-length-array", "length-field-location": location,
            "element-field-class": byte(json!({})),
        })
    };
    let nested = |location: Value| {
        fields(&[
            ("n", byte(json!({}))),
            (
                "x",
                structure(&[("m", byte(json!({}))), ("y", structure(&[("a", array(location))]))]),
            ),
        ])
    };
    for (location, expected) in [
        (json!([null, "m"]), Ok("[Event payload: 1, 0]")),
        (json!([null, null, "n"]), Ok("[Event payload: 0]")),
        (json!([null, "y", null, "m"]), Ok("[Event payload: 1, 0]")),
        (
            json!([null, null, null, "n"]),
            Err("expected at most one null for each enclosing structure below the root, found 3"),
        ),
        (json!(["m"]), Err("expected the name of a field before this one, found 'm'")),
        (json!([null]), Err("expected a path that ends with a name, found an object")),
        (json!([]), Err("expected a path that ends with a name, found an object")),
        (
            json!([null, "x", "y", "a"]),
            Err("expected the name of a field before this one, found 'x'"),
        ),
        (json!(["a"]), Err("expected an integer 'a', found an array")),
    ] {
        match (nested(path(location)), expected) {
            (Ok(lines), Ok(place)) => assert!(lines[4].contains(place), "{lines:?}"),
            (found, expected) => assert_eq!(found.unwrap_err(), expected.unwrap_err()),
        }
    }
}

#[test]
fn null_cannot_leave_the_origin() {
    let array = |names: Value| {
        let found = fields(&[
            ("n", byte(json!({}))),
            (
                "a",
                json!({
                    "type": "dynamic-length-array",
                    "length-field-location": { "origin": "event-record-payload", "path": names },
                    "element-field-class": byte(json!({})),
                }),
            ),
        ]);
        found.map(|lines| lines[1].contains("[Event payload: 0]"))
    };
    assert_eq!(array(json!(["n"])), Ok(true));
    assert_eq!(array(json!(["x", null, "n"])), Ok(true));
    let name = "expected a name, found null".to_owned();
    assert_eq!(array(json!([null, "n"])), Err(name.clone()));
    assert_eq!(array(json!(["x", null, null, "n"])), Err(name));
    assert_eq!(array(json!([7])), Err("expected a name, found 7".to_owned()));
}

#[test]
fn an_absent_optional_member_is_no_argument() {
    let optional = json!({
        "type": "optional", "field-class": byte(json!({})),
        "selector-field-location": path(json!(["s"])), "selector-field-ranges": [[1, 1]],
    });
    let members = structure(&[("s", byte(json!({}))), ("o", optional), ("after", byte(json!({})))]);
    let metadata = text(&[
        json!({ "type": "data-stream-class" }),
        json!({ "type": "event-record-class", "payload-field-class": members }),
    ]);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("metadata"), metadata).unwrap();
    // One event with the optional member, and one without.
    std::fs::write(folder.path().join("stream"), [1, 7, 8, 0, 9]).unwrap();
    let mut texts = Vec::new();
    let mut input = tracewell::open(folder.path()).unwrap();
    input.for_each(|event| texts.push(event.args().to_string())).unwrap();
    assert_eq!(texts, ["s=1, o=7, after=8", "s=0, after=9"]);
}

#[test]
fn choices_need_selectors_of_their_kind() {
    let optional = |selector: Value, ranges: Option<Value>| {
        let mut class = json!({
            "type": "optional", "field-class": byte(json!({})),
            "selector-field-location": path(json!(["s"])),
        });
        if let Some(ranges) = ranges {
            class["selector-field-ranges"] = ranges;
        }
        fields(&[("s", selector), ("o", class)])
    };
    let boolean =
        json!({ "type": "fixed-length-boolean", "length": 8, "byte-order": "big-endian" });
    let lines = optional(boolean.clone(), None).unwrap();
    assert!(lines[2].starts_with("  : [1, 18,446,744,073,709,551,615]: "), "{lines:?}");
    let lines = optional(byte(json!({})), Some(json!([[1, 2], [7, 7]]))).unwrap();
    assert!(lines[2].starts_with("  : [1, 2] [7]: "), "{lines:?}");
    assert!(optional(byte(json!({})), None).is_err());
    assert!(optional(boolean, Some(json!([[1, 1]]))).is_err());

    let variant = |ranges: [Value; 2]| {
        let [first, second] = ranges.map(
            |ranges| json!({ "field-class": byte(json!({})), "selector-field-ranges": ranges }),
        );
        let class = json!({
            "type": "variant", "options": [first, second],
            "selector-field-location": path(json!(["s"])),
        });
        fields(&[("s", byte(json!({}))), ("v", class)])
    };
    assert!(variant([json!([[0, 3]]), json!([[4, 4]])]).is_ok());
    assert_eq!(
        variant([json!([[0, 3]]), json!([[5, 5], [3, 4]])]).unwrap_err(),
        "expected options with different values, found 3 twice"
    );
}

#[test]
fn roles_count_in_their_scopes() {
    let stamp = || byte(json!({ "roles": ["default-clock-timestamp"] }));
    let fragments = |clock: Value| {
        [
            json!({ "type": "clock-class", "id": "c", "frequency": 5 }),
            json!({
                "type": "data-stream-class", "default-clock-class-id": clock,
                "event-record-header-field-class": structure(&[("t", stamp())]),
            }),
            json!({ "type": "event-record-class", "payload-field-class": structure(&[("t", stamp())]) }),
        ]
    };
    let Parsed { metadata, warnings, .. } = read(&fragments(json!("c"))).unwrap();
    assert_eq!(metadata.streams[0].clock, Some(0));
    let types = Types::of(&metadata, true);
    assert_eq!(types.matches(", Time)").count(), 1, "{types}");
    assert_eq!(warnings[0].message, "role Time ignored: fields of this scope do not have it");
    assert_eq!(
        read(&fragments(json!("d"))).unwrap_err(),
        "expected the id of a clock, found \"d\""
    );
    let mut without = fragments(json!("c"));
    without[1].as_object_mut().unwrap().remove("default-clock-class-id");
    let warnings = read(&without).unwrap().warnings;
    assert_eq!(warnings[0].message, "role Time ignored: the stream has no default clock");
}

#[test]
fn each_role_is_possible_in_its_scopes() {
    const SCOPES: [&str; 6] = [
        "packet-header",
        "packet-context",
        "event-record-header",
        "event-record-common-context",
        "specific-context",
        "payload",
    ];
    for (word, role, scopes) in [
        ("packet-magic-number", "Magic", &[0][..]),
        ("data-stream-class-id", "StreamClass", &[0]),
        ("data-stream-id", "StreamInstance", &[0]),
        ("packet-total-length", "PacketSize", &[1]),
        ("packet-content-length", "ContentSize", &[1]),
        ("default-clock-timestamp", "Time", &[1, 2]),
        ("packet-end-default-clock-timestamp", "EndTime", &[1]),
        ("discarded-event-record-counter-snapshot", "Discarded", &[1]),
        ("packet-sequence-number", "PacketNumber", &[1]),
        ("event-record-class-id", "EventClass", &[2]),
    ] {
        for (index, scope) in SCOPES.iter().enumerate() {
            let mut class = byte(json!({ "roles": [word, word] }));
            class["length"] = 32.into();
            let root = structure(&[("n", class)]);
            let mut fragments = [
                json!({ "type": "trace-class" }),
                json!({ "type": "clock-class", "id": "c", "frequency": 5 }),
                json!({ "type": "data-stream-class", "default-clock-class-id": "c" }),
                json!({ "type": "event-record-class" }),
            ];
            let holder = [0, 2, 2, 2, 3, 3][index];
            fragments[holder][format!("{scope}-field-class")] = root;
            let other = ["payload", "specific-context"][usize::from(*scope == "payload")];
            fragments[3][format!("{other}-field-class")] = structure(&[("x", byte(json!({})))]);
            let Parsed { metadata, warnings, .. } = read(&fragments).unwrap();
            let types = Types::of(&metadata, true);
            let has_role = types.contains(&format!(
                "n: Unsigned integer (32-bit, Base 10, alignment 1, little, {role})"
            ));
            assert_eq!(has_role, scopes.contains(&index), "{word} {scope}: {types}");
            let messages: Vec<_> = warnings.into_iter().map(|warning| warning.message).collect();
            let message = format!("role {role} ignored: fields of this scope do not have it");
            assert_eq!(messages, if has_role { vec![] } else { vec![message] }, "{word} {scope}");
        }
    }
}

#[test]
fn signed_integers_and_unknown_words_have_no_role() {
    let roles = |class: Value| {
        let header = structure(&[("n", class)]);
        let parsed = read(&[
            json!({ "type": "data-stream-class", "event-record-header-field-class": header }),
        ]);
        let Parsed { metadata, warnings, .. } = parsed.unwrap();
        let messages: Vec<_> = warnings.into_iter().map(|warning| warning.message).collect();
        (Types::of(&metadata, true).contains("EventClass"), messages)
    };
    let signed = |kind: &str| json!({ "type": kind, "roles": ["event-record-class-id"] });
    let mut fixed = signed("fixed-length-signed-integer");
    (fixed["length"], fixed["byte-order"]) = (8.into(), "big-endian".into());
    for class in [fixed, signed("variable-length-signed-integer")] {
        let ignored = vec!["role of a signed integer, ignored".to_owned()];
        assert_eq!(roles(class.clone()), (false, ignored), "{class}");
    }
    assert_eq!(roles(signed("variable-length-unsigned-integer")), (true, vec![]));
    let mixed = byte(json!({ "roles": ["sequence", "event-record-class-id"] }));
    assert_eq!(roles(mixed), (true, vec!["unknown role 'sequence', ignored".to_owned()]));
}

#[test]
fn the_magic_number_has_the_byte_order_of_the_trace() {
    let magic = |length: u32| {
        let mut class =
            byte(json!({ "roles": ["packet-magic-number"], "byte-order": "big-endian" }));
        class["length"] = length.into();
        read(&[json!({
            "type": "trace-class", "packet-header-field-class": structure(&[("m", class)]),
        })])
    };
    assert_eq!(magic(32).unwrap().metadata.byte_order, tracewell_wire::ByteOrder::Big);
    assert_eq!(magic(16).unwrap_err(), "expected a magic number of 32 bits, found 16");
}

#[test]
fn the_magic_number_is_no_element_of_an_array() {
    let element = json!({
        "type": "fixed-length-unsigned-integer", "length": 32, "byte-order": "little-endian",
        "roles": ["packet-magic-number"],
    });
    let array = json!({
        "type": "static-length-array", "length": 1, "element-field-class": element,
    });
    let header = structure(&[("m", array)]);
    let trace = json!({ "type": "trace-class", "packet-header-field-class": header });
    let Parsed { metadata, warnings, .. } = read(&[trace]).unwrap();
    assert!(!Types::of(&metadata, true).contains("Magic"));
    assert_eq!(
        warnings[0].message,
        "role Magic ignored: only the first member of the packet header is the magic number"
    );
}

#[test]
fn the_offset_of_a_clock_needs_neither_seconds_nor_cycles() {
    let offset = |offset: Value| {
        let clock = json!({
            "type": "clock-class", "id": "c", "frequency": 5, "offset-from-origin": offset,
        });
        let clock = &read(&[clock]).unwrap().metadata.clocks[0];
        (clock.offset_seconds, clock.offset_cycles)
    };
    assert_eq!(offset(json!({ "cycles": 3 })), (0, 3));
    assert_eq!(offset(json!({ "seconds": -7 })), (-7, 0));
    assert_eq!(offset(json!({})), (0, 0));
}

#[test]
fn fragments_have_an_order() {
    for (fragments, message) in [
        (
            vec![json!({ "type": "preamble", "version": 2 })],
            "expected another fragment, found \"preamble\"",
        ),
        (
            vec![json!({ "type": "event-record-class" })],
            "expected the id of a stream class, found 0",
        ),
        (
            vec![json!({ "type": "data-stream-class" }), json!({ "type": "trace-class" })],
            "expected one trace class before the stream classes",
        ),
        (
            vec![json!({ "type": "data-stream-class" }), json!({ "type": "data-stream-class" })],
            "expected a new id of a stream class, found 0 again",
        ),
        (
            vec![json!({ "type": "metadata" })],
            "expected the type of a fragment, found \"metadata\"",
        ),
        (vec![json!([1])], "expected an object, found an array"),
    ] {
        assert_eq!(read(&fragments).unwrap_err(), message);
    }
    let error = metadata::read(b"\x1e{\"type\": \"preamble\", \"version\": 3}").unwrap_err();
    assert_eq!(error.to_string(), "1:34: expected version 2, found 3");
    let error = metadata::read(b"\x1e{\"type\": \"trace-class\"}").unwrap_err();
    assert_eq!(error.to_string(), "1:11: expected \"preamble\" first, found \"trace-class\"");
    assert_eq!(
        metadata::read(b"\x1e\x1e \n").unwrap_err().to_string(),
        "1:1: expected the fragment \"preamble\", found none"
    );
}

#[test]
fn broken_json_is_reported_with_its_place() {
    let text = text(&[json!({ "type": "data-stream-class" })]);
    for (fragment, expected) in [
        ("{\n  \"type\": }", "4:11: expected JSON, found: expected value"),
        ("{\"type\": \"\u{7}\"}", "3:12: expected JSON, found: control character"),
        ("{} {}", "3:5: expected JSON, found: trailing characters"),
        // An escaped quote does not end a string. A quote after an escaped backslash does.
        (r#"{"a\"": "\\", "type": 1}"#, "3:24: expected a string, found 1"),
        ("{\"type\": 1, \"type\": 2}", "3:22: expected each property once, found 'type' again"),
        ("{\"type\": 99999999999999999999}", "3:11: expected a string, found a number with"),
        ("{\"type\": 1e3}", "3:11: expected a string, found a number with a fraction"),
    ] {
        let found = metadata::read(format!("{text}\u{1e}{fragment}\n\u{1e}{{}}").as_bytes());
        let found = found.unwrap_err().to_string();
        assert!(found.starts_with(expected), "{found}");
    }
    let mut bytes = text.clone().into_bytes();
    bytes.extend(b"\x1e\xff");
    assert_eq!(
        metadata::read(&bytes).unwrap_err().to_string(),
        "3:2: expected UTF-8, found other bytes"
    );
    // The last fragment can be unfinished, because a recorder is still writing it.
    let parsed = metadata::read(format!("{text}\u{1e}{{\"type\": \"ev").as_bytes()).unwrap();
    assert_eq!(
        parsed.warnings[0].message,
        "unfinished fragment at the end of the metadata, ignored"
    );
}

#[test]
fn extensions_are_refused_and_attributes_ignored() {
    let class = |more: Value| fields(&[("a", byte(more))]);
    assert!(class(json!({ "attributes": { "x": 1 }, "extensions": {} })).is_ok());
    assert_eq!(
        class(json!({ "extensions": { "my-extension": {} } })).unwrap_err(),
        "expected no extension, found 'my-extension', which is unknown"
    );
    assert_eq!(class(json!({ "attributes": 1 })).unwrap_err(), "expected an object, found 1");
}

#[test]
fn a_draft_is_read_with_one_warning() {
    let fragments = [
        json!({
            "type": "clock-class", "name": "c", "frequency": 5,
            "uuid": (1..=16).collect::<Vec<_>>(),
        }),
        json!({
            "type": "data-stream-class", "default-clock-class-name": "c", "user-attributes": {},
            "event-record-header-field-class": structure(&[("id", byte(json!({})))]),
        }),
        json!({
            "type": "event-record-class",
            "payload-field-class": structure(&[("a", json!({
                "type": "dynamic-length-array",
                "length-field-location": ["event-record-header", "id"],
                "element-field-class": byte(json!({})),
            }))]),
        }),
    ];
    let Parsed { metadata, warnings, .. } = read(&fragments).unwrap();
    assert!(Types::of(&metadata, true).contains("(Length field path [Event header: 0]"));
    assert_eq!((metadata.streams[0].clock, warnings.len()), (Some(0), 1));
    let uid = metadata.clocks[0].uid.as_deref();
    assert_eq!(uid, Some("01020304-0506-0708-090a-0b0c0d0e0f10"));
    let draft = "words of a draft of CTF 2, read like the words of the final version";
    assert_eq!(warnings[0].message, draft);
}

#[test]
fn json_is_limited() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let deep = format!("\u{1e}{deep}\n");
    assert_eq!(
        metadata::read(deep.as_bytes()).unwrap_err().message,
        "expected JSON with at most 64 levels"
    );
    let long = format!("\u{1e}[{}0]\n", "0,".repeat(1_100_000));
    assert_eq!(
        metadata::read(long.as_bytes()).unwrap_err().message,
        format!("expected at most {MAX_FIELDS} values in a fragment, found more")
    );
    // Each alias is twice as large as the previous alias.
    let alias = |name: String, class: Value| json!({ "type": "field-class-alias", "name": name, "field-class": class });
    let mut fragments = vec![alias("a0".to_owned(), structure(&[("x", byte(json!({})))]))];
    for index in 1..40 {
        let inner = json!(format!("a{}", index - 1));
        fragments
            .push(alias(format!("a{index}"), structure(&[("a", inner.clone()), ("b", inner)])));
    }
    let message = format!("expected at most {MAX_FIELDS} fields, found more");
    assert_eq!(read(&fragments).unwrap_err(), message);
}

#[test]
fn ranges_ascend_and_have_64_bits() {
    let is_read = |range: &str| {
        // Insert the numbers as text, because some exceed those of `serde_json`.
        let class = byte(json!({ "mappings": { "a": ["RANGE"] } })).to_string();
        let sign = if range.contains('-') { "signed" } else { "unsigned" };
        let class = class.replace("\"RANGE\"", range).replace("unsigned", sign);
        let class: Result<Value, _> = serde_json::from_str(&class);
        class.is_ok_and(|class| fields(&[("e", class)]).is_ok())
    };
    for range in ["[1,1]", "[0,18446744073709551615]", "[-9223372036854775808,-1]"] {
        assert!(is_read(range), "{range}");
    }
    for range in ["[2,1]", "[0,-1]", "[1]", "[1,2,3]", "[0.5,1]"] {
        assert!(!is_read(range), "{range}");
    }
}

/// Asserts that a field with this class is read as the line, or refused with the message.
#[track_caller]
fn assert_field(class: Value, expected: Result<&str, &str>) {
    // Each event needs at least one bit.
    let found = fields(&[("a", class.clone()), ("z", byte(json!({})))]);
    let found = found.map(|lines| lines[0].clone());
    let found = found.as_ref().map(String::as_str).map_err(String::as_str);
    assert_eq!(found, expected, "{class}");
}

fn unsigned(length: u64, more: Value) -> Value {
    let mut class = byte(more);
    class["length"] = length.into();
    class
}

#[test]
fn properties_of_numbers_have_limits() {
    for (length, expected) in [
        (1, Ok("a: Unsigned integer (1-bit, Base 10, alignment 1, little)")),
        (64, Ok("a: Unsigned integer (64-bit, Base 10, alignment 1, little)")),
        (0, Err("expected a length of at least 1 bit, found 0")),
        (65, Err("expected a field of at most 64 bits, found 65 bits")),
    ] {
        assert_field(unsigned(length, json!({})), expected);
    }
    for (alignment, is_valid) in
        [(0, false), (1, true), (2, true), (3, false), (65_536, true), (131_072, false)]
    {
        let line = format!("a: Unsigned integer (8-bit, Base 10, alignment {alignment}, little)");
        let error = format!("expected a power of two up to 65536 as alignment, found {alignment}");
        let expected = if is_valid { Ok(&*line) } else { Err(&*error) };
        assert_field(byte(json!({ "alignment": alignment })), expected);
    }
    for (base, is_valid) in [(2, true), (8, true), (10, true), (16, true), (0, false), (11, false)]
    {
        let line = format!("a: Unsigned integer (8-bit, Base {base}, alignment 1, little)");
        let error = format!("expected base 2, 8, 10 or 16, found {base}");
        let expected = if is_valid { Ok(&*line) } else { Err(&*error) };
        assert_field(byte(json!({ "preferred-display-base": base })), expected);
    }
    assert_field(byte(json!({ "length": -1 })), Err("expected an integer from 0, found -1"));
    assert_field(byte(json!({ "length": "8" })), Err("expected an integer from 0, found \"8\""));
    for name in ["length", "byte-order"] {
        let mut class = byte(json!({}));
        class.as_object_mut().unwrap().remove(name);
        let error = format!("expected the property '{name}', found none");
        assert_field(class, Err(&error));
    }
    assert_field(
        byte(json!({ "byte-order": "le" })),
        Err("expected \"little-endian\" or \"big-endian\", found \"le\""),
    );
    for (order, bits, shown) in [
        ("little-endian", "first-to-last", "little"),
        ("little-endian", "last-to-first", "little, reversed"),
        ("big-endian", "first-to-last", "big, reversed"),
        ("big-endian", "last-to-first", "big"),
    ] {
        let line = format!("a: Unsigned integer (8-bit, Base 10, alignment 1, {shown})");
        assert_field(byte(json!({ "byte-order": order, "bit-order": bits })), Ok(&line));
    }
    assert_field(
        byte(json!({ "bit-order": "up" })),
        Err("expected \"first-to-last\" or \"last-to-first\", found \"up\""),
    );
}

#[test]
fn texts_and_blobs_have_lengths_and_encodings() {
    for (word, encoding) in [
        ("utf-8", "Utf8"),
        ("utf-16le", "Utf16(Little)"),
        ("utf-16be", "Utf16(Big)"),
        ("utf-32le", "Utf32(Little)"),
        ("utf-32be", "Utf32(Big)"),
    ] {
        let class = json!({ "type": "null-terminated-string", "encoding": word });
        assert_field(class, Ok(&format!("a: String ({encoding})")));
        let class = json!({ "type": "static-length-string", "length": 0, "encoding": word });
        assert_field(class, Ok(&format!("a: String ({encoding}, Length 0)")));
    }
    let class = json!({ "type": "null-terminated-string", "encoding": "ascii" });
    assert_field(
        class,
        Err("expected encoding utf-8, utf-16le, utf-16be, utf-32le or utf-32be, found \"ascii\""),
    );
    let blob = |more: Value| {
        let mut class = json!({ "type": "static-length-blob", "length": 16 });
        class.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        class
    };
    assert_field(blob(json!({ "media-type": 1 })), Err("expected a string, found 1"));
    // Only a packet header contains the UUID of the metadata.
    let uuid = json!({ "roles": ["metadata-stream-uuid"] });
    assert_field(blob(uuid.clone()), Ok("a: Blob (Length 16)"));
    let mut short = blob(uuid.clone());
    short["length"] = 15.into();
    assert_field(short, Err("expected 16 bytes for the UUID, found 15"));
    assert_field(blob(json!({ "roles": ["x"], "length": 15 })), Ok("a: Blob (Length 15)"));
    let header = |class: Value| {
        let header = structure(&[("u", class)]);
        let trace = json!({ "type": "trace-class", "packet-header-field-class": header });
        let Parsed { metadata, warnings, .. } = read(&[trace]).unwrap();
        let messages: Vec<_> = warnings.into_iter().map(|warning| warning.message).collect();
        (Types::of(&metadata, true).contains("u: Blob (Length 16, UUID)"), messages)
    };
    assert_eq!(header(blob(uuid)), (true, vec![]));
    assert_eq!(header(blob(json!({ "roles": [] }))), (false, vec![]));
    let unknown = vec!["unknown role 'x', ignored".to_owned()];
    assert_eq!(header(blob(json!({ "roles": ["x", "metadata-stream-uuid"] }))), (true, unknown));
}

#[test]
fn unknown_words_are_refused_and_unknown_properties_ignored() {
    assert_field(json!({ "type": "x" }), Err("expected the type of a field class, found \"x\""));
    assert_field(json!({}), Err("expected the property 'type', found none"));
    assert_field(json!("x"), Err("expected the name of a field class, found \"x\""));
    assert_field(json!(1), Err("expected an object, found 1"));
    let member = json!({ "name": "x", "field-class": byte(json!({})) });
    let twice = json!({ "type": "structure", "member-classes": [member, member] });
    assert_field(twice, Err("expected a new name of a member, found \"x\""));
    assert_field(json!({ "type": "structure" }), Ok("a: Structure (0 members, alignment 1)"));
    let array = |more: Value| {
        let mut class = json!({
            "type": "static-length-array", "length": 2, "element-field-class": byte(json!({})),
        });
        class.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        class
    };
    assert_field(array(json!({})), Ok("a: Static array (Length 2, alignment 1):"));
    assert_field(
        array(json!({ "minimum-alignment": 16 })),
        Ok("a: Static array (Length 2, alignment 16):"),
    );
    let payload = structure(&[("a", array(json!({ "y": 1, "attributes": {} })))]);
    let parsed = read(&[
        json!({ "type": "data-stream-class", "x": 1, "namespace": "n", "uid": "u" }),
        json!({ "type": "event-record-class", "payload-field-class": payload }),
    ]);
    let messages: Vec<_> =
        parsed.unwrap().warnings.into_iter().map(|warning| warning.message).collect();
    assert_eq!(messages, ["unknown property 'x', ignored", "unknown property 'y', ignored"]);
    let class = byte(json!({}));
    let alias =
        |name: &str| json!({ "type": "field-class-alias", "name": name, "field-class": class });
    assert!(read(&[alias("a"), alias("b")]).is_ok());
    assert_eq!(
        read(&[alias("a"), alias("a")]).map(|_| ()),
        Err("expected a new name of a field class, found \"a\"".to_owned())
    );
}

#[test]
fn a_location_has_an_origin_and_a_path() {
    let array = |location: Value| {
        let array = json!({
            "type": "dynamic-length-array", "length-field-location": location,
            "element-field-class": byte(json!({})),
        });
        let n = || structure(&[("n", byte(json!({})))]);
        let parsed = read(&[
            json!({ "type": "trace-class", "packet-header-field-class": n() }),
            json!({
                "type": "data-stream-class", "packet-context-field-class": n(),
                "event-record-header-field-class": n(),
                "event-record-common-context-field-class": n(),
            }),
            json!({
                "type": "event-record-class", "specific-context-field-class": n(),
                "payload-field-class": structure(&[("n", byte(json!({}))), ("a", array)]),
            }),
        ])?;
        let types = Types::of(&parsed.metadata, true);
        let start = types.find("(Length field path [").unwrap() + 20;
        Ok::<_, String>(types[start..].split(']').next().unwrap().to_owned())
    };
    for (origin, shown) in [
        ("packet-header", "Packet header: 0"),
        ("packet-context", "Packet context: 0"),
        ("event-record-header", "Event header: 0"),
        ("event-record-common-context", "Event common context: 0"),
        ("event-record-specific-context", "Event specific context: 0"),
        ("event-record-payload", "Event payload: 0"),
    ] {
        let location = json!({ "origin": origin, "path": ["n"] });
        assert_eq!(array(location).as_deref(), Ok(shown), "{origin}");
        // The form of a location in the draft of CTF 2.
        assert_eq!(array(json!([origin, "n"])).as_deref(), Ok(shown), "{origin}");
    }
    for (location, message) in [
        (json!({ "origin": "x", "path": ["n"] }), "expected a scope, found \"x\""),
        (json!({ "path": ["n"], "x": 1 }), "expected 'origin' or 'path', found 'x'"),
        (json!({ "origin": "packet-header" }), "expected the property 'path', found none"),
        (json!([]), "expected a scope, found an array"),
        (json!([1, "n"]), "expected a string, found 1"),
        (json!(["packet-header"]), "expected a path that ends with a name, found an array"),
        (json!({ "path": ["n", null] }), "expected a path that ends with a name, found an object"),
    ] {
        assert_eq!(array(location.clone()), Err(message.to_owned()), "{location}");
    }
}

#[test]
fn a_clock_has_the_facts_of_its_fragment() {
    let read_clock = |more: Value| {
        let mut clock = json!({ "type": "clock-class", "id": "c", "frequency": 10 });
        clock.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        read(&[clock]).map(|parsed| parsed.metadata.clocks[0].clone())
    };
    let clock = read_clock(json!({
        "description": "a clock", "origin": "unix-epoch", "uid": "u", "precision": 3, "accuracy": 4,
        "offset-from-origin": { "seconds": -7, "cycles": 9 },
    }));
    let clock = clock.unwrap();
    assert_eq!((&*clock.name, &*clock.description, clock.frequency), ("c", "a clock", 10));
    assert_eq!((clock.uid.as_deref(), clock.precision, clock.is_unix), (Some("u"), Some(3), true));
    assert_eq!((clock.offset_seconds, clock.offset_cycles), (-7, 9));
    let plain = read_clock(json!({})).unwrap();
    assert_eq!((plain.uid, plain.precision, plain.is_unix), (None, None, false));
    assert!(!read_clock(json!({ "origin": { "name": "x" } })).unwrap().is_unix);
    for (more, message) in [
        (json!({ "frequency": 0 }), "expected a frequency of at least 1 Hz, found 0"),
        (json!({ "origin": "x" }), "expected \"unix-epoch\" or an object, found \"x\""),
        (json!({ "origin": {} }), "expected the property 'name', found none"),
        (
            json!({ "offset-from-origin": { "cycles": 10 } }),
            "expected less cycles than a second has, found 10",
        ),
        (json!({ "accuracy": -1 }), "expected an integer from 0, found -1"),
        (json!({ "uuid": [1] }), "expected 16 bytes, found an array"),
        (json!({ "uuid": vec![256; 16] }), "expected a byte, found 256"),
    ] {
        assert_eq!(read_clock(more.clone()).map(|_| ()), Err(message.to_owned()), "{more}");
    }
    let twice = json!({ "type": "clock-class", "id": "c", "frequency": 10 });
    assert_eq!(
        read(&[twice.clone(), twice]).map(|_| ()),
        Err("expected a new id of a clock, found \"c\"".to_owned())
    );
}
