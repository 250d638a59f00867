//! `tracewell convert`: another format.

use std::path::PathBuf;

use clap::Args;
use tracewell::export::{self, EXPORTS, Export, ExportNames};
use tracewell::format::Options;
use tracewell::input::Input;

use crate::args::InputArgs;
use crate::outcome::{Failure, Outcome, tell_remarks};
use crate::output;

/// Write a trace in another format
///
/// The format is that of --to, or what the extension of the output says. The output appears only
/// when it is whole. `tracewell formats` lists formats and options.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell convert trace.trx -o big.trx -T order=big
  tracewell convert trace.trx -o dump.txt --to tracex-dump
  tracewell convert trace.hex -o trace.csv")]
pub(crate) struct Convert {
    /// A trace; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Where to write; - is standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// Format to write
    #[arg(long, value_name = "NAME")]
    to: Option<String>,

    /// Say what the output is to be like, such as order=big
    #[arg(short = 'T', value_name = "KEY=VALUE")]
    to_options: Vec<String>,

    #[command(flatten)]
    input: InputArgs,
}

impl Convert {
    pub(crate) fn run(&self) -> Outcome {
        self.convert().unwrap_or_else(Failure::tell)
    }

    fn convert(&self) -> Result<Outcome, Failure> {
        let export = self.export()?;
        let mut options = Options::default();
        for option in &self.to_options {
            options.add(option).map_err(Failure::usage)?;
        }
        let mut input = Input::open(&self.file, self.input.settings()?)?;
        let name = |path: &PathBuf| match path.file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => path.display().to_string(),
        };
        let names = ExportNames { input: name(&self.file), output: name(&self.output) };
        let trace = output::write_whole(&self.output, |out| {
            (export.write)(&mut input, &options, &names, out)
                .map_err(|error| Failure::export(&self.output, error))
        })?;
        Ok(tell_remarks(&self.file, &trace, self.input.verbose))
    }

    fn export(&self) -> Result<&'static Export, Failure> {
        let known = || EXPORTS.iter().map(|export| export.name).collect::<Vec<_>>().join(", ");
        if let Some(name) = &self.to {
            let message = || format!("there is no format '{name}' to write, only {}", known());
            return export::by_name(name).ok_or_else(|| Failure::usage(message()));
        }
        let extension = self.output.extension().and_then(|extension| extension.to_str());
        extension.and_then(export::by_extension).ok_or_else(|| {
            let output = self.output.display();
            Failure::usage(format!(
                "'{output}' does not say its format: give --to, one of {}",
                known()
            ))
        })
    }
}
