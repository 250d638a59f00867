//! Tests the program as a user runs it: output, errors and exit status. Golden outputs are in
//! `tests/golden/`; `BLESS=1 cargo test` renews them. After that, check the changes in these files.

mod bless;
mod program;
#[cfg(unix)]
mod signals;
mod validation;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use bless::assert_golden;
use program::{status, stderr, stdout};
use snapbox::file;
use validation::validated;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tracewell/tests/fixtures/threadx").join(name)
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scheduling.trx")
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    command.stdin(Stdio::null());
    command
}

fn run(arguments: &[&str], file: &Path) -> Output {
    program().args(arguments).arg(file).output().unwrap()
}

/// Parses a JSON document of this kind about one trace, and returns the element for the trace.
#[track_caller]
fn only_trace(kind: &str, output: &Output) -> serde_json::Value {
    let mut document = validated(kind, &stdout(output));
    let traces = document["traces"].as_array_mut().unwrap();
    assert_eq!(traces.len(), 1);
    traces[0].take()
}

/// A file in a separate folder.
fn written(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.trx");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

#[test]
fn report_is_as_the_golden_file_shows() {
    let output = run(&["report", "-O", "rate=10MHz", "--head", "60"], &fixture("tiny.trx"));
    assert_golden(stdout(&output), file!["golden/report.txt"]);
    assert_eq!((status(&output), stderr(&output)), (Some(0), String::new()));
}

#[test]
fn info_is_as_the_golden_files_show() {
    let output = run(&["info"], &fixture("tiny.trx"));
    assert_golden(stdout(&output), file!["golden/info.txt"]);
    // The document contains the path of the trace, so use a relative path.
    let mut command = program();
    command.current_dir(fixture("")).args(["info", "--json", "-O", "rate=10MHz", "tiny.trx"]);
    let output = command.output().unwrap();
    assert_golden(stdout(&output), file!["golden/info.json"]);
    let json = only_trace("info", &output);
    let keys = ["format", "options", "clock", "events", "span_ns", "contexts", "objects", "losses"];
    assert!(keys.iter().all(|key| json.get(key).is_some()), "{json:#}");
    assert_eq!((&json["events"], &json["span_ns"]), (&197.into(), &11_438_100.into()));
}

/// A S.Ha.R.K. trace, with the names of its tasks in a file next to it.
fn shark(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tracewell/tests/fixtures/shark").join(name)
}

#[test]
fn analyze_is_as_the_golden_file_shows() {
    let names = shark("a_linear.meta.tsv");
    let names = names.to_str().unwrap();
    let output = run(&["analyze", "--names", names], &shark("a_linear.dat"));
    assert_golden(stdout(&output), file!["golden/analyze.txt"]);
    let all = run(&["analyze", "--show", "all", "--names", names], &shark("a_linear.dat"));
    assert_golden(stdout(&all), file!["golden/analyze-all.txt"]);
    assert_eq!((status(&output), stderr(&output)), (Some(0), String::new()));
    let output = run(&["analyze", "--json", "--names", names], &shark("a_linear.dat"));
    let json = only_trace("analyze", &output);
    assert_eq!((&json["events"], &json["interrupts"]["brackets"]), (&775.into(), &72.into()));
    let task = &json["tasks"][3];
    assert_eq!((&task["name"], &task["pid"]), (&"tau1".into(), &3.into()));
    assert_eq!(task["response_max_ns"], 31_606_502);
}

#[test]
fn analyze_prints_the_requested_lists() {
    let names = shark("a_linear.meta.tsv");
    let arguments = [
        "analyze",
        "--json",
        "--jobs",
        "--waits",
        "--budgets",
        "--ipoints",
        "user_event_0,1",
        "--period",
        "tau1=10ms",
        "--deadline",
        "tau1=2ms",
        "--holes",
        "--names",
        names.to_str().unwrap(),
    ];
    let output = run(&arguments, &shark("a_linear.dat"));
    let json = only_trace("analyze", &output);
    let jobs = json["jobs"].as_array().unwrap();
    let ticks = |job: &serde_json::Value, key: &str| job[key].as_u64().unwrap();
    for job in jobs {
        let others = job["preempted_by"].as_array().unwrap();
        let others: u64 = others.iter().map(|other| ticks(other, "ticks")).sum();
        let parts = [
            "execution_ticks",
            "earlier_jobs_ticks",
            "blocking_ticks",
            "interrupt_ticks",
            "unattributed_ticks",
        ];
        let parts: u64 = parts.iter().map(|part| ticks(job, part)).sum();
        assert_eq!(parts + others, ticks(job, "response_ticks"), "{job:#}");
    }
    assert!(jobs.len() > 40, "{}", jobs.len());
    assert_eq!(json["waits"].as_array().unwrap().len(), 1);
    assert!(json["servers"][0]["budget_used"].as_array().unwrap().len() > 10);
    assert_eq!(json["tasks"][3]["timing"]["period_ns"], 10_000_000);
    for wrong in [["--period", "tau1"], ["--deadline", "a=5"], ["--ipoints", "1"]] {
        assert_eq!(status(&run(&["analyze", wrong[0], wrong[1]], &shark("a_linear.dat"))), Some(2));
    }
}

#[test]
fn analyze_shows_the_sections_that_are_asked_for() {
    let trace = shark("b_cyclic.dat");
    let shown = |show: &str| stdout(&run(&["analyze", "--show", show], &trace));
    let text = shown("servers,locks");
    let tables =
        ["MUTEXES OF", "RESOURCE", "SERVER"].map(|table| text.find(&format!("\n\n{table}")));
    assert!(tables.iter().all(Option::is_some) && tables.is_sorted(), "{text}");
    assert!(!text.contains("\nTASK") && !text.contains("\nmore: "), "{text}");
    let none = "\n--show stacks: the trace has no such figures, which need the stack pointers or the \
                stack use of tasks\n";
    assert!(shown("stacks").contains(none) && !shown("all").contains("no such figures"));
    // Every section that the summary names must exist.
    let summary = stdout(&run(&["analyze"], &trace));
    let more = summary.lines().find_map(|line| line.strip_prefix("more: --show ")).unwrap();
    let (named, _) = more.split_once(" or --show all").unwrap();
    assert_eq!(named, "tasks,cores,jobs,locks,interrupts,servers,distributions");
    assert!(!shown(named).contains("no such figures"));
    let wrong = run(&["analyze", "--show", "stack"], &trace);
    assert_eq!(status(&wrong), Some(2));
    assert!(stderr(&wrong).contains("a similar value exists: 'stacks'"), "{}", stderr(&wrong));
    let keys = |options: &[&str]| {
        let output = run(&[&["analyze", "--json"], options].concat(), &trace);
        let json = only_trace("analyze", &output);
        json.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(keys(&["--show", "all"]), keys(&[]));
}

#[test]
fn analyze_reports_a_period_for_an_unknown_task() {
    let trace = shark("a_linear.dat");
    let options = ["--period", "pid 3=10ms", "--deadline", "ghost=1ms", "--period", "0x0120=5ms"];
    let output = run(&[&["analyze"], &options[..]].concat(), &trace);
    let reported = format!("warning: {}: no task 'ghost'\n", trace.display());
    assert_eq!((status(&output), stderr(&output)), (Some(0), reported));
    let output = run(&["analyze", "--period", "pdi 3=10ms"], &trace);
    assert!(stderr(&output).ends_with("no task 'pdi 3'; did you mean 'pid 3'?\n"), "{output:?}");
}

#[test]
fn analyze_has_no_table_of_jobs_if_no_releases_are_recorded() {
    let trace =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tracewell/tests/fixtures/rkh/ahsm-a.bin");
    let text = stdout(&run(&["analyze", "--show", "all"], &trace));
    assert!(text.contains("16 SM EVT_PROC") && !text.contains("JOBS OF"), "{text}");
}

#[test]
fn analyze_reads_a_dialect_whose_events_name_their_thread() {
    let output = run(&["analyze", "--json", "-O", "rate=100MHz"], &example());
    let json = only_trace("analyze", &output);
    let tasks = json["tasks"].as_array().unwrap();
    let control = tasks.iter().find(|task| task["name"] == "control").unwrap();
    assert!(control["execution_ns"].as_u64().unwrap() > 1_000_000, "{control:#}");
    assert!(control["lock_blocks"].as_u64().unwrap() > 0, "{control:#}");
    assert_eq!(control["response_max_ticks"], serde_json::Value::Null);
    // The task that holds the mutex runs while `control` waits for it.
    let split = &control["lock_wait_split"];
    assert!(split["blocking_ticks"].as_u64().unwrap() > 0, "{control:#}");
    let mutex = json["locks"].as_array().unwrap().iter().find(|lock| lock["name"] == "log file");
    assert_eq!(mutex.unwrap()["hold"]["count"], 50);
    assert!(json["charged_ticks"].as_u64().unwrap() <= json["span_ticks"].as_u64().unwrap());
    assert!(json["execution_needs"].is_null() && control["activations"].is_null());
}

#[test]
fn analyze_shows_no_execution_if_events_only_name_their_thread() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rkh = root.join("../tracewell/tests/fixtures/rkh/ahsm-a.bin");
    // The hooks in this trace state their thread, but none of them records a switch between
    // threads.
    let aix = root.join("../../examples/hooks.twx");
    for (trace, needed) in [(rkh, "events of task switches"), (aix, "the hooks 106 and 10C")] {
        let text = stdout(&run(&["analyze"], &trace));
        assert!(text.contains(&format!("(that needs {needed})")), "{text}");
        let heading = text.lines().position(|line| line.starts_with("TASK")).unwrap();
        let columns: Vec<_> = text.lines().nth(heading).unwrap().split_whitespace().collect();
        assert_eq!(columns, ["TASK", "CONTEXT", "EVENTS", "FIRST", "LAST"]);

        let json = only_trace("analyze", &run(&["analyze", "--json"], &trace));
        assert_eq!(json["execution_needs"], needed);
        let task = &json["tasks"][0];
        assert!(task["events"].as_u64().unwrap() > 0, "{task:#}");
        assert!(task["first_ticks"].as_u64() < task["last_ticks"].as_u64(), "{task:#}");
        let unknown = ["execution_ticks", "execution_ns", "dispatches", "preemptions", "throttled"];
        for key in unknown.into_iter().chain(["activations", "orphan_completions", "semaphores"]) {
            assert!(task.get(key).is_some_and(serde_json::Value::is_null), "{key}: {task:#}");
        }
        assert!(json["charged_ticks"].is_null() && json["interrupts"]["brackets"].is_null());
    }
}

#[test]
fn analyze_reports_missing_events() {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tracewell/tests/fixtures/rkh/ahsm-overrun.bin");
    let text = stdout(&run(&["analyze"], &trace));
    for line in ["check: damaged: 4 records", "check: missing: 54 events, in 4 places"] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(text.contains("\nevents are missing in 4 places, 522 ticks in all"), "{text}");
}

#[test]
fn a_bad_file_of_a_run_is_reported_and_the_others_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("empty.trx"), "").unwrap();
    std::fs::write(path("other.trx"), "no dump at all").unwrap();
    std::fs::write(path("packed.trx"), b"\x1F\x8B\x08garbage").unwrap();
    let place = std::fs::metadata(fixture("tiny.trx")).unwrap().len();
    for (name, message) in [
        ("empty.trx", "error: empty.trx: expected a part of the trace, found an empty file\n"),
        ("other.trx", &format!(" and 2 more: damaged: at byte {place}: ")),
        ("packed.trx", "error: packed.trx: "),
    ] {
        let files = [fixture("tiny.trx"), path(name), fixture("tiny.trx")];
        let output = program().args(["info", "--json", "--join"]).args(files).output().unwrap();
        assert_eq!(status(&output), Some(3), "{name}");
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
        let json = only_trace("info", &output);
        assert_eq!((&json["events"], &json["options"]["dumps"]), (&197.into(), &2.into()));
    }
}

