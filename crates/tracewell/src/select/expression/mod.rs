//! Expressions about the fields of an event, such as `sig == 3 && ao == "motor"`.
//!
//! | file | content |
//! |---|---|
//! | `lexer` | splits text into tokens |
//! | `tokens` | reads tokens, and parses a condition |
//! | `syntax` | conditions as data |
//! | `fields` | compares the fields of an event with a condition |
//! | this file | conditions combined by `&&`, `||`, `!` and parentheses |
//!
//! Rules ([`crate::check`]) use the same tokens, conditions and comparisons.

pub(crate) mod fields;
pub(crate) mod lexer;
pub(crate) mod syntax;
pub(crate) mod tokens;

use std::sync::Arc;

use self::fields::{FieldPosition, Fields};
use self::lexer::TokenKind;
use self::syntax::{Condition, Field};
use self::tokens::{Result, Tokens};
use super::names::has_argument;
use super::unknown_values::unknown_values;
use crate::model::schema::EventType;
use crate::model::{Event, Trace};
use crate::source::{Finding, Source, Span};
use crate::text::PerEvent;

/// Maximum depth of nested parentheses and `!`.
const MAX_DEPTH: usize = 64;

/// A condition on the fields of an event.
///
/// | expression | meaning |
/// |---|---|
/// | `sig = 3`, `sig == 3` | the argument `sig` is 3; also `!=`, `<`, `<=`, `>`, `>=` |
/// | `ao = motor` | the argument is this name; case is ignored, `*` matches any text, and `?` matches any character |
/// | `ao = "motor"` | the argument is exactly this name; case matters, and `*` and `?` are ordinary characters |
/// | `sig = 3 \| 4`, `sig in (3, 4)` | the argument is one of these values; with `!=`, it is none of them |
/// | `@level >= WARN` | the level is WARN or more severe |
/// | `nseq = 3` | the message that the event posts or takes has sequence number 3 at its receiver |
/// | `rt > 20` | the message that the event takes waited for more than 20 ticks |
/// | `@context = low` | a property: `@name`, `@label`, `@family`, `@level`, `@target`, `@span`, `@id`, `@context`, `@cpu`, `@priority`, `@ticks`, `@text`, `@object` |
/// | `A && B`, `A, B` | the event meets both conditions |
/// | `A \|\| B` | the event meets at least one of the conditions |
/// | `!A` | the event does not meet the condition |
/// | `(A)` | parentheses group conditions |
///
/// `!` binds more tightly than `&&`, and `&&` binds more tightly than `||`.
///
/// An event that lacks an argument meets no condition on that argument.
///
/// # Examples
///
/// ```
/// use tracewell::select::{Expression, Selection};
/// use tracewell::source::Source;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let text = "queue_size > 100 && @context == Initialization";
/// let expression = Expression::parse(&Source::new("where", text)).expect("a valid expression");
/// let mut input = tracewell::open(path)?;
/// input.select(Selection { expressions: vec![expression], ..Selection::default() });
/// let mut names = Vec::new();
/// input.for_each(|event| names.push(event.name().to_owned()))?;
/// assert_eq!(names, ["TX_TRACE_QUEUE_CREATE"]);
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expression(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    source: Source,
    node: Node,
    conditions: Vec<(Field, Condition)>,
    /// The span of each condition in the text.
    spans: Vec<Span>,
}

#[derive(Debug)]
enum Node {
    /// The condition with this index.
    Condition(usize),
    Not(Box<Node>),
    All(Vec<Node>),
    Any(Vec<Node>),
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// Returns the errors in the text, with their positions.
    pub fn parse(source: &Source) -> std::result::Result<Self, Vec<Finding>> {
        let tokens = Tokens::new(source, "a condition");
        let mut parser = Parser { tokens, conditions: Vec::new(), spans: Vec::new(), depth: 0 };
        let node = parser.whole();
        let Parser { tokens, conditions, spans, .. } = parser;
        let findings = tokens.into_findings();
        match node {
            Ok(node) if findings.is_empty() => {
                let source = source.clone();
                Ok(Self(Arc::new(Compiled { source, node, conditions, spans })))
            }
            _ => Err(findings),
        }
    }

