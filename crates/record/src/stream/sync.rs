//! Atomics, through one door, so that the model checker can stand behind it.

#[cfg(not(all(loom, test)))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(all(loom, test))]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};

/// Runs a model in every order of its steps in which threads are interrupted three times at most.
#[cfg(all(loom, test))]
pub(crate) fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}
