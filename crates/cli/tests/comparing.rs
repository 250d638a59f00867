//! Tests `tracewell diff`: its forms, its exit status and its errors. Tests in the library cover
//! the comparison itself.

mod program;
mod validation;

use program::{run, status, stderr, stdout};
use validation::validated;

const RUNS: [&str; 2] = ["examples/runs/before.trx.gz", "examples/runs/after.trx.gz"];
const RATE: [&str; 3] = ["diff", "-O", "rate=100MHz"];

#[test]
fn the_document_has_the_findings_of_the_text() {
    let text = stdout(&run(&[&RATE[..], &RUNS].concat()));
    let document = validated("diff", &stdout(&run(&[&RATE[..], &["--json"], &RUNS].concat())));
    let findings = document["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    for finding in findings {
        let (of, subject) = (finding["of"].as_str().unwrap(), finding["subject"].as_str().unwrap());
        let is_row = |line: &str| line.starts_with(of) && line.contains(subject);
        assert!(text.lines().any(is_row), "{of} {subject}: {text}");
        assert_eq!((&finding["kind"], &finding["unit"]), (&"time".into(), &"ns".into()));
        assert!(finding["change"].as_f64().unwrap() > 0.5 && finding["worse"] == true);
    }
    let sides = ["old", "new"].map(|side| document[side][0]["file"].as_str().unwrap().to_owned());
    assert_eq!(sides, RUNS);
}

#[test]
fn the_exit_status_is_1_only_beyond_fail_on() {
    let cases = [
        ("50%", Some(1)),
        ("500 %", Some(0)),
        ("worse", Some(1)),
        ("change", Some(1)),
        ("new", Some(0)),
        ("gone,worse", Some(1)),
    ];
    for (fail_on, expected) in cases {
        let output = run(&[&RATE[..], &["--fail-on", fail_on], &RUNS].concat());
        assert_eq!(status(&output), expected, "{fail_on}: {}", stdout(&output));
    }
    assert_eq!(status(&run(&[&RATE[..], &RUNS].concat())), Some(0));
    let same = [&RATE[..], &["--fail-on", "change,new,gone", RUNS[0], RUNS[0]]].concat();
    let output = run(&same);
    assert_eq!(status(&output), Some(0));
    assert!(stdout(&output).starts_with("no difference: 50 figures compared"));
    let back = [&RATE[..], &["--fail-on", "worse", RUNS[1], RUNS[0]]].concat();
    assert_eq!(status(&run(&back)), Some(0), "an improvement is not worse");
}

#[test]
fn several_runs_of_a_side_need_a_separator() {
    let several = [&RATE[..], &[RUNS[0], RUNS[0], RUNS[1]]].concat();
    let output = run(&several);
    assert_eq!(status(&output), Some(2));
    assert!(stderr(&output).contains("several traces need --"), "{}", stderr(&output));
    let output = run(&[&RATE[..], &[RUNS[0], RUNS[0], "--", RUNS[1]]].concat());
    assert!(stdout(&output).contains("\nhold "), "{}", stdout(&output));
    let output = run(&["diff", RUNS[0]]);
    assert!(stderr(&output).contains("diff needs two traces"), "{}", stderr(&output));
    let output = run(&[&RATE[..], &["--fail-on", "5", RUNS[0], RUNS[1]]].concat());
    assert!(stderr(&output).contains("expected a share such as 5%"), "{}", stderr(&output));
    assert_eq!(status(&output), Some(2));
}

#[test]
fn options_for_input_and_selection_apply() {
    // Without a rate, times are in ticks.
    let document = stdout(&run(&["diff", "--json", RUNS[0], RUNS[1]]));
    let document = validated("diff", &document);
    assert_eq!(document["findings"][0]["unit"], "ticks");
    let part = [&RATE[..], &["--to", "100ms", "--json", RUNS[0], RUNS[1]]].concat();
    let part = validated("diff", &stdout(&run(&part)));
    assert_eq!(part["old"][0]["span_ticks"], 10_000_001);
    let missing = run(&[&RATE[..], &[RUNS[0], "no such file"]].concat());
    assert_eq!((status(&missing), stdout(&missing)), (Some(4), String::new()));
}

#[test]
fn junit_has_a_test_for_each_difference() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.xml");
    let junit = |options: &[&str], runs: [&str; 2]| {
        let options = [&RATE[..], options, &["--junit", file.to_str().unwrap()], &runs].concat();
        let output = run(&options);
        (status(&output), std::fs::read_to_string(&file).unwrap())
    };
    let findings = validated("diff", &stdout(&run(&[&RATE[..], &["--json"], &RUNS].concat())));
    let findings = findings["findings"].as_array().unwrap();
    let (found, xml) = junit(&["--fail-on", "worse"], RUNS);
    assert_eq!(found, Some(1));
    let document = roxmltree::Document::parse(&xml).unwrap();
    let failed = document.descendants().filter(|node| node.has_tag_name("failure"));
    let names: Vec<_> =
        failed.map(|node| node.parent().unwrap().attribute("name").unwrap()).collect();
    let expected: Vec<_> = findings
        .iter()
        .map(|of| format!("{}: {}", of["of"].as_str().unwrap(), of["subject"].as_str().unwrap()))
        .collect();
    assert_eq!(names, expected);
    let failure = document.descendants().find(|node| node.has_tag_name("failure")).unwrap();
    let mean = findings[0]["new"]["mean"].as_f64().unwrap().round();
    let message = failure.attribute("message").unwrap();
    assert!(message.contains(" us, was ") && message.contains("(+"), "{message} {mean}");
    // Without --fail-on, differences are not failures.
    let (found, xml) = junit(&[], RUNS);
    assert_eq!(found, Some(0));
    assert!(xml.contains("failures=\"0\"") && xml.contains("<system-out>mean "), "{xml}");
    let (_, xml) = junit(&["--fail-on", "worse"], [RUNS[0], RUNS[0]]);
    assert!(xml.contains("testcase name=\"50 figures compared, 0 different\""), "{xml}");
    let (found, xml) = junit(&[], [RUNS[0], "no such file"]);
    assert_eq!(found, Some(4));
    assert!(xml.contains("errors=\"1\"") && xml.contains("No such file"), "{xml}");
}

#[test]
fn fail_on_fails_if_nothing_was_compared() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.xml");
    let runs = [RUNS[0], RUNS[0]];
    for selection in [["--from", "99s"], ["--context", "nope"]] {
        let with = |options: &[&str]| run(&[&RATE[..], &selection, options, &runs].concat());
        for fail_on in ["worse", "worse,change,new,gone", "5%", "new,gone"] {
            let output = with(&["--fail-on", fail_on, "--junit", file.to_str().unwrap()]);
            assert_eq!(status(&output), Some(1), "{selection:?} {fail_on}: {}", stdout(&output));
            assert!(stdout(&output).contains("NOTHING COMPARED: 0 figures compared"));
            let message = "error: --fail-on: no figure could be compared";
            assert!(stderr(&output).contains(message), "{}", stderr(&output));
            let xml = std::fs::read_to_string(&file).unwrap();
            assert!(xml.contains("failures=\"1\""), "{xml}");
        }
        assert_eq!(status(&with(&[])), Some(0), "{selection:?}");
    }
}
