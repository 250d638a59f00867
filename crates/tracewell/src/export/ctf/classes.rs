//! The event classes of the output, and the bytes of arguments.
//!
//! A class has a fixed list of fields. In the model, an event may lack arguments, and the items of
//! a list may have any types. The shape of an event consists of the arguments that it has, and of
//! the types of the values in its lists, structures and arrays. So an event id has one class for
//! each shape of its events. The first of these classes has the id of the event.
//!
//! | argument | field |
//! |---|---|
//! | number | 32 bits if the trace records words of 32 bits, otherwise 64; base 10, or base 16 for bits, addresses, objects and unnamed words |
//! | number with labels from a table, truth value | enumeration |
//! | number with a fraction | 64 bits |
//! | text | string; a byte 0 within it becomes `\x00` |
//! | bytes | sequence of bytes |
//! | list | sequence of numbers of one type, or of strings; for other items, sequence of structures |
//! | structure | structure |
//! | array | sequence |
//! | words that the schema does not name | `arg1`, `arg2`, …, as in JSON lines; one sequence if there are more than 8 |

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use foldhash::fast::RandomState;

use super::bytes::{put_bytes, put_length, put_text};
use super::names::identifiers;
use super::nested::{self, Shape};
use crate::export::events::argument_count;
use crate::model::schema::{ArgumentKind, Level, TableId};
use crate::model::values::{ListItem, list_items};
use crate::model::{ContextDetail, Event};

/// Maximum number of classes.
pub(super) const MAX_CLASSES: usize = 1 << 16;

/// Maximum number of unnamed words that get separate fields.
const MAX_WORDS: usize = 8;

/// The first id for additional classes. An event id needs additional classes if its events differ
/// in shape.
const FIRST_FREE_ID: u32 = 1 << 31;

/// The type of the numbers in an enumeration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Word {
    /// 32 bits.
    Narrow,
    /// 64 bits.
    Wide,
    /// 64 bits with a sign.
    Signed,
}

/// The type of a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Type {
    /// A number in base 10, with 64 or 32 bits.
    Unsigned { wide: bool },
    /// A signed number of 64 bits.
    Signed,
    /// A number in base 16, with 64 or 32 bits.
    Hex { wide: bool },
    /// A number with names from a table.
    Enum { table: TableId, word: Word },
    /// An enumeration of 8 bits.
    Bool,
    /// IEEE 754, 64 bits.
    Float,
    /// A string that ends with a byte 0.
    Text,
    /// A sequence of bytes.
    Bytes,
    /// A sequence of items of one type.
    List(Items),
    /// A structure or an array.
    Nested(Shape),
}

/// The type of a list's items.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Items {
    Unsigned,
    Signed,
    Hex,
    Text,
    /// The items have different types. Each item is a structure with two members: a number that
    /// selects a type, and a value of this type.
    Mixed,
}

/// An event class.
#[derive(Debug)]
pub(super) struct Class {
    /// The event id in the output.
    pub(super) id: u32,
    pub(super) name: String,
    pub(super) level: Option<Level>,
    /// Identifiers and types.
    pub(super) fields: Vec<(String, Type)>,
}

/// All classes so far.
#[derive(Debug, Default)]
pub(super) struct Classes {
    list: Vec<Class>,
    by_shape: HashMap<Vec<u8>, usize, RandomState>,
    /// The shape of the current event; kept to reuse its memory.
    shape: Vec<u8>,
    ids: BTreeSet<u32>,
    free_id: u32,
}

impl Classes {
    /// Returns all classes, in the order of their first events.
    pub(super) fn all(&self) -> &[Class] {
        &self.list
    }

    /// Returns the id of an event's class, or `None` if there are too many classes.
    pub(super) fn id(&mut self, event: Event<'_>) -> Option<u32> {
        put_shape(&mut self.shape, event);
        let index = match self.by_shape.get(self.shape.as_slice()) {
            Some(index) => *index,
            None => self.add(event)?,
        };
        self.list.get(index).map(|class| class.id)
    }

    fn add(&mut self, event: Event<'_>) -> Option<usize> {
        let index = self.list.len();
        if index >= MAX_CLASSES {
            return None;
        }
        let id = self.new_id(event.id());
        let kind = event.kind();
        let name = match event.trace.schema.defines(event.id()) {
            true => kind.name.clone(),
            false => format!("{} {}", kind.name, event.trace.schema.shown_id(event.id())),
        };
        self.list.push(Class { id, name, level: event.level(), fields: fields(event) });
        self.by_shape.insert(self.shape.clone(), index);
        Some(index)
    }

