//! A recorder with the rules of AIX's trace facility.
//!
//! [`Trace`] takes the calls that programs and the kernel make on AIX, under their names, and keeps
//! what they record in memory that the caller owns. What it hands out are frames of our own
//! container (`TWX1`, see `tracewell_wire::aix`): the layout of a native AIX log is not public, so
//! `trcrpt` cannot read them and nothing here claims so.
//!
//! ```
//! use tracewell_record::aix::{Context, Machine, Outcome, Options, Trace};
//! use tracewell_wire::aix::{Entry, Frame, HookWord32};
//!
//! let mut memory = [0; 4096];
//! let mut timebase = 0;
//! let mut trace = Trace::new(|| { timebase += 512; timebase }, Machine::default());
//! let thread = Context::thread(0, 4242, 70_001);
//!
//! let channel = trace.trcstart(thread, &mut memory, Options::default()).unwrap();
//! assert_eq!(trace.trchkl(thread, 0x0100_0000, [1, 2]), Outcome::Recorded);
//! trace.trcgen(thread, channel, HookWord32(0x0110_0000).into(), 3, b"text");
//! trace.trcstop(thread, channel).unwrap();
//!
//! let header = trace.header(channel).unwrap();
//! let mut frames = trace.waiting(channel).unwrap().bytes;
//! let mut ids = Vec::new();
//! while let Ok((frame, size)) = Frame::read(header.order, frames) {
//!     ids.push(Entry::read(frame.head.env, frame.entry).unwrap().id().to_string());
//!     frames = &frames[size..];
//! }
//! assert_eq!(ids, ["003", "00A", "001", "010", "011", "002"]);
//! ```
//!
//! What the caller brings, because only the kernel knows it: the [`Context`] of each event, a
//! [`Clock`](crate::clock::Clock), and exclusion. Every call takes `&mut Trace` and neither blocks
//! nor locks; it is safe in an interrupt exactly when nothing else can be inside a call at that
//! time.
//!
//! # Several CPUs
//!
//! One [`Trace`] under a lock records all CPUs in order. Or each CPU has a [`Trace`] of its own, in
//! memory of its own, started with [`Options::per_cpu`]; heading, time conversion and TRACE ON
//! and OFF are then in the log of one more that is not, the base.
//!
//! # What is lost, and where that stands
//!
//! Every loss is in [`Counts`] and in the trace, as a hook 006 in its place: data word 1 counts the
//! times that this happened, data word 2 the entries. In alternate mode that is before the first
//! entry that found room again; in circular mode it is before the oldest entry that is left and
//! covers all before it, an entry too large for the whole buffer included. A log that starts over
//! begins with a hook 005 that counts how often it did.
//!
//! What is documented, what is from memory and what is our decision, is said in each file; the
//! sources are IBM's pages "trchook, utrchook, trchook64, utrchook64", "trcgen or trcgent",
//! "trcgenk", "trcgenkt", "Macros for recording trace events", "trcstart", "trcon", "trcstop" and
//! "trace Daemon".
//!
//! Not here: what the bytes look like (`tracewell_wire::aix`), what they mean (the reader, in the
//! crate `tracewell`), the commands and subcommands of AIX, event groups, devices.

mod buffers;
mod channel;
mod context;
mod control;
mod drain;
mod insert;
mod options;
mod record;
mod ring;
mod status;

pub use context::Context;
pub use control::{CHANNELS, DISCARDBUFS, SERIAL, Trace};
pub use drain::Chunk;
pub use insert::{EVENT_TRACE, trchkl, trchklt};
pub use options::{EventList, LogFull, Machine, Mode, Options};
pub use status::{ControlError, Counts, Outcome, StartError, StartRefused};
