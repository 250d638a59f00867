//! Runs `tracewell-query` over traces of the repository. The expected figures are in the files
//! beside the traces. They come from independent programs, which
//! `crates/tracewell/tests/fixtures/*/README.md` describes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns the path of a trace, relative to the root of the repository.
fn fixture(name: &str) -> String {
    format!("crates/tracewell/tests/fixtures/{name}")
}

/// Runs the program in the root of the repository, so that messages name short paths.
fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell-query"));
    command.current_dir(root()).stdin(Stdio::null()).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs a query that must succeed, and returns its rows as JSON.
fn rows(arguments: &[&str]) -> Vec<Value> {
    let output = run(&[arguments, &["--format", "jsonl"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs a query that must fail with a status, and returns its messages.
fn failure(status: i32, arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    stderr(&output)
}

/// Returns the rows of a table of tab-separated values, without its first line.
fn truth(name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join(fixture(name))).unwrap();
    let fields = |line: &str| line.split('\t').map(str::to_owned).collect();
    text.lines().skip(1).map(fields).collect()
}

#[test]
fn events_of_a_file_are_those_of_the_reference() {
    let sql = format!("SELECT seq, id, ticks FROM '{}'", fixture("shark/a_linear.dat"));
    let (found, expected) = (rows(&[&sql]), truth("shark/a_linear.events.tsv"));
    assert_eq!(found.len(), expected.len());
    let first: u64 = expected[0][3].parse().unwrap();
    for (row, fields) in found.iter().zip(&expected) {
        assert_eq!(row["seq"].to_string(), fields[0]);
        let id = u32::from_str_radix(&fields[6][2..], 16).unwrap();
        assert_eq!(row["id"], id, "{fields:?}");
        assert_eq!(row["ticks"], fields[3].parse::<u64>().unwrap() - first, "{fields:?}");
    }
}

#[test]
fn conditions_of_ticks_times_and_ids_find_the_events_of_the_reference() {
    let expected = truth("shark/a_linear.events.tsv");
    let first: u64 = expected[0][3].parse().unwrap();
    let ticks = |fields: &Vec<String>| fields[3].parse::<u64>().unwrap() - first;
    let count = |condition: &dyn Fn(&Vec<String>) -> bool| {
        expected.iter().filter(|fields| condition(fields)).count() as u64
    };
    let file = fixture("shark/a_linear.dat");
    let cases: [(&str, u64); 5] = [
        (
            "ticks BETWEEN 1000000 AND 90000000",
            count(&|f| (1_000_000..=90_000_000).contains(&ticks(f))),
        ),
        ("id = 0x60", count(&|f| f[6] == "0x60")),
        (
            "id IN (0x60, 0x20) AND ticks > 500",
            count(&|f| (f[6] == "0x60" || f[6] == "0x20") && ticks(f) > 500),
        ),
        ("id = 0x60 AND id = 0x20", 0),
        // The reference counts nanoseconds from the start of the trace. The table counts them from
        // event 0.
        ("time_ns >= 100000249", count(&|f| f[4].parse::<i64>().unwrap() >= 100_000_000)),
    ];
    for (condition, expected) in cases {
        let condition = condition.replace("0x60", "96").replace("0x20", "32");
        let sql = format!("SELECT count(*) AS n FROM '{file}' WHERE {condition}");
        assert_eq!(rows(&[&sql])[0]["n"], expected, "{condition}");
        // Without the reader's help, the engine finds the same rows.
        let all = format!("(SELECT *, random() AS r FROM '{file}')");
        let sql = format!("SELECT count(*) AS n FROM {all} WHERE ({condition}) OR r < -1");
        assert_eq!(rows(&[&sql])[0]["n"], expected, "{condition}");
    }
}

#[test]
fn responses_are_those_of_the_reference() {
    let sql = "SELECT context_name, count(*) AS jobs, min(duration_ticks) AS least, \
               max(duration_ticks) AS most, max(duration_ns) AS most_ns FROM jobs \
               GROUP BY context_name";
    let found = rows(&[sql, &fixture("shark/a_linear.dat")]);
    let expected = truth("shark/a_linear.tasks.tsv");
    let expected: Vec<_> = expected.iter().filter(|fields| fields[12] != "0").collect();
    assert!(!expected.is_empty());
    for fields in expected {
        let name = format!("pid {}", fields[1]);
        let row = found.iter().find(|row| row["context_name"] == *name);
        let row = row.unwrap_or_else(|| panic!("no {name} in {found:?}"));
        for (key, field) in [("jobs", 12), ("least", 13), ("most", 15), ("most_ns", 16)] {
            assert_eq!(row[key].to_string(), fields[field], "{name} {key}");
        }
    }
}

#[test]
fn several_files_are_one_table_with_labels() {
    let sql = "SELECT run, count(*) AS events, count(DISTINCT trace) AS traces FROM events \
               GROUP BY run ORDER BY run";
    let found = rows(&[sql, "--labels", "{run}.trx.gz", "examples/runs"]);
    let each = |run: &str| {
        let sql = format!("SELECT events, trace FROM traces WHERE path LIKE '%{run}%'");
        rows(&[&sql, "examples/runs"])[0].clone()
    };
    let labels: Vec<_> = found.iter().map(|row| row["run"].as_str().unwrap()).collect();
    assert_eq!(labels, ["after", "before"]);
    for row in &found {
        assert_eq!(row["events"], each(row["run"].as_str().unwrap())["events"]);
        assert_eq!(row["traces"], 1);
    }
    // The hash is the hash of the file.
    let hash = Command::new("sha256sum").arg(root().join("examples/runs/after.trx.gz")).output();
    if let Ok(hash) = hash {
        let hash = String::from_utf8(hash.stdout).unwrap();
        assert_eq!(each("after")["trace"].as_str(), hash.split_whitespace().next());
    }
}

#[test]
fn functions_read_files_with_options() {
    let file = fixture("threadx/tiny.trx");
    let sql = format!("SELECT max(time_ns) AS t FROM read('{file}', rate => '1MHz')");
    let ticks = rows(&[&format!("SELECT max(ticks) AS t FROM '{file}'")])[0]["t"].clone();
    assert_eq!(rows(&[&sql])[0]["t"], ticks.as_u64().unwrap() * 1000);
    // Options of the command line also apply to paths in the SQL.
    let sql = format!("SELECT max(time_ns) AS t FROM '{file}'");
    assert_eq!(rows(&[&sql, "-O", "rate=1MHz"])[0]["t"], ticks.as_u64().unwrap() * 1000);
    let sql = format!("SELECT max(ticks_to_ns(ticks, 1e6)) AS t FROM '{file}'");
    assert_eq!(rows(&[&sql])[0]["t"], ticks.as_u64().unwrap() * 1000);
    let sql = format!("SELECT count(*) AS n FROM contexts('{file}')");
    assert_eq!(rows(&[&sql]), rows(&["SELECT count(*) AS n FROM contexts", &file]));
}

#[test]
fn arguments_are_columns() {
    let file = fixture("rkh/ahsm-b.bin");
    let sql = format!(
        "SELECT count(*) AS n FROM '{file}' e WHERE arg(e.args, 'sig') = 3 AND arg(args, 'ao') > 0"
    );
    let by_column =
        format!("SELECT count(*) AS n FROM '{file}' WHERE arg_sig = 3 AND \"arg_ao\" > 0");
    assert_eq!(rows(&[&sql]), rows(&[&by_column]));
    assert_ne!(rows(&[&sql])[0]["n"], 0);
}

#[test]
fn only_wanted_columns_are_read() {
    let file = fixture("threadx/tiny.trx");
    let sql = format!("EXPLAIN FORMAT INDENT SELECT id FROM '{file}' WHERE path LIKE '%none%'");
    let plan = rows(&[&sql]);
    let plan = plan.iter().map(|row| row["plan"].as_str().unwrap()).collect::<String>();
    // The path filter selects no trace, so one partition without files remains.
    assert!(plan.contains("StreamingTableExec: partition_sizes=1, projection=[id"), "{plan}");
    assert!(plan.contains("partial_filters=["), "{plan}");
}

#[test]
fn damaged_traces_give_their_readable_part() {
    let file = fixture("rkh/ahsm-a-garbage.bin");
    let output = run(&["SELECT count(*) AS n FROM events", &file, "--format", "csv"]);
    assert_eq!(output.status.code(), Some(3));
    // `expected.tsv` contains the number of valid frames.
    assert_eq!(stdout(&output), "n\n391\n");
    let messages = stderr(&output);
    let damage = format!("error: {file}: damaged: at byte 4336: checksum of the frame is wrong\n");
    assert!(messages.starts_with(&damage), "{messages}");
    assert!(messages.contains("missing, at"), "{messages}");
    // Each message appears once, although the trace is read several times.
    assert_eq!(messages.matches("at byte 4336").count(), 1, "{messages}");
}

#[test]
fn an_unreadable_trace_does_not_stop_the_others() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("b.trx"), "no trace").unwrap();
    fs::copy(root().join(fixture("threadx/tiny.trx")), folder.path().join("c.trx")).unwrap();
    let files = folder.path().to_str().unwrap();
    for sql in ["SELECT count(*) AS n FROM events", "SELECT sum(events) AS n FROM traces"] {
        let output = run(&[sql, files, "--format", "csv"]);
        assert_eq!(stdout(&output), "n\n197\n", "{sql}");
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stderr(&output).contains("b.trx"), "{}", stderr(&output));
    }
}

