//! The byte stream of RKH's trace facility, as the target writes it and Trazer reads it.
//!
//! ```text
//! flag | frame flag | frame flag | ...          a frame before stuffing:
//!                                               id | sequence | stamp | arguments | checksum
//! ```
//!
//! Every flag is 0x7E. Within a frame 0x7E and 0x7D are written as 0x7D and the byte with bit 5
//! turned over. Numbers are little-endian whatever the target. Which of sequence number, stamp and
//! checksum are there, and how many bytes ids, stamps and most arguments have, is a matter of the
//! target's settings ([`Settings`]), which a configuration record ([`Configuration`]) announces.
//! Source of the facts: `rkhtrc_define.h`, `rkhtrc_record.h`, `rkhtrc_out.h` and `rkhtrc_*.c` of
//! the public RKH repository, tags 2.0 to 3.4.00.
//!
//! | file | what |
//! |---|---|
//! | `cut` | where frames begin and end: 64 bytes at a time |
//! | `stuffing` | escapes, both directions |
//! | `checksum` | the sum, eight bytes at a time |
//! | `settings` | what a target's settings make of the sizes |
//! | `field` | the types of arguments |
//! | `configuration` | the three forms of the configuration record |
//! | `symbol` | records that name things |
//! | `item` | the items of user events |
//! | `ids` | event ids, and the width-independent code of each |
//! | `events` | the events of each dialect and their arguments, made from `schemas/rkh-*.toml` |
//!
//! Not here: what is lost, what a stamp is
//! worth (the reader, `tracewell::format::rkh`), and what passes a filter (the recorder).

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

/// Ends a frame; one more stands before the first frame of a stream.
pub const FLAG: u8 = 0x7E;
/// Announces a byte that was turned over by [`ESCAPE_MASK`].
pub const ESCAPE: u8 = 0x7D;
/// What an escaped byte is XORed with.
pub const ESCAPE_MASK: u8 = 0x20;
/// The most bytes of a frame before stuffing that a reader accepts; no target's stream buffer
/// holds a record nearly as long.
pub const LONGEST_FRAME: usize = 1024;
