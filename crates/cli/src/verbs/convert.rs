//! `tracewell convert`: another format.

use std::path::{Path, PathBuf};

use clap::Args;
use tracewell::export::{self, EXPORTS, Export, ExportNames};
use tracewell::format::Options;
use tracewell::input::Input;
use tracewell::select::{did_you_mean, nearest};
use tracewell::text::shown_path;

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
    /// A trace, or the parts of one (--join); - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

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
        if self.files.len() > 1 && !self.input.join {
            return Err(Failure::usage("several inputs make one output only with --join"));
        }
        let export = self.export()?;
        let mut options = Options::default();
        for option in &self.to_options {
            options.add(option).map_err(Failure::usage)?;
        }
        write(&self.files, &self.input, &self.output, export, &options)
    }

    fn export(&self) -> Result<&'static Export, Failure> {
        let known = || EXPORTS.iter().map(|export| export.name).collect::<Vec<_>>().join(", ");
        if let Some(name) = &self.to {
            let meant = || did_you_mean(nearest(name, EXPORTS.iter().map(|export| export.name)));
            let known = || format!("only {}{}", known(), meant());
            let message = || format!("there is no format '{name}' to write, {}", known());
            return export::by_name(name).ok_or_else(|| Failure::usage(message()));
        }
        let extension = self.output.extension().and_then(|extension| extension.to_str());
        extension.and_then(export::by_extension).ok_or_else(|| {
            let output = shown_path(&self.output);
            Failure::usage(format!(
                "'{output}' does not say its format: give --to, one of {}",
                known()
            ))
        })
    }
}

/// Reads the inputs as one and writes them as a format.
fn write(
    files: &[PathBuf],
    args: &InputArgs,
    output: &Path,
    export: &Export,
    options: &Options,
) -> Result<Outcome, Failure> {
    let (settings, outcome) = args.settings()?;
    let mut input = Input::open_run(files, settings)?;
    args.tell_ineffective(&mut input, files.len());
    let name = |path: &Path| match path.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => shown_path(path).to_string(),
    };
    let names = ExportNames { input: name(input.path()), output: name(output) };
    let trace = output::write_whole(output, &args.inputs(files), |out| {
        (export.write)(&mut input, options, &names, out)
            .map_err(|error| Failure::export(output, error))
    })?;
    Ok(tell_remarks(input.path(), &trace, args.verbose).max(outcome))
}

/// Writes the entries of AIX logs, merged, as one log.
pub(super) fn merged_log(
    files: &[PathBuf],
    args: &InputArgs,
    output: Option<&Path>,
) -> Result<Outcome, Failure> {
    let args = InputArgs { join: files.len() > 1, ..args.clone() };
    let output = output.unwrap_or(Path::new("-"));
    write(files, &args, output, &export::aix::EXPORT, &Options::default())
}
