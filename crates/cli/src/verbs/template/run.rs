//! `tracewell template run`: one entry, for trying a template.

use std::path::PathBuf;

use clap::Args;
use tracewell::template::{Around, Entry, Environment, Machine, Outcome as Formatted};
use tracewell::text::shown;

use crate::outcome::{Failure, Outcome};
use crate::{templates, trace_report};

/// Format one entry, for trying a template
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell template run -t my.fmt --entry 0AA20007DEADBEEF
  tracewell template run -t my.fmt --thread 70001 --syscall read --entry 0AA20007DEADBEEF
  tracewell template run -t my.fmt --env 64 --entry '800000080AA01234 0000000000000001'")]
pub(crate) struct Run {
    /// Template file
    #[arg(short, long = "template", required = true, value_name = "FILE")]
    templates: Vec<PathBuf>,

    /// Words of the program that recorded it: 32 or 64 bits
    #[arg(long, value_name = "BITS", default_value = "32", value_parser = ["32", "64"])]
    env: String,

    /// Take it as recorded by trcgen, whatever its hook word says
    #[arg(long)]
    generic: bool,

    /// Thread that the event is of: $TID
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    thread: u64,

    /// Process that the event is of: $PID
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    process: u64,

    /// Path of the process's executable: $EXECPATH
    #[arg(long, value_name = "PATH", default_value = "", hide_default_value = true)]
    executable: String,

    /// System call that the thread is in: $SVC
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    syscall: String,

    /// Processor that recorded the event: $CPUID
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    cpu: u32,

    /// Name of the log: $LOGFILE
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    log: String,

    /// Byte of the log at which the event starts: $LOGID0
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    offset: u64,

    /// The entry in hexadecimal: hook word and data, without time stamp; blanks do not count
    #[arg(long, value_name = "HEX")]
    entry: String,
}

impl Run {
    pub(crate) fn run(&self) -> Outcome {
        self.formatted().unwrap_or_else(Failure::tell)
    }

    fn formatted(&self) -> Result<Outcome, Failure> {
        let bytes = bytes(&self.entry).map_err(Failure::usage)?;
        let environment = if self.env == "64" { Environment::Bits64 } else { Environment::Bits32 };
        let entry = Entry::hook(environment, &bytes).map_err(Failure::usage)?;
        let entry = if self.generic { entry.taken_as_generic(true) } else { entry };
        let sources = templates::sources(&self.templates)?;
        let (program, wrong) = templates::compile(&sources);
        let (executable, syscall) = (shown(&self.executable), shown(&self.syscall));
        let log = shown(&self.log);
        let around = Around {
            tid: self.thread,
            pid: self.process,
            cpu: self.cpu,
            executable: &executable,
            system_call: &syscall,
            system: environment,
            log: &log,
            offset: self.offset,
            ..Around::default()
        };
        let mut machine = Machine::default();
        let lines = machine.format(&program, &entry, &around);
        if lines.outcome() == Formatted::Skipped {
            return Ok(wrong);
        }
        Ok(trace_report::print(&(lines.text() + "\n")).max(wrong))
    }
}

/// The bytes of hexadecimal digits.
fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let digit =
        |c: char| c.to_digit(16).ok_or_else(|| format!("--entry: '{c}' is no hexadecimal digit"));
    let digits: Result<Vec<_>, _> =
        text.chars().filter(|c| !c.is_whitespace()).map(digit).collect();
    let digits = digits?;
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return Err("--entry: expected two hexadecimal digits for each byte".to_owned());
    }
    Ok(pairs.iter().map(|[high, low]| (high << 4 | low) as u8).collect())
}
