//! `tracewell check`: whether a trace is as rules say; rules from a trace.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use tracewell::check::{Check as Comparison, Rules, RulesWriter, WriteOptions};
use tracewell::input::Input;
use tracewell::model::Trace;
use tracewell::report::check;
use tracewell::source::Source;

use super::{for_each_file, read, title};
use crate::args::InputArgs;
use crate::outcome::{Failure, Outcome};
use crate::{output, templates};

/// Compare traces with rules: events in their order, time limits, what must never happen
///
/// The rules are a text file, described in docs/checking.md. Shows the first difference of each rule
/// with the events around it; the exit status is 1 if there is one, 2 if the rules themselves are wrong.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell check expected.rules trace.bin
  tracewell check --json expected.rules trace.bin | jq '.failures[].message'
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
        let source = templates::source(&self.rules)?;
        let parsed = Rules::parse(&source);
        templates::tell(&source, &parsed.findings);
        let Some(rules) = parsed.rules else { return Ok(Outcome::Usage) };
        let mut wrong = Outcome::Done;
        let worst = for_each_file(&self.files, &self.input, |input| {
            let mut comparison = Comparison::new(&rules);
            let trace = read(input, &mut comparison)?;
            rules.check(&trace)?;
            templates::tell(&source, &rules.doubts(&trace));
            let verdict = comparison.finish(&trace);
            if !verdict.passed() {
                wrong = Outcome::Wrong;
            }
            self.print(&source, input.path(), &verdict)?;
            Ok(trace)
        });
        Ok(match (wrong, worst.outcome) {
            // A rule that is not met says more than damage, which was told as well.
            (Outcome::Wrong, Outcome::Damaged) => Outcome::Wrong,
            (wrong, worst) => worst.max(wrong),
        })
    }

    fn print(
        &self,
        source: &Source,
        path: &Path,
        verdict: &tracewell::check::Verdict,
    ) -> Result<(), Failure> {
        let text = if self.json {
            format!("{:#}\n", check::json(source, verdict))
        } else {
            let title = title(&self.files, &self.input, path).map(|title| title + "\n");
            title.unwrap_or_default() + &check::text(source, verdict)
        };
        output::stdout()
            .write_all(text.as_bytes())
            .map_err(|error| Failure::io(output::stdout_path(), &error))
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
            let rules = self.rules.display();
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
        let mut trace = read(input, &mut writer)?;
        writer.remark(&mut trace);
        writer.finish().map_err(|error| Failure::io(&self.rules, &error))?;
        Ok(trace)
    }
}
