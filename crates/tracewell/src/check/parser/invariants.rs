//! Parses statements about the whole trace: `never`, `count`, `eventually`, `whenever`, `each`.

use super::{Parser, Scope};
use crate::check::syntax::{Invariant, InvariantKind};
use crate::select::expression::tokens::Result;
use crate::source::Span;

impl Parser<'_> {
    /// Parses the rest of a statement that begins with this word. The statement does not share the
    /// variables of the rule.
    pub(super) fn invariant(&mut self, word: &str, start: Span) -> Result<Invariant> {
        let own = Scope { strict: self.scope.strict, ..Scope::default() };
        let rule = std::mem::replace(&mut self.scope, own);
        let read = self.with_own_scope(word, start);
        self.scope = rule;
        read
    }

    fn with_own_scope(&mut self, word: &str, start: Span) -> Result<Invariant> {
        let kind = match word {
            "never" => InvariantKind::Never(self.pattern()?),
            "count" => {
                let Some((least, most)) = self.range()? else {
                    return Err(self.tokens.expected("a number such as 3, 2..5, 2.. or ..5"));
                };
                InvariantKind::Count { least, most, pattern: self.pattern()? }
            }
            "eventually" => {
                InvariantKind::Count { least: 1, most: u64::MAX, pattern: self.pattern()? }
            }
            _ => self.whenever(word == "each")?,
        };
        let from = if self.tokens.take_word("from") { Some(self.pattern()?) } else { None };
        let until = if self.tokens.take_word("until") { Some(self.pattern()?) } else { None };
        let slots = self.scope.variables.len();
        Ok(Invariant { kind, span: start.to(self.tokens.span_before()), from, until, slots })
    }

    fn whenever(&mut self, pairs: bool) -> Result<InvariantKind> {
        let trigger = self.pattern()?;
        if !self.tokens.take_word("then") {
            return Err(self.tokens.expected("'then' and the event that must follow"));
        }
        let answer = self.pattern()?;
        let within = if self.tokens.take_word("within") { Some(self.limit()?) } else { None };
        Ok(InvariantKind::Whenever { trigger, answer, within, pairs })
    }
}
