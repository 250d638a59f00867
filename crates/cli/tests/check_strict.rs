//! Tests misspelt rules: the messages about unknown names and undecided rules in each form of
//! `tracewell check`, and `--strict`, which makes both count as failures.

mod program;
mod validation;

use std::path::Path;
use std::process::Output;

use program::{program, root, run, status, stderr, stdout};
use validation::validated;

const MISSPELT: &str =
    "whenever thread_resumes(thread = contrl) then user_event_4097 within 4 ms\n";
const RIGHT: &str = "whenever thread_resumes(thread = control) then user_event_4097 within 4 ms\n";
const WHY: &str = "rule not decided: 162 'thread resumes' events, none with thread=contrl; did you mean 'control'?";

fn check(folder: &Path, rules: &str, options: &[&str]) -> Output {
    std::fs::write(folder.join("my.rules"), rules).unwrap();
    let mut command = program(folder);
    command.args(["check", "-O", "rate=100MHz"]).args(options).arg("my.rules");
    command.arg(root().join("examples/scheduling.trx")).output().unwrap()
}

/// Returns the number of events of the example that meet a selection.
fn count(selection: &[&str]) -> usize {
    let output = run(&[&["events", "examples/scheduling.trx"], selection].concat());
    stdout(&output).lines().count()
}

#[test]
fn an_undecided_rule_passes_with_its_reason_and_fails_if_strict() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(count(&["--event", "thread_resumes"]), 162);
    let output = check(folder.path(), MISSPELT, &[]);
    let expected = format!(
        "my.rules:1:1: {WHY}\nNOTHING DECIDED: 0 of 1 rule held in 1096 events, 1 rule not decided, 0 events answered\n"
    );
    assert_eq!((status(&output), stdout(&output), stderr(&output)), (Some(1), expected, "".into()));
    // With a second rule that the trace decides, the status is 0.
    let output = check(folder.path(), &format!("{MISSPELT}lost == 0\n"), &[]);
    assert_eq!(status(&output), Some(0), "{output:?}");
    assert!(stdout(&output).contains("\npassed: 1 of 2 rules held in 1096 events"), "{output:?}");
    let output = check(folder.path(), MISSPELT, &["--strict"]);
    let printed = stdout(&output);
    assert_eq!(status(&output), Some(1), "{printed}");
    assert!(
        printed.starts_with(&format!("my.rules:1:1: error: {WHY}\n1 | whenever ")),
        "{printed}"
    );
    assert!(printed.contains("\nFAILED: 0 of 1 rule held in 1096 events"), "{printed}");
    assert!(!printed.contains("waiting since"), "{printed}");
    // No event begins the range of the first rule, and none ends the range of the second.
    let rules = "never SM from tx_thread_delete\nnever tx_thread_delete until user_event_4097(arg1 = 999)\n";
    let printed = stdout(&check(folder.path(), rules, &[]));
    let none = "my.rules:1:1: rule not decided: no event begins its range: the trace has no event \
                'tx_thread_delete'\n";
    let users = count(&["--event", "user_event_4097"]);
    let until = format!(
        "my.rules:2:1: rule not decided: no event ends its range: {users} 'user event 4097' events, \
         none with arg1=999\n"
    );
    assert!(printed.starts_with(&format!("{none}{until}")), "{printed}");
}

