//! Reads the tokens of a text with one token of lookahead, and parses conditions.

use super::lexer::{Lexer, Position, Token, TokenKind};
use super::syntax::{Comparison, Condition, Field, Property, Text, Wanted};
use crate::model::schema::Level;
use crate::source::{Finding, Source, Span};

/// The signs of comparisons, for messages.
const COMPARISONS: &str = "=, !=, <, <=, > or >=";

/// Shows that an error was reported. The parser then skips the statement or stops.
pub(crate) struct Reported;

pub(crate) type Result<T> = std::result::Result<T, Reported>;

/// The tokens of a text, and the errors and warnings about it.
pub(crate) struct Tokens<'a> {
    source: &'a Source,
    lexer: Lexer<'a>,
    /// The next token. One token of lookahead is enough.
    token: Token,
    /// The span of the previous token.
    before: Span,
    findings: Vec<Finding>,
}

impl<'a> Tokens<'a> {
    /// Creates a reader of the tokens of a text. `parts` is the noun for the parts of the text,
    /// such as "rules". Messages use this noun.
    pub(crate) fn new(source: &'a Source, parts: &'static str) -> Self {
        let mut lexer = Lexer::new(source, parts);
        let token = lexer.next();
        Self { source, lexer, token, before: Span::default(), findings: Vec::new() }
    }

    pub(crate) fn peek(&self) -> &TokenKind {
        &self.token.kind
    }

    pub(crate) fn span(&self) -> Span {
        self.token.span
    }

    /// Returns the span of the previous token.
    pub(crate) fn span_before(&self) -> Span {
        self.before
    }

