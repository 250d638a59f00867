//! Compares runs of a system. Finds the figures that changed by more than noise, and the events,
//! contexts and objects that occur only on one side.
//!
//! | file | content |
//! |---|---|
//! | `profile` | the figures of one run |
//! | `slices` | amounts per slice of time, so that loads and rates have distributions |
//! | `findings` | compares the runs of both sides, and decides which differences count |
//! | `text`, `json` | the result for people and for programs |
//!
//! docs/comparing.md describes the test.

mod findings;
mod json;
mod profile;
mod slices;
mod text;

pub use findings::{Comparison, Finding, FindingKind, Shift, Summary, compare};
pub use json::{ComparisonDocument, FindingRow, SideRow, SummaryRow};
pub use profile::{Profile, Profiling};
pub use text::{sentence, text};

/// The version of the JSON document.
pub const SCHEMA: u32 = 1;
