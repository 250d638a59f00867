//! Parses switches and bit flags. The numbers in the cases of a switch are written in the radix of
//! the switch's value. The numbers of bit flags are hexadecimal.

use super::lexer::TokenKind;
use super::{Parsed, Parser};
use crate::template::syntax::code::{DECIMAL, HEXADECIMAL};
use crate::template::syntax::{
    Body, Case, Flag, FlagTest, Flags, Macro, Number, Pattern, Switch, Text, Value, ValueKind,
};

/// The radix of a number.
#[derive(Clone, Copy, Debug)]
enum Radix {
    /// The radix in which the format code reads the value of the switch.
    Fixed(u32),
    /// Decimal if the number has only decimal digits, otherwise hexadecimal.
    Guessed,
}

impl Parser<'_> {
    /// Parses the cases of a switch over a value. A comma or a case must be next.
    pub(super) fn switch(&mut self, value: Value) -> Parsed<Switch> {
        let radix = match &value.kind {
            ValueKind::Code(code) | ValueKind::Macro(Macro { code: Some(code), .. }) => {
                Radix::Fixed(code.radix())
            }
            ValueKind::Macro(_) => Radix::Guessed,
        };
        let mut cases = Vec::new();
        while self.case_follows() {
            let start = self.peek().span;
            let pattern = self.pattern(radix)?;
            let span = start.to(self.before());
            let body = self.case_body()?;
            cases.push(Case { pattern, span, body });
        }
        Ok(Switch { value, cases })
    }

    /// Skips the comma before a case. Returns false if no case follows. Reports a missing comma and
    /// continues, so that the following cases cause no further messages.
    fn case_follows(&mut self) -> bool {
        let has_comma = self.take_sign(',');
        let misses_comma = !has_comma && self.is_case_without_comma();
        if misses_comma {
            // The error has been reported, and the case can be parsed.
            let _: Parsed<()> = self.expected("a ',' before the case of a switch");
        }
        has_comma || misses_comma
    }

    /// Returns true if the next tokens are the pattern of a case and the start of its text or
    /// block. No item begins like this.
    pub(super) fn is_case_without_comma(&self) -> bool {
        let token = self.peek();
        let is_match = match token.kind {
            TokenKind::Word => self.slice(token).starts_with(|c: char| c.is_ascii_digit()),
            TokenKind::Mark(mark) => mark == '*',
            _ => false,
        };
        is_match && matches!(self.ahead(1).kind, TokenKind::Text(_) | TokenKind::Sign('{'))
    }

    fn pattern(&mut self, radix: Radix) -> Parsed<Pattern> {
        let token = self.peek();
        match &token.kind {
            TokenKind::Mark('*') => {
                self.next();
                Ok(Pattern::Any)
            }
            TokenKind::Text(_) => {
                self.next();
                let text = self.text(token).unwrap_or_default();
                // Recorded strings end before a NUL, so a pattern with a NUL would never match.
                Ok(Pattern::Text(text.trim_end_matches('\0').to_owned()))
            }
            TokenKind::Word | TokenKind::Sign('-') => self.number(radix).map(Pattern::Number),
            _ => self.expected("a number, a string or \\* after the ',' of a switch"),
        }
    }

    fn case_body(&mut self) -> Parsed<Body> {
        if let Some(text) = self.take_text() {
            return Ok(Body::Text(text));
        }
        if self.is_sign('{') {
            return self.block("of a case").map(Body::Block);
        }
        self.expected("a string or '{' after the match")
    }

    fn take_text(&mut self) -> Option<Text> {
        let token = self.peek();
        let value = self.text(token)?;
        self.next();
        Some(Text { value, span: token.span })
    }

    fn number(&mut self, radix: Radix) -> Parsed<Number> {
        let start = self.peek().span;
        let negative = self.take_sign('-');
        let token = self.peek();
        if token.kind != TokenKind::Word {
            return self.expected("a number");
        }
        self.next();
        let digits = self.slice(token);
        match number(digits, radix) {
            Ok(value) => {
                let text = format!("{}{digits}", if negative { "-" } else { "" });
                // The number is in two's complement. It is masked to the width of the value when it
                // is compared.
                let value = if negative { value.wrapping_neg() } else { value };
                Ok(Number { text, value })
            }
            Err(what) => {
                self.mistake(start.to(token.span), format!("expected {what}, found '{digits}'"))
            }
        }
    }

    /// Parses `BITFLAGS`. Its numbers are hexadecimal, regardless of the code of the value.
    pub(super) fn flags(&mut self) -> Parsed<Flags> {
        self.next();
        let value = self.value()?;
        let mut flags = Vec::new();
        loop {
            // The comma before a flag is optional.
            let comma = self.take_sign(',');
            if !self.is_flag(comma) {
                break;
            }
            flags.push(self.flag(Radix::Fixed(HEXADECIMAL))?);
        }
        if flags.is_empty() {
            return self
                .expected("a flag: a value and a string, or '&', a mask, a field and a string");
        }
        Ok(Flags { value, flags })
    }

    /// Returns true if a flag is next. After a comma, every word of hexadecimal digits is a flag.
    /// Without a comma it must begin with a digit, because it could otherwise be the next item.
    fn is_flag(&self, after_comma: bool) -> bool {
        let token = self.peek();
        if token.kind == TokenKind::Sign('&') {
            return true;
        }
        let word = self.slice(token);
        let digit = |byte: &u8| byte.is_ascii_digit();
        let hexadecimal = word.bytes().all(|byte| byte.is_ascii_hexdigit());
        token.kind == TokenKind::Word
            && (word.as_bytes().first().is_some_and(digit) || after_comma && hexadecimal)
    }

    fn flag(&mut self, radix: Radix) -> Parsed<Flag> {
        let start = self.peek().span;
        let test = if self.take_sign('&') {
            FlagTest::Field(self.number(radix)?, self.number(radix)?)
        } else {
            FlagTest::Bits(self.number(radix)?)
        };
        match self.take_text() {
            Some(on) => {
                let off = self.take_text();
                Ok(Flag { test, on, off, span: start.to(self.before()) })
            }
            None => self.expected("a string after the value of a flag"),
        }
    }
}

/// Returns the value of the digits, or a description of the expected text.
fn number(digits: &str, radix: Radix) -> Result<u64, &'static str> {
    let (digits, radix) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => (digits, HEXADECIMAL),
        None => match radix {
            Radix::Fixed(radix) => (digits, radix),
            // If the radix is unknown, a number without letters is decimal, and a number with
            // letters is hexadecimal.
            Radix::Guessed if digits.bytes().all(|byte| byte.is_ascii_digit()) => (digits, DECIMAL),
            Radix::Guessed => (digits, HEXADECIMAL),
        },
    };
    u64::from_str_radix(digits, radix).map_err(|_| match radix {
        2 => "a binary number of at most 64 digits",
        8 => "an octal number of 64 bits",
        10 => "a decimal number of 64 bits",
        _ => "a hexadecimal number of 64 bits",
    })
}
