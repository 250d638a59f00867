//! POSIX trace streams: how records of many threads and processes get into one memory, and out of it
//! in the order of their time.
//!
//! The standard promises things of a stream as a whole that a ring for each thread cannot keep: that
//! records fit as long as the sum of their sizes over all threads stays below a number, that the
//! oldest go first, that one order comes out. So here threads draw **packets** from one pool. A packet
//! has one writer at a time; an event is a few plain stores and one release store of how far the
//! packet is filled. Nobody waits, and a thread that stops or dies in the middle of a record leaves
//! nothing but a record that never was, and a packet that others pass over.
//!
//! Some threads have a packet to themselves from event to event. When there are many, the others share
//! packets: they take one for a record and give it back. So any number of threads finds room in a stream;
//! what is bounded is how many of them can be in the middle of a record.
//!
//! A packet is *free*, *open* (threads fill it) or *closed* (full). A reader that took everything
//! out of a closed packet frees it. Once more packets are closed than the stream's promise needs, the
//! policy says what comes: *loop* takes over the packet that was closed first, the others find the
//! stream full.
//!
//! | file | what it holds |
//! |---|---|
//! | `pool` | the memory and the heads of packets; the table of memory orderings |
//! | `claim` | packets for writers: had alone, shared, displaced, taken over; closed |
//! | `writer` | storing records into a packet |
//! | `reader` | taking records out in the order of their stamps |
//! | `model` | the protocol under a model checker |
//!
//! The memory is the caller's; who shares it with whom is the business of the crate `tracewell-posix`.

mod claim;
#[cfg(all(loom, test))]
mod model;
mod pool;
#[cfg(feature = "std")]
mod reader;
mod writer;

pub use pool::{Full, Pool, UNENDING};
#[cfg(feature = "std")]
pub use reader::{Reader, Taken};
pub use writer::{Event, Place};
