//! `tracewell events`: prints every event for programs.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use tracewell::export::events::{ArgumentNames, Columns, EventFormat, EventWriter, LossesApart};
use tracewell::input::Input;
use tracewell::model::{Severity, Trace};
use tracewell::select::Selection;
use tracewell::text::TimeForm;

use super::{Made, for_each_file, read_selected, write_files};
use crate::args::{InputArgs, SelectionArgs, ThreadArgs};
use crate::dates::TimeStyle;
use crate::outcome::{Failure, Outcome};
use crate::output;

/// Print every event with typed arguments, for programs
///
/// One JSON object per line, or a table with a line of column names. A separate line shows where
/// events are missing: {"lost":N,"cause":...,"offset":...}.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell events trace.trx
  tracewell events --format tsv --context Interrupt trace.trx
  tracewell events --format csv --columns seq,time,event,args.* --losses lost.csv -o e.csv trace.trx
  tracewell events --time absolute --utc trace.twx
  tracewell events --event 'tx_mutex_*' --from 10ms --to 20ms -O rate=100MHz trace.trx")]
pub(crate) struct Events {
    /// Traces; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Set the form of the output
    #[arg(long, value_enum, default_value_t = Form::Jsonl)]
    format: Form,

    /// Write to this file; - is standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Choose the columns of tsv and csv: seq, ticks, time_ns, time, cpu, context, context_name,
    /// priority, id, name, event, args, text; arg:NAME and text:NAME are the value of an argument
    /// and its text, args.* is a column for each argument
    #[arg(long, value_name = "LIST")]
    columns: Option<String>,

    /// Add the field time after time_ns, and set its form: seconds since the first event, seconds
    /// since the previous event, or the date
    #[arg(long, value_enum)]
    time: Option<TimeStyle>,

    /// Show missing events inline, not at all (none), or in a separate file
    #[arg(long, value_name = "inline|none|FILE", default_value = "inline")]
    losses: String,

    /// Add args_text to JSON lines: the arguments as reports show them
    #[arg(long)]
    decoded: bool,

    #[command(flatten)]
    threads: ThreadArgs,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    input: InputArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    /// One JSON object per line
    Jsonl,
    /// Tab-separated values, one line per event
    Tsv,
    /// Comma-separated values, one line per event
    Csv,
}

