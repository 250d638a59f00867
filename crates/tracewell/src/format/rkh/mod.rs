//! Reads the streams of RKH's trace facility, which Trazer also reads.
//!
//! | file | contents |
//! |---|---|
//! | `options` | options for streams without a configuration record |
//! | `guess` | infers settings from the frames |
//! | `symbols` | names of objects and active objects, and the time for which each name is valid |
//! | `plan` | the positions of arguments in a record, for given settings |
//! | `row` | a record's arguments as a row of values |
//! | `recorded` | a record's arguments as bytes, on request |
//! | `timeline` | sequence numbers, timestamps, restarts of the target |
//! | `counts` | numbers of frames, as facts of the trace |
//! | `simd` | the operations of the fast path, per instruction set |
//! | `fast_plan` | the plan for reading the frames of each id on the fast path |
//! | `scan` | finds the ends of frames and the sums of their bytes |
//! | `escaped` | removes escapes on the fast path |
//! | `state` | the state of a stream between windows |
//! | `chunk` | a section of the stream, and the emitter that receives its events |
//! | `fast` | the hot loop over frames of the common kind |
//! | `configure` | applies configuration records |
//! | `slow` | decodes any frame |
//! | `window` | the loop over the frames of a chunk |
//! | `reader` | the decoder |
//!
//! Each module uses only modules above it in this table.
//!
//! Whatever their width in the stream, ids are shown as one-byte ids: `group << 5 | number`. An id
//! that does not have this form is shown as 65536 plus the id.

mod chunk;
mod configure;
mod counts;
mod escaped;
mod fast;
mod fast_plan;
mod guess;
mod options;
mod plan;
mod reader;
mod recorded;
mod row;
mod scan;
mod simd;
mod slow;
mod state;
mod symbols;
mod timeline;
mod window;

use std::sync::{Arc, OnceLock};

use tracewell_wire::rkh::{Configuration, Cutter, Dialect, Field, Unstuffed, checksum, unstuff};

use super::{Confidence, Format};
use crate::model::schema::{ArgumentKind, Rules, Schema};

/// The format's entry in the list of formats.
pub static FORMAT: Format = Format {
    description: "RKH trace stream (Trazer), versions 2.0 to 3.4, ids of 1, 2 or 4 bytes",
    recognised_by: "a configuration record after the first flag, or frames with valid checksums",
    names_follow: true,
    options: options::OPTIONS,
    schema: || schema(Dialect::V3_4),
    rules: Rules { names_objects: true, check_encoding, ..Rules::WORDS },
    template: Some(include_str!("../../../templates/rkh.fmt")),
    ..Format::new("rkh", recognise, reader::new)
};

/// Returns the schema of a dialect, parsed once per process.
///
/// ```
/// use tracewell_wire::rkh::Dialect;
///
/// let schema = tracewell::format::rkh::schema(Dialect::V3_4);
/// assert_eq!(schema.event(0x62).label, "SM TRN");
/// ```
pub fn schema(dialect: Dialect) -> Arc<Schema> {
    static SCHEMAS: [OnceLock<Arc<Schema>>; Dialect::ALL.len()] =
        [const { OnceLock::new() }; Dialect::ALL.len()];
    let text = include_str!("../../../schemas/rkh.toml");
    let parse = || Schema::built_in_version(text, "schemas/rkh.toml", Some(dialect.as_str()));
    SCHEMAS[dialect as usize].get_or_init(parse).clone()
}

fn check_encoding(encoding: &str, _: ArgumentKind) -> Result<(), String> {
    let parsed = encoding.parse::<Field>();
    parsed.map(|_| ()).map_err(|error| match encoding {
        "" => "expected ' as ' and an encoding after the kind, such as 'as u16'".to_owned(),
        _ => format!("unknown encoding '{encoding}': {error}"),
    })
}

/// Maximum number of frames examined to recognise a stream.
const SAMPLE_FRAMES: usize = 64;

/// Minimum number of frames with valid checksums. In random bytes, one frame in 256 has a valid
/// checksum.
const MIN_FRAMES: usize = 4;

fn recognise(start: &[u8]) -> Option<Confidence> {
    let mut cutter = Cutter::new(start);
    if !cutter.skip_to_flag() {
        return None;
    }
    let starts_here = cutter.rest() == 1;
    let mut scratch = [0; tracewell_wire::rkh::MAX_FRAME_LEN];
    let (mut frames, mut good) = (0, 0);
    for (index, cut) in cutter.take(SAMPLE_FRAMES).enumerate() {
        let Some(stuffed) = start.get(cut.start..cut.end) else { break };
        frames += 1;
        let Unstuffed::Frame(length) = unstuff(stuffed, &mut scratch) else { continue };
        let frame = scratch.get(..length).unwrap_or_default();
        if Configuration::recognise(frame).is_some() {
            // Only a configuration record at the start of the input makes the format certain.
            // Before a later record, the input may contain bytes of any format.
            let first = index == 0 && starts_here;
            return Some(if first { Confidence::Certain } else { Confidence::Possible });
        }
        // In frames of one or two bytes, a correct checksum is often due to chance.
        good += usize::from(length > 2 && checksum::holds(frame));
    }
    // Some frames may be damaged or cut, so three of four are enough.
    (good >= MIN_FRAMES && 4 * good >= 3 * frames).then_some(Confidence::Possible)
}
