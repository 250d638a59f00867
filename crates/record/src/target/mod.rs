//! Records the compact stream of small targets into a ring of packets.
//!
//! [`Recorder`] and the C recorder in `firmware/` write the same bytes for the same calls. The
//! recorder does not allocate memory. If the ring is full, a new packet overwrites the oldest
//! packet. [`Recorder::read`] copies packets to a buffer, for example to send them over a serial
//! line. A dump of the memory contains the whole ring, which a decoder finds by its control block.
//!
//! | module | content |
//! |---|---|
//! | `definitions` | the table of names |
//! | `lane` | the packets of one core |
//! | `recorder` | the calls |
//!
//! If interrupts or several cores record, the caller must protect the recorder with a lock, for
//! example a critical section. [`tracewell_wire::target`] defines the bytes.

mod definitions;
mod lane;
mod recorder;

pub use recorder::{Error, Options, Recorder};