impl Events {
    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        let shows_dates = self.time == Some(TimeStyle::Absolute);
        let lines = Lines {
            selection: self.selection.selection_showing(shows_dates)?,
            times: self.time.map(|style| style.form(self.selection.zone())).transpose()?,
            format: match self.format {
                Form::Jsonl => EventFormat::JsonLines,
                Form::Tsv => EventFormat::Tsv,
                Form::Csv => EventFormat::Csv,
            },
            columns: self.columns()?,
        };
        if self.decoded && lines.format != EventFormat::JsonLines {
            let message = "--decoded: needs --format jsonl; tables have --columns text:NAME";
            return Err(Failure::usage(message));
        }
        let inputs = self.input.inputs(&self.files);
        // Any word except these two is the path of a file for the losses.
        let path = match self.losses.as_str() {
            "inline" | "none" => return Ok(self.write(&lines, None)),
            path => Path::new(path),
        };
        // Two writers of one file would overwrite each other's output. Standard output is for
        // events only.
        if self.output.as_deref() == Some(path) || path == Path::new("-") {
            let message =
                "--losses: expected inline, none, or a file other than that of the events";
            return Err(Failure::usage(message));
        }
        output::write_whole(path, &inputs, |losses| match self.write(&lines, Some(losses)) {
            outcome @ (Outcome::Done | Outcome::Damaged) => Ok(outcome),
            failed => Err(Failure::reported(failed)),
        })
    }

    /// Writes the events of all files, and writes the losses of these files to `losses`.
    fn write(&self, lines: &Lines, mut losses: Option<&mut dyn Write>) -> Outcome {
        let path = self.output.as_deref();
        let inputs = self.input.inputs(&self.files);
        write_files(path, &inputs, |out| -> Made {
            for_each_file(&self.files, &self.input, |input| {
                input.set_threads(self.threads.number());
                let mut writer = self.writer(lines, input, &mut *out)?;
                let read = match &mut losses {
                    None => read_selected(input, &mut writer, &lines.selection),
                    Some(losses) => {
                        let mut apart = LossesApart::new(losses, lines.format, &mut writer);
                        read_selected(input, &mut apart, &lines.selection)
                    }
                };
                let path = path.unwrap_or(output::stdout_path());
                let mut trace = read.map_err(|error| Failure::reading(error, path))?;
                lines.selection.remark(&mut trace);
                writer.remark(&mut trace);
                // The output shows no losses, so a warning reports them.
                if self.losses == "none" {
                    warn_of_losses(&mut trace);
                }
                Ok(trace)
            })
        })
    }

    /// Returns a writer for the events of one input.
    fn writer<W: Write>(
        &self,
        lines: &Lines,
        input: &mut Input,
        out: W,
    ) -> Result<EventWriter<W>, Failure> {
        let mut writer = EventWriter::new(out, lines.format, lines.selection.clone());
        if let Some(columns) = &lines.columns {
            let mut columns = columns.clone();
            if columns.has_all_arguments() {
                columns.expand(&argument_names(input, &lines.selection)?);
            }
            writer = writer.with_columns(columns);
        }
        if let Some(times) = &lines.times {
            writer = writer.with_times(times.clone());
        }
        if self.decoded {
            writer = writer.with_decoded_arguments();
        }
        Ok(if self.losses == "none" { writer.without_losses() } else { writer })
    }

    /// Returns the chosen columns, if there are any.
    fn columns(&self) -> Result<Option<Columns>, Failure> {
        let Some(text) = &self.columns else { return Ok(None) };
        let usage = |message: &str| Failure::usage(format!("--columns: {message}"));
        if matches!(self.format, Form::Jsonl) {
            return Err(usage("needs --format tsv or csv; JSON lines contain all keys"));
        }
        let columns: Columns = text.parse().map_err(|error| usage(&format!("{error}")))?;
        if self.losses == "inline" && !columns.can_show_losses() {
            return Err(usage(
                "no column shows losses: add name or event, or choose --losses none or FILE",
            ));
        }
        if self.time.is_some() && !columns.has_time() {
            return Err(Failure::usage("--time: no column shows times: add time to --columns"));
        }
        if columns.has_all_arguments() && self.files.len() > 1 && !self.input.join {
            return Err(usage("args.*: expected one file, because the columns depend on it"));
        }
        Ok(Some(columns))
    }
}

/// The selected events and the form in which they are written.
struct Lines {
    selection: Selection,
    format: EventFormat,
    columns: Option<Columns>,
    /// The form of times, if an option chooses it.
    times: Option<TimeForm>,
}

/// Reads an input to find the names of the arguments in its events.
fn argument_names(input: &mut Input, selection: &Selection) -> Result<Vec<String>, Failure> {
    if input.is_stream() {
        let message = "--columns: args.* needs a file, because it is read twice; name the \
                       arguments with arg:NAME";
        return Err(Failure::usage(message));
    }
    let mut names = ArgumentNames::new(selection.clone());
    read_selected(input, &mut names, selection)?;
    Ok(names.into_names())
}

/// Adds a warning about losses that are not shown.
fn warn_of_losses(trace: &mut Trace) {
    let gaps: u64 = trace.losses.iter().map(|(_, count)| count.gaps).sum();
    if gaps > 0 {
        let events =
            trace.losses.events().map_or("an unknown number of".to_owned(), |n| n.to_string());
        let message =
            format!("--losses none: {events} missing events, at {gaps} places, are not shown");
        trace.diagnostics.add(Severity::Warning, None, message);
    }
}
