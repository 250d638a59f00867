//! Lowers the priority of the threads that read traces. While a page opens, the browser gets the
//! processors first. On two processors, the first picture of a large trace then appears up to a
//! fifth earlier; `bench/README.md` says how to measure it.

/// The difference of the nice value. If the browser and the reading compete for a processor, the
/// browser gets three quarters of its time. The reading loses nothing if a processor is idle.
#[cfg(target_os = "linux")]
const LESS: i32 = 5;

/// Lowers the priority of the calling thread and of the threads that it starts. Only Linux has a
/// priority for each thread.
pub(super) fn lower() {
    // The server also works with the usual priority.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(LESS);
}
