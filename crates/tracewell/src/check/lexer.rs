//! Cuts the text of a rules file into tokens.
//!
//! A statement ends with its line, with `;`, or before `}`; within parentheses lines do not count. `#`
//! begins a comment. What a word means (a keyword, a name, a number) the parser decides.

use crate::source::{Finding, Source, Span};

/// A piece of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

/// What a piece of the text is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum TokenKind {
    /// A name, with wildcards perhaps, or a number.
    Word(String),
    /// Text in quotation marks, its escapes undone.
    Quoted(String),
    /// `$` and a name.
    Variable(String),
    /// `@` and a name.
    Property(String),
    Sign(&'static str),
    /// The end of a line outside of parentheses, or `;`.
    Newline,
    End,
}

/// Longer ones first.
const SIGNS: [&str; 14] =
    ["...", "..", "!=", "<=", ">=", "{", "}", "(", ")", ",", "|", "=", "<", ">"];

/// Cuts tokens one by one: those of a long file would need many times its room.
pub(super) struct Lexer<'a> {
    text: &'a str,
    place: Place,
    /// The token that was cut last, until it is asked for.
    found: Option<Token>,
    findings: Vec<Finding>,
}

/// Where a lexer stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    at: usize,
    /// Parentheses that are open.
    depth: usize,
    /// Findings so far.
    findings: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        let text = source.text.get(..Source::LONGEST).unwrap_or(&source.text);
        Self { text, place: Place::default(), found: None, findings: Vec::new() }
    }

    /// The next token; [`TokenKind::End`] again and again at the end.
    pub(super) fn next(&mut self) -> Token {
        loop {
            self.token();
            if let Some(token) = self.found.take() {
                return token;
            }
        }
    }

    /// Where it stands, to come back to.
    pub(super) fn place(&self) -> Place {
        Place { findings: self.findings.len(), ..self.place }
    }

    /// Comes back to a place.
    pub(super) fn go_back(&mut self, place: Place) {
        self.place = place;
        self.findings.truncate(place.findings);
    }

    /// Whether something is wrong with what was cut so far.
    pub(super) fn has_findings(&self) -> bool {
        !self.findings.is_empty()
    }

    /// What is wrong with what was cut.
    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.place.at..).unwrap_or_default()
    }

    fn push(&mut self, start: usize, kind: TokenKind) {
        let span = self.span(start);
        self.found = Some(Token { kind, span });
    }

    fn span(&self, start: usize) -> Span {
        Span { start: start as u32, end: self.place.at as u32 }
    }

    /// Goes on by a token, or by what is none.
    fn token(&mut self) {
        let start = self.place.at;
        let Some(first) = self.rest().chars().next() else {
            return self.push(start, TokenKind::End);
        };
        match first {
            '\n' | ';' => {
                self.place.at += 1;
                if self.place.depth == 0 || first == ';' {
                    self.push(start, TokenKind::Newline);
                }
            }
            '#' => self.place.at += self.rest().find('\n').unwrap_or(self.rest().len()),
            '"' => self.quoted(),
            '$' => self.named(TokenKind::Variable),
            '@' => self.named(TokenKind::Property),
            _ if first.is_whitespace() => self.place.at += first.len_utf8(),
            _ => self.word_or_sign(start, first),
        }
    }

    fn word_or_sign(&mut self, start: usize, first: char) {
        let length = word_length(self.rest());
        if length > 0 {
            self.place.at += length;
            let word = self.text.get(start..self.place.at).unwrap_or_default().to_owned();
            return self.push(start, TokenKind::Word(word));
        }
        if let Some(sign) = SIGNS.iter().find(|sign| self.rest().starts_with(**sign)) {
            self.place.at += sign.len();
            self.place.depth += usize::from(*sign == "(");
            self.place.depth -= usize::from(*sign == ")").min(self.place.depth);
            return self.push(start, TokenKind::Sign(sign));
        }
        self.place.at += first.len_utf8();
        let message = format!("expected a rule, found '{}'", first.escape_debug());
        self.findings.push(Finding::error(self.span(start), message));
    }

    /// `$` or `@` and the name behind it.
    fn named(&mut self, kind: fn(String) -> TokenKind) {
        let start = self.place.at;
        self.place.at += 1;
        let name = |c: char| c.is_alphanumeric() || c == '_';
        let length = self.rest().find(|c| !name(c)).unwrap_or(self.rest().len());
        self.place.at += length;
        let name = self.text.get(start + 1..self.place.at).unwrap_or_default().to_owned();
        if name.is_empty() {
            let message = "expected a name behind it";
            self.findings.push(Finding::error(self.span(start), message));
        }
        self.push(start, kind(name));
    }

    fn quoted(&mut self) {
        let start = self.place.at;
        self.place.at += 1;
        let mut value = String::new();
        loop {
            let Some(c) = self.rest().chars().next().filter(|c| *c != '\n') else {
                let message = "this text has no end: expected '\"' on the same line";
                self.findings.push(Finding::error(self.span(start), message));
                break;
            };
            self.place.at += c.len_utf8();
            match c {
                '"' => break,
                '\\' => value.extend(self.escape()),
                _ => value.push(c),
            }
        }
        self.push(start, TokenKind::Quoted(value));
    }

    /// What stands behind a backslash.
    fn escape(&mut self) -> Option<char> {
        let start = self.place.at - 1;
        let c = self.rest().chars().next().filter(|c| *c != '\n');
        self.place.at += c.map_or(0, char::len_utf8);
        match c {
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some('"' | '\\') => c,
            _ => {
                let message = "expected \\\", \\\\, \\n, \\r or \\t";
                self.findings.push(Finding::error(self.span(start), message));
                None
            }
        }
    }
}

/// Bytes of the word at the start of a text. A point is part of it, two points are not.
fn word_length(text: &str) -> usize {
    let mut length = 0;
    for c in text.chars() {
        let rest = text.get(length..).unwrap_or_default();
        if !is_word(c) || rest.starts_with("..") {
            break;
        }
        length += c.len_utf8();
    }
    length
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || "_*?:/+-&%.".contains(c)
}
