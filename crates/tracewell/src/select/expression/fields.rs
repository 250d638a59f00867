//! The values of an event's fields, and their comparison with a condition. A comparison allocates
//! memory only if a string is not UTF-8.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use super::syntax::{Comparison, Condition, Field, Property, Text, Wanted};
use crate::model::schema::{Argument, ArgumentKind, Level};
use crate::model::values::{self, ListItem};
use crate::model::{Event, Trace};
use crate::select::messages::{MessageField, MessageFields, Responses};
use crate::select::names::{ArgumentPlace, argument_place};
use crate::select::pattern::like;
use crate::text::{Describer, TextBuffer, put, put_item};

/// The position of a field in an event. It is the same in all events with the same id.
#[derive(Clone, Debug)]
pub(crate) enum FieldPosition {
    Argument(usize),
    /// A value in a nested argument: the index of the argument, and the names on the path to the
    /// value.
    Within(usize, Arc<[String]>),
    Property(Property),
    /// A field of the message that the event posts or takes.
    Message(MessageField),
    Nowhere,
}

impl FieldPosition {
    /// Returns the position of a field in the events with event id `id`.
    pub(crate) fn of(field: &Field, trace: &Trace, id: u32) -> Self {
        match field {
            Field::Property(property) => Self::Property(*property),
            Field::Argument(name) => match argument_place(name, &trace.schema.event(id).args) {
                Some(ArgumentPlace::Argument(index)) => Self::Argument(index),
                Some(ArgumentPlace::Within(index, path)) => Self::Within(index, path),
                None => {
                    let field = MessageField::named(name);
                    let is_known = |field: &MessageField| {
                        field.is_of(trace.schema.event(id))
                            && Responses::are_recorded(&trace.schema)
                    };
                    field.filter(is_known).map_or(Self::Nowhere, Self::Message)
                }
            },
        }
    }
}

/// A field's recorded number, and the key of the object to which the field refers. Both are `None`
/// for strings and lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Number {
    pub(crate) number: Option<i128>,
    pub(crate) key: Option<u64>,
}

/// Reads the fields of events.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    describer: Describer,
    text: TextBuffer,
    /// The fields of messages; `None` if no condition refers to them.
    messages: Option<MessageFields>,
}

impl Fields {
    /// Creates a reader of these fields.
    pub(crate) fn new<'f>(mut fields: impl Iterator<Item = &'f Field>) -> Self {
        let has_messages = fields.any(|field| match field {
            Field::Argument(name) => MessageField::named(name).is_some(),
            Field::Property(_) => false,
        });
        Self { messages: has_messages.then(MessageFields::default), ..Self::default() }
    }

    /// Handles the next event before its fields are read. Call this for every event of the trace,
    /// because any event can post a message.
    #[inline]
    pub(crate) fn follow(&mut self, event: Event<'_>) {
        if let Some(messages) = &mut self.messages {
            messages.follow(event);
        }
    }

    fn message(&self, field: MessageField) -> Option<u64> {
        self.messages.as_ref()?.value(field)
    }

    /// Returns true if an event meets a condition without variables. An event without the field
    /// does not meet the condition.
    pub(crate) fn meet(
        &mut self,
        condition: &Condition,
        position: FieldPosition,
        event: Event<'_>,
    ) -> bool {
        match position {
            // `@object` has one value for each object argument of the event.
            FieldPosition::Property(Property::Object) => any_object(condition, event, |index| {
                self.meet(condition, FieldPosition::Argument(index), event)
            }),
            _ => self.compare(condition, position, event),
        }
    }

    fn compare(
        &mut self,
        condition: &Condition,
        position: FieldPosition,
        event: Event<'_>,
    ) -> bool {
        if let FieldPosition::Property(Property::Level) = position
            && condition.comparison.is_ordered()
        {
            return event.level().is_some_and(|level| is_level(condition, level));
        }
        let Some(Number { number, .. }) = self.number(&position, event) else { return false };
        let is_number = |wanted: &Wanted| matches!(wanted, Wanted::Number(..));
        // Converting a number to text takes longer than the comparison, so compare numbers first.
        if number.is_some() && condition.values.iter().all(is_number) {
            return compares(condition, number, "");
        }
        let text = self.text(position, event);
        text.is_some_and(|text| compares(condition, number, &text))
    }

    /// Returns the text of a field as it is shown in outputs, or `None` if the event lacks the
    /// field.
    pub(crate) fn text<'a>(
        &'a mut self,
        position: FieldPosition,
        event: Event<'a>,
    ) -> Option<Cow<'a, str>> {
        self.text.truncate(0);
        let property = match position {
            FieldPosition::Nowhere => return None,
            FieldPosition::Argument(index) => {
                let is_there = self.describer.put_value(&mut self.text, event, index);
                return is_there.then(|| self.text.as_text());
            }
            FieldPosition::Within(index, path) => {
                let is_there = put_item(&mut self.text, event, index, &path);
                return is_there.then(|| self.text.as_text());
            }
            FieldPosition::Message(field) => {
                self.text.decimal(self.message(field)?);
                return Some(self.text.as_text());
            }
            FieldPosition::Property(property) => property,
        };
        match property {
            Property::Name => return Some(event.kind().name.as_str().into()),
            Property::Family => return Some(event.kind().family.as_str().into()),
            Property::Context => {
                return Some(event.context().map_or("", |context| context.name.as_str()).into());
            }
            // In events without a call site, level and target are empty. In events without a span,
            // the span is empty.
            Property::Level => return Some(event.level().map_or("", Level::as_str).into()),
            Property::Target => return Some(event.target().unwrap_or_default()),
            Property::Span => {
                let name = event.span().map(|number| event.span_name(number).unwrap_or("?"));
                return Some(name.unwrap_or_default().into());
            }
            Property::Object => {}
            Property::Label => put(&mut self.text, format_args!("{}", event.label())),
            Property::Id => self.text.decimal(event.id().into()),
            Property::Cpu => self.text.decimal(event.cpu().into()),
            Property::Ticks => self.text.decimal(event.ticks()),
            // In events without priority, this field is an empty string, which equals no number.
            Property::Priority => {
                event.priority().into_iter().for_each(|p| self.text.decimal(p.into()));
            }
            Property::Text => self.describer.put(&mut self.text, event),
        }
        Some(self.text.as_text())
    }

    /// Returns a field's value as a number, or `None` if the event lacks the field.
    pub(crate) fn number(&self, position: &FieldPosition, event: Event<'_>) -> Option<Number> {
        let plain = |number: u64| Number { number: Some(number.into()), key: None };
        let property = match position {
            FieldPosition::Nowhere => return None,
            FieldPosition::Argument(index) => return argument_number(*index, event),
            FieldPosition::Within(index, path) => return number_within(*index, path, event),
            FieldPosition::Message(field) => return self.message(*field).map(plain),
            FieldPosition::Property(property) => *property,
        };
        Some(match property {
            Property::Id => plain(event.id().into()),
            Property::Cpu => plain(event.cpu().into()),
            Property::Ticks => plain(event.ticks()),
            Property::Priority => event.priority().map_or(Number::default(), |p| plain(p.into())),
            Property::Context => event.context().map_or(Number::default(), |context| Number {
                number: Some(context.key.into()),
                key: Some(context.key),
            }),
            _ => Number::default(),
        })
    }
}

