//! Template files as the verbs use them: reading, compiling, telling what is wrong.

use std::path::{Path, PathBuf};

use tracewell::template::{Finding, Program, Severity, Source};
use tracewell::text::counted;

use crate::outcome::{Failure, Outcome, tell};

/// Reads template files, compressed ones too; `-` is standard input.
pub(crate) fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, Failure> {
    paths.iter().map(|path| source(path)).collect()
}

/// Reads a template file.
pub(crate) fn source(path: &Path) -> Result<Source, Failure> {
    use std::io::Read;
    use tracewell::template::update::compress;
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    read.map_err(|error| Failure::io(path, &error))?;
    if compress::is_compressed(&bytes) {
        bytes = compress::decompress(&bytes).map_err(|error| Failure::damaged(path, &error))?;
    }
    Ok(Source::from_bytes(path.display().to_string(), &bytes))
}

/// Errors of a file that are told: where there are more, it is likely another kind of file.
const MOST_TOLD: usize = 20;

/// Tells what is wrong with a template file, or one of rules, up to the last error that is told; an
/// error makes the outcome wrong.
pub(crate) fn tell<'a>(
    source: &Source,
    findings: impl IntoIterator<Item = &'a Finding>,
) -> Outcome {
    let mut errors = 0;
    for finding in findings {
        if errors < MOST_TOLD {
            tell!("{}", finding.show(source));
        }
        errors += usize::from(finding.severity == Severity::Error);
    }
    if let more @ 1.. = errors.saturating_sub(MOST_TOLD) {
        tell!("{}: and {}", source.name, counted(more as u64, "more error"));
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
