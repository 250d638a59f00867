//! Tests the output of `tracewell check` for programs: every rule in JSON and JUnit, annotations
//! for GitHub, and `--quiet`.

mod program;
mod validation;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use program::{program, stdout};
use serde_json::{Value, json};
use validation::validated;

const RULES: &str = "\
SM_DCH(sig = TWO)                       # 1: held
next SM_TRN
never QUE_FULL                          # 3: held
count 1..30 SMA_FIFO                    # 4: held
never SM_DCH from SM_DCH(sig = TERM)    # 5: open
whenever SMA_FIFO(sig = $s) then SMA_GET(sig = $s) within 100 ms
rule \"100%: a, <b>\" {
    SM_DCH(sig = TWO)
    next SM_DCH                         # 9: failed
}
count 0 SMA_GET until SM_DCH(sig = NO)  # 11: failed
complete
";

fn trace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tracewell/tests/fixtures/rkh/ahsm-a.bin")
}

fn check(folder: &Path, options: &[&str], traces: &[&Path]) -> Output {
    std::fs::write(folder.join("my.rules"), RULES).unwrap();
    let mut command = program(folder);
    command.arg("check").args(options).arg("my.rules").args(traces).output().unwrap()
}

/// Returns the number of posted messages and the number of received messages. If several waiting
/// messages have the same signal, one SMA_GET receives all of them, and they count as one received
/// message.
fn exchanged() -> (usize, usize) {
    let mut events = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    let arguments = ["events", "--event", "SMA_FIFO", "--event", "SMA_GET"];
    let output = events.args(arguments).arg(trace()).output().unwrap();
    let (mut waiting, mut posted, mut taken) = (std::collections::HashSet::new(), 0, 0);
    for line in stdout(&output).lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let signal = event["args"]["sig"].to_string();
        match event["name"].as_str() {
            Some("RKH_TE_SMA_FIFO") => {
                posted += 1;
                waiting.insert(signal);
            }
            Some("RKH_TE_SMA_GET") => taken += usize::from(waiting.remove(&signal)),
            _ => {}
        }
    }
    (posted, taken)
}

#[test]
fn json_lists_every_rule_with_its_counts() {
    let folder = tempfile::tempdir().unwrap();
    let output = check(folder.path(), &["--format", "json"], &[&trace(), &trace()]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let document = validated("check", &stdout(&output));
    let traces = document["traces"].as_array().unwrap();
    assert_eq!(traces.len(), 2);
    assert_eq!(traces[0], traces[1]);
    let row = |rule: &Value| {
        let keys = ["kind", "result", "held", "failed", "open", "matched"];
        let values = keys.iter().map(|key| rule[key].clone());
        (rule["place"]["line"].as_u64().unwrap(), values.collect::<Vec<_>>())
    };
    let found: Vec<_> = traces[0]["rules"].as_array().unwrap().iter().map(row).collect();
    let (posted, answered) = exchanged();
    assert!(posted > answered && answered > 3);
    let expected = [
        (1, json!(["steps", "held", 1, 0, 0, 2])),
        (3, json!(["never", "held", 1, 0, 0, 0])),
        (4, json!(["count", "held", 1, 0, 0, posted])),
        (5, json!(["never", "open", 0, 0, 0, 0])),
        (6, json!(["whenever", "held", answered, 0, 0, posted + answered])),
        (8, json!(["steps", "failed", 0, 1, 0, 1])),
        (11, json!(["count", "failed", 0, 1, 0, 1])),
        (12, json!(["complete", "held", 1, 0, 0, 0])),
    ];
    let expected = expected.map(|(line, row)| (line, row.as_array().unwrap().clone()));
    assert_eq!(found, expected);
    assert_eq!(traces[0]["rules"][5]["rule"], "100%: a, <b>");
    assert_eq!(traces[0]["rules"][5]["place"]["text"], "SM_DCH(sig = TWO)");
    // `--json` prints the same document.
    let json = check(folder.path(), &["--json"], &[&trace(), &trace()]);
    assert_eq!(stdout(&json), stdout(&output));
    assert_eq!(traces[0]["failures"].as_array().unwrap().len(), 2);
}

#[test]
fn junit_has_a_case_per_rule_and_an_error_for_an_unreadable_trace() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--quiet", "--junit", "results.xml"];
    let output = check(folder.path(), &options, &[&trace(), Path::new("absent.bin")]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(4), 0), "{output:?}");
    let xml = std::fs::read_to_string(folder.path().join("results.xml")).unwrap();
    let document = roxmltree::Document::parse(&xml).unwrap();
    let suites: Vec<_> = document.root_element().children().filter(|n| n.is_element()).collect();
    let numbers = |suite: &roxmltree::Node<'_, '_>| {
        ["tests", "failures", "errors", "skipped"]
            .map(|key| suite.attribute(key).unwrap_or("0").to_owned())
    };
    assert_eq!(
        suites.iter().map(numbers).collect::<Vec<_>>(),
        [["8", "2", "0", "1"], ["1", "0", "1", "0"]]
    );
    assert_eq!(suites[1].attribute("name"), Some("absent.bin"));
    let error = suites[1].descendants().find(|n| n.has_tag_name("error")).unwrap();
    let reason = error.attribute("message").unwrap();
    assert!(reason.starts_with("absent.bin: ") && reason.contains("No such file"), "{reason}");
    let cases: Vec<_> = suites[0].children().filter(|n| n.has_tag_name("testcase")).collect();
    let failed = cases[5];
    assert_eq!(failed.attribute("name"), Some("100%: a, <b>: SM_DCH(sig = TWO)"));
    assert_eq!(failed.attribute("classname"), Some("my.rules"));
    assert_eq!((failed.attribute("file"), failed.attribute("line")), (Some("my.rules"), Some("8")));
    let failure = failed.children().find(|n| n.has_tag_name("failure")).unwrap();
    assert_eq!(failure.attribute("type"), Some("unexpected"));
    assert_eq!(failure.attribute("message"), Some("expected this next, found SM TRN"));
    assert!(failure.text().unwrap().contains("my.rules:9:5: error: expected this next"), "{xml}");
    assert!(cases[3].children().any(|n| n.has_tag_name("skipped")), "{xml}");
    assert!(cases[0].children().all(|n| !n.is_element()), "{xml}");
    // The command does not overwrite a file that it reads.
    let output = check(folder.path(), &["--junit", "my.rules"], &[&trace()]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(std::fs::read_to_string(folder.path().join("my.rules")).unwrap(), RULES);
}

