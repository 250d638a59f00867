//! Tests the rules for types in the metadata language of CTF 1.8, one test for each rule.

mod support;

use std::sync::Arc;

use support::ctf::{Types, read_tsdl as read};
use tracewell::format::ctf::classes::{Class, Structure};
use tracewell::format::ctf::metadata::{MAX_FIELDS, MAX_LEN};

/// Declares an event whose payload has these members. Returns the lines that describe its types.
fn fields(members: &str) -> Result<Vec<String>, String> {
    declared("", members)
}

/// Like [`fields`], for a text with declarations before the event. The members begin in line 2.
fn declared(declarations: &str, members: &str) -> Result<Vec<String>, String> {
    let text = format!("{declarations} event {{ fields := struct {{\n{members} }}; }};");
    let parsed = read(&text)?;
    let lines = Types::of(&parsed.metadata, true);
    let lines = lines.lines().skip_while(|line| !line.contains("Payload field class")).skip(1);
    Ok(lines.map(|line| line.strip_prefix("        ").unwrap().to_owned()).collect())
}

/// Asserts that [`fields`] returns these lines for the members of a payload.
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
        "2:17: expected an ascending range, found 5 ... 4",
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
    // `struct` can only be the first word.
    assert_error(
        declared("typealias integer { size = 8; } := unsigned struct page;", "u8 a;"),
        "1:36: expected a name of a type, found the keyword 'struct'",
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
        (
            "enum : u8 { A } t; variant <t> { struct { u8 a[event.fields.v.m]; u8 m; } A; } v;",
            "2:48: expected a field before this one, found 'm', which follows it",
        ),
        ("u8 a[-1];", "2:6: expected a length, found -1"),
        ("u8 a[env.n];", "2:6: expected a non-negative number in the environment, found 'env.n'"),
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
    // A reference cannot lead to a scope that is read later.
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
    // The variant's type is declared in the outer structure, where a different tag has the same
    // name.
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

    // Around a declaration outside of structures, there are no fields.
    let lines = declared("typealias u8 [n] := bytes;", "u8 n; struct { u8 n; bytes a; } x;");
    assert!(lines.unwrap()[3].contains("path [Event payload: 1, 0]"));

    // A named variant without a tag gets its tag where the variant is used.
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
    // The name of an option leads into this option.
    let lines = fields(&members.replace("a[n]", "a[n.B.n]")).unwrap();
    let paths = lines.iter().filter(|line| line.contains("Length field path"));
    let paths: Vec<_> = paths.map(|line| line.contains("[Event payload: 1, 1, 1]")).collect();
    assert_eq!(paths, [true], "{lines:?}");
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

#[test]
fn numbers_in_arrays_have_no_roles() {
    let header = "clock { name = c; };
        stream { event.header := struct {
            u8 id; u8 timestamp[2]; struct { u8 id; u8 timestamp; } pairs[2];
            struct { u8 timestamp; } one; }; };
        event { };";
    let types = Types::of(&read(header).unwrap().metadata, true);
    let with_roles: Vec<_> = types
        .lines()
        .filter(|line| line.contains("EventClass") || line.contains("little, Time"))
        .map(|line| line.trim_start().split(':').next().unwrap())
        .collect();
    assert_eq!(with_roles, ["id", "timestamp"]);
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
    let error = fields(&nested(63)).unwrap_err();
    assert!(error.ends_with("expected at most 64 nested types, found more"), "{error}");
    let error = fields(&nested(64)).unwrap_err();
    assert!(error.ends_with("expected at most 64 nested types, found more"), "{error}");
    let error = fields(&nested(100_000)).unwrap_err();
    assert!(error.ends_with("expected at most 64 nested types, found more"), "{error}");
    let parentheses = format!("u8 {}a{};", "(".repeat(100_000), ")".repeat(100_000));
    let error = fields(&parentheses).unwrap_err();
    assert!(error.ends_with("expected at most 64 nested types, found more"), "{error}");
    // Aliases of arrays can nest without braces.
    let aliases = |count: usize| {
        let arrays = (0..count).map(|n| format!("typealias a{n} [2] := a{};\n", n + 1));
        let arrays: String = arrays.collect();
        declared(&format!("typealias u8 := a0; {arrays}"), &format!("a{count} x;"))
    };
    // The number and the structure of the fields are a level each.
    assert!(aliases(62).is_ok());
    for count in [63, 100] {
        let error = aliases(count).unwrap_err();
        assert!(error.ends_with("expected at most 64 nested types, found more"), "{error}");
    }
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
    // Structure `n` has `3 * 2^n - 1` fields, including itself. These structures and the structure
    // around them have as many fields as the limit.
    let members = [18, 16, 14, 12, 10, 8, 6, 4, 3].map(|n| format!("struct s{n} m{n}; ")).concat();
    let event = |members: &str| {
        let structures = chain(19, "u8 a;");
        let text = format!("{structures} event {{ fields := struct {{ {members} }}; }};");
        read(&text).map(|_| ())
    };
    assert_eq!(event(&members), Ok(()));
    assert!(event(&(members + "u8 last;")).is_err());
    // Each event has fewer fields than the limit, but all events together have more.
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
fn the_length_of_metadata_is_limited() {
    let refused = |length: usize| {
        let mut text = vec![0; length];
        // The reader ignores zeros at the end only.
        text[length - 1] = b'x';
        tracewell::format::ctf::metadata::read(&text).unwrap_err().to_string()
    };
    let expected = format!("1:1: expected metadata of at most {MAX_LEN} bytes, found ");
    assert_eq!(refused(MAX_LEN + 1), expected + &(MAX_LEN + 1).to_string());
    assert_eq!(refused(MAX_LEN), refused(2));
}

#[test]
fn only_version_1_8_is_read() {
    let read = |major: u32, minor: u32| {
        let text = format!("trace {{ major = {major}; minor = {minor}; byte_order = le; }};");
        let read = tracewell::format::ctf::metadata::read(text.as_bytes());
        read.map(|_| ()).map_err(|error| error.message)
    };
    assert_eq!(read(1, 8), Ok(()));
    for (major, minor, expected) in [
        (1, 7, "expected 8 for 'minor', found 7"),
        (1, 9, "expected 8 for 'minor', found 9"),
        (0, 8, "expected 1 for 'major', found 0"),
        (2, 8, "expected 1 for 'major', found 2"),
    ] {
        assert_eq!(read(major, minor), Err(expected.to_owned()));
    }
}

#[test]
fn the_new_name_of_an_alias_is_one_type_name() {
    let alias = |name: &str| declared(&format!("typealias u8 := {name};"), "u8 a;").map(|_| ());
    for name in [
        "x",
        "x *",
        "x * *",
        "unsigned char",
        "const x",
        "unsigned long *",
        "struct x *",
        "variant x *",
        "enum x * *",
        "const struct_like *",
    ] {
        assert_eq!(alias(name), Ok(()), "{name}");
    }
    let keyword = |word: &str| format!("expected a name of a type, found the keyword '{word}'");
    let after = |word: &str| format!("expected ';' after the name, found '{word}'");
    for (name, message) in [
        ("struct x", keyword("struct")),
        ("struct *", keyword("struct")),
        ("struct", keyword("struct")),
        ("variant x", keyword("variant")),
        ("enum *", keyword("enum")),
        ("const struct x *", keyword("struct")),
        ("event", keyword("event")),
        ("x y", after("y")),
        ("x int", after("int")),
        ("int * const", after("const")),
        ("* x", "expected a name of a type, found '*'".to_owned()),
        ("", "expected a name of a type, found ';'".to_owned()),
    ] {
        assert_eq!(alias(name), Err(format!("1:17: {message}")), "{name}");
    }
}

#[test]
fn a_member_without_a_field_declares_a_named_type() {
    assert_fields(
        "struct s { u8 x; }; variant v { u8 A; u16 B; }; enum e : u8 { A, B };
         enum e t; struct s a; variant v <t> b;",
        &[
            "t: Unsigned enumeration (8-bit, Base 10, 2 mappings, alignment 8, little):",
            "  A: [0]",
            "  B: [1]",
            "a: Structure (1 member, alignment 8):",
            "  x: Unsigned integer (8-bit, Base 10, alignment 8, little)",
            "b: Variant (unsigned integer selector) (2 options, Selector field path \
             [Event payload: 0]):",
            "  A: [0]: Unsigned integer (8-bit, Base 10, alignment 8, little)",
            "  B: [1]: Unsigned integer (16-bit, Base 10, alignment 8, little)",
        ],
    );
    for (member, column) in [
        ("struct { u8 x; };", 17),
        ("struct s;", 9),
        ("variant { u8 A; };", 18),
        ("variant v;", 10),
        ("enum : u8 { A };", 16),
        ("enum e;", 7),
        ("u8;", 3),
    ] {
        let expected = format!("2:{column}: expected a name, found ';'");
        assert_error(fields(member), &expected);
    }
}

#[test]
fn commas_separate_the_declarators_of_one_type() {
    let byte = "Unsigned integer (8-bit, Base 10, alignment 8, little)";
    let lines = [
        format!("a: {byte}"),
        "b: Static array (Length 2, alignment 8):".to_owned(),
        format!("  Element: {byte}"),
        format!("c: {byte}"),
    ];
    assert_eq!(fields("u8 a, b[2], c;").unwrap(), lines);
    assert_eq!(fields("typedef u8 x, y[2], z; x a; y b; z c;").unwrap(), lines);
    assert_error(fields("u8 a,;"), "2:6: expected a name, found ';'");
}

/// Returns the structures of the member `x` in the payloads of two events. Both events have this
/// member, whose type is `struct s` with the given members.
fn shared_structures(members: &str) -> [Arc<Structure>; 2] {
    let text = format!(
        "clock {{ name = c; }}; struct s {{ {members} }};
         event {{ id = 0; fields := struct {{ u8 n; struct s x; }}; }};
         event {{ id = 1; fields := struct {{ u16 n; struct s x; }}; }};"
    );
    let metadata = read(&text).unwrap().metadata;
    [0, 1].map(|event| {
        let payload = metadata.streams[0].events[event].payload.as_ref().unwrap();
        match &payload.members.last().unwrap().class {
            Class::Structure(structure) => structure.clone(),
            other => panic!("{other:?}"),
        }
    })
}

/// Each use of a type with references or clocks can have another class.
#[test]
fn uses_of_a_type_share_its_class_if_it_has_neither_references_nor_clocks() {
    for (members, is_shared) in [
        ("u8 a; string b; floating_point { exp_dig = 8; mant_dig = 24; } c;", true),
        ("u8 a[2]; letter b[3]; struct { u8 c[4]; } d[5];", true),
        ("u8 l; u8 a[l];", false),
        ("u8 l; letter a[l];", false),
        ("integer { size = 8; map = clock.c.value; } a;", false),
        ("struct { u8 l; u8 a[l]; } b;", false),
        ("struct { u8 l; u8 a[l]; } b[2];", false),
        ("enum : u8 { A } t; variant <t> { u8 A; } v;", false),
    ] {
        let [first, second] = shared_structures(members);
        assert_eq!(first, second, "{members}");
        assert_eq!(Arc::ptr_eq(&first, &second), is_shared, "{members}");
    }
    // Headers are not shared, because the numbers in them have roles.
    let text = "struct s { u8 id; };
        stream { event.header := struct { struct s x; }; event.context := struct s; };
        event { fields := struct s; };";
    let types = Types::of(&read(text).unwrap().metadata, true);
    assert_eq!(types.matches("little, EventClass").count(), 1, "{types}");
}

#[test]
fn a_reference_stays_in_the_element_and_the_option_that_contain_it() {
    let length = |members: &str| {
        let lines = fields(members).unwrap();
        let lines: Vec<_> = lines.iter().filter(|line| line.contains("field path")).collect();
        let last = lines.last().unwrap();
        last[last.find('[').unwrap()..=last.find(']').unwrap()].to_owned()
    };
    for (members, expected) in [
        ("struct { u8 n; u8 a[event.fields.x.n]; } x[2];", "[Event payload: 0, 0]"),
        ("struct { struct { u8 n; } y; u8 a[event.fields.x.y.n]; } x;", "[Event payload: 0, 0, 0]"),
        (
            "enum : u8 { A, B } t; variant <t> {
                struct { u8 k; struct { u8 n; u8 a[event.fields.v.y.n]; } y; } A; u8 B; } v;",
            "[Event payload: 1, 0, 1, 0]",
        ),
    ] {
        assert_eq!(length(members), expected, "{members}");
    }
    assert_error(
        fields("struct { u8 n; } x[2]; u8 a[event.fields.x.n];"),
        "2:29: expected an integer 'x.n', found an array",
    );
    assert_error(
        fields("struct { u8 a[event.fields.x.n]; u8 n; } x[2];"),
        "2:15: expected a field before this one, found 'n', which follows it",
    );
}

/// Asserts for each attribute of an integer that the type's line contains a text, or that reading
/// fails with a message that ends with the text.
#[track_caller]
fn assert_integers(cases: &[(&str, Result<&str, &str>)]) {
    for (attribute, expected) in cases {
        let found = fields(&format!("integer {{ size = 8; {attribute}; }} a;"));
        match (&found, expected) {
            (Ok(lines), Ok(part)) => assert!(lines[0].contains(part), "{attribute}: {lines:?}"),
            (Err(error), Err(end)) => assert!(error.ends_with(end), "{attribute}: {error}"),
            _ => panic!("{attribute}: {found:?}"),
        }
    }
}

#[test]
fn attributes_of_integers_have_several_forms() {
    let (unsigned, signed) = (Ok("a: Unsigned"), Ok("a: Signed"));
    assert_integers(&[
        ("signed = 1", signed),
        ("signed = true", signed),
        ("signed = TRUE", signed),
        ("signed = \"true\"", signed),
        ("signed = 0", unsigned),
        ("signed = false", unsigned),
        ("signed = FALSE", unsigned),
        ("signed = \"FALSE\"", unsigned),
        ("signed = 2", Err("expected true or false for 'signed', found 2")),
        ("signed = -1", Err("expected true or false for 'signed', found -1")),
        ("signed = True", Err("expected true or false for 'signed', found 'True'")),
        ("signed = true.x", Err("expected true or false for 'signed', found 'true.x'")),
    ]);
    for (base, words) in [
        (2, "2 b bin binary \"b\""),
        (8, "8 o oct octal"),
        (10, "10 d i u dec decimal"),
        (16, "16 x X p hex hexadecimal 0x10"),
    ] {
        for word in words.split(' ') {
            let expected = format!("(8-bit, Base {base}, ");
            assert_integers(&[(&format!("base = {word}"), Ok(&expected))]);
        }
    }
    assert_integers(&[
        ("base = 3", Err("expected base 2, 8, 10 or 16 for 'base', found 3")),
        ("base = y", Err("expected base 2, 8, 10 or 16 for 'base', found 'y'")),
        ("byte_order = le", Ok("alignment 8, little)")),
        ("byte_order = \"le\"", Ok("alignment 8, little)")),
        ("byte_order = native", Ok("alignment 8, little)")),
        ("byte_order = be", Ok("alignment 8, big)")),
        ("byte_order = network", Ok("alignment 8, big)")),
        ("byte_order = big", Err("expected le or be for 'byte_order', found 'big'")),
        ("byte_order = 1", Err("expected le or be for 'byte_order', found 1")),
        ("encoding = none", Ok("little)")),
        ("encoding = UTF8", Ok("little, text)")),
        ("encoding = utf8", Ok("little, text)")),
        ("encoding = \"UTF-8\"", Ok("little, text)")),
        ("encoding = \"utf-8\"", Ok("little, text)")),
        ("encoding = ASCII", Ok("little, text)")),
        ("encoding = ascii", Ok("little, text)")),
        ("encoding = latin", Err("encoding none, UTF8 or ASCII for 'encoding', found 'latin'")),
        ("align = 1", Ok("alignment 1, little)")),
        ("align = 65536", Ok("alignment 65536, little)")),
        ("align = 0", Err("a power of two up to 65536 as alignment for 'align', found 0")),
        ("align = 12", Err("a power of two up to 65536 as alignment for 'align', found 12")),
        ("align = -1", Err("expected a number from 0 for 'align', found -1")),
        ("align = \"8\"", Err("expected a number from 0 for 'align', found \"8\"")),
        ("unknown = 1", Ok("a: Unsigned")),
    ]);
    let sizes = |size: &str| fields(&format!("integer {{ size = {size}; }} a;"));
    for (size, alignment) in [("1", 1), ("7", 1), ("8", 8), ("9", 1), ("63", 1), ("64", 8)] {
        let expected =
            format!("a: Unsigned integer ({size}-bit, Base 10, alignment {alignment}, little)");
        assert_eq!(sizes(size).unwrap(), [expected]);
    }
}

#[test]
fn a_number_is_mapped_to_a_clock_by_its_name() {
    let map = |value: &str| {
        let text = format!(
            "clock {{ name = a; }}; clock {{ name = \"b c\"; }};
             stream {{ event.header := struct {{ integer {{ size = 8; map = {value}; }} n; }}; }};"
        );
        read(&text).map(|parsed| parsed.metadata.streams[0].clock)
    };
    assert_eq!(map("clock.a.value"), Ok(Some(0)));
    assert_eq!(map("\"clock.a.value\""), Ok(Some(0)));
    assert_eq!(map("\"clock.b c.value\""), Ok(Some(1)));
    for value in ["clock.a", "a", "clock.a.value.x", "x.a.value", "clock.a.x", "\"clock.a\"", "1"] {
        let error = map(value).unwrap_err();
        let expected = "expected clock.NAME.value with the name of a clock for 'map', found ";
        assert!(error.contains(expected), "{value}: {error}");
    }
}

#[test]
fn floats_have_digits_an_alignment_and_a_byte_order() {
    let float = |attributes: &str| fields(&format!("floating_point {{ {attributes} }} a;"));
    for (attributes, expected) in [
        ("exp_dig = 8; mant_dig = 24;", "a: Single-precision real (alignment 8, little)"),
        ("mant_dig = 53; exp_dig = 11;", "a: Double-precision real (alignment 8, little)"),
        (
            "exp_dig = 8; mant_dig = 24; align = 1; byte_order = be; unknown = 1;",
            "a: Single-precision real (alignment 1, big)",
        ),
    ] {
        assert_eq!(float(attributes).unwrap(), [expected]);
    }
    for (exponent, mantissa) in [(8, 53), (11, 24), (8, 23), (10, 53)] {
        let error = float(&format!("exp_dig = {exponent}; mant_dig = {mantissa};")).unwrap_err();
        assert!(error.ends_with(&format!("digits, found {exponent} and {mantissa}")), "{error}");
    }
    let message = "2:1: expected the attributes 'exp_dig' and 'mant_dig'";
    for attributes in ["exp_dig = 8;", "mant_dig = 24;", ""] {
        assert_error(float(attributes), message);
    }
    assert_error(
        float("align = 1; align = 1;"),
        "2:29: expected each attribute once, found 'align' again",
    );
}

#[test]
fn arrays_of_8_aligned_bits_that_are_characters_are_texts() {
    let first = |members: &str| fields(members).unwrap().remove(0);
    for (attributes, is_text) in [
        ("size = 8; encoding = UTF8;", true),
        ("size = 8; signed = true; encoding = ASCII;", true),
        ("size = 8;", false),
        ("size = 8; align = 16; encoding = UTF8;", false),
        ("size = 8; align = 4; encoding = UTF8;", false),
        ("size = 7; align = 8; encoding = UTF8;", false),
        ("size = 16; align = 8; encoding = UTF8;", false),
    ] {
        let line = first(&format!("integer {{ {attributes} }} a[3];"));
        let expected = ["a: Static array (Length 3", "a: String (Utf8, Length 3)"];
        assert!(line.starts_with(expected[usize::from(is_text)]), "{attributes} {line}");
    }
    let line = first("enum : letter { A } a[3];");
    assert!(line.starts_with("a: Static array (Length 3"), "{line}");
}

#[test]
fn an_enumeration_is_stored_in_an_integer() {
    for (container, found) in [
        ("string { }", "a text"),
        ("struct { u8 a; }", "a structure"),
        ("floating_point { exp_dig = 8; mant_dig = 24; }", "a floating-point number"),
        ("enum : u8 { A }", "an unsigned integer"),
    ] {
        let expected = format!("2:8: expected an integer for the enumeration, found {found}");
        assert_error(fields(&format!("enum : {container} {{ A }} a;")), &expected);
    }
    assert_error(
        fields("enum : u8 a;"),
        "2:11: expected '{' with the labels of the enumeration, found 'a'",
    );
    assert_error(fields("enum { A = 1, } a;"), "2:1: expected the name of a type, found 'int'");
    assert_error(fields("enum : u8 { 1 } a;"), "2:13: expected a label, found 1");
    assert_error(fields("enum : u8 { A B } a;"), "2:15: expected '}', found 'B'");
    assert_error(fields("enum : u8 { A = } a;"), "2:17: expected a number, found '}'");
    let labels = |labels: &str| {
        let mut lines = fields(&format!("enum : i8 {{ {labels} }} a;")).unwrap();
        lines.remove(0);
        lines
    };
    assert_eq!(labels("A = +3, \"B\", C = -1 ... 1,"), ["  A: [3]", "  B: [4]", "  C: [-1, 1]"]);
    assert_eq!(labels("A = -128 ... 127"), ["  A: [-128, 127]"]);
}
