//! `tracewell template fmt`: prints template files in canonical form.

use std::path::{Path, PathBuf};

use clap::Args;
use tracewell::template::{layout, parse};

use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome};
use crate::{output, shipped, small_file, sources};

/// Print template files in their canonical form
///
/// If a file has errors, it is not printed: the errors are reported, and the exit status is 1.
#[derive(Debug, Args)]
pub(crate) struct Fmt {
    /// Template files, or shipped ones such as @threadx; - is standard input
    #[arg(required = true, value_name = "FILE")]
    #[arg(value_parser = shipped::TemplatePath, hide_possible_values = true)]
    files: Vec<PathBuf>,

    /// Write the files instead of printing them
    #[arg(short, long, conflicts_with = "check")]
    write: bool,

    /// Print nothing; the exit status is 1 if a file is not in canonical form
    #[arg(long)]
    check: bool,
}

impl Fmt {
    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        let each = self.files.iter().map(|path| self.one(path).unwrap_or_else(Failure::report));
        Ok(each.max().unwrap_or(Outcome::Done))
    }

    fn one(&self, path: &Path) -> Result<Outcome, Failure> {
        if self.write {
            shipped::refuse_to_write(path)?;
        }
        let source = sources::read(path)?;
        let (file, findings) = parse(&source);
        // Ignore warnings, because they concern the meaning of the templates, which `fmt` does not
        // change.
        let errors = findings.iter().filter(|finding| finding.is_error);
        let wrong = sources::report(&source, errors);
        // If a file has errors, its tree is incomplete, and writing the tree would delete text.
        if wrong > Outcome::Done {
            return Ok(wrong);
        }
        let text = layout(&file);
        if self.check {
            if text == source.text {
                return Ok(Outcome::Done);
            }
            let message = format!("{}: not in canonical form", source.name);
            return Err(Failure::wrong(message));
        }
        if !self.write {
            return Ok(output::print_exactly(&text));
        }
        if small_file::is_compressed(path)? {
            let message = "is compressed; decompress it, or leave out -w".to_owned();
            return Err(Failure::usage(format!("{}: {message}", source.name)));
        }
        // An unchanged file keeps its modification time.
        if text != source.text {
            // The output is deliberately the input file, so do not check it against the inputs.
            output::write_whole(path, &Inputs::default(), |out| {
                out.write_all(text.as_bytes()).map_err(|error| Failure::io(path, &error))
            })?;
        }
        Ok(Outcome::Done)
    }
}
