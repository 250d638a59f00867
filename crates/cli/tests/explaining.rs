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
    assert_eq!(why["parts"][1]["chain"][0]["object"], "mutex log file");
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
    assert_eq!(
        shown(&["--why", "worst:contrl"], "scheduling.trx"),
        "--why has no effect: no task 'contrl'; did you mean 'control'?"
    );
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
