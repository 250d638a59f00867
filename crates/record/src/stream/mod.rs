//! Tracewell's own recorder: streams in memory that threads and processes share.
//!
//! | file | what it holds |
//! |---|---|
//! | `image` | the memory as atomic words |
//! | `writer` | the writing side of a lane, and the table of memory orderings |
//! | `reader` | the reading side of a lane |
//! | `control` | start, stop, filters, event types |
//! | `event` | event types of a program |
//! | `status` | how a stream stands; clear |
//! | `log` | taking records out into a log |
//! | `follow` | waiting for events; a thread that flushes |
//! | `threads` | which lane a thread writes |
//! | `stream` | a stream as a program holds it |
//! | `sys`, `map` | what is asked of the operating system |

#[cfg_attr(loom, expect(dead_code, reason = "models look at lanes only"))]
mod control;
#[cfg_attr(loom, expect(dead_code, reason = "models look at lanes only"))]
mod event;
#[cfg_attr(loom, expect(dead_code, reason = "models look at lanes only"))]
mod image;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod log;
#[cfg(all(loom, test))]
mod model;
#[cfg(feature = "std")]
mod reader;
mod status;
mod sync;
mod writer;

#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod follow;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod map;
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
pub use stream::{Stream, StreamOptions};
pub use tracewell_wire::native::FullPolicy;
pub use writer::{Full, Identity, Writer};
