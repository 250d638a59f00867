//! Parses descriptions: sequences of items, which may contain blocks.

use super::lexer::{Token, TokenKind};
use super::{Parsed, Parser};
use crate::source::Span;
use crate::template::syntax::code::{AnyCode, any_code};
use crate::template::syntax::{
    Call, Code, Function, Item, ItemKind, Macro, Text, Value, ValueKind,
};

/// Maximum number of arguments of a call.
const MAX_ARGUMENTS: usize = 64;

impl Parser<'_> {
    /// Parses items up to the end of the stanza, or to the `}` that closes the block opened at
    /// `open`. Reports and skips anything else.
    pub(super) fn description(&mut self, open: Option<Span>) -> Vec<Item> {
        let mut items = Vec::new();
        let mut silent = false;
        loop {
            match &self.peek().kind {
                TokenKind::End => return items,
                TokenKind::Sign('}') if open.is_some() => return items,
                _ => {}
            }
            // Remember the position and the number of errors, to detect later if the item changed
            // them.
            let (before, faults) = (self.at, self.findings.len());
            match self.item() {
                Ok(item) => {
                    silent = false;
                    items.push(item);
                }
                Err(_) => {
                    // If a token directly after an error cannot begin an item, report no further
                    // error. The token is probably part of the same mistake.
                    if silent && self.at == before {
                        self.findings.truncate(faults);
                    }
                    silent = true;
                    // Always advance, because otherwise the loop would not end.
                    self.at += usize::from(self.at == before);
                }
            }
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        let start = self.peek().span;
        let kind = self.item_kind()?;
        Ok(Item { kind, span: start.to(self.before()) })
    }

    fn item_kind(&mut self) -> Parsed<ItemKind> {
        let token = self.peek();
        match &token.kind {
            TokenKind::Text(_) => {
                self.next();
                let value = self.text(token).unwrap_or_default();
                Ok(ItemKind::Text(Text { value, span: token.span }))
            }
            TokenKind::Mark(mark @ ('n' | 't')) => {
                self.next();
                let value = if *mark == 'n' { "\n" } else { "\t" };
                Ok(ItemKind::Text(Text { value: value.to_owned(), span: token.span }))
            }
            TokenKind::Sign('{') if self.ahead(1).kind == TokenKind::Sign('{') => self.definition(),
            TokenKind::Sign('{') => self.expected(
                "an item ('{' is valid only in a case or a loop, '{{' begins a definition)",
            ),
            TokenKind::Macro => self.value_or_switch(),
            TokenKind::Word => self.word_item(token),
            TokenKind::Sign(_) | TokenKind::Mark(_) | TokenKind::Percent | TokenKind::End => {
                self.expected("an item: a string, a code, a macro, SWITCH, LOOP or BITFLAGS")
            }
        }
    }

    fn word_item(&mut self, token: &Token) -> Parsed<ItemKind> {
        if self.ahead(1).kind == TokenKind::Sign('(') {
            return self.call();
        }
        if self.is_level() {
            return self.level().map(ItemKind::Level);
        }
        let word = self.slice(token);
        if word.eq_ignore_ascii_case("LOOP") {
            return self.repetition();
        }
        if word.eq_ignore_ascii_case("BITFLAGS") {
            return self.flags().map(ItemKind::Flags);
        }
        match any_code(word) {
            Some(Ok(AnyCode::Move(code))) => {
                self.next();
                Ok(ItemKind::Move(code))
            }
            // Parse the code as a value first, because a switch also begins with a value.
            Some(Ok(AnyCode::Value(_))) => self.value_or_switch(),
            Some(Err(message)) => {
                self.next();
                self.mistake(token.span, format!("{word}: {message}"))
            }
            None => self.expected("an item: a string, a code, a macro, LOOP or BITFLAGS"),
        }
    }

    /// Returns true if the next word begins an item. Such a word is not a label.
    pub(super) fn is_item_word(&self) -> bool {
        let word = self.slice(self.peek());
        self.ahead(1).kind == TokenKind::Sign('(')
            || self.is_level()
            || word.eq_ignore_ascii_case("LOOP")
            || word.eq_ignore_ascii_case("BITFLAGS")
            || any_code(word).is_some()
    }

    /// Parses a value, or a switch if a comma follows the value.
    fn value_or_switch(&mut self) -> Parsed<ItemKind> {
        let value = self.value()?;
        if self.is_sign(',') || self.is_case_without_comma() {
            return self.switch(value).map(ItemKind::Switch);
        }
        Ok(ItemKind::Value(value))
    }

    /// Parses a macro, or a code that has a value.
    pub(super) fn value(&mut self) -> Parsed<Value> {
        let token = self.peek();
        let kind = match &token.kind {
            TokenKind::Macro => ValueKind::Macro(self.macro_name()?),
            TokenKind::Word => {
                let word = self.slice(token);
                match any_code(word) {
                    Some(Ok(AnyCode::Value(code))) => {
                        self.next();
                        ValueKind::Code(code)
                    }
                    Some(Ok(AnyCode::Move(_))) => {
                        return self.expected("a value (this code only moves the pointer)");
                    }
                    Some(Err(message)) => {
                        self.next();
                        return self.mistake(token.span, format!("{word}: {message}"));
                    }
                    None => return self.expected("a format code or a macro"),
                }
            }
            _ => return self.expected("a format code or a macro"),
        };
        Ok(Value { kind, span: token.span.to(self.before()) })
    }

    fn macro_name(&mut self) -> Parsed<Macro> {
        let token = self.next();
        let name = self.name_of(token)?;
        let code = match self.peek().kind {
            TokenKind::Percent => Some(self.print_form()?),
            _ => None,
        };
        Ok(Macro { name, code })
    }

    /// Returns the name of a macro token, without its `$`.
    pub(super) fn name_of(&mut self, token: &Token) -> Parsed<String> {
        let name = self.slice(token).get(1..).unwrap_or_default();
        let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if name.is_empty() || !letters {
            let message = "expected a name of letters, digits and _ after '$'";
            return self.mistake(token.span, message);
        }
        Ok(name.to_owned())
    }

    fn print_form(&mut self) -> Parsed<Code> {
        let token = self.next();
        let word = self.slice(token).get(1..).unwrap_or_default();
        match any_code(word) {
            Some(Ok(AnyCode::Value(code))) if code.is_print_form() => Ok(code),
            Some(Ok(_)) => {
                self.mistake(token.span, format!("{word} reads the entry; it cannot follow '%'"))
            }
            Some(Err(message)) => self.mistake(token.span, format!("{word}: {message}")),
            None => self.mistake(token.span, "expected a format code after '%'"),
        }
    }

    /// Parses `{ ... }`.
    pub(super) fn block(&mut self, place: &str) -> Parsed<Vec<Item>> {
        let open = self.expect_sign('{', place)?;
        let body = self.deeper(|parser| Ok(parser.description(Some(open))))?;
        if self.take_sign('}') {
            return Ok(body);
        }
        // The opening brace is often many lines above, so the message contains its line.
        let line = self.source.position(open.start);
        self.expected(&format!("'}}' for the '{{' of line {}, column {}", line.line, line.column))
    }

    fn repetition(&mut self) -> Parsed<ItemKind> {
        self.next();
        let value = self.value()?;
        let body = self.block("after the value of LOOP")?;
        Ok(ItemKind::Loop(value, body))
    }

    /// Parses `{{ ... }}`.
    fn definition(&mut self) -> Parsed<ItemKind> {
        // Skip the two braces, which the caller has already checked.
        self.at += 2;
        let kind = match self.peek().kind {
            TokenKind::Macro => ItemKind::Assign(self.assignments()?),
            TokenKind::Word => ItemKind::Define(self.function()?),
            _ => return self.expected("$name = ... or name(...) after '{{'"),
        };
        self.expect_sign('}', "at the end of '{{'")?;
        self.expect_sign('}', "at the end of '{{'")?;
        Ok(kind)
    }

    fn function(&mut self) -> Parsed<Function> {
        let token = self.next();
        let (name, span) = (self.slice(token).to_owned(), token.span);
        self.expect_sign('(', "after the name of a function")?;
        let mut parameters = Vec::new();
        while self.peek().kind == TokenKind::Word {
            let parameter = self.next();
            parameters.push(self.slice(parameter).to_owned());
            if !self.take_sign(',') {
                break;
            }
        }
        self.expect_sign(')', "after the parameters")?;
        let body = self.deeper(|parser| Ok(parser.description(Some(span))))?;
        Ok(Function { name, span, parameters, body })
    }

    /// Parses `name(a, b)`, including timers.
    fn call(&mut self) -> Parsed<ItemKind> {
        let token = self.next();
        let name = self.slice(token).to_owned();
        self.at += 1;
        let mut arguments = Vec::new();
        if !self.is_sign(')') {
            arguments.push(self.expression()?);
            while self.take_sign(',') {
                if arguments.len() == MAX_ARGUMENTS {
                    return self.expected(&format!("at most {MAX_ARGUMENTS} arguments"));
                }
                arguments.push(self.expression()?);
            }
        }
        self.expect_sign(')', "after the arguments")?;
        // Timers have the syntax of calls, but need exactly two arguments.
        let start = name.eq_ignore_ascii_case("STARTTIMER");
        if !start && !name.eq_ignore_ascii_case("ENDTIMER") {
            return Ok(ItemKind::Call(Call { name, arguments }));
        }
        match <[_; 2]>::try_from(arguments) {
            Ok(key) => Ok(ItemKind::Timer { start, key: Box::new(key) }),
            Err(found) => {
                let message = format!("{name} takes 2 arguments, found {}", found.len());
                self.mistake(token.span, message)
            }
        }
    }
}
