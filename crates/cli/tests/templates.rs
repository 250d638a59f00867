//! Tests templates and reports in trcrpt's layout by running the program. Golden outputs are in
//! `tests/golden/`. `BLESS=1 cargo test` rewrites them; check the difference afterwards.

mod bless;
mod program;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output};

use bless::assert_golden;
use program::{root, run, status, stderr, stdout};
use snapbox::file;

const SHIPPED_AIX: &str = "crates/tracewell/templates/aix.fmt";

/// The files of the AIX hooks example: mixed word sizes, two processors.
const HOOKS: [&str; 3] = ["examples/hooks.twx", "examples/hooks.twx-0", "examples/hooks.twx-1"];

fn hooks(arguments: &[&str]) -> Output {
    run(&[&["report", "--join"], arguments, &HOOKS].concat())
}

/// A file in a separate folder.
fn written(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn the_first_errors_of_a_file_of_another_kind_are_shown_and_the_others_counted() {
    // Each element: the exit status, the errors per line of the file, the arguments before and
    // after the file.
    let verbs: [(i32, usize, &[&str], &[&str]); 4] = [
        (1, 2, &["template", "check"], &[]),
        (1, 2, &["template", "list"], &[]),
        (1, 2, &["report", "--head", "1", "-t"], &HOOKS[1..2]),
        (2, 1, &["check"], &HOOKS[1..2]),
    ];
    for (wrong, each, before, behind) in verbs {
        let reported = |errors: usize| {
            let (_folder, path) = written("other", &")\n".repeat(errors / each));
            let output = run(&[before, &[path.as_str()], behind].concat());
            assert_eq!(status(&output), Some(wrong), "{before:?}");
            let reported = stderr(&output).replace(&path, "other");
            assert_eq!(reported.matches(": error: ").count(), 20, "{before:?}");
            reported.lines().last().unwrap().to_owned()
        };
        assert!(reported(20).ends_with(" | ^"), "{before:?}: {}", reported(20));
        let more = if each == 1 { "1 more error" } else { "2 more errors" };
        assert_eq!(reported(20 + each), format!("note: other: and {more}"), "{before:?}");
        assert_eq!(reported(1500), "note: other: and 1480 more errors", "{before:?}");
    }
}

#[test]
fn the_report_of_a_mixed_trace_of_two_processors_is_as_the_golden_file_shows() {
    let output = hooks(&[]);
    assert_golden(stdout(&output), file!["golden/hooks.txt"]);
    // The recorder missed entries on one processor, and the report shows this loss at its position.
    assert_eq!((status(&output), stderr(&output)), (Some(0), String::new()));
}

#[test]
fn all_columns_are_as_the_golden_file_shows() {
    let columns = "exec=on,pid=on,tid=on,svc=on,cpuid=on,timestamp=4";
    let output = hooks(&["--columns", columns, "--width", "160", "--head", "40"]);
    assert_golden(stdout(&output), file!["golden/hooks-columns.txt"]);
}

#[test]
fn columns_begin_where_published_reports_have_them() {
    let output = hooks(&["--columns", "exec=on,pid=on", "-d", "139"]);
    let text = stdout(&output);
    let line = text.lines().find(|line| line.starts_with("139")).unwrap();
    let at = |column: usize| line[column..].split(' ').next().unwrap();
    assert_eq!((at(0), at(4), at(19)), ("139", "tid", "1"), "{line}");
    assert_eq!((at(33), at(51), at(78)), ("0.000000000", "0.000000", "FORK"), "{line}");
}

#[test]
fn lists_of_ids_groups_processes_threads_and_processors_select() {
    let count = |arguments: &[&str]| {
        let text = stdout(&hooks(&[arguments, &["--no-heading"]].concat()));
        text.lines().filter(|line| !line.starts_with(' ') && !line.starts_with('-')).count()
    };
    let all = count(&[]);
    let dispatches = count(&["-d", "106,10C"]);
    assert!(all > dispatches && dispatches > 4);
    assert_eq!(count(&["-k", "106 10C"]), all - dispatches);
    assert_eq!(count(&["-D", "sched"]), count(&["-d", "106,10C,465"]));
    assert_eq!(count(&["-D", "sched", "-K", "sched"]), 0);
    assert_eq!(count(&["-d", "10*"]), count(&["-d", "101,104,106,10C"]));
    assert_eq!(count(&["-C", "0"]) + count(&["-C", "1"]), all);
    assert_eq!(count(&["-C", "0-1"]), all);
    let readers = count(&["-p", "readrec"]);
    assert!(readers > 0 && readers < all);
    // The process ran another program before this one, so the id of the process selects more events
    // than the name of the program does.
    assert!(count(&["-p", "5120"]) > readers);
    assert_eq!(count(&["--context", "81001"]), count(&["-p", "5120"]));
    let (_folder, list) = written("ids", "106\n10C\n");
    assert_eq!(count(&["-d", &list]), dispatches);
}

#[test]
fn times_select_from_the_first_event_and_by_date() {
    let first = |arguments: &[&str]| {
        let text =
            stdout(&hooks(&[arguments, &["--no-heading", "--columns", "timestamp=4"]].concat()));
        let line = text.lines().find(|line| !line.starts_with('-'));
        line.map(|line| line[4..22].to_owned())
    };
    assert_eq!(first(&[]).as_deref(), Some("09:00:00.000000000"));
    let at = first(&["--columns", "starttime=0.000400"]);
    assert_eq!(at.as_deref(), Some("09:00:00.000401000"));
    assert_eq!(first(&["-s", "030209000026"]).as_deref(), Some("09:00:00.000000000"));
    assert_eq!(first(&["-s", "030209000126"]), None);
    let bad = hooks(&["-s", "0230"]);
    assert_eq!(status(&bad), Some(2));
    assert!(stderr(&bad).contains("mmddhhmmssyy"), "{}", stderr(&bad));
}

#[test]
fn counts_replace_the_events() {
    let output = hooks(&["--columns", "hist=on", "--no-heading"]);
    let text = stdout(&output);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "ID          COUNT LABEL");
    let counts: Vec<u64> =
        lines[1..].iter().map(|line| line[4..17].trim().parse().unwrap()).collect();
    assert!(counts.is_sorted_by(|a, b| a >= b), "{text}");
    assert_eq!(counts.iter().sum::<u64>(), 90, "{text}");
    assert!(text.contains("134             3 EXEC SYSTEM CALL\n"), "{text}");
}

