//! POSIX trace streams (IEEE Std 1003.1-2001 to -2017) for Linux.
//!
//! ```
//! use tracewell_posix::{Attributes, Controller, define, record};
//!
//! let controller = Controller::create(0, &Attributes::default())?;
//! controller.stream().start();
//! let pressed = define(b"button pressed")?;
//! record(pressed, &[3], false, 0);
//! controller.stream().stop();
//! while let Some((event, data)) = controller.try_next()? {
//!     println!("{} {} {data:?}", event.stamp, event.id);
//! }
//! # Ok::<(), tracewell_posix::Error>(())
//! ```
//!
//! `tracewell-capi` provides the standard's C functions, based on this crate.
//!
//! | module | contents |
//! |---|---|
//! | `event` | records an event into every stream that traces this process |
//! | `local`, `thread` | the recorder state of a traced process and its threads |
//! | `clock` | timestamps |
//! | `registry`, `process`, `names`, `name` | the shared directory, processes, names |
//! | `ancestry` | areas for processes that have not called the library yet |
//! | `controller`, `stream` | streams in the process that created them |
//! | `flusher`, `log_writer`, `log_slots` | write logs |
//! | `recorded` | reads logs |
//! | `launch` | starts programs that are traced from their first event |
//! | `watch` | wakes readers when traced processes have ended |
//! | `attributes`, `status`, `types`, `error` | stream attributes and status, event types, errors |
//! | `sys` | Linux system calls |
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
pub use controller::{Controller, Polled};
pub use error::Error;
pub use event::record;
pub use launch::HeldProcess;
pub use local::process_token;
pub use recorded::RecordedLog;
pub use registry::{DIRECTORY_VARIABLE, registry_fault};
pub use status::{EventInfo, Status};
pub use stream::{FilterChange, Stream};
pub use tracewell_wire::ProgramEnd;
pub use tracewell_wire::posix::{EventSet, Fill, LogPolicy, StreamPolicy, UNNAMED};
pub use types::TypeNames;

/// Returns the id of an event type in this process, defining the type first if its name is new.
///
/// If the process has already defined the maximum number of names, returns [`UNNAMED`].
///
/// # Errors
///
/// ENAMETOOLONG if the name has more than 63 bytes; ENOMEM if the process's shared memory cannot be
/// created; otherwise the error from the directory of streams or from the file of names.
///
/// ```
/// use tracewell_posix::{UNNAMED, define};
///
/// let id = define(b"button pressed")?;
/// assert_eq!(define(b"button pressed")?, id);
/// assert_ne!(id, UNNAMED);
/// assert!(define(&[b'x'; 64]).is_err());
/// # Ok::<(), tracewell_posix::Error>(())
/// ```
pub fn define(name: &[u8]) -> Result<u32, Error> {
    local::define(name).map_err(Error)
}

/// Locks a mutex, ignoring poisoning. If a thread panicked while it held the lock, the other
/// threads continue to use the data.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
