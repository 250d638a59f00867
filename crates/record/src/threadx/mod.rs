//! A recorder that follows the rules of ThreadX's event trace. TraceX reads its memory image.
//!
//! [`Trace`] is the trace control block. It borrows memory from [`Trace::enable`] to
//! [`Trace::disable`]. Between two calls, this memory always holds a complete image:
//!
//! ```text
//! control header | registry slot 0 .. R-1 | event slot 0 .. E-1 | slack
//! ```
//!
//! The caller supplies what only the kernel can provide:
//! * the [`Context`] of each event: which code is running, at which priority, on which core;
//! * the [`Object`]s that exist when tracing starts, and every object that is created or deleted
//!   later;
//! * mutual exclusion. Every recording call takes `&mut Trace` and neither blocks nor locks. It is
//!   safe in an interrupt if no other call can be in progress at that time. ThreadX ensures this by
//!   disabling interrupts.
//!
//! # Several cores
//!
//! The multi-core kernel fills *one* buffer under its kernel lock, so all events have one order.
//! It marks each event with the core that recorded it. This recorder does the same: set the core of
//! each context with [`Context::on_core`], and put the [`Trace`] into the lock that the system
//! already has (a `Mutex<Trace<..>>` of its kernel or of a critical-section crate). `Trace` is
//! `Send` if its clock is. It has no lock of its own, because the kernel's lock suffices. There is
//! no lock-free variant, because two cores could then record events in the wrong order.
//!
//! # When to read the image
//!
//! Read the memory after [`Trace::disable`], between two calls ([`Trace::image`]), or from a halted
//! target. If a debugger halts the target within a recording call, the slot at `buffer_current` can
//! be incomplete. This also applies to images of the kernel itself.
//!
//! Source of the rules: `tx_trace.h`, `tx_trace_enable.c`, `tx_trace_disable.c`,
//! `tx_trace_buffer_full_notify.c`, `tx_trace_event_filter.c`, `tx_trace_isr_enter_insert.c`,
//! `tx_trace_user_event_insert.c`, `tx_trace_object_register.c` and
//! `tx_trace_object_unregister.c`, public Eclipse ThreadX repository.
//!
//! Not in this module: the byte layout (`tracewell_wire::threadx`), and the meaning of events (the
//! decoder in the crate `tracewell`).

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
pub use insert::Isr;
pub use object::Object;
pub use options::Options;
pub use ring::{Entry, Info};
pub use status::Status;
pub use target::{Big32, Big64, Little32, Little64, Native32, Target};
pub use trace::{FullNotify, Trace};
