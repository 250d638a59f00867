//! Tests that the command reports each option that has no effect, states the reason, and otherwise
//! works as usual.

mod program;

use std::process::{Command, Output, Stdio};

use program::{root, run_in};

fn run(arguments: &[&str]) -> Output {
    let root = root();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::copy(root.join("examples/scheduling.trx"), at("t")).unwrap();
    std::fs::copy(root.join("crates/tracewell/tests/fixtures/rkh/ahsm-a.bin"), at("r")).unwrap();
    std::fs::copy(root.join("examples/hooks.twx"), at("h")).unwrap();
    std::fs::copy(root.join("crates/tracewell/templates/groups"), at("g")).unwrap();
    std::fs::copy(root.join("crates/tracewell/templates/threadx.fmt"), at("f")).unwrap();
    std::fs::copy(root.join("examples/hooks.twx-0"), at("c")).unwrap();
    std::fs::copy(root.join("crates/tracewell/tests/fixtures/shark/a_linear.dat"), at("s"))
        .unwrap();
    std::fs::copy(root.join("examples/scheduling.elf"), at("elf")).unwrap();
    std::fs::write(at("names"), "1 one\n").unwrap();
    std::fs::write(at("other"), "70001 one\n70002 two\n").unwrap();
    let schema = "format = \"threadx\"\n[[event]]\nid = 4100\nlabel = \"received\"\n\
        [[event]]\nid = 7000\nlabel = \"never\"\n";
    std::fs::write(at("schema"), schema).unwrap();
    std::fs::write(at("wrong"), schema.replace("label", "lable")).unwrap();
    std::fs::write(
        at("custom"),
        "Start\n5000, Frame sent, FS, (0, 0, 255), (0, 0, 0), Length, Marker, Queue, Left\nEnd\n",
    )
    .unwrap();
    run_in(folder.path(), arguments)
}

fn stderr(output: &Output) -> String {
    // `--color always` colours messages as well.
    anstream::adapter::strip_str(&program::stderr(output)).to_string()
}

