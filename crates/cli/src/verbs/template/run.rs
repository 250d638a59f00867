//! `tracewell template run`: formats one entry, to try a template.

use std::path::PathBuf;

use clap::Args;
use tracewell::template::{Entry, Environment, EventContext, Machine, Outcome as Formatted};
use tracewell::text::shown;

use crate::outcome::{Failure, Outcome};
use crate::{output, shipped, sources};

/// Format one entry, to try a template
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell template run -t my.fmt --entry 0AA20007DEADBEEF
  tracewell template run -t my.fmt --thread 70001 --syscall read --entry 0AA20007DEADBEEF
  tracewell template run -t my.fmt --env 64 --entry '800000080AA01234 0000000000000001'")]
pub(crate) struct Run {
    /// Use this template file, or a shipped one such as @threadx; may be repeated
    #[arg(short, long = "template", required = true, value_name = "FILE")]
    #[arg(value_parser = shipped::TemplatePath, hide_possible_values = true)]
    templates: Vec<PathBuf>,

    /// Set the word size of the recording program: 32 or 64 bits
    #[arg(long, value_name = "BITS", default_value = "32", value_parser = ["32", "64"])]
    env: String,

    /// Treat the entry as recorded by trcgen, whatever its hook word says
    #[arg(long)]
    generic: bool,

    /// Set the thread: $TID
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    thread: u64,

    /// Set the process: $PID
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    process: u64,

    /// Set the path of the executable: $EXECPATH
    #[arg(long, value_name = "PATH", default_value = "", hide_default_value = true)]
    executable: String,

    /// Set the current system call: $SVC
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    syscall: String,

    /// Set the processor: $CPUID
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    cpu: u32,

    /// Set the name of the log: $LOGFILE
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    log: String,

    /// Set the offset of the event in the log: $LOGID0
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    offset: u64,

    /// The entry in hexadecimal: hook word and data, without timestamp; blanks are ignored
    #[arg(long, value_name = "HEX")]
    entry: String,
}

impl Run {
    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        let bytes = bytes(&self.entry).map_err(Failure::usage)?;
        let environment = if self.env == "64" { Environment::Bits64 } else { Environment::Bits32 };
        let entry = Entry::hook(environment, &bytes)
            .map_err(|error| Failure::usage(format!("--entry: {error}")))?;
        let entry = if self.generic { entry.taken_as_generic(true) } else { entry };
        let sources = sources::read_all(&self.templates)?;
        let (program, wrong) = sources::compile(&sources);
        let (executable, syscall) = (shown(&self.executable), shown(&self.syscall));
        let log = shown(&self.log);
        let around = EventContext {
            tid: self.thread,
            pid: self.process,
            cpu: self.cpu,
            executable: &executable,
            system_call: &syscall,
            system: environment,
            log: &log,
            offset: self.offset,
            ..EventContext::default()
        };
        let mut machine = Machine::default();
        let lines = machine.format(&program, &entry, &around);
        // If a template suppresses an event, not even an empty line is printed.
        if lines.outcome() == Formatted::Skipped {
            return Ok(wrong);
        }
        Ok(output::print(&(lines.text() + "\n")).max(wrong))
    }
}

/// Parses pairs of hexadecimal digits; spaces between them are ignored.
fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let digit = |c: char| {
        c.to_digit(16).ok_or_else(|| format!("--entry: '{c}' is not a hexadecimal digit"))
    };
    let digits: Result<Vec<_>, _> =
        text.chars().filter(|c| !c.is_whitespace()).map(digit).collect();
    let digits = digits?;
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return Err("--entry: expected two hexadecimal digits for each byte".to_owned());
    }
    Ok(pairs.iter().map(|[high, low]| (high << 4 | low) as u8).collect())
}
