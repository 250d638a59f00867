//! Template files as the verbs use them: reading, compiling, telling what is wrong.

use std::path::{Path, PathBuf};

use tracewell::source::check_text;
use tracewell::template::{Finding, Program, Severity, Source};
use tracewell::text::{counted, shown_path};

use crate::outcome::{Failure, Outcome, tell};
use crate::small_file;

/// Reads template files, compressed ones too; `-` is standard input.
pub(crate) fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, Failure> {
    paths.iter().map(|path| source(path)).collect()
}

/// Reads a template file.
pub(crate) fn source(path: &Path) -> Result<Source, Failure> {
    source_of(path, small_file::MAX_LENGTH)
}

/// Reads a template file, or one of rules, of at most so many bytes.
pub(crate) fn source_of(path: &Path, limit: u64) -> Result<Source, Failure> {
    use tracewell::template::update::compress;
    let mut bytes = small_file::read_or_stdin(path, limit)?;
    if compress::is_compressed(&bytes) {
        bytes = compress::decompress(&bytes).map_err(|error| Failure::damaged(path, &error))?;
    }
    check_text(&bytes).map_err(|error| Failure::damaged(path, &error))?;
    Ok(Source::from_bytes(shown_path(path).to_string(), &bytes))
}

/// Errors of a file that are told: where there are more, it is likely another kind of file.
const MAX_ERRORS: usize = 20;

/// Warnings of a file that are told.
const MAX_WARNINGS: usize = 1000;

/// Tells what is wrong with a template file, or one of rules, up to the last error that is told; an
/// error makes the outcome wrong.
pub(crate) fn tell<'a>(
    source: &Source,
    findings: impl IntoIterator<Item = &'a Finding>,
) -> Outcome {
    let (mut errors, mut warnings) = (0_usize, 0_usize);
    for finding in findings {
        let is_error = finding.severity == Severity::Error;
        if errors < MAX_ERRORS && (is_error || warnings < MAX_WARNINGS) {
            tell!("{}", finding.show(source));
        }
        errors += usize::from(is_error);
        warnings += usize::from(!is_error && errors < MAX_ERRORS);
    }
    for (count, limit, what) in
        [(errors, MAX_ERRORS, "more error"), (warnings, MAX_WARNINGS, "more warning")]
    {
        if let more @ 1.. = count.saturating_sub(limit) {
            tell!("{}: and {}", source.name, counted(more as u64, what));
        }
    }
    if errors > 0 { Outcome::Wrong } else { Outcome::Done }
}

/// Compiles template files; errors are told, warnings are for `template check`.
pub(crate) fn compile(sources: &[Source]) -> (Program, Outcome) {
    let compiled = Program::of(sources);
    let mut worst = Outcome::Done;
    for (number, source) in sources.iter().enumerate() {
        let of_source = compiled.findings.iter().filter(|(of, _)| *of == number);
        let errors = of_source.map(|(_, finding)| finding);
        let errors = errors.filter(|finding| finding.severity == Severity::Error);
        worst = worst.max(tell(source, errors));
    }
    (compiled.program, worst)
}
