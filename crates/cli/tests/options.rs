//! Options that can have no effect say so, and why; the command does the rest of what is asked for.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::copy(root.join("examples/scheduling.trx"), at("t")).unwrap();
    std::fs::copy(root.join("crates/tracewell/tests/fixtures/rkh/ahsm-a.bin"), at("r")).unwrap();
    std::fs::copy(root.join("examples/hooks.twx"), at("h")).unwrap();
    std::fs::copy(root.join("templates/groups"), at("g")).unwrap();
    std::fs::copy(root.join("templates/threadx.fmt"), at("f")).unwrap();
    std::fs::write(at("names"), "1 one\n").unwrap();
    std::fs::write(
        at("custom"),
        "Start\n5000, Frame sent, FS, (0, 0, 255), (0, 0, 0), Length, Marker, Queue, Left\nEnd\n",
    )
    .unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    command.current_dir(folder.path()).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn an_option_without_effect_says_why() {
    let lines = "has no effect: it is of the layout trcrpt, and this one is lines";
    let instead = "has no effect: -G, -j and -c";
    let shows = "has no effect: nothing is shown without --follow";
    let keep = ["collect", "--file", "t", "--idle", "0.1", "-o", "kept"];
    let kept = |more: &[&'static str]| [&keep[..], more].concat();
    let raw = |more: &[&'static str]| [&["trcrpt", "-r", "h"][..], more].concat();
    let cases: [(Vec<&str>, &str, &str); 21] = [
        (vec!["report", "--width", "60", "t"], "--width", lines),
        (vec!["report", "--jobs", "2", "t"], "--jobs", lines),
        (vec!["report", "--layout", "lines", "--no-heading", "t"], "--no-heading", lines),
        (vec!["report", "--layout", "lines", "-t", "f", "t"], "-t", lines),
        (vec!["report", "--layout", "lines", "-O", "exec=on", "t"], "-O with columns", lines),
        (vec!["report", "--color", "always", "h"], "--color", "has no effect: the layout trcrpt"),
        (vec!["report", "--color", "always", "-o", "x", "t"], "--color", "has no effect: a file"),
        (vec!["report", "--group-file", "g", "h"], "--group-file", "has no effect: no group"),
        (vec!["report", "-G", "h"], "FILE", instead),
        (vec!["report", "-j", "--event", "x"], "what selects and shows events", instead),
        (
            vec!["report", "-O", "starttime=0.1", "--from", "5ms", "h"],
            "-O starttime",
            "has no effect: --from",
        ),
        (vec!["info", "--join", "h"], "h: --join", "has no effect: there is one file only"),
        (
            vec!["events", "--custom-events", "custom", "r"],
            "r: --custom-events",
            "has no effect: they name events of ThreadX, and this is a trace of rkh",
        ),
        (
            vec!["convert", "--custom-events", "custom", "r", "--to", "csv", "-o", "-"],
            "r: --custom-events",
            "has no effect: they name events of ThreadX",
        ),
        (kept(&["--event", "x"]), "what selects events", shows),
        (kept(&["-O", "rate=1MHz"]), "-O", shows),
        (kept(&["--names", "names"]), "--names", shows),
        (kept(&["--packets", "5"]), "--packets", "has no effect: only --udp brings packets"),
        (kept(&["--once"]), "--once", "has no effect: files and standard input"),
        (raw(&["-d", "134"]), "a selection (-C, -d, -D, -k, -K, -p, -T)", "-r writes all entries"),
        (raw(&["-O", "exec=on"]), "-O", "has no effect: -r writes entries as they are"),
    ];
    for (arguments, option, why) in cases {
        let output = run(&arguments);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {told}");
        let said = format!("tracewell: {option}");
        let line = told.lines().find(|line| line.starts_with(&said) && line.contains(why));
        assert!(line.is_some(), "{arguments:?}: {told}");
    }
}

#[test]
fn options_that_contradict_are_bad_usage() {
    let cases: [&[&str]; 6] = [
        &["report", "-s", "010100000026", "--from", "5ms", "h"],
        &["report", "-e", "010100000026", "--to", "5ms", "h"],
        &["record", "--pid", "1", "--lanes", "5"],
        &["record", "--pid", "1", "--packets", "5"],
        &["template", "update", "-x", "134", "some"],
        &["template", "update", "-x", "134", "-o"],
    ];
    for arguments in cases {
        if arguments[0] == "record" && !cfg!(target_os = "linux") {
            continue;
        }
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn names_of_another_systems_events_change_nothing() {
    let plain = run(&["events", "r"]).stdout;
    assert!(plain.len() > 1000);
    assert!(run(&["events", "--custom-events", "custom", "r"]).stdout == plain);
}
