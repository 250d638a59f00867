//! Compares the figures of the scheduling analysis with the expected results of every S.Ha.R.K.
//! set: all tasks, all columns.

mod support;

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::Value;
use support::number;
use support::shark::{Set, sets};
use tracewell::analysis::scheduling::{Scheduling, Wanted};
use tracewell::model::Trace;
use tracewell::report::scheduling::SchedulingFigures;

fn figures(set: &Set, files: &[PathBuf]) -> (Trace, Value) {
    let mut scheduling = Scheduling::default();
    let trace = set.open(files).read(&mut scheduling).unwrap();
    let found = json(&trace, scheduling);
    // The kernel reuses the slots of tasks, so a slot has several names in turn. The figures must
    // not change if the reader knows all names before the first event.
    let mut scheduling = Scheduling::default();
    let named = set.open(files).read_named(&mut scheduling).unwrap();
    assert_eq!(json(&named, scheduling), found, "{files:?}");
    (trace, found)
}

fn json(trace: &Trace, scheduling: Scheduling) -> Value {
    let figures = scheduling.figures(trace);
    serde_json::to_value(SchedulingFigures::new(trace, &figures, &Wanted::default())).unwrap()
}

/// Columns of the expected table, each with the key that our JSON has for the same figure. The
/// columns for keys and names are not in this list.
const COLUMNS: [(&str, &str); 22] = [
    ("exec_ticks", "execution_ticks"),
    ("exec_ns", "execution_ns"),
    ("exec_for_other_ticks", "execution_for_other_ticks"),
    ("dispatches", "dispatches"),
    ("activations", "activations"),
    ("completions", "completions"),
    ("orphan_completions", "orphan_completions"),
    ("pending_jobs", "pending_jobs"),
    ("responses", "responses"),
    ("resp_min_ticks", "response_min_ticks"),
    ("resp_mean_ticks", "response_mean_ticks"),
    ("resp_max_ticks", "response_max_ticks"),
    ("resp_max_ns", "response_max_ns"),
    ("start_latency_max_ticks", "start_latency_max_ticks"),
    ("release_gap_min_ticks", "release_gap_min_ticks"),
    ("release_gap_max_ticks", "release_gap_max_ticks"),
    ("preemptions", "preemptions"),
    ("deadline_misses", "deadline_misses"),
    ("wcet_violations", "wcet_violations"),
    ("lock_requests", "lock_requests"),
    ("lock_blocks", "lock_blocks"),
    ("lock_wait_max_ticks", "lock_wait_max_ticks"),
];

fn check_task(trace: &Trace, task: &Value, expected: &HashMap<String, String>, place: &str) {
    let shown = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    assert_eq!(shown(&task["context"]), expected["ctx"], "{place}");
    assert_eq!(shown(&task["pid"]), expected["pid"], "{place}");
    if !expected["name"].is_empty() {
        assert_eq!(shown(&task["name"]), expected["name"], "{place}");
    }
    let first = number(&expected["first_tsc"]) - trace.clock.first_stamp;
    assert_eq!(task["first_ticks"], first, "{place}");
    for (column, key) in COLUMNS {
        assert_eq!(shown(&task[key]), expected[column], "{place} {column}");
    }
}

#[test]
fn tasks_have_the_expected_figures() {
    for set in sets() {
        let (trace, figures) = figures(&set, &set.files());
        let (tasks, expected) = (figures["tasks"].as_array().unwrap(), set.expected("tasks"));
        assert_eq!(tasks.len(), expected.len(), "{}", set.name);
        for (task, expected) in tasks.iter().zip(&expected) {
            check_task(&trace, task, expected, &format!("{} {}", set.name, expected["ctx"]));
        }
    }
}

#[test]
fn interrupts_servers_and_the_whole_have_the_expected_figures() {
    for set in sets() {
        let (trace, figures) = figures(&set, &set.files());
        let ours = |subject: &str, figure: &str| match (subject, figure) {
            ("trace", "first_tsc") => trace.clock.first_stamp.into(),
            ("trace", "last_tsc") => (trace.clock.first_stamp + trace.span).into(),
            ("trace", figure) => figures[figure].clone(),
            ("interrupts", figure) => figures["interrupts"][figure].clone(),
            (server, figure) => {
                let key = server.strip_prefix("server_").unwrap();
                let servers = figures["servers"].as_array().unwrap();
                let server = servers.iter().find(|server| server["key"] == key).unwrap();
                let names = HashMap::from([
                    ("active", "active"),
                    ("exhaust", "exhausted"),
                    ("repl", "replenished"),
                    ("recl", "reclaiming"),
                    ("userec", "used_reclaimed"),
                ]);
                server[names[figure]].clone()
            }
        };
        let rows = set.expected("summary");
        assert!(rows.len() >= 13, "{}", set.name);
        for row in rows {
            let (subject, figure) = (row["subject"].as_str(), row["figure"].as_str());
            let found = ours(subject, figure);
            assert_eq!(found, number(&row["value"]), "{} {subject} {figure}", set.name);
        }
    }
}
