//! Atomics, through one door, so that the model checker can stand behind it.
//!
//! A processor without 64-bit atomics (or without compare-and-swap) gets them from the feature `critical-section`: each access then
//! masks interrupts for some instructions. Without that feature such a target has no streams.

#[cfg(not(any(target_has_atomic = "64", all(loom, test))))]
pub use portable_atomic::AtomicU64;

#[cfg(all(target_has_atomic = "64", not(all(loom, test))))]
pub use core::sync::atomic::AtomicU64;
#[cfg(not(all(loom, test)))]
pub(crate) use core::sync::atomic::{Ordering, fence};
#[cfg(all(loom, test))]
pub use loom::sync::atomic::AtomicU64;
#[cfg(all(loom, test))]
pub(crate) use loom::sync::atomic::{Ordering, fence};

/// Runs a model in every order of its steps in which threads are interrupted three times at most.
#[cfg(all(loom, test))]
pub(crate) fn check(model: impl Fn() + Sync + Send + 'static) {
    check_with(3, model);
}

/// The same with another number of interruptions, for models with many steps.
#[cfg(all(loom, test))]
pub(crate) fn check_with(interruptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(interruptions);
    builder.check(model);
}
