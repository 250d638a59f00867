//! Streams of RKH's trace facility, as Trazer reads them.
//!
//! | file | what it settles |
//! |---|---|
//! | `options` | what a user says of a stream that has no configuration record |
//! | `guess` | settings that nobody told, by what the frames look like |
//! | `plan` | the schema's arguments under some settings: where each lies in a record |
//! | `row` | a record's arguments into a row of values |
//! | `recorded` | a record's arguments as bytes, for who asks |
//! | `timeline` | sequence numbers, stamps, restarts of the target |
//! | `symbols` | names of objects and active objects, from when to when they hold |
//! | `counts` | how many frames became what, as facts of the trace |
//! | `frames` | bytes to frames, and which of them are believed |
//! | `scan` | where frames end, and their sums |
//! | `usual` | frames of the usual kind: the hot loop |
//! | `avx2` | the same for processors with AVX2, and how they look at bytes |
//! | `events` | frames to events and losses |
//! | `configure` | what a configuration record changes |
//! | `decoder` | what is known between windows |
//!
//! Ids are shown as one-byte ids whatever their width in the stream: `group << 5 | number`. One
//! that has no such form is 65536 and the id.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod configure;
mod counts;
mod decoder;
mod escaped;
mod events;
mod frames;
mod guess;
mod options;
mod plan;
mod recorded;
mod row;
mod scan;
mod symbols;
mod timeline;
mod usual;

use tracewell_wire::rkh::{Configuration, Cutter, Unstuffed, checksum, unstuff};

use super::{Confidence, Format};

/// The format's entry in the list of formats.
pub static FORMAT: Format = Format {
    name: "rkh",
    description: "RKH trace stream (Trazer), versions 2.0 to 3.4, ids of 1, 2 or 4 bytes",
    recognised_by: "a configuration record behind the first flag, or frames with good checksums",
    names_follow: true,
    is_whole: |_| false,
    options: options::OPTIONS,
    recognise,
    decoder: decoder::new,
};

/// Frames looked at to recognise a stream.
const LOOKED_AT: usize = 64;

/// Of random bytes one frame in 256 has a good checksum.
const LEAST_FRAMES: usize = 4;

fn recognise(start: &[u8]) -> Option<Confidence> {
    let mut cutter = Cutter::new(start);
    if !cutter.skip_to_flag() {
        return None;
    }
    let starts_here = cutter.rest() == 1;
    let mut scratch = [0; tracewell_wire::rkh::LONGEST_FRAME];
    let (mut frames, mut good) = (0, 0);
    for (index, cut) in cutter.take(LOOKED_AT).enumerate() {
        let Some(stuffed) = start.get(cut.start..cut.end) else { break };
        frames += 1;
        let Unstuffed::Frame(length) = unstuff(stuffed, &mut scratch) else { continue };
        let frame = scratch.get(..length).unwrap_or_default();
        if Configuration::recognise(frame).is_some() {
            let first = index == 0 && starts_here;
            return Some(if first { Confidence::Certain } else { Confidence::Possible });
        }
        good += usize::from(length > 2 && checksum::holds(frame));
    }
    (good >= LEAST_FRAMES && 4 * good >= 3 * frames).then_some(Confidence::Possible)
}
