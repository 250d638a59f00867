//! ThreadX event trace buffers as TraceX reads them (`.trx`), and those that TraceX cannot read.
//!
//! | file | what it settles |
//! |---|---|
//! | `locate` | where in an input the image begins |
//! | `image` | where registry and events lie, and how much of them is there |
//! | `registry` | objects, threads, names |
//! | `ring` | which slot is the oldest, what is missing |
//! | `survey` | which way the clock counts and where it wraps |
//! | `slots` | eight words into one row of the columns: the hot loop |
//! | `run` | the steps above in order, for one dump after the other of a run |
//! | `decoder` | where dumps begin in the input; options |
//! | `custom_events` | names of user events from a `.trxc` file |

pub mod custom_events;
mod decoder;
mod image;
pub mod locate;
mod registry;
mod ring;
mod run;
mod slots;
mod survey;

use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{Header, HeaderError, Layout, Width};

use super::{Confidence, Format, OptionHelp};
use crate::model::{PayloadLayout, Trace};

/// The format's entry in the list of formats.
pub static FORMAT: Format = Format {
    name: "threadx",
    description: "ThreadX event trace buffer (TraceX .trx), 32- and 64-bit ULONG, either byte order",
    recognised_by: "the id 0x54585442 (BTXT or TXTB) at the start, or within the first 64 KiB",
    names_follow: false,
    is_whole: |_| true,
    options: OPTIONS,
    recognise,
    decoder: decoder::new,
};

/// What can be said about a dump that its bytes do not tell.
const OPTIONS: &[OptionHelp] = &[
    OptionHelp {
        key: "rate",
        value: "TICKS_PER_SECOND",
        help: "rate of the time stamp counter: 100MHz, 32.768kHz, 1000000/3",
    },
    OptionHelp {
        key: "direction",
        value: "up|down",
        help: "which way the counter counts, instead of the majority of the stamps",
    },
    OptionHelp {
        key: "modulus",
        value: "N",
        help: "the counter goes from N-1 to 0, instead of at its mask",
    },
    OptionHelp { key: "offset", value: "BYTES", help: "where in the input the dump begins" },
    OptionHelp {
        key: "search",
        value: "BYTES",
        help: "how much of the input to search for a dump that does not begin at byte 0 (65536)",
    },
    OptionHelp {
        key: "oldest",
        value: "SLOT",
        help: "event slot to begin with, where the header's pointer is damaged",
    },
    OptionHelp {
        key: "parts",
        value: "BYTES,...",
        help: "where the further dumps of one run begin in the input",
    },
];

/// The layout of the records of a trace that this format has read.
pub fn layout(trace: &Trace) -> Layout {
    let (order, width) = match trace.payload {
        PayloadLayout::Words { order, bytes: 8 } => (order, Width::Bits64),
        PayloadLayout::Words { order, .. } => (order, Width::Bits32),
        _ => (ByteOrder::Little, Width::Bits32),
    };
    let name_size = trace.fact("object_name_size").and_then(|size| u16::try_from(size).ok());
    Layout { order, width, name_size: name_size.unwrap_or(32) }
}

fn recognise(start: &[u8]) -> Option<Confidence> {
    match Header::read(start) {
        Ok(_) => Some(Confidence::Certain),
        // The id is there and the input ends inside the header: the reader says so best.
        Err(HeaderError::TooShort { .. }) if start.len() >= 4 => Some(Confidence::Possible),
        Err(_) => locate::locate(start, locate::DEFAULT_SEARCH_LIMIT).map(|_| Confidence::Possible),
    }
}
