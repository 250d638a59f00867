//! Tracewell's own recorder: streams in memory that threads and processes share.
//!
//! Recording an event costs little more than reading the clock. `Stream::record` never waits,
//! allocates or takes a lock. So a signal handler may record too, even if it interrupts a thread
//! that is recording. Committed events survive if the process crashes. Events that cannot be
//! recorded are counted.
//!
//! ```
//! # #[cfg(all(feature = "std", target_os = "linux"))] {
//! use tracewell_record::stream::{EventType, Family, Hex, Log, Stream, StreamOptions, Take};
//!
//! const NET: Family = Family::new(3, "net");
//! static SENT: EventType<(u32, Hex)> = EventType::new(NET, "sent", &["length", "queue"]);
//!
//! let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
//! stream.start();
//! stream.record(&SENT, (1500, Hex(0x7F00)));
//!
//! let mut log = Log::new(Vec::new(), Take::Out);
//! assert_eq!(log.drain(&stream).unwrap(), 1);
//! # }
//! ```
//!
//! # How it works
//!
//! A stream has **lanes**. A lane is a ring of **packets** and has one writer at a time: a thread,
//! or a signal handler that interrupts the thread while it stores a record (see `threads`). The
//! writer stores a record's words after the previous record and then stores the new end,
//! `committed`, with release ordering. From that store on, readers in all threads and processes see
//! the record, even if the writer is killed.
//!
//! When a packet is full, the writer opens the next packet. With the policy *loop*, the writer
//! reuses the oldest packet, and updates `oldest` before it overwrites the first word. A reader
//! copies first, then loads `oldest`, and trusts its copy only if the packet has not been reused.
//! With the other policies, a packet is reused only after `consumed` shows that its records were
//! removed. Otherwise the event is lost and counted in the lane, and the header of the next packet
//! contains the count, so the loss is reported at the right position.
//!
//! Every access to shared words is atomic. For each word, the table in `writer` lists the side that
//! stores it, the side that loads it, and the release that each acquire pairs with. `model` checks
//! these orderings with a model checker.
//!
//! Without the feature `std`, [`Image`] and [`Writer`] operate on memory that the caller owns. On
//! targets without 64-bit atomics, including all Cortex-M, this requires the feature
//! `critical-section`.
//!
//! Streams are little-endian, so the feature `std` supports little-endian targets only.
//!
//! | file | contents |
//! |---|---|
//! | `image` | the memory as atomic words |
//! | `writer` | the writing side of a lane, and the table of memory orderings |
//! | `reader` | the reading side of a lane |
//! | `control` | start, stop, filters, event types |
//! | `slot` | defines one event type without waiting |
//! | `event` | the event types of a program |
//! | `numbers` | process-wide numbers of event types |
//! | `status` | the state and counts of a stream; clears a stream |
//! | `log` | moves records from a stream into a log |
//! | `blocks` | the blocks that the sink of a log has not accepted yet |
//! | `follow` | waits for events, and runs a thread that writes a log |
//! | `threads` | the writers of a thread |
//! | `stream` | the stream as programs use it |
//! | `recording` | records events into a stream |
//! | `kernel` | records what a kernel or an executor does |
//! | `rotate` | creates a stream and keeps the streams of earlier runs |
//! | `named` | adds the path of the file to errors |
//! | `model` | checks the protocols of lanes and event types with a model checker |
//! | `sys`, `map` | system calls, mapped memory |

#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod blocks;
mod control;
mod event;
mod image;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod log;
#[cfg(all(loom, test))]
mod model;
#[cfg(feature = "std")]
mod reader;
mod slot;
mod status;
pub(crate) mod sync;
mod writer;

#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod follow;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod kernel;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod map;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod named;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod numbers;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod recording;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod rotate;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
#[expect(clippy::module_inception, reason = "the module's main type has the module's name")]
mod stream;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod sys;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod threads;

pub use control::{DefineError, FIRST_FREE_ID};
pub use event::{EventType, Family, Fields, Hex, NoTail, Tail, Value};
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
pub use follow::Flusher;
pub use image::Image;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
pub use kernel::Kernel;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
pub use log::{CloseError, Log, Take};
#[cfg(feature = "std")]
pub use reader::{LaneReader, PacketPart};
pub use status::Status;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
pub use stream::{STREAM_VARIABLE, Stream, StreamOptions};
/// A word of a stream's memory: `core`'s type, or `portable-atomic`'s with the feature
/// `critical-section`.
pub use sync::AtomicU64;
pub use tracewell_wire::ProgramEnd;
pub use tracewell_wire::native::FullPolicy;
pub use writer::{Full, Identity, Writer};
