//! `tracewell convert`: writes a trace in another format.

use std::path::{Path, PathBuf};

use clap::Args;
use tracewell::export::{self, EXPORTS, Export, ExportNames, Output};
use tracewell::format::Options;
use tracewell::select::{Selection, did_you_mean, nearest};
use tracewell::text::shown_path;

use crate::args::{InputArgs, SelectionArgs, Suggested, ThreadArgs, warn_ineffective};
use crate::config::Configs;
use crate::outcome::{Failure, Outcome, report_diagnostics, warn};
use crate::{output, progress};

/// Write a trace in another format
///
/// --format or the extension of the output selects the format. The output appears only
/// when it is complete. `tracewell formats` lists formats and options.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell convert trace.trx -o big.trx -T order=big
  tracewell convert trace.trx -o dump.txt --format tracex-dump
  tracewell convert trace.hex -o trace.csv
  tracewell convert trace.trx -o folder/ --format ctf
  tracewell convert trace.trx --from 10ms --to 20ms -o part.trx")]
pub(crate) struct Convert {
    /// A trace, or the parts of one (--join); - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write to this file; - is standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// Choose the output format, regardless of the extension of OUT
    #[arg(long, value_name = "NAME", value_parser = Suggested::exports())]
    format: Option<String>,

    /// Set an option of the output format, for example order=big; see `tracewell formats`
    #[arg(short = 'T', value_name = "KEY=VALUE", hide_possible_values = true)]
    #[arg(value_parser = Suggested::export_options())]
    format_options: Vec<String>,

    #[command(flatten)]
    threads: ThreadArgs,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    input: InputArgs,
}

impl Convert {
    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        if self.files.len() > 1 && !self.input.join {
            return Err(Failure::usage("several inputs need --join"));
        }
        let export = self.export()?;
        let mut options = Options::default();
        for option in &self.format_options {
            refuse_selection(option)?;
            options.add(option).map_err(Failure::usage)?;
        }
        let selection = self.selection.without_format()?;
        let threads = self.threads.number();
        // Several threads can write these formats. In every other format, the output for an event
        // depends on all earlier events.
        let is_text = ["jsonl", "tsv", "csv"].contains(&export.name);
        let why = "only jsonl, tsv and csv are written by several threads";
        warn_ineffective(&[(threads > 0 && !is_text, "--threads", why)]);
        let export = (export, &options);
        write(&self.files, &self.input, &self.output, export, &selection, threads)
    }

    fn export(&self) -> Result<&'static Export, Failure> {
        let known = || EXPORTS.iter().map(|export| export.name).collect::<Vec<_>>().join(", ");
        // In earlier versions, --to named the format.
        if let Some(export) = self.selection.format() {
            let name = export.name;
            if let Some(format) = &self.format {
                let message = format!("--to {name}: expected a time; --format chooses {format}");
                return Err(Failure::usage(message));
            }
            warn!("--to {name}: use --format {name}; --to is a time");
            return Ok(export);
        }
        if let Some(name) = &self.format {
            let meant = || did_you_mean(nearest(name, EXPORTS.iter().map(|export| export.name)));
            let message =
                || format!("cannot write format '{name}': expected one of {}{}", known(), meant());
            return export::by_name(name).ok_or_else(|| Failure::usage(message()));
        }
        let extension = self.output.extension().and_then(|extension| extension.to_str());
        extension.and_then(export::by_extension).ok_or_else(|| {
            let output = shown_path(&self.output);
            Failure::usage(format!(
                "cannot tell the format from '{output}': use --format with one of {}",
                known()
            ))
        })
    }
}

/// Refuses an option that selected events in earlier versions, and names its replacement.
fn refuse_selection(option: &str) -> Result<(), Failure> {
    let Some((key, value)) = option.split_once('=') else { return Ok(()) };
    let new = match key.trim() {
        "from" => "--from",
        "until" => "--to",
        "context" => "--context",
        "event" => "--event",
        "object" => "--object",
        _ => return Ok(()),
    };
    let several = if value.contains(',') { ", once for each name" } else { "" };
    Err(Failure::usage(format!("-T {option}: use {new} {value}{several}")))
}

/// Reads the inputs as one trace and writes it in a format.
fn write(
    files: &[PathBuf],
    args: &InputArgs,
    output: &Path,
    (export, options): (&Export, &Options),
    selection: &Selection,
    threads: usize,
) -> Result<Outcome, Failure> {
    let settings = args.configured(args.settings(files)?, files, files, &mut Configs::default())?;
    let mut input = args.open(files, settings)?;
    args.warn_ineffective(&input, files.len());
    input.select(selection.clone());
    input.set_threads(threads);
    progress::watch(&mut input);
    let name = |path: &Path| match path.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => shown_path(path).to_string(),
    };
    let names = ExportNames { input: name(input.path()), output: name(output) };
    // If the export fails, it leaves no partial file, and an existing file is unchanged.
    let inputs = args.inputs(files);
    let failed = |error| Failure::export(output, error);
    let trace = match export.output {
        Output::File(write) => output::write_whole(output, &inputs, |out| {
            write(&mut input, options, &names, out).map_err(failed)
        })?,
        Output::Folder(_) if output == Path::new("-") => {
            let message = format!("{} is a folder: name it with -o", export.name);
            return Err(Failure::usage(message));
        }
        Output::Folder(write) => output::write_folder(output, &inputs, |folder| {
            write(&mut input, options, &names, folder).map_err(failed)
        })?,
    };
    Ok(report_diagnostics(input.path(), &trace.diagnostics, args.verbose))
}

/// Merges the entries of AIX logs and writes them as one log.
pub(super) fn merged_log(
    files: &[PathBuf],
    args: &InputArgs,
    output: Option<&Path>,
) -> Result<Outcome, Failure> {
    let args = InputArgs { join: files.len() > 1, ..args.clone() };
    let output = output.unwrap_or(Path::new("-"));
    let export = (&export::aix::EXPORT, &Options::default());
    write(files, &args, output, export, &Selection::default(), 0)
}
