//! Decides whether an event matches a query, as `page/matching.js` does on the page.
//! `docs/viewing.md` defines what matches; `page/test/matching.json` contains cases that both pass.
//!
//! A query has one or more terms with ` & ` between them, and an event must match all of them.

use crate::model::{Event, Trace};
use crate::text::{Describer, TextBuffer};

/// The texts of an event that a query can match.
#[derive(Debug)]
struct Parts<'a> {
    number: u64,
    id: u32,
    name: &'a str,
    label: &'a str,
    /// The name and the key of the context; empty if the event has no context.
    context: &'a str,
    key: &'a str,
    arguments: &'a str,
}

/// The part of an event in which a term looks for its text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Field {
    Any,
    Context,
    Event,
    Object,
}

#[derive(Debug)]
struct Term {
    field: Field,
    /// In lower case.
    text: String,
    /// True if the text must equal the whole of a name or value.
    is_exact: bool,
    /// The number that the text names.
    number: Option<Number>,
    /// Names of the contexts and objects with this number as their key, in lower case.
    names: Vec<String>,
}

/// A number: true if it is negative, and its magnitude.
type Number = (bool, u128);

/// A query for events. Ignores the case of letters.
#[derive(Debug)]
pub(super) struct Matcher {
    terms: Vec<Term>,
    /// Number of contexts and objects whose names the terms know.
    known: (usize, usize),
    describer: Describer,
    buffer: TextBuffer,
}

impl Matcher {
    /// Parses a query. No event matches an empty query.
    pub(super) fn new(query: &str) -> Self {
        let terms = query.split(" & ").map(|part| Term::new(&part.trim().to_lowercase()));
        Self {
            terms: terms.filter(|term| !term.text.is_empty()).collect(),
            known: (0, 0),
            describer: Describer::default(),
            buffer: TextBuffer::default(),
        }
    }

    /// Looks up the contexts and objects whose keys the query names. Call this for each batch,
    /// because a trace can add contexts and objects.
    pub(super) fn learn(&mut self, trace: &Trace) {
        let known = (trace.contexts.len(), trace.objects.len());
        if known == self.known {
            return;
        }
        self.known = known;
        let contexts = trace.contexts.iter().map(|(_, context)| (context.key, &context.name));
        let objects = trace.objects.iter().map(|(_, object)| (object.key, &object.label));
        let named: Vec<_> = contexts.chain(objects).collect();
        for term in &mut self.terms {
            term.learn(named.iter().map(|(key, name)| (*key, name.as_str())));
        }
    }

    pub(super) fn matches(&mut self, event: Event<'_>) -> bool {
        self.buffer.truncate(0);
        self.describer.put(&mut self.buffer, event);
        let arguments = self.buffer.as_text();
        let context = event.context();
        self.matches_parts(&Parts {
            number: event.seq(),
            id: event.id(),
            name: &event.kind().name,
            label: &event.trace.schema.label(event.id()),
            context: context.map_or("", |context| &context.name),
            key: context.map_or("", |context| &context.key_text),
            arguments: &arguments,
        })
    }

    fn matches_parts(&self, parts: &Parts<'_>) -> bool {
        !self.terms.is_empty() && self.terms.iter().all(|term| term.matches(parts))
    }
}

impl Term {
    /// Parses a term. `part` is in lower case.
    fn new(part: &str) -> Self {
        let fields =
            [("context:", Field::Context), ("event:", Field::Event), ("object:", Field::Object)];
        let of = |(name, field)| part.strip_prefix(name).map(|rest| (field, rest.trim()));
        let (field, rest) = fields.into_iter().find_map(of).unwrap_or((Field::Any, part));
        let inner = rest.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let inner = inner.filter(|inner| !inner.is_empty());
        let text = inner.unwrap_or(rest).to_owned();
        let number = number_in(&text);
        Self { field, text, is_exact: inner.is_some(), number, names: Vec::new() }
    }

    fn learn<'a>(&mut self, named: impl Iterator<Item = (u64, &'a str)>) {
        let Some((false, number)) = self.number else { return };
        let named = named.filter(|(key, _)| u128::from(*key) == number);
        self.names = named.map(|(_, name)| name.to_lowercase()).collect();
    }

    fn accepts(&self, candidate: &str) -> bool {
        if self.is_exact {
            candidate.to_lowercase() == self.text
        } else {
            contains(candidate, &self.text)
        }
    }

    fn is(&self, number: u64) -> bool {
        self.number == Some((false, u128::from(number)))
    }

    fn matches(&self, parts: &Parts<'_>) -> bool {
        let looks_in = |field| self.field == Field::Any || self.field == field;
        let has_number = || self.field == Field::Any && self.is(parts.number);
        let has_event = || {
            let is_named = self.accepts(parts.name) || self.accepts(parts.label);
            is_named || self.is(parts.id.into())
        };
        let has_context = || {
            let is_named = self.accepts(parts.context) || self.accepts(parts.key);
            is_named || (self.number.is_some() && self.number == number_in(parts.key))
        };
        has_number()
            || (looks_in(Field::Event) && has_event())
            || (looks_in(Field::Context) && has_context())
            || (looks_in(Field::Object) && self.matches_arguments(parts.arguments))
    }

    fn matches_arguments(&self, arguments: &str) -> bool {
        if self.field == Field::Any && !self.is_exact && self.accepts(arguments) {
            return true;
        }
        if self.number.is_some() && has_number(&arguments.to_lowercase(), self.number) {
            return true;
        }
        let is_whole = self.field != Field::Any || self.is_exact;
        values(arguments).any(|value| {
            self.names.contains(&value.to_lowercase()) || (is_whole && self.accepts(value))
        })
    }
}

