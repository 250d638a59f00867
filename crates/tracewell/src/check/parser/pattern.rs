//! Patterns: names, conditions on fields, alternatives; and the numbers and times in rules.

use super::{Parser, Result};
use crate::check::lexer::TokenKind;
use crate::check::syntax::{
    Comparison, Condition, EventPattern, Field, Limit, Pattern, Property, Shape, Text, Wanted,
};
use crate::select::Bound;

impl Parser<'_> {
    /// `NAME(FIELD = VALUE, …) | NAME …`
    pub(super) fn pattern(&mut self) -> Result<Pattern> {
        let start = self.span();
        let mut alternatives = vec![self.event_pattern()?];
        while self.take_sign("|") {
            self.skip_newlines();
            alternatives.push(self.event_pattern()?);
        }
        Ok(Pattern { alternatives, span: start.to(self.span_before()) })
    }

    fn event_pattern(&mut self) -> Result<EventPattern> {
        let name = match self.peek().clone() {
            TokenKind::Word(word) => Text::Like(word),
            TokenKind::Quoted(text) => Text::Exactly(text),
            _ => return Err(self.expected("the name of an event")),
        };
        self.advance();
        let (mut fields, mut conditions) = (Vec::new(), Vec::new());
        if self.take_sign("(") {
            while !self.take_sign(")") {
                let (field, condition) = self.condition()?;
                fields.push(field);
                conditions.push(condition);
                if !self.take_sign(",") && !self.is_sign(")") {
                    return Err(self.expected("',' or ')'"));
                }
            }
        }
        let shape = Shape { name, fields };
        let next = self.shapes.len() as u32;
        let shape = *self.shapes.entry(shape).or_insert(next);
        Ok(EventPattern { shape, conditions: conditions.into() })
    }

    /// `FIELD = VALUE | VALUE`
    fn condition(&mut self) -> Result<(Field, Condition)> {
        let span = self.span();
        let field = self.field()?;
        let comparison = self.comparison()?;
        let mut values = vec![self.value()?];
        while self.take_sign("|") {
            values.push(self.value()?);
        }
        let span = span.to(self.span_before());
        let ordered = !matches!(comparison, Comparison::Equal | Comparison::Different);
        if ordered && values.iter().any(|value| matches!(value, Wanted::Text(_))) {
            return Err(self.error(span, "only numbers and variables are smaller or larger"));
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
        Ok(field)
    }

    fn comparison(&mut self) -> Result<Comparison> {
        let comparison = match self.peek() {
            TokenKind::Sign("=") => Comparison::Equal,
            TokenKind::Sign("!=") => Comparison::Different,
            TokenKind::Sign("<") => Comparison::Less,
            TokenKind::Sign("<=") => Comparison::LessOrEqual,
            TokenKind::Sign(">") => Comparison::Greater,
            TokenKind::Sign(">=") => Comparison::GreaterOrEqual,
            _ => return Err(self.expected("=, !=, <, <=, > or >=")),
        };
        self.advance();
        Ok(comparison)
    }

    fn value(&mut self) -> Result<Wanted> {
        let value = match self.peek().clone() {
            TokenKind::Word(word) => match number(&word) {
                Some(value) => Wanted::Number(value, word),
                None => Wanted::Text(Text::Like(word)),
            },
            TokenKind::Quoted(text) => Wanted::Text(Text::Exactly(text)),
            TokenKind::Variable(name) => Wanted::Variable(self.variable(name)),
            _ => return Err(self.expected("a number, a name, a text or a variable")),
        };
        self.advance();
        Ok(value)
    }

    fn variable(&mut self, name: String) -> usize {
        place(&mut self.scope.variables, name)
    }

    /// `2 ms`, `1.5us`, `100 ticks`; then perhaps `of NAME`.
    pub(super) fn limit(&mut self) -> Result<Limit> {
        let expected = "a time such as 2 ms, 1.5 s, 30 us, 100 ns or 500 ticks";
        let TokenKind::Word(mut text) = self.peek().clone() else {
            return Err(self.expected(expected));
        };
        let start = self.span();
        self.advance();
        let unit = ["ns", "us", "ms", "s", "ticks"].into_iter().find(|unit| self.is_word(unit));
        if let Some(unit) = unit {
            text.push_str(unit);
            self.advance();
        }
        let ticks = text.strip_suffix("ticks");
        let bound = ticks.unwrap_or(&text).parse::<Bound>().ok();
        let agrees = |bound: &Bound| matches!(bound, Bound::Ticks(_)) == ticks.is_some();
        let Some(bound) = bound.filter(agrees) else {
            let found = start.to(self.span_before());
            let message = format!("expected {expected}, found '{}'", self.source.slice(found));
            return Err(self.error(found, message));
        };
        self.rules.timed |= ticks.is_none();
        let of = if self.take_word("of") { Some(self.known_mark()?) } else { None };
        Ok(Limit { bound, of })
    }

    fn known_mark(&mut self) -> Result<usize> {
        let TokenKind::Word(name) = self.peek() else {
            return Err(self.expected("the name that a step before has by 'as'"));
        };
        let Some(mark) = self.scope.marks.iter().position(|known| known == name) else {
            let message = "no step before has this name by 'as'";
            return Err(self.error(self.span(), message));
        };
        self.advance();
        Ok(mark)
    }

    pub(super) fn new_mark(&mut self) -> Result<usize> {
        let TokenKind::Word(name) = self.peek().clone() else {
            return Err(self.expected("a name for the event"));
        };
        if self.scope.marks.contains(&name) {
            let message = format!("a step before has the name '{name}' already");
            return Err(self.error(self.span(), message));
        }
        self.advance();
        self.scope.marks.push(name);
        Ok(self.scope.marks.len() - 1)
    }

    /// `3`, `2..5`, `2..`, `..5`; `None` where there is no number.
    pub(super) fn range(&mut self) -> Result<Option<(u64, u64)>> {
        let start = self.span();
        let least = self.whole_number();
        if !self.take_sign("..") {
            return Ok(least.map(|count| (count, count)));
        }
        let most = self.whole_number();
        if least.is_none() && most.is_none() {
            return Err(self.error(start, "expected a number on one side of '..'"));
        }
        let (least, most) = (least.unwrap_or(0), most.unwrap_or(u64::MAX));
        if least > most {
            let span = start.to(self.span_before());
            return Err(self.error(span, "the first number is larger than the second"));
        }
        Ok(Some((least, most)))
    }

    fn whole_number(&mut self) -> Option<u64> {
        let TokenKind::Word(word) = self.peek() else { return None };
        let value = word.parse().ok()?;
        self.advance();
        Some(value)
    }
}

/// The position of a name in a list, added if it is not there.
fn place(names: &mut Vec<String>, name: String) -> usize {
    names.iter().position(|known| *known == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    })
}

/// A whole number, decimal or hexadecimal with `0x`, with a sign perhaps.
fn number(word: &str) -> Option<i128> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word),
    };
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) if !hexadecimal.starts_with(['+', '-']) => {
            i128::from(u64::from_str_radix(hexadecimal, 16).ok()?)
        }
        Some(_) => return None,
        None if digits.starts_with(['+', '-']) => return None,
        None => i128::from(digits.parse::<u64>().ok()?),
    };
    Some(if negative { -value } else { value })
}
