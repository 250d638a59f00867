//! Traces of the S.Ha.R.K. kernel's new tracer: files, chunk images, captures of datagrams.
//!
//! | file | what it settles |
//! |---|---|
//! | `container` | where in an input records lie: areas, by the input's kind |
//! | `runs` | stretches of an area within which stamps grow; what stands out in them |
//! | `order` | the order of all records in time |
//! | `clock` | when which rate holds |
//! | `tasks` | which task a context number means, and its name |
//! | `names` | names of tasks from outside |
//! | `effects` | what each code does to who runs |
//! | `marks` | what stands out in a group of records, as sets of them |
//! | `passed` | who ran, from these sets |
//! | `fill` | records into rows of the columns: the hot loop |
//! | `closely` | records that the hot loop does not see through |
//! | `decoder` | the steps above in order |
//!
//! Records carry no order but their stamps: a cyclic chunk is dumped from its first slot on, which is
//! where the newest lap stands. So all records are sorted by stamp, those of equal stamps stay as
//! they lie. Ordinary dumps are one or two runs, and no record is moved or looked at twice for it.

mod clock;
mod closely;
mod container;
mod decoder;
mod effects;
mod fill;
mod marks;
mod order;
mod passed;
mod runs;
mod tasks;

use tracewell_wire::shark::Record;

use super::{Confidence, Format, OptionHelp};
use crate::model::Field;

/// The format's entry in the list of formats.
pub static FORMAT: Format = Format {
    name: "shark",
    description: "S.Ha.R.K. new tracer: files, chunk images, captures of its UDP datagrams",
    recognised_by: "TRACER-V1.0 in a capture, the id 0xFFAAFFBB of a chunk, or records of known events",
    names_follow: true,
    is_whole: |_| true,
    options: OPTIONS,
    recognise,
    decoder: decoder::new,
};

/// What can be said about a trace that its bytes do not tell.
const OPTIONS: &[OptionHelp] = &[
    OptionHelp {
        key: "rate",
        value: "TICKS_PER_SECOND",
        help: "clock of the processor at first: 1193MHz; instead of what trace_start says",
    },
    OptionHelp {
        key: "names",
        value: "PID=NAME,...",
        help: "names of tasks; a file of such lines is given with --names",
    },
    OptionHelp {
        key: "kind",
        value: "KIND",
        help: "what the input is instead of recognising it: records, chunk or capture",
    },
    OptionHelp {
        key: "parts",
        value: "BYTES,...",
        help: "where in the input further chunks of the same run begin; --join sets it",
    },
];

/// The parameters of a record; the fast path does not write the second one.
const PARAMETERS: &[Field] = &[
    Field { offset: 2, bytes: 2, absent: None },
    Field { offset: 12, bytes: 4, absent: Some((1, (Record::FAST >> 8) as u8)) },
];

fn recognise(start: &[u8]) -> Option<Confidence> {
    container::recognise(start).map(|(_, confidence)| confidence)
}
