//! Writes the arguments of an event in readable form, such as `mutex=plain mutex, wait
//! option=forever`.
//!
//! There is a plan for each event id, and a cache of names (`names`). Most arguments are written as
//! two prepared strings: the name from the plan, and the value from the cache.

use super::names::{ALWAYS, NameCache, NameKey, Names, NoNames};
use super::{Literal, NumberForm, PerEvent, Reservation, TextBuffer, put_bytes, put_shown};
use crate::model::schema::{Argument, ArgumentKind, EventType, TableId};
use crate::model::values::{self, ListItem, Nesting};
use crate::model::{ContextDetail, Event, NamedAt, Place, Trace};

/// Writes decoded arguments. It keeps a plan for each event id and a cache of names, so use one for
/// each trace.
///
/// ```
/// use tracewell::text::{Describer, TextBuffer};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let (mut describer, mut line) = (Describer::default(), TextBuffer::default());
/// tracewell::open(path)?.for_each(|event| {
///     if event.seq() == 11 {
///         describer.put(&mut line, event);
///     }
/// })?;
/// assert!(line.as_bytes().starts_with(b"mutex=plain mutex, inheritance=none"));
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
#[derive(Debug, Default)]
pub struct Describer {
    plans: PerEvent<Vec<ArgumentPlan>>,
    names: Names,
    /// Names of arguments that are left out.
    left_out: &'static [&'static str],
}

impl Describer {
    /// Returns a describer that leaves out the arguments with these names.
    pub fn without(left_out: &'static [&'static str]) -> Self {
        Self { left_out, ..Self::default() }
    }
}

/// The plan of one argument.
#[derive(Debug)]
struct ArgumentPlan {
    value: Value,
    /// The name and `=`, if no other argument precedes this one.
    first: Literal,
    /// `, `, the name and `=`, if another argument precedes this one.
    later: Literal,
}

/// The form in which the value of an argument is written.
#[derive(Clone, Copy, Debug)]
struct Value {
    /// Index of the argument.
    index: usize,
    kind: ArgumentKind,
    form: Form,
    /// Number of bytes of an integer encoding of fixed length, such as 2 for `u16`; `None` for all
    /// other encodings.
    bytes: Option<usize>,
    /// True if the value 0 has a special meaning; see [`Argument::zero`].
    has_zero: bool,
}

/// The forms in which most values are shown.
#[derive(Clone, Copy, Debug)]
enum Form {
    Decimal,
    Hexadecimal,
    Address,
    Name(NameKey),
    /// Any other form. It depends on the kind of the argument.
    Other,
}

impl Value {
    fn of(index: usize, argument: &Argument) -> Self {
        let has_zero = argument.zero.is_some();
        Self { has_zero, bytes: argument.encoded_bytes(), ..Self::plain(index, argument.kind) }
    }

    /// Returns the form of an argument whose value 0 has no special meaning.
    fn plain(index: usize, kind: ArgumentKind) -> Self {
        let form = match (kind, NameKey::of(kind)) {
            (_, Some(what)) => Form::Name(what),
            (ArgumentKind::Unsigned, _) => Form::Decimal,
            (ArgumentKind::Hex | ArgumentKind::Unnamed, _) => Form::Hexadecimal,
            (ArgumentKind::Address, _) => Form::Address,
            _ => Form::Other,
        };
        Self { index, kind, form, bytes: None, has_zero: false }
    }

    /// Returns the argument's value as a number, or `None` if the argument is absent or an empty
    /// list.
    #[inline(always)]
    fn number(&self, event: Event<'_>) -> Option<u64> {
        let number = event.argument(self.index)?;
        let is_empty = || event.bytes(self.index).is_empty();
        if self.kind == ArgumentKind::List && is_empty() { None } else { Some(number) }
    }

    /// Returns true if a number has the same text at every tick. Call this after the number was
    /// appended.
    fn is_constant(&self, names: &Names, ticks: u64, number: u64) -> bool {
        use ArgumentKind::{Bool, Float, Ipv4, Signed};
        match self.form {
            // The replacement for the value 0 contains the value of another argument.
            _ if self.has_zero && number == 0 => false,
            Form::Decimal | Form::Hexadecimal | Form::Address => true,
            Form::Name(what) => names.is_constant(what, number, ticks),
            Form::Other => matches!(self.kind, Bool | Float | Ipv4 | Signed),
        }
    }

