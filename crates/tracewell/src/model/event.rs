//! One event with the trace that describes it.

use std::borrow::Cow;
use std::fmt;
use std::net::Ipv4Addr;

use super::schema::{ArgumentKind, EventType, Level, Means};
use super::values::{self, ListItem};
use super::{Context, EventRef, Trace};

/// An event and the trace that describes it.
///
/// `Display` prints a line of text: time, context, label and arguments.
///
/// ```
/// use std::ops::ControlFlow::Continue;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let mut lines = Vec::new();
/// tracewell::open(path)?.rate("1MHz".parse()?).for_each(|event| {
///     if event.name() == "TX_TRACE_MUTEX_CREATE" {
///         lines.push(format!("{} {} {}", event.time(), event.label(), event.args()));
///     }
///     Continue(())
/// })?;
/// assert_eq!(
///     lines[0],
///     "0.000504000 tx_mutex_create mutex=plain mutex, inheritance=none, stack ptr=0xFFBAEBFC"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The trace, in its state when the event arrives.
    pub trace: &'a Trace,
    /// The columns of the event.
    pub row: &'a EventRef<'a>,
}

impl<'a> Event<'a> {
    /// Combines an event with its trace.
    #[inline(always)]
    pub const fn new(trace: &'a Trace, row: &'a EventRef<'a>) -> Self {
        Self { trace, row }
    }

    /// Returns the number of the event in the trace, from 0.
    pub const fn seq(&self) -> u64 {
        self.row.seq
    }

    /// Returns the ticks since the first event of the trace.
    pub const fn ticks(&self) -> u64 {
        self.row.ticks
    }

    /// Returns the time since the first event of the trace. `Display` prints it in seconds, or in
    /// ticks if the clock's rate is unknown.
    pub fn time(&self) -> Time {
        Time { ticks: self.row.ticks, nanoseconds: self.nanoseconds() }
    }

    /// Returns the nanoseconds since the first event, or `None` if the clock's rate is unknown.
    pub fn nanoseconds(&self) -> Option<u64> {
        self.trace.clock.nanoseconds(self.row.ticks)
    }

    /// Returns the number of the core that recorded the event, counted from 0.
    pub const fn cpu(&self) -> u16 {
        self.row.cpu
    }

    /// Returns the event id.
    pub const fn id(&self) -> u32 {
        self.row.id
    }

    /// Returns the priority of the context, if the record contains it.
    pub const fn priority(&self) -> Option<u16> {
        self.row.priority.get()
    }

