//! Decides whether an event matches a query, as `page/matching.js` does on the page.
//! `docs/viewing.md` defines what matches; `page/test/matching.json` contains cases that both pass.
//!
//! A query has one or more terms with ` & ` between them, and an event must match all of them.

use memchr::memmem::Finder;

use crate::model::{Event, SeenContexts, Trace};
use crate::text::{Describer, PerEvent, TextBuffer};

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
    /// The text, in lower case.
    text: Finder<'static>,
    /// True if the text must equal the whole of a name or value.
    is_exact: bool,
    /// The number that the text names.
    number: Option<Number>,
    /// Digits of the number, in decimal and in hexadecimal. A text that contains neither does not
    /// contain the number.
    digits: [Finder<'static>; 2],
    /// Names of the contexts and objects with this number as their key, in lower case.
    names: Vec<String>,
}

/// A number: true if it is negative, and its magnitude.
type Number = (bool, u128);

/// A query for events. Ignores the case of letters.
///
/// A large trace has few types of events and few contexts, so each of them is compared only once.
/// The arguments of an event become text only if the query needs them.
#[derive(Debug)]
pub(super) struct Matcher {
    terms: Vec<Term>,
    /// Number of contexts and objects whose names the terms know.
    known: (usize, usize),
    /// For each type of event, the terms that accept its id or a name.
    types: PerEvent<Accepted>,
    /// For each context, the terms that accept its key or name.
    contexts: Vec<Accepted>,
    seen_contexts: SeenContexts,
    describer: Describer,
    buffer: TextBuffer,
    /// The arguments of an event, in lower case.
    arguments: String,
}

/// For each term, true if it accepts a type of event or a context.
type Accepted = Box<[bool]>;

impl Matcher {
    /// Parses a query. No event matches an empty query.
    pub(super) fn new(query: &str) -> Self {
        let terms = query.split(" & ").map(|part| Term::new(&part.trim().to_lowercase()));
        Self {
            terms: terms.filter(|term| !term.text.needle().is_empty()).collect(),
            known: (0, 0),
            types: PerEvent::default(),
            contexts: Vec::new(),
            seen_contexts: SeenContexts::default(),
            describer: Describer::default(),
            buffer: TextBuffer::default(),
            arguments: String::new(),
        }
    }

    /// Looks up the names and keys of contexts and objects. Call this for each batch, because a
    /// trace can add contexts and objects.
    pub(super) fn learn(&mut self, trace: &Trace) {
        let terms = &self.terms;
        trace.contexts.update(&mut self.contexts, &mut self.seen_contexts, |_, context| {
            terms
                .iter()
                .map(|term| term.accepts_context(&context.name, &context.key_text))
                .collect()
        });
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
        let terms = &self.terms;
        let of_type = self.types.get(event.id(), || {
            let (name, label) = (&event.kind().name, event.trace.schema.label(event.id()));
            terms.iter().map(|term| term.accepts_type(event.id(), name, &label)).collect()
        });
        let of_context = self.contexts.get(event.row.context.index());
        let is_open = |(place, term): &(usize, &Term)| {
            let is_accepted = term.accepts_number(event.seq()) || of_type[*place];
            !is_accepted && of_context.is_none_or(|accepted| !accepted[*place])
        };
        let mut open = terms.iter().enumerate().filter(is_open).peekable();
        if open.peek().is_none() {
            return !terms.is_empty();
        }
        if open.clone().any(|(_, term)| !term.looks_in(Field::Object)) {
            return false;
        }
        self.buffer.truncate(0);
        self.describer.put(&mut self.buffer, event);
        put_lower(&mut self.arguments, &self.buffer.as_text());
        open.all(|(_, term)| term.accepts_arguments(&self.arguments))
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
        let magnitude = number.map_or(0, |(_, magnitude)| magnitude);
        let digits = [magnitude.to_string(), format!("{magnitude:x}")];
        Self {
            field,
            text: Finder::new(&text).into_owned(),
            is_exact: inner.is_some(),
            number,
            digits: digits.map(|digits| Finder::new(&digits).into_owned()),
            names: Vec::new(),
        }
    }

