//! A recorder with the rules of the S.Ha.R.K. kernel's new tracer (`FTrace`).
//!
//! [`Trace`] is the chunk table and the current chunk. A chunk is a block of the caller's memory: descriptor and
//! head, a normal area, an emergency area. Between two calls each holds a complete image, which the reader
//! takes; what is sent to a file or as datagrams is the records alone.
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
//! The calls have the kernel's names without `FTrace_`; each one's documentation says where it differs from the
//! published source, which lets a caller write past areas, lose the event of a jump, and reach freed memory.
//! What the differences have in common:
//!
//! * Chunk numbers, sizes, flags and links are checked, and nothing happens to a chunk that is current,
//!   linked or being sent.
//! * Position, FULL and BUSY are kept once, outside the caller's memory; the image is written from
//!   there and never believed.
//! * FREE, when it is set, empties the chunk.
//! * Every event that is not stored is counted by cause: [`Drops`].
//! * All slots of the normal area are used; the kernel's test for the end leaves the last one free.
//! * The emergency area, which the kernel never fills on purpose, keeps what the rest cannot be read without
//!   ([`is_essential`](tracewell_wire::shark::ids::is_essential)): such a record goes there when the
//!   normal area is full, and before a cyclic chunk overwrites it.
//!
//! What the caller brings: memory, a [`Clock`](crate::clock::Clock) whose ticks are unwrapped to 64 bits (a bare closure
//! has 32 valid bits, see [`Trace::new`]), and exclusion. Every call takes `&mut Trace` and neither blocks nor locks; it is safe in an interrupt exactly
//! when nothing else can be inside a call at that time. Sending is split ([`Trace::begin_send`], [`Trace::end_send`]) so
//! that slow carriers work outside the lock while other chunks record.
//!
//! Source of the rules: the public S.Ha.R.K. source tree, `tracer/newtrace/FTrace.c`, `FTrace_OSD_ll.c`, `FTrace_OSD.c`,
//! `FTrace_disk.c` and `FTrace_udp.c`.
//!
//! Not here: what the bytes look like (`tracewell_wire::shark`), what they mean (the reader, in the crate
//! `tracewell`), when a kernel logs what.

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
pub use status::{ChunkStatus, ControlError, Drops, Outcome, Refused};
#[cfg(feature = "std")]
pub use udp::UdpSender;
