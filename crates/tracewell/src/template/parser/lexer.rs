//! Splits a template file into stanzas, and stanzas into tokens.
//!
//! A stanza is a logical line. A `\` at the end of a line, possibly followed by spaces, joins the
//! line with the next one and counts as a space. A line that begins with `#` is a comment, unless
//! it continues a stanza. The parser decides if a word is a code, a number or a name, because this
//! depends on the words before it.

use crate::source::{Finding, MAX_FINDINGS, Source, Span};

/// A token of a stanza.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

/// The kind of a token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum TokenKind {
    /// Letters, digits, `_`, `.`, `@`, `:`.
    Word,
    /// `$` and a name.
    Macro,
    /// `%` and a word.
    Percent,
    /// A string. If the flag is true, the string has no escapes and no joined lines. The value of
    /// the string is then the text between the quotes.
    Text(bool),
    /// A sign: one of `{ } ( ) , = + - * / &`.
    Sign(char),
    /// `\n`, `\t` or `\*`, outside strings.
    Mark(char),
    /// The end of the stanza.
    End,
}

/// A logical line of a file.
#[derive(Debug)]
pub(super) enum LogicalLine {
    /// A comment line with its `#`. An empty line is an empty comment.
    Comment(String),
    /// A stanza. Its tokens are in the lexer's buffer.
    Stanza,
    /// The end of the file.
    End,
}

/// Splits a text into logical lines and tokens.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    source: &'a Source,
    bytes: &'a [u8],
    at: usize,
    /// The tokens of the last stanza, ending with [`TokenKind::End`].
    pub(super) tokens: Vec<Token>,
    pub(super) findings: Vec<Finding>,
}

impl<'a> Lexer<'a> {
    /// Creates a lexer that starts at byte `at` of a text.
    pub(super) fn new(source: &'a Source, at: usize) -> Self {
        let bytes = &source.text.as_bytes()[..source.text.len().min(Source::MAX_LEN)];
        Self { source, bytes, at, tokens: Vec::new(), findings: Vec::new() }
    }

    /// Returns the next logical line.
    pub(super) fn logical_line(&mut self) -> LogicalLine {
        let start = self.at;
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
        match self.peek() {
            None => LogicalLine::End,
            Some(b'\n') => {
                self.at += 1;
                LogicalLine::Comment(String::new())
            }
            Some(b'#') => {
                self.skip_line();
                let line = self.source.text.get(start..self.at).unwrap_or_default();
                LogicalLine::Comment(line.trim().to_owned())
            }
            Some(_) => {
                self.stanza();
                LogicalLine::Stanza
            }
        }
    }

    /// Returns the offset of the next logical line.
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
                Some(b'$') => self.name_after(TokenKind::Macro),
                Some(b'%') => self.name_after(TokenKind::Percent),
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
                // The stanza includes its line end. At the end of the file, there may be none.
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

    fn name_after(&mut self, kind: TokenKind) -> TokenKind {
        self.at += 1;
        self.skip_word();
        kind
    }

    /// Returns a mark such as `\n`. Returns `None` if the backslash joins two lines or is an error.
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
                let message = "expected \\n, \\t, \\* or the end of the line after \\";
                self.tell(Finding::error(self.span(start), message));
                None
            }
        }
    }

    /// If the backslash at this position ends a line, skips the backslash and the line end, and
    /// returns true.
    fn joins_lines(&mut self) -> bool {
        let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
        // Spaces after `\` are invisible in an editor, so they do not prevent joining.
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        match rest.get(blanks) {
            Some(b'\n') => self.at += blanks + 2,
            None => self.at += blanks + 1,
            Some(_) => return false,
        }
        true
    }

    /// Skips a string. The string's value is computed when it is used.
    fn string(&mut self) -> TokenKind {
        let start = self.at;
        self.at += 1;
        let mut plain = true;
        loop {
            match self.peek() {
                None | Some(b'\n') => {
                    // End the string here, so that a missing quote spoils only one line.
                    let message = "unterminated string: expected '\"' on the same line";
                    self.tell(Finding::error(self.span(start), message));
                    break;
                }
                Some(b'"') => {
                    self.at += 1;
                    break;
                }
                Some(b'\\') => {
                    // The value differs from the source, so it must be computed when it is used.
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
                // Mark only the backslash, because the character after it may be several bytes
                // long.
                let span = Span { start: start as u32, end: start as u32 + 1 };
                let message = "this \\ prints as it is; escapes are \\\" \\\\ \\n \\t";
                self.tell(Finding::warning(span, message));
            }
        }
        self.at += 1;
    }

    /// Reports and skips a character that cannot begin a token.
    fn stray(&mut self) {
        let start = self.at;
        let found = self.source.text.get(start..).and_then(|rest| rest.chars().next());
        let found = found.unwrap_or('?');
        self.at += found.len_utf8();
        let hint = if found == '#' { "; a continued stanza cannot contain comments" } else { "" };
        let message = format!("unexpected character '{}'{hint}", found.escape_debug());
        self.tell(Finding::error(self.span(start), message));
        if found == '#' {
            // The rest of the line is a comment. It ends at a `\`, because the next line may be
            // part of the stanza.
            while self.peek().is_some_and(|byte| byte != b'\n' && byte != b'\\') {
                self.at += 1;
            }
        }
    }
}

/// Returns the value of a string with quotes.
pub(super) fn value_of(string: &str, plain: bool) -> String {
    let inner = string.strip_prefix('"').unwrap_or(string);
    // A missing closing quote has already been reported.
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

/// Appends the characters for which an escape stands, and removes the escape from the input.
fn escaped(rest: &mut std::str::Chars<'_>, value: &mut String) {
    let joined = rest.as_str().trim_start_matches([' ', '\t', '\r']);
    // `joins_lines` in the lexer uses the same condition.
    if joined.is_empty() || joined.starts_with('\n') {
        // Within a string, joining lines also counts as one space.
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
