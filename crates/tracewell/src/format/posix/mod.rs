//! POSIX trace streams (IEEE Std 1003.1-2001 to -2017): logs, and the memory of a stream, living or dead.
//!
//! | file | what it settles |
//! |---|---|
//! | `rows` | records into batches: contexts, arguments, losses in their places |
//! | `types` | names of event types, and sets of them as text |
//! | `log` | a log whose blocks follow each other, read as it arrives |
//! | `ring` | a log whose blocks lie in slots, read when it is there as a whole |
//! | `memory` | the packets in a stream's memory |
//! | `snapshot` | a copy of a stream that is being written, with the names of its event types |
//! | `facts` | the stream's properties, in the standard's words |
//! | `decoder` | which of these it is |
//!
//! Byte layouts are [`tracewell_wire::posix`]. Reading here never takes a record out of a stream; that is
//! what `tracewell-posix` does.

mod decoder;
mod facts;
mod log;
mod memory;
mod ring;
mod rows;
pub mod snapshot;
mod types;

use tracewell_wire::posix::{area, log as wire, object};

use super::{Confidence, Format};

/// The format's entry in the list of formats.
pub static FORMAT: Format = Format {
    name: "posix",
    description: "POSIX trace stream, in shared memory or as a log",
    recognised_by: "TWPX at the start of a log, TWPXSTR1 at the start of a stream's memory",
    names_follow: false,
    is_whole: decoder::is_whole,
    options: &[],
    recognise,
    decoder: decoder::new,
};

/// Whether these are the first bytes of a stream's memory.
pub(super) fn is_memory(start: &[u8]) -> bool {
    start.starts_with(&object::MAGIC.to_le_bytes())
}

fn recognise(start: &[u8]) -> Option<Confidence> {
    let others = [area::AREA_MAGIC, area::NAMES_MAGIC, area::REFERENCE_MAGIC];
    let is_other = others.iter().any(|magic| start.starts_with(&magic.to_le_bytes()));
    let is_log = start.starts_with(&wire::MAGIC.to_le_bytes()) && !is_other;
    is_log.then_some(Confidence::Certain)
}
