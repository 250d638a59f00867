//! Runs the example of FreeRTOS with the real kernel on a Cortex-M3 in QEMU, and compares its trace
//! with the program's own log of switches.
//!
//! The test needs the kernel's sources, the cross compiler and QEMU. If one of them is missing, the
//! test is skipped; in CI it fails.

mod support;

use std::path::Path;

use support::{board, read, switches};
use tracewell::analysis::scheduling::{Scheduling, Wanted};
use tracewell::format::Settings;
use tracewell::input::Input;
use tracewell::model::{Meaning, Trace};

/// Builds and runs the example in `folder`. Returns false if something that it needs is missing.
fn run(folder: &Path) -> bool {
    if !board::has_tools() {
        return false;
    }
    let Some(kernel) = board::kernel() else { return board::skipped() };
    board::build("examples/freertos/build", &[&kernel, &folder.join("app.elf")]);
    board::run(folder);
    true
}

#[test]
fn the_trace_of_the_real_kernel_agrees_with_its_own_log() {
    let folder = tempfile::tempdir().unwrap();
    if !run(folder.path()) {
        return;
    }
    for file in ["trace.bin", "line.bin"] {
        switches::agree(folder.path(), file);
    }
    events_have_their_objects(&folder.path().join("line.bin"));
    the_owner_is_known(&folder.path().join("line.bin"));
    bytes_per_event(&folder.path().join("line.bin"));
}

/// The timer sets a bit every 20 ms, the sampler sends 4 bytes every 5 ms.
fn events_have_their_objects(path: &Path) {
    let (trace, events) = read(path, &[]);
    let of = |wanted: &str| {
        let rows = events.rows.iter().filter(|row| trace.schema.label(row.id) == wanted);
        let shown = rows.map(|row| {
            let event = trace.schema.event(row.id);
            let key = trace.payload.argument(&row.payload, 0).unwrap();
            let kind = trace.schema.object_kind_by_symbol(&event.family.replace(' ', "_"));
            let object = trace.objects.at(key, u64::MAX, Some(kind.unwrap().code)).unwrap().1;
            (object.label.clone(), trace.payload.argument(&row.payload, 1).unwrap())
        });
        shown.collect::<Vec<_>>()
    };
    let (sets, waits) = (of("group_set"), of("group_wait"));
    assert!(sets.len() > 8 && waits.len() > 8, "{} {}", sets.len(), waits.len());
    assert!(sets.iter().chain(&waits).all(|event| *event == ("beats".to_owned(), 1)));
    let sent = of("stream_send");
    assert!(sent.len() > 30 && sent.iter().all(|event| *event == ("bytes".to_owned(), 4)));
    let received: u64 = of("stream_receive").iter().map(|(_, bytes)| bytes).sum();
    assert!(received >= 4 * 30 && received <= 4 * sent.len() as u64, "{received}");
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

/// Checks the limits for the stream's size: on average 5 bytes for a switch, and 8 for an event
/// with two arguments.
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
        "bytes per event, without its share of a header: switch {switch:.2}, two arguments {two:.2}"
    );
}
