//! Records the compact stream of small targets into a ring of packets.
//!
//! [`Recorder`] is the twin of the C recorder in `firmware/`: both write the same bytes for the same
//! calls. It uses no allocation. An event costs some tens of instructions and a few bytes; the
//! oldest packet is overwritten if the ring is full. [`Recorder::read`] copies packets out for a
//! line. A dump of the memory contains the whole ring; a decoder finds it by its control block.
//!
//! | module | content |
//! |---|---|
//! | `definitions` | the table of names |
//! | `lane` | the packets of one core |
//! | `recorder` | the calls |
//!
//! The caller protects the recorder: put it into the system's lock if interrupts or several cores
//! record. [`tracewell_wire::target`] defines the bytes.

mod definitions;
mod lane;
mod recorder;

pub use recorder::{Error, Options, Recorder};
