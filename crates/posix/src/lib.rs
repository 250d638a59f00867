//! POSIX trace streams (IEEE Std 1003.1-2001 to -2017) for Linux.
//!
//! ```
//! use tracewell_posix::{Attributes, Stream, define, record};
//!
//! let stream = Stream::create(0, &Attributes::default())?;
//! stream.core().start();
//! let pressed = define(b"button pressed")?;
//! record(pressed, &[3], false, 0);
//! stream.core().stop();
//! while let Some((event, data)) = stream.try_next()? {
//!     println!("{} {} {data:?}", event.stamp, event.id);
//! }
//! # Ok::<(), tracewell_posix::Error>(())
//! ```
//!
//! `tracewell-capi` makes the standard's functions for C of this.
//!
//! | module | what it holds |
//! |---|---|
//! | `event` | recording an event into every stream that traces this process |
//! | `local`, `thread` | what a process and a thread know of those streams |
//! | `clock` | time stamps |
//! | `registry`, `process`, `names`, `name` | where processes meet; names of event types |
//! | `ancestry` | what a process inherits that has not called the library yet |
//! | `controller`, `stream` | streams in the process that made them |
//! | `flusher`, `log_writer`, `log_slots` | logs that are written |
//! | `recorded` | logs that are read |
//! | `launch` | starting programs that are traced from their first event on |
//! | `watch` | noticing the end of traced processes |
//! | `attributes`, `status`, `types`, `error` | what is said of streams |
//! | `sys` | what is asked of Linux |
#![deny(unsafe_code)]

mod ancestry;
mod attributes;
mod clock;
mod controller;
mod error;
mod event;
mod flusher;
mod launch;
mod local;
mod log_slots;
mod log_writer;
mod name;
mod names;
mod process;
mod recorded;
mod registry;
mod status;
mod stream;
mod sys;
mod thread;
mod types;
mod watch;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use attributes::Attributes;
pub use controller::{Stream, Waited};
pub use error::Error;
pub use event::record;
pub use launch::Held;
pub use local::process_token;
pub use recorded::Recorded;
pub use registry::{DIRECTORY_VARIABLE, registry_fault};
pub use status::{EventInfo, Status};
pub use stream::{Core, FilterChange};
pub use tracewell_wire::posix::{EventSet, Fill, LogPolicy, StreamPolicy, UNNAMED};
pub use types::TypeNames;

/// The id of an event type in this process, a new one if its name is not known.
///
/// # Errors
/// ENAMETOOLONG; ENOMEM where no shared memory is to be had.
pub fn define(name: &[u8]) -> Result<u32, Error> {
    local::define(name).map_err(Error)
}

/// What a panic left half done is no worse than what a thread that was killed leaves.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
