//! Cuts the text of a template file into stanzas and those into tokens.
//!
//! A stanza is a logical line: a `\` at the end of a line, blanks behind it tolerated, joins the
//! next one and counts as a blank. A line that begins with `#` is a comment where no stanza is
//! being continued. What a word means (a code, a number, a name) the parser decides, for it
//! hangs on what stands before it.

use crate::source::{Finding, MAX_FINDINGS, Source, Span};

/// A piece of a stanza.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

/// What a piece of a stanza is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum TokenKind {
    /// Letters, digits, `_`, `.`, `@`, `:`.
    Word,
    /// `$` and a name.
    Macro,
    /// `%` and a word.
    Percent,
    /// A string: whether it has neither escapes nor joined lines, so that it is its own value.
    Text(bool),
    /// One of `{ } ( ) , = + - * / &`.
    Sign(char),
    /// `\n`, `\t` or `\*`, outside of strings.
    Mark(char),
    /// Where the stanza ends.
    End,
}

/// What stands in a file.
#[derive(Debug)]
pub(super) enum Piece {
    /// A comment line with its `#`; an empty line is an empty comment.
    Comment(String),
    /// A stanza; its tokens are in the lexer's buffer.
    Stanza,
    /// Nothing more.
    End,
}

/// Cuts a text into pieces.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    source: &'a Source,
    bytes: &'a [u8],
    at: usize,
    /// Tokens of the last stanza; the last one is [`TokenKind::End`].
    pub(super) tokens: Vec<Token>,
    pub(super) findings: Vec<Finding>,
}

impl<'a> Lexer<'a> {
    /// A lexer at byte `at` of a text.
    pub(super) fn new(source: &'a Source, at: usize) -> Self {
        let bytes = &source.text.as_bytes()[..source.text.len().min(Source::LONGEST)];
        Self { source, bytes, at, tokens: Vec::new(), findings: Vec::new() }
    }

    /// The next piece.
    pub(super) fn piece(&mut self) -> Piece {
        let start = self.at;
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
        match self.peek() {
            None => Piece::End,
            Some(b'\n') => {
                self.at += 1;
                Piece::Comment(String::new())
            }
            Some(b'#') => {
                self.skip_line();
                let line = self.source.text.get(start..self.at).unwrap_or_default();
                Piece::Comment(line.trim().to_owned())
            }
            Some(_) => {
                self.stanza();
                Piece::Stanza
            }
        }
    }