#[test]
fn an_option_without_effect_says_why() {
    let lines =
        "has no effect: it belongs to the layout trcrpt, and this report has the layout lines";
    let instead = "has no effect: -G, -j and -c";
    let shows = "has no effect: without --follow, no events are shown";
    let keep = ["collect", "--file", "t", "--idle", "0.1", "-o", "kept"];
    let kept = |more: &[&'static str]| [&keep[..], more].concat();
    let raw = |more: &[&'static str]| [&["trcrpt", "-r", "h"][..], more].concat();
    let cases: [(Vec<&str>, &str, &str); 19] = [
        (vec!["report", "--layout", "lines", "--no-heading", "t"], "--no-heading", lines),
        (vec!["report", "--layout", "lines", "-t", "f", "t"], "-t", lines),
        (vec!["report", "--layout", "lines", "--columns", "exec=on", "t"], "--columns", lines),
        (vec!["report", "--color", "always", "h"], "--color", "has no effect: the layout trcrpt"),
        (vec!["report", "--color", "always", "-o", "x", "t"], "--color", "has no effect: a file"),
        (
            vec!["report", "--group-file", "g", "h"],
            "--group-file",
            "has no effect: neither -D nor -K",
        ),
        (vec!["report", "-G", "h"], "FILE", instead),
        (vec!["report", "-j", "--event", "x"], "an option that selects or shows events", instead),
        (
            vec!["report", "--columns", "starttime=0.1", "--from", "5ms", "h"],
            "--columns starttime",
            "has no effect: --from",
        ),
        (vec!["info", "--join", "h"], "h: --join", "has no effect: there is only one file"),
        (kept(&["--event", "x"]), "a selection of events", shows),
        (kept(&["-O", "rate=1MHz"]), "-O", shows),
        (kept(&["--names", "names"]), "--names", shows),
        (kept(&["--schema", "schema"]), "--schema", shows),
        (kept(&["--elf", "elf"]), "--elf", shows),
        (
            vec!["info", "--schema", "schema", "h"],
            "h: schema",
            "it is for format threadx, and this",
        ),
        (kept(&["--packets", "5"]), "--packets", "has no effect: only --udp receives packets"),
        (raw(&["-d", "134"]), "a selection (-C, -d, -D, -k, -K, -p, -T)", "-r writes all entries"),
        (raw(&["-O", "exec=on"]), "-O", "has no effect: -r writes entries as they are"),
    ];
    for (arguments, option, why) in cases {
        let output = run(&arguments);
        let reported = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {reported}");
        let said = format!("warning: {option}");
        let line = reported.lines().find(|line| line.starts_with(&said) && line.contains(why));
        assert!(line.is_some(), "{arguments:?}: {reported}");
    }
}

#[test]
fn a_schema_file_names_events_in_all_verbs() {
    let stdout = |arguments: &[&str]| {
        let output = run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    for verb in [
        &["report"][..],
        &["events"],
        &["convert", "--format", "csv", "-o", "-"],
        &["collect", "--idle", "0.1", "--follow", "--file"],
    ] {
        let text = stdout(&[verb, &["t", "--schema", "schema"]].concat());
        assert!(text.contains("received"), "{verb:?}");
        assert!(!stdout(&[verb, &["t"]].concat()).contains("received"), "{verb:?}");
    }
    let output = run(&["info", "t", "--schema", "schema"]);
    assert!(!stderr(&output).contains("never"), "{}", stderr(&output));
    let output = run(&["info", "-v", "t", "--schema", "schema"]);
    let note = "schema: these events never occurred: 7000 (never)";
    assert!(stderr(&output).contains(note), "{}", stderr(&output));
    // An error stops the command before it reads a trace.
    let output = run(&["info", "t", "--schema", "wrong"]);
    let expected = "error: --schema: wrong:4:1: unknown key 'lable'; did you mean 'label'?";
    assert!(stderr(&output).starts_with(expected), "{}", stderr(&output));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
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
fn names_for_another_format_are_bad_usage() {
    let reported =
        "--custom-events: this flag is for traces of format threadx, and this is a trace of";
    for arguments in [
        ["events", "--custom-events", "custom", "r"].as_slice(),
        &["convert", "--custom-events", "custom", "r", "--format", "csv", "-o", "-"],
        &["collect", "--file", "r", "--idle", "0.1", "--follow", "--custom-events", "custom"],
    ] {
        let output = run(arguments);
        let expected = format!("{reported} rkh");
        assert!(stderr(&output).contains(&expected), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty() && !output.status.success(), "{arguments:?}");
    }
    // If one of several traces has format threadx, the command still prints the events of this
    // trace.
    let output = run(&["events", "--custom-events", "custom", "t", "h"]);
    let expected = format!("{reported} aix; try --names");
    assert!(stderr(&output).contains(&expected), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.len() > 1000);
}

#[test]
fn the_first_trace_that_can_be_read_chooses_the_layout() {
    let hooks = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hooks.twx");
    let columns = |output: Output| {
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().any(|line| line.starts_with("ID ") && line.contains("ELAPSED"))
    };
    let report = |arguments: &[&str], stdin: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
        columns(command.arg("report").args(arguments).stdin(stdin).output().unwrap())
    };
    assert!(report(&[hooks], Stdio::null()));
    assert!(report(&["absent", hooks], Stdio::null()));
    assert!(report(&["-"], std::fs::File::open(hooks).unwrap().into()));
    assert!(!report(&["--layout", "lines", hooks], Stdio::null()));
}

#[test]
fn names_and_ids_that_the_trace_lacks_are_reported() {
    let cases: [(&[&str], &str); 8] = [
        (
            &["info", "--names", "other", "s"],
            "warning: s: names are given for 2 numbers, but none of them is a pid of this trace\n",
        ),
        (
            &["info", "--names", "other", "c"],
            "warning: c: names are given for 2 numbers, but none of them is a system call of this \
             trace\n",
        ),
        (&["info", "-O", "names=3=kwaitpid", "c"], ""),
        (&["info", "-O", "names=1=tau1", "s"], ""),
        (
            &["report", "-k", "134", "r"],
            "warning: r: no event with the hexadecimal id 134 in this trace\n",
        ),
        (
            &["report", "-K", "svc", "-d", "13*", "r"],
            "warning: r: no event with the hexadecimal ids 13*, 101, 104 in this trace\n",
        ),
        (&["report", "-d", "1001,0039", "t"], ""),
        (&["report", "-k", "134,0AB", "h"], ""),
    ];
    for (arguments, warning) in cases {
        let output = run(arguments);
        assert_eq!(stderr(&output), warning, "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn completions_have_shipped_templates_and_files() {
    let text = |shell: &str| String::from_utf8(run(&["completions", shell]).stdout).unwrap();
    let names = "@aix @posix @rkh @shark @threadx";
    let bash = text("bash");
    assert_eq!(bash.matches(&format!("compgen -f -W \"{names}\"")).count(), 5, "{bash}");
    assert!(!bash.contains(&format!("compgen -W \"{names}\"")), "{bash}");
    let zsh = text("zsh");
    let both = format!("{{_files; compadd -- {names}}}");
    assert!(zsh.contains(&format!("shipped templates of AIX]:FILE:{both}'")), "{zsh}");
    assert!(!zsh.contains(&format!("({names})")), "{zsh}");
    let fish = text("fish");
    assert!(fish.contains("-r -F -a \"@aix\\t''\n@posix\\t''"), "{fish}");
    assert!(!fish.contains("-f -a \"@"), "{fish}");
}

#[test]
fn completions_and_help_have_the_names_of_formats() {
    let text = |arguments: &[&str]| String::from_utf8(run(arguments).stdout).unwrap();
    let bash = text(&["completions", "bash"]);
    assert!(bash.contains("threadx aix ctf tracex-dump jsonl tsv csv"), "convert --format");
    for verb in [&["convert"][..], &["info"], &["template", "check"]] {
        let help = text(&[verb, &["--help"]].concat());
        // Lines are cut at the width of the terminal.
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains("[possible values: threadx, "), "{verb:?}: {help}");
    }
    let help = text(&["report", "--help"]);
    let at = |heading: &str| help.find(&format!("\n{heading}:\n")).unwrap();
    assert!(at("Selection") < at("Layout") && at("Layout") < at("Input"), "{help}");
    assert!(help.contains("threads that decode and format events"), "{help}");
    let help = text(&["--help"]);
    assert!(help.contains("\ninput (the readable part was still printed), 4 other"), "{help}");
}

#[test]
fn an_option_that_has_a_new_name_names_it() {
    let cases: [(&[&str], i32, &str); 8] = [
        (&["convert", "t", "--to", "csv", "-o", "x"], 0, "warning: --to csv: use --format csv"),
        (&["events", "t", "--to", "csv"], 2, "the output format is --format csv"),
        (&["convert", "r", "-T", "from=5ms", "-o", "x.svg"], 2, "-T from=5ms: use --from 5ms"),
        (&["convert", "r", "-T", "until=5ms", "-o", "x.svg"], 2, "use --to 5ms"),
        (&["convert", "r", "-T", "event=a,b", "-o", "x.svg"], 2, "once for each name"),
        (&["convert", "r", "-T", "most=5", "-o", "x.svg"], 0, ""),
        (&["report", "-T", "low", "t"], 2, "-T low: use --context NAME"),
        (&["report", "--layout", "trcrpt", "--jobs", "2", "t"], 0, ""),
    ];
    for (arguments, status, reported) in cases {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(reported), "{arguments:?}: {}", stderr(&output));
    }
}

/// Errors in the command line and errors in a trace have the same form, and contain the text that
/// the user typed.
#[test]
fn a_message_begins_with_its_kind_and_then_the_option_or_the_file() {
    let cases: [(&[&str], &str); 12] = [
        (&["report", "--no-such-option", "t"], "error: unexpected argument '--no-such-option'"),
        (&["info", "-O", "speed=1", "t"], "error: -O speed: unknown option"),
        (&["info", "-O", "rate=fast", "t"], "error: -O rate: expected"),
        (&["convert", "-T", "colour=red", "t", "-o", "x.trx"], "error: -T colour: unknown option"),
        (&["report", "--columns", "nope=1", "h"], "error: --columns: no option 'nope=1'"),
        (&["events", "--cpu", "x", "t"], "error: --cpu: expected processors"),
        (&["events", "--cpu", "3-1", "t"], "error: --cpu: expected processors"),
        (&["events", "--cpu", "+1", "t"], "error: --cpu: expected processors"),
        (&["events", "--cpu", ",", "t"], "error: --cpu: expected processors"),
        (&["trcrpt", "-C", "x", "h"], "error: -C: expected processors"),
        (&["info", "absent"], "error: absent: "),
        (&["info", "--join", "t"], "warning: t: --join has no effect"),
    ];
    for (arguments, begins) in cases {
        let reported = stderr(&run(arguments));
        assert!(reported.starts_with(begins), "{arguments:?}: {reported}");
    }
}

#[test]
fn values_that_make_no_sense_are_refused_or_reported() {
    for arguments in
        [&["events", "--threads", "0", "t"][..], &["analyze", "--period", "control=0ms", "t"]]
    {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
    }
    let output = run(&["analyze", "--ipoints", "nope,tx_mutex_gte", "t"]);
    for name in ["nope", "tx_mutex_gte"] {
        let message = format!("warning: t: --ipoints: no event named '{name}'");
        assert!(stderr(&output).contains(&message), "{}", stderr(&output));
    }
    let output = run(&["analyze", "--ipoints", "1,tx_mutex_get", "t"]);
    assert!(!stderr(&output).contains("--ipoints"), "{}", stderr(&output));
}
