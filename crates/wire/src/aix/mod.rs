//! AIX trace entries and our container format for them.
//!
//! The two layers differ in how well they are documented:
//!
//! * **Entries** ([`Entry`], [`HookWord32`], [`HookWord64`], [`ids`]) are recorded by AIX's trace
//!   calls. An entry is a hook word and data, always big-endian. IBM's manual pages call an entry
//!   "format buffer". Entries exclude timestamp, thread id and processor id, because AIX does not
//!   publish the layout of these.
//! * **The container** ([`FileHeader`], [`Frame`]), magic `TWX1`, is *our own*. The layout of a
//!   native AIX log, which begins with `trchdr`, is not public, so this module neither reads nor
//!   writes native logs.
//!
//! ```text
//! file header (96 bytes + strings) | frame | frame | ...
//!                                    └ fixed part (32 bytes) | entry | padding to 8
//! ```
//!
//! Comments call a fact *documented* if one of these pages of IBM specifies it: "trcfmt File
//! Format", "trchook, utrchook, trchook64, utrchook64", "trcgen or trcgent", "Possible forms of a
//! trace event record", "Use of Event IDs", "Trace Hook IDs: 001 through 10A". If these pages leave
//! a point open, comments say that we decided it.
//!
//! Other modules cover the meaning of entries (the decoder, `tracewell::format::aix`), recording
//! (`tracewell_record::aix`), and the language of trace templates (`tracewell::template`).

mod container;
mod conversion;
mod entry;
mod hook;
pub mod ids;

pub use container::{
    Damage, FileHeader, Frame, FrameHeader, MAX_ENTRY_LENGTH, MAX_HEADER_LENGTH, ReadError, Texts,
};
pub use conversion::TimeConversion;
pub use entry::{Entry, EntryError, MAX_DATA_LENGTH};
pub use hook::{Env, HookId, HookType, HookWord, HookWord32, HookWord64};
