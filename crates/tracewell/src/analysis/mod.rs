//! Analyses that derive figures about the scheduler and about state machines.
//!
//! All analyses use the meanings of events ([`crate::model::schema`]), so each analysis works for
//! every dialect. No analysis depends on a format, and no analysis prints anything.

mod comparison;
pub mod critical_path;
mod distribution;
mod key_slots;
pub mod machines;
mod measured;
mod range;
pub mod scheduling;
pub mod spans;
pub(crate) mod stored;
pub mod summary;
pub(crate) mod total;
pub mod tracks;

pub use comparison::{Difference, MIN_VALUES, Sample, corrected, difference};
pub use distribution::{Bucket, Distribution, MAX_EXACT, NotAQuantile, Quantile, WORST, Worst};
pub use measured::{Measure, Measured};
pub use range::Range;

pub use crate::model::Position;
