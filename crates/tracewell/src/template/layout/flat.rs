//! Parts of a template in one line.

use crate::template::parser::MOST_OPERANDS;
use crate::template::syntax::{
    Assignment, Body, Case, Expr, Flag, FlagTest, Flags, Function, Item, ItemKind, Macro, Operator,
    Pattern, Switch, Text, Value, ValueKind,
};

/// Writes parts of a template in one line.
pub(super) struct Flat;

impl Flat {
    pub(super) fn items(items: &[Item]) -> String {
        let flat =
            items.iter().enumerate().map(|(number, item)| Self::item(item, items.get(number + 1)));
        flat.collect::<Vec<_>>().join(" ")
    }

    /// An item; what is behind it decides whether flags end with a comma.
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

    /// A block; a blank keeps its braces from those of a definition.
    fn block(items: &[Item]) -> String {
        let flat = Self::items(items);
        let before = if flat.starts_with('{') { " " } else { "" };
        let after = if flat.ends_with('}') { " " } else { "" };
        format!("{{{before}{flat}{after}}}")
    }

    /// A text as an item: line ends and tabs alone are marks.
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
        let (value, comma) = (Self::value(&flags.value), Self::comma_behind(flags, next));
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

    /// A string behind a flag would be taken for what it prints when it is not set.
    pub(super) fn comma_behind(flags: &Flags, next: Option<&Item>) -> &'static str {
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
                // A row that is full already is not made longer.
                let least = rank + u8::from(row(left, rank) >= MOST_OPERANDS);
                let (left, right) = (Self::operand(left, least), Self::operand(right, rank + 1));
                format!("{left} {} {right}", operator.sign())
            }
        }
    }

    /// An operand, in parentheses where its operator binds less than `least`.
    fn operand(expression: &Expr, least: u8) -> String {
        let flat = Self::expression(expression);
        match expression {
            Expr::Binary(operator, _) if rank(*operator) < least => format!("({flat})"),
            _ => flat,
        }
    }
}

/// How tightly an operator binds.
fn rank(operator: Operator) -> u8 {
    match operator {
        Operator::Add | Operator::Subtract => 0,
        Operator::Multiply | Operator::Divide => 1,
    }
}

/// Operands that an expression is written as in a row of operators of this rank.
fn row(expression: &Expr, of_rank: u8) -> usize {
    let mut operands = 1;
    let mut rest = expression;
    while let Expr::Binary(operator, sides) = rest
        && rank(*operator) == of_rank
    {
        operands += 1;
        rest = &sides[0];
    }
    // Parentheses begin a row anew with the expression in them as its first operand.
    let again = MOST_OPERANDS - 1;
    if operands > MOST_OPERANDS { (operands - 2) % again + 2 } else { operands }
}
