//! From text to the syntax tree. A mistake spoils its stanza only, and within a stanza parsing goes
//! on behind it, so that one run tells all there are.

mod description;
mod expression;
mod lexer;
mod stanza;
mod switch;

pub(super) use expression::MOST_OPERANDS;

use super::syntax::{File, Stanza};
use crate::source::{Finding, MAX_FINDINGS, Severity, Source, Span};
use lexer::{Lexer, Piece, Token, TokenKind};

/// Reads a template file. What is wrong with it is told; a stanza with an error in it is in the tree
/// as far as it was understood, marked as not valid.
pub fn parse(source: &Source) -> (File, Vec<Finding>) {
    let mut file = File::default();
    let (trailing, findings) = each_stanza(source, &mut |stanza| file.stanzas.push(stanza));
    file.trailing = trailing;
    (file, findings)
}

/// Reads a template file stanza by stanza; the comments behind the last one, and what is wrong.
pub(super) fn each_stanza(
    source: &Source,
    take: &mut dyn FnMut(Stanza),
) -> (Vec<String>, Vec<Finding>) {
    let mut lexer = Lexer::new(source, 0);
    let mut comments = Vec::new();
    let mut findings = Vec::new();
    if source.text.len() > Source::LONGEST {
        findings.push(Finding::error(Span::default(), "the file is longer than 4 GiB"));
    }
    loop {
        match lexer.piece() {
            Piece::Comment(line) => comments.push(line),
            Piece::Stanza => {
                let (mut stanza, found) = one_stanza(source, &mut lexer);
                stanza.comments = std::mem::take(&mut comments);
                take(stanza);
                findings.extend(found);
                if findings.len() >= MAX_FINDINGS {
                    let at = lexer.offset();
                    findings.truncate(MAX_FINDINGS);
                    let message =
                        format!("{MAX_FINDINGS} mistakes and doubts: the rest is not read");
                    findings.push(Finding::error(Span { start: at, end: at }, message));
                    break;
                }
            }
            Piece::End => break,
        }
    }
    (comments, findings)
}

/// Reads the one stanza that begins at byte `at` of a text; also where the text behind it begins.
pub fn parse_line(source: &Source, at: u32) -> (Stanza, Vec<Finding>, u32) {
    let mut lexer = Lexer::new(source, at as usize);
    let (stanza, findings) = match lexer.piece() {
        Piece::Stanza => one_stanza(source, &mut lexer),
        Piece::Comment(_) | Piece::End => {
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
    findings.sort_by_key(|finding| finding.span.start);
    stanza.valid = findings.iter().all(|finding| finding.severity < Severity::Error);
    (stanza, findings)
}

/// Blocks and parentheses within each other, at most.
const DEEPEST: usize = 64;

/// Reads the tokens of a stanza.
#[derive(Debug)]
struct Parser<'a> {
    source: &'a Source,
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    findings: Vec<Finding>,
}

/// A mistake was told; what was being read cannot be finished.
#[derive(Debug)]
struct Mistake;

type Parsed<T> = Result<T, Mistake>;

/// Behind the last token nothing else comes.
static END: Token = Token { kind: TokenKind::End, span: Span { start: 0, end: 0 } };

impl<'a> Parser<'a> {
    fn new(source: &'a Source, tokens: &'a [Token]) -> Self {
        Self { source, tokens, at: 0, depth: 0, findings: Vec::new() }
    }

    fn peek(&self) -> &'a Token {
        self.ahead(0)
    }

    /// The token `steps` behind the next one.
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

    /// The place of the token before the next one.
    fn before(&self) -> Span {
        let at = self.at.saturating_sub(1);
        self.tokens.get(at).map_or_else(Span::default, |token| token.span)
    }

    /// The value of a token that is a string.
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

    /// Steps over a sign, if it is next.
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

    /// Tells what was expected in place of the next token.
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

    /// Runs `read` one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEEPEST {
            let span = self.peek().span;
            return self.mistake(span, format!("nested deeper than {DEEPEST} levels"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}
