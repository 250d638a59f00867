//! The syntax of value change dumps.
//!
//! | element | form |
//! |---|---|
//! | identifier | characters from `!` to `~`, as digits of a number with base 94 |
//! | name | letters, digits and `_` |
//! | bit | `0`, `1`, `x` or `z`, and the identifier |
//! | number | `b`, binary digits, a space and the identifier |
//! | real number | `r`, decimal digits, a space and the identifier |
//! | text | `s`, the text without spaces, a space and the identifier; an extension of GTKWave |
//!
//! Source: IEEE 1364, chapter 18.

use std::collections::HashMap;
use std::io::{self, Write};

use foldhash::fast::RandomState;

/// A value of a signal.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    /// One of `0`, `1`, `x` and `z`.
    Bit(char),
    /// A number; `None` if it is unknown.
    Number(Option<u64>),
    Text(String),
    Real(f64),
    Event,
}

/// The type of a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Bit,
    Number,
    Text,
    Real,
    Event,
}

/// A signal: its name within its scope, and its kind.
#[derive(Clone, Debug)]
pub(super) struct Signal {
    pub(super) name: String,
    pub(super) kind: Kind,
}

impl Signal {
    /// Returns the value for an unknown state; `None` if the signal has no such value.
    pub(super) fn unknown(&self) -> Option<Value> {
        match self.kind {
            Kind::Bit => Some(Value::Bit('x')),
            Kind::Number => Some(Value::Number(None)),
            Kind::Text => Some(Value::Text("?".to_owned())),
            Kind::Real | Kind::Event => None,
        }
    }
}

/// Signals with a common scope.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) name: &'static str,
    /// Index of the first signal.
    pub(super) first: usize,
    pub(super) signals: Vec<Signal>,
    /// All names, each with the number of signals that were added under this name.
    names: HashMap<String, u64, RandomState>,
}

impl Scope {
    /// Creates a scope whose first signal has this index.
    pub(super) fn new(name: &'static str, first: usize) -> Self {
        Self { name, first, signals: Vec::new(), names: HashMap::default() }
    }

    /// Adds a signal. Returns its index. If another signal of the scope has this name, adds a
    /// number to the name.
    pub(super) fn add(&mut self, name: &str, kind: Kind) -> usize {
        let name = self.unique(plain(name));
        self.signals.push(Signal { name, kind });
        self.first + self.signals.len() - 1
    }

    fn unique(&mut self, name: String) -> String {
        let count = self.names.entry(name.clone()).or_insert(0);
        *count += 1;
        match *count {
            1 => name,
            number => self.unique(format!("{name}_{number}")),
        }
    }
}

/// Returns a name with `_` for each character that names cannot contain.
fn plain(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().take(MAX_NAME).map(letter).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}

/// Maximum number of characters of a name.
const MAX_NAME: usize = 200;

/// Returns the identifier of a signal.
fn identifier(mut index: usize) -> String {
    let mut text = String::new();
    loop {
        text.push(char::from(b'!' + (index % 94) as u8));
        index /= 94;
        if index == 0 {
            return text;
        }
        // Without this subtraction, `!` and `!!` would stand for the same index.
        index -= 1;
    }
}

/// Returns the first [`MAX_NAME`] characters of a text, with `_` for spaces, `$` and all characters
/// that are not printable ASCII. A space would end the value.
fn spaced(text: &str) -> String {
    let letter = |c: char| if c.is_ascii_graphic() && c != '$' { c } else { '_' };
    text.chars().take(MAX_NAME).map(letter).collect()
}

/// Returns the text of a comment, with `_` for `$` and all characters that are not printable ASCII.
/// `$end` would end the comment.
fn commented(text: &str) -> String {
    let letter = |c: char| if (c == ' ' || c.is_ascii_graphic()) && c != '$' { c } else { '_' };
    text.chars().map(letter).collect()
}

/// Writes the header.
pub(super) fn put_header(
    out: &mut dyn Write,
    title: &str,
    scale: &str,
    comments: impl Iterator<Item = String>,
    scopes: &[Scope],
) -> io::Result<()> {
    writeln!(out, "$comment {} $end", commented(title))?;
    writeln!(out, "$version tracewell $end")?;
    for comment in comments {
        writeln!(out, "$comment {} $end", commented(&comment))?;
    }
    writeln!(out, "$timescale {scale} $end")?;
    for scope in scopes.iter().filter(|scope| !scope.signals.is_empty()) {
        writeln!(out, "$scope module {} $end", scope.name)?;
        // Identifiers are unique in the file, so each scope continues the numbering of the previous
        // scope.
        for (index, signal) in (scope.first..).zip(&scope.signals) {
            let kind = match signal.kind {
                Kind::Bit => "wire 1",
                Kind::Number => "integer 64",
                Kind::Text => "string 1",
                Kind::Real => "real 64",
                Kind::Event => "event 1",
            };
            writeln!(out, "$var {kind} {} {} $end", identifier(index), signal.name)?;
        }
        writeln!(out, "$upscope $end")?;
    }
    writeln!(out, "$enddefinitions $end")
}

/// Writes the value of a signal.
pub(super) fn put_value(out: &mut dyn Write, signal: usize, value: &Value) -> io::Result<()> {
    let id = identifier(signal);
    match value {
        Value::Bit(bit) => writeln!(out, "{bit}{id}"),
        Value::Number(None) => writeln!(out, "bx {id}"),
        Value::Number(Some(number)) => writeln!(out, "b{number:b} {id}"),
        Value::Text(text) => writeln!(out, "s{} {id}", spaced(text)),
        Value::Real(real) if real.is_finite() => writeln!(out, "r{real:e} {id}"),
        // The format cannot express infinities and NaN.
        Value::Real(_) => Ok(()),
        Value::Event => writeln!(out, "1{id}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_different_and_short_ones_come_first() {
        assert_eq!([0, 93, 94, 95].map(identifier), ["!", "~", "!!", "\"!"]);
        let all: std::collections::HashSet<_> = (0..20_000).map(identifier).collect();
        assert_eq!(all.len(), 20_000);
        assert!(identifier(94 + 94 * 94 - 1).len() == 2);
    }

    #[test]
    fn names_are_plain_and_unique() {
        let mut scope = Scope::new("tasks", 5);
        assert_eq!(scope.add("uart rx", Kind::Bit), 5);
        assert_eq!(scope.add("uart-rx", Kind::Bit), 6);
        assert_eq!(scope.add("", Kind::Bit), 7);
        let names: Vec<_> = scope.signals.iter().map(|signal| signal.name.as_str()).collect();
        assert_eq!(names, ["uart_rx", "uart_rx_2", "_"]);
        assert_eq!(commented("a $end b\n"), "a _end b_");
        assert_eq!(spaced("a b"), "a_b");
    }
}
