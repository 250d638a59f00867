//! End-to-end tests of `tracewell-ingest`: queries of a lake and of its traces return the same
//! rows, whatever happens while the lake is written.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn command(program: &str) -> Command {
    let mut command = Command::new(match program {
        "query" => env!("CARGO_BIN_EXE_tracewell-query"),
        _ => env!("CARGO_BIN_EXE_tracewell-ingest"),
    });
    command.current_dir(root()).stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs a program that must succeed without a message, and returns what it prints.
fn printed(program: &str, arguments: &[&str]) -> String {
    let output = command(program).args(arguments).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    text(&output.stdout)
}

fn ingest(arguments: &[&str]) -> Output {
    command("ingest").args(arguments).output().unwrap()
}

/// The labels and options of the two example runs.
const RUNS: [&str; 5] = ["examples/runs", "--labels", "{version}.trx.gz", "-O", "rate=100MHz"];

/// Creates a folder with traces that differ in one byte. No figure depends on this byte.
fn many(folder: &Path, count: u8) {
    let trace = root().join("crates/tracewell/tests/fixtures/threadx/tiny.trx");
    let trace = fs::read(trace).unwrap();
    for number in 0..count {
        let mut bytes = trace.clone();
        // The last byte belongs to an argument of the last event.
        *bytes.last_mut().unwrap() = number;
        fs::write(folder.join(format!("{number:03}.trx")), bytes).unwrap();
    }
}

/// Returns the number of traces in the table `traces`, the number of different traces in the table
/// `events`, and the number of events.
fn counts(lake: &str) -> String {
    let sql = "SELECT (SELECT count(*) FROM traces) AS traces, count(DISTINCT trace) AS hashes, \
               count(*) AS events FROM events";
    printed("query", &[sql, lake, "--format", "csv"])
}

#[test]
fn a_lake_answers_as_the_traces_do() {
    let folder = tempfile::tempdir().unwrap();
    let lake = folder.path().join("lake");
    let lake = lake.to_str().unwrap();
    let first = ingest(&[&RUNS[..], &["-o", lake, "--partition", "version", "--text"]].concat());
    assert_eq!((first.status.code(), text(&first.stderr)), (Some(0), String::new()));
    assert!(text(&first.stdout).starts_with("added 2 traces, "), "{}", text(&first.stdout));
    assert!(Path::new(lake).join("data/events/version=before").is_dir());

    let sets = ["label=version", "old=before", "new=after"];
    let sets: Vec<_> = sets.iter().flat_map(|set| ["--set", set]).collect();
    for line in printed("query", &["--list"]).lines() {
        let name = line.split(' ').next().unwrap();
        let sets = match name {
            "regressions" => &sets[..],
            "steps" => &sets[..2],
            _ => &[],
        };
        let query = [&["--run", name], sets].concat();
        let from_files = printed("query", &[&query[..], &RUNS].concat());
        let is_empty = ["losses-by-trace", "worst-responses"].contains(&name);
        assert_eq!(from_files.lines().count() == 1, is_empty, "{name}");
        assert_eq!(printed("query", &[&query[..], &[lake]].concat()), from_files, "{name}");
    }
    // These runs have no jobs.
    let jobs = folder.path().join("jobs");
    let jobs = jobs.to_str().unwrap();
    let file = "crates/tracewell/tests/fixtures/shark/a_linear.dat";
    assert_eq!(ingest(&[file, "-o", jobs]).status.code(), Some(0));
    let from_file = printed("query", &["--run", "worst-responses", file]);
    assert_eq!(from_file.lines().count(), 11);
    assert_eq!(printed("query", &["--run", "worst-responses", jobs]), from_file);
    // Also compare all columns of all tables.
    for table in tracewell_tables::Table::ALL {
        let mut columns: BTreeSet<_> = table.columns().iter().map(|column| column.name).collect();
        columns.extend(["trace", "path", "version"]);
        let columns: Vec<_> = columns.into_iter().collect();
        let columns = columns.join(", ");
        let sql = format!("SELECT {columns} FROM {table} ORDER BY {columns}");
        let from_files = printed("query", &[&[sql.as_str()], &RUNS[..]].concat());
        assert_eq!(printed("query", &[&sql, lake]), from_files, "{table}");
    }
    let sql = "SELECT sum(arg(args, 'mutex_ptr')) AS s, max(arg(args, 'arg1')) AS m FROM";
    let from_files = printed("query", &[&[format!("{sql} events").as_str()], &RUNS[..]].concat());
    assert_eq!(printed("query", &[&format!("{sql} '{lake}'")]), from_files);
}