#[test]
fn one_thread_and_two_print_the_same() {
    let trace = "crates/tracewell/tests/fixtures/threadx/wide.trx";
    for arguments in
        [vec!["-t", "crates/tracewell/templates/threadx.fmt"], vec!["--layout", "trcrpt"]]
    {
        let with = |jobs: &str| {
            stdout(&run(&[&["report", "--threads", jobs], &arguments[..], &[trace]].concat()))
        };
        assert_eq!(with("1"), with("2"));
    }
}

#[test]
fn a_template_for_user_events_formats_a_threadx_dump() {
    let template = "1001 1.0 L=APPL \"@sample\" \"sample \" $D1%U4 \\n \"next line\"\n\
                    1004 1.0 L=INT \"UART\" \"byte \" $D1%X1\n\
                    TX_TRACE_MUTEX_GET 1.0 L=SVC \"@lock\" \"lock \" OBJECT($D1) \"<\"\n";
    let (_folder, path) = written("my.fmt", template);
    let output = run(&["report", "-t", &path, "-d", "1001,1004,0034", "examples/scheduling.trx"]);
    let text = stdout(&output);
    assert_eq!((status(&output), stderr(&output)), (Some(0), String::new()));
    // The first event of the report is at 0.
    let lines: Vec<_> = text.lines().skip(5).take(5).collect();
    let expected = [
        "1004 0                 0                                  UART byte 02",
        "0034 4305              4305               lock log file <",
        "1001 5930              1625       sample 1",
        "                                  next line",
    ];
    assert_eq!(lines[..4], expected, "{text}");
}

#[test]
fn a_template_formats_the_user_events_of_a_real_dump() {
    let shared =
        std::env::var_os("TRACEWELL_SHARED").map_or(root().join("../shared"), PathBuf::from);
    let dump = shared.join("data/threadx/real/demo_threadx.trx");
    if !dump.is_file() {
        // Print without the test runner's capture, which hides the output of tests that pass.
        let _ = writeln!(std::io::stderr(), "skipped: no shared trace {}", dump.display());
        return;
    }
    let template =
        "TX_TRACE_QUEUE_SEND 1.0 L=SVC \"@send\" \"to \" OBJECT($D1) $D4%U4 \"queued\"\n";
    let (_folder, path) = written("my.fmt", template);
    let output = run(&["report", "-t", &path, dump.to_str().unwrap()]);
    let sent = stdout(&output).matches("to queue 0 ").count();
    let events =
        stdout(&run(&["events", "--event", "TX_TRACE_QUEUE_SEND", dump.to_str().unwrap()]));
    assert!(sent > 0);
    assert_eq!(
        sent,
        events.lines().filter(|line| line.contains("\"name\":\"TX_TRACE_QUEUE_SEND\"")).count()
    );
}