/// Returns true if a level meets a condition with `<`, `<=`, `>` or `>=`. A more severe level is
/// larger.
fn is_level(condition: &Condition, level: Level) -> bool {
    condition.values.iter().any(|wanted| match wanted {
        Wanted::Text(Text::Like(name) | Text::Exactly(name)) => Level::named(name)
            // `Level` orders the most severe level first, so the operands are swapped.
            .is_some_and(|wanted| condition.comparison.holds(wanted.cmp(&level))),
        _ => false,
    })
}

/// Returns an argument's value as a number. The value of an object is its key, so two objects with
/// the same name differ.
fn argument_number(index: usize, event: Event<'_>) -> Option<Number> {
    let trace = event.trace;
    let raw = event.argument(index)?;
    let kind = event.kind().args.get(index).map(|argument| argument.kind);
    let kind = trace.schema.number_kind(kind.unwrap_or(ArgumentKind::Unnamed));
    let (number, key) = match kind {
        ArgumentKind::Text
        | ArgumentKind::Bytes
        | ArgumentKind::List
        | ArgumentKind::Nested
        | ArgumentKind::Float => (None, None),
        ArgumentKind::Signed => (Some(i128::from(trace.payload.signed(raw))), None),
        ArgumentKind::Object(kind) => (Some(i128::from(raw)), Some(trace.schema.key(kind, raw))),
        _ => (Some(i128::from(raw)), None),
    };
    Some(Number { number, key })
}

/// Returns the number at a path in a nested argument, or `None` if there is no value at the path.
fn number_within(index: usize, path: &[String], event: Event<'_>) -> Option<Number> {
    let number = match values::value_at(event.bytes(index), path)? {
        ListItem::Signed(value, _) => Some(i128::from(value)),
        ListItem::Unsigned(value, _) | ListItem::Hex(value, _) | ListItem::Object(value, _) => {
            Some(i128::from(value))
        }
        _ => None,
    };
    Some(Number { number, key: None })
}

/// Returns true if at least one argument that refers to an object meets a condition. For `!=`, all
/// arguments that refer to objects must meet the condition. `meets` tests the argument at the given
/// index.
pub(crate) fn any_object(
    condition: &Condition,
    event: Event<'_>,
    mut meets: impl FnMut(usize) -> bool,
) -> bool {
    let is_object = |(_, arg): &(usize, &Argument)| matches!(arg.kind, ArgumentKind::Object(_));
    let mut objects = event.kind().args.iter().enumerate().filter(is_object);
    match condition.comparison {
        // `!=`: no value may be equal.
        Comparison::Different => objects.all(|(index, _)| meets(index)),
        _ => objects.any(|(index, _)| meets(index)),
    }
}

/// Compares a field with the values of a condition that has no variable.
fn compares(condition: &Condition, number: Option<i128>, text: &str) -> bool {
    let is = |wanted: &Wanted, comparison: Comparison| match wanted {
        Wanted::Number(wanted, written) => match number {
            Some(value) => comparison.holds(value.cmp(wanted)),
            // The field is text, and the expression compares it with text that looks like a number,
            // such as a version. Compare the number as it is written.
            None => comparison.holds(text.cmp(written)),
        },
        Wanted::Text(Text::Like(pattern)) => comparison.holds(equality(like(pattern, text))),
        Wanted::Text(Text::Exactly(wanted)) => comparison.holds(equality(wanted == text)),
        Wanted::Variable(_) => false,
    };
    let wanted = &condition.values;
    match condition.comparison {
        // `!=` with a list requires that the value differs from all elements of the list.
        Comparison::Different => wanted.iter().all(|wanted| is(wanted, Comparison::Different)),
        comparison => wanted.iter().any(|wanted| is(wanted, comparison)),
    }
}

fn equality(equal: bool) -> Ordering {
    if equal { Ordering::Equal } else { Ordering::Less }
}