#[test]
fn joined_files_are_one_trace() {
    let files = ["0c_linked.dat", "1c_linked.dat", "2c_linked.dat"].map(shark);
    let joined = program().args(["info", "--json", "--join"]).args(&files).output().unwrap();
    let json = only_trace("info", &joined);
    assert_eq!((&json["events"], &json["options"]["parts"]), (&699.into(), &3.into()));
    let single = program().args(["info", "--json"]).args(&files).output().unwrap();
    let single = validated("info", &stdout(&single));
    let of = |trace: &serde_json::Value| (trace["file"].clone(), trace["format"].clone());
    let single: Vec<_> = single["traces"].as_array().unwrap().iter().map(of).collect();
    assert_eq!(single, files.map(|file| (file.to_str().into(), "shark".into())));
    // If a dump is joined with itself, the result has the same events as the dump.
    let dumps = [fixture("tiny.trx"), fixture("tiny.trx")];
    let joined = program().args(["info", "--json", "--join"]).args(dumps).output().unwrap();
    let json = only_trace("info", &joined);
    assert_eq!((&json["events"], &json["options"]["dumps"]), (&197.into(), &2.into()));
    // If files of a format cannot be joined, the message states this.
    let stream = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tracewell/tests/fixtures/rkh/ahsm-overrun.bin");
    let output = program().args(["info", "--join"]).args([&stream, &stream]).output().unwrap();
    assert_eq!(status(&output), Some(2));
    let reported = "error: --join: traces of format rkh cannot be joined\n";
    assert_eq!(stderr(&output), reported);
    let output = run(&["info", "--names", "/dev/null"], &fixture("tiny.trx"));
    let reported = "error: --names: this flag is for traces of format aix or shark, and this is a \
                trace of threadx; try --custom-events\n";
    assert_eq!((status(&output), stderr(&output).as_str()), (Some(2), reported));
}

