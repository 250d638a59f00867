//! What is said of mistakes in templates: place, line, mark and message, as the golden files in
//! `fixtures/templates/` show. `SNAPSHOTS=overwrite cargo test` writes them anew: read the difference.

mod support;

use std::path::PathBuf;

use snapbox::{Data, assert_data_eq};
use tracewell::template::{Finding, Severity, Source, System, lint, parse};

/// The fixtures whose names begin so.
fn fixtures(kind: &str) -> Vec<PathBuf> {
    let folder = support::fixture("templates");
    let files = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "fmt"))
        .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(kind))
        .collect();
    files.sort();
    files
}

fn source(path: &std::path::Path) -> Source {
    let name = path.file_name().unwrap().to_str().unwrap();
    Source::new(name, std::fs::read_to_string(path).unwrap())
}

fn compare(path: &std::path::Path, source: &Source, findings: &[Finding]) {
    let shown: String = findings.iter().map(|finding| finding.show(source) + "\n\n").collect();
    assert_data_eq!(shown, Data::read_from(&path.with_extension("txt"), None).raw());
}

#[test]
fn errors_are_told_as_the_golden_files_show() {
    let files = fixtures("err_");
    assert_eq!(files.len(), 8, "{files:?}");
    for path in files {
        let source = source(&path);
        let (_, findings) = parse(&source);
        compare(&path, &source, &findings);
    }
}

#[test]
fn doubts_are_told_as_the_golden_files_show() {
    let files = fixtures("lint_");
    assert_eq!(files.len(), 6, "{files:?}");
    for path in files {
        let source = source(&path);
        let (file, mut findings) = parse(&source);
        assert!(findings.iter().all(|f| f.severity == Severity::Warning), "{}", path.display());
        findings.extend(lint(&file, System::of(&file)));
        compare(&path, &source, &findings);
    }
}

#[test]
fn ids_are_doubted_by_the_rules_of_the_system_that_they_are_of() {
    let doubts = |text: &str, system: Option<System>| -> Vec<String> {
        let (file, _) = parse(&Source::new("ids.fmt", text));
        let system = system.unwrap_or_else(|| System::of(&file));
        lint(&file, system).into_iter().map(|finding| finding.message).collect()
    };
    let by_number = "0034 1.0 \"lock\" X4\n0005 1.0 \"five\" X4\n";
    assert_eq!(doubts(by_number, None).len(), 2);
    assert!(doubts(by_number, Some(System::Other)).is_empty());
    // A name as a head tells that the ids are not AIX's.
    assert!(doubts(&format!("{by_number}TX_TRACE_MUTEX_GET 1.0 X4\n"), None).is_empty());
    let three = doubts("134 1.0 \"exec\" X4\n", Some(System::Other));
    assert!(three[0].starts_with("134 is 1340: three digits are an AIX hook's"), "{three:?}");
}

/// Every stanza of these files has a mistake, but for those that say they are good.
#[test]
fn no_stanza_hides_the_mistakes_of_another() {
    for path in fixtures("err_") {
        let source = source(&path);
        let (file, findings) = parse(&source);
        for (number, stanza) in file.stanzas.iter().enumerate() {
            let text = source.slice(stanza.span);
            let good =
                ["good\"", "is a warning", "no AIX event"].iter().any(|part| text.contains(part));
            assert_eq!(stanza.valid, good, "{text}");
            let next = file.stanzas.get(number + 1).map_or(u32::MAX, |next| next.span.start);
            let place = stanza.span.start..next;
            let is_error = |finding: &&Finding| finding.severity == Severity::Error;
            let errors = findings.iter().filter(is_error);
            let inside = errors.filter(|finding| place.contains(&finding.span.start)).count();
            assert_eq!(inside == 0, good, "{text}");
        }
    }
}

#[test]
fn a_file_of_mistakes_is_not_read_to_its_end() {
    let most = tracewell::source::MAX_FINDINGS + 1;
    for text in [")\n".repeat(100_000), "^".repeat(100_000), "0AA 1.0 \"\\q\"\n".repeat(20_000)] {
        let source = Source::new("wrong.fmt", text);
        let (file, findings) = parse(&source);
        assert!(findings.len() <= most, "{}", findings.len());
        let last = findings.last().unwrap();
        assert!(last.message.ends_with("the rest is not read"), "{}", last.message);
        assert!(file.stanzas.len() <= most);
    }
}
