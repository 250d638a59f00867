//! The answer or the error of a query when a part of its cluster dies: the client of another query,
//! an executor, all executors, or the scheduler.
#![cfg(unix)]

#[allow(dead_code, unreachable_pub, reason = "each test uses some of it")]
mod common;

use std::process::Output;

use common::{Cluster, Running, Service, Variables, printed, wait_until};

/// Number of devices. The query's time grows with the square of this number.
const DEVICES: u32 = 12;

/// A query that takes some seconds: all pairs of events of the same context.
const LONG: [&str; 4] = [
    "SELECT a.context_name, count(*) AS pairs, min(b.ticks - a.ticks) AS least \
     FROM events a JOIN events b ON a.context_name = b.context_name AND a.seq <= b.seq + 1000000 \
     GROUP BY a.context_name ORDER BY a.context_name",
    "lake",
    "--format",
    "csv",
];

/// Starts the query, and waits until each of these executors has begun to work on it. Then suspends
/// the first of them, so that the query does not end too early.
fn start(cluster: &Cluster, executors: &[usize]) -> Running {
    let before: Vec<_> = executors.iter().map(|executor| cluster.results(*executor)).collect();
    let mut query = cluster.query(&LONG);
    wait_until("work of the executors", || {
        assert!(query.is_running(), "{}", query_ended());
        let mut counts = executors.iter().zip(&before);
        counts.all(|(executor, before)| cluster.results(*executor) > *before)
    });
    cluster.executors[executors[0]].freeze();
    assert!(query.is_running(), "{}", query_ended());
    query
}

const fn query_ended() -> &'static str {
    "the query ended before something could fail"
}

/// Returns the message of a query that must have failed.
fn failure(output: &Output) -> String {
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    // The names of the columns are written before the first row.
    let lines = String::from_utf8_lossy(&output.stdout).lines().count();
    assert!(output.status.code() == Some(4) && lines <= 1, "{output:?}");
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

#[test]
fn a_query_outlives_an_executor_but_not_the_last_one_or_the_scheduler() {
    let mut cluster = Cluster::start(2, Variables::new());
    cluster.ingest(DEVICES, 20, "lake");
    let expected = printed(&cluster.run("tracewell-query", &LONG));
    assert!(expected.lines().count() > 3, "{expected}");

    // The client: the executors continue with its query, and answer others.
    let query = start(&cluster, &[0, 1]);
    cluster.executors[1].freeze();
    let results = || cluster.results(0) + cluster.results(1);
    let before = results();
    query.kill();
    cluster.executors.iter().for_each(Service::thaw);
    wait_until("results for a client that was killed", || results() > before);
    assert_eq!(printed(&cluster.query(&LONG).output()), expected);

    // If one of two executors dies, the other repeats the work of the dead one.
    let query = start(&cluster, &[0, 1]);
    cluster.executors[0].kill();
    assert_eq!(printed(&query.output()), expected);

    // If the only executor dies, the query fails after a limited time.
    cluster.executors[1].kill();
    cluster.add_executor();
    let query = start(&cluster, &[2]);
    cluster.executors[2].kill();
    let message = failure(&query.output());
    assert!(message.contains("all executors were lost"), "{message}");
    let none = failure(&cluster.query(&LONG).output());
    let address = cluster.scheduler.address().to_owned();
    let has_none =
        format!("error: --cluster {address}: the scheduler has no executors: start some");
    assert!(none.starts_with(&has_none), "{none}");

    // If the scheduler dies, the query fails at once.
    cluster.add_executor();
    let query = start(&cluster, &[3]);
    cluster.scheduler.kill();
    let message = failure(&query.output());
    assert!(message.starts_with(&format!("error: cluster {address}: ")), "{message}");
    let gone = failure(&cluster.query(&LONG).output());
    let no_answer = format!("error: --cluster {address}: no scheduler of a cluster answers: ");
    assert!(gone.starts_with(&no_answer), "{gone}");
}
