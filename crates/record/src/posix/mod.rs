//! POSIX trace streams: many threads and processes store records in one memory area, and a reader
//! removes them in timestamp order.
//!
//! The standard requires properties of a whole stream that a ring per thread cannot provide. The
//! size limit applies to the records of all threads together. The stream discards the oldest
//! records first, whichever thread recorded them. A reader gets the records of all threads in one
//! common order. So threads get **packets** from a common pool. A packet has one writer at a time.
//! Recording an event takes a few plain stores and one release store of the packet's fill level. No
//! thread ever waits. If a thread stops or dies while it stores a record, that record never becomes
//! visible, and other threads skip the packet.
//!
//! Some threads keep a packet for themselves between events. If there are many threads, the others
//! share packets: each takes a packet for one record and gives it back. So a stream supports any
//! number of threads; only the number of records being stored at the same time is limited.
//!
//! A packet is *free*, *open* (being filled) or *closed* (full). When the reader has removed all
//! records of a closed packet, it frees the packet. If more packets are closed than the stream's
//! guaranteed size requires, the policy applies: *loop* reuses the packet that was closed first;
//! with the other policies, the stream is full.
//!
//! | file | contents |
//! |---|---|
//! | `pool` | the memory and the packet headers; the table of memory orderings |
//! | `cursor` | the write position of a thread in a packet; stores a record there |
//! | `claim` | how writers get and close packets: exclusive, shared, displaced, inherited |
//! | `writer` | stores a record, in a new packet if necessary |
//! | `interruption` | lets a test run writers between two packets of a reader's pass |
//! | `reader` | removes records in timestamp order |
//! | `waiting` | how a writer learns that a reader waits |
//! | `model` | checks the protocol with a model checker |
//! | `interleaving` | tests the order of events while `interruption` runs writers |
//!
//! Each file uses only the files above it. The caller owns the memory; `tracewell-posix` shares it
//! between processes. `docs/posix-design.md` defines the terms and gives the reasons.

mod claim;
mod cursor;
#[cfg(all(test, not(loom), feature = "std"))]
mod interleaving;
#[cfg(all(test, not(loom), feature = "std"))]
mod interruption;
#[cfg(all(loom, test))]
mod model;
mod pool;
#[cfg(feature = "std")]
mod reader;
mod waiting;
mod writer;

pub use crate::stream::Full;
pub use cursor::{Cursor, Event};
pub use pool::{IMMORTAL_OWNER, Pool};
#[cfg(feature = "std")]
pub use reader::{Reader, Record};
