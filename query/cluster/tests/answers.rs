//! A cluster answers as one machine does: all predefined queries, all forms of the answer, and the
//! functions of traces, over a lake in a folder and in object storage. What a cluster cannot answer
//! is refused.

#[allow(dead_code, unreachable_pub, reason = "each test uses some of it")]
mod common;
#[allow(dead_code, unreachable_pub, reason = "each test uses some of it")]
#[path = "../../engine/tests/moto/mod.rs"]
mod moto;

use std::fs;
use std::process::Output;

use common::{Cluster, Variables, printed};
use moto::Server;
use tracewell_query::READY;

/// The variable with the number of devices, and its default. CI has more devices.
const DEVICES: (&str, u32) = ("TRACEWELL_TEST_DEVICES", 40);

/// Milliseconds of the trace of each device.
const MS: u32 = 20;

/// Queries with functions of traces, joins, views and subqueries.
const OTHER: [&str; 6] = [
    "SELECT name, format('\"events \" U8 \" of \" S0', count(*), name) AS text FROM events \
     GROUP BY name ORDER BY name",
    "SELECT device, max(ticks_to_ns(ticks, 1e8)) AS ns FROM events GROUP BY device ORDER BY device",
    "SELECT arg(args, 'mutex_ptr') AS mutex, count(*) AS gets FROM events \
     WHERE name = 'TX_TRACE_MUTEX_GET' GROUP BY mutex ORDER BY mutex",
    "CREATE VIEW late AS SELECT * FROM waits WHERE duration_ns > 100000; \
     SELECT t.firmware, l.object_name, count(*) AS waits, count(DISTINCT l.trace) AS devices \
     FROM late l JOIN traces t ON t.trace = l.trace GROUP BY ALL ORDER BY ALL",
    "SELECT firmware, events FROM traces WHERE events = (SELECT max(events) FROM traces) \
     ORDER BY ALL",
    "SELECT approx_percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_ticks) > 0 AS is_long, \
     1 + 1 AS two FROM jobs WHERE context_name IN (SELECT DISTINCT context_name FROM waits)",
];

fn status_and_messages(output: &Output) -> (Option<i32>, String) {
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    (output.status.code(), String::from_utf8(output.stderr.clone()).unwrap())
}

/// Checks that the cluster gives the answers of one machine.
fn compare(lake: &str, variables: Variables) -> Cluster {
    let (name, default) = DEVICES;
    let devices = std::env::var(name).map_or(default, |count| count.parse().unwrap());
    let cluster = Cluster::start(2, variables);
    cluster.ingest(devices, MS, lake);
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
        // No trace of the fleet has losses.
        assert_eq!(rows.lines().count() > 1, query.name != "losses-by-trace", "{}", query.name);
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
    let cluster = compare("lake", Variables::new());
    forms(&cluster);
    refusals(&cluster);
}

#[test]
fn a_lake_in_object_storage_has_the_same_answers() {
    let Some(server) = Server::start() else { return };
    compare("s3://traces/some/lake", server.variables());
}

/// Checks all forms of the answer.
fn forms(cluster: &Cluster) {
    let sql = "SELECT * FROM waits ORDER BY trace, ticks, seq, context_name, object_name";
    let again = |file: &str| {
        // The form and the groups of rows of a file may differ, its content may not.
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

/// Returns the rows of an Arrow file in one batch.
fn rows(cluster: &Cluster, name: &str) -> datafusion::arrow::array::RecordBatch {
    use datafusion::arrow::{compute::concat_batches, ipc::reader::StreamReader};
    let file = fs::File::open(cluster.folder.path().join(name)).unwrap();
    let reader = StreamReader::try_new(file, None).unwrap();
    let schema = reader.schema();
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    concat_batches(&schema, &batches).unwrap()
}

/// Checks what a cluster does not answer.
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
        (&[&named][..], trace),
        (&["SELECT * FROM 'one.parquet'", "lake"][..], "one.parquet"),
        (&[view, "lake"][..], "v"),
    ] {
        let refused = status_and_messages(&cluster.query(arguments).output());
        assert_eq!(refused, (Some(2), format!("error: {name}: {lakes_only}\n")), "{arguments:?}");
    }
    // An error that only the rows show.
    let divide = ["SELECT events / (events - events) FROM traces", "lake"];
    let (status, messages) = status_and_messages(&cluster.query(&divide).output());
    assert_eq!(status, Some(4), "{messages}");
    assert!(messages.contains("DivideByZero"), "{messages}");
    assert_eq!(messages.lines().count(), 1, "{messages}");
    // A Parquet file that the log of the lake does not name is not part of it.
    let count = ["SELECT count(*) AS traces FROM traces", "lake"];
    let before = printed(&cluster.query(&count).output());
    let data = cluster.folder.path().join("lake/data/traces/firmware=1.0");
    let file = fs::read_dir(&data).unwrap().next().unwrap().unwrap().path();
    fs::copy(file, data.join("left.parquet")).unwrap();
    assert_eq!(printed(&cluster.query(&count).output()), before);
}
