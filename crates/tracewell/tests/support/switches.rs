//! Compares the switches of a FreeRTOS trace with the log that the program kept itself.

use std::path::Path;

use super::read;

/// Returns the tasks that got the core, without repetitions.
fn without_repetitions(tasks: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut list: Vec<_> = tasks.collect();
    list.dedup();
    list
}

/// Checks that a trace in `folder` is complete, and that it contains the same switches as
/// `switches.bin`.
pub fn agree(folder: &Path, file: &str) {
    let log = std::fs::read(folder.join("switches.bin")).unwrap();
    let own = log.as_chunks::<2>().0.iter().map(|two| u64::from(u16::from_le_bytes(*two)));
    let own = without_repetitions(own);
    assert!(own.len() > 200, "{}", own.len());
    let (trace, events) = read(&folder.join(file), &[]);
    let runs = events.rows.iter().filter(|row| {
        let event = &trace.schema.event(row.id);
        event.family == "task" && ["run", "switch", "preempt"].contains(&event.label.as_str())
    });
    let runs = runs.map(|row| trace.payload.argument(&row.payload, 0).unwrap());
    // In the trace, all idle tasks have the number 0.
    let idle = trace.objects.iter().find(|(_, object)| object.label == "IDLE").unwrap().1.key;
    let own = own.iter().map(|task| if *task == idle { 0 } else { *task });
    assert_eq!(without_repetitions(runs), own.collect::<Vec<_>>(), "{file}");
    assert!(trace.losses.is_empty(), "{file}");
    assert_eq!(trace.diagnostics.iter().len(), 0, "{file}");
}
