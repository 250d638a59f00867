//! Reads a rules file: statements, blocks, and where to go on behind an error.
//!
//! | statement | read in |
//! |---|---|
//! | `strict`, `complete`, `ignore`, `only`, `rule`, `...` | here |
//! | steps | `steps` |
//! | `never`, `count`, `eventually`, `whenever` | `invariants` |
//! | patterns of events in all of them | `pattern` |

mod invariants;
mod pattern;
mod steps;

use std::collections::HashMap;

use super::lexer::{Lexer, Place, Token, TokenKind};
use super::syntax::{Item, ItemKind, Rule, Rules, Shape};
use crate::source::{Finding, Severity, Source, Span};

/// Blocks may stand in blocks so deep.
const DEEPEST: usize = 64;

/// What was read, and what is wrong with it.
#[derive(Debug)]
pub struct Parsed {
    /// The rules; `None` where there is an error.
    pub rules: Option<Rules>,
    /// Errors and warnings, in the order of the text.
    pub findings: Vec<Finding>,
}

impl Rules {
    /// Reads the text of a rules file. One that asks for nothing is an error.
    pub fn parse(source: &Source) -> Parsed {
        let mut lexer = Lexer::new(source);
        let token = lexer.next();
        let mut parser = Parser {
            source,
            lexer,
            token,
            before: Span::default(),
            findings: Vec::new(),
            rules: Self::default(),
            shapes: HashMap::new(),
            scope: Scope::default(),
            depth: 0,
        };
        parser.file();
        let Parser { rules, lexer, mut findings, .. } = parser;
        findings.extend(lexer.into_findings());
        findings.sort_by_key(|finding| (finding.span.start, finding.span.end));
        let wrong = findings.iter().any(|finding| finding.severity == Severity::Error);
        Parsed { rules: (!wrong).then_some(rules), findings }
    }
}

/// An error was told; the rest of the statement is skipped.
pub(super) struct Told;

type Result<T> = std::result::Result<T, Told>;

/// Names that hold in a rule, or in an invariant.
#[derive(Debug, Default)]
struct Scope {
    variables: Vec<String>,
    marks: Vec<String>,
    strict: bool,
}