#[test]
fn a_trace_is_added_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(at("traces")).unwrap();
    many(Path::new(&at("traces")), 3);
    fs::copy(at("traces") + "/001.trx", at("traces") + "/copy.trx").unwrap();
    let output = ingest(&[&at("traces"), "-o", &at("lake"), "--label", "run=7"]);
    assert_eq!(output.status.code(), Some(0));
    let messages = text(&output.stderr);
    assert!(messages.contains("copy.trx: not added: the lake has it as "), "{messages}");
    assert_eq!(counts(&at("lake")), "traces,hashes,events\n3,3,591\n");
    let again = ingest(&[&at("traces"), "-o", &at("lake")]);
    assert!(text(&again.stdout).starts_with("added 0 traces, 0 rows, 0 bytes; 4 traces already"));
    assert_eq!(counts(&at("lake")), "traces,hashes,events\n3,3,591\n");
    // The lake has no column `text`, and the message reports this.
    let output = command("query").args(["SELECT text FROM events", &at("lake")]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("No field named text"), "{}", text(&output.stderr));
    let sql = "SELECT DISTINCT run FROM traces";
    assert_eq!(printed("query", &[sql, &at("lake"), "--format", "csv"]), "run\n7\n");
}

#[test]
fn writers_at_the_same_time_add_each_trace_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(at("traces")).unwrap();
    many(Path::new(&at("traces")), 100);
    let start = |_| -> Child {
        let mut command = command("ingest");
        command.args([&at("traces"), "-o", &at("lake"), "--tables", "events,traces"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let writers: Vec<Child> = (0..4).map(start).collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    assert_eq!(counts(&at("lake")), "traces,hashes,events\n100,100,19700\n");
}

#[test]
fn a_killed_writer_leaves_a_lake_that_the_next_one_completes() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(at("traces")).unwrap();
    many(Path::new(&at("traces")), 100);
    let arguments = [&at("traces"), "-o", &at("lake"), "--tables", "events,traces"];
    let files = |folder: &str| fs::read_dir(at(folder)).map_or(0, Iterator::count);
    let mut was_stopped = [false; 2];
    for commits in [0, 1] {
        let mut writer = command("ingest");
        let writer = writer.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut writer = writer.unwrap();
        // Kill the program after it has written one more file of events, perhaps before the commit.
        while files("lake/data/events") <= commits && writer.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        writer.kill().unwrap();
        was_stopped[commits] = !writer.wait().unwrap().success();
        // Everything that the log names is complete.
        if files("lake/log") > 0 {
            let counted = counts(&at("lake"));
            let fields: Vec<u64> =
                counted.lines().nth(1).unwrap().split(',').map(|n| n.parse().unwrap()).collect();
            assert_eq!(fields[0] * 197, fields[2], "{counted}");
        }
    }
    assert!(was_stopped.contains(&true), "the writers were done before they were killed");
    assert_eq!(ingest(&arguments).status.code(), Some(0));
    assert_eq!(counts(&at("lake")), "traces,hashes,events\n100,100,19700\n");
}

#[test]
fn a_compacted_lake_answers_as_before_and_can_grow() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(at("traces")).unwrap();
    many(Path::new(&at("traces")), 4);
    let files = |folder: &str| fs::read_dir(at(folder)).map_or(0, Iterator::count);
    let added = |name: &str, more: &[&str]| {
        let (trace, lake) = (at(name), at("lake"));
        let arguments = [&[trace.as_str(), "-o", lake.as_str()], more].concat();
        let output = ingest(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout).split(',').next().unwrap().to_owned()
    };
    assert_eq!(added("traces/000.trx", &[]), "added 1 trace");
    assert_eq!(added("traces/001.trx", &[]), "added 1 trace");
    assert_eq!(added("traces/002.trx", &["--compact"]), "added 1 trace");
    assert_eq!((files("lake/log"), files("lake/checkpoint")), (0, 1));
    assert_eq!(counts(&at("lake")), "traces,hashes,events\n3,3,591\n");
    assert_eq!(added("traces", &[]), "added 1 trace");
    assert_eq!((files("lake/log"), files("lake/checkpoint")), (1, 1));
    assert_eq!(counts(&at("lake")), "traces,hashes,events\n4,4,788\n");
    // Without traces, the program only merges the log.
    let output = ingest(&["-o", &at("lake"), "--compact"]);
    assert_eq!(
        text(&output.stdout),
        format!("added 0 traces, 0 rows, 0 bytes; {} has 4 traces\n", at("lake"))
    );
    assert_eq!((files("lake/log"), files("lake/checkpoint")), (0, 2));
    assert_eq!(counts(&at("lake")), "traces,hashes,events\n4,4,788\n");
}

