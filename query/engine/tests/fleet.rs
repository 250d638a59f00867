//! Tests the predefined queries with a fleet of simulated devices. The queries find the faulty
//! version of the firmware, and return the same rows from a lake as from the traces.

use std::path::Path;
use std::process::{Command, Stdio};

#[allow(unreachable_pub, reason = "public in the crate of the benchmarks")]
#[path = "../../../bench/src/fleet.rs"]
mod fleet;

/// Number of devices. Each version of the firmware has a quarter of them.
const DEVICES: u32 = 200;

fn printed(program: &str, folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    let output = command.output().unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), messages), (Some(0), String::new()));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_faulty_version_is_found() {
    let folder = tempfile::tempdir().unwrap();
    fleet::write(&folder.path().join("fleet"), DEVICES, 20).unwrap();
    let rate = format!("rate={}", fleet::RATE);
    let ingest = env!("CARGO_BIN_EXE_tracewell-ingest");
    let query = env!("CARGO_BIN_EXE_tracewell-query");
    let tables = ["--partition", "firmware", "--tables", "figures,traces,waits", "--compact"];
    let arguments = [&["fleet", "-o", "lake", "-O", &rate], &tables[..]].concat();
    let added = printed(ingest, folder.path(), &arguments);
    assert!(added.starts_with("added 200 traces, "), "{added}");

    let steps = |label: &str, of: &[&str]| -> Vec<Vec<String>> {
        let label = format!("label={label}");
        let run = ["--run", "steps", "--set", &label, "--format", "csv"];
        let rows = printed(query, folder.path(), &[&run[..], of].concat());
        let lines = rows.lines().skip(1);
        lines.map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let found = steps("firmware", &["lake"]);
    assert!(!found.is_empty());
    for row in &found {
        assert_eq!(row[..2], ["1.1", fleet::FAULTY], "{row:?}");
        assert_eq!(row[9], (DEVICES / 4).to_string(), "{row:?}");
    }
    // In most devices with the faulty version, the control thread waits longer for the mutex than
    // in any device with version 1.1.
    let is_wait = |row: &&Vec<String>| row[2..5] == ["mutex wait", "control", "max"];
    let wait = found.iter().find(is_wait).unwrap();
    let (ratio, above): (f64, u32) = (wait[8].parse().unwrap(), wait[10].parse().unwrap());
    assert!(ratio > 1.2 && above > DEVICES / 8, "{wait:?}");
    // The runs have the same firmware.
    let of_runs = steps("run", &["lake"]);
    assert!(of_runs.is_empty(), "{of_runs:?}");
    assert_eq!(steps("firmware", &["fleet", "-O", &rate]), found);
}
