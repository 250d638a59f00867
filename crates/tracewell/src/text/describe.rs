//! The arguments of an event as people read them: `mutex=plain mutex, wait option=forever`.

use super::{Literal, PerEvent, TextBuffer};
use crate::model::schema::{ArgumentKind, EventType, TableId};
use crate::model::values::{self, ListItem};
use crate::model::{EventRef, Trace};

/// Writes decoded arguments; remembers how each event id is written and what addresses name.
#[derive(Debug, Default)]
pub struct Describer {
    plans: PerEvent<Vec<Piece>>,
    names: Names,
}

/// One argument of an event.
#[derive(Debug)]
struct Piece {
    /// Position among the arguments.
    index: usize,
    /// `, ` where another comes before, then the name and `=`.
    prefix: Literal,
    kind: ArgumentKind,
    /// Whether 0 stands for something else.
    has_zero: bool,
}

impl Describer {
    /// Appends the arguments of an event. Words that the schema does not name are left out.
    #[inline]
    pub fn put(&mut self, out: &mut TextBuffer, trace: &Trace, event: &EventRef<'_>) {
        let pieces = self.plans.get(event.id, || plan(trace.schema.event(event.id)));
        let start = out.len();
        for (number, piece) in pieces.iter().enumerate() {
            let Some(value) = trace.payload.argument(event.payload, piece.index) else { continue };
            if piece.kind == ArgumentKind::List
                && trace.payload.bytes(event.payload, piece.index).is_empty()
            {
                continue;
            }
            // Those before it may all be absent.
            if number > 0 && out.len() == start {
                out.literal(&piece.prefix.tail(SEPARATOR.len()));
            } else {
                out.literal(&piece.prefix);
            }
            if piece.has_zero && value == 0 {
                put_zero(out, &mut self.names, trace, event, piece.index);
            } else {
                put_argument(out, &mut self.names, trace, event, (piece.index, piece.kind, value));
            }
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
        let Some(value) = trace.payload.argument(event.payload, index) else { return false };
        let argument = trace.schema.event(event.id).args.get(index);
        let kind = argument.map_or(ArgumentKind::Unnamed, |argument| argument.kind);
        if value == 0 && argument.is_some_and(|argument| argument.zero.is_some()) {
            put_zero(out, &mut self.names, trace, event, index);
            return true;
        }
        put_argument(out, &mut self.names, trace, event, (index, kind, value));
        true
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
    let value = trace.payload.argument(event.payload, zero.argument);
    if let Some((value, argument)) = value.zip(args.get(zero.argument)) {
        put_argument(out, names, trace, event, (zero.argument, argument.kind, value));
    }
    out.text(format!(" ({})", zero.note));
}

#[inline]
fn put_argument(
    out: &mut TextBuffer,
    names: &mut Names,
    trace: &Trace,
    event: &EventRef<'_>,
    (index, kind, value): (usize, ArgumentKind, u64),
) {
    let bytes = || trace.payload.bytes(event.payload, index);
    match kind {
        ArgumentKind::Unsigned => out.decimal(value),
        ArgumentKind::Signed => put_signed(out, trace, value),
        ArgumentKind::Object(kind) => names.put(out, trace, event.ticks, kind, value),
        ArgumentKind::Enum(table) => put_enum(out, trace, table, value),
        ArgumentKind::Flags(table) => put_flags(out, trace, table, value),
        ArgumentKind::Ipv4 => put_ipv4(out, value),
        ArgumentKind::Float => out.text(f64::from_bits(value).to_string()),
        ArgumentKind::Text => put_shown(out, bytes()),
        ArgumentKind::Bytes => put_bytes(out, bytes()),
        ArgumentKind::List => put_list(out, names, trace, event.ticks, bytes()),
        ArgumentKind::Hex | ArgumentKind::Address | ArgumentKind::Unnamed => {
            put_address(out, trace, value);
        }
    }
}

/// Stands between two arguments.
const SEPARATOR: &str = ", ";

fn plan(event: &EventType) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (index, argument) in event.args.iter().enumerate() {
        if argument.kind == ArgumentKind::Unnamed {
            continue;
        }
        let separator = if pieces.is_empty() { "" } else { SEPARATOR };
        let name = spoken(&argument.name, argument.kind);
        let prefix = match argument.kind {
            // Its items stand for themselves.
            ArgumentKind::List => Literal::new(separator),
            _ => Literal::new(format!("{separator}{name}=")),
        };
        let has_zero = argument.zero.is_some();
        pieces.push(Piece { index, prefix, kind: argument.kind, has_zero });
    }
    pieces
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
    out.text("0x");
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
    match trace.objects.at(trace.schema.key(kind, argument), ticks, kind) {
        Some((_, object)) => out.text(&object.label),
        None => put_unnamed(out, trace, kind, argument),
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

/// Appends text of no declared encoding: as it is if it can be shown, escaped otherwise.
fn put_shown(out: &mut TextBuffer, text: &[u8]) {
    match std::str::from_utf8(text) {
        Ok(shown) if !shown.chars().any(char::is_control) => out.text(shown),
        Ok(shown) => {
            for c in shown.chars() {
                match c.is_control() {
                    true => out.text(c.escape_debug().to_string()),
                    false => out.text(c.encode_utf8(&mut [0; 4])),
                }
            }
        }
        Err(_) => out.text(text.escape_ascii().to_string()),
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

fn put_list(out: &mut TextBuffer, names: &mut Names, trace: &Trace, ticks: u64, list: &[u8]) {
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
                names.put(out, trace, ticks, kind, key);
            }
        }
    }
}

/// Names of addresses, remembered where an address names one object for the whole trace.
#[derive(Debug)]
struct Names {
    /// Directly mapped: address, wanted kind (0 for any), name.
    entries: Vec<Option<(u64, u32, Literal)>>,
    /// What the entries rest on: see [`crate::model::Objects::changes`].
    objects: u64,
}

impl Default for Names {
    fn default() -> Self {
        Self { entries: vec![None; 1024], objects: 0 }
    }
}

impl Names {
    #[inline]
    fn put(
        &mut self,
        out: &mut TextBuffer,
        trace: &Trace,
        ticks: u64,
        kind: Option<u32>,
        key: u64,
    ) {
        if trace.objects.changes() != self.objects {
            self.entries.fill(None);
            self.objects = trace.objects.changes();
        }
        let wanted = kind.unwrap_or(0);
        // The golden ratio spreads control blocks that lie at equal distances.
        let slot = ((key as u32).wrapping_add(wanted).wrapping_mul(0x9E37_79B1) >> 22) as usize;
        match &self.entries[slot] {
            Some((k, w, name)) if (*k, *w) == (key, wanted) => out.literal(name),
            _ => self.look_up(out, trace, ticks, kind, key, slot),
        }
    }

    #[cold]
    fn look_up(
        &mut self,
        out: &mut TextBuffer,
        trace: &Trace,
        ticks: u64,
        kind: Option<u32>,
        key: u64,
        slot: usize,
    ) {
        let start = out.len();
        let object = trace.schema.key(kind, key);
        put_name(out, trace, ticks, kind, key);
        if trace.objects.with_key(object).len() < 2 {
            self.entries[slot] =
                Some((key, kind.unwrap_or(0), Literal::new(&out.as_bytes()[start..])));
        }
    }
}
