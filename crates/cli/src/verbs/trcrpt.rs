//! `tracewell trcrpt`: the command line of AIX's trcrpt. A link named `trcrpt` to the program is the
//! same.

use std::path::PathBuf;

use clap::{ArgAction, Args};
use tracewell::report::trcrpt::Options;
use tracewell::select::{Bound, Selection};
use tracewell::text::shown_path;

use super::template::list::Form;
use crate::args::{InputArgs, tell_ineffective};
use crate::outcome::{Failure, Outcome, tell};
use crate::trace_report::{self, Request, known_groups};

/// Print a report, with the options of AIX's trcrpt
///
/// For people and scripts that know trcrpt; `tracewell report` does the same and more. Its logs are
/// Tracewell's (TWX1): the layout of AIX's own is not public.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub(crate) struct Trcrpt {
    /// Logs [/var/adm/ras/trcfile]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,

    /// Only check the template file
    #[arg(short = 'c')]
    check: bool,

    /// Processors: 0,2-3 or all
    #[arg(short = 'C', value_name = "LIST")]
    cpus: Option<String>,

    /// Only these hook ids
    #[arg(short = 'd', value_name = "LIST")]
    ids: Vec<String>,

    /// Only these groups of hook ids
    #[arg(short = 'D', value_name = "LIST")]
    groups: Vec<String>,

    /// Not after this date, mmddhhmmssyy
    #[arg(short = 'e', value_name = "DATE", value_parser = trace_report::date)]
    end: Option<Bound>,

    /// List the groups
    #[arg(short = 'G')]
    list_groups: bool,

    /// Print no heading
    #[arg(short = 'h')]
    no_heading: bool,

    /// List the templates: id and label
    #[arg(short = 'j')]
    list: bool,

    /// Leave these hook ids out
    #[arg(short = 'k', value_name = "LIST")]
    without_ids: Vec<String>,

    /// Leave these groups of hook ids out
    #[arg(short = 'K', value_name = "LIST")]
    without_groups: Vec<String>,

    /// Merge the logs in order of time
    #[arg(short = 'm')]
    merge: bool,

    /// Write the report to this file
    #[arg(short = 'o', value_name = "FILE")]
    output: Option<PathBuf>,

    /// Columns: exec=on,pid=on,...
    #[arg(short = 'O', value_name = "LIST")]
    options: Vec<String>,

    /// Only these processes: ids or names
    #[arg(short = 'p', value_name = "LIST")]
    processes: Vec<String>,

    /// Not before this date, mmddhhmmssyy
    #[arg(short = 's', value_name = "DATE", value_parser = trace_report::date)]
    start: Option<Bound>,

    /// Template file
    #[arg(short = 't', value_name = "FILE")]
    template: Option<PathBuf>,

    /// Only these threads
    #[arg(short = 'T', value_name = "LIST")]
    threads: Vec<String>,

    /// Name files as they are opened
    #[arg(short = 'v')]
    verbose: bool,

    /// Columns for execution names and system calls: exec, pid and svc on
    #[arg(short = 'x')]
    calls: bool,

    /// Write the merged entries as a log instead of a report
    #[arg(short = 'r')]
    raw: bool,

    /// Only count the errors of the template file
    #[arg(short = 'q')]
    quiet: bool,

    /// Not available: kernel name lists
    #[arg(short = 'n', value_name = "FILE")]
    name_list: Option<String>,

    /// Not available: component trace
    #[arg(short = 'l', value_name = "LIST")]
    components: Option<String>,

    /// Not available: lightweight memory trace
    #[arg(short = 'M', value_name = "LIST")]
    memory_trace: Option<String>,

    /// Not available: workload partitions
    #[arg(short = '@', value_name = "LIST")]
    partitions: Option<String>,
}

/// Where AIX keeps the log.
const USUAL_LOG: &str = "/var/adm/ras/trcfile";
/// Where AIX keeps the templates.
const USUAL_TEMPLATES: &str = "/etc/trcfmt";

impl Trcrpt {
    pub(crate) fn run(&self) -> Outcome {
        // The exit status of trcrpt: 1 for usage and templates, 2 for a damaged log.
        match self.tried().unwrap_or_else(Failure::tell) {
            Outcome::Done => Outcome::Done,
            Outcome::Damaged => Outcome::Usage,
            _ => Outcome::Wrong,
        }
    }

