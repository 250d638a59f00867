//! `tracewell template check`: what is wrong with template files.

use std::path::PathBuf;

use clap::Args;
use tracewell::format;
use tracewell::template::{Severity, System, lint, parse};
use tracewell::text::counted;

use crate::outcome::{Failure, Outcome, tell};
use crate::templates;

/// Tell all that is wrong with template files
///
/// Errors first of all; then what compiles and is probably not meant so: macros that are assigned
/// nowhere, cases that are never reached, flags that overlap, calls of what is not there. The exit
/// status is 1 where there are errors, with --strict also where there are warnings.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Template files; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Take warnings for errors
    #[arg(long)]
    strict: bool,

    /// Whose events the templates are for, as `formats` names it; without it names as heads tell that
    /// it is not AIX
    #[arg(long = "for", value_name = "FORMAT", value_parser = system)]
    system: Option<System>,
}

impl Check {
    pub(crate) fn run(&self) -> Outcome {
        checked(&self.files, self.strict, self.system).unwrap_or_else(Failure::tell)
    }
}

/// The system whose traces a format is.
fn system(name: &str) -> Result<System, String> {
    match format::by_name(name) {
        Some(format) if format.name == "aix" => Ok(System::Aix),
        Some(_) => Ok(System::Other),
        None => {
            let names: Vec<_> = format::FORMATS.iter().map(|format| format.name).collect();
            Err(format!("expected one of {}", names.join(", ")))
        }
    }
}

/// Checks template files.
pub(in crate::verbs) fn files(paths: &[PathBuf]) -> Result<Outcome, Failure> {
    checked(paths, false, Some(System::Aix))
}

fn checked(paths: &[PathBuf], strict: bool, system: Option<System>) -> Result<Outcome, Failure> {
    let mut worst = Outcome::Done;
    for path in paths {
        let source = templates::source(path)?;
        let (file, mut findings) = parse(&source);
        findings.extend(lint(&file, system.unwrap_or_else(|| System::of(&file))));
        findings.sort_by_key(|finding| (finding.span.start, finding.span.end));
        worst = worst.max(templates::tell(&source, &findings));
        if strict && !findings.is_empty() {
            worst = worst.max(Outcome::Wrong);
        }
    }
    Ok(worst)
}

/// Counts the errors of template files, without telling them.
pub(in crate::verbs) fn count(paths: &[PathBuf]) -> Result<Outcome, Failure> {
    let mut errors = 0;
    for path in paths {
        let (_, findings) = parse(&templates::source(path)?);
        errors += findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    }
    if errors == 0 {
        return Ok(Outcome::Done);
    }
    tell!("tracewell: {} in template files", counted(errors as u64, "error"));
    Ok(Outcome::Wrong)
}
