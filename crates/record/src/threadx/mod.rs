//! A recorder with the rules of ThreadX's event trace, whose memory image TraceX reads.
//!
//! [`Trace`] is the trace control block. It borrows memory from [`Trace::enable`] until
//! [`Trace::disable`] and keeps in it, at every moment between two calls, a complete image:
//!
//! ```text
//! control header | registry slot 0 .. R-1 | event slot 0 .. E-1 | slack
//! ```
//!
//! What the caller brings, because only the kernel knows it:
//! * the [`Context`] of each event: who is running, at which priority, on which core;
//! * the [`Object`]s that exist when tracing starts, and each one created or deleted later;
//! * exclusion. Every recording call takes `&mut Trace` and neither blocks nor locks; it is safe in
//!   an interrupt exactly when nothing else can be inside a call at that time. ThreadX gets there
//!   by locking interrupts out.
//!
//! # Several cores
//!
//! The multi-core kernel fills *one* buffer under its kernel lock, so that the order of events is
//! global, and marks each with the core that recorded it. So does this recorder: give each core's
//! contexts their number with [`Context::on_core`] and put the [`Trace`] into the lock that the
//! system already has (`Mutex<Trace<..>>` of its kernel or of a critical-section crate). `Trace` is
//! `Send` where its clock is. There is no lock in here, because a second one beside the kernel's
//! would only cost, and no lock-free variant, because two cores could then record in an order that
//! never happened.
//!
//! # What a reader may see
//!
//! A debugger that halts the target inside a recording call may find one slot half written: the
//! one at `buffer_current`. The kernel's image has the same gap. Memory must be read after
//! [`Trace::disable`], between two calls ([`Trace::image`]), or from a halted target.
//!
//! Source of the rules: `tx_trace.h`, `tx_trace_enable.c`, `tx_trace_disable.c`,
//! `tx_trace_buffer_full_notify.c`, `tx_trace_event_filter.c`, `tx_trace_isr_enter_insert.c`,
//! `tx_trace_user_event_insert.c`, `tx_trace_object_register.c` and
//! `tx_trace_object_unregister.c`, public Eclipse ThreadX repository.
//!
//! Not here: what the bytes look like (`tracewell_wire::threadx`), what they mean (the reader, in
//! the crate `tracewell`).

mod context;
mod insert;
mod object;
mod options;
mod registry;
mod ring;
mod status;
mod target;
mod trace;

pub use context::Context;
pub use insert::{Info, Isr};
pub use object::Object;
pub use options::Options;
pub use ring::Entry;
pub use status::{Refused, Status};
pub use target::{Big32, Big64, Little32, Little64, Native32, Target};
pub use trace::{FullNotify, Trace};
