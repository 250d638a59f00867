//! Writes timelines for viewers of other projects.
//!
//! | file | purpose |
//! |---|---|
//! | `timeline` | reads a trace twice: for its tracks, and for its events |
//! | `merge` | changes of all tracks in order of time |
//! | `lanes` | spans that overlap, on rows without overlaps |
//! | `perfetto` | Perfetto's protobuf format |
//! | `vcd` | value change dumps for viewers of signals |
//!
//! Both formats show the tracks of [`crate::analysis::tracks`] and derive nothing about scheduling.
//! Memory is bounded by the tracks: events are written while they are read.

mod lanes;
mod merge;
mod perfetto;
mod timeline;
mod vcd;

pub use perfetto::PERFETTO;
pub use vcd::VCD;
