//! `tracewell report`: text for people.

use std::path::PathBuf;

use clap::{Arg, Args, ValueEnum};
use tracewell::format::ReportStyle;
use tracewell::input::Input;
use tracewell::model::Trace;
use tracewell::report::trcrpt::{self, OptionError};
use tracewell::report::{Layout as TextLayout, ReportOptions};
use tracewell::select::Selection;
use tracewell::template::Program;
use tracewell::text::TimeForm;

use super::template::list::Form;
use super::{babeltrace, for_each_file, read_selected, title};
use crate::args::{InputArgs, SelectionArgs, ThreadArgs, warn_ineffective};
use crate::dates::TimeStyle;
use crate::hook_selection::{Elements, HookSelection, print_groups};
use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome};
use crate::screen;
use crate::shipped::TemplatePath;
use crate::trace_report::Request;

/// Print events as text for people
///
/// One aligned line per event: time, context, priority, event, decoded arguments. A `>` marks a
/// context that has just taken over the processor. The report marks where events are missing; a
/// summary follows.
///
/// With a template file (-t), and for AIX traces, the report has the layout of AIX's trcrpt: a
/// heading, and for each event its id, its times, and the text of its template, in one of four
/// columns.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell report -O rate=100MHz trace.trx
  tracewell report --context low --context high trace.trx
  tracewell report --object 'main queue' --tail 50 trace.trx
  tracewell report --time absolute --from 2026-03-02T09:00 trace.twx
  tracewell report -t my.fmt --columns exec=on,pid=on trace.twx")]
#[command(mut_args = hide_rare)]
pub(crate) struct Report {
    /// Traces; - is standard input
    #[arg(required_unless_present_any = ["list", "list_groups", "check"], value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten, next_help_heading = SELECTION_OF_TRCRPT)]
    hooks: HookSelection,

    /// The value of `-T`, which selects threads in trcrpt but not here.
    #[arg(short = 'T', value_name = "LIST", hide = true)]
    old_threads: Vec<String>,

    #[command(flatten, next_help_heading = LAYOUT)]
    templated: TemplatedArgs,

    #[command(flatten)]
    input: InputArgs,
}

const SELECTION_OF_TRCRPT: &str = "Selection as in trcrpt";
const LAYOUT: &str = "Layout";

/// The layout of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Layout {
    /// trcrpt for AIX traces, or if an option of trcrpt is given; otherwise lines
    Auto,
    /// One aligned line per event
    Lines,
    /// The layout of AIX's trcrpt
    Trcrpt,
    /// The text that babeltrace2 --clock-gmt --clock-date prints for all events of a CTF trace
    Babeltrace,
}

/// The options of the layout trcrpt.
#[derive(Debug, Args)]
struct TemplatedArgs {
    /// Format events by the templates of this file, or by shipped ones such as @threadx; may be
    /// repeated, and later files override earlier ones: -t @aix -t my.fmt adds to the shipped
    /// templates of AIX
    #[arg(short, long = "template", value_name = "FILE")]
    #[arg(value_parser = TemplatePath, hide_possible_values = true)]
    templates: Vec<PathBuf>,

    /// Choose the layout of the report
    #[arg(long, value_enum, default_value_t = Layout::Auto)]
    layout: Layout,

    /// Set the form of times in the layout lines
    #[arg(long, value_enum, value_name = "FORM")]
    time: Option<TimeStyle>,

    /// Choose the columns of the trcrpt layout, for example exec=on,pid=on
    ///
    /// The columns are exec, pid, tid, svc, cpuid and ids (on or off); timestamp (0 elapsed and
    /// delta, 1 short, 2 microseconds, 3 none, 4 time of day); 2line, hist (counts only), pagesize,
    /// reportedcpus, starttime and endtime (seconds), and tmplt.
    #[arg(long, value_name = "LIST")]
    columns: Vec<String>,

    /// Read groups from this file, one per line: name: description: id,id,...
    #[arg(long, value_name = "FILE")]
    group_file: Option<PathBuf>,

    /// Omit the heading of the report
    #[arg(long)]
    no_heading: bool,

    /// List the templates: id, version, label
    #[arg(short = 'j', long)]
    list: bool,

    /// Only check the template files
    #[arg(short = 'c', long)]
    check: bool,

