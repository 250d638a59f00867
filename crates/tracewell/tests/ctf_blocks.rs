//! Tests the rules for words, blocks, roles and packets of the metadata language of CTF 1.8, one
//! test for each rule.

mod support;

use support::ctf::{TRACE, Types, read_tsdl as read};
use tracewell::format::ctf::classes::{Class, Metadata, Role, Value};
use tracewell::format::ctf::metadata::{self, Parsed};

/// Returns the environment of a trace.
fn environment(entries: &str) -> Result<Vec<(String, Value)>, String> {
    read(&format!("env {{ {entries} }};")).map(|parsed| parsed.metadata.environment)
}

#[test]
fn numbers_have_the_forms_and_limits_of_c() {
    let numbers = "a = 0x7F; b = 0177; c = 0b11; d = -9223372036854775808; e = +5uLL;
        f = 9223372036854775807; g = 0;";
    let values: Vec<_> =
        environment(numbers).unwrap().into_iter().map(|(_, value)| value).collect();
    let expected = [127, 127, 3, i64::MIN, 5, i64::MAX, 0];
    assert_eq!(values, expected.map(Value::Number));
    for (number, message) in [
        ("18446744073709551616", "1:11: expected a number below 2^64, found 18446744073709551616"),
        ("-9223372036854775809", "1:11: expected a number from -2^63, found -9223372036854775809"),
        ("08", "1:11: expected a number, found '08'"),
        ("0x", "1:11: expected a number, found '0x'"),
        ("1f", "1:11: expected a number, found '1f'"),
        ("1ullu", "1:11: expected a number, found '1ullu'"),
    ] {
        assert_eq!(environment(&format!("a = {number};")).unwrap_err(), message);
    }
}

