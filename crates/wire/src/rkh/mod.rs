//! The byte stream of RKH's trace facility. Targets write it, and RKH's tool Trazer reads it.
//!
//! ```text
//! flag | frame flag | frame flag | ...          a frame before stuffing:
//!                                               id | sequence | stamp | arguments | checksum
//! ```
//!
//! Every flag is 0x7E. Within a frame, a byte 0x7E or 0x7D is sent as two bytes: 0x7D, then the
//! byte with bit 5 inverted. Numbers are little-endian on every target. The target's [`Settings`]
//! determine the optional parts of a frame (sequence number, timestamp, checksum) and the size of
//! ids, timestamps and most arguments. A configuration record ([`Configuration`]) announces these
//! settings.
//!
//! Source of the facts: `rkhtrc_define.h`, `rkhtrc_record.h`, `rkhtrc_out.h` and `rkhtrc_*.c` of
//! the public RKH repository, tags 2.0 to 3.4.00.
//!
//! | file | what |
//! |---|---|
//! | `cut` | the bounds of frames, found 64 bytes at a time |
//! | `stuffing` | escapes, both directions |
//! | `checksum` | the checksum, computed eight bytes at a time |
//! | `settings` | sizes and switches of a target |
//! | `field` | the types of arguments |
//! | `configuration` | the three forms of the configuration record |
//! | `symbol` | the arguments of records that name things |
//! | `item` | the items of user events |
//! | `ids` | event ids and their codes, which are the same for ids of all widths |
//! | `events` | the events of each dialect and their arguments, generated from `schemas/rkh.toml` |
//!
//! The reader (`tracewell::format::rkh`) detects losses and interprets timestamps. The recorder
//! (`tracewell_record::rkh`) implements the filters.

pub mod checksum;
mod configuration;
mod cut;
mod dialect;
pub mod events;
mod field;
pub mod ids;
mod item;
mod settings;
mod stuffing;
mod symbol;

pub use configuration::{Configuration, Form, switches};
pub use cut::{BLOCK, Cut, Cutter, masks};
pub use dialect::Dialect;
pub use field::{Condition, Field, FieldType};
pub use item::{Item, ItemParts, Items};
pub use settings::Settings;
pub use stuffing::{Unstuffed, encode, stuff, turned, unstuff, unstuff_in_place};
pub use symbol::{Symbol, SymbolKind};

/// Ends a frame. A further flag precedes the first frame of a stream.
pub const FLAG: u8 = 0x7E;
/// Precedes a byte that was XORed with [`ESCAPE_MASK`].
pub const ESCAPE: u8 = 0x7D;
/// The mask that an escaped byte is XORed with.
pub const ESCAPE_MASK: u8 = 0x20;
/// Maximum length of a frame before stuffing, in bytes. The stream buffers of targets are far too
/// small for longer frames, so readers treat such frames as damage.
pub const MAX_FRAME_LEN: usize = 1024;