    /// Where the next piece begins.
    pub(super) fn offset(&self) -> u32 {
        self.at as u32
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn span(&self, start: usize) -> Span {
        Span { start: start as u32, end: self.at as u32 }
    }

    fn tell(&mut self, finding: Finding) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        }
    }

    fn skip_line(&mut self) {
        while let Some(byte) = self.peek() {
            self.at += 1;
            if byte == b'\n' {
                break;
            }
        }
    }

    fn stanza(&mut self) {
        self.tokens.clear();
        loop {
            let start = self.at;
            let kind = match self.peek() {
                None | Some(b'\n') => TokenKind::End,
                Some(b' ' | b'\t' | b'\r') => {
                    self.at += 1;
                    continue;
                }
                Some(b'\\') => match self.backslash() {
                    Some(kind) => kind,
                    None => continue,
                },
                Some(b'"') => self.string(),
                Some(b'$') => self.name_behind(TokenKind::Macro),
                Some(b'%') => self.name_behind(TokenKind::Percent),
                Some(byte) if is_word(byte) => {
                    self.skip_word();
                    TokenKind::Word
                }
                Some(byte) if b"{}(),=+-*/&".contains(&byte) => {
                    self.at += 1;
                    TokenKind::Sign(char::from(byte))
                }
                Some(_) => {
                    self.stray();
                    continue;
                }
            };
            let end = kind == TokenKind::End;
            self.tokens.push(Token { kind, span: self.span(start) });
            if end {
                self.at += usize::from(self.peek() == Some(b'\n'));
                return;
            }
        }
    }

    fn skip_word(&mut self) {
        while self.peek().is_some_and(is_word) {
            self.at += 1;
        }
    }

    fn name_behind(&mut self, kind: TokenKind) -> TokenKind {
        self.at += 1;
        self.skip_word();
        kind
    }

    /// A mark such as `\n`; `None` where the backslash joins lines or means nothing.
    fn backslash(&mut self) -> Option<TokenKind> {
        let start = self.at;
        if self.joins_lines() {
            return None;
        }
        self.at += 1;
        match self.peek() {
            Some(mark @ (b'n' | b't' | b'*')) => {
                self.at += 1;
                Some(TokenKind::Mark(char::from(mark)))
            }
            _ => {
                let message = "expected \\n, \\t, \\* or the end of the line behind \\";
                self.tell(Finding::error(self.span(start), message));
                None
            }
        }
    }

    /// Steps over a backslash that ends a line, and over the line end.
    fn joins_lines(&mut self) -> bool {
        let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        match rest.get(blanks) {
            Some(b'\n') => self.at += blanks + 2,
            None => self.at += blanks + 1,
            Some(_) => return false,
        }
        true
    }

    /// Steps over a string; its value is worked out where it is used.
    fn string(&mut self) -> TokenKind {
        let start = self.at;
        self.at += 1;
        let mut plain = true;
        loop {
            match self.peek() {
                None | Some(b'\n') => {
                    let message = "this string has no end: expected '\"' on the same line";
                    self.tell(Finding::error(self.span(start), message));
                    break;
                }
                Some(b'"') => {
                    self.at += 1;
                    break;
                }
                Some(b'\\') => {
                    plain = false;
                    if !self.joins_lines() {
                        self.escape();
                    }
                }
                Some(_) => self.at += 1,
            }
        }
        TokenKind::Text(plain)
    }

    fn escape(&mut self) {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            None => return,
            Some(b'n' | b't' | b'"' | b'\\') => {}
            Some(_) => {
                let span = Span { start: start as u32, end: start as u32 + 1 };
                let message = "this \\ prints as it is; escapes are \\\" \\\\ \\n \\t";
                self.tell(Finding::warning(span, message));
            }
        }
        self.at += 1;
    }

    /// Steps over a character that begins nothing.
    fn stray(&mut self) {
        let start = self.at;
        let found = self.source.text.get(start..).and_then(|rest| rest.chars().next());
        let found = found.unwrap_or('?');
        self.at += found.len_utf8();
        let hint = if found == '#' { "; a comment cannot stand in a continued stanza" } else { "" };
        let message = format!("nothing begins with '{}'{hint}", found.escape_debug());
        self.tell(Finding::error(self.span(start), message));
        if found == '#' {
            // What follows is meant for people, up to a join that keeps the stanza going.
            while self.peek().is_some_and(|byte| byte != b'\n' && byte != b'\\') {
                self.at += 1;
            }
        }
    }
}

/// The value of a string, which stands with its quotes.
pub(super) fn value_of(string: &str, plain: bool) -> String {
    let inner = string.strip_prefix('"').unwrap_or(string);
    // A string without an end was told.
    if plain {
        return inner.strip_suffix('"').unwrap_or(inner).to_owned();
    }
    let mut value = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => break,
            '\\' => escaped(&mut rest, &mut value),
            c => value.push(c),
        }
    }
    value
}

/// Appends what the characters behind a backslash stand for, and takes them.
fn escaped(rest: &mut std::str::Chars<'_>, value: &mut String) {
    let joined = rest.as_str().trim_start_matches([' ', '\t', '\r']);
    if joined.is_empty() || joined.starts_with('\n') {
        value.push(' ');
        *rest = joined.strip_prefix('\n').unwrap_or(joined).chars();
        return;
    }
    match rest.next() {
        Some('n') => value.push('\n'),
        Some('t') => value.push('\t'),
        Some(c @ ('"' | '\\')) => value.push(c),
        other => {
            value.push('\\');
            value.extend(other);
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'@' | b':')
}
