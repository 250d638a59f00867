//! `tracewell template check`: what is wrong with template files.

use std::path::PathBuf;

use clap::Args;
use tracewell::template::{Severity, lint, parse};

use crate::outcome::{Failure, Outcome};
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
}

impl Check {
    pub(crate) fn run(&self) -> Outcome {
        checked(&self.files, self.strict).unwrap_or_else(Failure::tell)
    }
}

/// Checks template files.
pub(in crate::verbs) fn files(paths: &[PathBuf]) -> Result<Outcome, Failure> {
    checked(paths, false)
}

fn checked(paths: &[PathBuf], strict: bool) -> Result<Outcome, Failure> {
    let mut worst = Outcome::Done;
    for path in paths {
        let source = templates::source(path)?;
        let (file, mut findings) = parse(&source);
        findings.extend(lint(&file));
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
    eprintln!("tracewell: {errors} errors in template files");
    Ok(Outcome::Wrong)
}
