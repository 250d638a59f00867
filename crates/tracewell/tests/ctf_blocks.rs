//! Tests the rules for words, blocks, roles and packets of the metadata language of CTF 1.8, one
//! test for each rule.

mod support;

use support::ctf::{TRACE, read_tsdl as read};
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
