//! `tracewell info`: what is in a trace, without its events.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use tracewell::report::info::Census;

use super::{for_each_file, read, title};
use crate::args::InputArgs;
use crate::outcome::{Failure, Outcome};
use crate::output;

/// Print what is in a trace: clock, span, counts, contexts, objects, losses
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell info trace.trx
  tracewell info --json trace.trx | jq '.contexts[].name'")]
pub(crate) struct Info {
    /// Traces; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// For programs: one JSON object a file
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    input: InputArgs,
}

impl Info {
    pub(crate) fn run(&self) -> Outcome {
        for_each_file(&self.files, &self.input, |input| {
            let mut census = Census::default();
            let trace = read(input, &mut census)?;
            let text = if self.json {
                format!("{:#}\n", census.json(&trace))
            } else {
                let title = title(&self.files, &self.input, input.path()).map(|title| title + "\n");
                title.unwrap_or_default() + &census.text(&trace)
            };
            output::stdout()
                .write_all(text.as_bytes())
                .map_err(|error| Failure::io(output::stdout_path(), &error))?;
            Ok(trace)
        })
        .outcome
    }
}