#[test]
fn values_are_formatted_with_templates() {
    let sql = r#"SELECT format('"unit=" U8 S0 "x=" X8, 00000000000000FF "all" , \* "some"', n, t, x) AS f
                 FROM (VALUES (7, 'go', 255), (8, 'no', 1), (9, NULL, 2)) AS v(n, t, x) ORDER BY n"#;
    let found: Vec<_> = rows(&[sql]).into_iter().map(|row| row["f"].clone()).collect();
    let texts = ["unit= 7 go x=all", "unit= 8 no x=some"].map(Value::from);
    assert_eq!(found, [&texts[..], &[Value::Null]].concat());
}

#[test]
fn wrong_queries_are_explained() {
    let file = fixture("threadx/tiny.trx");
    let cases: [(&[&str], &str); 11] = [
        (&["SELECT format('U8 {', 1)"], "error: SQL: format U8 {: "),
        (&["SELECT format(1)"], "error: SQL: format expects a template as text first"),
        (&["SELEC 1"], "error: SQL: Expected: an SQL statement, found: SELEC"),
        (&["SELECT nam FROM events", &file], "No field named nam. Did you mean 'events.name'?"),
        (&["SELECT * FROM events"], "error: SQL: the table events has no traces: give files"),
        (&["SELECT * FROM event"], "error: SQL: no table and no file 'event'; the tables are"),
        (&["SELECT * FROM read(3)"], "error: SQL: expected the path of a trace"),
        (&["COPY (SELECT 1) TO 'x.csv'"], "DML not supported: COPY"),
        (&["--run", "none"], "error: --run none: expected one of worst-responses,"),
        (&["--run", "regressions"], "error: the query regressions needs --set label=VALUE"),
        (&["SELECT 1", "--labels", "x", &file], "error: --labels x: expected a label in braces"),
    ];
    for (arguments, expected) in cases {
        let messages = failure(2, arguments);
        assert!(messages.contains(expected), "{arguments:?}: {messages}");
    }
    let messages = failure(4, &["SELECT 1", "none.trx"]);
    assert!(messages.starts_with("error: none.trx: "), "{messages}");
    let messages = failure(4, &["SELECT * FROM 'none.trx'"]);
    assert!(messages.starts_with("error: none.trx: "), "{messages}");
    let messages = failure(2, &["SELECT * FROM events", &file, "-O", "rate=fast"]);
    assert!(messages.contains("rate"), "{messages}");
}

