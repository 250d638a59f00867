//! Tracewell's own recorder: streams in memory that threads and processes share.
//!
//! An event costs little more than reading the clock. No call of `Stream::record` waits, allocates
//! or takes a lock, so that signal handlers may record, also in the middle of a record of their own
//! thread. What was committed survives the process, and what was not recorded is counted.
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
//! assert_eq!(log.drain(&stream.image(), stream.stamp()).unwrap(), 1);
//! # }
//! ```
//!
//! # How it works
//!
//! A stream has **lanes**. A lane is a ring of **packets** and has one writer at a time: a thread, or
//! the signal handlers that interrupt it in the middle of a record (`threads` says how a handler
//! notices). The writer stores a record's words behind the last one and then, with release,
//! the new end, `committed`. That store is what makes the record exist: for a reader in another
//! thread, in another process, or after the writer was killed.
//!
//! When a packet is full the next one is opened. With the policy *loop* that takes the room of the
//! oldest one, which the writer announces in `oldest` before it overwrites the first word. A reader
//! copies, then looks at `oldest`, and believes its copy only if it is not older. With the other
//! policies the room is taken only when `consumed` says that somebody took the records out;
//! otherwise the event is lost, counted in the lane, and the count stands in the header of the
//! packet that follows the gap.
//!
//! Every access to shared words is atomic. The table in `writer` says for each word who stores it,
//! who loads it, and which release an acquire pairs with; `model` has a model checker try them.
//!
//! Without the feature `std`, [`Image`] and [`Writer`] are there for memory that the caller owns. Targets
//! without 64-bit atomics, all Cortex-M among them, need the feature `critical-section` for that.
//!
//! Streams are little-endian, so the feature `std` is for little-endian targets.
//!
//! | file | what it holds |
//! |---|---|
//! | `image` | the memory as atomic words |
//! | `writer` | the writing side of a lane, and the table of memory orderings |
//! | `reader` | the reading side of a lane |
//! | `control` | start, stop, filters, event types |
//! | `slot` | giving one event type's slot a meaning, without waiting |
//! | `event` | event types of a program |
//! | `numbers` | numbers of a program's event types, the same for all streams |
//! | `status` | how a stream stands; clear |
//! | `log`, `blocks` | taking records out into a log; its blocks on their way |
//! | `follow` | waiting for events; a thread that flushes |
//! | `threads` | which lane a thread writes |
//! | `stream`, `recording` | a stream as a program holds it; recording into it |
//! | `model` | the lane protocol under a model checker |
//! | `sys`, `map` | what is asked of the operating system |

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
mod map;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod numbers;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod recording;
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
pub use log::{CloseError, Log, Take};
#[cfg(feature = "std")]
pub use reader::{LaneReader, Piece};
pub use status::Status;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
pub use stream::{STREAM_VARIABLE, Stream, StreamOptions};
/// A word of a stream's memory: that of `core`, or of `portable-atomic` with the feature `critical-section`.
pub use sync::AtomicU64;
pub use tracewell_wire::native::FullPolicy;
pub use writer::{Full, Identity, Writer};
