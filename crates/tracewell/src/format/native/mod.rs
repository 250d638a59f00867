//! Tracewell's own streams: the memory of one, living or dead, and logs.
//!
//! | file | what it settles |
//! |---|---|
//! | `piece` | runs of records, wherever they lie |
//! | `image` | the pieces in a stream's memory |
//! | `log` | the pieces in a log, damaged or not |
//! | `merge` | all lanes' records in order of time, losses in their places |
//! | `types` | event types into the schema |
//! | `index` | where in a log which times are |
//! | `snapshot` | a consistent copy of a stream that is being written |
//! | `decoder` | the steps above in order |

mod decoder;
mod image;
pub mod index;
mod log;
mod merge;
mod piece;
pub mod snapshot;
mod types;

use tracewell_wire::native::{block, image as wire};

use super::{Confidence, Format};

/// The format's entry in the list of formats.
pub static FORMAT: Format = Format {
    name: "native",
    description: "Tracewell's own stream, in shared memory or as a log",
    recognised_by: "TWSTREAM at the start of a stream's memory, TWB1 at the start of a log",
    names_follow: false,
    is_whole: is_image,
    options: &[],
    recognise,
    decoder: decoder::new,
};

/// Whether these are the first bytes of a stream's memory.
pub fn is_image(start: &[u8]) -> bool {
    start.starts_with(&wire::MAGIC.to_le_bytes())
}

fn recognise(start: &[u8]) -> Option<Confidence> {
    let is_log = start.starts_with(&block::MAGIC.to_le_bytes());
    (is_image(start) || is_log).then_some(Confidence::Certain)
}