    fn tried(&self) -> Result<Outcome, Failure> {
        self.refuse()?;
        if self.list_groups {
            return Ok(trace_report::print_groups(&known_groups(None)?));
        }
        let templates: Vec<_> = self.templates();
        if self.quiet {
            return super::template::check::count(&templates);
        }
        if self.check {
            return super::template::check::files(&templates);
        }
        if self.list {
            return super::template::list::files(&templates, Form::Trcrpt);
        }
        let mut files = self.files.clone();
        if files.is_empty() {
            files.push(USUAL_LOG.into());
        }
        if self.verbose {
            files.iter().chain(&templates).for_each(|path| tell!("{}", shown_path(path)));
        }
        let input = InputArgs { join: self.merge && files.len() > 1, ..InputArgs::default() };
        if self.raw {
            self.tell_ineffective();
            return super::convert::merged_log(&files, &input, self.output.as_deref());
        }
        let mut inputs = input.inputs(&files);
        inputs.add(&templates);
        for lists in [&self.ids, &self.without_ids, &self.processes, &self.threads] {
            inputs.add(trace_report::files_in(lists));
        }
        let request = Request {
            inputs,
            files,
            templates,
            options: self.report_options()?,
            selection: self.selection()?,
            without_heading: self.no_heading,
            output: self.output.clone(),
            ..Request::default()
        };
        Ok(request.run(&input))
    }

    /// Tells which options have no effect with -r.
    fn tell_ineffective(&self) {
        let lists = [&self.ids, &self.groups, &self.without_ids, &self.without_groups];
        let whom = [&self.processes, &self.threads].iter().any(|list| !list.is_empty());
        let selected = whom || lists.iter().any(|list| !list.is_empty()) || self.cpus.is_some();
        let timed = self.start.is_some() || self.end.is_some();
        let all = "-r writes all entries";
        let plain = "-r writes entries as they are";
        tell_ineffective(&[
            (selected, "a selection (-C, -d, -D, -k, -K, -p, -T)", all),
            (timed, "a time (-s, -e)", all),
            (self.template.is_some(), "-t", plain),
            (!self.options.is_empty(), "-O", plain),
            (self.calls, "-x", plain),
            (self.no_heading, "-h", plain),
        ]);
    }

    /// What is asked for that only AIX has.
    fn refuse(&self) -> Result<(), Failure> {
        let asked = [
            ("-n", "kernel name lists", &self.name_list),
            ("-l", "component traces", &self.components),
            ("-M", "lightweight memory traces", &self.memory_trace),
            ("-@", "workload partitions", &self.partitions),
        ];
        match asked.iter().find(|(.., value)| value.is_some()) {
            Some((flag, what, _)) => Err(Failure::usage(format!(
                "{flag}: {what} exist on AIX only; their formats are not public"
            ))),
            None => Ok(()),
        }
    }

    /// The template file that was named, or AIX's where this is AIX.
    fn templates(&self) -> Vec<PathBuf> {
        let usual = PathBuf::from(USUAL_TEMPLATES);
        let named = self.template.clone().into_iter();
        named.chain(usual.is_file().then_some(usual)).take(1).collect()
    }

    fn report_options(&self) -> Result<Options, Failure> {
        let mut options: Options = self.options.join(",").parse().map_err(Failure::usage)?;
        if self.calls {
            (options.exec, options.pid, options.svc) = (true, true, true);
        }
        Ok(options)
    }

    fn selection(&self) -> Result<Selection, Failure> {
        let groups = known_groups(None)?;
        let mut selection = Selection { from: self.start, to: self.end, ..Selection::default() };
        selection.ids = trace_report::ids(&self.ids)?;
        selection.ids.extend(trace_report::ids_of_groups(&self.groups, &groups)?);
        selection.without_ids = trace_report::ids(&self.without_ids)?;
        selection.without_ids.extend(trace_report::ids_of_groups(&self.without_groups, &groups)?);
        selection.cpus =
            self.cpus.as_deref().map(trace_report::cpus).transpose()?.unwrap_or_default();
        for list in &self.processes {
            selection.processes.extend(trace_report::list(list)?);
        }
        for list in &self.threads {
            selection.threads.extend(trace_report::list(list)?);
        }
        Ok(selection)
    }
}