#[test]
fn files_are_written_whole_and_never_replaced_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let file = fixture("threadx/tiny.trx");
    let sql = "SELECT seq, name, arg(args, 'thread_ptr') AS thread FROM events";
    for name in ["a.csv", "a.jsonl", "a.parquet", "a.arrow", "a.txt"] {
        let output = run(&[sql, &file, "-o", &at(name)]);
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()), "{name}");
    }
    // The engine reads the Parquet file as a table.
    let sql_back = format!("SELECT count(*) AS n, max(seq) AS m FROM '{}'", at("a.parquet"));
    assert_eq!(rows(&[&sql_back])[0].to_string(), r#"{"m":196,"n":197}"#);
    assert_eq!(fs::read_to_string(at("a.csv")).unwrap().lines().count(), 198);
    assert_eq!(fs::read_to_string(at("a.jsonl")).unwrap().lines().count(), 197);
    let before = fs::read(at("a.csv")).unwrap();
    let messages = failure(2, &["SELECT 1", "-o", &at("a.csv")]);
    assert!(messages.contains("already exists: name a new file, or use --force"), "{messages}");
    // If a query fails, the existing file is kept.
    failure(2, &["SELECT nothing", "-o", &at("a.csv"), "--force"]);
    assert_eq!(fs::read(at("a.csv")).unwrap(), before);
    assert_eq!(run(&["SELECT 1", "-o", &at("a.csv"), "--force"]).status.code(), Some(0));
    assert_eq!(fs::read_to_string(at("a.csv")).unwrap(), "Int64(1)\n1\n");
    // A trace is never replaced.
    fs::copy(root().join(&file), at("t.trx")).unwrap();
    let messages = failure(2, &[sql, &at("t.trx"), "-o", &at("t.trx"), "--force"]);
    assert!(messages.contains("is also an input and would be overwritten"), "{messages}");
    assert_eq!(fs::read(at("t.trx")).unwrap(), fs::read(root().join(&file)).unwrap());
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 6, "no temporary file stays");
}