#[test]
fn a_run_that_decides_nothing_is_no_success_in_any_form() {
    let folder = tempfile::tempdir().unwrap();
    let none =
        "error: none of the rules was decided: the traces do not contain what the rules name\n";
    for options in [&["--quiet"][..], &["--json"], &["--format", "github"]] {
        let output = check(folder.path(), MISSPELT, options);
        assert_eq!((status(&output), &*stderr(&output)), (Some(1), none), "{options:?}");
    }
    let json = validated("check", &stdout(&check(folder.path(), MISSPELT, &["--json"])));
    assert_eq!(json["traces"][0]["passed"], false);
    check(folder.path(), MISSPELT, &["--quiet", "--junit", "results.xml"]);
    let xml = std::fs::read_to_string(folder.path().join("results.xml")).unwrap();
    let document = roxmltree::Document::parse(&xml).unwrap();
    let failure = document.descendants().find(|node| node.has_tag_name("failure")).unwrap();
    assert_eq!(failure.parent().unwrap().attribute("name"), Some("decide a rule"));
    // One file of rules may serve several systems: it is enough if one trace decides a rule.
    let rkh = root().join("crates/tracewell/tests/fixtures/rkh/ahsm-a.bin");
    std::fs::write(folder.path().join("two.rules"), "whenever SM_DCH then SM_TRN\n").unwrap();
    let mut command = program(folder.path());
    command.args(["check", "--junit", "two.xml", "two.rules"]);
    let output = command.arg(root().join("examples/scheduling.trx")).arg(rkh).output().unwrap();
    let printed = stdout(&output);
    assert_eq!(status(&output), Some(0), "{printed}");
    assert!(printed.contains("\nNOTHING DECIDED: ") && printed.contains("\npassed: "), "{printed}");
    let xml = std::fs::read_to_string(folder.path().join("two.xml")).unwrap();
    assert!(xml.contains("failures=\"0\"") && !xml.contains("decide a rule"), "{xml}");
}

#[test]
fn the_summary_counts_rules_and_answers() {
    let folder = tempfile::tempdir().unwrap();
    // If several resumes follow each other without an answer, the time limit counts from the first.
    let selection = "@id = 4097 || thread = control";
    let named = ["--event", "thread_resumes", "--event", "4097", "--where", selection];
    let events = run(&[&["events", "examples/scheduling.trx"], &named[..]].concat());
    let (mut waits, mut answered) = (false, 0);
    for event in stdout(&events).lines() {
        let is_answer = event.contains("\"id\":4097,");
        answered += usize::from(is_answer && waits);
        waits = !is_answer;
    }
    let output = check(folder.path(), RIGHT, &["--strict"]);
    let expected = format!("passed: 1 rule held in 1096 events, {answered} events answered\n");
    assert_eq!((status(&output), stdout(&output)), (Some(0), expected));
}

#[test]
fn unknown_names_fail_if_strict() {
    let folder = tempfile::tempdir().unwrap();
    let why = "no event named 'tx_queue_snd' in format threadx; did you mean 'tx_queue_send'?";
    let rules = "never tx_queue_snd\n";
    let output = check(folder.path(), rules, &[]);
    assert_eq!(status(&output), Some(0), "{output:?}");
    assert!(stderr(&output).starts_with(&format!("my.rules:1:7: warning: {why}\n")), "{output:?}");
    let output = check(folder.path(), rules, &["--strict", "--junit", "results.xml"]);
    assert_eq!((status(&output), stderr(&output)), (Some(1), String::new()), "{output:?}");
    assert!(stdout(&output).starts_with(&format!("my.rules:1:7: error: {why}\n")), "{output:?}");
    let xml = std::fs::read_to_string(folder.path().join("results.xml")).unwrap();
    let document = roxmltree::Document::parse(&xml).unwrap();
    let failure = document.descendants().find(|node| node.has_tag_name("failure")).unwrap();
    assert_eq!(
        (failure.attribute("type"), failure.attribute("message")),
        (Some("unknown"), Some(why))
    );
    assert_eq!(failure.parent().unwrap().attribute("name"), Some("tx_queue_snd"));
    let output = check(folder.path(), "never tx_mutex_get(mutx = \"log file\")\n", &["--strict"]);
    assert!(stdout(&output).contains("this event has no argument 'mutx'; "), "{output:?}");
    let output = check(folder.path(), "never user_event_4097(arg9 = 1)\n", &["--strict"]);
    assert!(stdout(&output).contains("this event has no argument 'arg9'; "), "{output:?}");
    assert_eq!(status(&output), Some(1));
    assert_eq!(
        status(&check(folder.path(), "never user_event_4097(arg1 = 999)\n", &["--strict"])),
        Some(0)
    );
}