#[test]
fn events_without_a_template_and_data_that_is_missing_are_marked() {
    let (_folder, path) = written("my.fmt", "101 1.0 L=SVC \"@call\" G4 X4 X16\n");
    let output = hooks(&["-t", &path, "-d", "101,106", "--no-heading"]);
    let text = stdout(&output);
    assert!(text.contains("UNDEFINED TRACE ID 106 hookword 106E0000"), "{text}");
    assert!(text.contains("<TRUNCATED>"), "{text}");
    assert!(
        stderr(&output).contains("have less data than their templates read"),
        "{}",
        stderr(&output)
    );
    assert_eq!(status(&output), Some(0));
}

#[test]
fn the_shipped_templates_are_right_and_in_canonical_form() {
    for name in ["aix", "threadx", "rkh", "shark", "posix"] {
        let path = format!("crates/tracewell/templates/{name}.fmt");
        let check = run(&["template", "check", "--strict", &path]);
        assert_eq!((status(&check), stderr(&check)), (Some(0), String::new()), "{name}");
        let list = stdout(&run(&["template", "list", &path]));
        assert!(list.lines().count() > 2, "{name}: {list}");
    }
}

#[test]
fn shipped_templates_are_named_with_an_at_sign() {
    let list = stdout(&run(&["template", "list", "--shipped"]));
    let names: Vec<_> = list.lines().filter_map(|line| line.split_once("  ")).collect();
    let known = ["@aix", "@posix", "@rkh", "@shark", "@threadx"];
    assert_eq!(names.iter().map(|(name, _)| *name).collect::<Vec<_>>(), known, "{list}");
    assert!(names[4].1.contains("ThreadX: one line for each kernel service"), "{list}");
    for name in known {
        let path = format!("crates/tracewell/templates/{}.fmt", &name[1..]);
        for verb in ["check", "list", "fmt"] {
            let shipped = run(&["template", verb, name]);
            assert_eq!(status(&shipped), Some(0), "{verb} {name}: {}", stderr(&shipped));
            assert_eq!(stdout(&shipped), stdout(&run(&["template", verb, &path])), "{verb} {name}");
        }
    }
    for (verb, name, trace) in [
        ("report", "@threadx", "examples/scheduling.trx"),
        ("report", "@aix", HOOKS[1]),
        ("trcrpt", "@aix", HOOKS[1]),
    ] {
        let path = format!("crates/tracewell/templates/{}.fmt", &name[1..]);
        let shipped = run(&[verb, "-t", name, trace]);
        assert_eq!((status(&shipped), stderr(&shipped)), (Some(0), String::new()), "{verb} {name}");
        assert_eq!(stdout(&shipped), stdout(&run(&[verb, "-t", &path, trace])), "{verb} {name}");
    }
    let entry = run(&["template", "run", "-t", "@aix", "--entry", "106A0000 00000001 00000002"]);
    assert_eq!((status(&entry), stderr(&entry)), (Some(0), String::new()));
    assert!(stdout(&entry).contains("DISPATCH"), "{}", stdout(&entry));
}

#[test]
fn an_unknown_shipped_template_is_refused_with_the_nearest_name() {
    let output = run(&["report", "-t", "@thraedx", "examples/scheduling.trx"]);
    assert_eq!((status(&output), stdout(&output)), (Some(2), String::new()));
    let message = stderr(&output);
    assert!(message.starts_with("error: @thraedx: no shipped template has this name"), "{message}");
    assert!(message.ends_with("; did you mean '@threadx'?\n"), "{message}");
}

#[test]
fn a_shipped_template_of_another_format_is_reported() {
    let output = run(&["report", "-t", "@rkh", "--head", "1", "examples/scheduling.trx"]);
    let warning = "warning: examples/scheduling.trx: @rkh is for traces of format rkh; this trace \
                   has format threadx\n";
    assert_eq!((status(&output), stderr(&output).as_str()), (Some(0), warning));
}

