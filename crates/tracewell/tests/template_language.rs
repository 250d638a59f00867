//! Tests each rule of the template language: codes and the data pointer, macros in both
//! environments, expressions, functions, subroutines, switches, loops, flags, and the marks for
//! exceeded limits. The expected texts are derived from the rules, not from a run.

#[path = "support/templates.rs"]
mod templates;

use templates::{bytes, described, formatted, program};
use tracewell::template::syntax::Level;
use tracewell::template::{Entry, Environment, EventContext, Machine, Names, Outcome};

/// An entry of type 6: a 32-bit hook word with the data 0042, then five data words.
const FIVE: &str = "0AA60042 00000001 00000002 00000003 00000004 00000005";
/// A trcgen entry with 3 bytes of data.
const GENERIC: &str = "0AA00003 11223344 61626300";
/// A 64-bit entry with two data words and the sub-hook 1234.
const TWO: &str = "8000 0010 0AA0 1234 0000000000000001 FEDCBA9876543210";
/// A 64-bit trcgen entry with the word D1 and 3 bytes of data.
const GENERIC_64: &str = "C000 000B 0AA0 1234 1122334455667788 6162630000000000";

/// Each row: bits, description, entry, expected text.
fn check(rows: &[(u8, &str, &str, &str)]) {
    let wrong: Vec<_> = rows
        .iter()
        .map(|(bits, text, hex, expected)| (text, *expected, described(*bits, text, hex)))
        .filter(|(_, expected, found)| expected != found)
        .map(|(text, expected, found)| format!("{text}: expected '{expected}', found '{found}'"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn built_in_macros_in_32_bit_entries() {
    check(&[
        (32, "$D1 $D5", FIVE, "0001 0005"),
        (32, "$HD $HL%U4 $HB $HT", FIVE, "0042 20 0000 0006"),
        (32, "$HL%U4", "0AA20000 00000001", "4"),
        (32, "$HL%U4", "0AA10000", "0"),
        (32, "$HL%U4", "0AA90000", "0"),
        (32, "$HL%U4", "0AAA0000 00000001", "4"),
        (32, "$HL%U4", "0AAE0000", "20"),
        (32, "$GENERIC%U1 $HOOKENV%U1", FIVE, "0 32"),
        (32, "$TRACEID $DATAPOINTER%U1 $BASEPOINTER%U1", FIVE, "00AA 2 0"),
        (32, "$L1 $L2", FIVE, "0000000100000002 0000000300000004"),
        (32, "$HD $HL $HB $HT", GENERIC, "0003 0003 0003 0000"),
        (32, "$HT", "0AA80000 00000000", "0008"),
        (32, "$D1 $GENERIC $DATAPOINTER", GENERIC, "11223344 0001 0004"),
        (32, "HB HT", GENERIC, "0003 0000"),
        (32, "HB HT X2", FIVE, "0000 0006 0042"),
    ]);
}

#[test]
fn built_in_macros_in_64_bit_entries() {
    check(&[
        (64, "$D1 $D2", TWO, "0001 FEDCBA9876543210"),
        (64, "$HD $HL%U4 $HB $HT", TWO, "1234 16 0000 8000"),
        (64, "$GENERIC%U1 $HOOKENV%U1", TWO, "0 64"),
        (64, "$TRACEID $DATAPOINTER%U1", TWO, "0AA0 6"),
        (64, "$L1 $L2", TWO, "0001 FEDCBA9876543210"),
        (64, "$HD $HL $HB $HT", GENERIC_64, "1234 0003 0003 C000"),
        (64, "$D1 $GENERIC $DATAPOINTER", GENERIC_64, "1122334455667788 0001 0006"),
        (64, "HB HT", GENERIC_64, "0003 C000"),
        (64, "X2 X8 A3", GENERIC_64, "1234 1122334455667788 abc"),
        (64, "W1 XW", TWO, "0000000000000001"),
        (64, "$D3", TWO, "<TRUNCATED>"),
    ]);
}

#[test]
fn of_a_number_of_more_than_eight_bytes_the_last_eight_count() {
    const LONG: &str = "0AA10000 0102 A1A2A3A4 A5A6A7A8 0708";
    check(&[
        (
            32,
            "X10, A1A2A3A4A5A6A7A8 \"last\", 0102A1A2A3A4A5A6 \"first\", \\* \"no\"",
            "0AA10102 A1A2A3A4 A5A6A7A8",
            "last",
        ),
        (32, "X10 X2", "0AA10102 A1A2A3A4 A5A6A7A8 0708", "0102A1A2A3A4A5A6A7A8 0708"),
        (32, "{{ $n = X12 }} $n%X8 $DATAPOINTER%U1", LONG, "A1A2A3A4A5A6A7A8 14"),
    ]);
}

/// This process is the only one with a name.
#[derive(Debug)]
struct OneProcess;

impl Names for OneProcess {
    fn process(&self, pid: u64) -> Option<&str> {
        (pid == 7).then_some("ksh")
    }
}

#[test]
fn macros_for_the_context_of_the_event() {
    let around = EventContext {
        tid: 0x12345,
        pid: 77,
        cpu: 3,
        executable: "/usr/bin/ksh",
        system_call: "read",
        system: Environment::Bits64,
        log: "trcfile",
        offset: 0x1_0000_0000,
        names: &OneProcess,
        ..EventContext::default()
    };
    let shown = |text: &str| formatted(32, &format!("0AA 1.0 \"@\" {text}"), FIVE, &around);
    assert_eq!(shown("$TID $PID%U4 $CPUID $TRACEENV%U1"), "00012345 77 0003 64");
    assert_eq!(shown("$EXECPATH $SVC $LOGFILE \"|\""), "/usr/bin/ksh read trcfile |");
    // Only Am.n changes a string: it prints m characters in a field of n.
    assert_eq!(shown("$EXECPATH%A4 $SVC%X4 \"|\""), "/usr read |");
    assert_eq!(shown("$SVC%A2.4 \"|\" $SVC%A4.2 \"|\" $SVC%A9.6 \"|\""), "re   |re |read   |");
    assert_eq!(shown("$LOGID0 O2 $LOGIDX"), "0000000100000000 0004");
    assert_eq!(shown("$SVC, \"read\" \"yes\", \\* \"no\""), "yes");
    assert_eq!(shown("$TID%P4 W1 O3 {{ $p = 7 }} $p%P4"), "pid=74565 ksh");
    assert_eq!(shown("$ERROR \"never\""), "<ERROR trcfile at byte 4294967296, trace id 0AA>");
}

#[test]
fn the_pointer_counts_bits_and_reading_rounds_it_up() {
    let entry = "0AA20007 A5C3F00F";
    check(&[
        (32, "G4 B0.1 X1", entry, "1 C3"),
        (32, "G4 B0.8 X1", entry, "10100101 C3"),
        (32, "G4.9 D1", entry, "-16"),
        (32, "G4 O0.1 A0", entry, "."),
        (32, "G4 B1.4 B0.4", entry, "101001011100 0011"),
        (32, "G4 O1.4 B0.4", entry, "0011"),
        (32, "G4 O0.12 B0.4", entry, "0011"),
        // Before a step backwards, the pointer is rounded down to a whole byte.
        (32, "G4 B0.12 R0 X1", entry, "101001011100 C3"),
        (32, "G4 B0.12 R1 X1", entry, "101001011100 A5"),
        (32, "G4.3 $DATAPOINTER%U1", entry, "4"),
        // Hook word codes, and macros with a code, do not move the pointer.
        (32, "G4.4 HT $D1%X4 B0.4", entry, "0002 A5C3F00F 0101"),
        (32, "W0 X4", entry, "0AA20007"),
        (32, "W1 X2", entry, "A5C3"),
        (64, "W0 X8", TWO, "800000100AA01234"),
        (64, "W2 X2", TWO, "FEDC"),
        (32, "{{ $BASEPOINTER = 4 }} G0 X1 G1 X1 $BASEPOINTER%U1", entry, "A5 C3 4"),
        (32, "{{ $BASEPOINTER = 4 }} G0.4 B0.4 $D1 $HD", entry, "0101 A5C3F00F 0007"),
        (32, "{{ $BASEPOINTER = 3 $DATAPOINTER = 2 }} X1", entry, "C3"),
        (32, "{{ $DATAPOINTER = 0 - 4 }} \"out\" O8 X1 G99 \"out\" R95 X1", entry, "outA5 outA5"),
    ]);
}

#[test]
fn numbers_of_every_size() {
    let entry = "0AA60000 FF80818283848586 8788898A 00000000 00000000";
    check(&[
        (32, "G4 X0 X0", entry, "FF80"),
        (32, "G4 X16", entry, "FF808182838485868788898A00000000"),
        (32, "G4 X9", entry, "FF8081828384858687"),
        (32, "G4 D3", entry, "-32639"),
        (32, "G4 D8", entry, "-35886399466732154"),
        (32, "G4 U3", entry, "16744577"),
        (32, "G4 U8", entry, "18410857674242819462"),
        (32, "G4 o1 o2", entry, "377 100201"),
        (32, "G16 o4 D5", entry, "0 <TRUNCATED>"),
        (32, "G4 XW DW UW", entry, "FF808182 -2088467066 2273872266"),
        (64, "G16 DW", TWO, "-81985529216486896"),
        (64, "G16 UW", TWO, "18364758544493064720"),
        (32, "G4 B0.9 U1", entry, "111111111 129"),
        (32, "G4 B.9", entry, "111111111"),
    ]);
}

#[test]
fn texts_of_every_kind() {
    let entry = "0AA00010 00000000 036100FF 00026162 63007E7F 41424344 45464748";
    check(&[
        (32, "G8 S1 \"|\" $DATAPOINTER%U1", entry, "a |12"),
        (32, "G12 S2 \"|\" A0", entry, "ab |c"),
        (32, "G16 S0 \"|\" A2", entry, "c |~."),
        (32, "G9 S0 S0 \"|\"", entry, "a . |"),
        (32, "G5 S4 \"|\"", "0AA00000 00000000 02616200", "ab |"),
        (32, "G8 S1", "0AA00002 00000000 05616200", "<TRUNCATED>"),
        (32, "G8 S0", "0AA00002 00000000 61626364", "<TRUNCATED>"),
        (32, "G20 A4.2 \"|\" A1.3 \"|\" A3 \"|\"", entry, "AB |E   |FGH |"),
        (32, "G20 A8.0 \"|\"", entry, " |"),
        (32, "G20 {{ $t = 0x41420043 }} $t%A4 $t%A1 $t%A0 $t%A4.4 \"|\"", entry, "AB C CAB   |"),
    ]);
}

#[test]
fn floats_times_errors_and_processes() {
    check(&[
        (32, "G4 F4", "0AA20000 00000000", "0.0000E+00"),
        (32, "G4 F4", "0AA20000 BFC00000", "-1.5000E+00"),
        (32, "G4 F4", "0AA20000 7F800000", "INF"),
        (64, "G8 F8", "8000 0008 0AA0 0000 7FEFFFFFFFFFFFFF", "1.79769313E+308"),
        (64, "$D1%F8 $D1%F4", "8000 0008 0AA0 0000 3FF0000000000000", "1.00000000E+00 0.0000E+00"),
        (32, "G4 T4", "0AA20000 00000000", "Thu Jan  1 00:00:00 1970"),
        (32, "G4 T4", "0AA20000 7FFFFFFF", "Tue Jan 19 03:14:07 2038"),
        (32, "G4 T4 \"|\"", "0AA20000 3C6EFD00", "Sun Feb 17 00:44:48 2002 |"),
        (32, "E2", "0AA10002", "ENOENT"),
        (32, "E1 E1", "0AA10100", "EPERM 0"),
        (32, "E2", "0AA1FFFF", "65535"),
        (32, "G4 E4", "0AA20000 0000000C", "ENOMEM"),
        (32, "G4 P4", "0AA20000 000004D2", "pid=1234"),
        (32, "$HD%E1 $HD%E2", "0AA10116", "EINVAL 278"),
    ]);
}

#[test]
fn macros_without_a_code_have_4_8_or_16_digits() {
    check(&[
        (
            32,
            "{{ $a = 65535 $b = 65536 $c = 0xFFFFFFFF $d = 0x100000000 }} $a $b $c $d",
            FIVE,
            "FFFF 00010000 FFFFFFFF 0000000100000000",
        ),
        (
            32,
            "{{ $a = 0 - 1 }} $a $a%D4 $a%D8 $a%U1 $a%X2",
            FIVE,
            "FFFFFFFFFFFFFFFF -1 -1 255 FFFF",
        ),
        (32, "$neverset $neverset%D4", FIVE, "0000 0"),
        (
            32,
            "{{ $a = 511 }} $a%D1 $a%X0 $a%o1 $a%B0.3 $a%B0.10 \"|\"",
            FIVE,
            "-1 FF377 111 0111111111 |",
        ),
    ]);
}

#[test]
fn expressions_are_signed_64_bit_numbers_that_wrap() {
    let of = |expression: &str| described(32, &format!("{{{{ $x = {expression} }}}} $x%D8"), FIVE);
    let rows = [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("20 / 3 / 2", "3"),
        ("2 - 3 - 4", "-5"),
        ("2 - (3 - 4)", "3"),
        ("-7 / 2", "-3"),
        ("7 / -2", "-3"),
        ("- -7", "7"),
        ("-(1 + 2)", "-3"),
        ("5 / 0", "0"),
        ("0 / 0", "0"),
        ("0x7FFFFFFFFFFFFFFF + 1", "-9223372036854775808"),
        ("0x8000000000000000 / -1", "-9223372036854775808"),
        ("0x7FFFFFFFFFFFFFFF * 2", "-2"),
        ("18446744073709551615", "-1"),
        // The format codes in an expression consume data from left to right, and print nothing.
        ("U2 * 100 + U4", "6601"),
        ("$D2 * 10 + $D3", "23"),
        ("$HD%D1 + 1", "67"),
        ("$D1 - $D2", "-1"),
    ];
    let wrong: Vec<_> = rows.iter().filter(|(text, expected)| of(text) != *expected).collect();
    assert!(
        wrong.is_empty(),
        "{wrong:?}: {:?}",
        wrong.iter().map(|(t, _)| of(t)).collect::<Vec<_>>()
    );
    check(&[
        (32, "{{ $a = 1 $b = $a + 1 $a = 9 }} $a $b", FIVE, "0009 0002"),
        (32, "{{ $a = X8 }} \"x\"", "0AA10000", "<TRUNCATED>"),
        (32, "{{ $D1x = 5 }} $D1x", FIVE, "0005"),
    ]);
}

#[test]
fn macros_live_for_one_event() {
    let program = program("0AA 1.0 \"@\" $x {{ $x = 5 }} $x");
    let bytes = bytes(FIVE);
    let entry = Entry::hook32(&bytes).unwrap();
    let mut machine = Machine::default();
    for _ in 0..2 {
        let text = machine.format(&program, &entry, &EventContext::default()).text();
        assert_eq!(text, "0000 0005");
    }
}

#[test]
fn functions_hide_macros_by_parameters_and_share_the_rest() {
    check(&[
        (
            32,
            "{{ f(a, b) $a $b }} f(1, 2) f(3) f() f(4, 5, 6)",
            FIVE,
            "0001 0002 0003 0000 0000 0000 0004 0005",
        ),
        (32, "{{ f(a) $a {{ $a = 9 $c = 8 }} }} {{ $a = 1 }} f(2) $a $c", FIVE, "0002 0001 0008"),
        // A name that was unset before the call is unset afterwards, so it refers to a template
        // again.
        (32, "{{ f(0AB) \"in\" }} f(1) $0AB", FIVE, "in<NO TEMPLATE 0AB>"),
        (32, "{{ f() X1 }} f() f()", FIVE, "00 42"),
        (32, "{{ f(a) $a }} f(U2) f(U4)", FIVE, "0042 0001"),
        (32, "{{ f(a) $a, 0 \"none\", \\* {$a%D1 f($a - 1)} }} f(3)", FIVE, "3 2 1 none"),
        (32, "{{ f(a) g($a + 1) $a }} {{ g(a) $a }} f(1)", FIVE, "0002 0001"),
        (32, "\"a\" nofun(X1) \"b\"", FIVE, "a<NO FUNCTION nofun>"),
        (32, "{{ f() f() }} f() \"never\"", FIVE, "<TEMPLATE NESTING>"),
        // The last definition applies everywhere.
        (32, "{{ f() \"1\" }} f() {{ f() \"2\" }} f()", FIVE, "22"),
    ]);
    let two = "0AA 1.0 \"@\" far(7)\n0AB 1.0 {{ far(n) \"far \" $n }}";
    assert_eq!(formatted(32, two, FIVE, &EventContext::default()), "far 0007");
}

#[test]
fn subroutines_share_the_pointer_and_macros() {
    let shown = |file: &str| formatted(32, file, FIVE, &EventContext::default());
    assert_eq!(shown("0AA 1.0 \"@\" $0AB X1\n0AB 1.0 L=SVC \"label\" X1"), "00 42");
    assert_eq!(
        shown("0AA 1.0 \"@\" {{ $x = 1 }} $0AB $x\n0AB 1.0 \"@\" $x {{ $x = 2 }}"),
        "0001 0002"
    );
    // Ids with four digits, and ids whose digits form a word.
    assert_eq!(shown("0AA 1.0 \"@\" $bad $face\nBAD 1.0 \"@\" \"b\"\nFACE 1.0 \"@\" \"f\""), "bf");
    assert_eq!(shown("0AA 1.0 \"@\" $0AB0\n0AB 1.0 \"@\" \"same\""), "same");
    assert_eq!(shown("0AA 1.0 \"@\" {{ $bad = 3 }} $bad\nBAD 1.0 \"@\" \"b\""), "0003");
    assert_eq!(shown("0AA 1.0 \"@\" \"a\" $0FE \"never\""), "a<NO TEMPLATE 0FE>");
    assert_eq!(shown("0AA 1.0 \"@\" $12FE"), "<NO TEMPLATE 12FE>");
    // No built-in macro has a name of three hexadecimal digits; D1 has two.
    assert_eq!(shown("0AA 1.0 \"@\" $D1"), "0001");
}

#[test]
fn templates_nest_ten_deep() {
    let chain = |depth: usize| {
        let calls =
            (0..depth).map(|n| format!("{:03X} 1.0 \"@\" \"{n}\" ${:03X}\n", 0xAA + n, 0xAB + n));
        calls.chain([format!("{:03X} 1.0 \"@\" \"end\"\n", 0xAA + depth)]).collect::<String>()
    };
    let shown = |depth| formatted(32, &chain(depth), FIVE, &EventContext::default());
    assert_eq!(shown(10), "0123456789end");
    assert_eq!(shown(11), "012345678910<TEMPLATE NESTING>");
}

#[test]
fn switches_compare_in_the_radix_of_their_value() {
    check(&[
        (32, "X2, 42 \"hex\"", FIVE, "hex"),
        (32, "U2, 42 \"no\", 66 \"decimal\"", FIVE, "decimal"),
        (32, "o2, 102 \"octal\"", FIVE, "octal"),
        (32, "O1.6 B0.2, 10 \"binary\"", FIVE, "binary"),
        (32, "E2, 66 \"decimal\"", FIVE, "decimal"),
        (32, "HB, 10 \"ten\"", "0AA0000A 00000000 00000000", "ten"),
        (32, "$HD, 66 \"decimal\", 42 \"no\"", FIVE, "decimal"),
        (32, "$HD, 2A \"hex\"", "0AA1002A", "hex"),
        (32, "$HD%X2, 42 \"hex\"", FIVE, "hex"),
        (32, "U2, 0x42 \"hex\"", FIVE, "hex"),
        (32, "D2, -1 \"minus\"", "0AA1FFFF", "minus"),
        (32, "X2, -1 \"minus\"", "0AA1FFFF", "minus"),
        (32, "D2, 65535 \"same\"", "0AA1FFFF", "same"),
        (32, "X1, 142 \"modulo\"", "0AA14200", "modulo"),
        (32, "G4 A4, \"ab\" \"text\"", "0AA20000 61620000", "text"),
        (32, "A0, 41 \"code\"", "0AA14100", "code"),
        (32, "G4 A4, \"ab\" \"no\", \\* \"other\"", "0AA20000 61626300", "other"),
        (32, "X1, A0 \"a\", B1 \"b\"", "0AA1B100", "b"),
        // The pointer moves even if nothing matches. Only the first match runs.
        (32, "X1, 99 \"no\" X1", FIVE, "42"),
        (32, "X1, 0 \"1\", 0 \"2\", \\* \"3\" X1", FIVE, "142"),
        (32, "X1, 0 {X1, 42 {\"in\" G4 X4}} \"|\"", FIVE, "in00000001 |"),
        (32, "X1, 0 { } \"|\"", FIVE, "|"),
    ]);
}

#[test]
fn loops_and_flags() {
    check(&[
        (32, "G4 LOOP U4 {X1} \"|\"", "0AA60000 00000002 0A0B0C0D", "0A 0B |"),
        (32, "{{ $n = 0 }} LOOP $n {\"x\"} \"|\"", FIVE, "|"),
        (32, "{{ $n = -3 }} LOOP $n {\"x\"} \"|\"", FIVE, "|"),
        (32, "{{ $n = 2 }} LOOP $n {\"a\" LOOP $n {\"b\"}} \"|\"", FIVE, "abbabb|"),
        // The loop evaluates its count once.
        (32, "{{ $n = 3 }} LOOP $n {\"x\" {{ $n = 9 }}} \"|\"", FIVE, "xxx|"),
        (32, "{{ $n = 99 }} LOOP $n {X1} \"|\"", "0AA10102", "01 02 <TRUNCATED>"),
        (32, "BITFLAGS X2, 2 \"two\", 40 \"forty\", 80 \"no\"", FIVE, "twoforty"),
        (32, "BITFLAGS X2 2 \"two\" 1 \"one\" \"none\" 42 \"both\"", FIVE, "twononeboth"),
        (32, "BITFLAGS X2, 0 \"zero\" \"some\"", FIVE, "some"),
        (32, "BITFLAGS X2, 0 \"zero\" \"some\"", "0AA10000", "zero"),
        (32, "BITFLAGS X2, & F0 40 \"forty\", & 0F 3 \"three\" \"other\"", FIVE, "fortyother"),
        (32, "BITFLAGS o2, 40 \"plain\", 0x40 \"hex\"", FIVE, "plainhex"),
        (32, "BITFLAGS U2, 40 \"hex\"", FIVE, "hex"),
        (32, "BITFLAGS $HD, F \"no\", 42 \"yes\", \"next\"", FIVE, "yesnext"),
    ]);
}

#[test]
fn loops_end_at_65536_turns_with_a_mark() {
    let turns = |n: u32| {
        described(
            32,
            &format!("{{{{ $n = {n} $i = 0 }}}} LOOP $n {{ {{{{ $i = $i + 1 }}}} }} $i%U4"),
            FIVE,
        )
    };
    assert_eq!(turns(65_536), "65536");
    assert_eq!(turns(65_537), "<LOOP LIMIT>65536");
}

#[test]
fn the_cost_of_an_event_is_limited() {
    let (bytes, mut machine) = (bytes(FIVE), Machine::default());
    let entry = Entry::hook32(&bytes).unwrap();
    let mut end = |body: &str| {
        let program = program(&format!("0AA 1.0 \"@\" {{{{ $n = 65536 }}}} {body}"));
        let text = machine.format(&program, &entry, &EventContext::default()).text();
        assert!(text.len() < 3 << 20, "{}", text.len());
        text[text.rfind('<').unwrap()..].to_owned()
    };
    assert_eq!(end("LOOP $n { LOOP $n { } }"), "<STEP LIMIT>");
    let long = "x".repeat(100);
    assert_eq!(end(&format!("LOOP $n {{ \"{long}\" }}")), "<OUTPUT LIMIT>");
    assert_eq!(
        end("{{ f() LOOP $n { \"0123456789012345678901234567890\" } }} f()"),
        "<OUTPUT LIMIT>"
    );
    assert_eq!(machine.marks().limits, 3);
}

#[test]
fn timers_run_from_one_event_to_a_later_one() {
    let program = program(
        "0AA 1.0 \"@\" STARTTIMER($D1, 1 + 1)\n0AB 1.0 \"@\" \"t\" endtimer($D1, 2) ENDTIMER(9, 9)",
    );
    let (start, end) = (bytes("0AA20000 00000005"), bytes("0AB20000 00000005"));
    let mut machine = Machine::default();
    let mut at = |bytes: &[u8], time_ns| {
        let around = EventContext { time_ns, ..EventContext::default() };
        machine.format(&program, &Entry::hook32(bytes).unwrap(), &around).text()
    };
    assert_eq!(at(&end, 500), "t");
    assert_eq!(at(&start, 1_000), "");
    assert_eq!(at(&start, 2_000), "");
    assert_eq!(at(&end, 45_999), "t[43 usec]");
    // The previous event ended the timer.
    assert_eq!(at(&end, 50_000), "t");
}

#[test]
fn a_timer_is_known_by_both_of_its_numbers() {
    let program = program(
        "0AA 1.0 \"@\" STARTTIMER(1, 2)\n\
         0AB 1.0 \"@\" ENDTIMER(2, 1) ENDTIMER(1, 1) ENDTIMER(2, 2) ENDTIMER(0, 0) \"t\" ENDTIMER(1, 2)",
    );
    let mut machine = Machine::default();
    let mut at = |text: &str, time_ns| {
        let (bytes, around) = (bytes(text), EventContext { time_ns, ..EventContext::default() });
        machine.format(&program, &Entry::hook32(&bytes).unwrap(), &around).text()
    };
    assert_eq!(at("0AA20000 00000005", 1_000), "");
    // The next event calls `ENDTIMER` five times. Only the last call has the two numbers of
    // `STARTTIMER` in the same order.
    assert_eq!(at("0AB20000 00000005", 9_000), "t[8 usec]");
    assert_eq!(at("0AB20000 00000005", 10_000), "t");
}

#[test]
fn actions_end_the_event_the_report_or_nothing() {
    let bytes = bytes(FIVE);
    let entry = Entry::hook32(&bytes).unwrap();
    let run = |file: &str| {
        let mut machine = Machine::default();
        let lines = machine.format(&program(file), &entry, &EventContext::default());
        (lines.text(), lines.outcome())
    };
    let of = |text: &str, outcome| (text.to_owned(), outcome);
    assert_eq!(run("0AA 1.0 \"@\" \"a\" $BREAK \"b\""), of("a", Outcome::Shown));
    assert_eq!(run("0AA 1.0 \"@\" \"a\" $STOP \"b\""), of("a", Outcome::Stop));
    assert_eq!(run("0AA 1.0 \"@\" $SKIP \"b\"").1, Outcome::Skipped);
    // Inside a subroutine, `$BREAK` ends the whole event.
    assert_eq!(
        run("0AA 1.0 \"@\" $0AB \"b\"\n0AB 1.0 \"s\" \"s\" $BREAK"),
        of("s", Outcome::Shown)
    );
    let default = "0AA 1.0 \"@\" X1 $DEFAULT\n008 1.0 \"label\" \"<\" X1 \">\"";
    assert_eq!(run(default), of("00 <42 >", Outcome::Shown));
}

#[test]
fn line_ends_tabs_and_columns() {
    check(&[
        (32, "\"a\" \\n \"b\" \\n", FIVE, "a\nb\n"),
        (32, "\"a\\nb  \" \\n X2", FIVE, "a\nb\n0042"),
        (32, "\"a\" \\t \"b\" \\t \"c\"", FIVE, "a       b       c"),
        (32, "\"12345678\" \\t \"b\"", FIVE, "12345678        b"),
        (32, "\"1234567\\tb\"", FIVE, "1234567 b"),
        (32, "\\t X2 \\n \\t \"b\"", FIVE, "        0042\n        b"),
        (32, "$RELLINENO \\n $RELLINENO \\n\\n $RELLINENO", FIVE, "0001\n0002\n\n0004"),
        (32, "\"say \\\"hi\\\" \\\\\"", FIVE, "say \"hi\" \\"),
    ]);
    let columns = |file: &str| -> Vec<_> {
        let bytes = bytes(FIVE);
        let mut machine = Machine::default();
        let entry = Entry::hook32(&bytes).unwrap();
        let lines = machine.format(&program(file), &entry, &EventContext::default());
        lines
            .iter()
            .map(|(level, line)| (level, String::from_utf8_lossy(line).into_owned()))
            .collect()
    };
    let line = |level, text: &str| (level, text.to_owned());
    assert_eq!(
        columns("0AA 1.0 L=SVC \"@\" \"a\" L=INT \"b\" \\n \"c\" \\n \"d\""),
        [line(Level::Svc, "ab"), line(Level::Int, "c"), line(Level::Int, "d")]
    );
    // Without L=, the level is KERN, the level of the kernel. The level of a subroutine has no
    // effect.
    assert_eq!(
        columns("0AA 1.0 \"a\" $0AB\n0AB 1.0 L=APPL \"x\" \"b\""),
        [line(Level::Kern, "a b")]
    );
}

#[test]
fn heads_of_stanzas() {
    let shown = |file: &str| formatted(32, file, FIVE, &EventContext::default());
    assert_eq!(shown("0AA 1.0 \"two words\" \"x\""), "two words x");
    assert_eq!(shown("0aa 1.0 word \"x\""), "word x");
    assert_eq!(shown("0AA0 1.0 L=APPL label"), "label");
    assert_eq!(shown("0AA 1.0 \"@hidden\" \"x\""), "x");
    assert_eq!(shown("0AA 1.0 X2"), "0042");
    assert_eq!(shown("# c\n\n  # c\n0AA 1.0 \"@\" \\  \n  \"a\" \\\n\\\n \"#b\""), "a#b");
    assert_eq!(shown("0AA 1.0 \"@\" \"one \\\n  two\""), "one    two");
    assert_eq!(shown("0AA 1.0 \"@\" \"a\" \\"), "a");
    // If two templates have the same id, the last in the file is used. A version is not a decimal
    // fraction.
    assert_eq!(shown("0AA 1.10 \"first\"\n0AA 1.9 \"last\""), "last");
    assert_eq!(program("0AA 1.10 \"@a\" X2").templates().next().unwrap().label, "a");
}

#[test]
fn a_stanza_with_a_mistake_formats_as_if_it_were_not_there() {
    let source = tracewell::template::Source::new("x", "0AA 1.0 \"@\" X99\n0AB 1.0 \"ok\"");
    let compiled = tracewell::template::Program::of(&[source]);
    assert!(!compiled.is_valid());
    let bytes = bytes(FIVE);
    let entry = Entry::hook32(&bytes).unwrap();
    let text =
        Machine::default().format(&compiled.program, &entry, &EventContext::default()).text();
    assert_eq!(text, "UNDEFINED TRACE ID 0AA hookword 0AA60042");
}

#[test]
fn events_without_a_template() {
    let shown = |bits, file: &str, hex: &str| formatted(bits, file, hex, &EventContext::default());
    let undefined = "UNDEFINED TRACE ID 0AB hookword 0AB10042";
    assert_eq!(shown(32, "0AA 1.0 \"a\"", "0AB10042"), undefined);
    let undefined = "UNDEFINED TRACE ID 12AB hookword 8000000012AB0042";
    assert_eq!(shown(64, "0AA 1.0 \"a\"", "8000000012AB0042"), undefined);
    assert_eq!(shown(32, "007 1.0 \"@\" \"none \" X2", "0AB10042"), "none 0042");
    assert_eq!(shown(32, "004 1.0 \"zero\" X2", "00010042"), "zero 0042");
    // Without template 004, an event with id 000 has no template.
    assert_eq!(shown(32, "0AA 1.0 \"a\"", "00010042"), "UNDEFINED TRACE ID 000 hookword 00010042");
}

#[test]
fn data_that_is_not_there_ends_the_event_at_its_place() {
    check(&[
        (32, "\"a\" X2 \"b\" X1 \"c\"", "0AA10042", "a0042 b<TRUNCATED>"),
        (32, "X3", "0AA10042", "<TRUNCATED>"),
        (32, "O2 B0.1", "0AA10042", "<TRUNCATED>"),
        (32, "G3.4 B0.4 B0.1", "0AA10042", "0010 <TRUNCATED>"),
        (32, "$D1 \"x\"", "0AA10042", "<TRUNCATED>"),
        (32, "$D1%X1 \"x\"", "0AA10042", "<TRUNCATED>"),
        (32, "U4, 1 \"x\"", "0AA10042", "<TRUNCATED>"),
        (32, "O99 \"out \" G2 X2", "0AA10042", "out 0042"),
    ]);
}
