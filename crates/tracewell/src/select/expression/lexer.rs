//! Splits rules and expressions into tokens.
//!
//! A statement ends with its line, with `;`, or before `}`. Line ends within parentheses are
//! ignored. `#` starts a comment. The parser decides whether a word is a keyword, a name or a
//! number.

use crate::source::{Finding, Source, Span};

/// A token of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

/// The kind of a token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    /// A name, possibly with wildcards, or a number.
    Word(String),
    /// A string in quotation marks, with escapes replaced.
    Quoted(String),
    /// `$` and a name.
    Variable(String),
    /// `@` and a name.
    Property(String),
    Sign(&'static str),
    /// The end of a line outside parentheses, or `;`.
    Newline,
    End,
}

/// All signs. The lexer takes the first match, so longer signs precede their prefixes: `...`
/// precedes `..`.
const SIGNS: [&str; 18] = [
    "...", "..", "!=", "<=", ">=", "==", "&&", "||", "{", "}", "(", ")", ",", "|", "=", "<", ">",
    "!",
];

/// Produces tokens one by one, because all tokens of a long file together would need many times as
/// much memory as the file.
pub(crate) struct Lexer<'a> {
    text: &'a str,
    /// The noun for the parts of the text, such as "rules". Messages use this noun.
    parts: &'static str,
    position: Position,
    /// The next token, if it was already read.
    found: Option<Token>,
    findings: Vec<Finding>,
}

/// A position to which the lexer can return.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position {
    at: usize,
    /// Number of open parentheses.
    depth: usize,
    /// Number of findings so far.
    findings: usize,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(source: &'a Source, parts: &'static str) -> Self {
        let text = source.text.get(..Source::MAX_LEN).unwrap_or(&source.text);
        Self { text, parts, position: Position::default(), found: None, findings: Vec::new() }
    }

    /// Returns the next token, or [`TokenKind::End`] at the end of the text.
    pub(crate) fn next(&mut self) -> Token {
        loop {
            self.token();
            if let Some(token) = self.found.take() {
                return token;
            }
        }
    }

    /// Returns the current position.
    pub(crate) fn position(&self) -> Position {
        Position { findings: self.findings.len(), ..self.position }
    }

    /// Returns to a position.
    pub(crate) fn go_back(&mut self, position: Position) {
        self.position = position;
        self.findings.truncate(position.findings);
    }

    /// Returns true if there are errors so far.
    pub(crate) fn has_findings(&self) -> bool {
        !self.findings.is_empty()
    }

    /// Returns the errors and warnings.
    pub(crate) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.position.at..).unwrap_or_default()
    }

    fn push(&mut self, start: usize, kind: TokenKind) {
        let span = self.span(start);
        self.found = Some(Token { kind, span });
    }

    fn span(&self, start: usize) -> Span {
        Span { start: start as u32, end: self.position.at as u32 }
    }

    /// Advances by one token. Reports and skips a character that cannot begin a token.
    fn token(&mut self) {
        let start = self.position.at;
        let Some(first) = self.rest().chars().next() else {
            return self.push(start, TokenKind::End);
        };
        match first {
            '\n' | ';' => {
                self.position.at += 1;
                // A condition may continue on the next line, but `;` always ends the statement.
                if self.position.depth == 0 || first == ';' {
                    self.push(start, TokenKind::Newline);
                }
            }
            '#' => self.position.at += self.rest().find('\n').unwrap_or(self.rest().len()),
            '"' => self.quoted(),
            '$' => self.named(TokenKind::Variable),
            '@' => self.named(TokenKind::Property),
            _ if first.is_whitespace() => self.position.at += first.len_utf8(),
            _ => self.word_or_sign(start, first),
        }
    }

    fn word_or_sign(&mut self, start: usize, first: char) {
        let length = word_length(self.rest());
        if length > 0 {
            self.position.at += length;
            let word = self.text.get(start..self.position.at).unwrap_or_default().to_owned();
            return self.push(start, TokenKind::Word(word));
        }
        if let Some(sign) = SIGNS.iter().find(|sign| self.rest().starts_with(**sign)) {
            self.position.at += sign.len();
            self.position.depth += usize::from(*sign == "(");
            // The parser reports a surplus `)`. Here it must not make the depth negative.
            self.position.depth -= usize::from(*sign == ")").min(self.position.depth);
            return self.push(start, TokenKind::Sign(sign));
        }
        self.position.at += first.len_utf8();
        let message = format!("expected {}, found '{}'", self.parts, first.escape_debug());
        self.findings.push(Finding::error(self.span(start), message));
    }

    /// Reads `$` or `@` and the name after it.
    fn named(&mut self, kind: fn(String) -> TokenKind) {
        let start = self.position.at;
        self.position.at += 1;
        let name = |c: char| c.is_alphanumeric() || c == '_';
        let length = self.rest().find(|c| !name(c)).unwrap_or(self.rest().len());
        self.position.at += length;
        let name = self.text.get(start + 1..self.position.at).unwrap_or_default().to_owned();
        if name.is_empty() {
            let message = "expected a name after it";
            self.findings.push(Finding::error(self.span(start), message));
        }
        self.push(start, kind(name));
    }

    fn quoted(&mut self) {
        let start = self.position.at;
        self.position.at += 1;
        let mut value = String::new();
        loop {
            let Some(c) = self.rest().chars().next().filter(|c| *c != '\n') else {
                let message = "unterminated text: expected '\"' on the same line";
                self.findings.push(Finding::error(self.span(start), message));
                break;
            };
            self.position.at += c.len_utf8();
            match c {
                '"' => break,
                '\\' => value.extend(self.escape()),
                _ => value.push(c),
            }
        }
        self.push(start, TokenKind::Quoted(value));
    }

    /// Returns the character for an escape.
    fn escape(&mut self) -> Option<char> {
        let start = self.position.at - 1;
        let c = self.rest().chars().next().filter(|c| *c != '\n');
        self.position.at += c.map_or(0, char::len_utf8);
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

/// Returns the length of the word at the start of a text. A single `.` or `&` is part of a word,
/// but `..` and `&&` are not.
fn word_length(text: &str) -> usize {
    let mut length = 0;
    for c in text.chars() {
        let rest = text.get(length..).unwrap_or_default();
        // `2..5` is a range of two numbers, but `tx.get` is one name.
        if !is_word(c) || rest.starts_with("..") || rest.starts_with("&&") {
            break;
        }
        length += c.len_utf8();
    }
    length
}

pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || "_*?:/+-&%.".contains(c)
}
