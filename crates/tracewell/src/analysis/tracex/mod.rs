//! The analyses of TraceX, to the last digit.
//!
//! Rules are those of TraceX's reader library (`tml_library.cpp` of the public TraceX repository),
//! including what is known to be wrong there; the head of each file says where a correct figure
//! would differ. A [`Trace`] is loaded once; every analysis is a method that only looks at it.
//!
//! | file | question |
//! |---|---|
//! | `trace` | objects and events as TraceX holds them |
//! | `load` | from registry and entries to a trace |
//! | `next_context` | who runs after each event |
//! | `running` | the RUNNING events that TraceX makes up |
//! | `threads` | priorities, thresholds and events of each thread |
//! | `profile` | how long each thread ran |
//! | `statistics` | context switches, preemptions, interrupts |
//! | `inversions` | priority inversions |
//! | `services` | how often each service was called |
//! | `stack` | how much stack each thread used |
//! | `middleware` | FileX and NetX counters |
//! | `status` | what each thread waited for, and when |
//!
//! ```
//! use tracewell::analysis::tracex::{Facts, Trace};
//! use tracewell_wire::threadx::{Event, PriorityWord};
//!
//! let event = Event {
//!     context: 0x2000_0000,
//!     priority_word: PriorityWord::of_thread(3, 3),
//!     id_word: 6,
//!     stamp: 10,
//!     ..Event::UNUSED
//! };
//! let facts = Facts { timer_valid_mask: 0xFFFF_FFFF, ..Facts::default() };
//! let trace = Trace::new(facts, true, [], [event, Event { stamp: 25, ..event }]);
//! assert_eq!(trace.profile().threads, [15]);
//! ```

mod inversions;
mod load;
mod middleware;
mod next_context;
mod profile;
mod running;
mod services;
mod stack;
mod statistics;
mod status;
mod threads;
mod trace;

pub use load::is_tie;
pub use middleware::{FileX, NetX};
pub use profile::Profile;
pub use stack::StackUsage;
pub use statistics::Statistics;
pub use status::StatusChange;
pub use threads::ThreadSummary;
pub use trace::{Event, Facts, IDLE, INITIALIZATION, INTERRUPT, Object, Trace};