    /// Returns the text of a span.
    pub(crate) fn slice(&self, span: Span) -> &'a str {
        self.source.slice(span)
    }

    /// Returns the length of the text in bytes.
    pub(crate) fn text_len(&self) -> u32 {
        self.source.text.len() as u32
    }

    pub(crate) fn advance(&mut self) {
        let next = self.lexer.next();
        self.before = std::mem::replace(&mut self.token, next).span;
    }

    /// Returns the current position.
    pub(crate) fn position(&self) -> (Position, Token, Span) {
        (self.lexer.position(), self.token.clone(), self.before)
    }

    /// Returns to a position.
    pub(crate) fn go_back(&mut self, (position, token, before): (Position, Token, Span)) {
        self.lexer.go_back(position);
        (self.token, self.before) = (token, before);
    }

    pub(crate) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), TokenKind::Sign(found) if *found == sign)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), TokenKind::Word(found) if found == word)
    }

    pub(crate) fn take_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn expect_sign(&mut self, sign: &str) -> Result<()> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.expected(&format!("'{sign}'"))) }
    }

    pub(crate) fn skip_newlines(&mut self) {
        while *self.peek() == TokenKind::Newline {
            self.advance();
        }
    }

    pub(crate) fn error(&mut self, span: Span, message: impl Into<String>) -> Reported {
        self.findings.push(Finding::error(span, message));
        Reported
    }

    /// Reports text that is valid, but probably a mistake.
    pub(crate) fn warn(&mut self, span: Span, message: String) {
        self.findings.push(Finding::warning(span, message));
    }

    /// Reports what was expected instead of the next token.
    pub(crate) fn expected(&mut self, what: &str) -> Reported {
        let span = self.span();
        let found = match self.peek() {
            TokenKind::End => "the end".to_owned(),
            TokenKind::Newline => "the end of the line".to_owned(),
            _ => format!("'{}'", self.source.slice(span)),
        };
        self.error(span, format!("expected {what}, found {found}"))
    }

    /// Reports an error for the words that follow the name `first`. The error begins with
    /// `message`. If the token after these words can follow a name, the error also says how to
    /// write a name with blanks. A word for which `ends` returns true ends the name.
    pub(crate) fn blanks_in_name(
        &mut self,
        first: &str,
        message: &str,
        ends: impl Fn(&str) -> bool,
        follows: impl Fn(&TokenKind) -> bool,
    ) -> Reported {
        let span = self.span();
        let mut words = vec![first.to_owned()];
        while let TokenKind::Word(word) = self.peek()
            && !ends(word)
        {
            words.push(word.clone());
            self.advance();
        }
        let (joined, spaced) = (words.join("_"), words.join(" "));
        let hint = match follows(self.peek()) {
            true => format!("; for a name with blanks, write {joined} or \"{spaced}\""),
            false => String::new(),
        };
        self.error(span, format!("{message}, found '{}'{hint}", self.slice(span)))
    }

    /// Returns true if the next token is a word that could be a part of a name.
    pub(crate) fn is_part_of_name(&self) -> bool {
        matches!(self.peek(), TokenKind::Word(word) if word.starts_with(char::is_alphabetic))
    }

    /// Returns true if there are findings so far.
    pub(crate) fn has_findings(&self) -> bool {
        !self.findings.is_empty() || self.lexer.has_findings()
    }

    /// Returns all findings, in the order of the text.
    pub(crate) fn into_findings(self) -> Vec<Finding> {
        let mut findings = self.findings;
        findings.extend(self.lexer.into_findings());
        findings.sort_by_key(|finding| (finding.span.start, finding.span.end));
        findings
    }

    /// Parses `FIELD = VALUE | VALUE` or `FIELD in (VALUE, VALUE)`. A variable becomes an index in
    /// `variables`. If `variables` is `None`, a variable is an error.
    pub(crate) fn condition(
        &mut self,
        mut variables: Option<&mut Vec<String>>,
    ) -> Result<(Field, Condition)> {
        let span = self.span();
        let field = self.field()?;
        let is_list = self.take_word("in");
        let comparison = if is_list { Comparison::Equal } else { self.comparison()? };
        if is_list {
            self.expect_sign("(")?;
        }
        let mut values = vec![self.value(variables.as_deref_mut())?];
        while self.take_sign("|") || (is_list && self.take_sign(",")) {
            values.push(self.value(variables.as_deref_mut())?);
        }
        if is_list {
            self.expect_sign(")")?;
        }
        let span = span.to(self.span_before());
        // The span covers the whole condition, because either side may be wrong.
        let mut texts = values.iter().filter_map(|value| match value {
            Wanted::Text(Text::Like(text) | Text::Exactly(text)) => Some(text),
            _ => None,
        });
        if comparison.is_ordered() {
            let is_level = field == Field::Property(Property::Level);
            let message = match texts.find(|text| !is_level || Level::named(text).is_none()) {
                None => None,
                Some(text) if is_level => {
                    let levels = Level::ALL.map(Level::as_str).join(", ");
                    Some(format!("expected one of {levels}, found '{}'", text.escape_debug()))
                }
                Some(_) => {
                    Some("only numbers, variables and levels can be smaller or larger".to_owned())
                }
            };
            if let Some(message) = message {
                return Err(self.error(span, message));
            }
        }
        let bound = |value: &Wanted| matches!(value, Wanted::Variable(_));
        if values.len() > 1 && values.iter().any(bound) {
            return Err(self.error(span, "a variable cannot be one of several values"));
        }
        Ok((field, Condition { comparison, values }))
    }

    fn field(&mut self) -> Result<Field> {
        let field = match self.peek().clone() {
            TokenKind::Word(name) => Field::Argument(name),
            TokenKind::Quoted(name) => Field::Argument(name),
            TokenKind::Property(name) => {
                let known = Property::ALL.iter().find(|(known, _)| *known == name);
                let Some((_, property)) = known else {
                    let names: Vec<_> =
                        Property::ALL.iter().map(|(name, _)| format!("@{name}")).collect();
                    return Err(self.expected(&format!("one of {}", names.join(", "))));
                };
                Field::Property(*property)
            }
            _ => return Err(self.expected("an argument's name or @ and a property")),
        };
        self.advance();
        // Two words in a row are probably a name with blanks, which needs quotes. `in` is a
        // comparison.
        if let Field::Argument(name) = &field
            && self.is_part_of_name()
            && !self.is_word("in")
        {
            let expected = format!("expected {COMPARISONS}");
            let compares = |token: &TokenKind| {
                matches!(token, TokenKind::Sign("=" | "==" | "!=" | "<" | "<=" | ">" | ">="))
            };
            return Err(self.blanks_in_name(name, &expected, |_| false, compares));
        }
        Ok(field)
    }

    pub(crate) fn comparison(&mut self) -> Result<Comparison> {
        let comparison = match self.peek() {
            TokenKind::Sign("=" | "==") => Comparison::Equal,
            TokenKind::Sign("!=") => Comparison::Different,
            TokenKind::Sign("<") => Comparison::Less,
            TokenKind::Sign("<=") => Comparison::LessOrEqual,
            TokenKind::Sign(">") => Comparison::Greater,
            TokenKind::Sign(">=") => Comparison::GreaterOrEqual,
            _ => return Err(self.expected(COMPARISONS)),
        };
        self.advance();
        Ok(comparison)
    }

    fn value(&mut self, variables: Option<&mut Vec<String>>) -> Result<Wanted> {
        let value = match (self.peek().clone(), variables) {
            (TokenKind::Word(word), _) => match number(&word) {
                Some(value) => Wanted::Number(value, word),
                None => Wanted::Text(Text::Like(word)),
            },
            (TokenKind::Quoted(text), _) => Wanted::Text(Text::Exactly(text)),
            (TokenKind::Variable(name), Some(known)) => Wanted::Variable(index_of(known, name)),
            (_, Some(_)) => return Err(self.expected("a number, a name, a text or a variable")),
            (_, None) => return Err(self.expected("a number, a name or a text")),
        };
        self.advance();
        Ok(value)
    }
}

/// Returns the index of a name in a list. Adds the name if it is missing.
fn index_of(names: &mut Vec<String>, name: String) -> usize {
    names.iter().position(|known| *known == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    })
}

/// Parses a decimal number, or a hexadecimal number with `0x`. A `-` may precede the number.
fn number(word: &str) -> Option<i128> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word),
    };
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        // Exclude a sign here, because `from_str_radix` and `parse` would accept one.
        Some(hexadecimal) if !hexadecimal.starts_with(['+', '-']) => {
            i128::from(u64::from_str_radix(hexadecimal, 16).ok()?)
        }
        Some(_) => return None,
        None if digits.starts_with(['+', '-']) => return None,
        None => i128::from(digits.parse::<u64>().ok()?),
    };
    Some(if negative { -value } else { value })
}
