//! Compares the events of single streams with the elements that yactfr finds in them, for the
//! cases of its test suite.

mod support;

use std::path::Path;

use serde_json::Value;
use support::{settings, shared};
use tracewell::input::Input;
use tracewell::model::values::ListItem;
use tracewell::model::{ArgumentValue, Event, LossCause};

/// The value of a field that contains no other fields.
#[derive(Clone, PartialEq, Debug)]
enum Leaf {
    /// The 64 bits of a number.
    Number(u64),
    Fraction(f64),
    Text(Vec<u8>),
    Bytes(Vec<u8>),
}

/// An event: its name, the value of the clock, the values of its payload and contexts, and the
/// values of the packet's context.
#[derive(PartialEq, Debug, Default)]
struct Found {
    name: String,
    clock: Option<u64>,
    values: Vec<Leaf>,
    of_packet: Vec<Leaf>,
}

/// A reason why the result differs from yactfr's, and the cases to which it applies.
type Disagreement = (&'static str, &'static [&'static str]);

/// The cases in which this program reports damage and yactfr does not.
const DAMAGED: &[Disagreement] = &[
    (
        "without stream classes, packets contain no events, so a file of packets cannot be valid",
        &[
            "ctf-1/pass-diff-magic",
            "ctf-1/pass-diff-uuid",
            "ctf-1/pass-no-ers-no-dst-id-fl-ints",
            "ctf-2/pass-diff-uuid",
            "ctf-2/pass-no-ers-no-dst-id-fl-ints",
        ],
    ),
    (
        "the magic number is not that of CTF; yactfr leaves the comparison to its caller",
        &["ctf-2/pass-dt-aliases"],
    ),
    ("a keyword is not a valid name of a field", &["ctf-1/pass-odd-fl-enums"]),
];

/// Reads yactfr's elements. Returns the complete events, and the reason why the last packet ends
/// early, if it does.
fn elements(text: &str, is_wide: bool) -> (Vec<Found>, Option<String>) {
    let mut events = Vec::new();
    // The names of the open elements, and the values of each scope.
    let (mut open, mut scopes) = (Vec::new(), vec![Vec::new(); 6]);
    let (mut event, mut clock, mut scope) = (Found::default(), None, 0);
    let mut bytes = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (_, element) = line.trim_start().split_once(' ').unwrap_or((line, ""));
        let element = element.trim();
        if element == "}" {
            match open.pop().unwrap() {
                "NTS" | "SLS" | "DLS" => {
                    let mut text = std::mem::take(&mut bytes);
                    if is_wide {
                        text.retain(|byte| *byte != 0);
                    }
                    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
                    scopes[scope].push(Leaf::Text(text[..end].to_vec()));
                }
                "SLB" | "DLB" => {
                    let digits = String::from_utf8(std::mem::take(&mut bytes)).unwrap();
                    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
                    let blob = (0..digits.len()).step_by(2).map(byte).collect();
                    scopes[scope].push(Leaf::Bytes(blob));
                }
                "ER" => {
                    let values = [5, 4, 3].map(|scope| std::mem::take(&mut scopes[scope]));
                    let values = values.concat();
                    let of_packet = scopes[1].clone();
                    let name = std::mem::take(&mut event.name);
                    events.push(Found { name, clock, values, of_packet });
                }
                _ => {}
            }
            continue;
        }
        let kind = element.split([':', ' ']).next().unwrap();
        let last = || element.rsplit(':').next().unwrap();
        let number =
            |text: &str| text.parse().or_else(|_| text.parse().map(i64::cast_unsigned)).unwrap();
        match kind {
            "P" => scopes.iter_mut().for_each(Vec::clear),
            "SC" => scope = element[3..4].parse().unwrap(),
            "ERI" => event.name = element.split_once('#').unwrap_or_default().1.to_owned(),
            "DCV" => clock = Some(number(last())),
            "RD" => bytes.extend(unescaped(element.splitn(3, ':').nth(2).unwrap())),
            "FLUI" | "FLSI" | "VLUI" | "VLSI" | "FLBA" | "FLB" => {
                scopes[scope].push(Leaf::Number(number(last())));
            }
            "FLBM" => {
                let value = element.split(':').find_map(|part| part.parse().ok());
                scopes[scope].push(Leaf::Number(value.unwrap()));
            }
            "FLFPN" => scopes[scope].push(Leaf::Fraction(last().parse().unwrap())),
            "PC" | "ER" | "ST" | "SLA" | "DLA" | "VU" | "VS" | "OB" | "OU" | "OS" | "NTS"
            | "SLS" | "DLS" | "SLB" | "DLB" | "PI" | "PMN" | "MSU" | "DSI" => {}
            _ => return (events, Some(element.to_owned())),
        }
        if element.ends_with('{') {
            open.push(kind);
        }
    }
    (events, None)
}

/// Returns the bytes of a text in which a dollar sign and two digits stand for one byte.
fn unescaped(text: &str) -> Vec<u8> {
    let mut parts = text.split('$');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend(&part.as_bytes()[2..]);
    }
    bytes
}