#[test]
fn formats_are_as_the_golden_file_shows() {
    let output = program().arg("formats").output().unwrap();
    assert_golden(stdout(&output), file!["golden/formats.txt"]);
    let output = program().args(["formats", "--json"]).output().unwrap();
    validated("formats", &stdout(&output));
}

#[test]
fn the_example_shows_what_the_readme_says() {
    let output = run(&["report"], &example());
    let text = stdout(&output);
    for word in ["control", "tx_queue_send", "tx_mutex_get", "interrupt enter", "lost    nothing"] {
        assert!(text.contains(word), "{word}");
    }
    let (_folder, dump) = written(b"");
    let arguments = ["convert", "--format", "tracex-dump", "-o", dump.to_str().unwrap()];
    assert_eq!(status(&run(&arguments, &example())), Some(0));
    let dump = std::fs::read_to_string(dump).unwrap();
    let inversions = dump.lines().find(|line| line.starts_with("Priority Inversions:")).unwrap();
    assert!(!inversions.ends_with(" 0/0"), "{inversions}");
}

#[test]
fn every_event_is_a_line() {
    let lines = |arguments: &[&str]| stdout(&run(arguments, &fixture("tiny.trx"))).lines().count();
    assert_eq!(lines(&["events"]), 197);
    assert_eq!(lines(&["events", "--format", "tsv"]), 198);
    assert_eq!(lines(&["events", "--format", "csv"]), 198);
    assert_eq!(lines(&["events", "--event", "tx_mutex_get"]), 6);
    assert_eq!(lines(&["events", "--head", "5"]), 5);
    assert_eq!(lines(&["events", "--tail", "7"]), 7);
}

