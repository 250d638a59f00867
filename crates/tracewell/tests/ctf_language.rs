//! The rules of the metadata language of CTF 1.8, one test for each.

mod support;

use support::ctf::Types;
use tracewell::format::ctf::classes::{Metadata, Role, Value};
use tracewell::format::ctf::metadata::{self, MAX_FIELDS, Parsed};

/// The start of most texts.
const TRACE: &str = "trace { major = 1; minor = 8; byte_order = le; };
typealias integer { size = 8; } := u8;
typealias integer { size = 16; } := u16;
typealias integer { size = 8; signed = true; } := i8;
typealias integer { size = 8; encoding = UTF8; } := letter;
";

fn read(text: &str) -> Result<Parsed, String> {
    metadata::read(format!("{TRACE}{text}").as_bytes()).map_err(|error| {
        // Lines from the start of the text.
        format!("{}:{}: {}", error.line - 5, error.column, error.message)
    })
}

/// Returns the lines with the members of the only event's payload.
fn fields(members: &str) -> Result<Vec<String>, String> {
    declared("", members)
}

/// Returns the same with declarations before the event. The members begin in line 2.
fn declared(declarations: &str, members: &str) -> Result<Vec<String>, String> {
    let text = format!("{declarations} event {{ fields := struct {{\n{members} }}; }};");
    let parsed = read(&text)?;
    let lines = Types::of(&parsed.metadata, true);
    let lines = lines.lines().skip_while(|line| !line.contains("Payload field class")).skip(1);
    Ok(lines.map(|line| line.strip_prefix("        ").unwrap().to_owned()).collect())
}

/// Asserts that the members of a payload have these lines.
#[track_caller]
fn assert_fields(members: &str, expected: &[&str]) {
    assert_eq!(fields(members).unwrap(), expected, "{members}");
}

#[track_caller]
fn assert_error(result: Result<Vec<String>, String>, expected: &str) {
    assert_eq!(result.unwrap_err(), expected);
}

#[test]
fn integers_of_whole_bytes_are_aligned_to_bytes() {
    assert_fields(
        "integer { size = 24; } a; integer { size = 12; } b; integer { size = 12; align = 4; } c;",
        &[
            "a: Unsigned integer (24-bit, Base 10, alignment 8, little)",
            "b: Unsigned integer (12-bit, Base 10, alignment 1, little)",
            "c: Unsigned integer (12-bit, Base 10, alignment 4, little)",
        ],
    );
    for (attributes, message) in [
        ("size = 65;", "2:18: expected 1 to 64 bits for 'size', found 65"),
        ("size = 0;", "2:18: expected 1 to 64 bits for 'size', found 0"),
        ("signed = 1;", "2:1: expected the attribute 'size' of an integer"),
        (
            "size = 8; align = 3;",
            "2:29: expected a power of two up to 65536 as alignment for 'align', found 3",
        ),
        (
            "size = 8; align = 131072;",
            "2:29: expected a power of two up to 65536 as alignment for 'align', found 131072",
        ),
        ("size = 8; size = 8;", "2:21: expected each attribute once, found 'size' again"),
        (
            "size = 8; map = clock.x.value;",
            "2:27: expected clock.NAME.value with the name of a clock for 'map', \
             found 'clock.x.value'",
        ),
    ] {
        assert_error(fields(&format!("integer {{ {attributes} }} a;")), message);
    }
}

#[test]
fn byte_orders_and_bases_have_several_words() {
    assert_fields(
        "integer { size = 8; byte_order = network; base = p; } a;
         integer { size = 8; byte_order = native; base = oct; } b;
         integer { size = 8; byte_order = be; base = 2; } c;
         floating_point { exp_dig = 11; mant_dig = 53; align = 32; byte_order = be; } d;",
        &[
            "a: Unsigned integer (8-bit, Base 16, alignment 8, big)",
            "b: Unsigned integer (8-bit, Base 8, alignment 8, little)",
            "c: Unsigned integer (8-bit, Base 2, alignment 8, big)",
            "d: Double-precision real (alignment 32, big)",
        ],
    );
}

#[test]
fn a_float_of_another_size_is_an_error_only_in_a_field() {
    let half = "typealias floating_point { exp_dig = 5; mant_dig = 11; } := half;";
    assert!(declared(half, "u8 a;").is_ok());
    assert_error(
        declared(half, "u8 a; half b;"),
        "2:12: expected a floating-point number of 8 and 24 or of 11 and 53 digits, found 5 and 11",
    );
}