#[test]
fn ready_queries_answer_over_several_systems() {
    let files = ["threadx/tiny.trx", "shark/a_linear.dat", "rkh/ahsm-b.bin"].map(fixture);
    let files = files.each_ref().map(String::as_str);
    let list = stdout(&run(&["--list"]));
    assert!(list.lines().count() >= 5, "{list}");
    for line in list.lines() {
        let name = line.split_whitespace().next().unwrap();
        let set: &[&str] = match name {
            "regressions" => &["--set", "label=system", "--set", "old=rkh", "--set", "new=shark"],
            "steps" => &["--set", "label=system"],
            _ => &[],
        };
        let labels = &["--labels", "{system}/{file}"];
        let output = run(&[&["--run", name], set, labels, &files].concat());
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        assert!(stdout(&output).lines().count() >= 1, "{name}");
        let sql = stdout(&run(&[&["--run", name, "--show"], set].concat()));
        assert!(sql.starts_with("-- ") && !sql.contains('$'), "{sql}");
    }
}

#[test]
fn groups_by_words_are_those_of_their_texts() {
    let folder = tempfile::tempdir().unwrap();
    let lake = folder.path().join("lake");
    let lake = lake.to_str().unwrap();
    let files = ["threadx/tiny.trx", "threadx/wide.trx", "shark/a_linear.dat"].map(fixture);
    let files = files.each_ref().map(String::as_str);
    let ingest = env!("CARGO_BIN_EXE_tracewell-ingest");
    // Each commit has dictionaries of its own.
    for file in files {
        let mut command = Command::new(ingest);
        let added = command.current_dir(root()).args([file, "-o", lake]).output().unwrap();
        assert_eq!(added.status.code(), Some(0), "{}", stderr(&added));
    }
    let counts = "count(*) AS n, min(ticks) AS first, count(DISTINCT seq) AS seqs";
    let explained = |sql: &str, of: &[&str]| {
        let sql = format!("EXPLAIN {sql}");
        stdout(&run(&[&[sql.as_str()], of].concat()))
    };
    let mark = "number_of_words";
    let as_text = |of: &str| format!("arrow_cast({of}, 'Utf8') AS {of}");
    let names = ["context_name", "name", "meaning"].map(as_text).join(", ");
    let of_texts = format!("(SELECT {names}, cpu, id, ticks, seq FROM events)");
    for words in [
        &["name"][..],
        &["context_name", "name"],
        &["meaning", "id", "context_name", "name"],
        &["cpu", "meaning", "upper(name)"],
    ] {
        let by = words.join(", ");
        // Without names of their own, expressions would have the name of the table in theirs.
        let named: Vec<_> = (0..).zip(words).map(|(n, of)| format!("{of} AS by{n}")).collect();
        let named = named.join(", ");
        let sql = format!("SELECT {named}, {counts} FROM events GROUP BY {by} ORDER BY {by}");
        let by_text = sql.replace("FROM events", &format!("FROM {of_texts}"));
        for of in [&files[..], &[lake]] {
            let found = rows(&[&[sql.as_str()], of].concat());
            assert_eq!(found, rows(&[&[by_text.as_str()], of].concat()), "{by}");
            assert!(found.len() > 3, "{by}: {found:?}");
            assert!(explained(&sql, of).contains(mark), "{by}");
            assert!(!explained(&by_text, of).contains(mark), "{by}");
        }
    }
    for sql in [
        "SELECT DISTINCT context_name, name FROM events ORDER BY context_name, name",
        "SELECT name, count(*) AS n FROM events GROUP BY name HAVING count(*) > 3 \
         ORDER BY n DESC, name LIMIT 5",
        "SELECT name, count(*) FILTER (WHERE id > 10) AS n FROM events GROUP BY name ORDER BY name",
        "SELECT name, count(DISTINCT context_name) AS n FROM events GROUP BY name ORDER BY name",
        "SELECT count(DISTINCT name) AS n FROM events",
    ] {
        let by_text = sql.replace("FROM events", &format!("FROM {of_texts}"));
        for of in [&files[..], &[lake]] {
            let found = rows(&[&[sql], of].concat());
            assert!(!found.is_empty(), "{sql}");
            assert_eq!(found, rows(&[&[by_text.as_str()], of].concat()), "{sql}");
        }
    }
    // Some forms stay as they are.
    let sets = "SELECT name, cpu, count(*) FROM events GROUP BY ROLLUP (name, cpu)";
    assert!(!explained(sets, &[lake]).contains(mark));
}