    /// Finds the arguments in the expression that no event type in `events` has. Returns the
    /// position of each argument in the text, and its name.
    pub(super) fn unknown_arguments(&self, events: &[&EventType]) -> Vec<(String, &str)> {
        let Compiled { source, conditions, spans, .. } = &*self.0;
        let unknown = conditions.iter().zip(spans).filter_map(|((field, _), span)| match field {
            Field::Argument(name) => {
                let is_there = events.iter().any(|event| has_argument(name, event));
                (!is_there).then(|| (place_in(source, *span), name.as_str()))
            }
            Field::Property(_) => None,
        });
        unknown.collect()
    }

    /// For each name in a condition, returns a message if nothing in the trace has this name. The
    /// message begins with the position of the condition. `of` describes the trace in words.
    pub(super) fn unknown_values(
        &self,
        events: &[&EventType],
        trace: &Trace,
        of: &str,
    ) -> Vec<String> {
        let Compiled { source, conditions, spans, .. } = &*self.0;
        let unknown = conditions.iter().zip(spans).flat_map(|((field, condition), span)| {
            let place = place_in(source, *span);
            let messages = unknown_values((field, condition), events, trace, of);
            messages.into_iter().map(move |message| format!("{place}: {message}"))
        });
        unknown.collect()
    }
}

/// Returns a position as it appears at the start of a message.
fn place_in(source: &Source, span: Span) -> String {
    let place = source.position(span.start);
    format!("{}:{}:{}", source.name, place.line, place.column)
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    conditions: Vec<(Field, Condition)>,
    spans: Vec<Span>,
    depth: usize,
}

impl Parser<'_> {
    fn whole(&mut self) -> Result<Node> {
        self.tokens.skip_newlines();
        let node = self.any()?;
        self.tokens.skip_newlines();
        match self.tokens.peek() {
            TokenKind::End => Ok(node),
            _ => Err(self.tokens.expected("&&, || or the end")),
        }
    }

    /// `A || B`
    fn any(&mut self) -> Result<Node> {
        let mut nodes = vec![self.all()?];
        while self.tokens.take_sign("||") {
            nodes.push(self.all()?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Any(nodes) })
    }

    /// `A && B`, `A, B`
    fn all(&mut self) -> Result<Node> {
        let mut nodes = vec![self.one()?];
        while self.tokens.take_sign("&&") || self.tokens.take_sign(",") {
            nodes.push(self.one()?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::All(nodes) })
    }

    /// `!A`, `(A)`, or a condition.
    fn one(&mut self) -> Result<Node> {
        let span = self.tokens.span();
        let (negates, opens) = (self.tokens.is_sign("!"), self.tokens.is_sign("("));
        if !(negates || opens) {
            let condition = self.tokens.condition(None)?;
            self.conditions.push(condition);
            self.spans.push(span);
            return Ok(Node::Condition(self.conditions.len() - 1));
        }
        // The recursion must not exhaust the stack, whatever the user types.
        if self.depth == MAX_DEPTH {
            let message = format!("expected at most {MAX_DEPTH} nested ( and !, found more");
            return Err(self.tokens.error(span, message));
        }
        self.tokens.advance();
        self.depth += 1;
        let node = if negates { self.one() } else { self.any() };
        // Restore the depth before `?` returns an error.
        self.depth -= 1;
        let node = node?;
        if negates {
            return Ok(Node::Not(Box::new(node)));
        }
        self.tokens.expect_sign(")")?;
        Ok(node)
    }
}

/// Tests events against several expressions. An event must meet all of them.
#[derive(Debug, Default)]
pub(super) struct Filter {
    expressions: Vec<Expression>,
    /// For each event id, the positions of the fields in all conditions of all expressions.
    positions: PerEvent<Vec<FieldPosition>>,
    fields: Fields,
}