/// Returns true if a text contains another one, which is in lower case. Ignores the case of
/// letters.
fn contains(text: &str, wanted: &str) -> bool {
    if !text.is_ascii() {
        return text.to_lowercase().contains(wanted);
    }
    // Most texts are ASCII. A copy in lower case would take more time than the comparison.
    let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
    wanted.is_empty() || text.windows(wanted.len()).any(|part| part.eq_ignore_ascii_case(wanted))
}

/// Returns the values of arguments in the text `name=value, name=value`. A value may contain
/// commas.
fn values(arguments: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(arguments).filter(|text| !text.is_empty());
    let arguments = std::iter::from_fn(move || {
        let text = rest?;
        let begins = |at: &usize| {
            let next = &text[at + 2..];
            let name = next.find(['=', ',']).filter(|end| *end > 0);
            name.is_some_and(|end| next.as_bytes()[end] == b'=')
        };
        let end = text.match_indices(", ").map(|(at, _)| at).find(begins);
        rest = end.map(|at| &text[at + 2..]);
        Some(end.map_or(text, |at| &text[..at]))
    });
    arguments.map(|argument| argument.split_once('=').map_or(argument, |(_, value)| value))
}

/// Returns the number that a text in lower case is: decimal, decimal in groups of three digits, or
/// hexadecimal.
fn number_in(text: &str) -> Option<Number> {
    let text = text.trim().to_lowercase();
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, &*text), |rest| (true, rest));
    let magnitude = if let Some(digits) = digits.strip_prefix("0x") {
        parsed(digits, 16)
    } else if digits.contains(',') {
        let mut groups = digits.split(',');
        let is_first = groups.next().is_some_and(|group| (1..=3).contains(&group.len()));
        let is_grouped = is_first && groups.all(|group| group.len() == 3);
        if is_grouped { parsed(&digits.replace(',', ""), 10) } else { None }
    } else {
        parsed(digits, 10)
    }?;
    Some((is_negative && magnitude > 0, magnitude))
}

/// Parses digits without a sign.
fn parsed(digits: &str, radix: u32) -> Option<u128> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    u128::from_str_radix(digits, radix).ok().filter(|_| is_plain)
}

/// Returns true if a text in lower case contains a number as a word of its own.
fn has_number(text: &str, number: Option<Number>) -> bool {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = 0;
    while at < bytes.len() {
        let end = at + bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
        if end == at {
            at += 1;
            continue;
        }
        let before = at.checked_sub(1).map(|before| bytes[before]);
        // The digits before and after a decimal point are not numbers of their own.
        let is_fraction = before == Some(b'.') || (bytes.get(end) == Some(&b'.') && digit(end + 1));
        if bytes[at].is_ascii_digit() && !is_fraction {
            // A dash after a word is not a sign.
            let earlier = at.checked_sub(2).map(|earlier| bytes[earlier]);
            let is_sign = !earlier.is_some_and(|byte| is_word(byte) || byte == b'.');
            let start = if before == Some(b'-') && is_sign { at - 1 } else { at };
            if number_in(&text[start..end]) == number {
                return true;
            }
        }
        at = end;
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// The cases that the page passes, too.
    const CASES: &str = include_str!("../../../page/test/matching.json");

    #[test]
    fn queries_match_the_same_events_on_the_page_and_in_the_server() {
        let cases: Value = serde_json::from_str(CASES).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let named: Vec<_> = cases["named"].as_array().unwrap().iter().collect();
        for case in cases["cases"].as_array().unwrap() {
            let query = text(&case[0]);
            let mut matcher = Matcher::new(&query);
            for term in &mut matcher.terms {
                let key = |value: &Value| number_in(value.as_str().unwrap()).unwrap().1 as u64;
                let named = named.iter().map(|pair| (key(&pair[0]), pair[1].as_str().unwrap()));
                term.learn(named);
            }
            let events = cases["events"].as_object().unwrap().iter();
            let found = events.filter(|(_, event)| {
                matcher.matches_parts(&Parts {
                    number: event["number"].as_u64().unwrap(),
                    id: event["id"].as_u64().unwrap() as u32,
                    name: &text(&event["name"]),
                    label: &text(&event["label"]),
                    context: &text(&event["context"]),
                    key: &text(&event["key"]),
                    arguments: &text(&event["arguments"]),
                })
            });
            let mut found: Vec<_> = found.map(|(name, _)| name.clone()).collect();
            let mut expected: Vec<_> = case[1].as_array().unwrap().iter().map(text).collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{query}");
        }
    }

    #[test]
    fn texts_are_compared_without_the_case_of_letters() {
        for (text, wanted) in
            [("TX_Mutex", "mutex"), ("Zähler", "zähler"), ("ÄRGER", "ärg"), ("", "")]
        {
            assert!(contains(text, wanted), "{text}: {wanted}");
        }
        for (text, wanted) in [("mute", "mutex"), ("plain", "ä"), ("Zähler", "zahler"), ("", "a")]
        {
            assert!(!contains(text, wanted), "{text}: {wanted}");
        }
    }

    #[test]
    fn numbers_stand_alone() {
        let number = number_in("64");
        for text in ["64", "a=64, b", "0x40", "(64)", "3-64", "64.", "x 0x00000040"] {
            assert!(has_number(text, number), "{text}");
        }
        for text in ["", "a64", "64b", "6.64", "64.5", "-64", "64_1", "0x640"] {
            assert!(!has_number(text, number), "{text}");
        }
        assert!(has_number("a=-64", number_in("-0x40")));
        assert_eq!(["1,096", "1,09", "0x", "+5", ""].map(number_in)[1..], [None; 4]);
    }
}
