//! Tests that a cluster gives the same answers as one machine. Covers all predefined queries, all
//! forms of the answer, and the functions for traces, with a lake in a folder and a lake in object
//! storage. Also tests that a cluster refuses queries that it cannot answer.

#[allow(dead_code, unreachable_pub, reason = "each test uses some of it")]
mod common;
#[allow(dead_code, unreachable_pub, reason = "each test uses some of it")]
#[path = "../../engine/tests/moto/mod.rs"]
mod moto;

use std::fs;
use std::path::Path;
use std::process::Output;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::compute::{cast, concat_batches};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::arrow::ipc::reader::StreamReader;

use common::{Cluster, Variables, printed};
use moto::Server;
use tracewell_query::READY;

/// Number of devices.
const DEVICES: u32 = 40;

/// The environment variable that sets the number of devices for the lake in object storage. CI uses
/// more devices.
const MORE_DEVICES: &str = "TRACEWELL_TEST_DEVICES";

/// Duration of each device's trace in milliseconds.
const MS: u32 = 20;

/// Queries with functions for traces, joins, views and subqueries.
const OTHER: [&str; 6] = [
    "SELECT name, format('\"events \" U8 \" of \" S0', count(*), name) AS text FROM events \
     GROUP BY name ORDER BY name",
    "SELECT device, max(ticks_to_ns(ticks, 1e8)) AS ns FROM events GROUP BY device ORDER BY device",
    "SELECT arg(args, 'mutex_ptr') AS mutex, count(*) AS gets FROM events \
     WHERE name = 'TX_TRACE_MUTEX_GET' GROUP BY mutex ORDER BY mutex",
    "CREATE VIEW late AS SELECT * FROM waits WHERE duration_ns > 100000; \
     SELECT t.firmware, l.object_name, count(*) AS waits, count(DISTINCT l.trace) AS devices \
     FROM late l JOIN traces t ON t.trace = l.trace GROUP BY ALL ORDER BY firmware, object_name",
    "SELECT firmware, events FROM traces WHERE events = (SELECT max(events) FROM traces) \
     ORDER BY firmware",
    "SELECT approx_percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_ticks) > 0 AS is_long, \
     1 + 1 AS two FROM jobs WHERE context_name IN (SELECT DISTINCT context_name FROM waits)",
];

fn status_and_messages(output: &Output) -> (Option<i32>, String) {
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    (output.status.code(), String::from_utf8(output.stderr.clone()).unwrap())
}

