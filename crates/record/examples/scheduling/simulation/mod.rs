//! A small system that follows ThreadX's rules, and the trace that its kernel records.
//!
//! `application` defines the objects and the steps of each thread. `kernel` schedules the threads
//! and records its decisions. `services` are the calls that threads and interrupts make.

mod application;
mod kernel;
mod services;

use kernel::Kernel;

/// Size in bytes of the memory that the target reserves for its trace.
const MEMORY: usize = 40 * 1024;

/// Runs the system and returns the image that it recorded.
pub(crate) fn image() -> Vec<u8> {
    let mut memory = vec![0; MEMORY];
    let mut kernel = Kernel::start(&mut memory);
    application::define(&mut kernel);
    kernel.run();
    kernel.stop();
    memory
}