#[test]
fn a_label_without_value_follows_the_one_before() {
    assert_fields(
        "enum : i8 { A = -2, B, C = 3 ... 5, D, \"E F\" = 1, A = 9, } a;",
        &[
            "a: Signed enumeration (8-bit, Base 10, 5 mappings, alignment 8, little):",
            "  A: [-2] [9]",
            "  B: [-1]",
            "  C: [3, 5]",
            "  D: [6]",
            "  E F: [1]",
        ],
    );
    assert_error(
        fields("enum : u8 { A = 5 ... 4 } a;"),
        "2:17: expected a range that rises, found 5 ... 4",
    );
    assert_error(fields("enum { A } a;"), "2:1: expected the name of a type, found 'int'");
    assert!(declared("typealias u8 := int;", "enum { A } a;").is_ok());
}

#[test]
fn an_array_of_arrays_has_the_outer_length_first() {
    let expected = [
        "a: Static array (Length 2, alignment 8):",
        "  Element: Static array (Length 3, alignment 8):",
        "    Element: Unsigned integer (8-bit, Base 10, alignment 8, little)",
    ];
    assert_fields("u8 a[2][3];", &expected);
    assert_fields("u8 (a[2])[3];", &expected);
    assert_fields("typedef u8 row[3]; row a[2];", &expected);
    assert_fields("typealias u8 [3] := row; row a[2];", &expected);
    assert_fields("u8 typedef row[3]; row a[2];", &expected);
}

#[test]
fn an_array_of_aligned_characters_is_a_text() {
    assert_fields(
        "letter a[4]; u8 n; letter b[n]; letter c[2][3]; letter d;
         integer { size = 8; align = 1; encoding = ASCII; } e[4];",
        &[
            "a: String (Utf8, Length 4)",
            "n: Unsigned integer (8-bit, Base 10, alignment 8, little)",
            "b: String (Utf8, Length field path [Event payload: 1])",
            "c: Static array (Length 2, alignment 8):",
            "  Element: String (Utf8, Length 3)",
            "d: Unsigned integer (8-bit, Base 10, alignment 8, little, text)",
            "e: Static array (Length 4, alignment 1):",
            "  Element: Unsigned integer (8-bit, Base 10, alignment 1, little, text)",
        ],
    );
}

#[test]
fn names_of_structures_and_of_aliases_are_different_names() {
    let types = "typealias u8 := pair; struct pair { u8 a; u8 b; } align(32);";
    assert_eq!(
        declared(types, "pair x; struct pair y;").unwrap(),
        [
            "x: Unsigned integer (8-bit, Base 10, alignment 8, little)",
            "y: Structure (2 members, alignment 32):",
            "  a: Unsigned integer (8-bit, Base 10, alignment 8, little)",
            "  b: Unsigned integer (8-bit, Base 10, alignment 8, little)",
        ]
    );
}

#[test]
fn names_of_types_can_have_several_words_and_stars() {
    let types = "typealias u16 := unsigned long; typealias u8 := struct page *;
        typealias letter := const char *;";
    assert_eq!(
        declared(types, "unsigned long a; struct page *b; const char *c; const u8 d;").unwrap(),
        [
            "a: Unsigned integer (16-bit, Base 10, alignment 8, little)",
            "b: Unsigned integer (8-bit, Base 10, alignment 8, little)",
            "c: Unsigned integer (8-bit, Base 10, alignment 8, little, text)",
            "d: Unsigned integer (8-bit, Base 10, alignment 8, little)",
        ]
    );
    assert_error(
        declared(types, "long unsigned a;"),
        "3:1: expected the name of a type, found 'long unsigned'",
    );
}

#[test]
fn an_inner_scope_hides_names_and_ends() {
    assert_fields(
        "struct { typealias u16 := u8; u8 a; } x; u8 b;",
        &[
            "x: Structure (1 member, alignment 8):",
            "  a: Unsigned integer (16-bit, Base 10, alignment 8, little)",
            "b: Unsigned integer (8-bit, Base 10, alignment 8, little)",
        ],
    );
    assert_error(
        declared("typealias u16 := u8;", ""),
        "1:18: expected a new name of a type, found 'u8' again",
    );
    assert_error(
        fields("struct { typealias u16 := inner; inner a; } x; inner b;"),
        "2:48: expected the name of a type, found 'inner'",
    );
}