    fn new_id(&mut self, of_event: u32) -> u32 {
        let mut id = of_event;
        while id >= FIRST_FREE_ID || !self.ids.insert(id) {
            id = FIRST_FREE_ID | self.free_id;
            self.free_id += 1;
            if self.ids.insert(id) {
                break;
            }
        }
        id
    }
}

/// Writes the shape of an event to `shape`: the facts that determine the fields of its class.
fn put_shape(shape: &mut Vec<u8>, event: Event<'_>) {
    shape.clear();
    shape.extend(event.id().to_le_bytes());
    let args = &event.kind().args;
    let detail = match detail(event) {
        None => 0,
        Some(ContextDetail::PreemptionThreshold(_)) => 1,
        Some(ContextDetail::Interrupted(_)) => 2,
    };
    // If there are more words than the maximum, they form one sequence, however many there are.
    let words = unnamed(event).len().min(MAX_WORDS + 1) as u8;
    shape.extend([detail, words, u8::from(is_wide(event))]);
    shape.extend(args.iter().enumerate().map(|(index, argument)| {
        match (event.argument(index), argument.kind) {
            (None, _) => 0,
            (Some(_), ArgumentKind::List) => 2 + items(event.bytes(index)) as u8,
            (Some(_), _) => 1,
        }
    }));
    for (index, argument) in args.iter().enumerate() {
        if argument.kind == ArgumentKind::Nested && event.argument(index).is_some() {
            shape.extend(format!("{:?};", nested::shape(event.bytes(index))).bytes());
        }
    }
}

/// Returns the positions of the words that the schema does not name.
fn unnamed(event: Event<'_>) -> Range<usize> {
    let named = event.kind().args.len();
    named..argument_count(event).max(named)
}

fn fields(event: Event<'_>) -> Vec<(String, Type)> {
    let wide = is_wide(event);
    let args = event.kind().args.iter().enumerate();
    let mut fields: Vec<_> = args
        .filter(|(index, _)| event.argument(*index).is_some())
        .map(|(index, argument)| (argument.name.clone(), field_type(event, index, argument.kind)))
        .collect();
    let words = unnamed(event);
    if words.len() <= MAX_WORDS {
        fields.extend(words.map(|index| (format!("arg{}", index + 1), Type::Hex { wide })));
    } else {
        fields.push(("words".to_owned(), Type::List(Items::Hex)));
    }
    fields.extend(detail(event).map(|detail| match detail {
        ContextDetail::PreemptionThreshold(_) => {
            ("preemption_threshold".to_owned(), Type::Unsigned { wide })
        }
        ContextDetail::Interrupted(_) => ("interrupted".to_owned(), Type::Hex { wide }),
    }));
    // Arguments of user schemas can have equal names, and names that are no identifiers.
    let names = identifiers(fields.iter().map(|(name, _)| name.as_str()));
    names.into_iter().zip(fields.into_iter().map(|(_, kind)| kind)).collect()
}

fn field_type(event: Event<'_>, index: usize, kind: ArgumentKind) -> Type {
    let wide = is_wide(event);
    match kind {
        ArgumentKind::Unsigned | ArgumentKind::Span => Type::Unsigned { wide },
        ArgumentKind::Signed => Type::Signed,
        ArgumentKind::Hex
        | ArgumentKind::Address
        | ArgumentKind::Object(_)
        | ArgumentKind::Flags(_)
        | ArgumentKind::Ipv4
        | ArgumentKind::Unnamed => Type::Hex { wide },
        ArgumentKind::Enum(table) => {
            let is_signed = event.trace.schema.number_kind(kind) == ArgumentKind::Signed;
            let word = match (is_signed, wide) {
                (true, _) => Word::Signed,
                (false, true) => Word::Wide,
                (false, false) => Word::Narrow,
            };
            Type::Enum { table, word }
        }
        ArgumentKind::Bool => Type::Bool,
        ArgumentKind::Float => Type::Float,
        ArgumentKind::Text => Type::Text,
        ArgumentKind::Bytes => Type::Bytes,
        ArgumentKind::List => Type::List(items(event.bytes(index))),
        ArgumentKind::Nested => Type::Nested(nested::shape(event.bytes(index))),
    }
}

