//! POSIX trace streams: how records of many threads and processes get into one memory, and out of it
//! in the order of their time.
//!
//! The standard promises things of a stream as a whole that a ring for each thread cannot keep: that
//! records fit as long as the sum of their sizes over all threads stays below a number, that the
//! oldest go first, that one order comes out. So here threads draw **packets** from one pool. A packet
//! has one writer at a time; an event is a few plain stores and one release store of how far the
//! packet is filled. Nobody waits, and a thread that stops or dies in the middle of a record leaves
//! nothing but a record that never was.
//!
//! A packet is *free*, *open* (some thread fills it) or *closed* (full). A reader that took everything
//! out of a closed packet frees it. Once more packets are closed than the stream's promise needs, the
//! policy says what comes: *loop* takes over the packet that was closed first, the others find the
//! stream full.
//!
//! | file | what it holds |
//! |---|---|
//! | `pool` | the memory; claiming and closing packets; the table of memory orderings |
//! | `writer` | storing records into a packet |
//! | `reader` | taking records out in the order of their stamps |
//! | `model` | the protocol under a model checker |
//!
//! The memory is the caller's; who shares it with whom is the business of the crate `tracewell-posix`.

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
