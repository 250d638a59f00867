//! Decodes dumps of ThreadX event trace buffers (`.trx`), including those that TraceX cannot read.
//!
//! | file | task |
//! |---|---|
//! | `locate` | finds the image in an input |
//! | `image` | finds registry and events, and the part of them that the input contains |
//! | `registry` | reads objects, threads and names |
//! | `ring` | finds the oldest slot and missing events |
//! | `survey` | infers the clock's direction and range |
//! | `slots` | converts slots of eight words to rows of the columns: the hot loop |
//! | `run` | takes the steps above for each dump of a run |
//! | `seam` | finds the new and the missing events between two dumps of a run |
//! | `sections` | decodes slots on several threads |
//! | `parts` | divides slots among several threads |
//! | `decoder` | finds the dumps in the input; handles options |
//! | `custom_events` | reads names of user events from a `.trxc` file |

pub mod custom_events;
mod decoder;
mod image;
pub mod locate;
mod parts;
mod registry;
mod ring;
mod run;
mod seam;
mod sections;
mod slots;
mod survey;

use std::sync::{Arc, LazyLock};

use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{Header, HeaderError, Layout, Width};

use super::{Confidence, Format, OptionHelp};
use crate::model::Trace;
use crate::model::schema::Schema;

/// The format's entry in the list of formats.
pub static FORMAT: Format = Format {
    description: "ThreadX event trace buffer (TraceX .trx), 32- and 64-bit ULONG, either byte order",
    recognised_by: "the id 0x54585442 (BTXT or TXTB) at the start, or within the first 64 KiB",
    is_whole: |_| true,
    options: OPTIONS,
    joins: true,
    names: Some("--custom-events"),
    schema,
    template: Some(include_str!("../../../templates/threadx.fmt")),
    ..Format::new("threadx", recognise, decoder::new)
};

/// Returns the event types of ThreadX, FileX, NetX and USBX.
pub fn schema() -> Arc<Schema> {
    static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
        Schema::built_in(include_str!("../../../schemas/threadx.toml"), "schemas/threadx.toml")
    });
    SCHEMA.clone()
}

/// The options: facts about a dump that its bytes do not contain.
const OPTIONS: &[OptionHelp] = &[
    OptionHelp {
        key: "names",
        value: "FILE.trxc",
        help: "names of user events; --custom-events FILE.trxc does the same",
    },
    OptionHelp {
        key: "rate",
        value: "TICKS_PER_SECOND",
        help: "rate of the time stamp counter: 100MHz, 32.768kHz, 1000000/3",
    },
    OptionHelp {
        key: "direction",
        value: "up|down",
        help: "direction of the counter; by default that of most timestamps",
    },
    OptionHelp {
        key: "modulus",
        value: "N",
        help: "the counter wraps from N-1 to 0, instead of at its mask",
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
        help: "event slot to begin with, if the header's pointer is damaged",
    },
];

/// The control header of a trace's first dump, and the layout of the dump's records.
#[derive(Clone, Copy, Debug)]
pub struct DumpHeader {
    /// Byte order, width of words in bits and size of names in bytes.
    pub layout: Layout,
    /// The header as recorded.
    pub header: Header,
}

impl DumpHeader {
    /// Returns the header of a trace, or `None` if the trace is not a dump of ThreadX.
    pub fn of(trace: &Trace) -> Option<&Self> {
        trace.dialect.as_ref()?.downcast_ref()
    }

    /// Returns the first four bytes of the dump as a big-endian number.
    pub fn id(&self) -> u32 {
        match self.layout.order {
            ByteOrder::Little => Header::ID.swap_bytes(),
            ByteOrder::Big => Header::ID,
        }
    }
}

/// Returns the layout of records in a ThreadX trace. Before the first dump, this is the layout of a
/// little-endian target with 32-bit words.
pub fn layout(trace: &Trace) -> Layout {
    let before = Layout { order: ByteOrder::Little, width: Width::Bits32, name_size: 32 };
    DumpHeader::of(trace).map_or(before, |dump| dump.layout)
}

fn recognise(start: &[u8]) -> Option<Confidence> {
    match Header::read(start) {
        Ok(_) => Some(Confidence::Certain),
        // The input has the id but ends inside the header. This decoder should report the error.
        Err(HeaderError::TooShort { .. }) if start.len() >= 4 => Some(Confidence::Possible),
        Err(_) => locate::locate(start, locate::DEFAULT_SEARCH_LIMIT).map(|_| Confidence::Possible),
    }
}
