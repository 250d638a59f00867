//! Decodes POSIX trace streams (IEEE Std 1003.1-2001 to -2017): logs, and the memory of streams
//! whose processes are running or have ended.
//!
//! | file | task |
//! |---|---|
//! | `rows` | converts records to events with contexts and arguments |
//! | `types` | defines the names of event types, and shows sets of event types as text |
//! | `log` | reads a log of adjacent blocks while its bytes arrive |
//! | `ring` | reads a log whose blocks are in slots, after the whole log has arrived |
//! | `memory` | reads the packets in a stream's memory |
//! | `snapshot` | copies a stream and the names of its event types during recording |
//! | `facts` | adds the stream's properties as facts, with the names that the standard uses |
//! | `decoder` | distinguishes these inputs and decodes them |
//!
//! [`tracewell_wire::posix`] defines the byte layouts. This module never removes records from a
//! stream; `tracewell-posix` does.

mod decoder;
mod facts;
mod fields;
mod log;
mod memory;
mod ring;
mod rows;
pub mod snapshot;
mod types;

use std::sync::{Arc, LazyLock};

use tracewell_wire::posix::{area, log as wire, object};

use super::{Confidence, Format};
use crate::model::schema::{Rules, Schema};

/// The format's entry in the list of formats.
pub static FORMAT: Format = Format {
    description: "POSIX trace stream, in shared memory or as a log",
    recognised_by: "TWPX at the start of a log, TWPXSTR1 at the start of a stream's memory",
    is_whole: decoder::is_whole,
    schema,
    rules: Rules {
        names_events: true,
        names_arguments: false,
        check_encoding: fields::check_encoding,
        check_unencoded: fields::check_unencoded,
        ..Rules::WORDS
    },
    // Without the symbols of the program, the address is of little use.
    details: &["prog_address"],
    template: Some(include_str!("../../../templates/posix.fmt")),
    snapshot: Some(snapshot::take),
    ..Format::new("posix", recognise, decoder::new)
};

/// Returns the predefined event types of POSIX trace streams, which are the system events.
pub fn schema() -> Arc<Schema> {
    static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
        Schema::built_in(include_str!("../../../schemas/posix.toml"), "schemas/posix.toml")
    });
    SCHEMA.clone()
}

/// Returns true if these are the first bytes of a stream's memory.
pub(super) fn is_memory(start: &[u8]) -> bool {
    start.starts_with(&object::MAGIC.to_le_bytes())
}

fn recognise(start: &[u8]) -> Option<Confidence> {
    let others = [area::AREA_MAGIC, area::NAMES_MAGIC, area::REFERENCE_MAGIC];
    let is_other = others.iter().any(|magic| start.starts_with(&magic.to_le_bytes()));
    let is_log = start.starts_with(&wire::MAGIC.to_le_bytes()) && !is_other;
    is_log.then_some(Confidence::Certain)
}