    fn learn<'a>(&mut self, named: impl Iterator<Item = (u64, &'a str)>) {
        let Some((false, number)) = self.number else { return };
        let named = named.filter(|(key, _)| u128::from(*key) == number);
        self.names = named.map(|(_, name)| name.to_lowercase()).collect();
    }

    fn looks_in(&self, field: Field) -> bool {
        self.field == Field::Any || self.field == field
    }

    /// Returns true if the term accepts a text in lower case.
    fn accepts(&self, lower: &str) -> bool {
        if self.is_exact {
            lower.as_bytes() == self.text.needle()
        } else {
            self.text.find(lower.as_bytes()).is_some()
        }
    }

    fn is(&self, number: u64) -> bool {
        self.number == Some((false, u128::from(number)))
    }

    /// Returns true if the term accepts the event with this number.
    fn accepts_number(&self, number: u64) -> bool {
        self.field == Field::Any && self.is(number)
    }

    fn accepts_type(&self, id: u32, name: &str, label: &str) -> bool {
        let is_named = || [name, label].iter().any(|name| self.accepts(&name.to_lowercase()));
        self.looks_in(Field::Event) && (self.is(id.into()) || is_named())
    }

    fn accepts_context(&self, name: &str, key: &str) -> bool {
        let is_named = || [name, key].iter().any(|name| self.accepts(&name.to_lowercase()));
        let is_key = || self.number.is_some() && self.number == number_in(key);
        self.looks_in(Field::Context) && (is_named() || is_key())
    }

    /// Returns true if the term accepts arguments. `arguments` is in lower case.
    fn accepts_arguments(&self, arguments: &str) -> bool {
        if !self.looks_in(Field::Object) {
            return false;
        }
        if self.field == Field::Any && !self.is_exact && self.accepts(arguments) {
            return true;
        }
        let has_digits = || self.digits.iter().any(|of| of.find(arguments.as_bytes()).is_some());
        if self.number.is_some() && has_digits() && has_number(arguments, self.number) {
            return true;
        }
        let is_whole = self.field != Field::Any || self.is_exact;
        let is_value = |value: &str| {
            self.names.iter().any(|name| name == value) || (is_whole && self.accepts(value))
        };
        (is_whole || !self.names.is_empty()) && values(arguments).any(is_value)
    }
}

/// Replaces a text by another one in lower case.
fn put_lower(lower: &mut String, text: &str) {
    lower.clear();
    if text.is_ascii() {
        // Most texts are ASCII, and changing them in place is fast.
        lower.push_str(text);
        lower.make_ascii_lowercase();
    } else {
        lower.push_str(&text.to_lowercase());
    }
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

/// Returns the number that a text is: decimal, decimal in groups of three digits, or hexadecimal.
fn number_in(text: &str) -> Option<Number> {
    let text = text.trim().to_lowercase();
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, &*text), |rest| (true, rest));
    let magnitude = if digits.contains(',') {
        let mut groups = digits.split(',');
        let is_first = groups.next().is_some_and(|group| (1..=3).contains(&group.len()));
        let is_grouped = is_first && groups.all(|group| group.len() == 3);
        if is_grouped { parsed(&digits.replace(',', ""), 10) } else { None }
    } else {
        magnitude_in(digits)
    }?;
    Some((is_negative && magnitude > 0, magnitude))
}

/// Returns the number that a word in lower case is: decimal or hexadecimal.
fn magnitude_in(word: &str) -> Option<u128> {
    word.strip_prefix("0x").map_or_else(|| parsed(word, 10), |digits| parsed(digits, 16))
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
            let is_negative = before == Some(b'-') && is_sign;
            let found = magnitude_in(&text[at..end]);
            if found.map(|magnitude| (is_negative && magnitude > 0, magnitude)) == number {
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
                let [name, label, context, key, arguments] =
                    ["name", "label", "context", "key", "arguments"].map(|part| text(&event[part]));
                let number = |part: &str| event[part].as_u64().unwrap();
                let is_accepted = |term: &Term| {
                    term.accepts_number(number("number"))
                        || term.accepts_type(number("id") as u32, &name, &label)
                        || term.accepts_context(&context, &key)
                        || term.accepts_arguments(&arguments.to_lowercase())
                };
                !matcher.terms.is_empty() && matcher.terms.iter().all(is_accepted)
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
        let accepts = |query: &str, name: &str| {
            let term = Term::new(&query.to_lowercase());
            let mut arguments = String::from("the arguments before");
            put_lower(&mut arguments, name);
            let found = [term.accepts_context(name, ""), term.accepts_arguments(&arguments)];
            assert_eq!(found[0], found[1], "{query} in {name}");
            found[0]
        };
        for (text, wanted) in [("TX_Mutex", "mUtex"), ("Zähler", "zähler"), ("ÄRGER", "ärg")] {
            assert!(accepts(wanted, text), "{text}: {wanted}");
        }
        for (text, wanted) in [("mute", "mutex"), ("plain", "ä"), ("Zähler", "zahler"), ("", "a")]
        {
            assert!(!accepts(wanted, text), "{text}: {wanted}");
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
