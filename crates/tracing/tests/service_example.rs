//! Runs the example `service` in the way that `tracewell record` runs programs, and reads its
//! events back from the stream.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::input::{Input, Settings};
use tracewell_record::stream::{STREAM_VARIABLE, Stream, StreamOptions};

/// Runs the example. Cargo builds it if necessary.
fn run(stream: Option<&Path>) {
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--offline", "--quiet", "--example", "service", "--manifest-path"]);
    command
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .env_remove(STREAM_VARIABLE);
    command.envs(stream.map(|path| (STREAM_VARIABLE, path)));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn two_workers_say_what_they_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stream");
    let stream = Stream::create(&path, &StreamOptions::default()).unwrap();
    stream.start();
    run(Some(&path));
    let mut writer = EventWriter::new(Vec::new(), EventFormat::Tsv, Default::default());
    Input::open(&path, Settings::default()).unwrap().read(&mut writer).unwrap();
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    let count = |what: &str| text.lines().filter(|line| line.contains(what)).count();
    // Two workers with three requests each. The first request has no answer, and the last is slow.
    assert_eq!(
        [count("service:request\t"), count("\tenter\t"), count("\tclose\t")],
        [6; 3],
        "{text}"
    );
    assert_eq!(count("message=received path=/status"), 6);
    assert_eq!([count("message=no answer cause=Zero"), count("service:slow\t")], [2; 2]);
    assert_eq!(count("\trecord\tspan="), 4);
    assert_eq!([count("answer=6"), count("answer=3")], [2; 2]);
    assert_eq!(count("workers=2 message=done"), 1);
}

#[test]
fn the_program_runs_without_a_recorder() {
    run(None);
}
