//! `tracewell template fmt`: the canonical form.

use std::path::{Path, PathBuf};

use clap::Args;
use tracewell::template::{Severity, layout, parse};

use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome, tell};
use crate::{output, templates, trace_report};

/// Print template files in their canonical form
///
/// A file with errors is not printed; its errors are told and the exit status is 1.
#[derive(Debug, Args)]
pub(crate) struct Fmt {
    /// Template files; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write the files instead of printing them
    #[arg(short, long, conflicts_with = "check")]
    write: bool,

    /// Print nothing; the exit status is 1 where a file is in another form
    #[arg(long)]
    check: bool,
}

impl Fmt {
    pub(crate) fn run(&self) -> Outcome {
        let each = self.files.iter().map(|path| self.one(path).unwrap_or_else(Failure::tell));
        each.max().unwrap_or(Outcome::Done)
    }

    fn one(&self, path: &Path) -> Result<Outcome, Failure> {
        let source = templates::source(path)?;
        let (file, findings) = parse(&source);
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
        let wrong = templates::tell(&source, errors);
        if wrong > Outcome::Done {
            return Ok(wrong);
        }
        let text = layout(&file);
        if self.check {
            if text == source.text {
                return Ok(Outcome::Done);
            }
            tell!("{}: not in canonical form", source.name);
            return Ok(Outcome::Wrong);
        }
        if !self.write {
            return Ok(trace_report::print(&text));
        }
        if text != source.text {
            // The input is what is to be rewritten.
            output::write_whole(path, &Inputs::default(), |out| {
                out.write_all(text.as_bytes()).map_err(|error| Failure::io(path, &error))
            })?;
        }
        Ok(Outcome::Done)
    }
}
