//! Parses steps. A step is an event or a block of steps.

use super::{Body, MAX_DEPTH, Parser, span_of};
use crate::check::syntax::{Item, ItemKind};
use crate::select::expression::lexer::TokenKind;
use crate::select::expression::tokens::Result;

impl Parser<'_> {
    /// Parses a step, or `...`, and adds it to a block.
    pub(super) fn step(&mut self, body: &mut Body) -> Result<()> {
        if self.tokens.take_sign("...") {
            body.dots = true;
            return Ok(());
        }
        let mut item = self.item()?;
        item.loose = std::mem::take(&mut body.dots);
        body.items.push(item);
        Ok(())
    }

    /// Parses a step and its modifiers: `next`, `within`, `after`, `as`.
    fn item(&mut self) -> Result<Item> {
        self.depth += 1;
        let item = if self.depth > MAX_DEPTH {
            let span = self.tokens.span();
            Err(self
                .tokens
                .error(span, format!("blocks are nested more than {MAX_DEPTH} levels deep")))
        } else {
            self.decorated()
        };
        self.depth -= 1;
        item
    }

    fn decorated(&mut self) -> Result<Item> {
        let start = self.tokens.span();
        let next = self.tokens.take_word("next");
        let mut item = self.bare_item()?;
        item.decorate(next, None);
        loop {
            if self.tokens.take_word("within") {
                let limit = self.limit()?;
                item.decorate(false, Some(limit));
            } else if self.tokens.is_word("after") {
                self.of_event(&item, "after")?;
                item.after = Some(self.limit()?);
            } else if self.tokens.is_word("as") {
                self.of_event(&item, "as")?;
                item.mark = Some(self.new_mark()?);
            } else {
                break;
            }
        }
        item.span = start.to(self.tokens.span_before());
        Ok(item)
    }

    /// Skips a word that is only allowed after an event.
    fn of_event(&mut self, item: &Item, word: &str) -> Result<()> {
        if !matches!(item.kind, ItemKind::Event(_)) {
            let message = format!("'{word}' can only follow an event");
            return Err(self.tokens.error(self.tokens.span(), message));
        }
        self.tokens.advance();
        Ok(())
    }

    fn bare_item(&mut self) -> Result<Item> {
        let start = self.tokens.span();
        let word = match self.tokens.peek() {
            TokenKind::Sign("{") => return self.block(),
            TokenKind::Word(word) => word.clone(),
            _ => String::new(),
        };
        let kind = match word.as_str() {
            "optional" => {
                self.tokens.advance();
                self.repeat(0, 1)?
            }
            "repeat" => {
                self.tokens.advance();
                let (least, most) = self.range()?.unwrap_or((1, u64::MAX));
                self.repeat(least, most)?
            }
            "any" => {
                self.tokens.advance();
                if !self.tokens.take_word("order") {
                    return Err(self.tokens.expected("'order'"));
                }
                ItemKind::AnyOrder(self.items()?)
            }
            "either" => {
                self.tokens.advance();
                ItemKind::Either(self.alternatives()?)
            }
            "never" | "count" | "eventually" | "whenever" | "strict" | "complete" | "ignore"
            | "only" | "rule" => {
                let message = format!("'{word}' is not allowed within a block of steps");
                return Err(self.tokens.error(start, message));
            }
            _ => ItemKind::Event(self.pattern()?),
        };
        let event = matches!(kind, ItemKind::Event(_));
        let mut item = Item::new(kind, start.to(self.tokens.span_before()));
        // In a strict rule, every event step must be the next event.
        item.decorate(self.scope.strict && event, None);
        Ok(item)
    }

    /// Parses the repeated step, and stores which variables it sets.
    fn repeat(&mut self, least: u64, most: u64) -> Result<ItemKind> {
        let first = self.scope.variables.len();
        let body = Box::new(self.item()?);
        // Variables that first appear in the body belong to it and are cleared for each repetition.
        let slots = first..self.scope.variables.len();
        Ok(ItemKind::Repeat { least, most, body, slots })
    }

    /// Parses `A or B or C`. An `or` may begin a line.
    fn alternatives(&mut self) -> Result<Vec<Item>> {
        let mut items = vec![self.item()?];
        loop {
            let back = self.tokens.position();
            self.tokens.skip_newlines();
            if !self.tokens.take_word("or") {
                // The line breaks belong to the statement, not to `either`.
                self.tokens.go_back(back);
                break;
            }
            items.push(self.item()?);
        }
        if items.len() < 2 {
            return Err(self.tokens.expected("'or' and another step"));
        }
        Ok(items)
    }

    fn block(&mut self) -> Result<Item> {
        let start = self.tokens.span();
        let items = self.items()?;
        Ok(Item::new(ItemKind::Sequence(items), start.to(self.tokens.span_before())))
    }

    /// Parses the steps of a block, from `{` to `}`.
    fn items(&mut self) -> Result<Vec<Item>> {
        let open = self.tokens.span();
        self.tokens.expect_sign("{")?;
        let (mut body, mut is_empty) = (Body::default(), true);
        while self.statement(&mut body, None) {
            is_empty = false;
        }
        self.tokens.expect_sign("}")?;
        if body.dots {
            let span = span_of(&body.items).unwrap_or(open);
            return Err(self.tokens.error(span, "expected a step after '...' in this block"));
        }
        // If no statement of the block is a valid step, each statement has an error of its own.
        if is_empty {
            return Err(self
                .tokens
                .error(open.to(self.tokens.span_before()), "expected steps in this block"));
        }
        Ok(body.items)
    }
}