/// Appends the arguments of an event, encoded as the event's class declares them.
pub(super) fn put_arguments(out: &mut Vec<u8>, event: Event<'_>) {
    let wide = is_wide(event);
    let args = &event.kind().args;
    for (index, argument) in args.iter().enumerate() {
        // The class of this shape has no field for an absent argument.
        let Some(value) = event.argument(index) else { continue };
        match field_type(event, index, argument.kind) {
            Type::Unsigned { wide } | Type::Hex { wide } => put_number(out, value, wide),
            Type::Enum { word: Word::Narrow, .. } => put_number(out, value, false),
            Type::Enum { word: Word::Wide, .. } => put_number(out, value, true),
            Type::Signed | Type::Enum { word: Word::Signed, .. } => {
                out.extend(event.trace.payload.signed(value).to_le_bytes())
            }
            Type::Bool => out.push(u8::from(value != 0)),
            Type::Float => out.extend(value.to_le_bytes()),
            Type::Text => put_text(out, event.bytes(index)),
            Type::Bytes => put_bytes(out, event.bytes(index)),
            Type::List(items) => put_list(out, items, event.bytes(index)),
            Type::Nested(shape) => {
                let digits = event.trace.payload.digits();
                nested::put(out, &shape, event.bytes(index), digits);
            }
        }
    }
    let words = unnamed(event);
    // More than `MAX_WORDS` unnamed words are a sequence, which consists of a length and numbers of
    // 64 bits.
    let is_list = words.len() > MAX_WORDS;
    if is_list {
        put_length(out, words.len());
    }
    for index in words {
        put_number(out, event.argument(index).unwrap_or(0), wide || is_list);
    }
    match detail(event) {
        None => {}
        Some(ContextDetail::PreemptionThreshold(value)) => put_number(out, value.into(), wide),
        Some(ContextDetail::Interrupted(thread)) => put_number(out, thread, wide),
    }
}

/// Returns true if unsigned numbers have 64 bits, and false if they have 32 bits.
fn is_wide(event: Event<'_>) -> bool {
    use crate::model::PayloadLayout::{Fields, Values, Words};
    match event.trace.payload {
        Words { bytes, .. } => bytes > 4,
        Fields(_) => false,
        Values { .. } => true,
    }
}

fn detail(event: Event<'_>) -> Option<ContextDetail> {
    event.trace.details.as_ref()?.detail(event.row.record)
}

/// Returns the type of a list's items.
fn items(list: &[u8]) -> Items {
    let type_of = |item: ListItem<'_>| match item {
        ListItem::Unsigned(..) => Items::Unsigned,
        ListItem::Signed(..) => Items::Signed,
        ListItem::Hex(..) | ListItem::Object(..) => Items::Hex,
        ListItem::Text(_) => Items::Text,
        // Lists contain no nested values.
        _ => Items::Mixed,
    };
    let mut types = list_items(list).map(type_of);
    let first = types.next().unwrap_or(Items::Unsigned);
    if types.all(|other| other == first) { first } else { Items::Mixed }
}

fn put_list(out: &mut Vec<u8>, items: Items, list: &[u8]) {
    put_length(out, list_items(list).count());
    for item in list_items(list) {
        // If the items have several types, each item is a variant, and a selector precedes it.
        if items == Items::Mixed {
            out.push(selector(item));
        }
        match item {
            ListItem::Unsigned(value, _) | ListItem::Hex(value, _) | ListItem::Object(value, _) => {
                out.extend(value.to_le_bytes());
            }
            ListItem::Signed(value, _) => out.extend(value.to_le_bytes()),
            ListItem::Text(text) => put_text(out, text),
            ListItem::Bytes(bytes) => put_bytes(out, bytes),
            _ => put_text(out, b""),
        }
    }
}

/// The options for an item of a mixed list, each with its name and its declaration. The selector of
/// an option is its index in this list.
pub(super) const OPTIONS: [(&str, &str); 5] = [
    ("decimal", "u64 decimal;"),
    ("negative", "i64 negative;"),
    ("hexadecimal", "x64 hexadecimal;"),
    ("text", "string text;"),
    ("bytes", "struct { u32 _length; x8 _data[_length]; } bytes;"),
];

/// Returns the number that selects the option of an item.
const fn selector(item: ListItem<'_>) -> u8 {
    match item {
        ListItem::Unsigned(..) => 0,
        ListItem::Signed(..) => 1,
        ListItem::Hex(..) | ListItem::Object(..) => 2,
        ListItem::Bytes(_) => 4,
        // Lists contain no nested values.
        _ => 3,
    }
}

fn put_number(out: &mut Vec<u8>, value: u64, wide: bool) {
    if wide {
        out.extend(value.to_le_bytes());
    } else {
        out.extend((value as u32).to_le_bytes());
    }
}