impl Filter {
    pub(super) fn new(expressions: &[Expression]) -> Self {
        let conditions = expressions.iter().flat_map(|expression| &expression.0.conditions);
        let fields = Fields::new(conditions.map(|(field, _)| field));
        Self { expressions: expressions.to_vec(), fields, ..Self::default() }
    }

    /// Handles the next event of the trace, selected or not.
    #[inline]
    pub(super) fn follow(&mut self, event: Event<'_>) {
        self.fields.follow(event);
    }

    /// Returns true if the event meets all expressions.
    pub(super) fn takes(&mut self, event: Event<'_>) -> bool {
        let Self { expressions, positions, fields } = self;
        let mut positions =
            positions.get(event.id(), || of_id(expressions, event.trace, event.id())).as_slice();
        expressions.iter().all(|Expression(compiled)| {
            let (own, others) =
                positions.split_at_checked(compiled.conditions.len()).unwrap_or_default();
            positions = others;
            holds(&compiled.node, compiled, own, fields, event)
        })
    }
}

/// Returns the position of each condition's field in the events with event id `id`.
fn of_id(expressions: &[Expression], trace: &Trace, id: u32) -> Vec<FieldPosition> {
    let conditions = expressions.iter().flat_map(|Expression(compiled)| &compiled.conditions);
    conditions.map(|(field, _)| FieldPosition::of(field, trace, id)).collect()
}

fn holds(
    node: &Node,
    compiled: &Compiled,
    positions: &[FieldPosition],
    fields: &mut Fields,
    event: Event<'_>,
) -> bool {
    let mut holds = |node: &Node| holds(node, compiled, positions, fields, event);
    match node {
        Node::Condition(index) => {
            let condition = compiled.conditions.get(*index).zip(positions.get(*index));
            condition.is_some_and(|((_, condition), at)| fields.meet(condition, at.clone(), event))
        }
        Node::Not(node) => !holds(node),
        Node::All(nodes) => nodes.iter().all(holds),
        Node::Any(nodes) => nodes.iter().any(holds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_expressions_have_their_place() {
        let error = |text: &str| {
            let source = Source::new("where", text);
            let findings = Expression::parse(&source).unwrap_err();
            findings[0].show(&source).lines().next().unwrap().to_owned()
        };
        for (text, expected) in [
            ("sig 3", "where:1:5: error: expected =, !=, <, <=, > or >=, found '3'"),
            (
                "previous state = mutex",
                "where:1:10: error: expected =, !=, <, <=, > or >=, found 'state'; for a name with \
                 blanks, write previous_state or \"previous state\"",
            ),
            ("sig == $x", "where:1:8: error: expected a number, a name or a text, found '$x'"),
            ("sig == 3 ao == 4", "where:1:10: error: expected &&, || or the end, found 'ao'"),
            ("(sig == 3", "where:1:10: error: expected ')', found the end"),
            ("", "where:1:1: error: expected an argument's name or @ and a property, found"),
            ("sig == 3 & x", "where:1:10: error: expected &&, || or the end, found '&'"),
            (
                "a < b",
                "where:1:1: error: only numbers, variables and levels can be smaller or larger",
            ),
            (
                "@level > FATAL",
                "where:1:1: error: expected one of ERROR, WARN, INFO, DEBUG, TRACE, found 'FATAL'",
            ),
            ("sig in 3", "where:1:8: error: expected '(', found '3'"),
            ("@colour = 3", "where:1:1: error: expected one of @name, @label"),
            ("a = \u{3}", "where:1:5: error: expected a condition, found '\\u{3}'"),
        ] {
            assert!(error(text).starts_with(expected), "{text}: {}", error(text));
        }
        assert!(error(&"!".repeat(65)).contains("at most 64 nested"));
        for text in ["((!(a=1||b=2)&&c!=3|4),d<5)", "a in (1, B | \"c\"), @level >= warn"] {
            assert!(Expression::parse(&Source::new("w", text)).is_ok(), "{text}");
        }
    }
}
