//! A recorder that follows the rules of AIX's trace facility.
//!
//! [`Trace`] implements the calls that programs and the kernel make on AIX, under their AIX names,
//! and stores the recorded entries in memory that the caller owns. The output consists of frames in
//! our own container format (`TWX1`, see `tracewell_wire::aix`). The layout of a native AIX log is
//! not public, so AIX's `trcrpt` cannot read these frames.
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
//! The caller supplies what the kernel provides on AIX: the [`Context`] of each event, a
//! [`Clock`](crate::clock::Clock), and mutual exclusion. Every call takes `&mut Trace` and neither
//! blocks nor locks. A call is safe in an interrupt handler if no other code can be inside a call
//! at that time.
//!
//! # Several CPUs
//!
//! There are two ways to trace several CPUs. All CPUs can share one [`Trace`] that a lock protects.
//! It then contains the entries of all CPUs in order. Or each CPU has its own [`Trace`], which is
//! started with [`Options::per_cpu`] in its own memory. In the second case, a base trace without
//! that option contains the heading, the time conversion, TRACE ON and TRACE OFF.
//!
//! # Lost entries
//!
//! Every loss is counted in [`Counts`], and a hook 006 marks its position in the trace. Data word 1
//! of the hook is the number of losses so far. Data word 2 is the number of entries lost at this
//! position. In alternate mode, the hook precedes the first entry that was stored after the loss.
//! In circular mode, the hook precedes the oldest remaining entry. Data word 2 then counts all
//! overwritten entries and the entries that were too large for the whole buffer. A log that wrapped
//! begins with a hook 005 that counts the wraps.
//!
//! Comments in each file state which facts are documented, which facts are from memory, and which
//! points are our decision. The sources are IBM's pages "trchook, utrchook, trchook64, utrchook64",
//! "trcgen or trcgent", "trcgenk", "trcgenkt", "Macros for recording trace events", "trcstart",
//! "trcon", "trcstop" and "trace Daemon".
//!
//! Not in this module: the byte layout (`tracewell_wire::aix`) and the meaning of entries (the
//! decoder in the crate `tracewell`). Not implemented: the commands and subcommands of AIX, event
//! groups, devices.

mod buffers;
mod channel;
mod chunk;
mod context;
mod control;
mod drain;
mod insert;
mod options;
mod record;
mod ring;
mod status;

pub use chunk::Chunk;
pub use context::Context;
pub use control::{CHANNELS, DISCARDBUFS, SERIAL, Trace};
pub use insert::{EVENT_TRACE, trchkl, trchklt};
pub use options::{EventList, LogFull, Machine, Mode, Options};
pub use status::{ControlError, Counts, Outcome, StartError};
