//! Reads and compiles template files and rules files, and reports their errors and warnings.

use std::path::{Path, PathBuf};

use tracewell::compressed::lzw;
use tracewell::source::check_text;
use tracewell::template::{Finding, Program, Source};
use tracewell::text::{counted, shown_path};

use crate::outcome::{Failure, Outcome, note, print_message};
use crate::{screen, shipped, small_file};

/// Reads template files in the same way as [`read`].
pub(crate) fn read_all(paths: &[PathBuf]) -> Result<Vec<Source>, Failure> {
    paths.iter().map(|path| read(path)).collect()
}

/// Reads a template file: a shipped one such as `@threadx`, or a file; `-` is standard input.
pub(crate) fn read(path: &Path) -> Result<Source, Failure> {
    if shipped::is_name(path) { shipped::read(path) } else { read_file(path) }
}

/// Reads a template file or an update file; `-` is standard input. Decompresses a file in the
/// format of `compress` (`.Z`), because AIX ships templates in this form.
pub(crate) fn read_file(path: &Path) -> Result<Source, Failure> {
    let mut bytes = small_file::read_compressible(path)?;
    if lzw::is_compressed(&bytes) {
        bytes = lzw::decompress(&bytes).map_err(|error| Failure::damaged(path, &error))?;
        check_text(&bytes).map_err(|error| Failure::damaged(path, &error))?;
    }
    source(path, &bytes)
}

/// Reads a rules file; `-` is standard input.
pub(crate) fn read_rules(path: &Path) -> Result<Source, Failure> {
    source(path, &small_file::read_rules(path)?)
}

fn source(path: &Path, bytes: &[u8]) -> Result<Source, Failure> {
    check_text(bytes).map_err(|error| Failure::damaged(path, &error))?;
    Ok(Source::from_bytes(shown_path(path).to_string(), bytes))
}

/// Maximum number of errors reported per file. A file with more errors is probably not a template
/// or rules file.
const MAX_ERRORS: usize = 20;

/// Maximum number of warnings reported per file.
const MAX_WARNINGS: usize = 1000;

/// Prints the findings of a template or rules file on standard error, up to the limits above, and
/// counts the rest. Returns [`Outcome::Wrong`] if one of them is an error.
pub(crate) fn report<'a>(
    source: &Source,
    findings: impl IntoIterator<Item = &'a Finding>,
) -> Outcome {
    let (mut errors, mut warnings) = (0_usize, 0_usize);
    for finding in findings {
        let is_error = finding.is_error;
        if errors < MAX_ERRORS && (is_error || warnings < MAX_WARNINGS) {
            print_message(&finding.show_within(source, screen::width_of_messages()));
        }
        errors += usize::from(is_error);
        // Warnings after the last reported error are neither printed nor counted.
        warnings += usize::from(!is_error && errors < MAX_ERRORS);
    }
    for (count, limit, what) in
        [(errors, MAX_ERRORS, "more error"), (warnings, MAX_WARNINGS, "more warning")]
    {
        if let more @ 1.. = count.saturating_sub(limit) {
            note!("{}: and {}", source.name, counted(more as u64, what));
        }
    }
    if errors > 0 { Outcome::Wrong } else { Outcome::Done }
}

/// Compiles template files and reports their errors. Only `template check` reports warnings.
pub(crate) fn compile(sources: &[Source]) -> (Program, Outcome) {
    let compiled = Program::of(sources);
    let mut worst = Outcome::Done;
    for (number, source) in sources.iter().enumerate() {
        let of_source = compiled.findings.iter().filter(|(of, _)| *of == number);
        let errors = of_source.map(|(_, finding)| finding);
        let errors = errors.filter(|finding| finding.is_error);
        worst = worst.max(report(source, errors));
    }
    (compiled.program, worst)
}