    /// Appends a string and the value.
    #[inline(always)]
    fn put(
        &self,
        out: &mut TextBuffer,
        names: &mut impl NameCache,
        event: Event<'_>,
        before: &Literal,
        value: u64,
    ) {
        if self.has_zero && value == 0 {
            out.literal(before);
            return put_zero(out, names, event, self.index);
        }
        // In the common forms, one reservation covers the name, `0x` and the number.
        let room = || before.len() + HEXADECIMAL.len() + Reservation::NUMBER;
        match self.form {
            Form::Decimal => out.room(room()).literal(before).decimal(value).done(),
            Form::Hexadecimal | Form::Address => {
                let room = out.room(room()).literal(before).text(HEXADECIMAL);
                match self.bytes {
                    Some(bytes) => room.hexadecimal_bytes(value, bytes).done(),
                    None => room.hexadecimal(value, event.trace.payload.digits()).done(),
                }
                if matches!(self.form, Form::Address) && event.trace.symbols.is_some() {
                    put_symbol(out, event.trace, value);
                }
            }
            Form::Name(what) => match names.find(what, value, event.ticks()) {
                Some(name) => {
                    name.put(out.room(before.len() + name.len()).literal(before)).done();
                }
                None => {
                    out.literal(before);
                    put_argument(out, names, event, self, value);
                }
            },
            Form::Other => {
                out.literal(before);
                put_argument(out, names, event, self, value);
            }
        }
    }
}

impl Describer {
    /// Appends the arguments of an event, as in `mutex=plain mutex, inheritance=none`. Arguments
    /// without a name in the schema are omitted.
    #[inline]
    pub fn put(&mut self, out: &mut TextBuffer, event: Event<'_>) {
        let Event { trace, row } = event;
        let pieces = self.plans.get(row.id, || plan(event.kind(), self.left_out));
        let names = self.names.of(trace);
        let mut first = true;
        for ArgumentPlan { value, first: alone, later } in pieces.iter() {
            let Some(number) = value.number(event) else { continue };
            // The arguments before this one may all be absent.
            let before = if first { alone } else { later };
            value.put(out, names, event, before, number);
            first = false;
        }
        // ThreadX records a property of the context in every event. Write this property after the
        // arguments.
        if let Some(detail) = trace.details.as_ref().and_then(|found| found.detail(row.record)) {
            put_detail(out, trace, detail, first);
        }
    }

    /// Returns the indices of the arguments that [`Describer::put`] appends, or `None` if one of
    /// them is not a plain number.
    pub(super) fn numbers(&mut self, event: Event<'_>) -> Option<Vec<usize>> {
        use ArgumentKind::{Bytes, List, Nested, Span, Text};
        let plans = self.plans.get(event.row.id, || plan(event.kind(), self.left_out));
        let is_more = |kind| matches!(kind, Bytes | List | Nested | Span | Text);
        let is_number = !plans.iter().any(|plan| is_more(plan.value.kind));
        is_number.then(|| plans.iter().map(|plan| plan.value.index).collect())
    }

    /// Appends an argument with its name. `place` is an index in the list that
    /// [`Describer::numbers`] returns. The event must have all arguments of the list. Returns true
    /// if the text of `number` is the same at every tick.
    pub(super) fn put_number(
        &mut self,
        out: &mut TextBuffer,
        event: Event<'_>,
        place: usize,
        number: u64,
    ) -> bool {
        let plans = self.plans.get(event.row.id, || plan(event.kind(), self.left_out));
        let Some(ArgumentPlan { value, first, later }) = plans.get(place) else { return false };
        let names = self.names.of(event.trace);
        value.put(out, names, event, if place == 0 { first } else { later }, number);
        value.is_constant(names, event.ticks(), number)
    }

