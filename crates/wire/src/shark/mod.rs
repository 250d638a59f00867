//! The bytes of the S.Ha.R.K. kernel's new tracer (`FTrace`), as the target writes them.
//!
//! ```text
//! chunk in memory   descriptor and head (48) | normal area | emergency area
//! file              records, empty slots left out; no header, no trailer
//! datagram          header (24) | 1 to 60 records
//! ```
//!
//! Everything is little-endian, from a 32-bit target. An area is a row of 16-byte [`Record`]s; a slot
//! whose code word is 0 was never written. The disk writer stores the slots that are in use of both
//! areas, in memory order, into one file a chunk (`0NAME`, `1NAME`, … in the order of the sends), the UDP
//! sender packs the same records into datagrams that run on over all chunks. A chunk whose flag says that it is
//! compressed has [packed](Packer) records in its area; files and datagrams never do.
//!
//! Source of the facts: the public S.Ha.R.K. source tree, `tracer/newtrace/FTrace*.c` and
//! `tracer/include/FTrace*.h`; where the user manual differs (volume V), the source wins.
//!
//! Not here: order of records in time, time, names (the reader, `tracewell::format::shark`), and
//! which slot is written next (the recorder).

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
