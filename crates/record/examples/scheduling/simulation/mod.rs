//! A small system with ThreadX's rules, and the trace that its kernel records.
//!
//! `application` is the system: objects, and what each thread does over and over. `kernel` decides
//! who runs and records what it does. `services` are the calls that threads and interrupts make.

mod application;
mod kernel;
mod services;

use kernel::Kernel;

/// Bytes of the memory that the target sets aside for its trace.
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
