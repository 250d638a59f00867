//! `tracewell check`: whether a trace is as rules say; rules from a trace. What is told, and when, is in `telling`.

mod telling;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use tracewell::check::{MAX_STEPS, Rules, RulesWriter, WriteOptions};
use tracewell::collect::Follow;
use tracewell::input::Input;
use tracewell::model::Trace;
use tracewell::source::Source;
use tracewell::text::shown_path;

use self::telling::{Form, Telling};
use super::follow::{StreamEnd, follow};
use super::{for_each_file, read_named, title};
use crate::args::InputArgs;
use crate::outcome::{Failure, Outcome};
use crate::{output, small_file, templates};

/// Compare traces with rules: events in their order, time limits, what must never happen
///
/// The rules are a text file, described in docs/checking.md. Shows the first difference of each rule
/// with the events around it; the exit status is 1 if there is one, 2 if the rules themselves are wrong.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell check expected.rules trace.bin
  tracewell check --json expected.rules trace.bin | jq '.failures[].message'
  tracewell check --follow alarms.rules run.twl
  tracewell check --write expected.rules --event 'SM?*' trace.bin

A rules file:
  SMA_FIFO(ao = my, sig = $s)             # events in this order, others between them
  SM_DCH(ao = my, sig = $s) within 2 ms   # the same signal, soon
  never QUE_FULL")]
pub(crate) struct Check {
    /// The rules; - is standard input
    #[arg(value_name = "RULES")]
    rules: PathBuf,

    /// Traces; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// For programs: one JSON object a file
    #[arg(long, conflicts_with = "write")]
    json: bool,

    /// Go on while the file grows, or standard input brings more, until Ctrl-C; a rule that is broken is told at
    /// once
    #[arg(short, long, conflicts_with = "write")]
    follow: bool,

    /// Write RULES, a new file that this trace passes, instead of reading them
    #[arg(short, long)]
    write: bool,

    /// With --write: replace RULES if it is there already
    #[arg(long, requires = "write")]
    force: bool,

    /// With --write: only events of this name, label or id; may be repeated
    #[arg(long, value_name = "NAME", requires = "write")]
    event: Vec<String>,

    /// With --write: only events of this context; may be repeated
    #[arg(long, value_name = "NAME", requires = "write")]
    context: Vec<String>,

    /// With --write: leave arguments of this name out, for they differ from run to run
    #[arg(long, value_name = "ARGUMENT", requires = "write")]
    without: Vec<String>,

    #[command(flatten)]
    input: InputArgs,
}

impl Check {
    pub(crate) fn run(&self) -> Outcome {
        if self.write { self.written() } else { self.checked().unwrap_or_else(Failure::tell) }
    }

    fn checked(&self) -> Result<Outcome, Failure> {
        let stdin = Path::new("-");
        if self.rules == stdin && self.files.iter().any(|file| file == stdin) {
            return Err(Failure::usage("rules and trace cannot both come from standard input"));
        }
        let source = templates::source_of(&self.rules, small_file::MAX_RULES)?;
        let parsed = Rules::parse(&source);
        templates::tell(&source, &parsed.findings);
        let Some(rules) = parsed.rules else { return Ok(Outcome::Usage) };
        let rules = (&source, &rules);
        let wrong = AtomicBool::new(false);
        let outcome = match self.follow {
            true => self.followed(rules, &wrong)?,
            false => self.read(rules, &wrong),
        };
        Ok(match outcome {
            // A rule that is not met says more than damage, which was told as well.
            Outcome::Done | Outcome::Damaged if wrong.load(Ordering::Relaxed) => Outcome::Wrong,
            outcome => outcome,
        })
    }

    /// Checks each trace to its end.
    fn read(&self, rules: (&Source, &Rules), wrong: &AtomicBool) -> Outcome {
        let end = StreamEnd::default();
        let made = for_each_file(&self.files, &self.input, |input| {
            let title = title(&self.files, &self.input, input.path()).filter(|_| !self.json);
            let failed = |error: io::Error| Failure::io(output::stdout_path(), &error);
            title.map_or(Ok(()), |title| writeln!(output::stdout(), "{title}")).map_err(failed)?;
            let form = match input.size() {
                _ if self.json => Form::Json,
                // A file is read faster than its failures are; a stream may go on for days.
                Some(_) => Form::Text,
                None => Form::TextAtOnce,
            };
            let mut telling = Telling::new(rules, form, wrong, output::stdout());
            let trace = end.by_signal(input, |input| read_named(input, &mut telling, true))?;
            rules.1.check(&trace)?;
            telling.end(&trace).map_err(failed)?;
            Ok(trace)
        });
        made.outcome
    }

    /// Checks a trace while it is written, until a signal comes.
    fn followed(&self, rules: (&Source, &Rules), wrong: &AtomicBool) -> Result<Outcome, Failure> {
        let form = if self.json { Form::Json } else { Form::TextAtOnce };
        let sink = || Box::new(Telling::new(rules, form, wrong, io::stdout())) as Box<dyn Follow>;
        let followed = follow(&self.files, &self.input, sink)?;
        if let Some(trace) = followed.trace {
            rules.1.check(&trace)?;
        }
        Ok(followed.outcome)
    }

    fn written(&self) -> Outcome {
        if self.files.len() > 1 && !self.input.join {
            let message = "several traces make one file of rules only with --join";
            return Failure::usage(message).tell();
        }
        let is_file = std::fs::metadata(&self.rules).is_ok_and(|there| there.is_file());
        let inputs = self.input.inputs(&self.files);
        if let Err(failure) = inputs.refuse(&self.rules) {
            return failure.tell();
        }
        if is_file && !self.force {
            let rules = shown_path(&self.rules);
            let message = format!("{rules}: is there already: name a new file, or give --force");
            return Failure::usage(message).tell();
        }
        for_each_file(&self.files, &self.input, |input| {
            output::write_whole(&self.rules, &inputs, |out| self.write_rules(input, out))
        })
        .outcome
    }

    fn write_rules(&self, input: &mut Input, out: &mut dyn Write) -> Result<Trace, Failure> {
        let name = input.path().file_name().unwrap_or(input.path().as_os_str());
        let name = name.to_string_lossy().into_owned();
        let options = WriteOptions {
            events: self.event.clone(),
            contexts: self.context.clone(),
            without: self.without.clone(),
        };
        let mut writer = RulesWriter::new(out, &name, options);
        let mut trace = read_named(input, &mut writer, true)?;
        writer.remark(&mut trace);
        if writer.is_full() {
            let message = format!(
                "{name}: rules have at most {MAX_STEPS} steps, and this trace needs more: choose events with \
                 --event and --context"
            );
            return Err(Failure::usage(message));
        }
        writer.finish().map_err(|error| Failure::io(&self.rules, &error))?;
        Ok(trace)
    }
}
