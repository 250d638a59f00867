//! Tests `tracewell check`: every example in its guide prints the output that the guide shows, and
//! the verb handles files and exit statuses as documented.

mod program;
#[cfg(unix)]
mod signals;
mod validation;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use program::root;
use validation::validated;

fn trace(name: &str) -> PathBuf {
    let folder =
        if name.ends_with(".trx") { "examples" } else { "crates/tracewell/tests/fixtures/rkh" };
    root().join(folder).join(name)
}

fn check(folder: &Path, arguments: &[&str], rules: &str, trace: &Path) -> Output {
    std::fs::write(folder.join("ahsm.rules"), rules).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    command.current_dir(folder).arg("check").args(arguments);
    if trace.extension().is_some_and(|extension| extension == "trx") {
        command.args(["-O", "rate=100MHz"]);
    }
    command.arg("ahsm.rules").arg(trace).output().unwrap()
}

/// Returns the code blocks of the guide. The first text of a pair is the rest of the line that
/// opens the block, and the second is the content.
fn blocks(guide: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut parts = guide.split("\n```");
    while let (Some(_), Some(block)) = (parts.next(), parts.next()) {
        let (head, text) = block.split_once('\n').unwrap();
        blocks.push((head.to_owned(), format!("{text}\n")));
    }
    blocks
}

#[test]
fn the_examples_of_the_guide_run() {
    let guide = std::fs::read_to_string(root().join("docs/checking.md")).unwrap();
    let blocks = blocks(&guide);
    let folder = tempfile::tempdir().unwrap();
    let mut run = 0;
    for (index, (head, rules)) in blocks.iter().enumerate() {
        let Some(name) = head.strip_prefix("rules ") else { continue };
        let output = check(folder.path(), &[], rules, &trace(name));
        let printed = String::from_utf8(output.stdout).unwrap();
        let warned = String::from_utf8(output.stderr).unwrap();
        assert_eq!(warned, "", "{rules}");
        match blocks.get(index + 1).filter(|(head, _)| head == "output") {
            Some((_, expected)) => {
                assert_eq!(printed, *expected);
                assert_eq!(output.status.code(), Some(1));
            }
            None => assert_eq!(output.status.code(), Some(0), "{rules}\n{printed}"),
        }
        run += 1;
    }
    assert!(run >= 7, "{run}");
}

#[test]
fn wrong_rules_are_bad_usage() {
    let folder = tempfile::tempdir().unwrap();
    let output = check(folder.path(), &[], "SM_DCH(sig ONE)\n", &trace("ahsm-a.bin"));
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]));
    let reported = String::from_utf8(output.stderr).unwrap();
    let expected = "ahsm.rules:1:12: error: expected =, !=, <, <=, > or >=, found 'ONE'\n\
                    1 | SM_DCH(sig ONE)\n\
                    \u{20} |            ^^^\n";
    assert_eq!(reported, expected);
}

#[test]
fn rules_that_ask_for_nothing_are_bad_usage() {
    let folder = tempfile::tempdir().unwrap();
    let nothing = [
        ("", ""),
        ("# to do\n\n", "# to do"),
        ("strict", "strict"),
        ("only SM_*; ignore SM_NENEX\n", "only SM_*; ignore SM_NENEX"),
        ("rule later { ... }\n", "rule later { ... }"),
    ];
    for (rules, line) in nothing {
        let output = check(folder.path(), &[], rules, &trace("ahsm-a.bin"));
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]));
        let message = "ahsm.rules:1:1: error: expected at least one rule, found none";
        let reported = String::from_utf8(output.stderr).unwrap();
        assert_eq!(reported, format!("{message}\n1 | {line}\n  | ^\n"));
    }
    for rules in ["complete\n", "rule later {}; rule now { SM_INIT }\n"] {
        let output = check(folder.path(), &[], rules, &trace("ahsm-a.bin"));
        assert_eq!(output.status.code(), Some(0), "{rules}");
    }
}

