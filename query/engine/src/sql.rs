//! Parses SQL, and rewrites two forms that the engine does not know: named arguments of the
//! functions that read traces, and `arg(args, 'name')`, which stands for the column of an argument.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use datafusion::sql::parser::{DFParser, Statement};
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, TableFactor, Value,
    VisitMut, VisitorMut,
};

use crate::failure::Failure;

/// Returns the statements of a text.
///
/// # Errors
///
/// Fails if the text is not valid SQL, or `arg` has wrong arguments.
pub(crate) fn parse(text: &str) -> Result<VecDeque<Statement>, Failure> {
    let mut statements = DFParser::parse_sql(text).map_err(Failure::from)?;
    statements.iter_mut().try_for_each(rewrite)?;
    Ok(statements)
}

fn rewrite(statement: &mut Statement) -> Result<(), Failure> {
    let flow = match statement {
        Statement::Statement(statement) => statement.visit(&mut Rewriter),
        Statement::Explain(explain) => return rewrite(&mut explain.statement),
        _ => return Ok(()),
    };
    match flow {
        ControlFlow::Break(failure) => Err(failure),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Rewriter;

impl VisitorMut for Rewriter {
    type Break = Failure;

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Failure> {
        if let TableFactor::Table { args: Some(args), .. } = factor {
            for arg in &mut args.args {
                if let Some((key, value)) = named(arg) {
                    let option = text_value(&format!("{key}={value}"));
                    *arg = FunctionArg::Unnamed(FunctionArgExpr::Expr(option));
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Failure> {
        let Expr::Function(function) = expr else { return ControlFlow::Continue(()) };
        if !is_named(&function.name, "arg") {
            return ControlFlow::Continue(());
        }
        match argument_column(&function.args) {
            Some(column) => {
                *expr = column;
                ControlFlow::Continue(())
            }
            None => {
                let message = format!("SQL: expected arg(args, 'name'), found {function}");
                ControlFlow::Break(Failure::usage(message))
            }
        }
    }
}

fn is_named(name: &ObjectName, word: &str) -> bool {
    let [part] = &name.0[..] else { return false };
    part.as_ident().is_some_and(|ident| ident.value.eq_ignore_ascii_case(word))
}

/// Returns the name and the value of a named argument with a constant value.
fn named(arg: &FunctionArg) -> Option<(&str, String)> {
    let (name, arg) = match arg {
        FunctionArg::Named { name, arg, .. } => (name, arg),
        FunctionArg::ExprNamed { name: Expr::Identifier(name), arg, .. } => (name, arg),
        _ => return None,
    };
    let FunctionArgExpr::Expr(Expr::Value(value)) = arg else { return None };
    let value = match &value.value {
        Value::Number(number, _) => number.clone(),
        value => value.clone().into_string()?,
    };
    Some((&name.value, value))
}

/// Returns the column for `(args, 'name')` or `(table.args, 'name')`.
fn argument_column(arguments: &FunctionArguments) -> Option<Expr> {
    let FunctionArguments::List(list) = arguments else { return None };
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(args)), FunctionArg::Unnamed(name)] =
        &list.args[..]
    else {
        return None;
    };
    let FunctionArgExpr::Expr(Expr::Value(name)) = name else { return None };
    let name = name.value.clone().into_string()?;
    let column = Ident::with_quote('"', format!("arg_{name}"));
    let is_args = |ident: &Ident| ident.value.eq_ignore_ascii_case("args");
    match args {
        Expr::Identifier(ident) if is_args(ident) => Some(Expr::Identifier(column)),
        Expr::CompoundIdentifier(idents) => {
            let (_, table) = idents.split_last().filter(|(last, _)| is_args(last))?;
            Some(Expr::CompoundIdentifier([table, &[column]].concat()))
        }
        _ => None,
    }
}

fn text_value(text: &str) -> Expr {
    Expr::Value(Value::SingleQuotedString(text.to_owned()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        match parse(text) {
            Ok(statements) => statements.iter().map(ToString::to_string).collect(),
            Err(failure) => failure.to_string(),
        }
    }

    #[test]
    fn named_arguments_become_options() {
        assert_eq!(
            parsed("SELECT * FROM read('a', rate => '100MHz', depth => 3)"),
            "SELECT * FROM read('a', 'rate=100MHz', 'depth=3')"
        );
    }

    #[test]
    fn arguments_of_events_become_columns() {
        assert_eq!(
            parsed("EXPLAIN SELECT arg(args, 'Sig'), 1 + ARG(e.args, 'x y') FROM events e"),
            "EXPLAIN SELECT \"arg_Sig\", 1 + e.\"arg_x y\" FROM events e"
        );
        assert_eq!(parsed("SELECT arg(1)"), "SQL: expected arg(args, 'name'), found arg(1)");
    }
}
