//! Tests the macros for FreeRTOS with other configurations than that of the example: the kernel's
//! POSIX port runs as a Linux process, and the kernel for several cores and the hooks of V10.4 are
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
fn compiles(folders: &[&Path], file: &Path) {
    let output = Command::new("cc")
        .args(["-std=gnu11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(here().join("../../../../firmware"))
        .args(folders.iter().flat_map(|folder| [Path::new("-I"), folder]))
        .arg(file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_trace_of_the_posix_port_agrees_with_the_log_of_the_process() {
    let Some(kernel) = board::kernel() else {
        board::skipped();
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    board::build("crates/tracewell/tests/freertos/build", &[&kernel, &program]);
    // `timeout` ends a process that hangs.
    let mut run = Command::new("timeout");
    let run = run.arg("100").arg(&program).current_dir(folder.path()).output().unwrap();
    assert!(run.status.success(), "{:?}", run.status);
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

#[test]
fn the_macros_fit_the_kernel_for_several_cores() {
    let Some(kernel) = board::kernel() else {
        board::skipped();
        return;
    };
    let (port, include) = (here().join("smp"), kernel.join("include"));
    for file in ["tasks", "queue", "timers", "event_groups", "stream_buffer"] {
        compiles(&[&port, &include], &kernel.join(file).with_extension("c"));
    }
}

#[test]
fn the_macros_fit_the_hooks_of_version_10_4() {
    compiles(&[], &here().join("v10/kernel.c"));
}
