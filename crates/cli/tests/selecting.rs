//! Tests names on the command line: their meaning in each verb, and the messages about unknown
//! names.

mod program;

use std::process::Output;

use program::{root, run_in, stderr};

/// Runs a command in a separate folder with traces of ThreadX (`t`), RKH (`r`) and AIX (`h`), and
/// with a rules file.
fn run(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::copy(root().join("examples/scheduling.trx"), at("t")).unwrap();
    let rkh = "crates/tracewell/tests/fixtures/rkh/ahsm-a.bin";
    std::fs::copy(root().join(rkh), at("r")).unwrap();
    std::fs::copy(root().join("examples/hooks.twx"), at("h")).unwrap();
    std::fs::write(at("my.rules"), "TX_TRACE_RUNNING\nnever tx_mutex_gte\n").unwrap();
    run_in(folder.path(), arguments)
}

/// Returns the number of events that `report` shows.
fn selected(arguments: &[&str]) -> usize {
    let output = run(&[&["report", "--layout", "lines"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    assert_eq!(stderr(&output), "", "{arguments:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let count = text.lines().find(|line| line.starts_with("events ")).unwrap();
    let count = count.split(", ").nth(1).unwrap_or(count);
    count.split_whitespace().find_map(|word| word.parse().ok()).unwrap()
}

#[test]
fn one_event_has_the_same_names_everywhere() {
    let names = ["SM_TRN", "SM TRN", "sm_trn", "RKH_TE_SM_TRN", "98", "0x62", "SM?TRN"];
    let counts = names.map(|name| selected(&["--event", name, "r"]));
    assert!(counts[0] > 0 && counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    let all = selected(&["r"]);
    // A space separates the elements of a list, and plain digits are a hook id.
    for name in names.into_iter().filter(|name| !name.contains(' ') && *name != "98") {
        assert_eq!(selected(&["-d", name, "r"]), counts[0], "{name}");
        assert_eq!(selected(&["-k", name, "r"]), all - counts[0], "{name}");
    }
}

#[test]
fn one_context_has_the_same_names_everywhere() {
    let json = run(&["events", "--context", "control", "--head", "1", "t"]).stdout;
    let event: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let hexadecimal = event["context"].as_str().unwrap();
    let key = u64::from_str_radix(hexadecimal.trim_start_matches("0x"), 16).unwrap();
    let names =
        ["control".to_owned(), "CONTR*".to_owned(), hexadecimal.to_owned(), key.to_string()];
    for option in ["--context", "-p"] {
        let counts = names.each_ref().map(|name| selected(&[option, name, "t"]));
        assert!(counts[0] > 0 && counts.iter().all(|count| *count == counts[0]), "{counts:?}");
        assert_eq!(counts[0], selected(&["--context", "control", "t"]), "{option}");
    }
    assert_eq!(selected(&["--object", "log_file", "t"]), selected(&["--object", "log file", "t"]));
}

#[test]
fn rules_name_arguments_as_reports_and_exports_do() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("my.rules");
    for name in ["mutex_ptr", "mutex", "\"mutex ptr\"", "Mutex"] {
        let text = format!("count 50 tx_mutex_get({name} = log_file)\ncount 50.. 0x34\n");
        std::fs::write(&rules, text).unwrap();
        let output = run(&["check", rules.to_str().unwrap(), "t"]);
        let said =
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{name}: {said}");
    }
}

#[test]
fn an_unknown_name_is_reported_with_the_closest_one() {
    let wrong = |what: &str, typed: &str, meant: &str| {
        format!("no {what} named '{typed}' in this trace; did you mean '{meant}'?\n")
    };
    let event = wrong("event", "tx_mutex_gte", "tx_mutex_get");
    let context = wrong("context", "contrl", "control");
    let process = wrong("process", "contrl", "control");
    let object = wrong("object", "log_flie", "log file");
    let cases: [(&[&str], &str); 12] = [
        (&["events", "--event", "tx_mutex_gte", "t"], &event),
        (&["events", "--context", "contrl", "t"], &context),
        (&["events", "--object", "log_flie", "t"], &object),
        (&["report", "--event", "tx_mutex_gte", "t"], &event),
        (&["report", "-d", "tx_mutex_gte", "t"], &event),
        (&["report", "-k", "tx_mutex_gte", "t"], &event),
        (
            &["trcrpt", "-T", "contrl", "h"],
            "no context named 'contrl' in this trace; its contexts are 'tid 9437300'",
        ),
        (&["report", "--layout", "trcrpt", "-p", "contrl", "t"], &process),
        (&["report", "-C", "1-2", "t"], "no processor 1 in this trace; the last one is 0\n"),
        (&["check", "--write", "new", "--event", "tx_mutex_gte", "t"], &event),
        (&["check", "--write", "new", "--context", "contrl", "t"], &context),
        (
            &["collect", "--file", "t", "--once", "--idle", "0.2", "-f", "--event", "tx_mutex_gte"],
            &event,
        ),
    ];
    for (arguments, reported) in cases {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        let shown = stderr(&output);
        let is = |line: &str| line.starts_with("warning: ") && line.ends_with(reported.trim_end());
        assert!(shown.lines().any(is), "{arguments:?}: {shown}");
    }
}

#[test]
fn other_unknown_names_are_reported_with_the_closest_one() {
    let cases: [(&[&str], i32, &str); 6] = [
        (&["check", "my.rules", "t"], 0, "in format threadx; did you mean 'tx_mutex_get'?"),
        (&["check", "--write", "n", "--without", "mutx_ptr", "t"], 0, "did you mean 'mutex_ptr'?"),
        (&["report", "-D", "shced", "h"], 2, "did you mean 'sched'?"),
        (&["info", "--format-in", "thredx", "t"], 2, "did you mean 'threadx'?"),
        (&["convert", "--format", "jsonll", "t", "-o", "-"], 2, "did you mean 'jsonl'?"),
        (
            &["convert", "--format", "mermaid", "--context", "serber", "r", "-o", "-"],
            2,
            "named 'serber'",
        ),
    ];
    for (arguments, status, reported) in cases {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(reported), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn names_are_not_called_unknown_if_only_a_part_was_read() {
    for limit in [["--head", "1"], ["--to", "0"]] {
        let reported = stderr(&run(&["events", "--context", "missing", limit[0], limit[1], "t"]));
        let expected = "no context named 'missing' in the part of this trace that was read";
        assert!(reported.contains(expected), "{limit:?}: {reported}");
    }
    let output = run(&["events", "--event", "tx_mutex_delete", "--to", "1000", "t"]);
    assert_eq!(stderr(&output), "", "it is a name of this format");
}

#[test]
fn names_that_a_trace_records_late_are_valid_from_its_first_event_on() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("my.rules");
    // The trace contains the name `S1` only three events after `SM_INIT`.
    std::fs::write(&rules, "SM_INIT(ao = my, ist = S1)\nnext SM_TRN(tst = S1)\n").unwrap();
    let output = run(&["check", rules.to_str().unwrap(), "r"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(selected(&["--object", "S1", "--event", "SM_INIT", "r"]) == 1);
    // Rules that `check --write` writes also contain these names.
    let output = run(&["check", "--write", "--event", "SM_INIT", "-", "r"]);
    let written = String::from_utf8(output.stdout).unwrap();
    assert!(written.contains("SM_INIT(ao = my, ist = S1)"), "{written}");
}

#[test]
fn an_event_that_does_not_occur_is_reported_after_the_whole_trace() {
    let warning = |arguments: &[&str]| {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        stderr(&output)
    };
    let absent =
        |names: &str| format!("warning: t: these events do not occur in this trace: {names}\n");
    // 5000 is a user event, and 1388 is 5000 in hexadecimal.
    for option in ["-d", "-k"] {
        assert_eq!(warning(&["report", option, "1388", "t"]), absent("hexadecimal id 1388"));
        let found = warning(&["report", option, "1388,1000", "t"]);
        assert_eq!(found, "", "one of the ids occurs");
    }
    for verb in ["events", "report", "analyze", "info"] {
        let names = ["--event", "tx_mutex_delete", "--event", "5000", "--event", "tx_mutex_get"];
        let arguments = [&[verb][..], &names, &["t"]].concat();
        assert_eq!(warning(&arguments), absent("'tx_mutex_delete', '5000'"), "{verb}");
    }
    // The events could occur after the part that was read.
    assert_eq!(warning(&["events", "--event", "tx_mutex_delete", "--to", "1000", "t"]), "");
    // An unknown name has its own warning.
    assert!(!warning(&["events", "--event", "tx_mutex_gte", "t"]).contains("do not occur"));
    // Programs for AIX can record any hook.
    assert_eq!(warning(&["report", "-d", "7FF", "h"]), "");
}

#[test]
fn arguments_of_ranges_of_events_are_known() {
    // The schema has one entry for all user events of ThreadX.
    let cases: [&[&str]; 3] = [
        &["--where", "arg1 == 5"],
        &["--where", "arg1 == 5", "--event", "4097"],
        &["--where", "arg1 == 5", "--event", "user_event_409?"],
    ];
    for selection in cases {
        for verb in ["events", "report", "info", "analyze"] {
            let output = run(&[&[verb, "t"], selection].concat());
            assert_eq!(stderr(&output), "", "{verb} {selection:?}");
        }
    }
    let output = run(&["events", "t", "--where", "arg1 == 5", "--event", "tx_mutex_put"]);
    assert!(stderr(&output).contains("no selected event has an argument 'arg1'"), "{output:?}");
}

#[test]
fn an_unknown_name_in_a_condition_is_reported_in_each_verb() {
    let cases = [
        ("@context = contrl", "no context named 'contrl' in this trace; did you mean 'control'?"),
        ("mutex != log_flie", "no object named 'log_flie' in this trace; did you mean 'log file'?"),
        (
            "@object = \"LOG file\"",
            "no object named 'LOG file' in this trace; did you mean 'log file'?",
        ),
        (
            "@name = TX_TRACE_MUTEX_GTE",
            "no event named 'TX_TRACE_MUTEX_GTE' in this trace; did you mean 'TX_TRACE_MUTEX_GET'?",
        ),
        ("@label = tx_mutex_gte", "no event named 'tx_mutex_gte' in this trace; did you mean"),
        ("new_state = slep", "no value named 'slep' in this trace; did you mean 'sleep'?"),
        ("@id = tx_mutex_get", "@id is a number, found the name 'tx_mutex_get'"),
    ];
    for (condition, reported) in cases {
        for verb in ["events", "report", "info", "analyze"] {
            let output = run(&[verb, "t", "--where", condition]);
            let shown = stderr(&output);
            let said = format!("warning: t: where:1:1: {reported}");
            assert!(shown.starts_with(&said), "{verb} {condition}: {shown}");
        }
    }
    for condition in [
        "@context = control | CONTR*",
        "@context = 0x20000940",
        "mutex = log_file",
        "@object = \"log file\"",
        "@name = TX_TRACE_MUTEX_GET",
        "@label = tx_mutex_get",
        "new_state = sleep",
        "@id = 57",
        "@text = nothing",
    ] {
        let output = run(&["events", "t", "--where", condition]);
        assert_eq!(stderr(&output), "", "{condition}");
    }
}

#[test]
fn unknown_names_list_what_there_is() {
    for (arguments, expected) in [
        (["--context", "motor", "r"], "no context named 'motor' in this trace; its contexts are "),
        (["--event", "log file", "t"], "; an object has this name: --object 'log file'\n"),
    ] {
        let message = stderr(&run(&[&["events"], &arguments[..]].concat()));
        assert!(message.contains(expected), "{message}");
    }
    let contexts = stderr(&run(&["events", "--context", "motor", "r"]));
    let listed = contexts.trim_end().split_once("contexts are ").unwrap().1;
    assert!(listed.split(", ").any(|name| name == "'my'"), "{listed}");
}

#[test]
fn a_range_that_ends_before_it_begins_is_refused_in_every_verb() {
    let verbs: [&[&str]; 10] = [
        &["analyze", "t"],
        &["view", "t"],
        &["events", "t"],
        &["report", "t"],
        &["report", "--layout", "lines", "t"],
        &["check", "my.rules", "t"],
        &["convert", "--format", "csv", "-o", "out", "t"],
        &["convert", "--format", "html", "-o", "out", "t"],
        &["convert", "--format", "threadx", "-o", "out", "t"],
        &["diff", "t", "t"],
    ];
    let rate = ["-O", "rate=100MHz"];
    for verb in verbs {
        for (from, to, message) in [
            ("50ms", "10ms", "it is from 50 ms to 10 ms"),
            ("tick:9", "8", "it is from 9 ticks to 8 ticks"),
            ("1us", "99", "it is from 1 us to 99 ticks"),
        ] {
            let output = run(&[verb, &rate, &["--from", from, "--to", to]].concat());
            let message = format!("the range ends before it begins: {message}");
            assert!(stderr(&output).contains(&message), "{verb:?}: {}", stderr(&output));
            assert_eq!(output.status.code(), Some(2), "{verb:?}");
        }
        // A range contains its last tick, so a range from a tick to the same tick is not empty.
        let one = run(&[verb, &rate, &["--from", "0", "--to", "tick:0"]].concat());
        assert!(!stderr(&one).contains("ends before it begins"), "{verb:?}: {}", stderr(&one));
    }
}
