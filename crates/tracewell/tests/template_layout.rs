//! Tests that the canonical form of any template text has the same meaning as the text, and is its
//! own canonical form. Texts are generated from the grammar, in many equivalent spellings.

#[path = "support/templates.rs"]
mod templates;

use proptest::prelude::*;
use proptest::strategy::Union;
use tracewell::template::{
    Entry, Environment, EventContext, Machine, Program, Source, System, layout, lint, parse,
};

/// One of these texts.
fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = String> + Clone {
    proptest::sample::select(texts).prop_map(str::to_owned)
}

fn blank() -> impl Strategy<Value = String> {
    one_of(&[" ", " ", "  ", "\t", " \\\n", " \\ \n   "])
}

/// Characters that are special in some context, and characters that never are.
fn string() -> impl Strategy<Value = String> {
    let pieces: &[&str] = &[
        "a", "é", " ", "\\n", "\\t", "\\\"", "\\\\", "{", "}", ",", "#", "$x", "%", "%A", "\\\n",
        "0AA",
    ];
    prop::collection::vec(one_of(pieces), 0..6).prop_map(|all| format!("\"{}\"", all.concat()))
}

fn code() -> impl Strategy<Value = String> {
    one_of(&[
        "X0", "X1", "X2", "X04", "X8", "X16", "XW", "D1", "D3", "D8", "DW", "U1", "U4", "UW", "o1",
        "o4", "A0", "A1", "A4", "A4.6", "A8.0", "B1", "B.3", "B2.3", "B0.9", "F4", "F8", "S0",
        "S1", "S2", "S4", "T4", "E1", "E2", "P4", "HB", "HT",
    ])
}

fn value() -> impl Strategy<Value = String> {
    let name = one_of(&[
        "x",
        "y",
        "p",
        "D1",
        "D2",
        "HD",
        "HL",
        "TID",
        "SVC",
        "nowhere",
        "DATAPOINTER",
        "12",
    ]);
    let form =
        one_of(&["", "", "%X2", "%D4", "%U1", "%o2", "%B0.4", "%A4.2", "%A2", "%E1", "%F4", "%T4"]);
    prop_oneof![code(), (name, form).prop_map(|(name, form)| format!("${name}{form}"))]
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => one_of(&["0", "1", "7", "007", "0x1F", "0XfF", "4096"]),
        1 => value(),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let sign = one_of(&["+", "-", "*", "/", " - ", " *"]);
        prop_oneof![
            (inner.clone(), sign, inner.clone()).prop_map(|(a, o, b)| format!("{a}{o}{b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            inner.prop_map(|a| format!("-{a}")),
        ]
    })
}

/// A value for a case of a switch. It is valid in every radix.
fn pattern() -> impl Strategy<Value = String> {
    prop_oneof![
        one_of(&["0", "1", "-1", "10", "0x2A", "0XFF", "-0x1", "\\*", "\"ab\"", "\"\""]),
        string(),
    ]
}

fn assignment() -> impl Strategy<Value = String> {
    let name = one_of(&["x", "y", "p", "BASEPOINTER", "DATAPOINTER", "0AC"]);
    let single = (name, expression()).prop_map(|(name, value)| format!("${name} = {value}"));
    let joined = prop::collection::vec(single, 1..4);
    (joined, one_of(&[" ", ", "])).prop_map(|(all, comma)| format!("{{{{{}}}}}", all.join(&comma)))
}

fn flags() -> impl Strategy<Value = String> {
    let test = one_of(&["0", "1", "0x4", "10", "& 7 3", "& 0x70 -1"]);
    let flag = (test, string(), prop::option::of(string()))
        .prop_map(|(test, on, off)| format!("{test} {on} {}", off.unwrap_or_default()));
    (
        value(),
        prop::collection::vec(flag, 1..4),
        one_of(&[" ", ",", " , "]),
        one_of(&["", ", \"z\""]),
    )
        .prop_map(|(value, flags, between, end)| {
            format!("bitflags {value}{between}{}{end}", flags.join(&between))
        })
}

