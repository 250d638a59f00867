//! AIX trace entries, and the container that carries them here.
//!
//! Two layers, and they differ in how sure they are:
//!
//! * **Entries** ([`Entry`], [`HookWord32`], [`HookWord64`], [`ids`]): what AIX's trace calls
//!   record, without time stamp, thread id and processor id, which AIX keeps in places that are not
//!   public. IBM's manual pages call these bytes the format buffer: hook word and data, always
//!   big-endian.
//! * **The container** ([`FileHeader`], [`Frame`]), magic `TWX1`: *our own*. The layout of a native
//!   AIX log (`trchdr` and what follows) is not public, so nothing here reads or writes one.
//!
//! ```text
//! file header (96 bytes + strings) | frame | frame | ...
//!                                    └ fixed part (32 bytes) | entry | padding to 8
//! ```
//!
//! Statements say how they are known: *documented* (IBM's pages "trcfmt File Format", "trchook,
//! utrchook, trchook64, utrchook64", "trcgen or trcgent", "Possible forms of a trace event record",
//! "Use of Event IDs", "Trace Hook IDs: 001 through 10A"), *from memory, unverified*, or *our
//! decision* where these pages are silent.
//!
//! Not here: what an entry means (the reader, `tracewell::format::aix`), when one is recorded (the
//! recorder, `tracewell_record::aix`), the language of trace templates.

mod container;
mod conversion;
mod entry;
mod hook;
pub mod ids;

pub use container::{
    Damage, FileHeader, Frame, FrameHead, MAX_ENTRY_LENGTH, MAX_HEADER_LENGTH, ReadError, Texts,
};
pub use conversion::TimeConversion;
pub use entry::{Entry, EntryError, MAX_DATA_LENGTH};
pub use hook::{Env, HookId, HookType, HookWord, HookWord32, HookWord64};
