//! Slices, instants, counters and flows (`TrackEvent`).

use std::borrow::Cow;
use std::io;

use super::packets::{NameKind, Names, Packets};
use super::proto::Message;
use crate::model::Event;
use crate::model::schema::ArgumentKind;
use crate::text::{Describer, TextBuffer};

/// Field of `TracePacket`.
const TRACK_EVENT: u32 = 11;

/// Fields of `TrackEvent`.
mod field {
    pub(super) const CATEGORY: (u32, u32) = (3, 22);
    pub(super) const ANNOTATION: u32 = 4;
    pub(super) const TYPE: u32 = 9;
    pub(super) const NAME: (u32, u32) = (10, 23);
    pub(super) const TRACK: u32 = 11;
    pub(super) const COUNT: u32 = 30;
    pub(super) const FLOW: u32 = 47;
    pub(super) const LAST_OF_FLOW: u32 = 48;
    pub(super) const REAL_COUNT: u32 = 44;
}

/// Values of `TrackEvent.Type`.
mod event_type {
    pub(super) const BEGIN: u64 = 1;
    pub(super) const END: u64 = 2;
    pub(super) const INSTANT: u64 = 3;
    pub(super) const COUNTER: u64 = 4;
}

/// The value of an annotation.
#[derive(Clone, Debug)]
pub(super) enum Note<'a> {
    Number(u64),
    Signed(i64),
    Real(f64),
    /// A number that is shown in hexadecimal.
    Pointer(u64),
    Text(Cow<'a, str>),
}

/// The name of a slice or an instant, and its annotations.
#[derive(Clone, Debug)]
pub(super) struct Label<'a> {
    pub(super) category: &'a str,
    pub(super) name: Cow<'a, str>,
    pub(super) notes: Vec<(&'a str, Note<'a>)>,
}

impl<'a> Label<'a> {
    pub(super) fn new(category: &'a str, name: impl Into<Cow<'a, str>>) -> Self {
        Self { category, name: name.into(), notes: Vec::new() }
    }

    pub(super) fn note(mut self, name: &'a str, note: Note<'a>) -> Self {
        self.notes.push((name, note));
        self
    }
}

/// An end of an arrow. Both ends have the same number.
#[derive(Clone, Copy, Debug)]
pub(super) enum FlowEnd {
    From(u64),
    To(u64),
}

/// A change of a track.
#[derive(Clone, Debug)]
pub(super) enum Change<'a> {
    Begin(Label<'a>),
    End,
    Instant(Label<'a>, Option<FlowEnd>),
    Count(i64),
    RealCount(f64),
}

/// Writes a change of a track.
pub(super) fn write(
    packets: &mut Packets<'_>,
    ticks: u64,
    track: u64,
    change: &Change<'_>,
) -> io::Result<()> {
    packets.write(Some(ticks), |message, names| {
        message.message(TRACK_EVENT, |event| {
            event.number(field::TRACK, track);
            match change {
                Change::Begin(label) => {
                    event.number(field::TYPE, event_type::BEGIN);
                    put_label(event, names, label);
                }
                Change::End => event.number(field::TYPE, event_type::END),
                Change::Instant(label, flow) => {
                    event.number(field::TYPE, event_type::INSTANT);
                    put_label(event, names, label);
                    match flow {
                        Some(FlowEnd::From(id)) => event.fixed(field::FLOW, *id),
                        Some(FlowEnd::To(id)) => event.fixed(field::LAST_OF_FLOW, *id),
                        None => {}
                    }
                }
                Change::Count(count) => {
                    event.number(field::TYPE, event_type::COUNTER);
                    event.signed(field::COUNT, *count);
                }
                Change::RealCount(count) => {
                    event.number(field::TYPE, event_type::COUNTER);
                    event.double(field::REAL_COUNT, *count);
                }
            }
        });
    })
}

fn put_label(event: &mut Message, names: &mut Names, label: &Label<'_>) {
    names.put(event, NameKind::Category, field::CATEGORY, label.category);
    names.put(event, NameKind::Event, field::NAME, &label.name);
    for (name, note) in &label.notes {
        event.message(field::ANNOTATION, |annotation| {
            names.put(annotation, NameKind::Annotation, (1, 10), name);
            match note {
                Note::Number(value) => annotation.number(3, *value),
                Note::Signed(value) => annotation.signed(4, *value),
                Note::Real(value) => annotation.double(5, *value),
                Note::Text(text) => annotation.text(6, text),
                Note::Pointer(value) => annotation.number(7, *value),
            }
        });
    }
}

/// Converts the value of an event's argument to the value of a counter.
pub(super) fn count(event: Event<'_>, index: usize, value: u64) -> Change<'static> {
    let kind = event.kind().args.get(index).map(|argument| argument.kind);
    match kind.map(|kind| event.trace.schema.number_kind(kind)) {
        Some(ArgumentKind::Float) => Change::RealCount(f64::from_bits(value)),
        Some(ArgumentKind::Signed) => Change::Count(event.trace.payload.signed(value)),
        _ => unsigned(value),
    }
}

/// Returns a counter's value. A value of more than 63 bits becomes a real number, because
/// Perfetto's integers are signed.
pub(super) fn unsigned(value: u64) -> Change<'static> {
    i64::try_from(value).map_or(Change::RealCount(value as f64), Change::Count)
}

/// Describes events.
#[derive(Default)]
pub(super) struct EventLabels {
    describer: Describer,
    buffer: TextBuffer,
}

impl EventLabels {
    /// Returns the label of an event, with its arguments as annotations.
    pub(super) fn of<'a>(&mut self, event: Event<'a>) -> Label<'a> {
        let name = event.label().to_string();
        let label = Label::new(&event.kind().family, name);
        let mut label = label.note("event number", Note::Number(event.seq()));
        if let Some(priority) = event.priority() {
            label = label.note("priority", Note::Number(priority.into()));
        }
        for (index, argument) in event.kind().args.iter().enumerate() {
            if let Some(value) = event.argument(index) {
                label.notes.push((&argument.name, self.note(event, index, value)));
            }
        }
        label
    }

    fn note<'a>(&mut self, event: Event<'a>, index: usize, value: u64) -> Note<'a> {
        // If 0 has a special meaning, only a text can express it.
        let argument = event.kind().args.get(index).filter(|a| a.zero.is_none() || value != 0);
        match argument.map(|argument| argument.kind) {
            Some(ArgumentKind::Unsigned) => Note::Number(value),
            Some(ArgumentKind::Signed) => Note::Signed(event.trace.payload.signed(value)),
            Some(ArgumentKind::Float) => Note::Real(f64::from_bits(value)),
            Some(ArgumentKind::Hex | ArgumentKind::Address | ArgumentKind::Unnamed) => {
                Note::Pointer(value)
            }
            _ => {
                self.buffer.truncate(0);
                self.describer.put_value(&mut self.buffer, event, index);
                Note::Text(self.buffer.as_text().into_owned().into())
            }
        }
    }
}
