//! The types of a CTF trace, as its metadata declares them, with all names and references resolved.
//! Metadata of both versions is converted to this form.
//!
//! This module does not parse metadata (see `tsdl` and `json`), and does not read packets.

use std::sync::Arc;

use tracewell_wire::ByteOrder;

/// The version of the metadata language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// CTF 1.8, in the language TSDL.
    Ctf1,
    /// CTF 2, as a sequence of JSON texts.
    Ctf2,
}

/// The content of a trace's metadata.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// The language of the metadata.
    pub version: Version,
    /// The default byte order of fields, which is also the byte order of the packets' magic number.
    /// CTF 2 declares no default, so this is the byte order of the magic number's class. Without a
    /// magic number, it is little-endian.
    pub byte_order: ByteOrder,
    /// The identifier that packets repeat.
    pub uuid: Option<[u8; 16]>,
    /// Name of the trace, if the metadata contains one.
    pub name: Option<String>,
    /// Facts about the recording system, in order of declaration. Each name occurs once.
    pub environment: Vec<(String, Value)>,
    /// The clocks. [`StreamClass::clock`] is an index in this list.
    pub clocks: Vec<Clock>,
    /// Layout of the header of all packets; `None` if packets have no header.
    pub packet_header: Option<Arc<Structure>>,
    /// The classes of data streams. No two of them have the same id.
    pub streams: Vec<StreamClass>,
}

/// A fact of the environment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// A clock that counts cycles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clock {
    /// Name (CTF 1.8) or id (CTF 2).
    pub name: String,
    /// An identifier. Clocks of different traces can be compared if they have the same identifier.
    pub uid: Option<String>,
    /// Description, in natural language.
    pub description: String,
    /// Cycles per second, at least 1.
    pub frequency: u64,
    /// Seconds from the origin to cycle 0, in addition to [`Clock::offset_cycles`].
    pub offset_seconds: i64,
    /// Cycles from the origin to cycle 0, in addition to [`Clock::offset_seconds`].
    pub offset_cycles: i64,
    /// Uncertainty in cycles, if known.
    pub precision: Option<u64>,
    /// True if the origin is 1970-01-01 00:00 UTC.
    pub is_unix: bool,
}

/// A class of data streams.
#[derive(Clone, Debug)]
pub struct StreamClass {
    /// Id, unique in the trace.
    pub id: u64,
    /// Name, if the metadata contains one.
    pub name: Option<String>,
    /// The clock of the timestamps, an index in [`Metadata::clocks`].
    pub clock: Option<usize>,
    /// Layout of the packet context.
    pub packet_context: Option<Arc<Structure>>,
    /// Layout of the event header.
    pub event_header: Option<Arc<Structure>>,
    /// Layout of the context that all events of the stream have.
    pub common_context: Option<Arc<Structure>>,
    /// The classes of events. No two of them have the same id.
    pub events: Vec<EventClass>,
}

/// A class of events.
#[derive(Clone, Debug)]
pub struct EventClass {
    /// Id, unique in the stream class.
    pub id: u64,
    /// Name, if the metadata contains one.
    pub name: Option<String>,
    /// Level of importance, if the metadata contains one.
    pub log_level: Option<LogLevel>,
    /// URI of a model of the event, if the metadata contains one.
    pub uri: Option<String>,
    /// Layout of the context that only events of this class have.
    pub specific_context: Option<Arc<Structure>>,
    /// Layout of the payload.
    pub payload: Option<Arc<Structure>>,
}

/// Level of an event class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LogLevel {
    /// The number in CTF 1.8: 0 is emergency, 14 is debug.
    Number(i64),
    /// The word in CTF 2, such as `debug:line`.
    Word(String),
}

/// A scope, which is one of the six structures of packets and events. The variants are in the order
/// in which the scopes are read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scope {
    /// Header of a packet.
    PacketHeader,
    /// Context of a packet.
    PacketContext,
    /// Header of an event.
    EventHeader,
    /// Context that all events of a stream have.
    CommonContext,
    /// Context of one class of events.
    SpecificContext,
    /// Payload of one class of events.
    Payload,
}

/// A structure: named members in sequence.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Structure {
    /// Alignment in bits, at least the largest alignment of its members; a power of two.
    pub alignment: u32,
    /// The members, in the order of the bytes.
    pub members: Vec<Member>,
}

/// A member of a structure.
#[derive(Clone, PartialEq, Debug)]
pub struct Member {
    /// The name. One leading underscore of a CTF 1.8 name is removed.
    pub name: Arc<str>,
    /// The content of the member.
    pub class: Class,
}

/// The content of a field.
#[derive(Clone, PartialEq, Debug)]
pub enum Class {
    /// An integer with a fixed number of bits, a bit array, or a Boolean.
    Integer(Arc<Integer>),
    /// A number in LEB128, 1 to 10 bytes, aligned to 8 bits.
    Variable(Arc<Integer>),
    /// A binary floating-point number.
    Float(Float),
    /// A string that ends with a NUL, aligned to 8 bits.
    Text(Encoding),
    /// A string in a field of fixed or dynamic length, aligned to 8 bits.
    SizedText {
        /// Length in bytes.
        length: Length,
        /// Encoding. If the field contains a NUL, the text ends there.
        encoding: Encoding,
    },
    /// Uninterpreted bytes, aligned to 8 bits.
    Blob {
        /// Length in bytes.
        length: Length,
        /// True if the blob is the identifier of the metadata ([`Metadata::uuid`]).
        is_uuid: bool,
    },
    /// A structure.
    Structure(Arc<Structure>),
    /// An array.
    Array(Arc<Array>),
    /// A field that is present or absent.
    Optional(Arc<Choice>),
    /// One of several fields.
    Variant(Arc<Choice>),
}