    /// Returns the form of the text that [`Describer::put_number`] appends, with its constant part
    /// escaped. Returns `None` if the text does not consist of a constant part and the digits of
    /// the number.
    pub(super) fn number_form(
        &mut self,
        event: Event<'_>,
        place: usize,
        escape: fn(&mut TextBuffer),
    ) -> Option<NumberForm> {
        let plans = self.plans.get(event.row.id, || plan(event.kind(), self.left_out));
        let ArgumentPlan { value, first, later } = plans.get(place)?;
        let digits = match value.form {
            _ if value.has_zero => return None,
            Form::Decimal => None,
            Form::Hexadecimal if value.bytes.is_none() => Some(event.trace.payload.digits()),
            _ => return None,
        };
        let mut before = TextBuffer::default();
        before.literal(if place == 0 { first } else { later });
        if digits.is_some() {
            before.text(HEXADECIMAL);
        }
        escape(&mut before);
        match digits {
            Some(digits) => NumberForm::hexadecimal(before.as_bytes(), digits, None),
            None => NumberForm::decimal(before.as_bytes()),
        }
    }

    /// Appends the value of one argument. Returns false if the event does not have it.
    pub fn put_value(&mut self, out: &mut TextBuffer, event: Event<'_>, index: usize) -> bool {
        let Some(number) = event.argument(index) else { return false };
        let value = match event.kind().args.get(index) {
            Some(argument) => Value::of(index, argument),
            None => Value::plain(index, ArgumentKind::Unnamed),
        };
        let names = self.names.of(event.trace);
        value.put(out, names, event, &Literal::new(""), number);
        true
    }
}

/// Appends the item at a path in a nested argument. Returns false if the event does not have it.
pub(crate) fn put_item(
    out: &mut TextBuffer,
    event: Event<'_>,
    index: usize,
    path: &[String],
) -> bool {
    let Some(list) = values::single_item(event.bytes(index), path) else { return false };
    put_list(out, &mut NoNames, (event.trace, event.ticks()), &list);
    true
}

/// Does the same as [`Describer::put`] for one event, without a cache.
pub(super) fn put_uncached(out: &mut TextBuffer, event: Event<'_>) {
    let start = out.len();
    for ArgumentPlan { value, first, later } in plan(event.kind(), &[]) {
        let Some(number) = value.number(event) else { continue };
        let before = if out.len() == start { first } else { later };
        value.put(out, &mut NoNames, event, &before, number);
    }
    let details = event.trace.details.as_ref();
    if let Some(detail) = details.and_then(|found| found.detail(event.row.record)) {
        put_detail(out, event.trace, detail, out.len() == start);
    }
}

/// Appends a property of the context that recorded the event.
pub(super) fn put_detail(out: &mut TextBuffer, trace: &Trace, detail: ContextDetail, first: bool) {
    if !first {
        out.text(SEPARATOR);
    }
    match detail {
        ContextDetail::PreemptionThreshold(threshold) => {
            out.text("preemption threshold=");
            out.decimal(u64::from(threshold));
        }
        ContextDetail::Interrupted(key) => {
            out.text("interrupted=");
            match trace.contexts.find(key).and_then(|id| trace.contexts.get(id)) {
                Some(context) => out.text(&context.name),
                None => put_unnamed(out, trace, None, key),
            }
        }
    }
}

/// Appends the replacement for the value 0.
#[cold]
fn put_zero(out: &mut TextBuffer, names: &mut impl NameCache, event: Event<'_>, index: usize) {
    let args = &event.kind().args;
    let Some(zero) = args.get(index).and_then(|argument| argument.zero.as_ref()) else { return };
    if let Some((number, argument)) = event.argument(zero.argument).zip(args.get(zero.argument)) {
        let value = Value::plain(zero.argument, argument.kind);
        value.put(out, names, event, &Literal::new(""), number);
    }
    out.text(format!(" ({})", zero.note));
}

