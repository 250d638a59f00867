//! What the scheduler did: one file a question.
//!
//! Nothing here names a format or prints. [`tracex`] answers exactly as TraceX does, for people who
//! compare; other analyses go by meanings, so that each works for every dialect.

pub mod machines;
mod range;
pub mod scheduling;
pub mod tracex;

pub use range::Range;