#[test]
fn a_trace_is_read_once_for_columns_without_names() {
    let file = fixture("shark/a_linear.dat");
    let expected = truth("shark/a_linear.events.tsv");
    let sql = "SELECT id, count(*) AS n, max(ticks) AS last FROM events GROUP BY id ORDER BY id";
    let found = rows(&[sql, &file]);
    let ids: BTreeSet<_> = expected.iter().map(|fields| fields[6].clone()).collect();
    assert_eq!(found.len(), ids.len());
    let events: u64 = found.iter().map(|row| row["n"].as_u64().unwrap()).sum();
    assert_eq!(events, expected.len() as u64);
    // A condition of the time needs the clock, and a label or a path does not.
    let sql = "SELECT max(id) AS last FROM events WHERE time_ns >= 100000249";
    assert_eq!(rows(&[sql, &file]).len(), 1);
    let sql =
        format!("SELECT path, count(id) AS n FROM events WHERE path = '{file}' GROUP BY path");
    let row = &rows(&[&sql, &file])[0];
    assert_eq!((row["path"].as_str(), row["n"].as_u64()), (Some(file.as_str()), Some(events)));
    // Damage is found in the only reading too.
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.trx");
    let bytes = fs::read(root().join(fixture("threadx/tiny.trx"))).unwrap();
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let output = run(&["SELECT count(id) > 0 AS some FROM events", cut.to_str().unwrap()]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(3), "some\ntrue\n".to_owned()));
    assert!(stderr(&output).contains("cut.trx: damaged: "), "{}", stderr(&output));
    // A wrong option is wrong usage, as in other queries.
    let messages = failure(2, &["SELECT count(id) FROM events", &file, "-O", "rate=fast"]);
    assert!(messages.contains("rate"), "{messages}");
    // Columns of arguments stay known.
    failure(2, &["SELECT arg_nothing FROM events", &file]);
    let sql = "SELECT count(*) AS n FROM (SELECT * FROM events) WHERE arg(args, 'mutex_ptr') > 0";
    assert!(rows(&[sql, &fixture("threadx/tiny.trx")])[0]["n"].as_u64().is_some());
}

#[test]
fn scripts_keep_views_between_statements() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.sql");
    let text = "-- A view and two answers\nCREATE VIEW v AS SELECT id FROM events;\n\
                SELECT count(*) AS n FROM v; SELECT count(DISTINCT id) > 1 AS many FROM v;\n";
    fs::write(&script, text).unwrap();
    let file = fixture("threadx/tiny.trx");
    let output = run(&["-f", script.to_str().unwrap(), &file, "--format", "csv"]);
    assert_eq!(stdout(&output), "n\n197\nmany\ntrue\n", "{}", stderr(&output));
}