    /// Returns the entry of the schema for this event's id.
    #[inline]
    pub fn kind(&self) -> &'a EventType {
        self.trace.schema.event(self.row.id)
    }

    /// Returns the meaning of the event, if it has one. The meaning may depend on the value of an
    /// argument.
    #[inline]
    pub fn means(&self) -> Option<Means> {
        let means = self.kind().means?;
        match means.cases[0] {
            None => Some(means),
            Some(_) => Some(means.for_value(self.value_of(&means))),
        }
    }

    /// Returns the value that a meaning has for this event: the argument plus the offset. Returns
    /// `None` if the event lacks the argument.
    #[inline]
    pub fn value_of(&self, means: &Means) -> Option<u64> {
        self.argument(means.value?).map(|value| value.wrapping_add(means.offset))
    }

    /// Returns the name that the dialect itself uses, for example `TX_TRACE_MUTEX_GET`.
    pub fn name(&self) -> &'a str {
        &self.kind().name
    }

    /// Returns the name used in reports, for example `tx_mutex_get`. For an id without an entry of
    /// its own, returns the label of its range and the id: `user event 5000`.
    pub fn label(&self) -> Label<'a> {
        // The label of a range does not identify the id.
        let id = (!self.trace.schema.defines(self.row.id)).then_some(self.row.id);
        Label { label: &self.kind().label, id }
    }

    /// Returns the context that recorded the event: a thread, a task, an interrupt.
    pub fn context(&self) -> Option<&'a Context> {
        self.trace.contexts.get(self.row.context)
    }

    /// Returns the name of the context, or `?` if it is unknown.
    pub fn context_name(&self) -> &'a str {
        self.context().map_or("?", |context| context.name.as_str())
    }

    /// Returns the number in argument `index`, from 0; `None` if the event does not have this
    /// argument.
    #[inline]
    pub fn argument(&self, index: usize) -> Option<u64> {
        self.trace.payload.argument(self.row.payload, index)
    }

    /// Returns the bytes of argument `index`, whose type must be `Text`, `Bytes`, `List` or
    /// `Nested`. Returns an empty slice if the event does not have this argument.
    pub fn bytes(&self, index: usize) -> &'a [u8] {
        let (layout, payload) = (self.trace.payload, self.row.payload);
        match self.kind().instrumentation.parts {
            Some((first, last)) if (first..=last).contains(&index) => {
                let all = layout.bytes(payload, last);
                let length = |part| {
                    let length = layout.argument(payload, part).unwrap_or(0);
                    usize::try_from(length).unwrap_or(usize::MAX)
                };
                let before = (first..index).map(length).fold(0, usize::saturating_add);
                let rest = all.get(before..).unwrap_or_default();
                // The last text consists of all bytes after the texts of the other arguments.
                let length = if index == last { rest.len() } else { length(index) };
                rest.get(..length).unwrap_or(rest)
            }
            _ => layout.bytes(payload, index),
        }
    }

    /// Returns the level of the event, if a call site of an instrumented program recorded it.
    pub fn level(&self) -> Option<Level> {
        self.kind().instrumentation.site.as_ref().map(|site| site.level)
    }

    /// Returns the target of the event, if a call site of an instrumented program recorded it. The
    /// target is a part of the program, usually the path of a module. If a bridge passed on the
    /// record of another logger, returns the target of the record. Replaces bytes that are not
    /// UTF-8.
    pub fn target(&self) -> Option<Cow<'a, str>> {
        let site = self.kind().instrumentation.site.as_ref()?;
        let forwarded = site.forwarded.filter(|index| self.argument(*index).is_some());
        Some(match forwarded {
            Some(index) => String::from_utf8_lossy(self.bytes(index)),
            None => site.target.as_str().into(),
        })
    }

    /// Returns the number of the span that the event begins, enters, leaves or ends. For other
    /// events, returns the number of the innermost span around the event, or `None` if there is no
    /// such span.
    pub fn span(&self) -> Option<u64> {
        self.kind().instrumentation.span?;
        self.argument(0).filter(|number| *number != 0)
    }

    /// Returns the name of a span. Returns `None` if the trace does not contain the span's
    /// beginning, or if [`ProgramSpans`](super::ProgramSpans) no longer contains the span.
    pub fn span_name(&self, number: u64) -> Option<&'a str> {
        let begun_by = self.trace.program_spans.get(number)?.begun_by?;
        let site = self.trace.schema.event(begun_by).instrumentation.site.as_ref();
        site.map(|site| site.name.as_str())
    }

    /// Returns the names and values of the arguments. `Display` prints the arguments as they are
    /// shown in reports.
    ///
    /// ```
    /// use std::ops::ControlFlow::Continue;
    ///
    /// use tracewell::model::ArgumentValue;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
    /// let mut queues = Vec::new();
    /// tracewell::open(path)?.for_each(|event| {
    ///     for (name, value) in event.args() {
    ///         if let ("queue_size", ArgumentValue::Unsigned(size)) = (name, value) {
    ///             queues.push(size);
    ///         }
    ///     }
    ///     Continue(())
    /// })?;
    /// assert_eq!(queues, [128, 16]);
    /// # Ok::<(), tracewell::input::InputError>(())
    /// ```
    pub const fn args(&self) -> Args<'a> {
        Args { event: *self, next: 0 }
    }
}

/// The time of an event since the first event of its trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Time {
    ticks: u64,
    nanoseconds: Option<u64>,
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nanoseconds {
            Some(ns) => f.pad(&format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)),
            None => self.ticks.fmt(f),
        }
    }
}

