//! Decodes trace entries of 32-bit and 64-bit AIX programs, stored in Tracewell's own container
//! (TWX1).
//!
//! | file | task |
//! |---|---|
//! | `frames` | reads the frames in sequence; searches for a good frame after damage |
//! | `stamps` | unwraps timestamps of 32 bits |
//! | `clock` | finds the rate of a file's clock; converts ticks between the clocks of two files |
//! | `merge` | merges the files of several processors by time |
//! | `row` | converts hook data, data words and variable data to values |
//! | `header` | stores the first file's header for reports and exports |
//! | `processes` | finds the thread and program of an event |
//! | `decoder` | runs the steps above in order |
//!
//! AIX's own log files cannot be read, because their layout is not public.

mod clock;
mod contents;
mod decoder;
mod frames;
mod header;
mod merge;
mod processes;
mod row;
mod stamps;

use std::sync::{Arc, LazyLock};

use tracewell_wire::aix::{FileHeader, ReadError};

pub use self::header::Header;
use super::{Confidence, Format, OptionHelp, ReportStyle};
use crate::model::schema::Schema;

/// The format's entry in the list of formats.
pub static FORMAT: Format = Format {
    description: "AIX trace entries (trchook, trcgen), 32- and 64-bit, in the container TWX1",
    recognised_by: "TWX1 at the start",
    options: OPTIONS,
    joins: true,
    names: Some("--names"),
    schema,
    template: Some(include_str!("../../../templates/aix.fmt")),
    report: ReportStyle::Trcrpt,
    ..Format::new("aix", recognise, decoder::new)
};

/// A hint for files that may be logs of AIX's own trace daemon.
pub const NOT_PUBLIC: &str = "if this is a log of AIX's trace daemon, Tracewell cannot read it, \
                              because the layout of these logs is not public";

/// Content of the shipped file `templates/groups`, which contains one group of hook ids per line.
///
/// ```
/// use tracewell::format::aix::SHIPPED_GROUPS;
/// use tracewell::select::groups;
///
/// let (groups, errors) = groups(SHIPPED_GROUPS);
/// assert!(errors.is_empty() && groups.iter().any(|group| group.name == "sched"));
/// ```
pub const SHIPPED_GROUPS: &str = include_str!("../../../templates/groups");

/// Returns the event types of AIX trace, which are its hooks.
pub fn schema() -> Arc<Schema> {
    static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
        Schema::built_in(include_str!("../../../schemas/aix.toml"), "schemas/aix.toml")
    });
    SCHEMA.clone()
}

/// The options: facts about a trace that its bytes do not contain.
const OPTIONS: &[OptionHelp] = &[OptionHelp {
    key: "names",
    value: "N=NAME,...",
    help: "names of system calls; --names FILE reads them from a file",
}];

fn recognise(start: &[u8]) -> Option<Confidence> {
    match FileHeader::read(start) {
        Ok(_) => Some(Confidence::Certain),
        // The magic number is present, so this decoder should report the error.
        Err(ReadError::Damaged(_) | ReadError::Incomplete { .. })
            if start.starts_with(&FileHeader::MAGIC) =>
        {
            Some(Confidence::Possible)
        }
        Err(_) => None,
    }
}