/// Layout, kind and presentation of an integer.
#[derive(Clone, PartialEq, Debug)]
pub struct Integer {
    /// Number of bits, 1 to 64. 64 for [`Class::Variable`].
    pub bits: u8,
    /// Alignment in bits, a power of two. 8 for [`Class::Variable`].
    pub alignment: u32,
    /// Order of the bytes.
    pub order: ByteOrder,
    /// True for the bit order `last-to-first` in little-endian numbers, and for `first-to-last` in
    /// big-endian numbers (CTF 2).
    pub reversed: bool,
    /// The kind of number.
    pub kind: IntegerKind,
    /// Base for display: 2, 8, 10 or 16.
    pub base: u8,
    /// True if the attribute `encoding` declares that the number is a character (CTF 1.8).
    pub is_text: bool,
    /// The names of values, in order of declaration. For [`IntegerKind::BitMap`], they are names of
    /// bits. Labels may repeat and ranges may overlap.
    pub mappings: Vec<Mapping>,
    /// True if the number is an enumeration, even if this enumeration has no mappings.
    pub is_enumeration: bool,
    /// The roles of the number in its packet or event. Empty for ordinary data.
    pub roles: Vec<Role>,
}

/// The kind of an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IntegerKind {
    /// 0 to 2^bits - 1.
    Unsigned,
    /// Two's complement.
    Signed,
    /// Bits that do not form a number (CTF 2).
    BitArray,
    /// Bits with names (CTF 2).
    BitMap,
    /// A Boolean that is false if all bits are 0 (CTF 2).
    Boolean,
}

/// A label of a range of values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mapping {
    /// The label as the metadata declares it.
    pub label: Arc<str>,
    /// First value of the range.
    pub low: i128,
    /// Last value, at least `low`.
    pub high: i128,
}

/// The role of a number in the packet or event that contains it. CTF 1.8 assigns roles by names and
/// by `map`, and CTF 2 by `roles`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// 0xC1FC1FC1, first member of the packet header.
    Magic,
    /// Id of the stream class.
    StreamClass,
    /// Id of the stream within its class.
    StreamInstance,
    /// Length of the packet in bits, with padding.
    PacketSize,
    /// Length of the packet in bits, without padding.
    ContentSize,
    /// Timestamp of the end of the packet. This timestamp does not change the value of the clock.
    EndTime,
    /// Timestamp. It sets the value of the stream's clock, or only the low bits of this value if
    /// the number has fewer than 64 bits.
    Time,
    /// Number of events that the recorder has discarded in this stream so far.
    Discarded,
    /// Sequence number of the packet in its stream.
    PacketNumber,
    /// Id of the event's class. If a header contains several, the last one applies.
    EventClass,
    /// The processor that recorded the packet. By convention, recorders name this number `cpu_id`.
    Processor,
}

/// Format of a floating-point number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Float {
    /// Number of bits: 32 or 64.
    pub bits: u8,
    /// Alignment in bits, a power of two.
    pub alignment: u32,
    /// Order of the bytes.
    pub order: ByteOrder,
    /// True for the bit order `last-to-first` in little-endian numbers, and for `first-to-last` in
    /// big-endian numbers (CTF 2).
    pub reversed: bool,
}

/// Encoding of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// UTF-8, or ASCII.
    Utf8,
    /// UTF-16 with code units in this order.
    Utf16(ByteOrder),
    /// UTF-32 with code units in this order.
    Utf32(ByteOrder),
}

/// The length of a field, in elements or bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Length {
    /// A number in the metadata.
    Fixed(u64),
    /// The value of an unsigned integer that precedes the field.
    Field(Location),
}

/// An array: elements of one class.
#[derive(Clone, PartialEq, Debug)]
pub struct Array {
    /// Number of elements: fixed, or read from another field.
    pub length: Length,
    /// Alignment in bits, at least that of an element. It also applies to an empty array.
    pub alignment: u32,
    /// The class of each element. An array of characters (`is_text`, 8 bits, aligned to 8) is a
    /// [`Class::SizedText`] and not an array.
    pub element: Class,
}

/// A field whose class depends on another field.
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    /// The integer that selects the option. It precedes the field.
    pub selector: Location,
    /// The options. [`Class::Optional`] has one option, which has no name.
    pub options: Vec<ChoiceOption>,
}

/// An option of a [`Choice`].
#[derive(Clone, PartialEq, Debug)]
pub struct ChoiceOption {
    /// The name, as in [`Member`]; empty if the option has none.
    pub name: Arc<str>,
    /// The ranges of the selector's values that select this option, both ends included. An option
    /// without values is never selected. If several options have the same value, this value selects
    /// the first of them.
    pub values: Vec<(i128, i128)>,
    /// The class of the field if the option is selected.
    pub class: Class,
}

/// The location of a field to which a later field refers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Location {
    /// The scope that contains the field.
    pub scope: Scope,
    /// The paths from the scope's structure to the field. Each index in a path selects a member of
    /// a structure or an option of a choice. A path contains no index for an array: it continues in
    /// the current element. There are several paths if several options of a choice contain the
    /// field. The reference leads to the field that was read most recently. If none was read, this
    /// is an error.
    pub paths: Vec<Vec<u32>>,
}
