//! Template files as the verbs use them: reading, compiling, telling what is wrong.

use std::path::{Path, PathBuf};

use tracewell::template::{Finding, Program, Severity, Source};

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

/// Tells what is wrong with a template file; an error makes the outcome wrong.
pub(crate) fn tell<'a>(
    source: &Source,
    findings: impl IntoIterator<Item = &'a Finding>,
) -> Outcome {
    let mut worst = Outcome::Done;
    for finding in findings {
        tell!("{}", finding.show(source));
        if finding.severity == Severity::Error {
            worst = Outcome::Wrong;
        }
    }
    worst
}

/// Compiles template files; errors are told, warnings are for `template check`.
pub(crate) fn compile(sources: &[Source]) -> (Program, Outcome) {
    let compiled = Program::of(sources);
    let mut worst = Outcome::Done;
    for (number, finding) in &compiled.findings {
        if finding.severity == Severity::Error
            && let Some(source) = sources.get(*number)
        {
            worst = worst.max(tell(source, [finding]));
        }
    }
    (compiled.program, worst)
}