#[test]
fn all_encodings_of_a_dump_give_the_same_events() {
    let expected = stdout(&run(&["events"], &fixture("tiny.trx")));
    for name in ["tiny_be.trx", "tiny.hex", "tiny.srec", "tiny.txt"] {
        let output = run(&["events"], &fixture(name));
        assert!(stdout(&output) == expected, "{name}");
        assert_eq!((status(&output), stderr(&output)), (Some(0), String::new()), "{name}");
    }
}

/// Returns the output for `tiny.hex` with some of its lines changed.
fn of_changed_hex(change: impl Fn(&mut Vec<&str>)) -> Output {
    let text = std::fs::read_to_string(fixture("tiny.hex")).unwrap();
    let mut lines: Vec<_> = text.lines().collect();
    change(&mut lines);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), lines.join("\n")).unwrap();
    run(&["events"], file.path())
}

#[test]
fn bytes_missing_from_a_text_are_reported_at_their_position() {
    let output = of_changed_hex(|lines| drop(lines.drain(400..402)));
    let said = stderr(&output);
    assert!(said.contains("the text has no bytes for the addresses 0x57DC"), "{said}");
    assert!(said.contains("byte 6384: "), "{said}");
}

#[test]
fn a_damaged_text_without_a_trace_is_reported() {
    let output = of_changed_hex(|lines| lines[1] = ":zz");
    let said = stderr(&output);
    assert_eq!(status(&output), Some(3), "{said}");
    assert!(said.contains("decoded from Intel HEX; line 2, column 2: "), "{said}");
}

