//! Parses template files. An error invalidates only its own stanza. Parsing continues after the
//! error within the stanza, so one run reports all errors.

mod description;
mod expression;
mod lexer;
mod stanza;
mod switch;

pub(super) use expression::MAX_OPERANDS;

use super::syntax::{File, Stanza};
use crate::source::{Finding, MAX_FINDINGS, Source, Span};
use lexer::{Lexer, LogicalLine, Token, TokenKind};

/// Parses a template file. Returns its tree, and its errors and warnings. A stanza with an error is
/// in the tree, without the parts that could not be parsed, and is marked as invalid.
///
/// # Examples
///
/// ```
/// use tracewell::template::{Source, parse};
///
/// let (file, findings) = parse(&Source::new("my.fmt", "0AA 1.0 X99\n0AB 1.0 X1\n"));
/// assert_eq!(findings.len(), 1);
/// assert_eq!(file.stanzas.iter().map(|stanza| stanza.valid).collect::<Vec<_>>(), [false, true]);
/// ```
pub fn parse(source: &Source) -> (File, Vec<Finding>) {
    let mut file = File::default();
    let (trailing, findings) = each_stanza(source, &mut |stanza| file.stanzas.push(stanza));
    file.trailing = trailing;
    (file, findings)
}

/// Parses a template file stanza by stanza. Returns the comments after the last stanza, and all
/// findings.
pub(super) fn each_stanza(
    source: &Source,
    take: &mut dyn FnMut(Stanza),
) -> (Vec<String>, Vec<Finding>) {
    let mut lexer = Lexer::new(source, 0);
    let mut comments = Vec::new();
    let mut findings = Vec::new();
    if source.text.len() > Source::MAX_LEN {
        findings.push(Finding::error(Span::default(), "the file is longer than 4 GiB"));
    }
    loop {
        match lexer.logical_line() {
            LogicalLine::Comment(line) => comments.push(line),
            LogicalLine::Stanza => {
                let (mut stanza, found) = one_stanza(source, &mut lexer);
                // Comments belong to the stanza after them.
                stanza.comments = std::mem::take(&mut comments);
                take(stanza);
                findings.extend(found);
                if findings.len() >= MAX_FINDINGS {
                    let at = lexer.offset();
                    findings.truncate(MAX_FINDINGS);
                    let message = format!(
                        "{MAX_FINDINGS} errors and warnings: the rest of the file is not read"
                    );
                    findings.push(Finding::error(Span { start: at, end: at }, message));
                    break;
                }
            }
            LogicalLine::End => break,
        }
    }
    (comments, findings)
}

/// Parses the single stanza that begins at byte `at`. Also returns the offset of the text after it.
pub fn parse_line(source: &Source, at: u32) -> (Stanza, Vec<Finding>, u32) {
    let mut lexer = Lexer::new(source, at as usize);
    let (stanza, findings) = match lexer.logical_line() {
        LogicalLine::Stanza => one_stanza(source, &mut lexer),
        LogicalLine::Comment(_) | LogicalLine::End => {
            // The caller expects a stanza, so parse an empty list of tokens. The parser then
            // reports that the stanza is missing.
            lexer.tokens.clear();
            let span = Span { start: at, end: at };
            lexer.tokens.push(Token { kind: TokenKind::End, span });
            one_stanza(source, &mut lexer)
        }
    };
    (stanza, findings, lexer.offset())
}

fn one_stanza(source: &Source, lexer: &mut Lexer<'_>) -> (Stanza, Vec<Finding>) {
    let mut findings = std::mem::take(&mut lexer.findings);
    let mut parser = Parser::new(source, &lexer.tokens);
    let mut stanza = parser.stanza();
    findings.append(&mut parser.findings);
    // The lexer reads the whole stanza before the parser does, so sort the findings of both by
    // position here.
    findings.sort_by_key(|finding| finding.span.start);
    stanza.valid = findings.iter().all(|finding| !finding.is_error);
    (stanza, findings)
}

/// Maximum depth of nested blocks and parentheses.
const MAX_DEPTH: usize = 64;

/// Parses the tokens of a stanza.
#[derive(Debug)]
struct Parser<'a> {
    source: &'a Source,
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    findings: Vec<Finding>,
}

/// An error that has already been reported. The current construct cannot be completed.
#[derive(Debug)]
struct Mistake;

type Parsed<T> = Result<T, Mistake>;

/// The end token that the parser uses if the list of tokens is empty.
static END: Token = Token { kind: TokenKind::End, span: Span { start: 0, end: 0 } };

impl<'a> Parser<'a> {
    fn new(source: &'a Source, tokens: &'a [Token]) -> Self {
        Self { source, tokens, at: 0, depth: 0, findings: Vec::new() }
    }

    fn peek(&self) -> &'a Token {
        self.ahead(0)
    }

    /// Returns the token that is `steps` positions after the next token, or the last token if there
    /// are fewer.
    fn ahead(&self, steps: usize) -> &'a Token {
        let last = self.tokens.last().unwrap_or(&END);
        self.tokens.get(self.at + steps).unwrap_or(last)
    }

    fn next(&mut self) -> &'a Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// Returns the span of the previous token.
    fn before(&self) -> Span {
        let at = self.at.saturating_sub(1);
        self.tokens.get(at).map_or_else(Span::default, |token| token.span)
    }

    /// Returns the value of a string token.
    fn text(&self, token: &Token) -> Option<String> {
        let TokenKind::Text(plain) = token.kind else { return None };
        Some(lexer::value_of(self.slice(token), plain))
    }

    fn slice(&self, token: &Token) -> &'a str {
        self.source.slice(token.span)
    }

    fn is_sign(&self, sign: char) -> bool {
        self.peek().kind == TokenKind::Sign(sign)
    }

    /// Skips a sign if it is the next token.
    fn take_sign(&mut self, sign: char) -> bool {
        let takes = self.is_sign(sign);
        self.at += usize::from(takes);
        takes
    }

    fn expect_sign(&mut self, sign: char, place: &str) -> Parsed<Span> {
        if self.take_sign(sign) {
            Ok(self.before())
        } else {
            self.expected(&format!("'{sign}' {place}"))
        }
    }

    /// Reports what was expected instead of the next token.
    fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let token = self.peek();
        let message = format!("expected {what}, found {}", self.describe(token));
        self.mistake(token.span, message)
    }

    fn mistake<T>(&mut self, span: Span, message: impl Into<String>) -> Parsed<T> {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(Finding::error(span, message));
        }
        Err(Mistake)
    }

    fn describe(&self, token: &Token) -> String {
        match &token.kind {
            TokenKind::End => "the end of the stanza".to_owned(),
            TokenKind::Text(_) => "a string".to_owned(),
            TokenKind::Sign(sign) => format!("'{sign}'"),
            TokenKind::Mark(mark) => format!("'\\{mark}'"),
            TokenKind::Word | TokenKind::Macro | TokenKind::Percent => {
                format!("'{}'", self.slice(token))
            }
        }
    }

    /// Runs `read` at the next level of nesting. Reports an error if this is too deep.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let span = self.peek().span;
            return self.mistake(span, format!("nested deeper than {MAX_DEPTH} levels"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}
