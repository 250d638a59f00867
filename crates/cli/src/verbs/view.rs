//! `tracewell view`: draws a chart that shows which context ran when.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tracewell::analysis::tracks::TrackBuilder;
use tracewell::report::chart::{ChartOptions, MIN_WIDTH, chart};
use tracewell::select::Selection;
use tracewell::text::shown_path;

use super::{for_each_file, title};
use crate::args::{InputArgs, SelectionArgs};
use crate::outcome::{Failure, Outcome, warn};
use crate::{output, screen};

/// Draw a chart of cores, contexts, locks, state machines and queues over time, as text
///
/// A row for each core, context, mutex, semaphore, state machine and queue; a column for each part
/// of the time. A context is running, ready, waiting or sleeping, if the trace records these
/// states; its letter marks the locks that it holds. If a trace does not record when tasks get the
/// processor, the row of each context shows numbers of events.
///
/// If a state begins before the range or ends after it, only its part within the range is drawn.
/// --context draws only the given contexts; --cpu draws only the given cores and the contexts that
/// ran on them. States are derived from all events, so options that select single events are
/// refused.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell view trace.trx
  tracewell view -O rate=100MHz --from 20ms --to 22ms trace.trx
  tracewell view --context 'net*' --width 160 trace.trx
  tracewell view --time absolute --utc trace.twx
  tracewell view --ascii trace.trx > chart.txt")]
pub(crate) struct View {
    /// Traces; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Set the form of the times above the chart
    #[arg(long, value_enum, default_value_t = AxisTime::Relative)]
    time: AxisTime,

    /// Draw with ASCII characters only
    #[arg(long)]
    ascii: bool,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    input: InputArgs,
}

/// The form of times on the axis of a chart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum AxisTime {
    /// Since the first event of the trace
    Relative,
    /// The date or the time of day, if the trace contains its date of recording
    Absolute,
}

/// Width in columns of a chart that is written to a file or a pipe.
const WIDTH_OF_FILES: usize = 100;

/// Returns the width of the screen. Fails if the width that `--width` sets is too small for a
/// chart.
fn width() -> Result<usize, Failure> {
    match screen::chosen_width() {
        Some(width) if width < MIN_WIDTH => Err(Failure::usage(format!(
            "--width: a chart needs at least {MIN_WIDTH} columns, found {width}"
        ))),
        _ => Ok(screen::width().unwrap_or(WIDTH_OF_FILES)),
    }
}

impl View {
    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        if let Some(option) = self.selection.of_single_events().first() {
            return Err(Failure::usage(format!(
                "{option}: a chart cannot leave out single events, because its states are derived \
                 from all events: use --from, --to, --context or --cpu"
            )));
        }
        let shows_dates = self.time == AxisTime::Absolute;
        let selection = self.selection.selection_showing(shows_dates)?;
        let dates = shows_dates.then(|| self.selection.zone().zone()).transpose()?;
        let options = ChartOptions { width: width()?, ascii: self.ascii, selection, dates };
        let made = for_each_file(&self.files, &self.input, |input| {
            let mut builder = TrackBuilder::default();
            let trace = input.read(&mut builder)?;
            // The whole trace has been read, even if the chart ends earlier.
            let whole = Selection { to: None, ..options.selection.clone() };
            for warning in whole.unknown_names(&trace) {
                warn!("{}: {warning}", shown_path(input.path()));
            }
            let tracks = builder.finish(&trace);
            let text = chart(&trace, &tracks, &options)
                .map_err(|error| Failure::usage(error.to_string()))?;
            let title = title(&self.files, &self.input, input.path()).map(|title| title + "\n");
            let text = title.unwrap_or_default() + &text;
            output::stdout()
                .write_all(text.as_bytes())
                .map_err(|error| Failure::io(output::stdout_path(), &error))?;
            Ok(trace)
        });
        Ok(made.outcome)
    }
}