#[test]
fn a_name_in_a_condition_that_the_trace_lacks_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let why = "no context named 'contrl' in this trace; did you mean 'control'?";
    for (rules, column) in [
        ("never tx_mutex_get(@context = contrl)\n", 7),
        ("ignore tx_mutex_get(@context = contrl)\ntx_mutex_get\n", 8),
    ] {
        let output = check(folder.path(), rules, &["--strict"]);
        assert_eq!(status(&output), Some(0), "{output:?}");
        let said = format!("my.rules:1:{column}: warning: {why}\n");
        assert!(stderr(&output).starts_with(&said), "{output:?}");
    }
    let rules = "never tx_mutex_get(mutex = log_flie)\n";
    let document = validated("check", &stdout(&check(folder.path(), rules, &["--json"])));
    let message = document["traces"][0]["warnings"][0]["message"].as_str().unwrap();
    assert_eq!(message, "no object named 'log_flie' in this trace; did you mean 'log file'?");
    let output = check(folder.path(), "never \"TX_MUTEX get\"\n", &[]);
    let hint = "in format threadx; without quotation marks, case and '_' do not matter\n";
    assert!(stderr(&output).contains(hint), "{output:?}");
}

#[test]
fn programs_get_the_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let rules = format!("{MISSPELT}never tx_queue_snd\n");
    let printed = stdout(&check(folder.path(), &rules, &["--format", "github"]));
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines.len(), 2, "{printed}");
    let begin = "::warning file=my.rules,line=2,col=7,endColumn=19,title=unknown::";
    assert!(lines[0].starts_with(begin) && lines[0].contains("'tx_queue_snd'"), "{printed}");
    let begin = "::warning file=my.rules,line=1,col=1,endColumn=74,title=undecided::";
    assert!(lines[1].starts_with(begin) && lines[1].ends_with(WHY), "{printed}");
    let printed = stdout(&check(folder.path(), &rules, &["--format", "github", "--strict"]));
    assert!(printed.lines().count() == 2 && !printed.contains("::warning"), "{printed}");
    let document = validated("check", &stdout(&check(folder.path(), &rules, &["--json"])));
    let verdict = &document["traces"][0];
    assert_eq!(verdict["rules"][0]["reason"], WHY);
    assert_eq!(verdict["rules"][1]["reason"], serde_json::Value::Null);
    assert_eq!(verdict["warnings"][0]["place"]["line"], 2);
    let document =
        validated("check", &stdout(&check(folder.path(), &rules, &["--json", "--strict"])));
    let verdict = &document["traces"][0];
    assert_eq!(verdict["passed"], false);
    let kinds = [&verdict["failures"][0]["kind"], &verdict["failures"][1]["kind"]];
    assert_eq!(kinds, ["undecided", "unknown"]);
}

#[test]
fn names_with_blanks_get_a_suggestion() {
    let folder = tempfile::tempdir().unwrap();
    for (rules, expected) in [
        (
            "whenever thread resumes(thread = control) then tx_mutex_get\n",
            "1:17: error: expected one word as the name of an event, found 'resumes'; for a name with \
             blanks, write thread_resumes or \"thread resumes\"",
        ),
        (
            "never tx_mutex_get\nuser event 4097(arg1 = 1)\n",
            "2:6: error: expected one word as the name of an event, found 'event'; for a name with \
             blanks, write user_event_4097 or \"user event 4097\"",
        ),
    ] {
        let output = check(folder.path(), rules, &[]);
        assert_eq!(status(&output), Some(2), "{output:?}");
        let message = stderr(&output);
        assert_eq!(message.lines().next().unwrap(), format!("my.rules:{expected}"));
        assert_eq!(message.matches("error:").count(), 1, "{message}");
    }
    for rules in ["never \"thread resumes\"(thread = none)\n", "never thread_resumes(thread=x)\n"] {
        assert_eq!(status(&check(folder.path(), rules, &[])), Some(0), "{rules}");
    }
}
