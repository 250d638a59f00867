//! What a process shares with those who trace it: its area, and the names of its event types.
//!
//! The area is one page:
//!
//! | words | content |
//! |---|---|
//! | 0 | [`AREA_MAGIC`] |
//! | 1, 2 | process: its id (low half), its space (high half); its start, as `/proc/PID/stat` has it |
//! | 3 | nonce of its name space; 0 while it has none |
//! | 8 | generation: counts up when a slot changes |
//! | 16 to 79 | slot `n`: nonce of the stream of the reference file `s.n` if it traces the process, else 0 |
//!
//! Slot `n` is stored only by the controller that owns the reference file `s.n`.
//!
//! The space of a process is the inode number of the PID namespace that its id belongs to, or 0 if the process
//! could not find out. Ids of different spaces cannot be compared.
//!
//! A process that no controller traces and that has no names needs no area. It maps the file `all`, one page
//! for all processes of a user:
//!
//! | words | content |
//! |---|---|
//! | 0 | [`ALL_MAGIC`] |
//! | 8 | generation: changes after a controller made the area of a process |
//!
//! A name space belongs to a process and to its children that are traced with it:
//!
//! | words | content |
//! |---|---|
//! | 0 | [`NAMES_MAGIC`] |
//! | 1 | its nonce |
//! | 2 | names lie below this slot |
//! | 8 | slots of [`NAME_SLOT`] words: bytes of the name; the name |
//!
//! A reference is a file `s.NN` of five words and says where a stream's memory is:
//!
//! | word | content |
//! |---|---|
//! | 0 | [`REFERENCE_MAGIC`] |
//! | 1 | nonce of the stream |
//! | 2, 3 | the controller: process, as in an area; its start |
//! | 4 | the descriptor in the controller that is the memory; all ones for the file `o.NONCE` beside |

/// `TWPXPRO1`, read as a little-endian number.
pub const AREA_MAGIC: u64 = u64::from_le_bytes(*b"TWPXPRO1");
/// `TWPXALL1`, read as a little-endian number.
pub const ALL_MAGIC: u64 = u64::from_le_bytes(*b"TWPXALL1");
/// `TWPXNAM1`, read as a little-endian number.
pub const NAMES_MAGIC: u64 = u64::from_le_bytes(*b"TWPXNAM1");

/// `TWPXREF1`, read as a little-endian number.
pub const REFERENCE_MAGIC: u64 = u64::from_le_bytes(*b"TWPXREF1");
/// Words of a reference.
pub const REFERENCE_WORDS: usize = 5;
/// The descriptor of a reference to a file.
pub const NO_DESCRIPTOR: u64 = u64::MAX;

/// Words of an area.
pub const AREA_WORDS: usize = 512;
/// Streams that may trace a process.
pub const SLOTS: usize = 64;

/// Places of words in an area.
pub mod at {
    /// The magic number.
    pub const MAGIC: usize = 0;
    /// Process.
    pub const PROCESS: usize = 1;
    /// Its start.
    pub const START: usize = 2;
    /// Its name space.
    pub const NAMES: usize = 3;
    /// Generation.
    pub const GENERATION: usize = 8;
    /// Slots.
    pub const SLOTS: usize = 16;
}

/// Places of words in a name space.
pub mod names {
    /// The magic number.
    pub const MAGIC: usize = 0;
    /// Its nonce.
    pub const NONCE: usize = 1;
    /// Names lie below this slot.
    pub const COUNT: usize = 2;
    /// Slots.
    pub const SLOTS: usize = 8;
}

/// Words of a name's slot.
pub const NAME_SLOT: usize = 9;
/// Words of a name space.
pub const NAMES_WORDS: usize = names::SLOTS + super::USER_EVENT_MAX * NAME_SLOT;