#[test]
fn strings_have_the_escapes_of_c() {
    let text = r#"a = "\"\\\'\?\a\b\f\n\r\t\v\x41\101\0101\u";"#;
    let found = environment(&format!("{text} b = L\"x\"; c = \"// /* \";")).unwrap();
    let expected =
        ["\"\\'?\x07\x08\x0C\n\r\t\x0BAA\x081u".to_owned(), "x".to_owned(), "// /* ".to_owned()];
    assert_eq!(
        found.into_iter().map(|(_, value)| value).collect::<Vec<_>>(),
        expected.map(Value::Text)
    );
    assert_eq!(
        environment(r#"a = "\400";"#).unwrap_err(),
        "1:12: expected an escape sequence of one byte, found another"
    );
    let text = |text: &str| match &environment(&format!("a = \"{text}\";"))?[..] {
        [(_, Value::Text(text))] => Ok(text.clone()),
        other => panic!("{other:?}"),
    };
    // An escape sequence has one or two hexadecimal digits, or one to three octal digits.
    for (escape, expected) in
        [(r"\x7g", "\x07g"), (r"\x414", "A4"), (r"\78", "\x078"), (r"\1018", "A8"), (r"\0", "\0")]
    {
        assert_eq!(text(escape).as_deref(), Ok(expected), "{escape}");
    }
    for escape in [r"\x", r"\xg", r"\777"] {
        let message = "1:12: expected an escape sequence of one byte, found another";
        assert_eq!(text(escape), Err(message.to_owned()), "{escape}");
    }
}

#[test]
fn comments_and_carriage_returns_are_space() {
    let text = "/* a */ event { // b }\r\n fields := struct { u8 /* * / */ a; };\r\n };";
    assert_eq!(read(text).unwrap().metadata.streams[0].events.len(), 1);
    assert_eq!(
        read("/* a").unwrap().warnings[0].message,
        "unfinished declaration at the end of the metadata, ignored"
    );
}

#[test]
fn an_unfinished_end_is_dropped() {
    let text = "event { name = a; fields := struct { u8 a; }; };
        event { name = b; id = 1; fields := struct { u8";
    let Parsed { metadata, warnings, .. } = read(text).unwrap();
    assert_eq!(metadata.streams[0].events.len(), 1);
    assert_eq!((warnings.len(), warnings[0].line), (1, 7));
    // The byte order is unknown without a trace block.
    let error = metadata::read(b"/* CTF 1.8 */ trace { major = 1;").unwrap_err();
    assert_eq!(error.to_string(), "1:33: expected a name, found the end of the metadata");
}

/// Returns the roles of the first member of a scope.
fn roles_of(scope: &str, member: &str, clocks: &str) -> (Metadata, Vec<Role>) {
    let text = format!("{clocks} stream {{ {scope} := struct {{ {member}; }}; }};");
    let metadata = read(&text).unwrap().metadata;
    let stream = &metadata.streams[0];
    let structure = stream.packet_context.as_ref().or(stream.event_header.as_ref()).unwrap();
    let roles = match &structure.members[0].class {
        Class::Integer(integer) => integer.roles.clone(),
        _ => Vec::new(),
    };
    (metadata, roles)
}

#[test]
fn names_give_unsigned_integers_their_roles() {
    let mapped = "integer { size = 16; map = clock.c.value; }";
    let clock = "clock { name = c; };";
    for (scope, member, clocks, expected) in [
        ("packet.context", "u8 packet_size", "", vec![Role::PacketSize]),
        ("packet.context", "u8 cpu_id", "", vec![Role::Processor]),
        ("packet.context", "i8 packet_size", "", vec![]),
        ("packet.context", "string packet_size", "", vec![]),
        ("packet.context", "u8 timestamp_begin", clock, vec![Role::Time]),
        ("packet.context", "u8 timestamp_end", clock, vec![Role::EndTime]),
        ("packet.context", &format!("{mapped} timestamp_end"), clock, vec![Role::EndTime]),
        ("packet.context", &format!("{mapped} x"), clock, vec![Role::Time]),
        ("event.header", &format!("{mapped} id"), clock, vec![Role::EventClass, Role::Time]),
        ("event.header", "enum : u8 { A } id", "", vec![Role::EventClass]),
        ("event.header", "u8 packet_size", "", vec![]),
    ] {
        assert_eq!(roles_of(scope, member, clocks).1, expected, "{scope} {member}");
    }
}

#[test]
fn a_time_stamp_without_any_clock_implies_one() {
    let (metadata, roles) = roles_of("event.header", "u8 timestamp", "");
    assert_eq!((roles, metadata.streams[0].clock), (vec![Role::Time], Some(0)));
    let clock = &metadata.clocks[0];
    assert_eq!((clock.frequency, clock.is_unix, &*clock.name), (1_000_000_000, false, "default"));
    // If there are two clocks, a timestamp without `map` has no clock.
    let clocks = "clock { name = a; }; clock { name = b; };";
    let (metadata, roles) = roles_of("event.header", "u8 timestamp", clocks);
    assert_eq!((roles, metadata.streams[0].clock), (vec![], None));
}

#[test]
fn a_stream_has_one_clock_and_unsigned_stamps() {
    let text = |first: &str, second: &str| {
        format!(
            "clock {{ name = a; }}; clock {{ name = b; }};
             stream {{ event.header := struct {{ integer {{ size = 8; {first} }} x;
             integer {{ size = 8; {second} }} y; }}; }};"
        )
    };
    let (a, b) = ("map = clock.a.value;", "map = clock.b.value;");
    assert!(read(&text(a, a)).is_ok());
    assert_eq!(
        read(&text(a, b)).unwrap_err(),
        "3:57: expected one clock in a stream, found 'a' and 'b'"
    );
    assert_eq!(
        read(&text(a, &format!("signed = 1; {a}"))).unwrap_err(),
        "3:69: expected an unsigned integer with a clock, found a signed one"
    );
}

#[test]
fn offsets_of_clocks_can_have_64_bits_without_sign() {
    let text = "clock { name = c; freq = 10; offset_s = -3; offset = 18446744073709551615; };";
    let clock = &read(text).unwrap().metadata.clocks[0];
    assert_eq!((clock.offset_seconds, clock.offset_cycles), (1_844_674_407_370_955_158, 5));
}

#[test]
fn lttng_counts_from_the_unix_epoch() {
    let clock = "clock { name = monotonic; };";
    let is_unix = |text: &str| read(text).unwrap().metadata.clocks[0].is_unix;
    assert!(!is_unix(clock));
    assert!(is_unix(&format!("{clock} env {{ tracer_name = \"lttng-ust\"; }};")));
    for entry in ["tracer_name = \"barectf\"", "tracer_name = 1", "domain = \"lttng-ust\""] {
        assert!(!is_unix(&format!("{clock} env {{ {entry}; }};")), "{entry}");
    }
    let lttng = "env { tracer_name = \"lttng-modules\"; };";
    assert!(!is_unix(&format!("clock {{ name = other; }}; {lttng}")));
    assert!(is_unix(&format!("clock {{ name = other; absolute = TRUE; }}; {lttng}")));
}

#[test]
fn events_can_precede_their_stream() {
    let text = "event { stream_id = 5; id = 1; fields := struct { u8 a; }; };
        stream { id = 5; }; stream { id = 6; };
        event { stream_id = 7; fields := struct { u8 a; }; };";
    let Parsed { metadata, warnings, .. } = read(text).unwrap();
    assert_eq!(metadata.streams[0].events.len(), 1);
    let messages: Vec<_> = warnings.iter().map(|warning| &*warning.message).collect();
    assert_eq!(
        messages,
        [
            "event of the undeclared stream 7, ignored",
            "several streams, but no 'stream_id' in the packet header: \
             all packets are of stream 0",
        ]
    );
}

#[test]
fn events_without_bits_are_refused() {
    let message = "1:21: expected events with at least one bit, found events without any";
    for payload in ["", "fields := struct { };", "fields := struct { struct { } a[9]; u8 b[0]; };"]
    {
        let text = format!("stream {{          }};event {{ {payload} }};");
        assert_eq!(read(&text).unwrap_err(), message, "{payload}");
    }
    let header = "stream { event.header := struct { u8 id; }; }; event { };";
    assert!(read(header).is_ok());
}

/// Returns a packet of metadata.
fn packet(text: &str, is_big: bool, padding: usize) -> Vec<u8> {
    let word = |number: u32| if is_big { number.to_be_bytes() } else { number.to_le_bytes() };
    let content = 37 + text.len();
    let mut packet = word(0x75D1_1D57).to_vec();
    packet.extend([7; 16]);
    for number in [0, content as u32 * 8, (content + padding) as u32 * 8] {
        packet.extend(word(number));
    }
    packet.extend([0, 0, 0, 1, 8]);
    packet.extend(text.as_bytes());
    packet.resize(content + padding, 0);
    packet
}

#[test]
fn packets_of_metadata_are_joined() {
    for is_big in [false, true] {
        let (first, second) = TRACE.split_at(30);
        let mut bytes = packet(first, is_big, 100);
        bytes.extend(packet(&format!("{second}stream {{ }};\0\0"), is_big, 0));
        assert_eq!(metadata::read(&bytes).unwrap().metadata.streams.len(), 1);
        // A truncated packet is refused, even if it ends within its header.
        for length in [bytes.len() - 1, bytes.len() - 300, 5] {
            let error = metadata::read(&bytes[..length]).unwrap_err().to_string();
            assert!(error.starts_with("1:1: metadata packet at byte "), "{error}");
        }
    }
}

#[test]
fn packets_that_contradict_themselves_are_refused() {
    let broken = |offset: usize, byte: u8| {
        let mut bytes = packet("x", false, 10);
        bytes.extend(packet(TRACE, false, 0));
        bytes[offset] = byte;
        metadata::read(&bytes).unwrap_err().message
    };
    for (offset, byte, message) in [
        (48, 0, "byte 48: expected magic number 0x75D11D57, found 0x75D11D00"),
        (52, 0, "byte 48: expected the UUID of the first packet, found another"),
        (24, 0, "byte 0: expected a content of at least 296 bits in a packet of at most"),
        (24, 1, "byte 0: expected sizes in whole bytes, found 257 and 384 bits"),
        (28, 0, "byte 0: expected a content of at least 296 bits in a packet of at most"),
        (32, 1, "byte 0: expected compression, encryption and checksum 0, found 1, 0 and 0"),
        (36, 9, "byte 0: expected version 1.8, found 1.9"),
    ] {
        let found = broken(offset, byte);
        assert!(found.contains(message), "{found}");
    }
}

#[test]
fn values_of_labels_outside_their_integer_get_a_warning() {
    let warnings = |signed: bool, labels: &str| {
        let integer = format!("integer {{ size = 8; signed = {signed}; }}");
        let text =
            format!("event {{ fields := struct {{ enum : {integer} {{ {labels} }} e; }}; }};");
        let warnings = read(&text).unwrap().warnings;
        warnings.into_iter().map(|warning| warning.message).collect::<Vec<_>>()
    };
    assert_eq!(warnings(true, "A = -128 ... 127"), [""; 0]);
    assert_eq!(warnings(false, "A = 0 ... 255"), [""; 0]);
    let message =
        |values: &str, range: &str| format!("values {values} of 'B' are not within {range}");
    let cases = [
        (true, "B = 127 ... 128", message("127 to 128", "-128 to 127")),
        (true, "B = -129", message("-129 to -129", "-128 to 127")),
        (true, "A = 127, B", message("128 to 128", "-128 to 127")),
        (false, "B = 256", message("256 to 256", "0 to 255")),
        (false, "B = -1", message("-1 to -1", "0 to 255")),
    ];
    for (signed, labels, message) in cases {
        assert_eq!(warnings(signed, labels), [message], "{labels}");
    }
}

#[test]
fn further_warnings_are_counted() {
    let warnings = |count: usize| {
        let labels = (0..count).map(|label| format!("L{label} = 256, ")).collect::<String>();
        let text = format!("event {{ fields := struct {{ enum : u8 {{ {labels} }} e; }}; }};");
        let Parsed { warnings, further_warnings, .. } = read(&text).unwrap();
        (warnings.len(), further_warnings)
    };
    assert_eq!([99, 100, 101].map(warnings), [(99, 0), (100, 0), (100, 1)]);
}

#[test]
fn a_name_in_parentheses_is_not_a_pointer() {
    for (declaration, is_read) in
        [("(a)", true), ("((a))", true), ("(*a)", false), ("(**a)", false)]
    {
        let read = read(&format!("event {{ fields := struct {{ u8 {declaration}; }}; }};"));
        let message = "expected a name in parentheses, found a pointer";
        assert_eq!(read.is_ok(), is_read, "{declaration}");
        assert!(is_read || read.unwrap_err().ends_with(message), "{declaration}");
    }
}

#[test]
fn callsites_are_read_and_ignored() {
    let text =
        "callsite { name = \"tick\"; func = \"main\"; file = \"a.c\"; line = 7; ip = 0x40; };
        event { fields := struct { u8 a; }; };";
    let Parsed { metadata, warnings, .. } = read(text).unwrap();
    assert_eq!((metadata.streams[0].events.len(), warnings.len()), (1, 0));
    assert_eq!(
        read("callsite { typealias u8 := x; };").unwrap_err(),
        "1:22: expected '=' or ':=', found 'u8'"
    );
}

#[test]
fn only_members_of_the_root_structure_describe_the_packet() {
    let names = "packet_size content_size timestamp_begin timestamp_end events_discarded \
                 packet_seq_num cpu_id";
    let fields: String = names.split(' ').map(|name| format!("u8 {name}; ")).collect();
    let labels = names.replace(' ', ", ");
    let roles = |members: &str| {
        let text = format!("stream {{ packet.context := struct {{ {members} }}; }};");
        let metadata = read(&text).unwrap().metadata;
        let types = Types::of(&metadata, true);
        let count = |role: &str| types.matches(&format!("little, {role})")).count();
        ["PacketSize", "ContentSize", "Time", "EndTime", "Discarded", "PacketNumber", "Processor"]
            .map(count)
    };
    assert_eq!(roles(&fields), [1; 7]);
    for inner in [
        format!("struct {{ {fields} }} x;"),
        format!("struct {{ {fields} }} x[2];"),
        format!("enum : u8 {{ {labels} }} t; variant <t> {{ {fields} }} x;"),
        fields.replace(';', "[2];"),
        fields.replace("u8", "i8"),
        fields.replace("u8", "string"),
    ] {
        assert_eq!(roles(&inner), [0; 7], "{inner}");
    }
}

/// Returns the types of a trace with a packet header and a packet context.
fn types_of_packets(header: &str, context: &str) -> String {
    let text = format!(
        "typealias integer {{ size = 8; }} := u8; typealias integer {{ size = 16; }} := u16;
         typealias integer {{ size = 32; }} := u32;
         typealias integer {{ size = 8; encoding = UTF8; }} := letter;
         trace {{ major = 1; minor = 8; byte_order = le;
            packet.header := struct {{ {header} }}; }};
         stream {{ packet.context := struct {{ {context} }}; }};"
    );
    Types::of(&metadata::read(text.as_bytes()).unwrap().metadata, true)
}

#[test]
fn a_packet_header_contains_the_numbers_of_its_stream() {
    let roles = |header: &str, context: &str| {
        let types = types_of_packets(header, context);
        let count = |role: &str| types.matches(&format!("little, {role})")).count();
        ["Magic", "StreamClass", "StreamInstance"].map(count)
    };
    let all = "u32 magic; u8 stream_id; u8 stream_instance_id;";
    assert_eq!(roles(all, "u8 a;"), [1, 1, 1]);
    assert_eq!(roles("u8 stream_instance_id; u8 stream_id; u32 magic;", "u8 a;"), [0, 1, 1]);
    assert_eq!(roles("u8 a;", all), [0; 3]);
    let labels = "magic, stream_id, stream_instance_id";
    for inner in [
        format!("struct {{ {all} }} x;"),
        format!("struct {{ {all} }} x[1];"),
        format!("enum : u8 {{ {labels} }} t; variant <t> {{ {all} }} x;"),
        "u32 magic[1]; u8 stream_id[1]; u8 stream_instance_id[1];".to_owned(),
    ] {
        assert_eq!(roles(&inner, "u8 a;"), [0; 3], "{inner}");
    }
}

#[test]
fn a_packet_header_can_contain_the_uuid_of_the_trace() {
    let types = types_of_packets;
    let uuid = "uuid: Blob (Length 16, UUID)\n";
    for member in ["u8 uuid[16];", "letter uuid[16];", "u8 version; u8 uuid[16];"] {
        assert!(types(member, "u8 a;").contains(uuid), "{member}");
    }
    for member in [
        "u8 uuid;",
        "string uuid;",
        "u8 uuid[15];",
        "u8 uuid[17];",
        "letter uuid[15];",
        "letter uuid[17];",
        "u16 uuid[16];",
        "integer { size = 8; align = 1; } uuid[16];",
        "integer { size = 8; align = 16; } uuid[16];",
        "integer { size = 7; align = 8; } uuid[16];",
        "integer { size = 9; align = 8; } uuid[16];",
        "floating_point { exp_dig = 8; mant_dig = 24; } uuid[16];",
        "u8 n; u8 uuid[n];",
        "u8 other[16];",
        "letter other[16];",
        "struct { u8 uuid[16]; } x;",
        "struct { letter uuid[16]; } uuid;",
    ] {
        assert!(!types(member, "u8 a;").contains("UUID"), "{member}");
    }
    assert!(!types("u8 a;", "u8 uuid[16];").contains("UUID"));
}

#[test]
fn words_marks_and_spaces_are_those_of_c() {
    let values = |entries: &str| {
        let found = environment(entries)?;
        Ok::<_, String>(found.into_iter().map(|(_, value)| value).collect::<Vec<_>>())
    };
    let number = |number| Ok(vec![Value::Number(number)]);
    let text = |text: &str| Ok(vec![Value::Text(text.to_owned())]);
    for (entry, expected) in [
        ("a=1;", number(1)),
        ("\ta\x0b=\x0c1\r\n;", number(1)),
        ("a /**/ = /* / ** */ 1 // */ 2\n ;", number(1)),
        (";;a = 1;;;", number(1)),
        ("a = 1u;", number(1)),
        ("a = 1ULL;", number(1)),
        ("a = 0X1f;", number(31)),
        ("a = 0B11L;", number(3)),
        ("a = 010;", number(8)),
        ("a = 00;", number(0)),
        ("a = + 7;", number(7)),
        ("a = - 7;", number(-7)),
        ("a = 'x\"y';", text("x\"y")),
        ("a = L'x';", text("x")),
        ("a = \"x'y\";", text("x'y")),
        ("a.b = 1;", number(1)),
        ("_a9 = 1;", number(1)),
        ("a = L;", Ok(vec![])),
        ("a = x.y;", Ok(vec![])),
        ("a = 9223372036854775808;", Ok(vec![])),
    ] {
        assert_eq!(values(entry), expected, "{entry}");
    }
    for (entry, message) in [
        ("a = 1ulll;", "1:11: expected a number, found '1ulll'"),
        ("a = 0b2;", "1:11: expected a number, found '0b2'"),
        ("a = 0xg;", "1:11: expected a number, found '0xg'"),
        ("a = 19a;", "1:11: expected a number, found '19a'"),
        ("a = -;", "1:12: expected a number, found ';'"),
        ("a = +-1;", "1:12: expected a number, found '-'"),
        ("a = ;", "1:11: expected a value, found ';'"),
        ("a = *;", "1:11: expected a value, found '*'"),
        ("a : 1;", "1:9: expected '=' or ':=', found ':'"),
        ("a.1 = 1;", "1:9: expected a name after '.', found 1"),
        ("a. = 1;", "1:10: expected a name after '.', found '='"),
        ("1 = 1;", "1:7: expected a name, found 1"),
        ("\"a\" = 1;", "1:7: expected a name, found a string"),
        ("... = 1;", "1:7: expected a name, found '...'"),
        ("a = 1", "1:13: expected ';', found '}'"),
        ("a = #;", "1:11: expected a word, a number or a mark, found '#'"),
        ("a = \x01;", "1:11: expected a word, a number or a mark, found '\\u{1}'"),
        ("a = \u{e9};", "1:11: expected a word, a number or a mark, found 'byte 0xC3'"),
        ("a = \"x\0\";", "1:13: expected a character of a string, found byte 0x00"),
    ] {
        assert_eq!(values(entry), Err(message.to_owned()), "{entry}");
    }
}

/// A trace block without a semicolon.
const TRACE_BLOCK: &str = "trace { major = 1; minor = 8; byte_order = le; }";

#[test]
fn each_unfinished_end_is_dropped() {
    let event = "event { fields := struct { u8 a; }; };";
    for end in [
        "event",
        "event {",
        "event { name",
        "event { name =",
        "event { name = a",
        "event { name = a;",
        "event { name = \"a",
        "event { name = \"a\\",
        "event { name = 'a",
        "typealias",
        "typealias u8",
        "typealias u8 :=",
        "typealias u8 := x",
        "struct x { u8 a; }",
        "/* event",
        "/*/",
        "/* *",
        "typealias u8 := x; /* *",
        "typealias u8 := x; \"x",
        "/",
        "typealias u8 := x; /",
        "event { id = 0x",
        "event { name = \"a\\x",
        "event { fields :",
        "event { fields := struct",
        "event { fields := struct { event",
        "typealias u8 := struct",
        "enum x : u8 { a = 1 .",
        "enum x : u8 { a = 1 ..",
        "enum x : u8 { a = 1 ...",
        "enum x : u8 { a = 5 ... 1",
    ] {
        let Parsed { metadata, warnings, .. } = read(&format!("{event}{end}")).unwrap();
        assert_eq!(metadata.streams[0].events.len(), 1, "{end}");
        let messages: Vec<_> = warnings.iter().map(|warning| &*warning.message).collect();
        let message = "unfinished declaration at the end of the metadata, ignored";
        assert_eq!(messages, [message], "{end}");
    }
    // A block ends with its brace.
    let event = event.trim_end_matches(';');
    for end in ["/", "/* event", "\"x", ";/", "; /* event"] {
        let Parsed { metadata, warnings, .. } = read(&format!("{event}{end}")).unwrap();
        assert_eq!((metadata.streams[0].events.len(), warnings.len()), (1, 1), "{end}");
    }
    assert_eq!(
        metadata::read(format!("{} /* a", TRACE_BLOCK).as_bytes()).unwrap().warnings.len(),
        1
    );
    // The reader refuses what no further text could complete.
    for end in ["}", "event }", "event { id = # ", "event { id = 1f ", "event { a : ", "(", "#"] {
        read(&format!("{event}{end}")).unwrap_err();
    }
    for end in ["", ";", "// event", "/* event */", "event { id = 1; fields := struct { u8 a; }; }"]
    {
        assert_eq!(read(&format!("{event}{end}")).unwrap().warnings, [], "{end}");
    }
}

#[test]
fn names_of_blocks_and_attributes_occur_once() {
    for (text, message) in [
        (
            "clock { name = a; name = b; };",
            "1:19: expected each attribute once, found 'name' again",
        ),
        ("clock { freq = 5; };", "1:1: expected the attribute 'name' of a clock"),
        ("clock { name = a; freq = 0; };", "1:26: expected a number from 1 for 'freq', found 0"),
        ("clock { name = a; offset = x; };", "1:28: expected a number for 'offset', found 'x'"),
        ("clock { name = 1; };", "1:16: expected a string or a word for 'name', found 1"),
        (
            "clock { name = a; }; clock { name = a; };",
            "1:22: expected a new name of a clock, found 'a' again",
        ),
        (
            "clock { name = a; uuid = \"x\"; };",
            "1:26: expected a UUID of the form \"8-4-4-4-12\" for 'uuid', found \"x\"",
        ),
        (
            "clock { name = a; offset_s = 9223372036854775808; };",
            "1:30: expected a number from -2^63 to 2^63 - 1 for 'offset_s', \
             found 9223372036854775808",
        ),
        ("stream { id = 1; id = 2; };", "1:18: expected each attribute once, found 'id' again"),
        ("stream { }; stream { };", "1:13: expected a new id of a stream, found 0 again"),
        ("event { id = 1; id = 2; };", "1:17: expected each attribute once, found 'id' again"),
        (
            "event { fields := struct { u8 a; }; fields := struct { u8 a; }; };",
            "1:37: expected each scope once, found 'fields' again",
        ),
        (
            "event { fields := u8; };",
            "1:19: expected a structure for 'fields', found an unsigned integer",
        ),
        (
            "event { fields := struct { u8 a; }; }; event { fields := struct { u8 a; }; };",
            "1:40: expected a new id of an event, found 0 again",
        ),
    ] {
        assert_eq!(read(text).map(|_| ()), Err(message.to_owned()), "{text}");
    }
    let trace = |attributes: &str| {
        let read = metadata::read(format!("trace {{ {attributes} }};").as_bytes());
        read.map(|_| ()).map_err(|error| error.to_string())
    };
    let whole = "major = 1; minor = 8; byte_order = be;";
    assert_eq!(trace(whole), Ok(()));
    for (without, name) in [
        ("minor = 8; byte_order = be;", "major"),
        ("major = 1; byte_order = be;", "minor"),
        ("major = 1; minor = 8;", "byte_order"),
    ] {
        let message = format!("1:1: expected the attribute '{name}' of the trace");
        assert_eq!(trace(without), Err(message));
    }
    assert_eq!(
        trace(&format!("{whole} }}; trace {{ {whole}")),
        Err("1:51: expected one block 'trace', found another".to_owned())
    );
    assert_eq!(
        metadata::read(b"env { };").unwrap_err().to_string(),
        "1:1: expected a block 'trace', found none"
    );
}

#[test]
fn a_uuid_has_five_groups_of_digits() {
    let uuid = |uuid: &str| {
        let text = format!("trace {{ major = 1; minor = 8; byte_order = le; uuid = {uuid}; }};");
        let read = metadata::read(text.as_bytes());
        read.map(|parsed| parsed.metadata.uuid).map_err(|error| error.message)
    };
    let bytes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255];
    for good in ["00010203-0405-0607-0809-0a0b0c0d0eff", "00010203-0405-0607-0809-0A0B0C0D0EFF"] {
        assert_eq!(uuid(&format!("\"{good}\"")), Ok(Some(bytes)), "{good}");
    }
    for bad in [
        "\"000102030405-0607-0809-0a0b0c0d0eff\"",
        "\"00010203-0405-0607-08090a0b0c0d0eff\"",
        "\"0001020-30405-0607-0809-0a0b0c0d0eff\"",
        "\"00010203-0405-0607-0809-0a0b0c0d0eff-\"",
        "\"00010203-0405-0607-0809-0a0b0c0d0ef\"",
        "\"00010203-0405-0607-0809-0a0b0c0d0egg\"",
        "\"+0010203-0405-0607-0809-0a0b0c0d0eff\"",
        "\"\"",
        "x",
        "1",
    ] {
        let error = uuid(bad).unwrap_err();
        let expected = "expected a UUID of the form \"8-4-4-4-12\" for 'uuid', found ";
        assert!(error.starts_with(expected), "{bad}: {error}");
    }
}

#[test]
fn a_clock_has_the_facts_of_its_block() {
    let text = "clock { name = \"c d\"; uuid = \"00010203-0405-0607-0809-0a0b0c0d0eff\";
            description = \"a clock\"; freq = 1000; precision = 7; offset_s = -5; offset = 1500;
            absolute = TRUE; unknown = 1; };
        clock { name = plain; };";
    let Parsed { metadata, warnings, .. } = read(text).unwrap();
    let [clock, plain] = &metadata.clocks[..] else { panic!("{:?}", metadata.clocks) };
    assert_eq!((&*clock.name, &*clock.description), ("c d", "a clock"));
    assert_eq!(clock.uid.as_deref(), Some("00010203-0405-0607-0809-0a0b0c0d0eff"));
    assert_eq!((clock.frequency, clock.precision, clock.is_unix), (1000, Some(7), true));
    assert_eq!((clock.offset_seconds, clock.offset_cycles), (-5, 1500));
    assert_eq!((&*plain.name, &*plain.description, plain.uid.as_deref()), ("plain", "", None));
    assert_eq!((plain.frequency, plain.precision, plain.is_unix), (1_000_000_000, None, false));
    assert_eq!((plain.offset_seconds, plain.offset_cycles), (0, 0));
    let messages: Vec<_> = warnings.iter().map(|warning| &*warning.message).collect();
    assert_eq!(messages, ["unknown attribute 'unknown', ignored"]);
}

#[test]
fn events_belong_to_the_stream_that_they_name() {
    let read = |text: &str| {
        let Parsed { metadata, warnings, .. } = read(text).unwrap();
        let streams = metadata.streams.iter();
        let streams: Vec<_> = streams.map(|stream| (stream.id, stream.events.len())).collect();
        let messages: Vec<_> = warnings.into_iter().map(|warning| warning.message).collect();
        (streams, messages)
    };
    let fields = "fields := struct { u8 a; };";
    assert_eq!(read(&format!("event {{ {fields} }};")), (vec![(0, 1)], vec![]));
    assert_eq!(read(&format!("event {{ stream_id = 3; {fields} }};")), (vec![(3, 1)], vec![]));
    // If there is only one stream, events that name no stream belong to it.
    assert_eq!(
        read(&format!("stream {{ id = 4; }}; event {{ {fields} }};")),
        (vec![(4, 1)], vec![])
    );
    let two = "stream { id = 0; event.header := struct { u8 a; }; }; stream { id = 1; };";
    let no_ids = "several streams, but no 'stream_id' in the packet header: all packets are of \
                  stream 0";
    assert_eq!(
        read(&format!("{two} event {{ {fields} }}; event {{ stream_id = 1; {fields} }};")),
        (
            vec![(0, 1), (1, 1)],
            vec!["event without 'stream_id', assumed 0".to_owned(), no_ids.to_owned()]
        )
    );
}