#[test]
fn a_file_named_like_a_shipped_template_needs_a_longer_path() {
    let (folder, _path) = written("@aix", "106 1.0 L=KERN \"mine\"\n");
    let listed = |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
        command.args(["template", "list", name]).current_dir(&folder).output().unwrap()
    };
    let output = listed("./@aix");
    assert_eq!(
        (stdout(&output).as_str(), stderr(&output).as_str()),
        ("106  1.0    KERN mine\n", "")
    );
    let output = listed("@aix");
    assert!(stdout(&output).contains("DISPATCH"), "{}", stdout(&output));
    let note = "note: @aix: this is the shipped template; the file of this name is ./@aix\n";
    assert_eq!(stderr(&output), note);
}

#[test]
fn shipped_templates_are_never_written() {
    for arguments in
        [&["template", "fmt", "-w", "@aix"][..], &["template", "update", "-t", "@aix", "-x", "106"]]
    {
        let output = run(arguments);
        assert_eq!((status(&output), stdout(&output)), (Some(2), String::new()), "{arguments:?}");
        let expected = "error: @aix: a shipped template cannot be changed; make a copy with \
                        `tracewell template fmt @aix > my.fmt`\n";
        assert_eq!(stderr(&output), expected, "{arguments:?}");
    }
}

#[test]
fn check_reports_every_mistake_with_its_position() {
    let text = "0AA 1.0 \"a\" X99 \"b\"\n0AB \"no version\"\n0AC 1.0 \"c\" $nothing\n";
    let (_folder, path) = written("bad.fmt", text);
    let output = run(&["template", "check", &path]);
    let reported = stderr(&output);
    assert_eq!(status(&output), Some(1));
    assert!(
        reported.contains(&format!("{path}:1:13: error: X99: X takes 1 to 16 bytes, found 99")),
        "{reported}"
    );
    assert!(
        reported.contains("\n1 | 0AA 1.0 \"a\" X99 \"b\"\n  |             ^^^\n"),
        "{reported}"
    );
    assert!(reported.contains(":2:5: error: expected VERSION.RELEASE"), "{reported}");
    assert!(
        reported.contains(":3:13: warning: $nothing is neither built in nor assigned"),
        "{reported}"
    );
    // The report continues with the valid stanzas.
    let report = hooks(&["-t", &path, "-d", "106", "--head", "1"]);
    assert_eq!(status(&report), Some(1));
    assert!(stdout(&report).contains("UNDEFINED TRACE ID 106"));
}

#[test]
fn fmt_prints_checks_and_writes_the_canonical_form() {
    let text = "# mine\n0aa   1.0 L=SVC   probe  X2,0010 \"ten\" , \\*   \"other\"\n";
    let canonical = "# mine\n0AA 1.0 L=SVC \"probe\" X2, 0010 \"ten\", \\* \"other\"\n";
    let (_folder, path) = written("my.fmt", text);
    let output = run(&["template", "fmt", &path]);
    assert_eq!((status(&output), stdout(&output).as_str()), (Some(0), canonical));
    assert_eq!(status(&run(&["template", "fmt", "--check", &path])), Some(1));
    assert_eq!(status(&run(&["template", "fmt", "--write", &path])), Some(0));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), canonical);
    assert_eq!(status(&run(&["template", "fmt", "--check", &path])), Some(0));
}

#[test]
fn run_formats_one_entry() {
    let (_folder, path) = written("my.fmt", "0AA 1.0 \"@probe\" G4 X2 X1\n");
    let entry = |arguments: &[&str]| run(&[&["template", "run", "-t", &path], arguments].concat());
    let output = entry(&["--entry", "0AA2 0007 11223344"]);
    assert_eq!((status(&output), stdout(&output).as_str()), (Some(0), "1122 33\n"));
    let output = entry(&["--env", "64", "--entry", "800000000AA00000"]);
    assert_eq!(stdout(&output), "0AA0 00\n");
    assert_eq!(status(&entry(&["--entry", "0AA"])), Some(2));
    assert_eq!(status(&entry(&["--entry", "0AAG"])), Some(2));
}

