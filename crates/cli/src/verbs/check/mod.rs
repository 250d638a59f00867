//! `tracewell check`: compares traces with rules, and writes rules from a trace. `printer` prints
//! failures, `junit` collects them in a file, `baseline` reads the figures of earlier runs,
//! `measured` derives the figures of a trace for thresholds.

mod baseline;
mod junit;
mod measured;
mod printer;

use std::cell::OnceCell;
use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ValueEnum};
use tracewell::check::{MAX_STEPS, Rules, RulesWriter, WriteOptions};
use tracewell::input::Input;
use tracewell::model::Trace;
use tracewell::report::check;
use tracewell::select::{Selected, Selection, Share};
use tracewell::text::shown_path;

use self::junit::Suites;
use self::measured::Measured;
use self::printer::{FailurePrinter, Form, Results, Rulebook};
use super::follow::{StreamEnd, follow};
use super::{Made, for_each_file, title};
use crate::args::{InputArgs, SelectionArgs, warn_ineffective};
use crate::config::Project;
use crate::document::Document;
use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome};
use crate::{output, small_file, sources};

/// Check traces against rules: order of events, time limits, forbidden events, limits of figures
///
/// The rules are a text file, described in docs/checking.md. Prints the first violation of each
/// rule with the events around it. The exit status is 1 if a rule is violated or no rule is
/// decided, 2 if the rules have errors.
///
/// With --baseline, the figures in the rules are compared not only with limits, but also with the
/// figures of an earlier run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell check --strict -O rate=100MHz limits.rules trace.trx
  tracewell check --json expected.rules trace.bin | jq '.traces[].failures[].message'
  tracewell check --strict --quiet --junit results.xml expected.rules *.trx
  tracewell check --follow alarms.rules run.twl
  tracewell check --write expected.rules --event 'SM?*' trace.bin
  tracewell check --json limits.rules good.trx > good.json
  tracewell check --baseline good.json --tolerance 5% limits.rules new.trx