/// The label of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label<'a> {
    label: &'a str,
    /// The id of the event, if the label stands for several ids.
    id: Option<u32>,
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id {
            Some(id) => f.pad(&format!("{} {id}", self.label)),
            None => f.pad(self.label),
        }
    }
}

/// The arguments of an event, in recorded order. [`Event::args`] returns them.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    pub(crate) event: Event<'a>,
    next: usize,
}

/// The value of an argument.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ArgumentValue<'a> {
    /// A number, shown in decimal.
    Unsigned(u64),
    /// A number with a sign.
    Signed(i64),
    /// A number with a fraction.
    Float(f64),
    /// Bits or an address, shown in hexadecimal.
    Hex(u64),
    /// The recorded number of an object, usually its address, and the label of the object that had
    /// this number at the time of the event. If there was no such object, the label is the name of
    /// the symbol whose address equals the number.
    Object(u64, Option<&'a str>),
    /// A number and its name in the schema.
    Enum(u64, Option<&'a str>),
    /// A set of bits with names in the schema.
    Flags(u64),
    /// True or false.
    Bool(bool),
    /// The number of a span, and its name if it is known.
    Span(u64, Option<&'a str>),
    /// An IPv4 address, recorded as a number.
    Ipv4(Ipv4Addr),
    /// Text in an unspecified encoding.
    Text(&'a [u8]),
    /// Bytes, shown in hexadecimal.
    Bytes(&'a [u8]),
    /// Several values, each with its own type.
    List(Vec<ListItem<'a>>),
    /// A structure or an array, as list items: see [`ListItem`].
    Nested(Vec<ListItem<'a>>),
}

impl<'a> Iterator for Args<'a> {
    type Item = (&'a str, ArgumentValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let index = self.next;
            let argument = self.event.kind().args.get(index)?;
            self.next += 1;
            // Skip arguments that the records lack because of the source's settings.
            if let Some(number) = self.event.argument(index) {
                return Some((&argument.name, self.value(index, argument.kind, number)));
            }
        }
    }
}

impl<'a> Args<'a> {
    fn value(&self, index: usize, kind: ArgumentKind, number: u64) -> ArgumentValue<'a> {
        let Event { trace, row } = self.event;
        let bytes = || self.event.bytes(index);
        match kind {
            ArgumentKind::Unsigned => ArgumentValue::Unsigned(number),
            ArgumentKind::Signed => ArgumentValue::Signed(trace.payload.signed(number)),
            ArgumentKind::Float => ArgumentValue::Float(f64::from_bits(number)),
            ArgumentKind::Hex | ArgumentKind::Address | ArgumentKind::Unnamed => {
                ArgumentValue::Hex(number)
            }
            ArgumentKind::Object(kind) => {
                // Equal numbers of different kinds can name different objects.
                let key = trace.schema.key(kind, number);
                let object = trace.objects.at(key, row.ticks, kind);
                let label = object.map(|(_, object)| object.label.as_str());
                let symbol = || trace.object_symbol(kind, number).filter(|at| at.offset == 0);
                let label = label.or_else(|| symbol().map(|symbol| symbol.name));
                ArgumentValue::Object(number, label)
            }
            ArgumentKind::Enum(table) => {
                ArgumentValue::Enum(number, trace.schema.enum_name(table, number))
            }
            ArgumentKind::Flags(_) => ArgumentValue::Flags(number),
            ArgumentKind::Bool => ArgumentValue::Bool(number != 0),
            ArgumentKind::Span => ArgumentValue::Span(number, self.event.span_name(number)),
            ArgumentKind::Ipv4 => ArgumentValue::Ipv4(Ipv4Addr::from_bits(number as u32)),
            ArgumentKind::Text => ArgumentValue::Text(bytes()),
            ArgumentKind::Bytes => ArgumentValue::Bytes(bytes()),
            ArgumentKind::List => ArgumentValue::List(values::list_items(bytes()).collect()),
            ArgumentKind::Nested => ArgumentValue::Nested(values::list_items(bytes()).collect()),
        }
    }
}
