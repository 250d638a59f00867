//! The formats that the new tracer (`FTrace`) of the S.Ha.R.K. kernel writes.
//!
//! ```text
//! chunk in memory   descriptor and head (48) | normal area | emergency area
//! file              records, empty slots left out; no header, no trailer
//! datagram          header (24) | 1 to 60 records
//! ```
//!
//! The target is a 32-bit little-endian machine. An area is an array of 16-byte [`Record`]s. A slot
//! with the code word 0 was never written. The disk writer stores the used slots of both areas in
//! memory order. It writes one file per chunk: `0NAME`, `1NAME`, … in the order of sending. The UDP
//! sender puts the same records into datagrams, numbered across all chunks. If a chunk has the
//! compression flag, its area contains [packed](Packer) records. Files and datagrams never contain
//! packed records.
//!
//! Source: the public S.Ha.R.K. source tree, `tracer/newtrace/FTrace*.c` and
//! `tracer/include/FTrace*.h`. If the user manual (volume V) differs, we follow the source.
//!
//! The decoder (`tracewell::format::shark`) sorts records by time and determines rates and names.
//! The recorder (`tracewell_record::shark`) chooses the slot to write next.

mod chunk;
mod datagram;
pub mod ids;
mod packed;
mod record;
mod restart;

pub use chunk::{ChunkError, ChunkHeader, usable_slots};
pub use datagram::{DatagramError, DatagramHeader, Frame, PORT};
pub use packed::{
    AreaRecords, BlockError, Expand, PackedBlock, PackedDamage, PackedRecord, Packer, Unpacker,
};
pub use record::Record;
pub use restart::SenderStart;
