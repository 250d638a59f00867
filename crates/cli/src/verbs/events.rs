//! `tracewell events`: every event, typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tracewell::export::events::{EventFormat, EventWriter};

use super::{for_each_file, read_named};
use crate::args::{InputArgs, SelectionArgs};
use crate::outcome::{Failure, Outcome};
use crate::output;

/// Print every event, typed, for programs
///
/// One JSON object a line, or a table with a line of column names. Missing events are a line of their
/// own in their place: {"lost":N,"cause":...,"offset":...}.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell events trace.trx
  tracewell events --format tsv --context Interrupt trace.trx
  tracewell events --event 'tx_mutex_*' --from 10ms --to 20ms -O rate=100MHz trace.trx")]
pub(crate) struct Events {
    /// Traces; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Form of the output
    #[arg(long, value_enum, default_value_t = Form::Jsonl)]
    format: Form,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    input: InputArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    /// JSON lines
    Jsonl,
    /// Tab-separated values
    Tsv,
    /// Comma-separated values
    Csv,
}

impl Events {
    pub(crate) fn run(&self) -> Outcome {
        let format = match self.format {
            Form::Jsonl => EventFormat::JsonLines,
            Form::Tsv => EventFormat::Tsv,
            Form::Csv => EventFormat::Csv,
        };
        for_each_file(&self.files, &self.input, |input| {
            let selection = self.selection.selection();
            let mut writer = EventWriter::new(output::stdout(), format, selection.clone());
            let mut trace = read_named(input, &mut writer, selection.has_names())?;
            selection.check(&trace)?;
            selection.remark(&mut trace);
            writer.finish().map_err(|error| Failure::io(output::stdout_path(), &error))?;
            Ok(trace)
        })
        .outcome
    }
}