#[test]
fn standard_input_is_read_like_a_file() {
    let bytes = std::fs::read(fixture("tiny.trx")).unwrap();
    let mut child = program()
        .args(["events", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || stdin.write_all(&bytes));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap().unwrap();
    assert!(stdout(&output) == stdout(&run(&["events"], &fixture("tiny.trx"))));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let mut child = program()
        .arg("events")
        .arg(example())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 1];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((status(&output), stderr(&output)), (Some(0), String::new()));
}

#[test]
fn a_closed_standard_error_changes_no_status() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut info = program();
    let status = info.arg("info").arg("no/such/file.trx").stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(4));
}

#[test]
fn a_missing_file_is_status_4() {
    let output = run(&["info"], Path::new("no/such/file.trx"));
    assert_eq!(status(&output), Some(4));
    assert!(stderr(&output).starts_with("error: no/such/file.trx: "), "{}", stderr(&output));
}

#[test]
fn an_unreadable_file_is_status_3_and_the_found_bytes_are_reported() {
    let (_folder, path) = written(b"\x7FELF\x02\x01\x01\0");
    let output = run(&["report"], &path);
    assert_eq!(status(&output), Some(3));
    assert!(
        stderr(&output).contains("found an ELF file, which is not a trace: bytes 7F 45 4C 46"),
        "{}",
        stderr(&output)
    );
    assert_eq!(stdout(&output), "");
}

#[test]
fn a_damaged_file_is_status_3_and_its_readable_part_is_printed() {
    let bytes = std::fs::read(fixture("tiny.trx")).unwrap();
    let (_folder, path) = written(&bytes[..4000]);
    let output = run(&["events"], &path);
    assert_eq!(status(&output), Some(3));
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 70, "69 whole slots and the gap");
    assert!(
        text.lines().last().unwrap().starts_with(r#"{"lost":null,"cause":"truncated""#),
        "{text}"
    );
    let message = stderr(&output);
    assert!(
        message.contains("damaged: at byte 3984: the input ends inside the events"),
        "{message}"
    );
}

#[test]
fn one_bad_file_does_not_stop_the_others() {
    let output = program().arg("events").arg("missing").arg(fixture("tiny.trx")).output().unwrap();
    assert_eq!((status(&output), stdout(&output).lines().count()), (Some(4), 197));
}

