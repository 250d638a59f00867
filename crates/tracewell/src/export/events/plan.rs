//! The constant parts of lines: contexts, event ids and argument names as text.

use super::EventFormat;
use super::escape::{is_special, put_text};
use super::values::{self, Prefix};
use crate::model::schema::Argument;
use crate::model::{ContextId, Priority, Trace};
use crate::text::{Literal, Reservation, TextBuffer, WideText};

/// The constant parts of lines for an event id.
#[derive(Debug)]
pub(super) struct EventPlan {
    /// The part from the id to the first argument.
    pub(super) head: Literal,
    /// Separator and name of each argument in the schema.
    pub(super) args: Vec<Prefix>,
    /// True if an argument may contain more than digits, or if its name needs escapes. The cell is
    /// then escaped as a whole.
    pub(super) more_than_digits: bool,
    /// Maximum total length of all parts and numbers, in bytes.
    pub(super) room: usize,
}

/// The constant parts of lines for a context.
#[derive(Debug)]
pub(super) struct ContextPlan {
    /// Key and name.
    pub(super) text: Literal,
    /// The core and the priority in the text `kept`; `None` if there is no text yet.
    pub(super) kept_for: Option<(u16, Priority)>,
    /// The text of core, context and priority; `None` if it is too long.
    pub(super) kept: Option<WideText>,
}

pub(super) fn context_plan(format: EventFormat, trace: &Trace, id: ContextId) -> ContextPlan {
    let text = context_text(format, trace, id);
    ContextPlan { text, kept_for: None, kept: None }
}

fn context_text(format: EventFormat, trace: &Trace, id: ContextId) -> Literal {
    let Some(context) = trace.contexts.get(id) else { return Literal::new("") };
    let between: [&[u8]; 3] = match format {
        EventFormat::JsonLines => [br#","context":""#, br#"","context_name":""#, b"\""],
        EventFormat::Tsv => [b"\t", b"\t", b""],
        EventFormat::Csv => [b",", b",", b""],
    };
    let mut plan = TextBuffer::default();
    plan.text(between[0]);
    put_text(format, &mut plan, context.key_text.as_bytes());
    plan.text(between[1]);
    put_text(format, &mut plan, context.name.as_bytes());
    plan.text(between[2]);
    Literal::new(plan.as_bytes())
}

pub(super) fn event_plan(format: EventFormat, trace: &Trace, id: u32) -> EventPlan {
    let event = trace.schema.event(id);
    let mut head = TextBuffer::default();
    let [before_id, before_name, after]: [&[u8]; 3] = match format {
        EventFormat::JsonLines => [br#","id":"#, br#","name":""#, br#"","args":{"#],
        EventFormat::Tsv => [b"\t", b"\t", b"\t"],
        EventFormat::Csv => [b",", b",", b","],
    };
    head.text(before_id);
    head.decimal(u64::from(id));
    head.text(before_name);
    put_text(format, &mut head, event.name.as_bytes());
    if format == EventFormat::JsonLines
        && let Some(site) = &event.instrumentation.site
    {
        head.text(format!(r#"","level":"{}"#, site.level));
        if site.forwarded.is_none() {
            head.text(r#"","target":""#);
            put_text(format, &mut head, site.target.as_bytes());
        }
    }
    head.text(after);
    let named = event.args.iter().enumerate();
    let args: Vec<_> = named
        .map(|(index, arg)| argument_plan(format, index, Some(&arg.name), values::is_key(arg.kind)))
        .collect();
    // The additional byte is for the quote after a key.
    let room = |arg: &Prefix| arg.text.len() + Reservation::NUMBER + 1;
    let room = head.len() + args.iter().map(room).sum::<usize>();
    let is_long = |arg: &Argument| {
        let kind = trace.schema.number_kind(arg.kind);
        values::is_more_than_digits(kind) || is_special(format, &arg.name)
    };
    let more_than_digits = event.args.iter().any(is_long);
    EventPlan { head: Literal::new(head.as_bytes()), args, more_than_digits, room }
}

pub(super) fn argument_plan(
    format: EventFormat,
    index: usize,
    name: Option<&str>,
    is_key: bool,
) -> Prefix {
    let unnamed = format!("arg{}", index + 1);
    let mut plan = TextBuffer::default();
    if index > 0 {
        plan.byte(if format == EventFormat::JsonLines { b',' } else { b' ' });
    }
    let name = name.unwrap_or(&unnamed);
    if format == EventFormat::JsonLines {
        plan.byte(b'"');
        put_text(format, &mut plan, name.as_bytes());
        plan.text(if is_key { "\":\"0x" } else { "\":" });
    } else {
        plan.text(name);
        plan.text(if is_key { "=0x" } else { "=" });
    }
    Prefix { text: Literal::new(plan.as_bytes()), is_key }
}
