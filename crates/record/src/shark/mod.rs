//! A recorder that follows the rules of the S.Ha.R.K. kernel's new tracer (`FTrace`).
//!
//! [`Trace`] contains the chunk table and the number of the current chunk. A chunk is a block of
//! the caller's memory: descriptor and head, a normal area, an emergency area. Between two calls it
//! always holds a complete image, which the decoder can read. Files and datagrams contain only the
//! records.
//!
//! ```
//! use tracewell_record::clock::Masked;
//! use tracewell_record::shark::{Areas, Trace};
//! use tracewell_wire::shark::{Record, ids, ids::flag};
//!
//! let mut memory = [0; 1024];
//! let mut cycles = 0;
//! let counter = Masked { clock: || { cycles += 100; cycles }, mask: u64::MAX };
//! let mut trace: Trace<_> = Trace::new(counter);
//!
//! let areas = Areas { normal: 512, emergency: 64, ..Areas::default() };
//! let chunk = trace.chunk_create(&mut memory, areas, flag::FREE | flag::STOP).unwrap();
//! trace.chunk_select(chunk).unwrap();
//! trace.enable().unwrap();
//! trace.log(ids::TRACE_START, 0x100, 366_000);
//! trace.log(0x09, 1, 2);
//! trace.disable();
//!
//! let dump = trace.begin_send(chunk).unwrap();
//! let codes: Vec<u8> = dump.records().map(|record| record.code()).collect();
//! assert_eq!(codes, [ids::TRACE_START, 0x09]);
//! trace.end_send(dump, Some(flag::FREE)).unwrap();
//! ```
//!
//! The calls have the kernel's names without `FTrace_`. With the published source, a caller can
//! write beyond an area, lose the event at a jump, and access freed memory. The documentation of
//! each call describes how it differs from the kernel's call. These differences concern several
//! calls:
//!
//! * Chunk numbers, sizes, flags and links are checked. No call deletes or compresses a chunk that
//!   is current, linked or being sent, and [`Trace::set_chunk_flags`] does not free it.
//! * Position, FULL and BUSY are stored outside the caller's memory. The image is written from
//!   these values and never read back.
//! * Setting FREE empties the chunk.
//! * Every event that is not stored is counted by cause: [`Drops`].
//! * All slots of the normal area are used. In the kernel, the test for the end leaves the last
//!   slot unused.
//! * The emergency area holds the records without which readers cannot interpret the other records
//!   ([`is_essential`](tracewell_wire::shark::ids::is_essential)). The tracer stores such a record
//!   there if the normal area is full, and before a cyclic chunk overwrites the record. The kernel
//!   has no code that is intended to fill this area.
//!
//! The caller supplies memory, a [`Clock`](crate::clock::Clock) and mutual exclusion. The tracer
//! unwraps the clock's ticks to 64 bits (see [`Trace::new`]). Every call takes `&mut Trace` and
//! neither blocks nor locks. A call is safe in an interrupt if no other call can be in progress at
//! that time. Sending has two halves ([`Trace::begin_send`], [`Trace::end_send`]), so that a slow
//! sender can work outside the lock while other chunks record.
//!
//! Source of the rules: the public S.Ha.R.K. source tree, `tracer/newtrace/FTrace.c`,
//! `FTrace_OSD_ll.c`, `FTrace_OSD.c`, `FTrace_disk.c` and `FTrace_udp.c`.
//!
//! Not in this module: the byte layout (`tracewell_wire::shark`), the meaning of events (the
//! decoder in the crate `tracewell`), and the kernel's decision which events to log.

mod chunk;
mod compress;
mod control;
#[cfg(feature = "std")]
mod disk;
mod log;
mod pack;
mod packets;
mod send;
mod status;
#[cfg(feature = "std")]
mod udp;

pub use chunk::Areas;
pub use control::Trace;
#[cfg(feature = "std")]
pub use disk::DiskWriter;
pub use packets::Packets;
pub use send::{Dump, DumpRecords, SendError, Sender};
pub use status::{ChunkStatus, ControlError, Drops, Outcome};
#[cfg(feature = "std")]
pub use udp::UdpSender;
