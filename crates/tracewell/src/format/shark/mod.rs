//! Decodes traces of the S.Ha.R.K. kernel's new tracer: files, chunk images, captures of datagrams.
//!
//! | file | task |
//! |---|---|
//! | `container` | finds the areas of records in an input, by its kind |
//! | `runs` | divides areas into runs of non-decreasing timestamps |
//! | `order` | merges the runs in order of time |
//! | `clock` | finds the rates of the clock |
//! | `tasks` | maps context numbers to tasks and their names |
//! | `names` | reads names of tasks that the user supplies |
//! | `effects` | lists the effect of each code on the running task |
//! | `rows` | fills columns with records and their contexts |
//! | `decoder` | runs these steps in order |
//!
//! Only timestamps define the order of the records. A dump of a cyclic chunk begins with the
//! chunk's first slot, which may be newer than the slots after it. So all records are sorted by
//! timestamp. Records with equal timestamps keep their order in memory. Ordinary dumps consist of
//! one or two runs, so sorting moves no records.

mod clock;
mod container;
mod decoder;
mod effects;
mod order;
mod rows;
mod runs;
mod tasks;

use std::sync::{Arc, LazyLock};

use tracewell_wire::shark::Record;

use super::{Confidence, Format, OptionHelp};
use crate::model::schema::Schema;
use crate::model::{Field, Trace};

/// The format's entry in the list of formats.
pub static FORMAT: Format = Format {
    description: "S.Ha.R.K. new tracer: files, chunk images, captures of its UDP datagrams",
    recognised_by: "TRACER-V1.0 in a capture, the id 0xFFAAFFBB of a chunk, or records of known events",
    names_follow: true,
    is_whole: |_| true,
    options: OPTIONS,
    joins: true,
    names: Some("--names"),
    schema,
    template: Some(include_str!("../../../templates/shark.fmt")),
    orders_datagrams: true,
    ..Format::new("shark", recognise, decoder::new)
};

/// Numbers of records with special properties, for reports about scheduling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordCounts {
    /// Number of records that the kernel's fast path wrote. They have no second parameter.
    pub fast: u64,
    /// Number of records whose timestamp is smaller than the timestamp of the previous record in
    /// memory.
    pub descents: u64,
}

impl RecordCounts {
    /// Returns the counts of a trace, or `None` if the trace does not have this format.
    pub fn of(trace: &Trace) -> Option<&Self> {
        trace.dialect.as_ref()?.downcast_ref()
    }
}

/// Returns the event types of the S.Ha.R.K. kernel's new tracer.
pub fn schema() -> Arc<Schema> {
    static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
        Schema::built_in(include_str!("../../../schemas/shark.toml"), "schemas/shark.toml")
    });
    SCHEMA.clone()
}

/// The options: facts about a trace that its bytes do not contain.
const OPTIONS: &[OptionHelp] = &[
    OptionHelp {
        key: "rate",
        value: "TICKS_PER_SECOND",
        help: "first rate of the processor's clock, such as 1193MHz; overrides trace_start",
    },
    OptionHelp {
        key: "names",
        value: "PID=NAME,...",
        help: "names of tasks; --names FILE reads them from a file",
    },
    OptionHelp {
        key: "kind",
        value: "KIND",
        help: "kind of the input: records, chunk or capture; by default it is recognised",
    },
];

/// The parameters of a record. The kernel's fast path does not write the second parameter.
const PARAMETERS: &[Field] = &[
    Field { offset: 2, bytes: 2, absent: None },
    Field { offset: 12, bytes: 4, absent: Some((1, (Record::FAST >> 8) as u8)) },
];

fn recognise(start: &[u8]) -> Option<Confidence> {
    container::recognise(start).map(|(_, confidence)| confidence)
}