#[test]
fn bad_usage_is_status_2() {
    let refused = |arguments: &[&str]| {
        let output = run(arguments, &fixture("tiny.trx"));
        assert_eq!(status(&output), Some(2), "{arguments:?}");
        stderr(&output)
    };
    assert!(refused(&["events", "--format", "xml"]).contains("possible values: jsonl, tsv, csv"));
    assert!(refused(&["info", "-O", "speed=1"]).contains("-O speed: unknown option"));
    assert!(refused(&["info", "-O", "rate=fast"]).contains("expected ticks per second"));
    assert!(refused(&["report", "--from", "1ms"]).contains("times need a clock of known rate"));
    assert!(refused(&["info", "--format-in", "rkh2"]).contains("there is no format 'rkh2'"));
    assert!(refused(&["convert", "-o", "x.bin"]).contains("cannot tell the format from"));
}

#[test]
fn a_dump_deep_in_an_image_is_found_if_the_search_is_long_enough() {
    let dump = std::fs::read(fixture("tiny.trx")).unwrap();
    let (_folder, image) = written(&[&[0; 100_000], &dump[..], &[0; 10_000]].concat());
    let short = stderr(&run(&["info", "--format-in", "threadx"], &image));
    let advice = "no trace in the first 65536 bytes; -O search=BYTES searches more of the input";
    assert!(short.contains(advice), "{short}");
    let found = run(&["info", "--format-in", "threadx", "-O", "search=100001"], &image);
    assert_eq!(status(&found), Some(0), "{}", stderr(&found));
    let unnamed = stderr(&run(&["info", "-O", "search=100001"], &image));
    assert!(unnamed.contains("; for -O search, name the format: --format-in threadx"), "{unnamed}");

    let (_folder, blank) = written(&[0; 4096]);
    let unnamed = stderr(&run(&["info"], &blank));
    assert!(
        unnamed.contains("only zeros in the first 4096 bytes: a trace buffer that"),
        "{unnamed}"
    );
    let named = stderr(&run(&["info", "--format-in", "threadx"], &blank));
    assert!(named.contains("found only zeros: tx_trace_enable was not called"), "{named}");
}

