//! Parses SQL, and rewrites two forms that the engine does not know: named arguments of the
//! functions that read traces, and `arg(args, 'name')`, which stands for the column of an argument.
//! Also finds statements that name no such column.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use datafusion::sql::parser::{DFParser, Statement};
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, JoinConstraint, JoinOperator,
    ObjectName, Query, Select, SelectFlavor, SelectItem, SetExpr, Statement as SqlStatement,
    TableFactor, TableWithJoins, Value, Visit, VisitMut, Visitor, VisitorMut,
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

/// Returns false if a statement, as [`parse`] returns it, names no column `arg_NAME`: neither
/// itself nor with a wildcard.
pub(crate) fn may_name_arguments(statement: &Statement) -> bool {
    match statement {
        Statement::Statement(query) => {
            !matches!(**query, SqlStatement::Query(_)) || query.visit(&mut Names).is_break()
        }
        Statement::Explain(explain) => may_name_arguments(&explain.statement),
        _ => true,
    }
}

/// Ends at a column of an argument, and at every form of a query that may stand for one.
struct Names;

impl Visitor for Names {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        stop_if(!query.pipe_operators.is_empty() || !selects(&query.body))
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        let is_wildcard = |item: &SelectItem| {
            matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..))
        };
        let has_wildcard = select.flavor != SelectFlavor::Standard
            || select.projection.iter().any(is_wildcard)
            || select.from.iter().any(joins_by_name);
        stop_if(has_wildcard)
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        stop_if(match factor {
            TableFactor::Table { .. } | TableFactor::Derived { .. } => false,
            TableFactor::NestedJoin { table_with_joins, .. } => joins_by_name(table_with_joins),
            _ => true,
        })
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        let name = match expr {
            Expr::Identifier(name) => Some(name),
            Expr::CompoundIdentifier(names) => names.last(),
            _ => None,
        };
        let start = name.and_then(|name| name.value.get(..ARGUMENT.len()));
        stop_if(start.is_some_and(|start| start.eq_ignore_ascii_case(ARGUMENT)))
    }
}

fn stop_if(condition: bool) -> ControlFlow<()> {
    if condition { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Returns true if a query consists of SELECT and VALUES only.
fn selects(body: &SetExpr) -> bool {
    match body {
        SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::Values(_) => true,
        SetExpr::SetOperation { left, right, .. } => selects(left) && selects(right),
        _ => false,
    }
}

/// Returns true if tables are joined by the names of their columns, or in an unusual way.
fn joins_by_name(tables: &TableWithJoins) -> bool {
    use JoinOperator::{CrossJoin, FullOuter, Inner, Join, Left, LeftOuter, Right, RightOuter};
    tables.joins.iter().any(|join| match &join.join_operator {
        Join(by) | Inner(by) | Left(by) | LeftOuter(by) | Right(by) | RightOuter(by)
        | FullOuter(by) | CrossJoin(by) => {
            matches!(by, JoinConstraint::Using(_) | JoinConstraint::Natural)
        }
        _ => true,
    })
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

/// The start of the names of columns for arguments.
const ARGUMENT: &str = "arg_";

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
    let column = Ident::with_quote('"', format!("{ARGUMENT}{name}"));
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

    #[test]
    fn statements_that_name_no_argument_are_found() {
        let may = |text: &str| parse(text).unwrap().iter().any(may_name_arguments);
        for text in [
            "SELECT id, count(*) FROM events GROUP BY id",
            "EXPLAIN SELECT e.id FROM events e JOIN waits w ON e.trace = w.trace",
            "WITH w AS (SELECT name FROM events) SELECT a.name FROM w a, w b UNION SELECT 'x'",
        ] {
            assert!(!may(text), "{text}");
        }
        for text in [
            "SELECT * FROM events",
            "SELECT e.* FROM events e",
            "SELECT id FROM (SELECT * FROM events)",
            "SELECT id FROM events WHERE id IN (SELECT arg_x FROM events)",
            "SELECT e.\"ARG_x\" FROM events e",
            "SELECT arg(args, 'x') FROM events",
            "SELECT a.id FROM events a JOIN events b USING (id)",
            "SELECT a.id FROM events a NATURAL JOIN events b",
            "FROM events",
            "SELECT 1 UNION TABLE events",
            "CREATE VIEW v AS SELECT id FROM events",
            "DESCRIBE events",
        ] {
            assert!(may(text), "{text}");
        }
    }
}
