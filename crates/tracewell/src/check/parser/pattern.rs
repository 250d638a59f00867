//! Parses patterns (names, conditions on fields, alternatives), and the numbers and times in rules.

use super::{Parser, is_keyword};
use crate::check::syntax::{EventPattern, Limit, Pattern, Shape};
use crate::select::Bound;
use crate::select::expression::lexer::TokenKind;
use crate::select::expression::syntax::Text;
use crate::select::expression::tokens::Result;
use crate::source::Span;

/// Units of times in rules.
pub(super) const UNITS: [&str; 5] = ["ns", "us", "ms", "s", "ticks"];

impl Parser<'_> {
    /// Parses `NAME(FIELD = VALUE, …) | NAME …`.
    pub(super) fn pattern(&mut self) -> Result<Pattern> {
        let start = self.tokens.span();
        let mut alternatives = vec![self.alternative()?];
        while self.tokens.take_sign("|") {
            self.tokens.skip_newlines();
            alternatives.push(self.alternative()?);
        }
        let span = start.to(self.tokens.span_before());
        self.warn_of_last_conditions(&alternatives, span);
        Ok(Pattern {
            alternatives: alternatives.into_iter().map(|(pattern, _)| pattern).collect(),
            span,
        })
    }

    /// Warns if only the last of several alternatives has conditions: the author may expect them to
    /// apply to all. Does not warn if another name has parentheses, because empty parentheses show
    /// that a name needs no conditions.
    fn warn_of_last_conditions(&mut self, alternatives: &[(EventPattern, Span)], span: Span) {
        let Some(((last, named), others)) = alternatives.split_last() else { return };
        let has_parentheses = |(_, named): &(_, Span)| self.tokens.slice(*named).ends_with(')');
        if last.conditions.is_empty() || others.is_empty() || others.iter().any(has_parentheses) {
            return;
        }
        let named = self.tokens.slice(*named);
        let (last, conditions) = named.split_at(named.find('(').unwrap_or(named.len()));
        let (last, conditions) = (last.trim_end(), conditions.trim());
        let all: Vec<_> = others.iter().map(|(_, span)| self.tokens.slice(*span)).collect();
        let with =
            |list: &str| all.iter().map(|name| format!("{name}{list} | ")).collect::<String>();
        let message = format!(
            "these conditions apply only to {last}: for all events, write {}{named}; if the others \
             need no conditions, write {}{named}",
            with(conditions),
            with("()")
        );
        self.tokens.warn(span, message);
    }

    /// Parses an alternative. Also returns its span.
    fn alternative(&mut self) -> Result<(EventPattern, Span)> {
        let start = self.tokens.span();
        let pattern = self.event_pattern()?;
        Ok((pattern, start.to(self.tokens.span_before())))
    }

    fn event_pattern(&mut self) -> Result<EventPattern> {
        let name = match self.tokens.peek().clone() {
            TokenKind::Word(word) => Text::Like(word),
            TokenKind::Quoted(text) => Text::Exactly(text),
            _ => return Err(self.tokens.expected("the name of an event")),
        };
        self.tokens.advance();
        if let (Text::Like(first), TokenKind::Word(second)) = (&name, self.tokens.peek())
            && self.tokens.is_part_of_name()
            && !is_keyword(second)
        {
            let expected = "expected one word as the name of an event";
            return Err(self.tokens.blanks_in_name(first, expected, is_keyword, |_| true));
        }
        let (mut fields, mut conditions) = (Vec::new(), Vec::new());
        if self.tokens.take_sign("(") {
            while !self.tokens.take_sign(")") {
                let variables = Some(&mut self.scope.variables);
                let (field, condition) = self.tokens.condition(variables)?;
                fields.push(field);
                conditions.push(condition);
                let more = self.tokens.take_sign(",") || self.tokens.take_sign("&&");
                if !more && !self.tokens.is_sign(")") {
                    return Err(self.tokens.expected("',' or ')'"));
                }
            }
        }
        let shape = Shape { name, fields };
        // Equal shapes share a number, so that an event is compared with each shape once.
        let next = self.shapes.len() as u32;
        let shape = *self.shapes.entry(shape).or_insert(next);
        Ok(EventPattern { shape, conditions: conditions.into() })
    }

    /// Parses a limit: `2 ms`, `1.5us` or `100 ticks`. It may end with `of NAME`.
    pub(super) fn limit(&mut self) -> Result<Limit> {
        let bound = self.time()?;
        // Rules with times in seconds are refused for traces whose clock has no known rate.
        self.rules.timed |= !matches!(bound, Bound::Ticks(_));
        let of = if self.tokens.take_word("of") { Some(self.known_mark()?) } else { None };
        Ok(Limit { bound, of })
    }

    /// Parses a time: `2 ms`, `1.5us`, `100 ticks`.
    pub(super) fn time(&mut self) -> Result<Bound> {
        let expected = "a time such as 2 ms, 1.5 s, 30 us, 100 ns or 500 ticks";
        let TokenKind::Word(mut text) = self.tokens.peek().clone() else {
            return Err(self.tokens.expected(expected));
        };
        let start = self.tokens.span();
        self.tokens.advance();
        let unit = UNITS.into_iter().find(|unit| self.tokens.is_word(unit));
        if let Some(unit) = unit {
            text.push_str(unit);
            self.tokens.advance();
        }
        let ticks = text.strip_suffix("ticks");
        let bound = ticks.unwrap_or(&text).parse::<Bound>().ok();
        // Every number needs a unit, even if it is in ticks.
        let agrees = |bound: &Bound| matches!(bound, Bound::Ticks(_)) == ticks.is_some();
        let Some(bound) = bound.filter(agrees) else {
            let found = start.to(self.tokens.span_before());
            let message = format!("expected {expected}, found '{}'", self.tokens.slice(found));
            return Err(self.tokens.error(found, message));
        };
        Ok(bound)
    }

    fn known_mark(&mut self) -> Result<usize> {
        let TokenKind::Word(name) = self.tokens.peek() else {
            return Err(self.tokens.expected("a name that 'as' gave to an earlier step"));
        };
        let Some(mark) = self.scope.marks.iter().position(|known| known == name) else {
            let message =
                format!("no earlier step has the name '{name}': 'as' gives names to steps");
            return Err(self.tokens.error(self.tokens.span(), message));
        };
        self.tokens.advance();
        Ok(mark)
    }

    pub(super) fn new_mark(&mut self) -> Result<usize> {
        let TokenKind::Word(name) = self.tokens.peek().clone() else {
            return Err(self.tokens.expected("a name for the event"));
        };
        if self.scope.marks.contains(&name) {
            let message = format!("an earlier step already has the name '{name}'");
            return Err(self.tokens.error(self.tokens.span(), message));
        }
        self.tokens.advance();
        self.scope.marks.push(name);
        Ok(self.scope.marks.len() - 1)
    }

    /// Parses a number or a range: `3`, `2..5`, `2..` or `..5`. Returns `None` if there is no
    /// number.
    pub(super) fn range(&mut self) -> Result<Option<(u64, u64)>> {
        let start = self.tokens.span();
        let least = self.whole_number();
        // `3` alone means exactly three.
        if !self.tokens.take_sign("..") {
            return Ok(least.map(|count| (count, count)));
        }
        let most = self.whole_number();
        if least.is_none() && most.is_none() {
            return Err(self.tokens.error(start, "expected a number on one side of '..'"));
        }
        let (least, most) = (least.unwrap_or(0), most.unwrap_or(u64::MAX));
        if least > most {
            let span = start.to(self.tokens.span_before());
            return Err(self.tokens.error(span, "the first number is larger than the second"));
        }
        Ok(Some((least, most)))
    }

    fn whole_number(&mut self) -> Option<u64> {
        let TokenKind::Word(word) = self.tokens.peek() else { return None };
        let value = word.parse().ok()?;
        self.tokens.advance();
        Some(value)
    }
}
