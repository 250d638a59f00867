//! Decodes the compact stream of small targets, from a line, a file or a memory dump.
//!
//! | file | task |
//! |---|---|
//! | `user` | texts, and events of the application |
//! | `rows` | writes recorded events as rows |
//! | `recent` | the last packets of a core: finds late and repeated ones |
//! | `lanes` | the packets of each core: gaps, restarts, and merging by time |
//! | `rings` | finds rings in a dump of the memory |
//! | `decoder` | finds packets in any bytes |
//!
//! Each module uses only modules above it in this table. [`tracewell_wire::target`] defines the
//! bytes, and `format/kernel` handles the names and the states of tasks.

mod decoder;
mod lanes;
mod recent;
mod rings;
mod rows;
mod sums;
mod user;

use std::sync::Arc;

use super::{Format, OptionHelp};
use crate::model::schema::Schema;

/// The format's entry in the list of formats.
pub static FORMAT: Format = Format {
    description: "Tracewell's compact stream of small targets: a line, or a dump of the memory",
    recognised_by: "a packet with F4 9B and a valid checksum, or the control block TWTARGET",
    names_follow: true,
    options: &[OptionHelp {
        key: "rate",
        value: "TICKS_PER_SECOND",
        help: "rate of the target's clock, such as 25MHz; overrides the recorded rate",
    }],
    schema,
    ..Format::new("target", decoder::recognise, decoder::new)
};

/// Returns the event types that every target can record.
pub fn schema() -> Arc<Schema> {
    super::kernel::schema()
}
