//! Tests the tables and JSON lines of `events`. The tests cover chosen columns, losses in a
//! separate file, the types in pandas, and the keys that events and JSON documents have in common.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scheduling.trx")
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    command.current_dir(folder).stdin(Stdio::null()).args(arguments).output().unwrap()
}

/// Runs the program on the example and returns its output.
fn text(arguments: &[&str]) -> String {
    let output = run(&std::env::temp_dir(), &[arguments, &[example().to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the program on the example with wrong arguments, and returns its message.
fn refusal(arguments: &[&str]) -> String {
    let output = run(&std::env::temp_dir(), &[arguments, &[example().to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

/// A folder with the dump `wrapped.trx`, whose oldest events are overwritten.
fn folder_with_losses() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tracewell/tests/fixtures");
    fs::copy(fixtures.join("threadx/wrapped-exactly.trx"), folder.path().join("wrapped.trx"))
        .unwrap();
    folder
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn arguments_join_with_objects_and_figures() {
    let events = lines(&text(&["events"]));
    let info: Value = serde_json::from_str(&text(&["info", "--json"])).unwrap();
    let analysis: Value = serde_json::from_str(&text(&["analyze", "--json", "--waits"])).unwrap();
    let objects = info["traces"][0]["objects"].as_array().unwrap();
    let names: HashMap<&str, &str> = objects
        .iter()
        .map(|object| (object["key"].as_str().unwrap(), object["name"].as_str().unwrap()))
        .collect();
    let gets = events.iter().filter(|event| event["name"] == "TX_TRACE_MUTEX_GET");
    let mut taken: Vec<_> = gets
        .map(|event| {
            let key = event["args"]["mutex_ptr"].as_str().unwrap();
            // The text contains the name that the reader found for this event.
            assert!(
                event["text"].as_str().unwrap().starts_with(&format!("mutex={}, ", names[key]))
            );
            key
        })
        .collect();
    taken.sort_unstable();
    taken.dedup();
    let locks = analysis["traces"][0]["locks"].as_array().unwrap();
    let mutexes = locks.iter().filter(|lock| lock["kind"] == "mutex");
    let mut keys: Vec<_> = mutexes.map(|lock| lock["key"].as_str().unwrap()).collect();
    keys.sort_unstable();
    assert!(keys.len() >= 2, "{keys:?}");
    assert_eq!(taken, keys);
    // A thread is both an object and a context, with the same key.
    let resumed = events.iter().find(|event| event["name"] == "TX_TRACE_THREAD_RESUME").unwrap();
    let thread = &resumed["args"]["thread_ptr"];
    assert!(events.iter().any(|event| event["context"] == *thread), "{thread}");
    let waits = analysis["traces"][0]["waits"].as_array().unwrap();
    assert!(waits.iter().any(|wait| names.contains_key(wait["key"].as_str().unwrap())));
}

#[test]
fn decoded_arguments_follow_the_recorded_ones() {
    let events = lines(&text(&["events", "--decoded", "--event", "tx_mutex_create"]));
    assert_eq!(events[0]["args"]["mutex_ptr"], "0x20000580");
    assert_eq!(
        events[0]["args_text"],
        serde_json::json!({"mutex_ptr": "bus", "inheritance": "inherit", "stack_ptr": "0x20007FDC"})
    );
    assert!(text(&["events"]).lines().all(|line| !line.contains("args_text")));
    assert!(refusal(&["events", "--decoded", "--format", "csv"]).contains("--columns text:NAME"));
}

#[test]
fn a_table_has_the_chosen_columns() {
    let columns = "seq,event,arg:mutex,text:mutex_ptr,arg:arg4";
    let some = ["events", "--format", "csv", "--event", "tx_mutex_create", "--columns"];
    let table = text(&[&some[..], &[columns]].concat());
    let rows: Vec<_> = table.lines().collect();
    assert_eq!(rows[0], columns);
    assert_eq!(rows[1], "3,tx_mutex_create,0x20000580,bus,0");
    let table = text(&[&some[..], &["name,args.*"]].concat());
    assert_eq!(
        table.lines().next(),
        Some("name,arg:mutex_ptr,arg:inheritance,arg:stack_ptr,arg:arg4")
    );
    assert_eq!(table.lines().nth(1), Some("TX_TRACE_MUTEX_CREATE,0x20000580,1,0x20007FDC,0"));
    // `args.*` adds only the arguments that have no column yet.
    let table = text(&[&some[..], &["arg:arg4,name,args.*,args.*"]].concat());
    assert_eq!(
        table.lines().next(),
        Some("arg:arg4,name,arg:mutex_ptr,arg:inheritance,arg:stack_ptr")
    );
    // The rows are the same as without the option, and the columns are in the usual order.
    let usual = "seq,ticks,time_ns,cpu,context,context_name,priority,id,name,args";
    let chosen = text(&["events", "--format", "csv", "--columns", usual]);
    assert_eq!(chosen, text(&["events", "--format", "csv"]));
    assert_eq!(
        text(&["events", "--format", "tsv", "--columns", usual]),
        text(&["events", "--format", "tsv"])
    );
}

#[test]
fn unknown_columns_are_named_with_the_nearest() {
    let tsv = ["events", "--format", "tsv", "--columns"];
    let message = refusal(&[&tsv[..], &["seq,contxt"]].concat());
    assert!(
        message.starts_with("error: --columns: no column 'contxt': expected some of seq, "),
        "{message}"
    );
    assert!(message.ends_with("did you mean 'context'?\n"), "{message}");
    assert!(refusal(&["events", "--columns", "seq"]).contains("needs --format tsv or csv"));
    assert!(refusal(&[&tsv[..], &["seq"]].concat()).contains("add name or event"));
    let folder = tempfile::tempdir().unwrap();
    let path = example();
    let arguments = [&tsv[..], &["name,arg:mutx_ptr", path.to_str().unwrap()]].concat();
    let output = run(folder.path(), &arguments);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        message.contains("no event here has an argument 'mutx_ptr'; did you mean 'mutex_ptr'?"),
        "{message}"
    );
}

#[test]
fn losses_are_inline_apart_or_counted() {
    let folder = folder_with_losses();
    let run = |arguments: &[&str]| run(folder.path(), &[arguments, &["wrapped.trx"]].concat());
    let inline = String::from_utf8(run(&["events", "--format", "csv"]).stdout).unwrap();
    let losses: Vec<_> = inline.lines().filter(|line| line.contains(",lost,")).collect();
    let [loss] = losses[..] else { panic!("{losses:?}") };
    let offset = loss.rsplit_once("offset=").unwrap().1;
    assert!(loss.starts_with(",,,,,,,,lost,cause=overwritten offset="), "{loss}");
    let events: String =
        inline.lines().filter(|line| *line != loss).map(|line| format!("{line}\n")).collect();

    let none = run(&["events", "--format", "csv", "--losses", "none"]);
    assert_eq!(String::from_utf8(none.stdout).unwrap(), events);
    let warning = String::from_utf8(none.stderr).unwrap();
    assert!(warning.contains("an unknown number of missing events, at 1 place"), "{warning}");

    let apart = run(&["events", "--format", "csv", "--losses", "lost.csv"]);
    assert_eq!(String::from_utf8(apart.stdout).unwrap(), events);
    let table = fs::read_to_string(folder.path().join("lost.csv")).unwrap();
    assert_eq!(table, format!("before_seq,lost,cause,offset\n0,,overwritten,{offset}\n"));

    let apart = run(&["events", "--losses", "lost.jsonl", "-o", "events.jsonl"]);
    assert_eq!(apart.status.code(), Some(0));
    let line = fs::read_to_string(folder.path().join("lost.jsonl")).unwrap();
    let expected = serde_json::json!(
        {"before_seq": 0, "lost": null, "cause": "overwritten", "offset": offset.parse::<u64>().unwrap()}
    );
    assert_eq!(lines(&line), [expected]);
    let same = run(&["events", "--losses", "x", "-o", "x"]);
    assert_eq!(same.status.code(), Some(2));
}

/// Returns a Python with pandas, if this machine has one. CI uses Debian's Python in `/usr/bin`,
/// which need not be the first Python in `PATH`.
fn pandas() -> Option<Command> {
    for python in ["python3", "/usr/bin/python3"] {
        let check = Command::new(python).args(["-c", "import pandas"]).output();
        if check.is_ok_and(|output| output.status.success()) {
            let mut python = Command::new(python);
            python.stdin(Stdio::null());
            return Some(python);
        }
    }
    assert!(std::env::var_os("CI").is_none(), "CI has python3 with pandas");
    println!("skipped: there is no python3 with pandas");
    None
}

#[test]
fn integers_stay_integers_in_pandas() {
    let Some(mut python) = pandas() else { return };
    let folder = folder_with_losses();
    let columns = "seq,ticks,cpu,id,event,arg:wait_option,arg:mutex_ptr,args";
    let succeed = |arguments: &[&str]| {
        assert_eq!(run(folder.path(), arguments).status.code(), Some(0), "{arguments:?}");
    };
    let path = example();
    for format in ["csv", "tsv"] {
        let table = ["events", "--format", format, "--columns", columns, "-o", format];
        succeed(&[&table[..], &[path.to_str().unwrap()]].concat());
    }
    let whole = ["events", "--format", "csv", "--losses", "lost", "-o", "whole", "wrapped.trx"];
    succeed(&whole);
    let script = r#"
import pandas as pd
csv = pd.read_csv("csv")
for name in ["seq", "ticks", "cpu", "id"]:
    assert csv[name].dtype == "int64", (name, csv[name].dtype)
assert pd.read_csv("tsv", sep="\t").equals(csv)
# pandas reads a column with empty cells exactly if its types allow empty cells.
exact = pd.read_csv("csv", dtype_backend="numpy_nullable") if int(pd.__version__.split(".")[0]) >= 2 \
    else pd.read_csv("csv").convert_dtypes()
assert str(exact["arg:wait_option"].dtype) == "Int64", exact["arg:wait_option"].dtype
assert exact["arg:wait_option"].max() == 4294967295
assert set(exact["arg:mutex_ptr"].dropna().str[:6]) == {"0x2000"}
assert list(pd.read_csv("lost")["cause"]) == ["overwritten"]
for name in ["seq", "ticks", "cpu", "id"]:
    assert pd.read_csv("whole")[name].dtype == "int64", name
print(len(csv), csv["seq"].iloc[-1])
"#;
    let output = python.current_dir(folder.path()).args(["-c", script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let (count, last) = printed.trim().split_once(' ').unwrap();
    assert_eq!(count.parse::<u64>().unwrap(), last.parse::<u64>().unwrap() + 1);
}