/// A part of a description. Parts are nested at most three levels deep.
fn item() -> impl Strategy<Value = String> {
    let move_to = one_of(&["G4", "G0.3", "G.5", "O1", "O0.3", "O2.9", "R1", "R0", "W1", "W0"]);
    let leaf = prop_oneof![
        3 => string(),
        4 => value(),
        2 => move_to,
        2 => flags(),
        2 => assignment(),
        1 => one_of(&["\\n", "\\t", "L=APPL", "L = INT", "$RELLINENO", "$0AC", "$BREAK", "$SKIP"]),
        1 => (expression(), expression()).prop_map(|(a, b)| format!("f({a}, {b})")),
        1 => one_of(&["f()", "g(1)", "nofun(2)"]),
        1 => (one_of(&["STARTTIMER", "EndTimer"]), expression()).prop_map(|(n, e)| format!("{n}({e},1)")),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let body = description(inner.boxed());
        let case_body = prop_oneof![string(), body.clone().prop_map(|body| format!("{{{body}}}"))];
        let case = (pattern(), case_body).prop_map(|(pattern, body)| format!(", {pattern} {body}"));
        let definition = one_of(&["f(p, x)", "g( p )", "h()"]);
        prop_oneof![
            (value(), prop::collection::vec(case, 1..4))
                .prop_map(|(v, c)| format!("{v} {}", c.concat())),
            (one_of(&["U1", "$n", "$x%U1", "B0.3"]), body.clone())
                .prop_map(|(value, body)| format!("loop {value} {{{body}}}")),
            (definition, body).prop_map(|(head, body)| format!("{{{{ {head} {body} }}}}")),
        ]
    })
}

fn description(item: BoxedStrategy<String>) -> impl Strategy<Value = String> + Clone {
    let items = prop::collection::vec((item, one_of(&[" ", "  ", " \\\n"])), 0..5);
    items.prop_map(|items| items.into_iter().map(|(item, blank)| item + &blank).collect()).boxed()
}

fn file() -> impl Strategy<Value = String> {
    let comment = one_of(&["", "", "", "# why\n", "\n\n\n", "  #  so \n\n"]);
    let label = prop_oneof![
        Just(String::new()),
        one_of(&["\"@\"", "label", "\"two words\"", "\"@a\"", "\"\\n\"", "\"\\t\""])
    ]
    .boxed();
    let level = one_of(&["", "", "L=SVC", "L=INT"]);
    let head =
        |key| (Just(key), one_of(&["1.0", "1.10", "01.2"]), blank(), level.clone(), label.clone());
    let stanza = |key: &'static str| {
        (comment.clone(), head(key), description(item().boxed())).prop_map(
            |(comment, head, body)| {
                let (key, version, blank, level, label) = head;
                format!("{comment}{key}{blank}{version}{blank}{level}{blank}{label}{blank}{body}\n")
            },
        )
    };
    let second = Union::new([
        stanza("0ac").boxed(),
        stanza("\"a name\"").boxed(),
        stanza("event.name").boxed(),
    ]);
    (stanza("0AA"), second).prop_map(|(first, second)| first + &second)
}

/// Returns the canonical form of a text, and true if the text has no errors.
fn canonical(text: &str) -> (String, bool) {
    let source = Source::new("random.fmt", text);
    let (file, findings) = parse(&source);
    let _ = lint(&file, System::of(&file));
    let valid = findings.iter().all(|finding| !finding.is_error);
    (layout(&file), valid)
}

/// Returns the number of templates in a text, and the lines that the templates produce for the same
/// entry at two times.
fn outputs(text: &str, environment: Environment, bytes: &[u8]) -> Vec<String> {
    let program = Program::of(&[Source::new("random.fmt", text)]).program;
    let entry = Entry::hook(environment, bytes).unwrap();
    let mut machine = Machine::default();
    let templates = program.templates().len();
    let mut shown = vec![templates.to_string()];
    for time_ns in [1000, 5000] {
        let around =
            EventContext { time_ns, tid: 7, system_call: "read", ..EventContext::default() };
        let lines = machine.format(&program, &entry, &around);
        let outcome = lines.outcome();
        let lines: Vec<_> =
            lines.iter().map(|(level, line)| (level, line.escape_ascii().to_string())).collect();
        shown.push(format!("{outcome:?} {lines:?}"));
    }
    shown
}

fn same_again(text: &str, entries: &[Vec<u8>]) -> Result<(), TestCaseError> {
    let (first, valid) = canonical(text);
    prop_assert!(valid, "made a text with errors:\n{text}");
    let (second, valid) = canonical(&first);
    prop_assert!(valid, "the canonical form has errors:\n{text}\n---\n{first}");
    prop_assert_eq!(&second, &first);
    for bytes in entries {
        for environment in [Environment::Bits32, Environment::Bits64] {
            let before = outputs(text, environment, bytes);
            prop_assert_eq!(
                before,
                outputs(&first, environment, bytes),
                "{}\n---\n{}",
                text,
                first
            );
        }
    }
    Ok(())
}

