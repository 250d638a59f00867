//! `tracewell info`: summarises a trace.

use std::path::PathBuf;

use clap::Args;
use tracewell::report::info::{self, Census};
use tracewell::text::calendar::Zone;
use tracewell::text::shown_path;

use super::{for_each_file, title};
use crate::args::{InputArgs, SelectionArgs};
use crate::document::Document;
use crate::outcome::{Failure, Outcome};
use crate::{output, screen};

/// Summarise a trace: clock, span, counts, contexts, objects, losses
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell info trace.trx
  tracewell info --from 10ms --to 20ms trace.trx
  tracewell info --json trace.trx | jq '.traces[].contexts[].name'")]
pub(crate) struct Info {
    /// Traces; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print one JSON document about all files, for programs
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    input: InputArgs,
}

impl Info {
    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        let selection = self.selection.selection_showing(!self.json)?;
        let document = self.json.then(|| Document::new(info::SCHEMA));
        let made = for_each_file(&self.files, &self.input, |input| {
            input.select(selection.clone());
            let mut census = Census::default();
            let trace = input.read(&mut census)?;
            let written = match &document {
                Some(document) => {
                    let file = shown_path(input.path()).to_string();
                    document.writer().trace(&file, &census.summary(&trace))
                }
                None => {
                    let title = title(&self.files, &self.input, input.path());
                    let title = title.map_or_else(String::new, |title| title + "\n");
                    // Without dates the zone has no effect, so an invalid zone is no error.
                    let zone = match trace.check_dates() {
                        Ok(()) => self.selection.zone().zone()?,
                        Err(_) => Zone::utc(),
                    };
                    output::write(&(title + &census.text(&trace, screen::layout(), &zone)))
                }
            };
            written.map_err(|error| Failure::io(output::stdout_path(), &error))?;
            Ok(trace)
        });
        Ok(document.map_or(made.outcome, |document| document.end(made.outcome)))
    }
}