#[test]
fn update_adds_and_undoes() {
    let (folder, path) = written("my.fmt", "0AA 1.0 \"a\"\n");
    let update = folder.path().join("disk");
    let name = update.to_str().unwrap();
    std::fs::write(
        folder.path().join("disk.trc"),
        "* /etc/trcfmt\n+ 0AA 1.1 \"b\"\n+ 0AB 1.0 \"new\"\n",
    )
    .unwrap();
    let output = run(&["template", "update", "-v", "-t", &path, name]);
    assert_eq!(status(&output), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("0AA 1.1 replaces 1.0"), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "0AA 1.1 \"b\"\n0AB 1.0 \"new\"\n");
    let undo = format!("{name}.undo");
    let output = run(&["template", "update", "-o", "-t", &path, &undo]);
    assert_eq!(status(&output), Some(0), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "0AA 1.0 \"a\"\n");
    let output = run(&["template", "update", "-x", "0AA", "-t", &path]);
    assert_eq!(stdout(&output), "* /etc/trcfmt\n+ 0AA 1.0 \"a\"\n");
    std::fs::write(folder.path().join("bad.trc"), "* /etc/trcfmt\n+ 0AC 1.0 \"c\"\n+ 0AD\n")
        .unwrap();
    let bad = folder.path().join("bad");
    let output = run(&["template", "update", "-t", &path, bad.to_str().unwrap()]);
    assert_eq!(status(&output), Some(1));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "0AA 1.0 \"a\"\n");
}

#[test]
fn trcrpt_has_its_own_options_and_statuses() {
    let trcrpt = |arguments: &[&str]| run(&[&["trcrpt"], arguments].concat());
    let merged = trcrpt(&[&["-m", "-h", "-d", "134", "-O", "exec=on"], &HOOKS[..]].concat());
    let text = stdout(&merged);
    let events = text.lines().filter(|line| line.starts_with("134 ")).count();
    assert_eq!((status(&merged), events), (Some(0), 3), "{}", stderr(&merged));
    for bad in [&["-O", "nothing=on"], &["-e", "12"], &["-P", "1"]] {
        assert_eq!(status(&trcrpt(&[bad, &HOOKS[..1]].concat())), Some(1), "{bad:?}");
    }
    let refused = trcrpt(&["-M", "all", HOOKS[0]]);
    assert_eq!(status(&refused), Some(1));
    assert!(stderr(&refused).contains("lightweight memory traces"), "{}", stderr(&refused));
    let (_folder, path) = written("bad.fmt", "0AA 1.0 X99\n");
    assert_eq!(status(&trcrpt(&["-c", "-t", &path])), Some(1));
    let (_folder, damaged) = written("bad.twx", "TWX1 and nothing");
    assert_eq!(status(&trcrpt(&[&damaged])), Some(2));
    assert!(stdout(&trcrpt(&["-j"])).contains("\n134 EXEC SYSTEM CALL\n"));
}

#[test]
fn raw_output_is_one_log_with_the_same_events() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("all.twx");
    let name = log.to_str().unwrap();
    let output = run(&[&["trcrpt", "-m", "-r", "-o", name], &HOOKS[..]].concat());
    assert_eq!(status(&output), Some(0), "{}", stderr(&output));
    // The line of a loss names a different file and offset, so ignore it.
    let lines = |text: String| {
        let lines =
            text.lines().map(|line| line.split(", at byte").next().unwrap_or(line).to_owned());
        lines.collect::<Vec<_>>()
    };
    assert_eq!(lines(stdout(&run(&["report", name]))), lines(stdout(&hooks(&[]))));
}

#[test]
fn flags_are_hexadecimal_for_every_code_of_the_value() {
    let (_folder, path) =
        written("flags.fmt", "0AA 1.0 \"@e\" BITFLAGS $D1%o4, 080 \"set\" \"-\", 0x100 \"more\"\n");
    let shown = |entry| stdout(&run(&["template", "run", "-t", &path, "--entry", entry]));
    assert_eq!(shown("0AA2000700000080"), "set\n");
    assert_eq!(shown("0AA2000700000100"), "-more\n");
}

#[test]
fn options_of_run_supply_values_that_are_not_in_the_bytes() {
    let text = "0AA 1.0 \"@e\" \"tid \" $TID%D8 \"pid \" $PID%D8 \"cpu \" $CPUID%D4 \"in \" $SVC \"of \" $EXECPATH \
                \"log \" $LOGFILE \"at \" $LOGID0%D8\n";
    let (_folder, path) = written("around.fmt", text);
    let mut arguments = vec!["template", "run", "-t", &path, "--entry", "0AA20007DEADBEEF"];
    arguments.extend([
        "--thread",
        "70001",
        "--process",
        "4194",
        "--cpu",
        "3",
        "--syscall",
        "kread",
    ]);
    arguments.extend(["--executable", "/usr/bin/ksh", "--log", "trcfile", "--offset", "4096"]);
    let output = run(&arguments);
    let expected = "tid 70001 pid 4194 cpu 3 in kread of /usr/bin/ksh log trcfile at 4096\n";
    assert_eq!((stdout(&output).as_str(), stderr(&output).as_str()), (expected, ""));
}