/// Generates a 32-bit or 64-bit entry of hook 0AA with arbitrary data.
fn entry() -> impl Strategy<Value = Vec<u8>> {
    let head = prop_oneof![
        Just(vec![0x0A, 0xA6, 0, 0x42, 0, 0, 0, 1]),
        Just(vec![0x0A, 0xA0, 0, 0x08, 0, 0, 0, 1]),
        Just(vec![0x80, 0, 0, 0x10, 0x0A, 0xA0, 0, 2]),
    ];
    let data = prop::collection::vec(prop_oneof![any::<u8>(), 0..4_u8, b'a'..=b'c'], 0..40);
    (head, data).prop_map(|(mut head, data)| {
        head.extend(data);
        head
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        max_shrink_iters: 4096,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_canonical_form_means_the_same_and_is_its_own(
        text in file(), entries in prop::collection::vec(entry(), 1..4)
    ) {
        same_again(&text, &entries)?;
    }

    /// Parts in any order. Nearly all result in errors, but none makes the parser or the compiler
    /// panic.
    #[test]
    fn any_sequence_of_parts_is_parsed_or_refused(
        parts in prop::collection::vec(prop_oneof![
            item(), one_of(&["{", "}", "{{", "}}", ",", "\"", "\\", "\\\n", "\n", "=", "%", "$", "(", "LOOP", "0AA 1.0 "]),
        ], 0..20)
    ) {
        let text = format!("0AA 1.0 \"@\" {}", parts.join(" "));
        let (laid_out, valid) = canonical(&text);
        let _ = outputs(&text, Environment::Bits32, &[0x0A, 0xA2, 0, 1, 2, 3, 4, 5]);
        if valid {
            prop_assert_eq!(canonical(&laid_out), (laid_out.clone(), true), "{}", text);
        }
    }
}

#[test]
fn a_label_that_is_a_line_end_stays_a_label() {
    let text = "0AA 1.0 \"\\n\" X2\n";
    same_again(text, &[vec![0x0A, 0xA1, 0, 1, 0, 0, 0, 0]]).unwrap();
}

#[test]
fn long_rows_of_operands_keep_the_parentheses_that_let_them_be_read() {
    let row = |first: &str| format!("{first}{}", " + 1".repeat(63));
    let nested = row(&format!("({})", row(&format!("({})", row("1")))));
    let text = format!("0AA 1.0 \"@\" {{{{ $x = {nested} }}}} $x%U4\n");
    same_again(&text, &[vec![0x0A, 0xA1, 0, 1, 0, 0, 0, 0]]).unwrap();
    assert_eq!(templates::described(32, &text["0AA 1.0 \"@\" ".len()..], "0AA10001"), "190");
}

#[test]
fn no_line_is_wider_than_96_characters_if_it_can_be_divided() {
    // On a separate line, the case needs 11 more characters: quotes, indentation, comma, backslash.
    for length in 60..=85 {
        let text = "x".repeat(length);
        let text = format!("100 1.0 \"event\" D1, 1 \"{text}\", 2 \"b\" \"end\"\n");
        let (file, findings) = parse(&Source::new("text", text.as_str()));
        assert!(findings.is_empty(), "{findings:?}");
        let written = layout(&file);
        let widest = written.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(96), "{written}");
    }
}

#[test]
fn a_case_that_is_divided_has_two_more_spaces_at_each_level() {
    let line = |number: &str| format!("\"a text that fills much of the line, {number}\"");
    let [one, two, three] = ["one", "two", "three"].map(line);
    let text = format!(
        "100 1.0 \"event\" D1, 1 {{ {one} D2, 2 {{ {two} D4, 3 {{ {three} D4 \"more\" }} }} }}, \
         2 \"b\" \"end\"\n"
    );
    let expected = format!(
        "100 1.0 \"event\" \\\n  D1, \\\n    1 {{ \\\n      {one} \\\n      D2, \\\n        2 {{ \\\n          \
         {two} \\\n          D4, 3 {{{three} D4 \"more\"}}}}}}, \\\n    2 \"b\" \"end\"\n"
    );
    assert_eq!(canonical(&text), (expected, true));
}