struct Parser<'a> {
    source: &'a Source,
    lexer: Lexer<'a>,
    /// The next token.
    token: Token,
    /// The span of the token that was taken last.
    before: Span,
    findings: Vec<Finding>,
    rules: Rules,
    shapes: HashMap<Shape, u32>,
    scope: Scope,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> &TokenKind {
        &self.token.kind
    }

    fn span(&self) -> Span {
        self.token.span
    }

    /// The span of the token that was taken last.
    fn span_before(&self) -> Span {
        self.before
    }

    fn advance(&mut self) {
        let next = self.lexer.next();
        self.before = std::mem::replace(&mut self.token, next).span;
    }

    /// Where the parser stands, to come back to.
    fn place(&self) -> (Place, Token, Span) {
        (self.lexer.place(), self.token.clone(), self.before)
    }

    /// Comes back to a place.
    fn go_back(&mut self, (place, token, before): (Place, Token, Span)) {
        self.lexer.go_back(place);
        (self.token, self.before) = (token, before);
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), TokenKind::Sign(found) if *found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), TokenKind::Word(found) if found == word)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.advance();
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect_sign(&mut self, sign: &str) -> Result<()> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.expected(&format!("'{sign}'"))) }
    }

    fn skip_newlines(&mut self) {
        while *self.peek() == TokenKind::Newline {
            self.advance();
        }
    }

    fn error(&mut self, span: Span, message: impl Into<String>) -> Told {
        self.findings.push(Finding::error(span, message));
        Told
    }

    /// Tells what was expected where the next token is.
    fn expected(&mut self, what: &str) -> Told {
        let span = self.span();
        let found = match self.peek() {
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::Newline => "the end of the line".to_owned(),
            _ => format!("'{}'", self.source.slice(span)),
        };
        self.error(span, format!("expected {what}, found {found}"))
    }

    fn file(&mut self) {
        let all = Span { start: 0, end: self.source.text.len() as u32 };
        let own = self.rule(None, all);
        self.rules.rules.insert(0, own);
        // In a script, rules that ask for nothing would look like a trace that is as it should be.
        let is_right = self.findings.is_empty() && !self.lexer.has_findings();
        if is_right && self.rules.rules.iter().all(Rule::is_empty) {
            self.error(Span::default(), "expected at least one rule, found none");
        }
        self.rules.shapes = vec![Shape::default(); self.shapes.len()];
        for (shape, index) in std::mem::take(&mut self.shapes) {
            if let Some(place) = self.rules.shapes.get_mut(index as usize) {
                *place = shape;
            }
        }
    }

    /// The statements of a rule up to `}` or the end of the file.
    fn rule(&mut self, name: Option<String>, span: Span) -> Rule {
        let outer = std::mem::take(&mut self.scope);
        let empty = Item::new(ItemKind::Sequence(Vec::new()), span);
        let mut rule = Rule {
            name,
            steps: empty,
            invariants: Vec::new(),
            ignored: Vec::new(),
            only: Vec::new(),
            complete: None,
            ends: false,
            slots: 0,
            marks: 0,
        };
        let mut body = Body::default();
        while self.statement(&mut body, Some(&mut rule)) {}
        rule.ends = self.scope.strict && !body.dots;
        let steps = span_of(&body.items).unwrap_or(span);
        rule.steps = Item::new(ItemKind::Sequence(body.items), steps);
        let scope = std::mem::replace(&mut self.scope, outer);
        (rule.slots, rule.marks) = (scope.variables.len(), scope.marks.len());
        rule
    }

    /// One statement of a block; false behind the last one. `rule` is given where the block is that
    /// of a rule.
    fn statement(&mut self, body: &mut Body, rule: Option<&mut Rule>) -> bool {
        self.skip_newlines();
        if *self.peek() == TokenKind::End
            || (self.is_sign("}") && (rule.is_none() || self.depth > 0))
        {
            return false;
        }
        let read = match rule {
            Some(rule) => self.statement_of_rule(body, rule),
            None => self.step(body),
        };
        let ended = read.and_then(|()| self.statement_end());
        if ended.is_err() {
            self.skip_statement();
        }
        true
    }

    fn statement_end(&mut self) -> Result<()> {
        match self.peek() {
            TokenKind::Newline | TokenKind::End => Ok(()),
            TokenKind::Sign("}") if self.depth > 0 => Ok(()),
            _ => Err(self.expected("the end of the line")),
        }
    }

    /// Goes on behind the line; blocks that begin in it are skipped whole.
    fn skip_statement(&mut self) {
        let mut blocks = 0_usize;
        loop {
            match self.peek() {
                TokenKind::End => return,
                TokenKind::Newline if blocks == 0 => return,
                TokenKind::Sign("{") => blocks += 1,
                TokenKind::Sign("}") if blocks == 0 && self.depth > 0 => return,
                TokenKind::Sign("}") => blocks = blocks.saturating_sub(1),
                _ => {}
            }
            self.advance();
        }
    }

    fn statement_of_rule(&mut self, body: &mut Body, rule: &mut Rule) -> Result<()> {
        let span = self.span();
        let TokenKind::Word(word) = self.peek().clone() else { return self.step(body) };
        match word.as_str() {
            "strict" => {
                self.advance();
                if !body.items.is_empty() {
                    return Err(self.error(span, "'strict' must stand before the first step"));
                }
                self.scope.strict = true;
                Ok(())
            }
            "complete" => {
                self.advance();
                rule.complete = Some(span);
                Ok(())
            }
            "ignore" | "only" => {
                self.advance();
                let pattern = self.plain_pattern()?;
                let list = if word == "only" { &mut rule.only } else { &mut rule.ignored };
                list.push(pattern);
                Ok(())
            }
            "rule" => self.named_rule(span),
            "never" | "count" | "eventually" | "whenever" => {
                self.advance();
                rule.invariants.push(self.invariant(&word, span)?);
                Ok(())
            }
            _ => self.step(body),
        }
    }

    fn named_rule(&mut self, span: Span) -> Result<()> {
        self.advance();
        if self.depth > 0 {
            return Err(self.error(span, "a rule cannot stand within another"));
        }
        let (TokenKind::Quoted(name) | TokenKind::Word(name)) = self.peek().clone() else {
            return Err(self.expected("the name of the rule"));
        };
        self.advance();
        self.expect_sign("{")?;
        self.depth += 1;
        let rule = self.rule(Some(name), span);
        self.depth -= 1;
        self.rules.rules.push(rule);
        self.expect_sign("}")
    }

    /// A pattern that takes no variables: what is ignored holds all the time.
    fn plain_pattern(&mut self) -> Result<super::syntax::Pattern> {
        let known = self.scope.variables.len();
        let pattern = self.pattern()?;
        if self.scope.variables.len() > known {
            self.scope.variables.truncate(known);
            return Err(self.error(pattern.span, "a variable has no meaning here"));
        }
        Ok(pattern)
    }
}

/// The steps of a block so far.
#[derive(Debug, Default)]
struct Body {
    items: Vec<Item>,
    /// Whether `...` stands behind the last one.
    dots: bool,
}

fn span_of(items: &[Item]) -> Option<Span> {
    Some(items.first()?.span.to(items.last()?.span))
}

/// Words with which a statement or a step begins, or goes on.
const KEYWORDS: [&str; 22] = [
    "after",
    "any",
    "as",
    "complete",
    "count",
    "either",
    "eventually",
    "from",
    "ignore",
    "never",
    "next",
    "of",
    "only",
    "optional",
    "or",
    "repeat",
    "rule",
    "strict",
    "then",
    "until",
    "whenever",
    "within",
];

/// Whether a word must be in quotation marks to be a name.
pub(in crate::check) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}
