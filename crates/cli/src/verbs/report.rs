//! `tracewell report`: text for people.

use std::path::PathBuf;

use clap::Args;
use tracewell::report::ReportOptions;

use super::{for_each_file, read, title};
use crate::args::{Color, InputArgs, SelectionArgs};
use crate::outcome::{Failure, Outcome};
use crate::output;

/// Print what happened, for people
///
/// One aligned line an event: time, context, priority, event, decoded arguments. A `>` stands before
/// a context that took over. Missing events are marked in their place; a summary follows.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell report -O rate=100MHz trace.trx
  tracewell report --context low --context high trace.trx
  tracewell report --object 'main queue' --tail 50 trace.trx")]
pub(crate) struct Report {
    /// Traces; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// When to use colour
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    color: Color,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    input: InputArgs,
}

impl Report {
    pub(crate) fn run(&self) -> Outcome {
        for_each_file(&self.files, &self.input, |input| {
            let selection = self.selection.selection();
            let options = ReportOptions {
                color: self.color.on(),
                title: title(&self.files, input.path()),
                selection: selection.clone(),
            };
            let mut report = tracewell::report::Report::new(output::stdout(), options);
            let trace = read(input, &mut report)?;
            selection.check(&trace)?;
            report.finish(&trace).map_err(|error| Failure::io(output::stdout_path(), &error))?;
            Ok(trace)
        })
    }
}
