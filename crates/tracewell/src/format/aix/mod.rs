//! AIX trace in Tracewell's own container (TWX1): hook-word entries of 32- and 64-bit programs.
//!
//! | file | what it settles |
//! |---|---|
//! | `frames` | frames one after the other; where the next good one is behind a bad one |
//! | `merge` | the files of several processors in order of time |
//! | `row` | hook data, data words and variable data as values |
//! | `processes` | which thread and program an event is of |
//! | `decoder` | the steps above in order |
//!
//! The layout of AIX's own log files is not public; they cannot be read.

mod decoder;
mod frames;
mod merge;
mod processes;
mod row;

use tracewell_wire::aix::{FileHeader, ReadError};

use super::{Confidence, Format, OptionHelp};

/// The format's entry in the list of formats.
pub static FORMAT: Format = Format {
    name: "aix",
    description: "AIX trace entries (trchook, trcgen), 32- and 64-bit, in the container TWX1",
    recognised_by: "TWX1 at the start",
    names_follow: false,
    is_whole: |_| false,
    options: OPTIONS,
    recognise,
    decoder: decoder::new,
};

/// What can be said about a trace that its bytes do not tell.
const OPTIONS: &[OptionHelp] = &[
    OptionHelp {
        key: "names",
        value: "N=NAME,...",
        help: "names of system calls; a file of such lines is given with --names",
    },
    OptionHelp {
        key: "parts",
        value: "BYTES,...",
        help: "where in the input the files of further processors begin; --join sets it",
    },
];

fn recognise(start: &[u8]) -> Option<Confidence> {
    match FileHeader::read(start) {
        Ok(_) => Some(Confidence::Certain),
        // The magic number is there and something else is wrong: the reader says so best.
        Err(ReadError::Damaged(_) | ReadError::Incomplete { .. })
            if start.starts_with(&FileHeader::MAGIC) =>
        {
            Some(Confidence::Possible)
        }
        Err(_) => None,
    }
}