    /// Write the report to this file
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    threads: ThreadArgs,
}

/// Hides an option in the short help if only users of AIX's trcrpt need the option.
fn hide_rare(option: Arg) -> Arg {
    let is_common = ["templates", "layout", "output"].contains(&option.get_id().as_str());
    let is_of_trcrpt = matches!(option.get_help_heading(), Some(SELECTION_OF_TRCRPT | LAYOUT));
    let is_hidden = option.is_hide_short_help_set() || (is_of_trcrpt && !is_common);
    option.hide_short_help(is_hidden)
}

impl Report {
    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        let args = &self.templated;
        if let Some(threads) = self.old_threads.first() {
            let message =
                format!("-T {threads}: use --context NAME; only trcrpt selects threads by -T");
            return Err(Failure::usage(message));
        }
        self.warn_ineffective();
        if self.hooks.list_groups {
            return print_groups(args.group_file.as_deref());
        }
        if args.check {
            return super::template::check::files(&args.templates);
        }
        if args.list {
            return super::template::list::files(&args.templates, Form::Whole);
        }
        let options = self.columns()?;
        let request = Request {
            files: self.files.clone(),
            templates: self.templates()?,
            options,
            selection: self.whole_selection()?,
            without_heading: args.no_heading,
            threads: args.threads.number(),
            output: args.output.clone(),
            inputs: self.inputs(),
        };
        Ok(match args.layout {
            // If an option exists only in the layout trcrpt, it also selects this layout.
            Layout::Auto if !request.is_special() && args.time.is_some() => self.lines(&request)?,
            Layout::Auto if !request.is_special() => self.by_format(&request)?,
            Layout::Auto | Layout::Trcrpt => {
                self.warn_ineffective_in(true, &request);
                request.run(&self.input)
            }
            Layout::Lines => {
                self.warn_ineffective_in(false, &request);
                self.lines(&request)?
            }
            Layout::Babeltrace => {
                self.refuse_in_babeltrace(&request)?;
                let path = request.output_path();
                request.write(|out| babeltrace::files(&self.files, &self.input, path, out))
            }
        })
    }

    /// Refuses options that the layout `babeltrace` does not support.
    fn refuse_in_babeltrace(&self, request: &Request) -> Result<(), Failure> {
        let args = &self.templated;
        let is_formed = args.time.is_some()
            || args.threads.number() > 0
            || args.no_heading
            || !args.templates.is_empty()
            || request.options != trcrpt::Options::default();
        if self.selection.is_any() || is_formed || request.is_special() {
            let message = "the layout babeltrace prints all events of CTF traces, and has no \
                           options that select or form events";
            return Err(Failure::usage(format!("--layout babeltrace: {message}")));
        }
        Ok(())
    }

    /// Warns of options that have no effect because of other options.
    fn warn_ineffective(&self) {
        let args = &self.templated;
        // With these flags, the command ends before it opens a trace.
        let instead = self.hooks.list_groups || args.check || args.list;
        let shows = self.selection.is_any() || args.output.is_some() || args.time.is_some();
        warn_ineffective(&[
            (
                args.group_file.is_some() && !self.hooks.names_groups() && !self.hooks.list_groups,
                "--group-file",
                "neither -D nor -K names a group",
            ),
            (instead && !self.files.is_empty(), "FILE", "-G, -j and -c read no trace"),
            (
                instead && shows,
                "an option that selects or shows events",
                "-G, -j and -c print no events",
            ),
        ]);
    }

    /// Warns of options that have no effect in the chosen layout.
    fn warn_ineffective_in(&self, templated: bool, request: &Request) {
        let args = &self.templated;
        let colored = screen::demands_color();
        let lines = "it belongs to the layout trcrpt, and this report has the layout lines";
        warn_ineffective(&[
            (!templated && args.no_heading, "--no-heading", lines),
            (!templated && !args.templates.is_empty(), "-t", lines),
            (!templated && request.options != trcrpt::Options::default(), "--columns", lines),
            (
                templated && args.time.is_some(),
                "--time",
                "the layout trcrpt uses --columns timestamp=0 to 4",
            ),
            (templated && colored, "--color", "the layout trcrpt uses no colours"),
            (!templated && colored && args.output.is_some(), "--color", "a file has no colours"),
            (
                self.selection.starts() && request.options.start_ns.is_some(),
                "--columns starttime",
                "--from sets the beginning",
            ),
            (
                self.selection.ends() && request.options.end_ns.is_some(),
                "--columns endtime",
                "--to sets the end",
            ),
        ]);
    }

    /// Returns the template files that `-t` names. Without `-t`, returns the template files of the
    /// configuration file if the layout can be trcrpt.
    fn templates(&self) -> Result<Vec<PathBuf>, Failure> {
        let args = &self.templated;
        let is_lines = match args.layout {
            Layout::Auto => args.time.is_some(),
            Layout::Lines | Layout::Babeltrace => true,
            Layout::Trcrpt => false,
        };
        if is_lines || !args.templates.is_empty() {
            return Ok(args.templates.clone());
        }
        self.input.shared(&self.files, "-t FILE", |project| project.templates().to_vec())
    }

    /// Returns the columns in `--columns`. If `-O` names a column, as in earlier versions, the
    /// error suggests `--columns`.
    fn columns(&self) -> Result<trcrpt::Options, Failure> {
        for text in &self.input.options {
            // If `--columns` accepts the text, the user probably means the `-O` of earlier
            // versions.
            if !matches!(text.parse::<trcrpt::Options>(), Err(OptionError::Unknown(_))) {
                let message = format!("-O {text}: not an option of a format; use --columns {text}");
                return Err(Failure::usage(message));
            }
        }
        let columns = self.templated.columns.join(",");
        columns.parse().map_err(|error| Failure::usage(format!("--columns: {error}")))
    }

    fn whole_selection(&self) -> Result<Selection, Failure> {
        let shows_dates = self.templated.time == Some(TimeStyle::Absolute);
        let mut selection = self.selection.selection_showing(shows_dates)?;
        let group_file = self.templated.group_file.as_deref();
        self.hooks.add_to(&mut selection, Elements::HooksAndNames, group_file)?;
        Ok(selection)
    }

    /// Returns all files that are read.
    fn inputs(&self) -> Inputs {
        let mut inputs = self.input.inputs(&self.files);
        inputs.add(&self.templated.templates);
        inputs.add(&self.templated.group_file);
        self.hooks.add_files(&mut inputs);
        inputs
    }

    /// Prints all traces in the layout that the format of the first trace prefers.
    fn by_format(&self, request: &Request) -> Result<Outcome, Failure> {
        // The request contains no templates, so each trace is formatted by the templates of its
        // format.
        let (no_templates, mut chosen) = (Program::default(), None);
        let times = self.times()?;
        Ok(request.write(|out| {
            for_each_file(&self.files, &self.input, |input| {
                let templated = *chosen.get_or_insert_with(|| {
                    let templated = input.format().report == ReportStyle::Trcrpt;
                    self.warn_ineffective_in(templated, request);
                    templated
                });
                if templated {
                    request.print(input, &self.input, &no_templates, out)
                } else {
                    self.lines_of(input, request, &times, out)
                }
            })
        }))
    }

    /// Prints one aligned line per event.
    fn lines(&self, request: &Request) -> Result<Outcome, Failure> {
        let times = self.times()?;
        Ok(request.write(|out| {
            for_each_file(&self.files, &self.input, |input| {
                self.lines_of(input, request, &times, out)
            })
        }))
    }

    /// Returns the form in which times are shown.
    fn times(&self) -> Result<TimeForm, Failure> {
        let style = self.templated.time.unwrap_or(TimeStyle::Relative);
        style.form(self.selection.zone())
    }

    fn lines_of(
        &self,
        input: &mut Input,
        request: &Request,
        times: &TimeForm,
        out: &mut dyn std::io::Write,
    ) -> Result<Trace, Failure> {
        input.set_threads(request.threads);
        let options = ReportOptions {
            layout: TextLayout {
                color: screen::has_color() && request.output.is_none(),
                width: request.width(),
            },
            title: title(&self.files, &self.input, input.path()),
            selection: request.selection.clone(),
            times: times.clone(),
            shows_details: self.input.verbose,
        };
        let mut report = tracewell::report::Report::new(out, options);
        let read = read_selected(input, &mut report, &request.selection);
        let mut trace = read.map_err(|error| Failure::reading(error, request.output_path()))?;
        request.selection.remark(&mut trace);
        Ok(trace)
    }
}
