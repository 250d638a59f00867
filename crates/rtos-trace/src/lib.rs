//! Records what an executor or kernel reports through [`rtos_trace`], with Tracewell's recorder for
//! small targets ([`tracewell_record::target`]).
//!
//! A program registers [`TargetTrace`] once, with [`rtos_trace::global_trace!`], and calls
//! [`TargetTrace::init`] before it starts the executor. The README shows both.
//!
//! | hook of `rtos-trace` | recorded event |
//! |---|---|
//! | `task_new` | the creation of the task |
//! | `task_send_info` | its name and stack size; its priority, unless this is 0 |
//! | `task_ready_begin` | the task becomes ready. While it runs, this means that it will run again |
//! | `task_exec_begin` | the task runs |
//! | `task_exec_end` | the running task is suspended, unless it became ready while it ran |
//! | `task_ready_end` | the task is suspended |
//! | `task_terminate` | the deletion of the task |
//! | `system_idle` | no task runs |
//! | `isr_enter`, `isr_exit`, `isr_exit_to_scheduler` | the interrupt, with the number from [`TargetTrace::set_interrupt`] |
//! | `name_marker`, `marker`, `marker_begin`, `marker_end` | a channel, a mark, a section of the application |
//! | `stop`, `start` | the end of recording; recording continues |
//!
//! All events have core 0. Hooks that are called before `init` record nothing.
//!
//! | file | task |
//! |---|---|
//! | `numbers` | gives tasks small numbers |
//! | `state` | the recorder, and the task that runs |
//! | `hooks` | the calls of programs and of `rtos-trace` |
#![no_std]
#![forbid(unsafe_code)]

mod hooks;
mod numbers;
mod state;

pub use hooks::TargetTrace;
pub use tracewell_record::target::{Error, Options};

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