#[test]
fn custom_events_give_user_events_names() {
    let (_folder, names) = written(
        b"Start\n5000, Frame sent, FS, (0, 0, 255), (0, 0, 0), Length, Marker, Queue, Left\nbad\nEnd\n",
    );
    let arguments = ["events", "--event", "Frame sent", "--custom-events", names.to_str().unwrap()];
    let output = run(&arguments, &fixture("tiny.trx"));
    let text = stdout(&output);
    assert!(
        text.contains(r#""name":"Frame sent","args":{"length":0,"marker":3735928559"#),
        "{text}"
    );
    let fault = format!("error: {}: line 3: expected 13 fields", names.display());
    assert!(stderr(&output).starts_with(&fault), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("each line has the form `4096, Frame sent, FS, (0, 0, 255), ")
    );
    assert_eq!(status(&output), Some(3));
    // The option `-O names` has the same effect.
    let file = names.with_extension("trxc");
    std::fs::copy(&names, &file).unwrap();
    let option = format!("names={}", file.display());
    let arguments = ["events", "--event", "Frame sent", "-O", &option];
    assert_eq!(stdout(&run(&arguments, &fixture("tiny.trx"))), text);
    let arguments = ["events", "-O", "names=5=tau1"];
    let reported = stderr(&run(&arguments, &fixture("tiny.trx")));
    assert!(reported.contains("-O names: expected a file of custom events (.trxc)"), "{reported}");
}

#[test]
fn a_failed_conversion_leaves_the_output_as_it_was() {
    let (folder, path) = written(b"precious");
    let arguments = ["convert", "-T", "order=odd", "-o", path.to_str().unwrap()];
    assert_eq!(status(&run(&arguments, &fixture("tiny.trx"))), Some(2));
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_stays_one_and_its_target_is_replaced() {
    let (folder, target) = written(b"old");
    let link = folder.path().join("link.csv");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let arguments = ["convert", "-o", link.to_str().unwrap()];
    assert_eq!(status(&run(&arguments, &fixture("tiny.trx"))), Some(0));
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(std::fs::read_to_string(&target).unwrap().starts_with("seq,ticks"));
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_written_to_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    let arguments = ["convert", "--format", "csv", "-o", pipe.to_str().unwrap()];
    let output = run(&arguments, &fixture("tiny.trx"));
    let kind = std::fs::symlink_metadata(&pipe).unwrap().file_type();
    assert!(kind.is_fifo(), "the pipe was replaced");
    assert_eq!(status(&output), Some(0));
    assert_eq!(reader.join().unwrap().lines().count(), 198);
}

#[test]
fn a_converted_dump_has_the_same_events() {
    let (_folder, path) = written(b"");
    let arguments = ["convert", "-T", "order=big", "-o", path.to_str().unwrap()];
    assert_eq!(status(&run(&arguments, &fixture("tiny.trx"))), Some(0));
    assert!(stdout(&run(&["events"], &path)) == stdout(&run(&["events"], &fixture("tiny.trx"))));
}

#[test]
fn colour_appears_when_asked_for_only() {
    let escapes =
        |arguments: &[&str]| stdout(&run(arguments, &fixture("tiny.trx"))).contains('\x1b');
    assert!(!escapes(&["report"]));
    assert!(escapes(&["report", "--color", "always"]));
}

#[test]
fn completions_and_manual_pages_are_made() {
    for shell in ["bash", "zsh", "fish"] {
        let output = program().args(["completions", shell]).output().unwrap();
        let script = stdout(&output);
        assert!(script.contains("tracewell"), "{shell}");
        // The scripts complete the keys of -O and -T.
        assert!(script.contains("que-lwm") && script.contains("ulong"), "{shell}: {script}");
    }
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(status(&run(&["man"], folder.path())), Some(0));
    let page = std::fs::read_to_string(folder.path().join("tracewell-report.1")).unwrap();
    assert!(page.contains("Print events as text for people"), "{page}");
    assert!(page.contains(r"\fBtracewell report\fR [OPTIONS] [FILE]..."), "{page}");
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let page = std::fs::read_to_string(&path).unwrap();
        assert!(page.contains(".SH \"EXIT STATUS\""), "{}", path.display());
        assert!(!page.contains("EXTRA"), "{}", path.display());
    }
}

#[test]
fn the_short_help_of_report_is_half_of_the_long_one() {
    let lines = |option: &str| {
        stdout(&program().args(["report", option]).output().unwrap()).lines().count()
    };
    assert!(lines("-h") * 2 <= lines("--help"), "{} {}", lines("-h"), lines("--help"));
}

/// Starts `tracewell collect` with these arguments. Returns the process, and the address at which
/// it listens.
fn collecting(arguments: &[&str], file: &Path) -> (std::process::Child, String) {
    let mut child = program()
        .args(["collect", "--udp", "127.0.0.1:0", "-o"])
        .arg(file)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = Vec::new();
    let errors = child.stderr.as_mut().unwrap();
    while line.last() != Some(&b'\n') {
        let mut byte = [0];
        errors.read_exact(&mut byte).unwrap();
        line.extend(byte);
    }
    let line = String::from_utf8(line).unwrap();
    (child, line.trim_end().rsplit(' ').next().unwrap().to_owned())
}

/// A datagram of the S.Ha.R.K. tracer with one record.
fn datagram(number: u8) -> Vec<u8> {
    let mut bytes = b"TRACER-V1.0\0".to_vec();
    bytes.extend([number, 0, 0, 0, 1, 0, 0, 0, 40, 0, 0, 0]);
    bytes.extend([0x09, 0, number, 0, 0, 0, 0, 0, number, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

#[test]
fn collect_writes_received_packets_and_reports_missing_ones() {
    let (_folder, path) = written(b"");
    let (child, address) = collecting(&["--packets", "2", "--seconds", "900"], &path);
    let sender = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    for number in [1, 4] {
        sender.send_to(&datagram(number), &address).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    let report = stdout(&output);
    assert!(report.starts_with("2 packets with 2 records from 127.0.0.1:"), "{report}");
    assert!(report.ends_with(", numbers 1 to 4\n2 packets are missing: 2 to 3\n"), "{report}");
    assert_eq!(status(&output), Some(3));
    let events = run(&["events"], &path);
    assert_eq!(stdout(&events).lines().count(), 3, "{}", stdout(&events));
}

#[cfg(unix)]
#[test]
fn collect_ends_on_ctrl_c_with_everything_in_the_file() {
    signals::end_programs();
    let (_folder, path) = written(b"");
    let (child, address) = collecting(&["--json"], &path);
    let sender = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    sender.send_to(&datagram(1), &address).unwrap();
    // The bytes are in the file although no buffer is full.
    let start = std::time::Instant::now();
    while std::fs::metadata(&path).unwrap().len() < 44 {
        assert!(start.elapsed().as_secs() < 900, "nothing was written");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(status(&output), Some(0));
    let report = validated("collect", &stdout(&output))["sources"][0].take();
    assert_eq!(
        (report["packets"]["packets"].as_u64(), report["packets"]["missing_packets"].as_u64(),),
        (Some(1), Some(0))
    );
    assert_eq!(std::fs::read(&path).unwrap()[4..], datagram(1));
}

#[test]
fn collect_refuses_an_invalid_address_and_an_invalid_time() {
    let (_folder, path) = written(b"");
    let output = run(&["collect", "--udp", "nowhere", "-o"], &path);
    assert_eq!((status(&output), stdout(&output)), (Some(4), String::new()));
    let output = run(&["collect", "--udp", "127.0.0.1:0", "--seconds", "-1", "-o"], &path);
    assert_eq!(status(&output), Some(2));
}

/// A copy of the program, in a folder without other programs.
#[cfg(unix)]
fn alone() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tracewell");
    install(Path::new(env!("CARGO_BIN_EXE_tracewell")), &path);
    (folder, path)
}

/// Copies a program with the command `install`. If this process wrote the copy itself, children of
/// other tests could inherit the open file, and the copy would be "busy" until they ended.
#[cfg(unix)]
fn install(from: &Path, to: &Path) {
    let status = Command::new("install").args(["-m", "755"]).arg(from).arg(to).status().unwrap();
    assert!(status.success(), "install {} {}", from.display(), to.display());
}

#[cfg(unix)]
#[test]
fn verbs_of_other_programs_say_how_to_get_them() {
    let (folder, path) = alone();
    for verb in ["query", "ingest"] {
        let run = || {
            let arguments = [verb, "--form", "SELECT 1", "a b"];
            Command::new(&path).args(arguments).env("PATH", "").output().unwrap()
        };
        let output = run();
        let expected = format!(
            "error: tracewell-{verb}: not found beside tracewell or in PATH; build it with `cargo \
             install --path query/engine` in the sources of tracewell\n"
        );
        assert_eq!((status(&output), stderr(&output)), (Some(4), expected));

        // If the folder of `tracewell` contains a program for a verb, `tracewell` passes all
        // arguments to this program and returns its exit status.
        let script = folder.path().join("script");
        std::fs::write(&script, "#!/bin/sh\nprintf '%s|' \"$@\"\nexit 7\n").unwrap();
        install(&script, &folder.path().join(format!("tracewell-{verb}")));
        let output = run();
        assert_eq!(
            (status(&output), stdout(&output)),
            (Some(7), "--form|SELECT 1|a b|".to_owned())
        );
    }
}
