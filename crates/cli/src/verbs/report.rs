//! `tracewell report`: text for people.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tracewell::input::Input;
use tracewell::model::Trace;
use tracewell::report::ReportOptions;
use tracewell::report::trcrpt::{self, OptionError};
use tracewell::select::{Bound, Selection};

use super::template::list::Form;
use super::{for_each_file, read_named, title};
use crate::args::{Color, InputArgs, SelectionArgs, tell_ineffective};
use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome};
use crate::output;
use crate::trace_report::{self, Request, known_groups};

/// Print what happened, for people
///
/// One aligned line an event: time, context, priority, event, decoded arguments. A `>` stands before
/// a context that took over. Missing events are marked in their place; a summary follows.
///
/// With a template file (-t), and for AIX traces, the report is that of AIX's trcrpt: a heading, and for
/// each event its id, times, and the text that its template makes, in the column of its level.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell report -O rate=100MHz trace.trx
  tracewell report --context low --context high trace.trx
  tracewell report --object 'main queue' --tail 50 trace.trx
  tracewell report -t my.fmt -O exec=on,pid=on trace.twx

Columns of a trcrpt report (-O name=value,...): exec, pid, tid, svc, cpuid, ids (on or off),
timestamp (0 elapsed and delta, 1 short, 2 microseconds, 3 none, 4 time of day), 2line, hist
(counts only), pagesize, reportedcpus, starttime, endtime (seconds), tmplt.")]
pub(crate) struct Report {
    /// Traces; - is standard input
    #[arg(required_unless_present_any = ["list", "list_groups", "check"], value_name = "FILE")]
    files: Vec<PathBuf>,

    /// When to use colour
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    color: Color,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    templated: TemplatedArgs,

    #[command(flatten)]
    input: InputArgs,
}

/// How a report looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Layout {
    /// That of trcrpt for AIX traces and with its options, lines otherwise
    Auto,
    /// One aligned line an event
    Lines,
    /// That of AIX's trcrpt
    Trcrpt,
}

/// What a report in trcrpt's manner can be asked for.
#[derive(Debug, Args)]
struct TemplatedArgs {
    /// Format events by the templates of this file; may be repeated, a later one wins
    #[arg(short, long = "template", value_name = "FILE")]
    templates: Vec<PathBuf>,

    /// How the report looks
    #[arg(long, value_enum, default_value_t = Layout::Auto)]
    layout: Layout,

    /// Only these events: hook ids such as 134 or 1*, other ids, names; an element may name a file with a list
    #[arg(short = 'd', long = "ids", value_name = "LIST")]
    ids: Vec<String>,

    /// Leave these events out
    #[arg(short = 'k', long = "without-ids", value_name = "LIST")]
    without_ids: Vec<String>,

    /// Only the hook ids of these groups
    #[arg(short = 'D', long = "groups", value_name = "LIST")]
    groups: Vec<String>,

    /// Leave the hook ids of these groups out
    #[arg(short = 'K', long = "without-groups", value_name = "LIST")]
    without_groups: Vec<String>,

    /// Groups, a line each: name: description: id,id,...
    #[arg(long, value_name = "FILE")]
    group_file: Option<PathBuf>,

    /// List the groups
    #[arg(short = 'G', long)]
    list_groups: bool,

    /// Only events of these processors: 0,2-3 or all
    #[arg(short = 'C', long, value_name = "LIST")]
    cpus: Option<String>,

    /// Only events of these processes: ids or names of programs
    #[arg(short = 'p', long = "processes", value_name = "LIST")]
    processes: Vec<String>,

    /// Only events of these threads: names or keys
    #[arg(short = 'T', long = "threads", value_name = "LIST")]
    threads: Vec<String>,

    /// Not before this date, mmddhhmmssyy
    #[arg(short = 's', long, value_name = "DATE", conflicts_with = "from", value_parser = trace_report::date)]
    start: Option<Bound>,

    /// Not after this date, mmddhhmmssyy
    #[arg(short = 'e', long, value_name = "DATE", conflicts_with = "to", value_parser = trace_report::date)]
    end: Option<Bound>,

    /// Print no heading
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

    /// Columns of a line (200, or those of the terminal)
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    width: usize,

    /// Threads that format, at most 256 (as many as there are processors)
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        value_parser = clap::value_parser!(u16).range(..=trcrpt::MAX_THREADS as i64)
    )]
    jobs: u16,
}

impl Report {
    pub(crate) fn run(&self) -> Outcome {
        self.tried().unwrap_or_else(Failure::tell)
    }

    fn tried(&self) -> Result<Outcome, Failure> {
        let args = &self.templated;
        self.tell_ineffective();
        if args.list_groups {
            return Ok(trace_report::print_groups(&known_groups(args.group_file.as_deref())?));
        }
        if args.check {
            return super::template::check::files(&args.templates);
        }
        if args.list {
            return super::template::list::files(&args.templates, Form::Whole);
        }
        let (options, input) = self.options()?;
        let request = Request {
            files: self.files.clone(),
            templates: args.templates.clone(),
            options,
            selection: self.whole_selection()?,
            without_heading: args.no_heading,
            width: args.width,
            threads: usize::from(args.jobs),
            output: args.output.clone(),
            inputs: self.inputs(),
        };
        let templated = match args.layout {
            Layout::Lines => false,
            Layout::Trcrpt => true,
            Layout::Auto => request.is_special() || self.is_aix(&input),
        };
        self.tell_ineffective_in(templated, &request);
        Ok(if templated { request.run(&input) } else { self.lines(&input, &request) })
    }