/// Appends a value that has none of the common forms, or whose name is not in the cache.
#[inline(never)]
fn put_argument(
    out: &mut TextBuffer,
    names: &mut impl NameCache,
    event: Event<'_>,
    argument: &Value,
    value: u64,
) {
    let Event { trace, row } = event;
    let bytes = || event.bytes(argument.index);
    match argument.kind {
        ArgumentKind::Unsigned => out.decimal(value),
        ArgumentKind::Signed => put_signed(out, trace, value),
        ArgumentKind::Object(kind) => put_object(out, names, (trace, row.ticks), kind, value),
        ArgumentKind::Enum(table) => {
            // The name in a table never changes, so the cache may keep it for the whole trace.
            let start = out.len();
            put_enum(out, trace, table, value);
            names.remember(NameKey::enumeration(table), value, ALWAYS, &out.as_bytes()[start..]);
        }
        ArgumentKind::Flags(table) => {
            let start = out.len();
            put_flags(out, trace, table, value);
            names.remember(NameKey::flags(table), value, ALWAYS, &out.as_bytes()[start..]);
        }
        ArgumentKind::Bool => out.text(if value == 0 { "false" } else { "true" }),
        ArgumentKind::Span => put_span(out, event, value),
        ArgumentKind::Ipv4 => put_ipv4(out, value),
        ArgumentKind::Float => out.text(f64::from_bits(value).to_string()),
        ArgumentKind::Text => put_shown(out, bytes()),
        ArgumentKind::Bytes => put_bytes(out, bytes()),
        ArgumentKind::List | ArgumentKind::Nested => {
            put_list(out, names, (trace, row.ticks), bytes());
        }
        ArgumentKind::Hex | ArgumentKind::Address | ArgumentKind::Unnamed => {
            put_address(out, trace, value);
        }
    }
}

/// Appends the name and the number of a span, as in `request#7`. If the name is unknown, `?` stands
/// for it.
fn put_span(out: &mut TextBuffer, event: Event<'_>, number: u64) {
    if number == 0 {
        return out.text("none");
    }
    out.text(event.span_name(number).unwrap_or("?"));
    out.byte(b'#');
    out.decimal(number);
}

/// Text between two arguments.
const SEPARATOR: &str = ", ";

/// Text before hexadecimal digits.
const HEXADECIMAL: &[u8; 2] = b"0x";

fn plan(event: &EventType, left_out: &[&str]) -> Vec<ArgumentPlan> {
    let is_shown = |argument: &Argument| {
        argument.kind != ArgumentKind::Unnamed && !left_out.contains(&argument.name.as_str())
    };
    let named = event.args.iter().enumerate().filter(|(_, argument)| is_shown(argument));
    let plan = |(index, argument): (usize, &Argument)| {
        let name = match argument.kind {
            // Reports show the items of a list without a name before them.
            ArgumentKind::List => String::new(),
            kind => format!("{}=", spoken(&argument.name, kind)),
        };
        let later = Literal::new(format!("{SEPARATOR}{name}"));
        ArgumentPlan { value: Value::of(index, argument), first: Literal::new(name), later }
    };
    named.map(plan).collect()
}

/// Returns the name of an argument in words. Removes the suffix `_ptr` from the name of an object.
fn spoken(name: &str, kind: ArgumentKind) -> String {
    let name = match kind {
        ArgumentKind::Object(_) => name.strip_suffix("_ptr").unwrap_or(name),
        _ => name,
    };
    name.replace('_', " ")
}

fn put_address(out: &mut TextBuffer, trace: &Trace, value: u64) {
    out.text(HEXADECIMAL);
    out.hexadecimal(value, trace.payload.digits());
}

/// Appends the symbol of an address, as in `0x08000124 <main+0x4>`, and the source line if it is
/// known, as in `0x08000124 <main+0x4 at main.c:12>`.
#[cold]
fn put_symbol(out: &mut TextBuffer, trace: &Trace, address: u64) {
    if let Some(symbol) = trace.symbol(address) {
        out.text(format!(" <{symbol}"));
        if let Some(Place { file, line }) = symbol.place {
            out.text(format!(" at {file}:{line}"));
        }
        out.byte(b'>');
    }
}

/// Appends the label of the object that an argument refers to. If there is no such object, appends
/// the argument.
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
    if let Some(symbol) = trace.object_symbol(kind, key) {
        return out.text(symbol.to_string());
    }
    let kind = kind.and_then(|code| trace.schema.object_kind(code));
    match key {
        // Some kinds of objects have numbers instead of addresses, and 0 is a valid number.
        _ if kind.is_some_and(|kind| kind.numbered) => out.decimal(key),
        0 => out.text("none"),
        _ => put_address(out, trace, key),
    }
}

/// Appends a word of the trace as a number with a sign.
pub(crate) fn put_signed(out: &mut TextBuffer, trace: &Trace, value: u64) {
    let signed = trace.payload.signed(value);
    if signed < 0 {
        out.byte(b'-');
    }
    out.decimal(signed.unsigned_abs());
}