#[test]
fn system_calls_have_the_names_that_the_user_gives_and_no_others() {
    let columns = ["--columns", "svc=on", "-d", "101,104", "--no-heading"];
    let plain = stdout(&hooks(&columns));
    assert!(
        plain.contains(" call 4 ") && plain.contains("return from call 4 result 3 ["),
        "{plain}"
    );
    for name in ["read", "write", "kwaitpid", "open"] {
        assert!(!plain.contains(name), "{plain}");
    }
    let named = stdout(&hooks(&[&columns[..], &["--names", "examples/hooks.names"]].concat()));
    assert!(named.contains(" open ") && named.contains("return from open result 3 ["), "{named}");
    let output = hooks(&["--names", "Cargo.toml", "--columns", "hist=on"]);
    assert_eq!(status(&output), Some(0), "{}", stderr(&output));
    let (_folder, path) = written("names", "4\n");
    let output = hooks(&["--names", &path]);
    let reported = "error: --names: expected the number of a system call and a name such as 5=tau1, found '4'\n";
    assert_eq!((status(&output), stderr(&output).as_str()), (Some(2), reported));
}

#[test]
fn missed_entries_are_counted_in_hexadecimal_as_published_reports_count_them() {
    let entry = "006E000000005D880000C77A000000000000000000000000";
    let output = run(&["template", "run", "-t", SHIPPED_AIX, "--entry", entry]);
    assert_eq!(stdout(&output), "TRACEBUFFER WRAPAROUND 5D88 C77A missed entries\n");
}

#[test]
fn trcrpt_lists_ids_in_lower_case_with_their_labels() {
    let output = run(&["trcrpt", "-j", "-t", SHIPPED_AIX]);
    let lines = stdout(&output);
    for line in
        ["00a TRACE_UTIL", "134 EXEC SYSTEM CALL", "139 FORK SYSTEM CALL", "465 KTHREAD CREATE"]
    {
        assert!(lines.lines().any(|found| found == line), "{line}: {lines}");
    }
}

#[test]
fn two_digits_are_the_sixteen_ids_that_begin_with_them() {
    let ids =
        |list: &str| stdout(&hooks(&["-d", list, "--columns", "timestamp=3", "--no-heading"]));
    assert_eq!(ids("13"), ids("134,139"));
    assert!(!ids("13").is_empty());
    assert_eq!(ids("01"), ids("010,011,012,013"));
}

/// Columns begin at the positions that a public script for reports expects, and times are
/// right-aligned.
#[test]
fn columns_do_not_move_with_the_values() {
    let heading = "ID  TID         ELAPSED_SEC       DELTA_MSEC APPL    SYSCALL KERNEL  INTERRUPT";
    let report = stdout(&hooks(&["--columns", "tid=on", "-d", "006"]));
    assert!(report.contains(&format!("{heading}\n")), "{report}");
    // With a clock of 1 kHz, the trace lasts more than an hour, and events are seconds apart.
    for options in ["exec=on,pid=on,cpuid=on", "pid=on"] {
        let options = ["report", "--layout", "trcrpt", "-O", "rate=1kHz", "--columns", options];
        let report = stdout(&run(&[&options[..], &["examples/scheduling.trx"]].concat()));
        let heading = report.lines().find(|line| line.starts_with("ID")).unwrap();
        let [elapsed, delta, appl] =
            ["ELAPSED_SEC", "DELTA_MSEC", "APPL"].map(|name| heading.find(name).unwrap());
        let events = report.lines().skip_while(|line| !line.starts_with("ID")).skip(2);
        // A wrapped line continues after spaces.
        let events: Vec<_> = events.filter(|line| !line.starts_with([' ', '-'])).collect();
        assert!(events.len() > 100, "{}", events.len());
        for line in events {
            let bytes = line.as_bytes();
            for (end, decimals) in [(elapsed + 11, 9), (delta + 8, 6)] {
                assert_eq!((bytes[end], bytes[end - decimals - 1]), (b' ', b'.'), "{line}");
            }
            assert!(bytes[appl - 3..appl].iter().all(|byte| *byte == b' '), "{line}");
        }
    }
}
