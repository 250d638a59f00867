//! The atomic types of the recorders, in one place so that a model checker can replace them.
//!
//! On a processor without 64-bit atomics or without compare-and-swap, the feature
//! `critical-section` provides them: each access then masks interrupts for a few instructions.
//! Without that feature, streams are not available on such a target.

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

/// Checks a model in every order of its steps, with at most three preemptions.
#[cfg(all(loom, test))]
pub(crate) fn check(model: impl Fn() + Sync + Send + 'static) {
    check_with(3, model);
}

/// Does the same as `check` with a different number of preemptions, for models with many steps.
#[cfg(all(loom, test))]
pub(crate) fn check_with(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}