A rules file:
  # each post to `my` is followed by its own get of the same signal, within a time
  each SMA_FIFO(ao = my, sig = $s) then SMA_GET(ao = my, sig = $s) within 2 ms
  never QUE_FULL
  wait(\"log file\", control).max < 2 ms   # a limit of a figure; docs/checking.md lists them
  lost == 0

Use --strict in CI: without it, a rule that the trace does not decide is no failure.")]
pub(crate) struct Check {
    /// Rules file; - is standard input. May be omitted if tracewell.toml names the rules
    #[arg(value_name = "RULES")]
    rules: PathBuf,

    /// Traces; - is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// If RULES is omitted: the rules file that tracewell.toml names, and the traces.
    #[arg(skip)]
    configured: OnceCell<(PathBuf, Vec<PathBuf>)>,

    /// Set the form of the output
    #[arg(long, value_enum, default_value_t = OutputForm::Text, conflicts_with = "write")]
    format: OutputForm,

    /// Print one JSON document about all files: --format json
    #[arg(long, conflicts_with_all = ["write", "format"])]
    json: bool,

    /// Print nothing on standard output: the exit status is the result
    #[arg(short, long, conflicts_with_all = ["write", "format", "json"])]
    quiet: bool,

    /// Fail if the trace does not decide a rule, or if a name in the rules is unknown
    #[arg(long, conflicts_with = "write")]
    strict: bool,

    /// Compare figures also with this document, which check --json wrote for earlier runs
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    baseline: Option<PathBuf>,

    /// With --baseline: allow a figure to be worse by up to this share of its earlier value, for
    /// example 5%
    #[arg(long, value_name = "SHARE", requires = "baseline", default_value = "0%")]
    tolerance: Share,

    /// Also write the results of all rules to this file, as JUnit XML
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    junit: Option<PathBuf>,

    /// Follow a growing file or standard input until Ctrl-C, and print violations at once
    #[arg(short, long, conflicts_with = "write")]
    follow: bool,

    /// Write a new file RULES with rules that this trace passes, instead of checking traces
    #[arg(short, long)]
    write: bool,

    /// With --write: replace an existing file RULES
    #[arg(long, requires = "write")]
    force: bool,

    /// With --write: omit arguments of this name, because they differ from run to run
    #[arg(long, value_name = "ARGUMENT", requires = "write")]
    without: Vec<String>,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    input: InputArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum OutputForm {
    /// Failures with the events around them
    Text,
    /// One JSON document with all rules
    Json,
    /// Lines that GitHub shows next to the rules
    Github,
}

/// The message if no rule was decided.
const NOTHING_DECIDED: &str =
    "none of the rules was decided: the traces do not contain what the rules name";

/// The kinds of verdicts that occurred in a command. A field is true if its kind occurred.
#[derive(Debug, Default)]
struct Tally {
    /// A rule failed.
    failed: AtomicBool,
    /// A trace decided no rule.
    undecided: AtomicBool,
    /// A trace decided at least one of its rules, and none of them failed.
    held: AtomicBool,
}

impl Tally {
    /// Returns true if traces were checked and none of them decided a rule.
    fn decided_nothing(&self) -> bool {
        let Self { failed, undecided, held } = self;
        let [failed, undecided, held] =
            [failed, undecided, held].map(|of| of.load(Ordering::Relaxed));
        undecided && !failed && !held
    }
}

/// The JSON document and the JUnit file, if they were requested.
type Outputs<'r> = (Option<&'r Document>, Option<&'r Suites>);

impl Check {
    /// Returns true if the traces grow while they are read.
    pub(crate) fn follows(&self) -> bool {
        self.follow
    }

    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        self.find_rules()?;
        if self.write { self.written() } else { self.checked() }
    }

    /// Uses the rules of the configuration file if the arguments name only traces. This is the case
    /// if there is a single argument, or if the first argument is not a text file.
    fn find_rules(&self) -> Result<(), Failure> {
        let is_single = self.files.is_empty();
        if self.write && is_single {
            return Err(Failure::usage("check --write: a trace must follow RULES"));
        }
        if self.write || !(is_single || small_file::is_binary(&self.rules)) {
            return Ok(());
        }
        let traces: Vec<_> = [&self.rules].into_iter().chain(&self.files).cloned().collect();
        let rules = |project: &Project| project.rules().map(relative);
        match self.input.shared(&traces, "RULES", rules)? {
            Some(rules) => {
                self.configured.get_or_init(|| (rules, traces));
                Ok(())
            }
            None if is_single => Err(Failure::usage(
                "check needs rules and a trace: name a rules file before the trace, or set 'rules' in \
                 tracewell.toml",
            )),
            // The first argument is then the rules file. Reading it fails, because it is not text.
            None => Ok(()),
        }
    }

    fn rules(&self) -> &Path {
        self.configured.get().map_or(&self.rules, |(rules, _)| rules)
    }

    fn files(&self) -> &[PathBuf] {
        self.configured.get().map_or(&self.files, |(_, traces)| traces)
    }

    fn checked(&self) -> Result<Outcome, Failure> {
        let stdin = Path::new("-");
        if self.rules() == stdin && self.files().iter().any(|file| file == stdin) {
            return Err(Failure::usage("rules and trace cannot both be standard input"));
        }
        let source = sources::read_rules(self.rules())?;
        let parsed = Rules::parse(&source);
        sources::report(&source, &parsed.findings);
        // Rules with errors count as a wrong argument. Status 1 would mean that a trace violates
        // the rules.
        let Some(rules) = parsed.rules else { return Ok(Outcome::Usage) };
        let baseline = self.baseline.as_deref().map(|path| baseline::read(path, self.tolerance));
        let baseline = baseline.transpose()?;
        let is_unused = baseline.is_some() && !rules.has_thresholds();
        warn_ineffective(&[(is_unused, "--baseline", "the rules have no thresholds")]);
        let rules = Rulebook { source: &source, rules: &rules, baseline: baseline.as_ref() };
        let selection = self.selection.selection()?;
        let tally = Tally::default();
        let inputs = self.inputs();
        let junit = self.junit.as_ref().map(|path| Suites::new(path, &inputs)).transpose()?;
        let is_json = self.json || self.format == OutputForm::Json;
        let document = is_json.then(|| Document::new(check::SCHEMA));
        let outputs = (document.as_ref(), junit.as_ref());
        let Made { mut outcome, failures, .. } = match self.follow {
            true => self.followed(rules, &selection, outputs, &tally).unwrap_or_else(|failure| {
                let first = self.files().first().cloned().unwrap_or_default();
                let failures = vec![(first, failure.message().to_owned())];
                Made { files: 0, outcome: failure.report(), failures }
            }),
            false => self.read(rules, &selection, outputs, &tally),
        };
        if let Some(document) = document {
            outcome = document.end(outcome);
        }
        if let Some(junit) = junit {
            // Joined files are one trace, which has the name of the first file.
            let traces = if self.input.join { 1 } else { self.files().len() };
            let traces = self.files().get(..traces).unwrap_or_default();
            if self.follow && outcome == Outcome::Damaged {
                let message = "the trace is damaged: see standard error for the place";
                traces.iter().for_each(|trace| junit.add_damage(trace, message));
            }
            let nothing = tally.decided_nothing();
            let written = junit.write(traces, &failures, nothing, &inputs);
            outcome = outcome.max(written.unwrap_or_else(Failure::report));
        }
        Ok(match outcome {
            // If a rule is violated, the outcome states this even if an input is damaged. The
            // damage has already been reported.
            Outcome::Done | Outcome::Damaged if tally.failed.load(Ordering::Relaxed) => {
                Outcome::Wrong
            }
            // Nothing was tested, so the status must not report success.
            Outcome::Done if tally.decided_nothing() => {
                let is_text = !(is_json || self.quiet || self.format == OutputForm::Github);
                // In text form, the summary of each trace has already reported this.
                match is_text {
                    true => Outcome::Wrong,
                    false => Failure::wrong(NOTHING_DECIDED).report(),
                }
            }
            outcome => outcome,
        })
    }

    /// Returns the files that the command reads.
    fn inputs(&self) -> Inputs {
        let mut inputs = self.input.inputs(self.files());
        inputs.add([self.rules()]);
        inputs.add(self.baseline.as_deref());
        inputs
    }

    /// Checks each trace completely.
    fn read(
        &self,
        rules: Rulebook<'_>,
        selection: &Selection,
        outputs: Outputs<'_>,
        tally: &Tally,
    ) -> Made {
        let end = StreamEnd::default();
        for_each_file(self.files(), &self.input, |input| {
            // Print the failures of a stream at once, because the stream may last for days.
            let results = self.results(outputs, input.is_stream());
            let is_text = matches!(results.form, Form::Text | Form::TextAtOnce);
            let title = title(self.files(), &self.input, input.path()).filter(|_| is_text);
            let failed = |error: io::Error| Failure::io(output::stdout_path(), &error);
            title.map_or(Ok(()), |title| writeln!(output::stdout(), "{title}")).map_err(failed)?;
            let path = input.path().to_owned();
            let mut printer = FailurePrinter::new(rules, &path, results, tally, io::stdout());
            let trace = if rules.has_figures() {
                let selection = input.without_tail(selection.clone())?;
                if selection.has_events() {
                    input.note_ids();
                }
                let mut sink = Measured::new(printer, rules.rules, &selection);
                end.by_signal(input, |input| {
                    let mut trace = input.read_named(&mut sink)?;
                    selection.remark(&mut trace);
                    Ok(trace)
                })?
            } else {
                input.select(selection.clone());
                end.by_signal(input, |input| Ok(input.read_named(&mut printer)?))?
            };
            if let (_, Some(junit)) = outputs {
                junit.note_damage(&path, &trace.diagnostics);
            }
            Ok(trace)
        })
    }

    /// Checks a trace while another program writes it, until a signal arrives.
    fn followed(
        &self,
        rules: Rulebook<'_>,
        selection: &Selection,
        outputs: Outputs<'_>,
        tally: &Tally,
    ) -> Result<Made, Failure> {
        let results = self.results(outputs, true);
        let path = self.files().first().map_or(Path::new("-"), PathBuf::as_path);
        let sink = || {
            let printer = FailurePrinter::new(rules, path, results, tally, io::stdout());
            if rules.has_figures() {
                return Box::new(Measured::new(printer, rules.rules, selection)) as _;
            }
            Box::new(Selected::new(printer, selection.clone())) as _
        };
        let outcome = follow(self.files(), &self.input, selection, sink)?;
        Ok(Made { files: 1, outcome, failures: Vec::new() })
    }

    /// Returns the form of the results. `at_once` is true for traces that may never end.
    fn results<'r>(&self, (document, junit): Outputs<'r>, at_once: bool) -> Results<'r> {
        let form = match document {
            Some(document) => Form::Json(document),
            None if self.quiet => Form::Quiet,
            None if self.format == OutputForm::Github => Form::Github,
            None if at_once => Form::TextAtOnce,
            None => Form::Text,
        };
        Results { form, junit, is_strict: self.strict }
    }

    fn written(&self) -> Result<Outcome, Failure> {
        if self.files().len() > 1 && !self.input.join {
            let message = "several traces need --join to make one rules file";
            return Err(Failure::usage(message));
        }
        // Writing to a device such as /dev/stdout is allowed without --force.
        let is_file = std::fs::metadata(self.rules()).is_ok_and(|there| there.is_file());
        let inputs = self.input.inputs(self.files());
        inputs.refuse(self.rules())?;
        let selection = self.selection.selection()?;
        if is_file && !self.force {
            let rules = shown_path(self.rules());
            let message = format!("{rules}: already exists: name a new file, or use --force");
            return Err(Failure::usage(message));
        }
        let made = for_each_file(self.files(), &self.input, |input| {
            let selection = selection.clone();
            output::write_whole(self.rules(), &inputs, |out| {
                self.write_rules(input, selection, out)
            })
        });
        Ok(made.outcome)
    }

    fn write_rules(
        &self,
        input: &mut Input,
        selection: Selection,
        out: &mut dyn Write,
    ) -> Result<Trace, Failure> {
        // Read all events and contexts. The writer selects the events itself. It writes an `only`
        // statement, so that `check` selects the same events.
        let Selection { events, contexts, .. } = selection.clone();
        input.select(Selection { events: Vec::new(), contexts: Vec::new(), ..selection });
        let name = input.path().file_name().unwrap_or(input.path().as_os_str());
        let name = name.to_string_lossy().into_owned();
        let options = WriteOptions { events, contexts, without: self.without.clone() };
        let failed = |error: io::Error| Failure::io(self.rules(), &error);
        let mut writer = RulesWriter::new(out, &name, options).map_err(failed)?;
        let read = input.read_named(&mut writer);
        let mut trace = read.map_err(|error| Failure::reading(error, self.rules()))?;
        writer.remark(&mut trace);
        if writer.is_full() {
            let message = format!(
                "{name}: a rules file has at most {MAX_STEPS} steps, and this trace needs more: select events \
                 with --event and --context"
            );
            return Err(Failure::usage(message));
        }
        Ok(trace)
    }
}

/// If a path is in the current folder, returns the path relative to this folder. Otherwise returns
/// the path itself. So a rules file has the same name in the results, whether an argument or the
/// configuration file specified it.
fn relative(path: &Path) -> PathBuf {
    let folder = env::current_dir().unwrap_or_default();
    path.strip_prefix(folder).unwrap_or(path).to_owned()
}
