//! `tracewell trcrpt`: the command line of AIX's trcrpt. A link to the program `tracewell` with the
//! name `trcrpt` runs this verb.
//!
//! It uses AIX's option letters, even if `report` uses the same letters for other options. For
//! example, `-O` selects columns here, as in scripts for AIX, but in `report` it sets options of
//! the format. `report` has `--columns` instead.

use std::path::PathBuf;

use clap::{ArgAction, Args};
use tracewell::report::trcrpt::Options;
use tracewell::select::{NumberList, Selection};
use tracewell::text::shown_path;

use super::template::list::Form;
use crate::args::{InputArgs, cpus, warn_ineffective};
use crate::hook_selection::{Elements, HookSelection, files_in, lists_of, print_groups};
use crate::outcome::{Failure, Outcome, print_message};
use crate::shipped::TemplatePath;
use crate::trace_report::Request;

/// Print a report, with the options of AIX's trcrpt
///
/// For people and scripts that know trcrpt; `tracewell report` does the same and more. Both read
/// Tracewell's logs (TWX1) but no logs of AIX, because their layout is not public.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub(crate) struct Trcrpt {
    /// Logs to report, in Tracewell's form (TWX1)
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,

    #[command(flatten)]
    selection: HookSelection,

    /// Show only events of these processors: 0,2-3 or all
    #[arg(short = 'C', value_name = "LIST")]
    cpus: Option<String>,

    /// Show only events of these threads: names or keys
    #[arg(short = 'T', value_name = "LIST")]
    threads: Vec<String>,

    /// Only check the template file
    #[arg(short = 'c')]
    check: bool,

    /// Omit the heading of the report
    #[arg(short = 'h')]
    no_heading: bool,

    /// List the templates: id and label
    #[arg(short = 'j')]
    list: bool,

    /// Merge the logs in chronological order
    #[arg(short = 'm')]
    merge: bool,

    /// Write the report to this file
    #[arg(short = 'o', value_name = "FILE")]
    output: Option<PathBuf>,

    /// Choose the columns: exec=on,pid=on,...
    #[arg(short = 'O', value_name = "LIST")]
    columns: Vec<String>,

    /// Format events by the templates of this file, or by shipped ones such as @aix. Of two
    /// templates for an event, the later one applies
    #[arg(short = 't', value_name = "FILE")]
    #[arg(value_parser = TemplatePath, hide_possible_values = true)]
    templates: Vec<PathBuf>,

    /// Print the names of files when they are opened
    #[arg(short = 'v')]
    verbose: bool,

    /// Add columns for program names and system calls: exec, pid and svc on
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

    /// Not available: component traces
    #[arg(short = 'l', value_name = "LIST")]
    components: Option<String>,

    /// Not available: lightweight memory traces
    #[arg(short = 'M', value_name = "LIST")]
    memory_trace: Option<String>,

    /// Not available: workload partitions
    #[arg(short = '@', value_name = "LIST")]
    partitions: Option<String>,
}

/// The path at which AIX stores the log.
const USUAL_LOG: &str = "/var/adm/ras/trcfile";
/// The path at which AIX stores the templates.
const USUAL_TEMPLATES: &str = "/etc/trcfmt";

impl Trcrpt {
    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        // The exit status of trcrpt: 1 for usage and templates, 2 for a damaged log.
        Ok(match self.try_run().unwrap_or_else(Failure::report) {
            Outcome::Done => Outcome::Done,
            Outcome::Damaged => Outcome::Usage,
            _ => Outcome::Wrong,
        })
    }

    fn try_run(&self) -> Result<Outcome, Failure> {
        self.refuse()?;
        // Each of these flags replaces the report. If several of them are given, the first one in
        // this function applies.
        if self.selection.list_groups {
            return print_groups(None);
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
            files
                .iter()
                .chain(&templates)
                .for_each(|path| print_message(&shown_path(path).to_string()));
        }
        // trcrpt merges logs only with -m, and a single log needs no merging.
        let join = self.merge && files.len() > 1;
        // AIX's command has no configuration file.
        let input = InputArgs { join, no_config: true, expects_aix: true, ..InputArgs::default() };
        if self.raw {
            self.warn_ineffective();
            return super::convert::merged_log(&files, &input, self.output.as_deref());
        }
        let mut inputs = input.inputs(&files);
        inputs.add(&templates);
        self.selection.add_files(&mut inputs);
        inputs.add(files_in(&self.threads));
        let request = Request {
            inputs,
            files,
            templates,
            options: self.report_options()?,
            selection: self.selection()?,
            without_heading: self.no_heading,
            output: self.output.clone(),
            // trcrpt has no options for the width of lines and the number of threads.
            ..Request::default()
        };
        Ok(request.run(&input))
    }

    /// Warns of options that have no effect with -r.
    fn warn_ineffective(&self) {
        let all = "-r writes all entries";
        let plain = "-r writes entries as they are";
        warn_ineffective(&[
            (self.selects(), "a selection (-C, -d, -D, -k, -K, -p, -T)", all),
            (self.selection.has_dates(), "a time (-s, -e)", all),
            (!self.templates.is_empty(), "-t", plain),
            (!self.columns.is_empty(), "-O", plain),
            (self.calls, "-x", plain),
            (self.no_heading, "-h", plain),
        ]);
    }

    /// Refuses options that are possible only on AIX.
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

    /// Returns the template files that the user named, or AIX's own template file if it exists.
    fn templates(&self) -> Vec<PathBuf> {
        let usual = PathBuf::from(USUAL_TEMPLATES);
        match self.templates.is_empty() && usual.is_file() {
            true => vec![usual],
            false => self.templates.clone(),
        }
    }

    fn report_options(&self) -> Result<Options, Failure> {
        let parsed = self.columns.join(",").parse();
        let mut options: Options =
            parsed.map_err(|error| Failure::usage(format!("-O: {error}")))?;
        if self.calls {
            (options.exec, options.pid, options.svc) = (true, true, true);
        }
        Ok(options)
    }

    /// Returns true if an option other than a date selects events.
    fn selects(&self) -> bool {
        self.selection.is_any() || self.cpus.is_some() || !self.threads.is_empty()
    }

    fn selection(&self) -> Result<Selection, Failure> {
        let mut selection = Selection {
            cpus: self
                .cpus
                .as_deref()
                .map_or(Ok(NumberList::default()), |list| cpus("-C", list))?,
            threads: lists_of(&self.threads)?,
            ..Selection::default()
        };
        self.selection.add_to(&mut selection, Elements::Hooks, None)?;
        Ok(selection)
    }
}
