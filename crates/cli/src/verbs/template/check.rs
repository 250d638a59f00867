//! `tracewell template check`: reports errors and warnings of template files.

use std::path::PathBuf;

use clap::Args;
use clap::builder::TypedValueParser;
use tracewell::format;
use tracewell::template::{System, lint, parse};
use tracewell::text::counted;

use crate::args::Suggested;
use crate::outcome::{Failure, Outcome};
use crate::{shipped, sources};

/// Check template files and list all errors and warnings
///
/// Warnings mark constructs that compile but are probably mistakes: macros that are never assigned,
/// cases that are never reached, overlapping flags, calls of missing functions. The exit status is
/// 1 if there are errors, and with --strict also if there are warnings.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Template files, or shipped ones such as @threadx; - is standard input
    #[arg(required = true, value_name = "FILE")]
    #[arg(value_parser = shipped::TemplatePath, hide_possible_values = true)]
    files: Vec<PathBuf>,

    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,

    /// Set the format of the traces to which the templates apply; the default is AIX if the
    /// templates have only ids, without names of events
    #[arg(long = "for", value_name = "FORMAT", value_parser = Suggested::formats().try_map(system))]
    system: Option<System>,
}

impl Check {
    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        checked(&self.files, self.strict, self.system)
    }
}

/// Returns the system of a format.
fn system(name: String) -> Result<System, String> {
    match format::by_name(&name) {
        Some(format) if (format.schema)().ids_are_hooks() => Ok(System::Aix),
        Some(_) => Ok(System::Other),
        None => {
            let names: Vec<_> = format::FORMATS.iter().map(|format| format.name).collect();
            Err(format!("expected one of {}", names.join(", ")))
        }
    }
}

/// Checks template files in the same way as `trcrpt -c`.
pub(in crate::verbs) fn files(paths: &[PathBuf]) -> Result<Outcome, Failure> {
    checked(paths, false, Some(System::Aix))
}

fn checked(paths: &[PathBuf], strict: bool, system: Option<System>) -> Result<Outcome, Failure> {
    let mut worst = Outcome::Done;
    for path in paths {
        let source = sources::read(path)?;
        let (file, mut findings) = parse(&source);
        findings.extend(lint(&file, system.unwrap_or_else(|| System::of(&file))));
        findings.sort_by_key(|finding| (finding.span.start, finding.span.end));
        worst = worst.max(sources::report(&source, &findings));
        if strict && !findings.is_empty() {
            worst = worst.max(Outcome::Wrong);
        }
    }
    Ok(worst)
}

/// Counts the errors of template files without printing them.
pub(in crate::verbs) fn count(paths: &[PathBuf]) -> Result<Outcome, Failure> {
    let mut errors = 0;
    for path in paths {
        let (_, findings) = parse(&sources::read(path)?);
        errors += findings.iter().filter(|finding| finding.is_error).count();
    }
    if errors == 0 {
        return Ok(Outcome::Done);
    }
    Err(Failure::wrong(format!("{} in template files", counted(errors as u64, "error"))))
}
