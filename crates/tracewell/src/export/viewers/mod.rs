//! Writes timelines for the viewers of other projects.
//!
//! | file | purpose |
//! |---|---|
//! | `timeline` | reads a trace twice: for its tracks, and for its events |
//! | `merge` | changes of all tracks in order of time |
//! | `lanes` | distributes overlapping spans over rows |
//! | `perfetto` | Perfetto's protobuf format |
//! | `vcd` | value change dumps for viewers of signals |
//!
//! Both exports show the tracks of [`crate::analysis::tracks`], and derive no facts about
//! scheduling themselves. They keep only the tracks in memory, because they write each event as
//! soon as they read it.

mod lanes;
mod merge;
mod perfetto;
mod timeline;
mod vcd;

pub use perfetto::PERFETTO;
pub use vcd::VCD;

pub(super) use merge::Merge;
pub(super) use timeline::Timeline;
