//! Atomics, through one door, so that the model checker can stand behind it.

#[cfg(not(all(loom, test)))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(all(loom, test))]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};
