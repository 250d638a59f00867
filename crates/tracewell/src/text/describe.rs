//! The arguments of an event as people read them: `mutex=plain mutex, wait option=forever`.
//!
//! How an event id is written is planned once, and what numbers stand for is remembered (`names`), so that most
//! arguments are two pieces of text that are there already.

use super::names::{ALWAYS, Names, What};
use super::{Literal, PerEvent, Room, TextBuffer, put_shown};
use crate::model::schema::{Argument, ArgumentKind, EventType, TableId};
use crate::model::values::{self, ListItem};
use crate::model::{ContextDetails, EventRef, NamedAt, Trace};

/// Writes decoded arguments; remembers how each event id is written and what numbers stand for.
#[derive(Debug, Default)]
pub struct Describer {
    plans: PerEvent<Vec<Piece>>,
    names: Names,
}

/// One argument of an event.
#[derive(Debug)]
struct Piece {
    value: Value,
    /// The name and `=`, where no other argument comes before.
    first: Literal,
    /// The same with `, ` before it.
    later: Literal,
}

/// How the value of an argument is written.
#[derive(Clone, Copy, Debug)]
struct Value {
    /// Position among the arguments.
    index: usize,
    kind: ArgumentKind,
    form: Form,
    /// Whether 0 stands for something else.
    has_zero: bool,
}

/// The forms that most values have.
#[derive(Clone, Copy, Debug)]
enum Form {
    Decimal,
    Address,
    Name(What),
    /// As the kind says.
    Other,
}

impl Value {
    fn of(index: usize, argument: &Argument) -> Self {
        Self { has_zero: argument.zero.is_some(), ..Self::plain(index, argument.kind) }
    }

    /// Of an argument in which 0 stands for itself.
    fn plain(index: usize, kind: ArgumentKind) -> Self {
        let form = match (kind, What::of(kind)) {
            (_, Some(what)) => Form::Name(what),
            (ArgumentKind::Unsigned, _) => Form::Decimal,
            (ArgumentKind::Hex | ArgumentKind::Address | ArgumentKind::Unnamed, _) => Form::Address,
            _ => Form::Other,
        };
        Self { index, kind, form, has_zero: false }
    }

    /// Appends the value behind a text.
    #[inline(always)]
    fn put(
        &self,
        out: &mut TextBuffer,
        names: &mut Names,
        (trace, event): (&Trace, &EventRef<'_>),
        before: &Literal,
        value: u64,
    ) {
        if self.has_zero && value == 0 {
            out.literal(before);
            return put_zero(out, names, trace, event, self.index);
        }
        let room = || before.len() + ADDRESS.len() + Room::NUMBER;
        match self.form {
            Form::Decimal => out.room(room()).literal(before).decimal(value).done(),
            Form::Address => {
                let room = out.room(room()).literal(before).text(ADDRESS);
                room.hexadecimal(value, trace.payload.digits()).done();
            }
            Form::Name(what) => match names.find(what, value, event.ticks) {
                Some(name) => {
                    out.room(before.len() + name.len()).literal(before).literal(name).done();
                }
                None => {
                    out.literal(before);
                    put_argument(out, names, (trace, event), self, value);
                }
            },
            Form::Other => {
                out.literal(before);
                put_argument(out, names, (trace, event), self, value);
            }
        }
    }
}

impl Describer {
    /// Appends the arguments of an event. Words that the schema does not name are left out.
    #[inline]
    pub fn put(&mut self, out: &mut TextBuffer, trace: &Trace, event: &EventRef<'_>) {
        let pieces = self.plans.get(event.id, || plan(trace.schema.event(event.id)));
        let names = self.names.of(trace);
        let mut first = true;
        for Piece { value, first: alone, later } in pieces.iter() {
            let Some(number) = trace.payload.argument(event.payload, value.index) else { continue };
            if value.kind == ArgumentKind::List
                && trace.payload.bytes(event.payload, value.index).is_empty()
            {
                continue;
            }
            // Those before it may all be absent.
            let before = if first { alone } else { later };
            value.put(out, names, (trace, event), before, number);
            first = false;
        }
        if let Some(recorded) = &trace.details {
            put_details(out, trace, recorded.details(event.record), first);
        }
    }