#[test]
fn writers_that_compact_can_be_killed_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(at("traces")).unwrap();
    many(Path::new(&at("traces")), 12);
    let files = |folder: &str| fs::read_dir(at(folder)).map_or(0, Iterator::count);
    let start = |number: u8| -> Child {
        let mut command = command("ingest");
        let trace = at(&format!("traces/{number:03}.trx"));
        command.args([&trace, "-o", &at("lake"), "--tables", "events,traces", "--compact"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    for number in (0..12).step_by(2) {
        let mut writers = [start(number), start(number + 1)];
        // Kill one of the writers when the log or the checkpoints change.
        let before = (files("lake/log"), files("lake/checkpoint"));
        while (files("lake/log"), files("lake/checkpoint")) == before
            && writers[0].try_wait().unwrap().is_none()
        {
            std::thread::yield_now();
        }
        writers[0].kill().unwrap();
        writers[0].wait().unwrap();
        assert!(writers[1].wait().unwrap().success());
        let counted = counts(&at("lake"));
        let fields: Vec<u64> =
            counted.lines().nth(1).unwrap().split(',').map(|n| n.parse().unwrap()).collect();
        assert!(fields[0] > u64::from(number / 2) && fields[0] * 197 == fields[2], "{counted}");
    }
    assert_eq!(ingest(&[&at("traces"), "-o", &at("lake"), "--compact"]).status.code(), Some(0));
    assert_eq!(counts(&at("lake")), "traces,hashes,events\n12,12,2364\n");
    // A killed writer can leave a file that it had not finished; its name contains `#`.
    let names = fs::read_dir(at("lake/log")).unwrap().map(|file| file.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    assert_eq!(names.filter(|name| !name.contains('#')).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn merged_files_answer_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let lake = &at("lake");
    // Formats with different columns, each in a commit of its own.
    let traces = ["threadx/tiny.trx", "shark/a_linear.dat", "rkh/ahsm-a.bin", "threadx/wide.trx"];
    for name in traces {
        let trace = format!("crates/tracewell/tests/fixtures/{name}");
        let label = format!("system={}", name.split('/').next().unwrap());
        printed("ingest", &[&trace, "-o", lake, "--label", &label]);
    }
    let answers = || -> Vec<String> {
        let answer = |table: tracewell_tables::Table| {
            let columns = table.columns().iter().map(|column| column.name);
            let columns = columns.filter(|name| *name != "text").chain(["trace", "system"]);
            let columns: BTreeSet<_> = columns.collect();
            let columns = columns.into_iter().collect::<Vec<_>>().join(", ");
            printed("query", &[&format!("SELECT {columns} FROM {table} ORDER BY {columns}"), lake])
        };
        let arguments = "SELECT sum(arg(args, 'mutex_ptr')) AS s, count(arg(args, 'arg1')) AS n \
                         FROM events WHERE system = 'threadx'";
        let answers = tracewell_tables::Table::ALL.into_iter().map(answer);
        answers.chain([printed("query", &[arguments, lake])]).collect()
    };
    let files = || fs::read_dir(at("lake/data/events")).unwrap().count();
    let before = answers();
    let message = printed("ingest", &["--merge", "-o", lake]);
    assert!(message.contains(" files into "), "{message}");
    assert_eq!(answers(), before);
    // Queries that began before still find their files.
    assert_eq!(files(), traces.len() + 1);
    let nothing = format!("added 0 traces, 0 rows, 0 bytes; {lake} has 4 traces\n");
    assert_eq!(printed("ingest", &["--merge", "-o", lake]), nothing);
    assert_eq!(files(), traces.len() + 1);
    assert_eq!(printed("ingest", &["--merge", "--keep-merged", "0", "-o", lake]), nothing);
    assert_eq!(files(), 1);
    assert_eq!(answers(), before);
    // The lake can grow, and is merged while it grows.
    let trace = "crates/tracewell/tests/fixtures/shark/cbs_server.dat";
    let message = printed("ingest", &[trace, "-o", lake, "--label", "system=shark", "--merge"]);
    assert!(message.starts_with("added 1 trace, ") && message.contains("; merged "), "{message}");
    let sql = "SELECT count(*) AS traces FROM traces";
    assert_eq!(printed("query", &[sql, lake, "--format", "csv"]), "traces\n5\n");
}

#[test]
fn programs_that_merge_can_be_killed_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(at("traces")).unwrap();
    many(Path::new(&at("traces")), 12);
    let add = |number: usize| {
        let trace = at(&format!("traces/{number:03}.trx"));
        printed("ingest", &[&trace, "-o", &at("lake"), "--tables", "events,traces"]);
    };
    let files = |folder: &str| fs::read_dir(at(folder)).map_or(0, Iterator::count);
    let state = || ["log", "checkpoint", "data/events"].map(|name| files(&format!("lake/{name}")));
    let start = || -> Child {
        let mut command = command("ingest");
        command.args(["-o", &at("lake"), "--merge", "--keep-merged", "0"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    for round in 0..4 {
        (3 * round..3 * round + 3).for_each(add);
        let before = state();
        let mut programs = [start(), start()];
        // Kill one of them at a change: the first in one round, the second in the next, and so on.
        let mut changes = 0;
        let mut last = before;
        while programs[0].try_wait().unwrap().is_none() {
            let now = state();
            changes += usize::from(now != last);
            last = now;
            if changes > round {
                break;
            }
            std::thread::yield_now();
        }
        programs[0].kill().unwrap();
        programs[0].wait().unwrap();
        assert!(programs[1].wait().unwrap().success());
        let traces = 3 * (round + 1);
        let expected = format!("traces,hashes,events\n{traces},{traces},{}\n", traces * 197);
        assert_eq!(counts(&at("lake")), expected);
    }
}

#[test]
fn what_is_wrong_is_said_and_the_rest_is_added() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(at("traces")).unwrap();
    many(Path::new(&at("traces")), 2);
    fs::write(at("traces/none.trx"), "not a trace").unwrap();
    let bytes = fs::read(at("traces/001.trx")).unwrap();
    fs::write(at("traces/cut.trx"), &bytes[..bytes.len() / 2]).unwrap();
    let output = ingest(&[&at("traces"), "-o", &at("lake"), "--keep-raw"]);
    assert_eq!(output.status.code(), Some(3));
    let messages = text(&output.stderr);
    assert!(messages.contains("none.trx: ") && messages.contains("cut.trx: damaged"), "{messages}");
    assert!(text(&output.stdout).starts_with("added 3 traces, "));
    assert_eq!(fs::read_dir(at("lake/raw")).unwrap().count(), 3);

    let cases: [(&[&str], &str); 5] = [
        (&["-o", &at("traces")], "is not a lake and has other files"),
        (&["-o", &at("lake"), "--partition", "x"], "--partition x: "),
        (&["-o", &at("lake"), "--label", "x"], "--label x: expected KEY=VALUE"),
        (&["-o", &at("lake"), "--label", "a=1", "--label", "a=2"], "label a is both 1 and 2"),
        (&["-o", &at("lake"), "-O", "rate=fast"], "rate"),
    ];
    for (arguments, expected) in cases {
        let output = ingest(&[&[at("traces/000.trx").as_str()], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(expected), "{}", text(&output.stderr));
    }
    fs::write(at("lake/log/00000000000000000002.json"), "{").unwrap();
    let output = command("query").args(["SELECT 1 FROM events", &at("lake")]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("00000000000000000002.json: not a commit of a lake"));
}
