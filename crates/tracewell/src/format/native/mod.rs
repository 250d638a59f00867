//! Decodes Tracewell's own streams: logs, and the memory of streams whose processes are running or
//! have ended.
//!
//! | file | task |
//! |---|---|
//! | `run` | iterates over adjacent records of a lane |
//! | `image` | finds the runs in a stream's memory |
//! | `log` | finds the runs in a log, even if it is damaged |
//! | `kernel` | converts events that a kernel or an executor recorded |
//! | `merge` | merges all lanes' records by time, and reports each loss at its position |
//! | `types` | adds event types to the schema |
//! | `sites` | recognises event types of instrumented programs, and their spans |
//! | `index` | finds the blocks of a log by time |
//! | `snapshot` | makes a consistent copy of a stream that is being written |
//! | `decoder` | decodes a log or a stream's memory |

mod decoder;
mod image;
pub mod index;
mod kernel;
mod log;
mod merge;
mod run;
mod sites;
pub mod snapshot;
mod types;

use tracewell_wire::native::{block, image as wire};

use super::{Confidence, Format};
use crate::model::schema::Rules;

/// The format's entry in the list of formats.
pub static FORMAT: Format = Format {
    description: "Tracewell's own stream, in shared memory or as a log",
    recognised_by: "TWSTREAM at the start of a stream's memory, TWB1 at the start of a log",
    is_whole: is_image,
    snapshot: Some(|_, file| snapshot::take(file)),
    note: snapshot::note,
    rules: Rules { names_events: true, ..Rules::WORDS },
    ..Format::new("native", recognise, decoder::new)
};

/// Returns true if these are the first bytes of a stream's memory.
pub fn is_image(start: &[u8]) -> bool {
    start.starts_with(&wire::MAGIC.to_le_bytes())
}

fn recognise(start: &[u8]) -> Option<Confidence> {
    let is_log = start.starts_with(&block::MAGIC.to_le_bytes());
    (is_image(start) || is_log).then_some(Confidence::Certain)
}
