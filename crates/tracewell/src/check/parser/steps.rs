//! Steps: events in order, and blocks of them.

use super::{Body, DEEPEST, Parser, Result, span_of};
use crate::check::lexer::TokenKind;
use crate::check::syntax::{Item, ItemKind};

impl Parser<'_> {
    /// A step, or `...`, at the end of a block.
    pub(super) fn step(&mut self, body: &mut Body) -> Result<()> {
        if self.take_sign("...") {
            body.dots = true;
            return Ok(());
        }
        let mut item = self.item()?;
        item.loose = std::mem::take(&mut body.dots);
        body.items.push(item);
        Ok(())
    }

    /// A step with what stands around it: `next`, `within`, `after`, `as`.
    fn item(&mut self) -> Result<Item> {
        self.depth += 1;
        let item = if self.depth > DEEPEST {
            let span = self.span();
            Err(self.error(span, format!("blocks are nested more than {DEEPEST} deep")))
        } else {
            self.decorated()
        };
        self.depth -= 1;
        item
    }

    fn decorated(&mut self) -> Result<Item> {
        let start = self.span();
        let next = self.take_word("next");
        let mut item = self.bare_item()?;
        item.decorate(next, None);
        loop {
            if self.take_word("within") {
                let limit = self.limit()?;
                item.decorate(false, Some(limit));
            } else if self.is_word("after") {
                self.of_event(&item, "after")?;
                item.after = Some(self.limit()?);
            } else if self.is_word("as") {
                self.of_event(&item, "as")?;
                item.mark = Some(self.new_mark()?);
            } else {
                break;
            }
        }
        item.span = start.to(self.span_before());
        Ok(item)
    }

    /// Steps over a word that only an event may have behind it.
    fn of_event(&mut self, item: &Item, word: &str) -> Result<()> {
        if !matches!(item.kind, ItemKind::Event(_)) {
            let message = format!("'{word}' may stand behind an event only");
            return Err(self.error(self.span(), message));
        }
        self.advance();
        Ok(())
    }

    fn bare_item(&mut self) -> Result<Item> {
        let start = self.span();
        let word = match self.peek() {
            TokenKind::Sign("{") => return self.block(),
            TokenKind::Word(word) => word.clone(),
            _ => String::new(),
        };
        let kind = match word.as_str() {
            "optional" => {
                self.advance();
                self.repeat(0, 1)?
            }
            "repeat" => {
                self.advance();
                let (least, most) = self.range()?.unwrap_or((1, u64::MAX));
                self.repeat(least, most)?
            }
            "any" => {
                self.advance();
                if !self.take_word("order") {
                    return Err(self.expected("'order'"));
                }
                ItemKind::AnyOrder(self.items()?)
            }
            "either" => {
                self.advance();
                ItemKind::Either(self.alternatives()?)
            }
            "never" | "count" | "eventually" | "whenever" | "strict" | "complete" | "ignore"
            | "only" | "rule" => {
                let message = format!("'{word}' cannot stand within a block of steps");
                return Err(self.error(start, message));
            }
            _ => ItemKind::Event(self.pattern()?),
        };
        let event = matches!(kind, ItemKind::Event(_));
        let mut item = Item::new(kind, start.to(self.span_before()));
        item.decorate(self.scope.strict && event, None);
        Ok(item)
    }

    /// What is repeated, with the variables that are its own.
    fn repeat(&mut self, least: u64, most: u64) -> Result<ItemKind> {
        let first = self.scope.variables.len();
        let body = Box::new(self.item()?);
        let slots = first..self.scope.variables.len();
        Ok(ItemKind::Repeat { least, most, body, slots })
    }

    /// `A or B or C`, where `or` may begin a line.
    fn alternatives(&mut self) -> Result<Vec<Item>> {
        let mut items = vec![self.item()?];
        loop {
            let back = self.place();
            self.skip_newlines();
            if !self.take_word("or") {
                self.go_back(back);
                break;
            }
            items.push(self.item()?);
        }
        if items.len() < 2 {
            return Err(self.expected("'or' and another step"));
        }
        Ok(items)
    }

    fn block(&mut self) -> Result<Item> {
        let start = self.span();
        let items = self.items()?;
        Ok(Item::new(ItemKind::Sequence(items), start.to(self.span_before())))
    }

    /// `{ steps }`
    fn items(&mut self) -> Result<Vec<Item>> {
        let open = self.span();
        self.expect_sign("{")?;
        let mut body = Body::default();
        while self.statement(&mut body, None) {}
        self.expect_sign("}")?;
        if body.dots {
            let span = span_of(&body.items).unwrap_or(open);
            return Err(self.error(span, "'...' must have a step behind it in this block"));
        }
        if body.items.is_empty() {
            return Err(self.error(open.to(self.span_before()), "expected steps in this block"));
        }
        Ok(body.items)
    }
}