/// Returns the path of a trace of the repository.
fn fixture(name: &str) -> String {
    let folder = "../../crates/tracewell/tests/fixtures/shark";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(name);
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// Checks that the cluster returns the same answers as one machine.
fn compare(devices: u32, lake: &str, variables: Variables) -> Cluster {
    let cluster = Cluster::start(2, variables);
    cluster.ingest(devices, MS, lake);
    // The traces of the fleet have no jobs and no losses. These traces have both.
    let others = ["a_linear.dat", "b_cyclic.dat"].map(fixture);
    let [one, other] = others.each_ref().map(String::as_str);
    let added = cluster.run("tracewell-ingest", &[one, other, "-o", lake]);
    assert!(String::from_utf8_lossy(&added.stdout).starts_with("added 2 traces, "), "{added:?}");
    let same = |arguments: &[&str]| {
        let one = printed(&cluster.run("tracewell-query", arguments));
        assert_eq!(printed(&cluster.query(arguments).output()), one, "{arguments:?}");
        one
    };
    for query in READY {
        let set: &[&str] = match query.name {
            "regressions" => &["--set", "label=firmware", "--set", "old=1.1", "--set", "new=1.2"],
            "steps" => &["--set", "label=firmware"],
            _ => &[],
        };
        let rows = same(&[&["--run", query.name, "--format", "csv", lake], set].concat());
        assert!(rows.lines().count() > 1, "{}: {rows}", query.name);
    }
    for sql in OTHER {
        assert!(same(&[sql, lake, "--format", "jsonl"]).lines().count() >= 1, "{sql}");
    }
    let named = format!("SELECT count(*) AS events FROM events('{lake}')");
    assert!(same(&[&named]).lines().count() == 2);
    assert!((0..2).all(|executor| cluster.has_worked(executor)), "an executor did nothing");
    cluster
}

#[test]
fn a_lake_in_a_folder_has_the_same_answers() {
    let cluster = compare(DEVICES, "lake", Variables::new());
    forms(&cluster);
    refusals(&cluster);
}

#[test]
fn a_lake_in_object_storage_has_the_same_answers() {
    let Some(server) = Server::start() else { return };
    let devices = std::env::var(MORE_DEVICES).map_or(DEVICES, |count| count.parse().unwrap());
    compare(devices, "s3://traces/some/lake", server.variables());
}

/// Checks all forms of the answer.
fn forms(cluster: &Cluster) {
    let sql = "SELECT * FROM waits ORDER BY trace, ticks, seq, context_name, object_name";
    let again = |file: &str| {
        // The layout and the row groups of the two files may differ, but not their content.
        let sql = format!("SELECT * FROM '{file}'");
        printed(&cluster.run("tracewell-query", &[&sql, "--format", "csv"]))
    };
    for form in ["table", "csv", "jsonl", "arrow", "parquet"] {
        let (one, many) = (format!("one.{form}"), format!("many.{form}"));
        let arguments = [sql, "lake", "--format", form, "-o"];
        let of_one = [&arguments[..], &[&one]].concat();
        assert_eq!(printed(&cluster.run("tracewell-query", &of_one)), "");
        let of_many = [&arguments[..], &[&many]].concat();
        assert_eq!(printed(&cluster.query(&of_many).output()), "");
        match form {
            "parquet" => assert_eq!(again(&many), again(&one)),
            "arrow" => assert_eq!(rows(cluster, &many), rows(cluster, &one)),
            _ => {
                let read = |name| fs::read_to_string(cluster.folder.path().join(name)).unwrap();
                assert_eq!(read(many), read(one));
            }
        }
    }
}

/// Returns the names and the values of the columns of an Arrow file. Converts dictionaries to plain
/// text, because the files of a cluster contain plain text.
fn rows(cluster: &Cluster, name: &str) -> Vec<(String, ArrayRef)> {
    let file = fs::File::open(cluster.folder.path().join(name)).unwrap();
    let reader = StreamReader::try_new(file, None).unwrap();
    let schema = reader.schema();
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    let batch = concat_batches(&schema, &batches).unwrap();
    let columns = schema.fields().iter().zip(batch.columns());
    let plain = |(field, column): (&FieldRef, &ArrayRef)| {
        let column = match column.data_type() {
            DataType::Dictionary(_, value) => cast(column, value).unwrap(),
            _ => ArrayRef::clone(column),
        };
        (field.name().clone(), column)
    };
    columns.map(plain).collect()
}

/// Checks the errors of queries that a cluster refuses or cannot complete.
fn refusals(cluster: &Cluster) {
    let lakes_only = "--cluster reads lakes only: tracewell ingest adds traces to a lake";
    let trace = "fleet/firmware=1.0/device=00000/run=1/trace.trx";
    let named = format!("SELECT * FROM '{trace}'");
    let view = "CREATE VIEW v AS SELECT * FROM 'one.parquet'; SELECT * FROM v";
    let unknown = ["SELECT nothing FROM traces", "lake"];
    let one = status_and_messages(&cluster.run("tracewell-query", &unknown));
    assert_eq!(one.0, Some(2));
    assert_eq!(status_and_messages(&cluster.query(&unknown).output()), one);
    for (arguments, name) in [
        (&["SELECT 1 FROM events", trace][..], trace),
        (&[&named, "lake"][..], trace),
        (&[named.as_str()][..], trace),
        (&["SELECT * FROM 'one.parquet'", "lake"][..], "one.parquet"),
        (&[view, "lake"][..], "one.parquet"),
    ] {
        let refused = status_and_messages(&cluster.query(arguments).output());
        assert_eq!(refused, (Some(2), format!("error: {name}: {lakes_only}\n")), "{arguments:?}");
    }
    // This error occurs only when the rows are computed.
    let divide = ["SELECT events / (events - events) FROM traces", "lake"];
    let (status, messages) = status_and_messages(&cluster.query(&divide).output());
    assert_eq!(status, Some(4), "{messages}");
    assert!(messages.contains("DivideByZero"), "{messages}");
    assert_eq!(messages.lines().count(), 1, "{messages}");
    // A Parquet file that the log of the lake does not name is not part of the lake.
    let count = ["SELECT count(*) AS traces FROM traces", "lake"];
    let before = printed(&cluster.query(&count).output());
    let data = cluster.folder.path().join("lake/data/traces/firmware=1.0");
    let file = fs::read_dir(&data).unwrap().next().unwrap().unwrap().path();
    fs::copy(file, data.join("left.parquet")).unwrap();
    assert_eq!(printed(&cluster.query(&count).output()), before);
}