    /// Tells which options have no effect beside others.
    fn tell_ineffective(&self) {
        let args = &self.templated;
        let grouped = !(args.groups.is_empty() && args.without_groups.is_empty());
        let instead = args.list_groups || args.check || args.list;
        let shows = self.selection.is_any() || args.output.is_some() || args.width > 0;
        tell_ineffective(&[
            (
                args.group_file.is_some() && !grouped && !args.list_groups,
                "--group-file",
                "no group is named by -D or -K",
            ),
            (instead && !self.files.is_empty(), "FILE", "-G, -j and -c read no trace"),
            (instead && shows, "what selects and shows events", "-G, -j and -c show none"),
        ]);
    }

    /// Tells which options have no effect in a layout.
    fn tell_ineffective_in(&self, templated: bool, request: &Request) {
        let args = &self.templated;
        let colored = self.color == Color::Always;
        let lines = "it is of the layout trcrpt, and this one is lines";
        tell_ineffective(&[
            (!templated && args.width > 0, "--width", lines),
            (!templated && args.jobs > 0, "--jobs", lines),
            (!templated && args.no_heading, "--no-heading", lines),
            (!templated && !args.templates.is_empty(), "-t", lines),
            (!templated && request.options != trcrpt::Options::default(), "-O with columns", lines),
            (templated && colored, "--color", "the layout trcrpt has no colours"),
            (!templated && colored && args.output.is_some(), "--color", "a file has no colours"),
            (
                self.selection.starts() && request.options.start_ns.is_some(),
                "-O starttime",
                "--from says when to begin",
            ),
            (
                self.selection.ends() && request.options.end_ns.is_some(),
                "-O endtime",
                "--to says when to end",
            ),
        ]);
    }

    /// Divides what `-O` says into the columns of the report and what is said of the input.
    fn options(&self) -> Result<(trcrpt::Options, InputArgs), Failure> {
        let mut options = trcrpt::Options::default();
        let mut input = InputArgs { options: Vec::new(), ..self.input.clone() };
        for text in &self.input.options {
            match text.parse::<trcrpt::Options>() {
                // Read again into those before.
                Ok(_) => {
                    for (name, value) in text.split(',').filter_map(|option| option.split_once('='))
                    {
                        options.set(name.trim(), value.trim()).map_err(Failure::usage)?;
                    }
                }
                Err(OptionError::Unknown(_)) => input.options.push(text.clone()),
                Err(error) => return Err(Failure::usage(error)),
            }
        }
        Ok((options, input))
    }

    fn whole_selection(&self) -> Result<Selection, Failure> {
        let args = &self.templated;
        let groups = known_groups(args.group_file.as_deref())?;
        let mut selection = self.selection.selection();
        selection.ids = trace_report::events(&args.ids)?;
        selection.ids.extend(trace_report::ids_of_groups(&args.groups, &groups)?);
        selection.without_ids = trace_report::events(&args.without_ids)?;
        selection.without_ids.extend(trace_report::ids_of_groups(&args.without_groups, &groups)?);
        selection.cpus =
            args.cpus.as_deref().map(trace_report::cpus).transpose()?.unwrap_or_default();
        for (lists, all) in
            [(&args.processes, &mut selection.processes), (&args.threads, &mut selection.threads)]
        {
            for list in lists {
                all.extend(trace_report::list(list)?);
            }
        }
        selection.from = selection.from.or(args.start);
        selection.to = selection.to.or(args.end);
        Ok(selection)
    }

    /// Whether the first trace is one of AIX; what cannot be opened is told later.
    fn is_aix(&self, input: &InputArgs) -> bool {
        let aix = "aix";
        if let Some(format) = &input.format_in {
            return format == aix;
        }
        let is_file = |path: &&PathBuf| path.is_file();
        self.files.first().filter(is_file).is_some_and(|path| {
            let settings = tracewell::input::Settings::default();
            Input::open(path, settings).is_ok_and(|input| input.format().name == aix)
        })
    }

    /// All files that are read.
    fn inputs(&self) -> Inputs {
        let args = &self.templated;
        let mut inputs = self.input.inputs(&self.files);
        inputs.add(&args.templates);
        inputs.add(&args.group_file);
        for lists in [&args.ids, &args.without_ids, &args.processes, &args.threads] {
            inputs.add(trace_report::files_in(lists));
        }
        inputs
    }

    /// Prints one aligned line an event.
    fn lines(&self, input: &InputArgs, request: &Request) -> Outcome {
        request.write(|out| {
            for_each_file(&self.files, input, |input| self.lines_of(input, request, out))
        })
    }

    fn lines_of(
        &self,
        input: &mut Input,
        request: &Request,
        out: &mut dyn std::io::Write,
    ) -> Result<Trace, Failure> {
        let options = ReportOptions {
            color: self.color.on() && request.output.is_none(),
            title: title(&self.files, &self.input, input.path()),
            selection: request.selection.clone(),
        };
        let mut report = tracewell::report::Report::new(out, options);
        let mut trace = read_named(input, &mut report, request.selection.has_names())?;
        request.selection.check(&trace)?;
        let path = request.output.as_deref().unwrap_or(output::stdout_path());
        report.finish(&trace).map_err(|error| Failure::io(path, &error))?;
        request.selection.remark(&mut trace);
        Ok(trace)
    }
}
