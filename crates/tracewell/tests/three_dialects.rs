//! Reads back the traces of the recorder's example `device`, a program that records in three
//! dialects.

mod support;

#[path = "../../record/examples/device/device.rs"]
mod device;

use support::{EventLog, settings};
use tracewell::input::Input;
use tracewell::model::Trace;

fn read(name: &str, bytes: Vec<u8>) -> (Trace, EventLog) {
    let mut kept = EventLog::default();
    let trace = Input::from_bytes(name, bytes, settings(&[])).unwrap().read(&mut kept).unwrap();
    assert!(kept.losses.is_empty());
    (trace, kept)
}

fn names(trace: &Trace, kept: &EventLog) -> Vec<String> {
    kept.rows.iter().map(|row| trace.schema.event(row.id).name.to_string()).collect()
}

#[test]
fn the_device_records_its_kernel_its_driver_and_its_loop_with_one_clock() {
    let device::Recorded { ring, log, chunk } = device::record();
    let (threadx, kernel) = read("device.trx", ring);
    let (aix, driver) = read("device.twx", log);
    let (shark, control) = read("device.chunk", chunk);
    let sample =
        ["TX_TRACE_ISR_ENTER", "TX_TRACE_THREAD_RESUME", "TX_TRACE_ISR_EXIT", "USER_EVENT"];
    assert_eq!(names(&threadx, &kernel)[2..], sample.repeat(3));
    assert_eq!(driver.rows.len(), 3 + 3 * 2 + 1);
    assert_eq!(names(&aix, &driver)[2], "TRACE_ON");
    let logged = ["trace_start", "ipoint", "ipoint", "ipoint", "trace_stop"];
    assert_eq!(names(&shark, &control), logged.map(|name| format!("FTrace_EVT_{name}")));
    // For each sample, the kernel reads the counter four times, the driver twice, and the loop
    // once.
    let ticks = |kept: &EventLog, from: usize| {
        let rows = kept.rows[from..].iter().map(|row| row.ticks);
        rows.collect::<Vec<_>>()
    };
    assert_eq!(ticks(&kernel, 2)[..5], [400, 500, 600, 700, 1100]);
    assert_eq!(ticks(&driver, 3), [600, 700, 1300, 1400, 2000, 2100, 2400]);
    assert_eq!(ticks(&control, 0), [0, 700, 1400, 2100, 2200]);
}
