//! Compares errors and warnings about templates with the golden files in `fixtures/templates/`:
//! position, line, marker and message. `BLESS=1 cargo test` overwrites the files; check the
//! difference.

mod support;

use std::path::PathBuf;

use snapbox::assert::Action;
use snapbox::{Assert, Data};
use tracewell::template::{Finding, Source, System, lint, parse};

/// Returns the fixtures whose names begin with `kind`.
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
    let is_set = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let assert = Assert::new().action(if is_set { Action::Overwrite } else { Action::Verify });
    assert.eq(shown, Data::read_from(&path.with_extension("txt"), None).raw());
}

#[test]
fn errors_are_reported_as_in_the_golden_files() {
    let files = fixtures("err_");
    assert_eq!(files.len(), 9, "{files:?}");
    for path in files {
        let source = source(&path);
        let (_, findings) = parse(&source);
        compare(&path, &source, &findings);
    }
}

#[test]
fn warnings_are_reported_as_in_the_golden_files() {
    let files = fixtures("lint_");
    assert_eq!(files.len(), 7, "{files:?}");
    for path in files {
        let source = source(&path);
        let (file, mut findings) = parse(&source);
        assert!(findings.iter().all(|f| !f.is_error), "{}", path.display());
        findings.extend(lint(&file, System::of(&file)));
        compare(&path, &source, &findings);
    }
}

#[test]
fn ids_are_checked_by_the_rules_of_their_system() {
    let warnings = |text: &str, system: Option<System>| -> Vec<String> {
        let (file, _) = parse(&Source::new("ids.fmt", text));
        let system = system.unwrap_or_else(|| System::of(&file));
        lint(&file, system).into_iter().map(|finding| finding.message).collect()
    };
    let by_number = "0034 1.0 \"lock\" X4\n0005 1.0 \"five\" X4\n";
    assert_eq!(warnings(by_number, None).len(), 2);
    assert!(warnings(by_number, Some(System::Other)).is_empty());
    // A ThreadX event name shows that the ids of a file are not AIX ids.
    assert!(warnings(&format!("{by_number}TX_TRACE_MUTEX_GET 1.0 X4\n"), None).is_empty());
    let three = warnings("134 1.0 \"exec\" X4\n", Some(System::Other));
    assert!(three[0].starts_with("134 is 1340: only AIX hooks have three digits"), "{three:?}");
}

/// Every stanza of these files contains an error, except the stanzas that are marked as good.
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
            let is_error = |finding: &&Finding| finding.is_error;
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
        assert!(last.message.ends_with("the rest of the file is not read"), "{}", last.message);
        assert!(file.stanzas.len() <= most);
    }
}