fn leaves(value: ArgumentValue<'_>, out: &mut Vec<Leaf>) {
    match value {
        ArgumentValue::Unsigned(number)
        | ArgumentValue::Hex(number)
        | ArgumentValue::Enum(number, _) => out.push(Leaf::Number(number)),
        ArgumentValue::Signed(number) => out.push(Leaf::Number(number.cast_unsigned())),
        ArgumentValue::Bool(value) => out.push(Leaf::Number(value.into())),
        ArgumentValue::Float(value) => out.push(Leaf::Fraction(value)),
        ArgumentValue::Text(text) => out.push(Leaf::Text(text.to_vec())),
        ArgumentValue::Bytes(bytes) => out.push(Leaf::Bytes(bytes.to_vec())),
        ArgumentValue::Nested(items) => out.extend(items.into_iter().filter_map(|item| {
            Some(match item {
                ListItem::Signed(number, _) => Leaf::Number(number.cast_unsigned()),
                ListItem::Unsigned(number, _) | ListItem::Hex(number, _) => Leaf::Number(number),
                ListItem::Float(bits) => Leaf::Fraction(f64::from_bits(bits)),
                ListItem::Text(text) => Leaf::Text(text.to_vec()),
                ListItem::Bytes(bytes) => Leaf::Bytes(bytes.to_vec()),
                _ => return None,
            })
        })),
        value => panic!("{value:?}"),
    }
}

/// Reads a trace. Returns the events, and an error if the trace cannot be read completely.
fn read(folder: &Path) -> (Vec<Found>, Option<String>) {
    let mut events = Vec::new();
    let add = |event: Event<'_>| {
        let mut values = Vec::new();
        event.args().for_each(|(_, value)| leaves(value, &mut values));
        let (name, clock) = (event.kind().name.clone(), Some(event.ticks()));
        events.push(Found { name, clock, values, of_packet: Vec::new() });
    };
    let trace = Input::open(folder, settings(&[])).and_then(|mut input| input.for_each(add));
    let trace = match trace {
        Ok(trace) => trace,
        Err(error) => return (events, Some(error.to_string())),
    };
    let mut losses = trace.losses.iter();
    let is_damaged = losses.any(|(cause, _)| cause == LossCause::Damaged);
    let mut messages = trace.diagnostics.iter().map(|diagnostic| diagnostic.message.clone());
    let damage = is_damaged.then(|| messages.next().unwrap_or_default());
    (events, damage)
}

/// Returns true if the values are equal. Numbers with a fraction have only six digits in yactfr's
/// elements.
fn are_equal(found: &[Leaf], expected: &[Leaf]) -> bool {
    found.len() == expected.len()
        && found.iter().zip(expected).all(|pair| match pair {
            (Leaf::Fraction(found), Leaf::Fraction(expected)) => {
                (found - expected).abs() <= 1e-5 * expected.abs()
            }
            (found, expected) => found == expected,
        })
}

/// Returns true if all of the values are among the expected ones, in the same order. The numbers
/// that describe a packet are not arguments of its events.
fn are_among(found: &[Leaf], expected: &[Leaf]) -> bool {
    let mut expected = expected.iter();
    found.iter().all(|value| expected.any(|other| value == other))
}

#[test]
fn the_streams_of_a_public_test_suite_agree() {
    let Some(shared) = shared() else { return };
    let cases = std::fs::read_to_string(shared.join("data/ctf/cases/streams.jsonl")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (mut cases_read, mut events, mut damaged) = (0, 0, Vec::new());
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| case[key].as_str().unwrap();
        let (name, stream) = (text("name"), text("stream"));
        let byte = |at| u8::from_str_radix(&stream[at..at + 2], 16).unwrap();
        let stream: Vec<u8> = (0..stream.len()).step_by(2).map(byte).collect();
        std::fs::write(folder.path().join("metadata"), text("metadata")).unwrap();
        std::fs::write(folder.path().join("stream"), stream).unwrap();
        let (expected, reason) = elements(text("elements"), name.contains("-utf-"));
        let (found, damage) = read(folder.path());
        cases_read += 1;
        if damage.is_some() && reason.is_none() {
            damaged.push(name.to_owned());
            continue;
        }
        assert_eq!(damage.is_some(), reason.is_some(), "{name}: {damage:?}, {reason:?}");
        assert_eq!(found.len(), expected.len(), "{name}: {damage:?}, {reason:?}");
        // If a clock goes back, times continue from the previous event.
        let clocks: Vec<_> = expected.iter().filter_map(|event| event.clock).collect();
        let first = clocks.first().copied().filter(|_| clocks.is_sorted());
        for (found, expected) in found.iter().zip(&expected) {
            let place = format!("{name}: {found:?}, {expected:?}");
            if !expected.name.is_empty() {
                assert_eq!(found.name, expected.name, "{place}");
            }
            let own = expected.values.len();
            assert!(found.values.len() >= own, "{place}");
            assert!(are_equal(&found.values[..own], &expected.values), "{place}");
            assert!(are_among(&found.values[own..], &expected.of_packet), "{place}");
            if let (Some(clock), Some(first)) = (expected.clock, first) {
                assert_eq!(found.clock, Some(clock - first), "{place}");
            }
            events += 1;
        }
    }
    assert_eq!(cases_read, 109);
    assert!(events > 120, "{events}");
    let mut expected: Vec<_> = DAMAGED.iter().flat_map(|(_, names)| *names).copied().collect();
    expected.sort_unstable();
    damaged.sort();
    assert_eq!(damaged, expected);
}