#[test]
fn names_that_the_format_does_not_have_get_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let rules = "SM_DCH(signal = ONE)\nnever SM_EVT_NFUOND\n";
    let output = check(folder.path(), &[], rules, &trace("ahsm-a.bin"));
    let reported = String::from_utf8(output.stderr).unwrap();
    assert!(
        reported.contains("1:1: warning: this event has no argument 'signal'; it has ao, sig, st"),
        "{reported}"
    );
    assert!(
        reported.contains(
            "2:7: warning: no event named 'SM_EVT_NFUOND' in format rkh; did you mean 'SM_EVT_NFOUND'?"
        ),
        "{reported}"
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn written_rules_are_met() {
    let folder = tempfile::tempdir().unwrap();
    let written = ["--write", "--force", "--event", "SM *", "--without", "act"];
    let output = check(folder.path(), &written, "", &trace("ahsm-a.bin"));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let rules = std::fs::read_to_string(folder.path().join("ahsm.rules")).unwrap();
    assert!(rules.starts_with("# The events of ahsm-a.bin.\nstrict\nonly SM_*\n\n"), "{rules}");
    assert!(!rules.contains("act ="), "{rules}");
    assert_eq!(check(folder.path(), &[], &rules, &trace("ahsm-a.bin")).status.code(), Some(0));
    let shorter = rules.replacen("RKH_TE_SM_EVT_PROC(ao = my)\n", "", 1);
    assert_eq!(check(folder.path(), &[], &shorter, &trace("ahsm-a.bin")).status.code(), Some(1));
}

#[test]
fn the_verdict_is_json_for_programs() {
    let folder = tempfile::tempdir().unwrap();
    let rules = "rule one { SM_DCH(sig = TWO); next SM_DCH }\n";
    let output = check(folder.path(), &["--json"], rules, &trace("ahsm-a.bin"));
    assert_eq!(output.status.code(), Some(1));
    let document = validated("check", std::str::from_utf8(&output.stdout).unwrap());
    let verdict = &document["traces"][0];
    assert_eq!((verdict["passed"].as_bool(), verdict["steps"].as_u64()), (Some(false), Some(1)));
    let failure = &verdict["failures"][0];
    assert_eq!(
        (failure["rule"].as_str(), failure["kind"].as_str()),
        (Some("one"), Some("unexpected"))
    );
    assert_eq!(failure["place"]["column"], 31);
    assert_eq!((&failure["since"]["seq"], &failure["at"]["seq"]), (&111.into(), &112.into()));
    assert_eq!(failure["at"]["label"], "SM TRN");
    assert_eq!(failure["context"].as_array().map(Vec::len), Some(8));
}

#[test]
fn rules_and_trace_are_not_both_on_standard_input() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    let output =
        command.args(["check", "-", "-"]).stdin(std::process::Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_rule_that_is_not_met_counts_more_than_damage() {
    let folder = tempfile::tempdir().unwrap();
    let damaged = folder.path().join("damaged.bin");
    let mut bytes = std::fs::read(trace("ahsm-a.bin")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    std::fs::write(&damaged, bytes).unwrap();
    let status = |rules| check(folder.path(), &[], rules, &damaged).status.code();
    assert_eq!(status("never QUE_FULL\n"), Some(3));
    assert_eq!(status("never SM_TRN\n"), Some(1));
}

#[test]
fn a_name_is_given_to_one_step_only() {
    let folder = tempfile::tempdir().unwrap();
    let rules = "SM_DCH as it\nSM_TRN as it\nSM_STATE within 1 s of it\n";
    let output = check(folder.path(), &[], rules, &trace("ahsm-a.bin"));
    let reported = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{reported}");
    assert!(
        reported.contains("2:11: error: an earlier step already has the name 'it'"),
        "{reported}"
    );
}

/// Returns the first line that a command prints while its input is still open.
fn first_line(child: &mut std::process::Child) -> String {
    use std::io::BufRead;
    let mut line = String::new();
    let stdout = child.stdout.as_mut().unwrap();
    std::io::BufReader::new(stdout).read_line(&mut line).unwrap();
    line
}

fn checking(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    std::fs::write(folder.join("live.rules"), "never SM_TRN\neventually SM_DCH\n").unwrap();
    command.arg("check").args(arguments).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn a_broken_rule_is_reported_while_the_stream_runs() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["live.rules", "-"][..], &["--follow", "live.rules", "-"]] {
        let mut child = checking(folder.path(), arguments).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(&std::fs::read(trace("ahsm-a.bin")).unwrap()).unwrap();
        // The command prints this line although the pipe is still open.
        assert_eq!(first_line(&mut child), "live.rules:1:1: error: forbidden event\n");
        drop(pipe);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let rest = String::from_utf8(output.stdout).unwrap();
        assert!(!rest.contains("forbidden event"), "it was already reported: {rest}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_is_followed_until_a_signal_arrives() {
    use rustix::process::{Pid, Signal, kill_process};
    use std::io::Write;
    signals::end_programs();
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(trace("ahsm-a.bin")).unwrap();
    let (first, rest) = bytes.split_at(bytes.len() / 2);
    let growing = folder.path().join("growing.bin");
    std::fs::write(&growing, first).unwrap();
    let arguments = ["--follow", "live.rules", "growing.bin"];
    let mut child = checking(folder.path(), &arguments).spawn().unwrap();
    assert_eq!(first_line(&mut child), "live.rules:1:1: error: forbidden event\n");
    let mut file = std::fs::File::options().append(true).open(&growing).unwrap();
    file.write_all(rest).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.ends_with(" events\n") && text.contains("FAILED: "), "{text}");
}

#[test]
fn inputs_that_cannot_be_followed_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&[&str], i32, &str); 3] = [
        (&["--follow", "live.rules", "a", "b"], 2, "expected one trace, found several"),
        (&["--follow", "--write", "live.rules", "a"], 2, "cannot be used with"),
        (&["--follow", "live.rules", "-"], 3, "no event of a known format was received"),
    ];
    for (arguments, status, reported) in cases {
        let output = checking(folder.path(), arguments).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
        assert!(said.contains(reported), "{arguments:?}: {said}");
    }
}
