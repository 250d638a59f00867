//! The memory that a process shares with its controllers: its area and the names of its event
//! types.
//!
//! The area is one page:
//!
//! | words | content |
//! |---|---|
//! | 0 | [`AREA_MAGIC`] |
//! | 1 | process: its id (low half), its space (high half) |
//! | 2 | start time of the process, as in `/proc/PID/stat` |
//! | 3 | nonce of its name space; 0 while it has none |
//! | 8 | generation: incremented when a slot changes |
//! | 16 to 79 | slots 0 to 63: nonce of a stream that traces the process, or 0 |
//!
//! Only the controller that owns the reference file `s.n` stores slot `n`. The slot holds the nonce
//! of that file's stream while the stream traces the process.
//!
//! Every process id belongs to a PID namespace. The space of a process is the inode number of that
//! namespace, or 0 if the process could not determine the number. Ids of different spaces are not
//! comparable.
//!
//! A process without controllers and names needs no area. Such a process maps the file `all`, one
//! page for all processes of a user:
//!
//! | words | content |
//! |---|---|
//! | 0 | [`ALL_MAGIC`] |
//! | 8 | generation: changes after a controller created the area of a process |
//!
//! A process shares its name space with the child processes that are traced with it. The words of a
//! name space:
//!
//! | words | content |
//! |---|---|
//! | 0 | [`NAMES_MAGIC`] |
//! | 1 | its nonce |
//! | 2 | number of slots in use |
//! | 8 | slots of [`NAME_SLOT`] words: length of the name in bytes; the name |
//!
//! A reference is a file `s.NN` with five words. It locates a stream's memory:
//!
//! | word | content |
//! |---|---|
//! | 0 | [`REFERENCE_MAGIC`] |
//! | 1 | nonce of the stream |
//! | 2, 3 | the controller: process and start time, as in an area |
//! | 4 | the memory's descriptor in the controller; all ones if the memory is the file `o.NONCE` |

/// `TWPXPRO1`, read as a little-endian number.
pub const AREA_MAGIC: u64 = u64::from_le_bytes(*b"TWPXPRO1");
/// `TWPXALL1`, read as a little-endian number.
pub const ALL_MAGIC: u64 = u64::from_le_bytes(*b"TWPXALL1");
/// `TWPXNAM1`, read as a little-endian number.
pub const NAMES_MAGIC: u64 = u64::from_le_bytes(*b"TWPXNAM1");

/// `TWPXREF1`, read as a little-endian number.
pub const REFERENCE_MAGIC: u64 = u64::from_le_bytes(*b"TWPXREF1");
/// Length of a reference in words.
pub const REFERENCE_WORDS: usize = 5;
/// Value of the descriptor word if the stream's memory is a file.
pub const NO_DESCRIPTOR: u64 = u64::MAX;

/// Length of an area in words.
pub const AREA_WORDS: usize = 512;
/// Maximum number of streams that trace one process.
pub const SLOTS: usize = 64;

/// Positions of words in an area.
pub mod at {
    /// Position of the magic number.
    pub const MAGIC: usize = 0;
    /// Position of the process.
    pub const PROCESS: usize = 1;
    /// Position of the process's start time.
    pub const START: usize = 2;
    /// Position of the nonce of the name space.
    pub const NAMES: usize = 3;
    /// Position of the generation.
    pub const GENERATION: usize = 8;
    /// Position of the first slot.
    pub const SLOTS: usize = 16;
}

/// Positions of words in a name space.
pub mod names {
    /// Position of the magic number.
    pub const MAGIC: usize = 0;
    /// Position of the nonce.
    pub const NONCE: usize = 1;
    /// Position of the number of slots in use.
    pub const COUNT: usize = 2;
    /// Position of the first slot.
    pub const SLOTS: usize = 8;
}

/// Length of a name's slot in words.
pub const NAME_SLOT: usize = 9;
/// Length of a name space in words.
pub const NAMES_WORDS: usize = names::SLOTS + super::USER_EVENT_MAX * NAME_SLOT;
