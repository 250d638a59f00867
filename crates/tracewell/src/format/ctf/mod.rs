//! Decodes traces in the Common Trace Format, versions 1.8 and 2.
//!
//! | file | task |
//! |---|---|
//! | `folder` | finds the files of a trace |
//! | `classes` | the types of a trace |
//! | `tsdl`, `json` | parse the languages of metadata (CTF 1.8, CTF 2) into declarations |
//! | `declared` | the declarations, in one form for both languages |
//! | `metadata` | reads metadata into the types of a trace: selects the parser, places the types |
//! | `bits` | reads numbers of 1 to 64 bits at any bit offset |
//! | `position` | reads fields at a position in a packet |
//! | `program` | runs programs, which read the fields of a scope |
//! | `fixed` | reads fields at fixed offsets |
//! | `slots` | finds runs of numbers at fixed offsets, and reads events that are one run |
//! | `direct` | reads events that contain only numbers, texts and arrays of numbers |
//! | `header` | reads event headers whose fields have fixed offsets |
//! | `compile` | compiles structures to programs |
//! | `layout` | all programs of a trace |
//! | `clocks` | converts the values of several clocks to one clock |
//! | `packets` | reads headers and contexts of packets |
//! | `stream` | reads the packets and events of one stream |
//! | `merge` | finds the stream with the earliest element |
//! | `reader` | merges all streams by time |
//! | `events` | converts event classes to event types |
//! | `field` | the arguments of events, before they are in the schema |
//! | `systems` | finds the system that recorded a trace, and the meanings of its events |
//! | `ages` | detects that the metadata and a stream are from different releases of Zephyr |
//! | `who` | finds the thread that recorded an event |
//! | `row` | writes the rows of arguments |
//! | `decoder` | decodes the files of a trace to events of the model |
//! | `index` | reads index files, which list the packets of a stream |
//! | `growing` | decodes a trace whose files grow |
//! | `babeltrace` | prints a trace as Babeltrace 2 does |
//! | `print` | writes fields as Babeltrace 2 does |
//!
//! `docs/ctf.md` contains the rules for losses, for names and for several streams, with their
//! sources.

mod ages;
pub mod babeltrace;
mod bits;
pub mod classes;
mod clocks;
mod compile;
mod declared;
mod decoder;
mod decoding;
mod direct;
mod events;
mod field;
mod fixed;
mod folder;
mod growing;
mod header;
mod index;
mod json;
mod layout;
mod merge;
pub mod metadata;
mod packets;
mod position;
mod print;
mod program;
mod reader;
mod row;
mod slots;
mod stream;
mod systems;
mod tsdl;
mod who;

use super::{Confidence, Format, OptionHelp};
use crate::model::schema::Rules;

/// The format's entry in the list of formats.
pub static FORMAT: Format = Format {
    description: "Common Trace Format 1.8 and 2: folders of LTTng, Zephyr, barectf, perf, …",
    recognised_by: "a folder with a file `metadata`, or this file, or a stream beside it",
    is_whole: |_| true,
    folder: Some(folder::find),
    options: OPTIONS,
    schema: systems::objects,
    rules: RULES,
    ..Format::new("ctf", recognise, decoder::new)
};

/// The options.
const OPTIONS: &[OptionHelp] = &[OptionHelp {
    key: decoder::WAIT,
    value: "TIME",
    help: "while a trace grows: how long an event waits for other streams; default: no limit",
}];

/// The rules for schema files. The metadata of a trace contains the names of its events and
/// arguments.
const RULES: Rules = Rules { names_events: true, names_arguments: true, ..Rules::WORDS };

/// Magic number of metadata in packets.
const METADATA_MAGIC: u32 = 0x75D1_1D57;

/// Magic number of packets.
const MAGIC: u32 = 0xC1FC_1FC1;

/// Returns true if a file begins like metadata.
fn is_metadata(start: &[u8]) -> bool {
    let packets = [METADATA_MAGIC.to_le_bytes(), METADATA_MAGIC.to_be_bytes()];
    packets.iter().any(|magic| start.starts_with(magic))
        || start.starts_with(b"/* CTF ")
        || is_json(start)
        || is_plain(start)
}

/// Returns true if a file begins like metadata of CTF 2: with a JSON text that contains a preamble.
fn is_json(start: &[u8]) -> bool {
    let preamble = b"\"preamble\"";
    let start = start.get(..4096).unwrap_or(start);
    start.starts_with(b"\x1E") && start.windows(preamble.len()).any(|text| text == preamble)
}

/// Returns true if a file without a magic number or comment begins like CTF 1.8: with a declaration
/// of the trace or of types.
fn is_plain(start: &[u8]) -> bool {
    let start = start.trim_ascii_start();
    [&b"trace {"[..], b"typealias integer", b"struct "].iter().any(|word| start.starts_with(word))
}

fn recognise(start: &[u8]) -> Option<Confidence> {
    if is_metadata(start) && !is_plain(start) {
        return Some(Confidence::Certain);
    }
    let packets = [MAGIC.to_le_bytes(), MAGIC.to_be_bytes()];
    packets.iter().any(|magic| start.starts_with(magic)).then_some(Confidence::Possible)
}
