//! The type of an event: its arguments with their types, its meaning, and the roles of its
//! arguments.

use super::{Instrumentation, TableId};
use crate::model::Meaning;

/// The type of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArgumentKind {
    /// A number, shown in decimal.
    Unsigned,
    /// A word that contains a signed number in two's complement.
    Signed,
    /// Bits, shown in hexadecimal.
    Hex,
    /// An address of memory.
    Address,
    /// The key of an object, with the object's type code if it is known.
    Object(Option<u32>),
    /// A number whose name is in a table. Numbers without a name are shown in decimal with the
    /// table's unit.
    Enum(TableId),
    /// A set of bits whose names are in a table. Bits without a name are shown in hexadecimal.
    Flags(TableId),
    /// An IPv4 address in host order.
    Ipv4,
    /// True or false: 0 is false, any other number is true.
    Bool,
    /// The number of a span of an instrumented program; 0 means no span.
    Span,
    /// Text in an unspecified encoding.
    Text,
    /// Bytes, shown in hexadecimal.
    Bytes,
    /// Values with their own types.
    List,
    /// A structure or an array.
    Nested,
    /// The bits of an IEEE 754 number of 64 bits.
    Float,
    /// A recorded word without a name. Most outputs omit it. Outputs that show all words identify
    /// it by its position.
    Unnamed,
}

/// An argument of an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument {
    /// Name in `snake_case`, unique within its event.
    pub name: String,
    /// The type of the argument.
    pub kind: ArgumentKind,
    /// The encoding of the argument in a record, as the dialect names it; empty if all arguments
    /// are words.
    pub encoding: String,
    /// The argument that contains the value if this argument is 0; `None` if 0 is an ordinary
    /// value.
    pub zero: Option<Zero>,
}

impl Argument {
    /// Returns the number of bytes of the encoding, such as 2 for `u16`. Returns `None` if the
    /// encoding is not an integer of fixed length.
    pub(crate) fn encoded_bytes(&self) -> Option<usize> {
        match self.encoding.as_str() {
            "u8" | "i8" => Some(1),
            "u16" | "i16" => Some(2),
            "u32" | "i32" => Some(4),
            "u64" | "i64" => Some(8),
            _ => None,
        }
    }
}

/// The replacement for the value 0 of an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Zero {
    /// The argument that contains the value.
    pub argument: usize,
    /// The note that is shown next to the value in reports.
    pub note: String,
}

/// A meaning with its participants. Each participant is the index of an argument, or `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Means {
    /// The meaning of the event if none of the `cases` applies.
    pub meaning: Meaning,
    /// The argument with the key of the subject; `None` if the recording context is the subject.
    pub subject: Option<usize>,
    /// The argument with the key of the object on which the event acts.
    pub object: Option<usize>,
    /// The argument with the key of the context that runs next.
    pub next: Option<usize>,
    /// The argument that contains the value, if the meaning has one.
    pub value: Option<usize>,
    /// Number that is added to the argument `value`. For example, an offset makes the numbers of
    /// softirqs differ from those of interrupts.
    pub offset: u64,
    /// Meanings that apply only for certain values. The first case that fits applies. After a
    /// `None`, there are no further cases.
    pub cases: [Option<Case>; MAX_CASES],
}

/// Maximum number of cases of a meaning.
pub const MAX_CASES: usize = 4;

/// A meaning that applies if certain bits of the value are set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case {
    /// The case applies if any of these bits is set.
    pub bits: u64,
    /// The meaning in this case.
    pub meaning: Meaning,
}

impl Means {
    /// Returns a meaning without arguments.
    pub const fn of(meaning: Meaning) -> Self {
        let cases = [None; MAX_CASES];
        Self { meaning, subject: None, object: None, next: None, value: None, offset: 0, cases }
    }

    /// Returns true if the event can have this meaning.
    pub fn can_be(&self, meaning: Meaning) -> bool {
        let mut cases = self.cases.iter().flatten();
        self.meaning == meaning || cases.any(|case| case.meaning == meaning)
    }

    /// Returns the meaning for a value: the meaning of the first case that applies, or the usual
    /// meaning if no case applies.
    pub(crate) fn for_value(mut self, value: Option<u64>) -> Self {
        let case =
            value.and_then(|value| self.cases.iter().flatten().find(|case| value & case.bits != 0));
        self.meaning = case.map_or(self.meaning, |case| case.meaning);
        self
    }
}

/// Further roles of an event's arguments, by argument index.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Details {
    /// Argument that names a context. The event belongs to a step of this context.
    pub context: Option<usize>,
    /// The state that a state machine is in.
    pub state: Option<usize>,
    /// The period of a timer, in the timer's own ticks; 0 if it expires only once.
    pub period: Option<usize>,
    /// The owner of the object.
    pub owner: Option<usize>,
    /// The capacity of the object.
    pub capacity: Option<usize>,
    /// The smallest amount that has ever been free in the object.
    pub least_free: Option<usize>,
    /// The amount that the object holds.
    pub used: Option<usize>,
    /// The amount that is free in the object.
    pub free: Option<usize>,
    /// How often the owner of a mutex held it before the event; 0 if the mutex was free. A mutex
    /// that its owner can lock several times is released by the last unlock.
    pub holds: Option<usize>,
    /// True if `used` and `free` were counted before the effect of the event.
    pub before: bool,
    /// True if the object is empty after the event.
    pub empties: bool,
    /// Set if the event begins a call in which a context can wait. A context that blocks before the
    /// call returns waits in this call. The value is the byte offset of the call's name in the
    /// event's name.
    pub waits_in: Option<usize>,
}

/// The type of an event: names, arguments and meaning of an id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventType {
    /// The id, or the first id of the range for which this type stands.
    pub id: u32,
    /// The name that the dialect itself uses.
    pub name: String,
    /// The name used in reports, such as `tx_mutex_get`.
    pub label: String,
    /// Group of events that belong together.
    pub family: String,
    /// Bits of the dialect's event filter that can drop the event; 0 if no bit can drop it.
    pub filter: u32,
    /// Arguments in recorded order.
    pub args: Vec<Argument>,
    /// The meaning for scheduling, if the event has one.
    pub means: Option<Means>,
    /// Further roles of the event's arguments.
    pub details: Details,
    /// Call site and span, for events of instrumented programs.
    pub instrumentation: Instrumentation,
}