#[test]
fn a_reference_goes_outwards_and_only_back() {
    assert_fields(
        "u8 n; struct { u16 m; struct { u8 a[n]; u8 b[m]; } y; } x[2];",
        &[
            "n: Unsigned integer (8-bit, Base 10, alignment 8, little)",
            "x: Static array (Length 2, alignment 8):",
            "  Element: Structure (2 members, alignment 8):",
            "    m: Unsigned integer (16-bit, Base 10, alignment 8, little)",
            "    y: Structure (2 members, alignment 8):",
            "      a: Dynamic array (with length field) (Length field path [Event payload: 0], \
             alignment 8):",
            "        Element: Unsigned integer (8-bit, Base 10, alignment 8, little)",
            "      b: Dynamic array (with length field) (Length field path [Event payload: 1, 0], \
             alignment 8):",
            "        Element: Unsigned integer (8-bit, Base 10, alignment 8, little)",
        ],
    );
    for (members, message) in [
        ("u8 a[n]; u8 n;", "2:6: expected the name of a field before this one, found 'n'"),
        (
            "struct { u8 n; } x; u8 a[n];",
            "2:26: expected the name of a field before this one, found 'n'",
        ),
        ("struct { u8 n; } x[2]; u8 a[x.n];", "2:29: expected an integer 'x.n', found an array"),
        ("u8 n; u8 a[n.m];", "2:12: expected a structure with 'm', found an integer"),
        ("i8 n; u8 a[n];", "2:12: expected an unsigned integer as length, found a signed integer"),
        ("string n; u8 a[n];", "2:16: expected an integer 'n', found a text"),
        ("u8 a[a];", "2:6: expected the name of a field before this one, found 'a'"),
        ("u8 a[event.fields.a];", "2:6: expected an integer 'a', found an array"),
        ("u8 a[-1];", "2:6: expected a length, found -1"),
        ("u8 a[env.n];", "2:6: expected a number from 0 in the environment, found 'env.n'"),
    ] {
        assert_error(fields(members), message);
    }
}

#[test]
fn other_scopes_are_reached_by_absolute_paths_only() {
    let stream = "stream { event.header := struct { u8 n; }; };";
    assert_error(
        declared(stream, "u8 a[n];"),
        "2:6: expected the name of a field before this one, found 'n'",
    );
    assert_eq!(
        declared(stream, "u8 a[stream.event.header.n];").unwrap()[0],
        "a: Dynamic array (with length field) (Length field path [Event header: 0], alignment 8):"
    );
    // Scopes that are read later do not help.
    let text = "stream { event.header := struct { u8 a[event.fields.n]; }; };
        event { fields := struct { u8 n; }; };";
    assert_eq!(
        read(text).unwrap_err(),
        "1:40: expected the name of a field before this one, found 'n'"
    );
}

#[test]
fn the_tag_of_a_variant_is_found_where_it_is_written() {
    let options = "{ u8 A; u16 B; }";
    let selected = |path: &str| {
        format!("v: Variant (unsigned integer selector) (2 options, Selector field path {path}):")
    };
    // The type of the variant is declared in the outer structure, which has another tag.
    let lines = fields(&format!(
        "enum : u8 {{ A, B }} t; typealias variant <t> {options} := choice;
         struct {{ enum : u8 {{ B, A }} t; choice v; variant <t> {options} w; }} inner;"
    ))
    .unwrap();
    let position = lines.iter().position(|line| line.starts_with("  v:")).unwrap();
    assert_eq!(lines[position].trim(), selected("[Event payload: 0]"));
    assert_eq!(
        lines[position + 1].trim(),
        "A: [0]: Unsigned integer (8-bit, Base 10, alignment 8, little)"
    );
    assert!(lines[position + 3].ends_with("path [Event payload: 1, 0]):"), "{lines:?}");
    assert!(lines[position + 4].trim().starts_with("A: [1]: "));

    // A named variant without tag gets one where it is used.
    let named = format!("variant choice {options};");
    let lines = declared(&named, "enum : u8 { A, B } t; variant choice <t> v;").unwrap();
    assert_eq!(lines[3], selected("[Event payload: 0]"));
    assert_error(
        declared(&named, "enum : u8 { A, B } t; variant choice v;"),
        "2:38: expected a tag of the variant, as in 'variant <tag>', found none",
    );
    assert_error(
        fields(&format!("u8 t; variant <t> {options} v;")),
        "2:16: expected an enumeration as selector, found an unsigned integer",
    );
}

#[test]
fn labels_select_options() {
    let members = "enum : u8 { none, a = 1 ... 5, b = 4 ... 9, _c = 20, a = 30 } t;
        variant <t> { u8 a; u8 _b; u8 c; u8 d; } v;";
    let lines = fields(members).unwrap();
    let options: Vec<_> =
        lines[6..].iter().map(|line| line.split(": Uns").next().unwrap()).collect();
    assert_eq!(options, ["  a: [1, 5] [30]", "  b: [6, 9]", "  c: [20]", "  d: "]);
}

#[test]
fn a_length_can_be_in_each_option_of_a_variant() {
    let members = "enum : u8 { A, B } t; variant <t> { u8 A; struct { string s; u16 n; } B; } n;
        u8 a[n];";
    assert_error(fields(members), "3:14: expected an integer 'n', found a structure");
    let lines = fields(&members.replace("u8 A;", "struct { u16 n; } A;").replace("a[n]", "a[n.n]"));
    let last = &lines.unwrap()[9];
    assert!(last.contains("[Event payload: 1, 0, 0 or 1, 1, 1]"), "{last}");
}