fn put_enum(out: &mut TextBuffer, trace: &Trace, table: TableId, value: u64) {
    match trace.schema.enum_name(table, value) {
        Some(name) => out.text(name),
        None => {
            match trace.schema.number_kind(ArgumentKind::Enum(table)) {
                ArgumentKind::Signed => put_signed(out, trace, value),
                _ => out.decimal(value),
            }
            out.text(trace.schema.unit(table));
        }
    }
}

fn put_flags(out: &mut TextBuffer, trace: &Trace, table: TableId, value: u64) {
    let mut rest = value;
    let mut separator = "";
    for (bits, name) in trace.schema.flags(table) {
        // A name may stand for several bits, and all of them must be set.
        if bits & value == bits && bits != 0 {
            out.text(separator);
            out.text(name);
            rest &= !bits;
            separator = "|";
        }
    }
    // Bits without a name are shown as a number. The value 0 is also shown as a number.
    if rest != 0 || separator.is_empty() {
        out.text(separator);
        put_address(out, trace, rest);
    }
}

fn put_ipv4(out: &mut TextBuffer, value: u64) {
    // The low 32 bits in network order.
    let [_, _, _, _, octets @ ..] = value.to_be_bytes();
    for (index, octet) in octets.into_iter().enumerate() {
        if index > 0 {
            out.byte(b'.');
        }
        out.decimal(u64::from(octet));
    }
}

fn put_list(out: &mut TextBuffer, names: &mut impl NameCache, at: (&Trace, u64), list: &[u8]) {
    let mut before = "";
    for item in values::list_items(list) {
        if !matches!(item, ListItem::Close(_)) {
            out.text(before);
        }
        before = match item {
            ListItem::Open(_) => " ",
            ListItem::Name(_) => "",
            _ => SEPARATOR,
        };
        match item {
            ListItem::Open(Nesting::Structure) => out.byte(b'{'),
            ListItem::Open(Nesting::Array) => out.byte(b'['),
            ListItem::Close(Nesting::Structure) => out.text(" }"),
            ListItem::Close(Nesting::Array) => out.text(" ]"),
            ListItem::Name(name) => {
                put_shown(out, name);
                out.text(" = ");
            }
            ListItem::Float(bits) => out.text(f64::from_bits(bits).to_string()),
            ListItem::Absent => out.text("none"),
            // The sign counts as one character of the width.
            ListItem::Signed(value, width) => {
                out.text(format!("{value:0width$}", width = usize::from(width)));
            }
            ListItem::Unsigned(value, width) => {
                out.text(format!("{value:0width$}", width = usize::from(width)));
            }
            ListItem::Hex(value, width) => {
                out.text(format!("0x{value:0width$X}", width = usize::from(width)));
            }
            // Without quotation marks, an empty string would look like a missing item.
            ListItem::Text([]) => out.text("\"\""),
            ListItem::Text(text) => put_shown(out, text),
            ListItem::Bytes(bytes) => {
                out.byte(b'[');
                put_bytes(out, bytes);
                out.byte(b']');
            }
            ListItem::Object(key, kind) => {
                // Kind 0 marks an object of unknown type.
                let kind = (kind > 0).then_some(u32::from(kind));
                put_object(out, names, at, kind, key);
            }
        }
    }
}

/// Appends the label of the object that had this key at a given time. Caches the label. The cached
/// label is valid as long as the key refers to that object.
fn put_object(
    out: &mut TextBuffer,
    names: &mut impl NameCache,
    (trace, ticks): (&Trace, u64),
    kind: Option<u32>,
    key: u64,
) {
    let what = NameKey::object(kind);
    if let Some(name) = what.and_then(|what| names.find(what, key, ticks)) {
        return name.put(out.room(name.len())).done();
    }
    let start = out.len();
    // An address can be reused by another object, so the label depends on the time.
    let named = trace.objects.named(trace.schema.key(kind, key), ticks, kind);
    put_named(out, trace, named, kind, key);
    if let Some(what) = what {
        // The label is valid in this range of ticks. Before and after the range, the key may refer
        // to another object.
        names.remember(what, key, (named.from, named.until), &out.as_bytes()[start..]);
    }
}
