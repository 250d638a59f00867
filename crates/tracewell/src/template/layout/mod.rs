//! Writes template files in canonical form. Each stanza has exactly one canonical form, so files
//! with equal meaning become equal. Comments stay in place, and numbers keep their digits.
//!
//! A stanza that fits on one line is written on one line. The items of a longer stanza fill
//! indented lines. An item that does not fit on a line is broken at its cases, flags or block.

mod flat;

use super::syntax::{Body, Case, File, Flags, Function, Item, ItemKind, Key, Stanza, Switch, Text};
use flat::Flat;

/// Width of a line in characters, including the `\` at its end.
const WIDTH: usize = 96;
const INDENT: usize = 2;

/// Returns a template file in its canonical form.
///
/// # Examples
///
/// ```
/// use tracewell::template::{Source, layout, parse};
///
/// let source = Source::new("my.fmt", "0aa   1.0 disk X2,  0001 \"one\",0002  \"two\"");
/// let (file, _) = parse(&source);
/// assert_eq!(layout(&file), "0AA 1.0 \"disk\" X2, 0001 \"one\", 0002 \"two\"\n");
/// ```
pub fn layout(file: &File) -> String {
    let mut out = String::new();
    for stanza in &file.stanzas {
        comments(&mut out, &stanza.comments);
        let mut writer = Writer { out: &mut out, column: 0 };
        writer.stanza(stanza);
        out.push('\n');
    }
    comments(&mut out, &file.trailing);
    out.truncate(out.trim_end().len());
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Writes comment lines. Reduces several empty lines to one, and drops empty lines at the start of
/// a file.
fn comments(out: &mut String, lines: &[String]) {
    for line in lines {
        let empty_before = out.is_empty() || out.ends_with("\n\n");
        if !(line.is_empty() && empty_before) {
            out.push_str(line);
            out.push('\n');
        }
    }
}

struct Writer<'a> {
    out: &'a mut String,
    /// Number of characters in the current line.
    column: usize,
}

impl Writer<'_> {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    /// Continues on the next line.
    fn wrap(&mut self, indent: usize) {
        self.out.push_str(" \\\n");
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }

    /// Returns true if a text and a `\` after it fit on the line.
    fn fits(&self, text: &str) -> bool {
        self.column + 1 + text.chars().count() + 2 <= WIDTH
    }

    fn stanza(&mut self, stanza: &Stanza) {
        let head = head(stanza);
        self.put(&head);
        let all = Flat::items(&stanza.body);
        if all.is_empty() {
            return;
        }
        if self.fits(&all) {
            self.put(" ");
            self.put(&all);
            return;
        }
        self.wrap(INDENT);
        self.items(&stanza.body, INDENT);
    }

    /// Writes items, starting on an indented line.
    fn items(&mut self, items: &[Item], indent: usize) {
        for (number, item) in items.iter().enumerate() {
            let next = items.get(number + 1);
            let flat = Flat::item(item, next);
            // The first item of a line follows the indentation without a space.
            let first = self.column == indent;
            if !first && !self.fits(&flat) {
                self.wrap(indent);
            } else if !first {
                self.put(" ");
            }
            if self.column + flat.chars().count() + 2 <= WIDTH {
                self.put(&flat);
            } else {
                self.broken(item, next, indent + INDENT);
            }
        }
    }

    /// Writes an item on several lines.
    fn broken(&mut self, item: &Item, next: Option<&Item>, indent: usize) {
        match &item.kind {
            ItemKind::Switch(switch) => self.switch(switch, indent),
            ItemKind::Loop(value, body) => {
                self.put(&format!("LOOP {} ", Flat::value(value)));
                self.block(body, indent);
            }
            ItemKind::Flags(flags) => self.flags(flags, next, indent),
            ItemKind::Define(function) => self.function(function, indent),
            _ => self.put(&Flat::item(item, next)),
        }
    }

    fn block(&mut self, body: &[Item], indent: usize) {
        self.put("{");
        self.wrap(indent);
        self.items(body, indent);
        self.put("}");
    }

    fn switch(&mut self, switch: &Switch, indent: usize) {
        self.put(&Flat::value(&switch.value));
        for case in &switch.cases {
            self.put(",");
            self.wrap(indent);
            self.case(case, indent);
        }
    }

    fn case(&mut self, case: &Case, indent: usize) {
        let flat = Flat::case(case);
        match &case.body {
            // Only blocks can be broken. A string stays on its line even if it is too long.
            Body::Block(items) if !self.fits(&flat) => {
                self.put(&format!("{} ", Flat::pattern(&case.pattern)));
                self.block(items, indent + INDENT);
            }
            _ => self.put(&flat),
        }
    }

    fn flags(&mut self, flags: &Flags, next: Option<&Item>, indent: usize) {
        self.put(&format!("BITFLAGS {}", Flat::value(&flags.value)));
        for flag in &flags.flags {
            let flat = Flat::flag(flag);
            self.put(",");
            if self.fits(&flat) {
                self.put(" ")
            } else {
                self.wrap(indent)
            }
            self.put(&flat);
        }
        self.put(Flat::comma_after(flags, next));
    }

    fn function(&mut self, function: &Function, indent: usize) {
        self.put(&format!("{{{{ {}", Flat::signature(function)));
        self.wrap(indent);
        self.items(&function.body, indent);
        self.put(" }}");
    }
}

/// Returns the part of a stanza before its description.
fn head(stanza: &Stanza) -> String {
    let key = match &stanza.key {
        Key::Id(_) => stanza.key_text.to_uppercase(),
        Key::Name(name) => name_of(name),
    };
    let mut head = format!("{key} {}", stanza.version);
    if let Some(level) = stanza.level {
        head.push_str(&format!(" L={}", level.as_str()));
    }
    if let Some(label) = &stanza.label {
        // Always quote the label: a label may contain a line end, and outside of quotes a line end
        // would separate it into two items.
        head.push_str(&format!(" {}", Flat::quoted(label)));
    }
    head
}

/// Returns a name. Quotes a word that would otherwise be parsed as something else.
fn name_of(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '@' | ':');
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if begins && name.chars().all(plain) && Key::from_digits(name).is_none() {
        return name.to_owned();
    }
    Flat::quoted(&Text { value: name.to_owned(), span: Default::default() })
}