#[test]
fn one_leading_underscore_is_not_shown() {
    assert_fields(
        "u8 _a; u8 __b; u8 _; u8 c[__b];",
        &[
            "a: Unsigned integer (8-bit, Base 10, alignment 8, little)",
            "_b: Unsigned integer (8-bit, Base 10, alignment 8, little)",
            "_: Unsigned integer (8-bit, Base 10, alignment 8, little)",
            "c: Dynamic array (with length field) (Length field path [Event payload: 1], \
             alignment 8):",
            "  Element: Unsigned integer (8-bit, Base 10, alignment 8, little)",
        ],
    );
    assert_error(fields("u8 a; u16 a;"), "2:11: expected each name once, found 'a' again");
}

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
        "unfinished at the end of the metadata, ignored"
    );
}

#[test]
fn an_unfinished_end_is_dropped() {
    let text = "event { name = a; fields := struct { u8 a; }; };
        event { name = b; id = 1; fields := struct { u8";
    let Parsed { metadata, warnings, .. } = read(text).unwrap();
    assert_eq!(metadata.streams[0].events.len(), 1);
    assert_eq!((warnings.len(), warnings[0].line), (1, 7));
    // Without a trace block, nothing can be read.
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
        tracewell::format::ctf::classes::Class::Integer(integer) => integer.roles.clone(),
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
    // With two clocks, it is not known which one is meant.
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
            "event of stream 7, which is missing: ignored",
            "several streams, but no 'stream_id' in the packet header: \
             all packets are of stream 0",
        ]
    );
}

#[test]
fn types_that_contain_themselves_do_not_exist_yet() {
    assert_error(
        fields("struct me { u8 a; struct me b; } x;"),
        "2:19: expected the name of a type, found 'struct me'",
    );
}

#[test]
fn nesting_is_limited() {
    let nested =
        |depth: usize| format!("{}u8 a;{}", "struct { ".repeat(depth), " } x;".repeat(depth));
    assert!(fields(&nested(62)).is_ok());
    let error = fields(&nested(64)).unwrap_err();
    assert!(error.ends_with("expected at most 64 nested types, found more"), "{error}");
    let error = fields(&nested(100_000)).unwrap_err();
    assert!(error.ends_with("expected at most 64 nested types, found more"), "{error}");
    let parentheses = format!("u8 {}a{};", "(".repeat(100_000), ")".repeat(100_000));
    let error = fields(&parentheses).unwrap_err();
    assert!(error.ends_with("expected at most 64 nested types, found more"), "{error}");
    // Aliases nest without braces.
    let aliases: String =
        (0..100).map(|n| format!("typealias a{n} [2] := a{};\n", n + 1)).collect();
    let error = declared(&format!("typealias u8 := a0; {aliases}"), "a100 x;").unwrap_err();
    assert!(error.ends_with("expected at most 64 nested types, found more"), "{error}");
}

#[test]
fn a_chain_of_structures_cannot_double_without_limit() {
    let chain = |length: usize, innermost: &str| -> String {
        let links = (1..length)
            .map(|n| format!("struct s{n} {{ struct s{} a; struct s{} b; }};\n", n - 1, n - 1));
        format!("struct s0 {{ {innermost} }};\n") + &links.collect::<String>()
    };
    for innermost in ["u8 a;", "u8 n; u8 a[n];"] {
        assert!(declared(&chain(10, innermost), "struct s9 x;").is_ok());
        let error = declared(&chain(40, innermost), "struct s39 x;").unwrap_err();
        let message = format!("expected at most {MAX_FIELDS} fields, found more");
        assert!(error.ends_with(&message), "{error}");
    }
    // Each event has less fields than the limit, but all have more.
    let events: String = (0..100)
        .map(|id| format!("event {{ id = {id}; fields := struct {{ struct s14 a; }}; }};\n"))
        .collect();
    let error = read(&(chain(15, "u8 a;") + &events)).unwrap_err();
    assert!(error.ends_with("fields in all scopes, found more"), "{error}");
}

#[test]
fn many_fields_and_references_take_bounded_time() {
    let members: String = (0..50_000).map(|n| format!("u8 n{n}; u8 a{n}[n{n}];")).collect();
    assert_eq!(fields(&members).unwrap().len(), 150_000);
    let labels: String = (0..70_000).map(|n| format!("l{n},")).collect();
    let error = fields(&format!("enum : u8 {{ {labels} }} a;")).unwrap_err();
    assert!(error.ends_with("expected at most 65536 labels, found more"), "{error}");
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
        // A cut packet is refused, also in its header.
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
