//! A small system that follows ThreadX's rules, and the trace that its kernel records.
//!
//! `application` defines the objects, the steps of each thread, and the interrupt of the UART.
//! `kernel` schedules the threads and records its decisions. `services` contains the calls that
//! threads and interrupts make.

mod application;
pub(crate) mod kernel;
mod services;

use kernel::Kernel;

const REGISTRY_SLOTS: usize = 16;

/// Size in bytes of the memory that the target reserves for each millisecond of its trace.
const MEMORY_PER_MS: u64 = 680;

/// A run of the system.
pub(crate) struct Run {
    /// Seed of the random times at which bytes from the UART arrive.
    pub(crate) seed: u32,
    /// Duration in milliseconds.
    pub(crate) ms: u64,
    /// The change to the simulated system, or `None` for the system of the example.
    pub(crate) change: Option<Change>,
}

/// A change to the simulated system, for comparing two runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// The logger keeps the mutex `log file` while it uses the bus.
    LongLock,
    /// The interrupt of the UART takes 1 µs longer.
    LongInterrupt,
}

/// The run in the file `examples/scheduling.trx`.
pub(crate) fn example() -> Run {
    Run { seed: 1, ms: 60, change: None }
}

/// Runs the system and returns the image that it recorded.
pub(crate) fn image(run: &Run) -> Vec<u8> {
    // At least 40 KiB, the size of the example's file.
    let size = (run.ms * MEMORY_PER_MS).max(40 * 1024);
    let mut memory = vec![0; usize::try_from(size).expect("a run of some minutes at most")];
    let mut kernel = Kernel::start(&mut memory, REGISTRY_SLOTS, run.ms);
    application::define(&mut kernel, run);
    kernel.run();
    kernel.stop();
    memory
}
