//! Tests two outputs of `analyze`: the distributions of times, and the explanations of single
//! times. The expected outputs are in `tests/golden/`. `BLESS=1 cargo test` writes them; review the
//! diff.

mod bless;
mod validation;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use bless::assert_golden;
use snapbox::file;
use validation::validated;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn analyze(arguments: &[&str], trace: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    command.arg("analyze").args(arguments).arg(trace).stdin(Stdio::null());
    command.env_remove("COLUMNS").output().unwrap()
}

fn text(arguments: &[&str], trace: &Path) -> String {
    let output = analyze(arguments, trace);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str], trace: &Path) -> serde_json::Value {
    let text = text(&[&["--json"], arguments].concat(), trace);
    validated("analyze", &text)["traces"][0].clone()
}

/// Returns the selected events of a trace.
fn json_lines(options: &[&str], trace: &Path) -> Vec<serde_json::Value> {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tracewell"));
    let output = command.arg("events").args(options).arg(trace).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn documents_of_sections_have_only_their_figures() {
    let document = json(&["--show", "stacks,spans"], &example("scheduling.trx"));
    let keys: Vec<_> = document.as_object().unwrap().keys().map(String::as_str).collect();
    for (key, is_there) in [
        ("stacks", true),
        ("spans", true),
        ("unknown_spans", true),
        ("events", true),
        ("tasks", false),
        ("locks", false),
        ("machines", false),
        ("levels", false),
        ("distributions", false),
    ] {
        assert_eq!(keys.contains(&key), is_there, "{key}: {keys:?}");
    }
    assert!(!document["stacks"].as_array().unwrap().is_empty());
    let reason =
        "the trace has no such figures, which need the spans of a program that uses `tracing`";
    let absent = serde_json::json!([{ "option": "--show spans", "reason": reason }]);
    assert_eq!(document["without_effect"], absent);
    let distributions = json(&["--show", "distributions"], &example("scheduling.trx"));
    assert!(distributions["distributions"].as_array().is_some_and(|rows| rows.len() > 5));
    let text = text(&["--show", "jobs"], &example("scheduling.trx"));
    let line = "--show jobs: the trace has no such figures, which need events for the release and the \
                completion of jobs";
    assert!(text.lines().any(|found| found == line), "{text}");
}

#[test]
fn a_receive_that_still_waits_has_taken_nothing() {
    let document = json(&[], &example("scheduling.trx"));
    let samples = &document["levels"][0];
    assert_eq!(samples["object"], "samples");
    assert_eq!((&samples["put"], &samples["taken"]), (&29.into(), &29.into()));
}

#[test]
fn distributions_are_as_the_golden_files_show() {
    let show = ["--show", "distributions", "--histogram"];
    let kernels = text(&show, &example("scheduling.trx"));
    assert_golden(kernels, file!["golden/distributions.txt"]);
    let narrow = text(&[&show[..], &["--width", "80"]].concat(), &example("mill.bin"));
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    assert_golden(narrow, file!["golden/distributions-80.txt"]);
}

#[test]
fn explanations_are_as_the_golden_files_show() {
    let threads = text(&["--why", "worst:control"], &example("scheduling.trx"));
    assert_golden(threads, file!["golden/why.txt"]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tracewell/tests/fixtures/shark");
    let names = folder.join("a_linear.meta.tsv");
    let options = ["--names", names.to_str().unwrap(), "--why", "worst:tau1"];
    let job = text(&options, &folder.join("a_linear.dat"));
    assert_golden(job, file!["golden/why-job.txt"]);
}

#[test]
fn documents_have_distributions_and_explanations() {
    let trace = example("scheduling.trx");
    let document = json(&["--why", "worst:control", "--histogram"], &trace);
    let rows = document["distributions"].as_array().unwrap();
    let hold = rows.iter().find(|row| row["measure"] == "hold").unwrap();
    assert_eq!((&hold["of"], &hold["count"]), (&"mutex log file".into(), &50.into()));
    let buckets = hold["buckets"].as_array().unwrap();
    let count: u64 = buckets.iter().map(|bucket| bucket["count"].as_u64().unwrap()).sum();
    assert_eq!(count, 50);
    assert_eq!(hold["worst"][0]["ticks"], hold["max_ticks"]);
    let why = &document["why"];
    assert_eq!((&why["ticks"], &why["until_event"]), (&68_555.into(), &842.into()));
    let sum = |rows: &serde_json::Value| -> u64 {
        rows.as_array().unwrap().iter().map(|row| row["ticks"].as_u64().unwrap()).sum()
    };
    assert_eq!((sum(&why["parts"]), sum(&why["sums"])), (68_555, 68_555));
    let link = &why["parts"][1]["chain"][0];
    assert_eq!((&link["object"], &link["inherits"]), (&"mutex log file".into(), &false.into()));
    let since = link["since_event"].as_u64().unwrap();
    let taken = json_lines(&["--where", &format!("@ticks = {}", link["since_ticks"])], &trace);
    let taken = taken.iter().find(|event| event["seq"] == since).unwrap();
    assert_eq!(
        (&taken["name"], &taken["context_name"]),
        (&"TX_TRACE_MUTEX_GET".into(), &"logger".into())
    );
    // Without the options, the document contains neither buckets nor an explanation.
    let document = json(&[], &trace);
    assert!(document.get("why").is_none() && document["distributions"][0].get("buckets").is_none());
}

#[test]
fn options_that_explain_nothing_say_why() {
    let shown = |arguments: &[&str], trace: &str| {
        let text = text(arguments, &example(trace));
        let line = text.lines().find(|line| line.contains("no effect")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{text}"))
    };
    let typo = analyze(&["--why", "worst:contrl"], &example("scheduling.trx"));
    let message = "error: --why: no task 'contrl'; did you mean 'control'?\n";
    assert_eq!((typo.status.code(), typo.stdout.is_empty()), (Some(2), true));
    assert_eq!(String::from_utf8(typo.stderr).unwrap(), message);
    assert!(shown(&["--why", "1"], "hooks.twx").contains("execution is unknown"));
    assert_eq!(shown(&["--histogram"], "hooks.twx"), NO_TIMES);
    let document = json(&["--histogram", "--why", "1"], &example("hooks.twx"));
    assert_eq!(document["without_effect"].as_array().unwrap().len(), 2);
    let wrong = analyze(&["--why", "soon"], &example("scheduling.trx"));
    let message = String::from_utf8(wrong.stderr).unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(message.contains("such as worst:control, found 'soon'"), "{message}");
}

const NO_TIMES: &str = "--histogram has no effect: the trace shows no times";

#[test]
fn questions_about_what_the_trace_lacks_are_refused() {
    let rate = ["-O", "rate=100MHz"];
    for (options, why, message) in [
        (
            &[][..],
            "46.5ms",
            "times need a clock of known rate: give tick:N, or the rate with -O rate=",
        ),
        (&rate[..], "99s", "the trace ends at 58.7619 ms, before 99 s"),
        (&rate[..], "tick:99999999", "the trace ends at 5876190 ticks, before 99999999 ticks"),
        (&[][..], "99999", "the trace has no event 99999: the last event is 1095"),
        (&[][..], "worst:nope", "no task 'nope'; the trace has 'System Timer Thread', "),
    ] {
        let output = analyze(&[options, &["--why", why]].concat(), &example("scheduling.trx"));
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(&format!("error: --why: {message}")), "{why}: {text}");
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(2), true), "{why}");
    }
}
