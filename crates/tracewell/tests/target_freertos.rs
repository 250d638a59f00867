//! Runs the example of FreeRTOS with the real kernel on a Cortex-M3 in QEMU, and compares its trace
//! with the program's own log of switches.
//!
//! The kernel's sources are in the package `freertos-next`. The test finds them if cargo has
//! downloaded the package, or in the folder `FREERTOS_KERNEL`. If the sources, the cross compiler
//! or QEMU are missing, the test is skipped; in CI it fails.

mod support;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::read;
use tracewell::analysis::scheduling::{Scheduling, Wanted};
use tracewell::format::Settings;
use tracewell::input::Input;
use tracewell::model::{Meaning, Trace};

/// Returns the folder of the kernel, V11.2.
fn kernel() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("FREERTOS_KERNEL") {
        return Some(PathBuf::from(folder));
    }
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))?;
    let registries = std::fs::read_dir(home.join("registry/src")).ok()?;
    let folders = registries
        .filter_map(|entry| Some(entry.ok()?.path().join("freertos-next-0.12.0/FreeRTOS-Kernel")));
    let mut folders = folders.filter(|folder| folder.join("tasks.c").is_file());
    folders.next()
}

fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Builds and runs the example in `folder`. Returns false if something that it needs is missing.
fn run(folder: &Path) -> bool {
    let tools = runs("arm-none-eabi-gcc") && runs("qemu-system-arm");
    let Some(kernel) = kernel().filter(|_| tools) else {
        assert!(std::env::var_os("CI").is_none(), "no kernel, compiler or QEMU");
        let reason = "skipped: needs FreeRTOS (FREERTOS_KERNEL), arm-none-eabi-gcc, QEMU";
        let _ = writeln!(std::io::stderr(), "{reason}");
        return false;
    };
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/freertos");
    let build = Command::new(example.join("build"))
        .arg(&kernel)
        .arg(folder.join("app.elf"))
        .output()
        .unwrap();
    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
    let board = Command::new("timeout")
        .args(["300", "qemu-system-arm", "-M", "mps2-an385", "-kernel", "app.elf", "-nographic"])
        .args(["-semihosting-config", "enable=on,target=native", "-icount", "shift=6"])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(board.status.success(), "{}", String::from_utf8_lossy(&board.stderr));
    true
}

/// Returns the tasks that got the core, without repetitions.
fn without_repetitions(tasks: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut list: Vec<_> = tasks.collect();
    list.dedup();
    list
}

#[test]
fn the_trace_of_the_real_kernel_agrees_with_its_own_log() {
    let folder = tempfile::tempdir().unwrap();
    if !run(folder.path()) {
        return;
    }
    let log = std::fs::read(folder.path().join("switches.bin")).unwrap();
    let own = log.as_chunks::<2>().0.iter().map(|two| u64::from(u16::from_le_bytes(*two)));
    let own = without_repetitions(own);
    assert!(own.len() > 200, "{}", own.len());
    for file in ["trace.bin", "line.bin"] {
        let (trace, events) = read(&folder.path().join(file), &[]);
        let runs = events.rows.iter().filter(|row| {
            let family = &trace.schema.event(row.id).family;
            let label = &trace.schema.event(row.id).label;
            family == "task" && ["run", "switch", "preempt"].contains(&label.as_str())
        });
        let runs = runs.map(|row| trace.payload.argument(&row.payload, 0).unwrap());
        assert_eq!(without_repetitions(runs), own, "{file}");
        assert!(trace.losses.is_empty(), "{file}");
        assert_eq!(trace.diagnostics.iter().len(), 0, "{file}");
    }
    the_owner_is_known(&folder.path().join("line.bin"));
    bytes_per_event(&folder.path().join("line.bin"));
}

/// In this program, the controller waits only for the logger.
fn the_owner_is_known(path: &Path) {
    let mut scheduling = Scheduling::new(Wanted { waits: true, ..Wanted::default() });
    let trace = Input::open(path, Settings::default()).unwrap().read(&mut scheduling).unwrap();
    let figures = scheduling.figures(&trace);
    let name = |id| trace.contexts.get(id).unwrap().name.as_str();
    let waits: Vec<_> = figures.waits.iter().filter(|wait| wait.is_mutex).collect();
    assert!(waits.len() > 5, "{}", waits.len());
    for wait in waits {
        assert_eq!((name(wait.context), wait.owner.map(name)), ("controller", Some("logger")));
        assert_eq!(mutex(&trace, wait.key.unwrap()), "bus");
        // The logger holds the mutex for 60000 cycles of the counter at a time.
        assert!(wait.ticks() < 70_000, "{}", wait.ticks());
    }
}

fn mutex(trace: &Trace, key: u64) -> &str {
    let kind = trace.schema.object_kind_by_symbol("mutex").unwrap().code;
    &trace.objects.at(key, u64::MAX, Some(kind)).unwrap().1.label
}

/// The stream's limits: on average 5 bytes for a switch, 8 for an event with two arguments.
fn bytes_per_event(path: &Path) {
    let (trace, events) = read(path, &[]);
    let mean = |chosen: &dyn Fn(u32) -> bool| {
        let sizes: Vec<_> = events.rows.iter().filter(|row| chosen(row.id)).collect();
        sizes.iter().map(|row| row.record.len()).sum::<usize>() as f64 / sizes.len() as f64
    };
    let is_switch = |id: u32| {
        let means = trace.schema.event(id).means;
        ["run", "switch", "preempt"].contains(&trace.schema.event(id).label.as_str())
            || means.is_some_and(|means| means.meaning == Meaning::Schedule)
    };
    let has_two = |id: u32| (0x80..0xC0).contains(&id);
    let (switch, two) = (mean(&is_switch), mean(&has_two));
    assert!(switch <= 5.0 && two <= 8.0, "{switch} {two}");
    println!(
        "bytes of an event, without its part of a header: switch {switch:.2}, two arguments {two:.2}"
    );
}