    /// Appends the value of one argument; false where the event does not have it.
    pub fn put_value(
        &mut self,
        out: &mut TextBuffer,
        trace: &Trace,
        event: &EventRef<'_>,
        index: usize,
    ) -> bool {
        let Some(number) = trace.payload.argument(event.payload, index) else { return false };
        let value = match trace.schema.event(event.id).args.get(index) {
            Some(argument) => Value::of(index, argument),
            None => Value::plain(index, ArgumentKind::Unnamed),
        };
        let names = self.names.of(trace);
        value.put(out, names, (trace, event), &Literal::new(""), number);
        true
    }
}

/// Appends what a record says of its context: a preemption threshold that is in use, who was interrupted.
#[inline]
fn put_details(out: &mut TextBuffer, trace: &Trace, details: ContextDetails, first: bool) {
    let separator = if first { "" } else { SEPARATOR };
    if let Some(threshold) = details.preemption_threshold {
        out.text(separator);
        out.text("preemption threshold=");
        out.decimal(u64::from(threshold));
    }
    if let Some(key) = details.interrupted {
        out.text(separator);
        out.text("interrupted=");
        match trace.contexts.find(key).and_then(|id| trace.contexts.get(id)) {
            Some(context) => out.text(&context.name),
            None => put_address(out, trace, key),
        }
    }
}

/// Appends what 0 stands for.
#[cold]
fn put_zero(
    out: &mut TextBuffer,
    names: &mut Names,
    trace: &Trace,
    event: &EventRef<'_>,
    index: usize,
) {
    let args = &trace.schema.event(event.id).args;
    let Some(zero) = args.get(index).and_then(|argument| argument.zero.as_ref()) else { return };
    let number = trace.payload.argument(event.payload, zero.argument);
    if let Some((number, argument)) = number.zip(args.get(zero.argument)) {
        let value = Value::plain(zero.argument, argument.kind);
        value.put(out, names, (trace, event), &Literal::new(""), number);
    }
    out.text(format!(" ({})", zero.note));
}

/// Appends a value that has none of the usual forms, or whose name is not remembered.
#[inline(never)]
fn put_argument(
    out: &mut TextBuffer,
    names: &mut Names,
    (trace, event): (&Trace, &EventRef<'_>),
    argument: &Value,
    value: u64,
) {
    let bytes = || trace.payload.bytes(event.payload, argument.index);
    match argument.kind {
        ArgumentKind::Unsigned => out.decimal(value),
        ArgumentKind::Signed => put_signed(out, trace, value),
        ArgumentKind::Object(kind) => put_object(out, names, (trace, event.ticks), kind, value),
        ArgumentKind::Enum(table) => {
            let start = out.len();
            put_enum(out, trace, table, value);
            names.remember(What::enumeration(table), value, ALWAYS, &out.as_bytes()[start..]);
        }
        ArgumentKind::Flags(table) => {
            let start = out.len();
            put_flags(out, trace, table, value);
            names.remember(What::flags(table), value, ALWAYS, &out.as_bytes()[start..]);
        }
        ArgumentKind::Ipv4 => put_ipv4(out, value),
        ArgumentKind::Float => out.text(f64::from_bits(value).to_string()),
        ArgumentKind::Text => put_shown(out, bytes()),
        ArgumentKind::Bytes => put_bytes(out, bytes()),
        ArgumentKind::List => put_list(out, names, (trace, event.ticks), bytes()),
        ArgumentKind::Hex | ArgumentKind::Address | ArgumentKind::Unnamed => {
            put_address(out, trace, value);
        }
    }
}

/// Stands between two arguments.
const SEPARATOR: &str = ", ";

/// Stands before hexadecimal digits.
const ADDRESS: &[u8; 2] = b"0x";

fn plan(event: &EventType) -> Vec<Piece> {
    let named = event.args.iter().enumerate();
    let named = named.filter(|(_, argument)| argument.kind != ArgumentKind::Unnamed);
    let piece = |(index, argument): (usize, &Argument)| {
        let name = match argument.kind {
            // Its items stand for themselves.
            ArgumentKind::List => String::new(),
            kind => format!("{}=", spoken(&argument.name, kind)),
        };
        let later = Literal::new(format!("{SEPARATOR}{name}"));
        Piece { value: Value::of(index, argument), first: Literal::new(name), later }
    };
    named.map(piece).collect()
}

/// The name of an argument in words: an object is spoken of by itself, not by its pointer.
fn spoken(name: &str, kind: ArgumentKind) -> String {
    let name = match kind {
        ArgumentKind::Object(_) => name.strip_suffix("_ptr").unwrap_or(name),
        _ => name,
    };
    name.replace('_', " ")
}

fn put_address(out: &mut TextBuffer, trace: &Trace, value: u64) {
    out.text(ADDRESS);
    out.hexadecimal(value, trace.payload.digits());
}

/// Appends the name of what an argument of a kind refers to, the argument where it has none.
pub(crate) fn put_name(
    out: &mut TextBuffer,
    trace: &Trace,
    ticks: u64,
    kind: Option<u32>,
    argument: u64,
) {
    let named = trace.objects.named(trace.schema.key(kind, argument), ticks, kind);
    put_named(out, trace, named, kind, argument);
}

fn put_named(out: &mut TextBuffer, trace: &Trace, named: NamedAt, kind: Option<u32>, key: u64) {
    match named.object.and_then(|id| trace.objects.get(id)) {
        Some(object) => out.text(&object.label),
        None => put_unnamed(out, trace, kind, key),
    }
}

fn put_unnamed(out: &mut TextBuffer, trace: &Trace, kind: Option<u32>, key: u64) {
    let kind = kind.and_then(|code| trace.schema.object_kind(code));
    match key {
        _ if kind.is_some_and(|kind| kind.numbered) => out.decimal(key),
        0 => out.text("none"),
        _ => put_address(out, trace, key),
    }
}

/// Appends a word of the trace's width as a number with a sign.
pub(crate) fn put_signed(out: &mut TextBuffer, trace: &Trace, value: u64) {
    let signed =
        if trace.payload.digits() == 8 { i64::from(value as u32 as i32) } else { value as i64 };
    if signed < 0 {
        out.byte(b'-');
    }
    out.decimal(signed.unsigned_abs());
}

fn put_enum(out: &mut TextBuffer, trace: &Trace, table: TableId, value: u64) {
    match trace.schema.enum_name(table, value) {
        Some(name) => out.text(name),
        None => {
            out.decimal(value);
            out.text(trace.schema.unit(table));
        }
    }
}

fn put_flags(out: &mut TextBuffer, trace: &Trace, table: TableId, value: u64) {
    let mut rest = value;
    let mut separator = "";
    for (bits, name) in trace.schema.flags(table) {
        if bits & value == bits && bits != 0 {
            out.text(separator);
            out.text(name);
            rest &= !bits;
            separator = "|";
        }
    }
    if rest != 0 || separator.is_empty() {
        out.text(separator);
        put_address(out, trace, rest);
    }
}

fn put_ipv4(out: &mut TextBuffer, value: u64) {
    let [_, _, _, _, octets @ ..] = value.to_be_bytes();
    for (index, octet) in octets.into_iter().enumerate() {
        if index > 0 {
            out.byte(b'.');
        }
        out.decimal(u64::from(octet));
    }
}

/// Appends bytes as pairs of hexadecimal digits.
pub(crate) fn put_bytes(out: &mut TextBuffer, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in bytes {
        out.byte(DIGITS[usize::from(byte >> 4)]);
        out.byte(DIGITS[usize::from(byte & 15)]);
    }
}

fn put_list(out: &mut TextBuffer, names: &mut Names, at: (&Trace, u64), list: &[u8]) {
    for (index, item) in values::list_items(list).enumerate() {
        if index > 0 {
            out.text(", ");
        }
        match item {
            // The sign counts as one of the characters.
            ListItem::Signed(value, width) => {
                out.text(format!("{value:0width$}", width = usize::from(width)));
            }
            ListItem::Unsigned(value, width) => {
                out.text(format!("{value:0width$}", width = usize::from(width)));
            }
            ListItem::Hex(value, width) => {
                out.text(format!("0x{value:0width$X}", width = usize::from(width)));
            }
            // Nothing at all would look like a missing item.
            ListItem::Text([]) => out.text("\"\""),
            ListItem::Text(text) => put_shown(out, text),
            ListItem::Bytes(bytes) => {
                out.byte(b'[');
                put_bytes(out, bytes);
                out.byte(b']');
            }
            ListItem::Object(key, kind) => {
                let kind = (kind > 0).then_some(u32::from(kind));
                put_object(out, names, at, kind, key);
            }
        }
    }
}

/// Appends the name of an object at a time, and remembers it for as long as its key names that object.
fn put_object(
    out: &mut TextBuffer,
    names: &mut Names,
    (trace, ticks): (&Trace, u64),
    kind: Option<u32>,
    key: u64,
) {
    let what = What::object(kind);
    if let Some(name) = what.and_then(|what| names.find(what, key, ticks)) {
        return out.literal(name);
    }
    let start = out.len();
    let named = trace.objects.named(trace.schema.key(kind, key), ticks, kind);
    put_named(out, trace, named, kind, key);
    if let Some(what) = what {
        names.remember(what, key, (named.from, named.until), &out.as_bytes()[start..]);
    }
}
