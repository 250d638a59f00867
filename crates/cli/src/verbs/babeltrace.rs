//! The layout babeltrace of `tracewell report`: CTF traces as Babeltrace 2 prints them.

use std::io::Write;
use std::path::{Path, PathBuf};

use tracewell::format::ctf;
use tracewell::format::ctf::babeltrace::{PrintError, print};
use tracewell::input::{Input, InputError};
use tracewell::model::{Batch, Flow, Sink, SinkError, Trace};

use super::{Made, for_each_file};
use crate::args::InputArgs;
use crate::outcome::Failure;

/// A sink that ignores all events. Reading an input into this sink only collects the diagnostics.
struct Nothing;

impl Sink for Nothing {
    fn events(&mut self, _: &Trace, _: &Batch<'_>) -> Flow {
        Flow::Continue(())
    }
}

/// Prints all traces. Messages about discarded events go to standard error.
/// `output` is the path of `out`, for messages.
pub(super) fn files(
    files: &[PathBuf],
    args: &InputArgs,
    output: &Path,
    out: &mut dyn Write,
) -> Made {
    for_each_file(files, args, |input| {
        if input.format().name != ctf::FORMAT.name {
            let message = format!(
                "{}: --layout babeltrace needs a CTF trace, and this is a trace of format {}",
                input.path().display(),
                input.format().name
            );
            return Err(Failure::usage(message));
        }
        print_to(input, out).map_err(|error| Failure::reading(error, output))?;
        // Read the trace a second time, to report damage in the same way as for every other output.
        Ok(input.read(&mut Nothing)?)
    })
}

fn print_to(input: &Input, out: &mut dyn Write) -> Result<(), InputError> {
    let printed = print(input.files(), input.path(), out, |message| {
        if !message.is_damage {
            eprintln!("{}", message.text);
        }
    });
    printed.map_err(|error| match error {
        PrintError::Read(source) => InputError::Read { path: input.path().to_owned(), source },
        PrintError::Write(error) => InputError::Sink(SinkError::Write(error)),
    })
}
