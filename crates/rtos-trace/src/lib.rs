//! Records the events that an executor or kernel reports through [`rtos_trace`].
//!
//! [`TargetTrace`] uses Tracewell's recorder for small targets ([`tracewell_record::target`]). With
//! the feature `std`, `StreamTrace` records into a stream of [`tracewell_record::stream`] on Linux.
//! A program registers one of these two types with [`rtos_trace::global_trace!`], and calls the
//! type's `init` before it starts the executor. The README shows both steps.
//!
//! | hook of `rtos-trace` | recorded event |
//! |---|---|
//! | `task_new` | the creation of the task |
//! | `task_new_stackless` | the creation of the task, with its priority and name |
//! | `task_send_info` | its name and stack size; its priority, unless this is 0 |
//! | `task_ready_begin` | the task becomes ready; no event if the task is running, because it runs again after this execution |
//! | `task_exec_begin` | the task runs |
//! | `task_exec_end` | the running task is suspended, unless it became ready while it ran |
//! | `task_ready_end` | the task is suspended |
//! | `task_terminate` | the deletion of the task |
//! | `system_idle` | no task runs |
//! | `isr_enter`, `isr_exit`, `isr_exit_to_scheduler` | the start and the end of the interrupt, with its number from [`TargetTrace::set_interrupt`] |
//! | `name_marker` | the name of a mark or section of the application |
//! | `marker`, `marker_begin`, `marker_end` | a mark; the start and the end of a section |
//! | `stop`, `start` | the end of the recording; `start` continues it without an event |
//!
//! All events of [`TargetTrace`] have core 0. Hooks that are called before `init` record nothing.
//!
//! | file | purpose |
//! |---|---|
//! | `numbers` | gives tasks small numbers |
//! | `state` | the running tasks |
//! | `hooks` | the calls of `rtos-trace` |
//! | `target`, `stream` | the calls of programs, for a recorder and for a stream |
#![no_std]
#![forbid(unsafe_code)]

mod hooks;
mod numbers;
mod state;
#[cfg(all(feature = "std", target_os = "linux"))]
mod stream;
mod target;

#[cfg(all(feature = "std", target_os = "linux"))]
extern crate std;

#[cfg(all(feature = "std", target_os = "linux"))]
pub use stream::StreamTrace;
pub use target::TargetTrace;
pub use tracewell_record::target::{Error, Options};

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
