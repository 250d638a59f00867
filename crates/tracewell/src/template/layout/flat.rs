//! Formats parts of a template on one line.

use crate::template::parser::MAX_OPERANDS;
use crate::template::syntax::{
    Assignment, Body, Case, Expr, Flag, FlagTest, Flags, Function, Item, ItemKind, Macro, Operator,
    Pattern, Switch, Text, Value, ValueKind,
};

/// Formats parts of a template on one line.
pub(super) struct Flat;

impl Flat {
    pub(super) fn items(items: &[Item]) -> String {
        let flat =
            items.iter().enumerate().map(|(number, item)| Self::item(item, items.get(number + 1)));
        flat.collect::<Vec<_>>().join(" ")
    }

    /// Formats an item. `next` is the item after this one. Before certain items, flags need a comma
    /// at their end.
    pub(super) fn item(item: &Item, next: Option<&Item>) -> String {
        match &item.kind {
            ItemKind::Text(text) => Self::text(text),
            ItemKind::Level(level) => format!("L={}", level.as_str()),
            ItemKind::Move(code) => code.to_string(),
            ItemKind::Value(value) => Self::value(value),
            ItemKind::Switch(switch) => Self::switch(switch),
            ItemKind::Loop(value, body) => {
                format!("LOOP {} {}", Self::value(value), Self::block(body))
            }
            ItemKind::Flags(flags) => Self::flags(flags, next),
            ItemKind::Assign(assignments) => {
                let all = assignments.iter().map(Self::assignment).collect::<Vec<_>>();
                format!("{{{{ {} }}}}", all.join(" "))
            }
            ItemKind::Define(function) => {
                format!("{{{{ {} {} }}}}", Self::signature(function), Self::items(&function.body))
            }
            ItemKind::Call(call) => format!("{}({})", call.name, Self::list(&call.arguments)),
            ItemKind::Timer { start, key } => {
                let name = if *start { "STARTTIMER" } else { "ENDTIMER" };
                format!("{name}({})", Self::list(key.as_slice()))
            }
        }
    }

    /// Formats a block. A space separates the block's own braces from the braces of a definition
    /// within the block.
    fn block(items: &[Item]) -> String {
        let flat = Self::items(items);
        let before = if flat.starts_with('{') { " " } else { "" };
        let after = if flat.ends_with('}') { " " } else { "" };
        format!("{{{before}{flat}{after}}}")
    }

    /// Formats a string as an item. A string that consists of one line end or one tab becomes `\n`
    /// or `\t` without quotes.
    fn text(text: &Text) -> String {
        match text.value.as_str() {
            "\n" => "\\n".to_owned(),
            "\t" => "\\t".to_owned(),
            _ => Self::quoted(text),
        }
    }

    pub(super) fn quoted(text: &Text) -> String {
        let mut out = String::from("\"");
        for c in text.value.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                c => out.push(c),
            }
        }
        out.push('"');
        out
    }

    pub(super) fn value(value: &Value) -> String {
        match &value.kind {
            ValueKind::Code(code) => code.to_string(),
            ValueKind::Macro(Macro { name, code: None }) => format!("${name}"),
            ValueKind::Macro(Macro { name, code: Some(code) }) => format!("${name}%{code}"),
        }
    }

    fn switch(switch: &Switch) -> String {
        let cases: Vec<_> = switch.cases.iter().map(Self::case).collect();
        format!("{}, {}", Self::value(&switch.value), cases.join(", "))
    }

    pub(super) fn case(case: &Case) -> String {
        let body = match &case.body {
            Body::Text(text) => Self::quoted(text),
            Body::Block(items) => Self::block(items),
        };
        format!("{} {body}", Self::pattern(&case.pattern))
    }

    pub(super) fn pattern(pattern: &Pattern) -> String {
        match pattern {
            Pattern::Any => "\\*".to_owned(),
            Pattern::Text(text) => {
                Self::quoted(&Text { value: text.clone(), span: Default::default() })
            }
            Pattern::Number(number) => number.text.clone(),
        }
    }

    fn flags(flags: &Flags, next: Option<&Item>) -> String {
        let all: Vec<_> = flags.flags.iter().map(Self::flag).collect();
        let (value, comma) = (Self::value(&flags.value), Self::comma_after(flags, next));
        format!("BITFLAGS {value}, {}{comma}", all.join(", "))
    }

    pub(super) fn flag(flag: &Flag) -> String {
        let test = match &flag.test {
            FlagTest::Bits(bits) => bits.text.clone(),
            FlagTest::Field(mask, field) => format!("& {} {}", mask.text, field.text),
        };
        let off = flag.off.as_ref().map_or(String::new(), |off| format!(" {}", Self::quoted(off)));
        format!("{test} {}{off}", Self::quoted(&flag.on))
    }

    /// Returns the text between flags and the next item. It is a comma if the next item is a string
    /// that the parser would otherwise take for the second text of the last flag.
    pub(super) fn comma_after(flags: &Flags, next: Option<&Item>) -> &'static str {
        let open = flags.flags.last().is_some_and(|flag| flag.off.is_none());
        let string = next.is_some_and(|item| match &item.kind {
            ItemKind::Text(text) => Self::text(text).starts_with('"'),
            _ => false,
        });
        if open && string { "," } else { "" }
    }

    pub(super) fn signature(function: &Function) -> String {
        format!("{}({})", function.name, function.parameters.join(", "))
    }

    fn assignment(assignment: &Assignment) -> String {
        format!("${} = {}", assignment.name, Self::expression(&assignment.value))
    }

    fn list(expressions: &[Expr]) -> String {
        expressions.iter().map(Self::expression).collect::<Vec<_>>().join(", ")
    }

    fn expression(expression: &Expr) -> String {
        match expression {
            Expr::Constant(number) => number.text.clone(),
            Expr::Value(value) => Self::value(value),
            Expr::Negate(inner) => format!("-{}", Self::operand(inner, 2)),
            Expr::Binary(operator, sides) => {
                let rank = rank(*operator);
                let [left, right] = &**sides;
                // The parser accepts at most [`MAX_OPERANDS`] operands in a chain. If the left
                // operand is a chain that already has this many operands, put it in parentheses. To
                // do so, set `least` above the rank of its operators.
                let least = rank + u8::from(row(left, rank) >= MAX_OPERANDS);
                let (left, right) = (Self::operand(left, least), Self::operand(right, rank + 1));
                format!("{left} {} {right}", operator.sign())
            }
        }
    }

    /// Formats an operand, in parentheses if its operator binds less tightly than `least`.
    fn operand(expression: &Expr, least: u8) -> String {
        let flat = Self::expression(expression);
        match expression {
            Expr::Binary(operator, _) if rank(*operator) < least => format!("({flat})"),
            _ => flat,
        }
    }
}

/// Returns the precedence of an operator.
fn rank(operator: Operator) -> u8 {
    match operator {
        Operator::Add | Operator::Subtract => 0,
        Operator::Multiply | Operator::Divide => 1,
    }
}

/// Counts the operands of the chain at the left side of an expression. In a chain, operators of
/// this rank join the operands without parentheses.
fn row(expression: &Expr, of_rank: u8) -> usize {
    let mut operands = 1;
    let mut rest = expression;
    while let Expr::Binary(operator, sides) = rest
        && rank(*operator) == of_rank
    {
        operands += 1;
        rest = &sides[0];
    }
    // Parentheses start a new chain. Its first operand is the expression in the parentheses.
    let again = MAX_OPERANDS - 1;
    if operands > MAX_OPERANDS { (operands - 2) % again + 2 } else { operands }
}