#[test]
fn junit_shows_damage_and_missing_events() {
    let folder = tempfile::tempdir().unwrap();
    let suite = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        std::fs::write(folder.path().join("quiet.rules"), "never QUE_FULL\n").unwrap();
        let mut command = program(folder.path());
        let output = command.args(["check", "--junit", "x.xml", "quiet.rules", name]).output();
        let output = output.unwrap();
        let xml = std::fs::read_to_string(folder.path().join("x.xml")).unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap(), xml)
    };
    let bytes = std::fs::read(trace()).unwrap();
    let (status, _, whole) = suite("whole.bin", &bytes);
    assert_eq!((status, whole.contains("system-out")), (Some(0), false), "{whole}");
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 2] ^= 0x55;
    let (status, printed, xml) = suite("damaged.bin", &damaged);
    assert_eq!(status, Some(3));
    let document = roxmltree::Document::parse(&xml).unwrap();
    let error = document.descendants().find(|node| node.has_tag_name("error")).unwrap();
    assert_eq!(error.parent().unwrap().attribute("name"), Some("read the whole trace"));
    let message = error.attribute("message").unwrap();
    let damage = message.strip_prefix("the trace is damaged: ").unwrap();
    assert!(printed.contains(&format!("damaged.bin: damaged: {damage}")), "{message}: {printed}");
    // Whole records are missing, so the trace is not damaged.
    let frames: Vec<_> = bytes.split_inclusive(|byte| *byte == 0x7E).collect();
    let middle = frames.len() / 2;
    let (status, _, xml) =
        suite("gap.bin", &[&frames[..middle], &frames[middle + 6..]].concat().concat());
    assert_eq!(status, Some(0), "{xml}");
    let document = roxmltree::Document::parse(&xml).unwrap();
    let text = |name: &str| document.descendants().find(|node| node.has_tag_name(name)).unwrap();
    let said = text("system-out").text().unwrap();
    assert!(said.starts_with("events are missing in 1 place, "), "{said}");
    assert_eq!(
        (text("property").attribute("name"), text("property").attribute("value")),
        (Some("gaps"), Some("1"))
    );
}

#[test]
fn annotations_name_the_place_of_each_failure() {
    let folder = tempfile::tempdir().unwrap();
    let output = check(folder.path(), &["--format", "github"], &[&trace()]);
    let printed = stdout(&output);
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!((output.status.code(), lines.len()), (Some(1), 3), "{lines:#?}");
    let begins = "::warning file=my.rules,line=5,col=1,endColumn=37,title=undecided::";
    assert!(lines[2].starts_with(begins), "{}", lines[2]);
    let begins = "::error file=my.rules,line=11,col=1,endColumn=39,title=count::";
    assert!(lines[0].starts_with(begins), "{}", lines[0]);
    let begins =
        "::error file=my.rules,line=9,col=5,endColumn=16,title=100%25%3A a%2C <b> (unexpected)::";
    assert!(lines[1].starts_with(begins), "{}", lines[1]);
    assert!(lines[1].contains("ahsm-a.bin: expected this next, found SM TRN%0A"), "{}", lines[1]);
}

#[test]
fn text_counts_the_rules_that_nothing_decides() {
    let folder = tempfile::tempdir().unwrap();
    let output = check(folder.path(), &[], &[&trace()]);
    let undecided = "\
my.rules:5:1: rule not decided: no event begins its range: 17 'SM DCH' events, none with sig=TERM
FAILED in 2 places: 5 of 8 rules held in 392 events, 1 rule not decided, 17 events answered, 3 steps met
";
    assert!(stdout(&output).contains(undecided), "{}", stdout(&output));
}
