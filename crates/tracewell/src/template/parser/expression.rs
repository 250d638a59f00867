//! Parses assignments and expressions.

use super::lexer::TokenKind;
use super::{Parsed, Parser};
use crate::template::syntax::{Assignment, Expr, Number, Operator};

impl Parser<'_> {
    /// Parses one or more assignments `$x = EXPR`.
    pub(super) fn assignments(&mut self) -> Parsed<Vec<Assignment>> {
        let mut assignments = Vec::new();
        while self.peek().kind == TokenKind::Macro {
            let token = self.next();
            let name = self.name_of(token)?;
            self.expect_sign('=', "after the name of a macro in '{{'")?;
            let value = self.expression()?;
            assignments.push(Assignment { name, span: token.span, value });
            self.take_sign(',');
        }
        Ok(assignments)
    }

    /// Parses an expression. `*` and `/` bind more tightly than `+` and `-`.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.operators([Operator::Add, Operator::Subtract], |parser| {
            parser.operators([Operator::Multiply, Operator::Divide], Self::factor)
        })
    }

    /// Parses operands with operators of equal rank between them, from left to right.
    fn operators(
        &mut self,
        operators: [Operator; 2],
        mut operand: impl FnMut(&mut Self) -> Parsed<Expr>,
    ) -> Parsed<Expr> {
        let mut left = operand(self)?;
        let mut operands = 1;
        while let Some(operator) = operators.into_iter().find(|o| self.is_sign(o.sign())) {
            self.at += 1;
            // The tree leans to the left, one level per operand. Later passes recurse over it.
            operands += 1;
            if operands > MAX_OPERANDS {
                let span = self.before();
                return self.mistake(span, format!("more than {MAX_OPERANDS} operands in a row"));
            }
            let right = operand(self)?;
            left = Expr::Binary(operator, Box::new([left, right]));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Parsed<Expr> {
        let token = self.peek();
        if self.take_sign('-') {
            // `deeper` limits the nesting, so that `----…1` cannot overflow the stack.
            return Ok(Expr::Negate(Box::new(self.deeper(Self::factor)?)));
        }
        if self.take_sign('(') {
            let inner = self.deeper(Self::expression)?;
            self.expect_sign(')', "at the end of the expression")?;
            return Ok(inner);
        }
        let word = self.slice(token);
        if token.kind == TokenKind::Word && word.starts_with(|c: char| c.is_ascii_digit()) {
            self.next();
            return match constant(word) {
                Some(value) => Ok(Expr::Constant(Number { text: word.to_owned(), value })),
                None => {
                    let what = "expected a number of 64 bits, decimal or hexadecimal with 0x";
                    self.mistake(token.span, format!("{what}, found '{word}'"))
                }
            };
        }
        match token.kind {
            TokenKind::Word | TokenKind::Macro => self.value().map(Expr::Value),
            _ => self.expected("a number, a code, a macro or '(' in an expression"),
        }
    }
}

/// Maximum number of operands in a chain of operators of equal precedence. The tree has one level
/// per operand.
pub(in crate::template) const MAX_OPERANDS: usize = 64;

fn constant(word: &str) -> Option<u64> {
    match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}
