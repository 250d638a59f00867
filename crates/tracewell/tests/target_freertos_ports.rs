//! Tests the macros for FreeRTOS in configurations that the example does not use: the kernel's
//! POSIX port and the kernel for two cores run as Linux processes, and the hooks of V10.4 are
//! compiled.
//!
//! If the kernel's sources are missing, the tests that need them are skipped; in CI they fail.
#![cfg(target_os = "linux")]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::{board, switches};
use tracewell::analysis::scheduling::{Scheduling, Wanted};
use tracewell::format::Settings;
use tracewell::input::Input;

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/freertos")
}

/// Checks that a file compiles without warnings.
fn compiles(file: &Path) {
    let output = Command::new("cc")
        .args(["-std=gnu11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(here().join("../../../../firmware"))
        .arg(file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a program in a folder, and ends it if it hangs.
fn run(program: &Path, folder: &Path) {
    let mut run = Command::new("timeout");
    let run = run.arg("100").arg(program).current_dir(folder).output().unwrap();
    assert!(run.status.success(), "{:?}", run.status);
}

#[test]
fn the_trace_of_the_posix_port_agrees_with_the_log_of_the_process() {
    let Some(kernel) = board::kernel() else {
        board::skipped();
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    board::build("crates/tracewell/tests/freertos/build", &[&kernel, &program, &"posix"]);
    run(&program, folder.path());
    switches::agree(folder.path(), "trace.bin");

    let mut scheduling = Scheduling::new(Wanted { waits: true, ..Wanted::default() });
    let trace = folder.path().join("trace.bin");
    let trace = Input::open(&trace, Settings::default()).unwrap().read(&mut scheduling).unwrap();
    let figures = scheduling.figures(&trace);
    let name = |id| trace.contexts.get(id).unwrap().name.as_str();
    let waits: Vec<_> = figures.waits.iter().filter(|wait| wait.is_mutex).collect();
    let of_controller = |owner| {
        let found = waits.iter().filter(|wait| name(wait.context) == "controller");
        found.filter(|wait| wait.owner.map(name) == owner).count()
    };
    // Only the logger holds the mutex for long.
    assert!(of_controller(Some("logger")) > 5 && of_controller(None) == 0, "{waits:?}");
    assert!(figures.cores[0].idle > 0);
}

/// Returns a name of at most 16 bytes. Both idle tasks have the name `idle`.
fn name(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let name = String::from_utf8(bytes[..end].to_vec()).unwrap();
    if name.starts_with("IDLE") { "idle".to_owned() } else { name }
}

/// A task that begins to run, with the earliest and the latest possible time of this change.
type Switch = (String, u64, u64);

/// Returns the log of a core of the port: entries with two times and a name. Omits changes between
/// tasks of the same name.
fn log_of_port(bytes: &[u8]) -> Vec<Switch> {
    let time = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    let entries = bytes.chunks_exact(32);
    let mut log: Vec<Switch> =
        entries.map(|entry| (name(&entry[16..]), time(&entry[..8]), time(&entry[8..16]))).collect();
    log.dedup_by_key(|switch| switch.0.clone());
    log
}

#[test]
fn the_trace_of_two_cores_agrees_with_the_logs_of_the_port_and_of_the_tasks() {
    let Some(kernel) = board::kernel() else {
        board::skipped();
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    board::build("crates/tracewell/tests/freertos/build", &[&kernel, &program, &"smp"]);
    run(&program, folder.path());

    let mut switches: [Vec<(String, u64)>; 2] = Default::default();
    let mut owners = Vec::new();
    let trace = folder.path().join("trace.bin");
    let trace = Input::open(&trace, Settings::default())
        .unwrap()
        .for_each(|event| match event.kind().label.as_str() {
            "run" | "switch" | "preempt" => {
                let task = event.argument(0).unwrap();
                let known = event.trace.contexts.find(task).filter(|_| task != 0);
                let named = known.map_or("idle".to_owned(), |task| {
                    event.trace.contexts.get(task).unwrap().name.clone()
                });
                switches[usize::from(event.row.cpu)].push((named, event.row.ticks));
            }
            "mutex_lock" | "mutex_lock_after_wait" => {
                owners.push(event.context().unwrap().name.clone());
            }
            _ => {}
        })
        .unwrap();
    assert!(trace.losses.is_empty() && trace.cpus == 2);

    // The clocks of the trace and of the logs differ by a constant, which is the same for both
    // cores.
    let (mut least, mut most) = (0, u64::MAX);
    for (core, mut switches) in switches.into_iter().enumerate() {
        let log = std::fs::read(folder.path().join(format!("core{core}.bin"))).unwrap();
        let log = log_of_port(&log);
        switches.dedup_by_key(|switch| switch.0.clone());
        // At the end, the other core may have recorded a switch that is not yet in its log.
        assert!(log.len() > 100 && switches.len() - log.len() <= core, "core {core}");
        for ((task, before, after), (recorded, ticks)) in log.into_iter().zip(switches) {
            assert_eq!(task, recorded, "core {core}, at {ticks}");
            least = least.max(before.saturating_sub(ticks));
            most = most.min(after - ticks);
        }
    }
    assert!(least <= most, "{least} {most}");
    let noted = std::fs::read(folder.path().join("owners.bin")).unwrap();
    let noted: Vec<_> = noted.chunks_exact(16).map(name).collect();
    assert!(noted.len() > 100 && owners.len() - noted.len() <= 1);
    assert_eq!(owners[..noted.len()], noted);
}

#[test]
fn the_macros_fit_the_hooks_of_version_10_4() {
    compiles(&here().join("v10/kernel.c"));
}
