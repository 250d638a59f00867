//! Compares recording into Tracewell's own streams with reading the cycle counter, and measures
//! flushing at full speed.

use std::path::Path;

use tracewell::input::{Input, Settings};
use tracewell_bench::{median, stream};

use super::plan::{Counts, Plan, Result, row};

pub(crate) fn record(plan: &Plan) -> Result<()> {
    let recording = stream::stream()?;
    let mut memory = vec![[0; 4]; 2048];
    let mut found: [Vec<f64>; 8] = Default::default();
    // Make many short measurements: on a busy machine, most of them are not interrupted.
    for _ in 0..plan.rounds * 20 {
        let (by_family, by_id) = stream::filtered(&recording);
        let round = [
            stream::counter_reads(),
            stream::events(&recording),
            stream::counter_and_stores(&mut memory),
            stream::counter_reads_of_two(),
            stream::events_of_two(&recording),
            stream::suspended(&recording),
            by_family,
            by_id,
        ];
        found.iter_mut().zip(round).for_each(|(all, one)| all.push(one));
    }
    let [read, event, stores, read_two, event_two, suspended, by_family, by_id] =
        found.map(|mut all| median(&mut all));
    let counter = "read the counter (Rust)";
    row("stream: an event of two fields", counter, event, read);
    row(
        "stream: an event of two fields",
        "read the counter and store 32 bytes (Rust)",
        event,
        stores,
    );
    row(
        "stream: the same, two threads at once",
        "read the counter, two threads (Rust)",
        event_two,
        read_two,
    );
    row("stream: the same, two threads at once", "the same by one thread", event_two, event);
    row("stream: an event while suspended", counter, suspended, read);
    row("stream: an event of a filtered family", counter, by_family, read);
    row("stream: an event of a filtered id", counter, by_id, read);
    Ok(())
}

/// Measures how many events one thread can record while another thread flushes them to a file.
/// Every event must be in the file or be counted as lost.
pub(crate) fn flush(plan: &Plan, folder: &Path) -> Result<()> {
    let events = if plan.rounds > 1 { 50_000_000 } else { 1_000_000 };
    let path = folder.join("log");
    let stream::Flushed { attempted, stored, events, lost } = stream::flush(&path, events)?;
    let mut counts = Counts::of(0);
    let read = Input::open(&path, Settings::default())?.read(&mut counts)?;
    assert_eq!((counts.events, read.losses.events()), (events, Some(lost)));
    let (attempted, stored) = (attempted / 1e6, stored / 1e6);
    println!(
        "\nFlushing to a file: {attempted:.1} million events a second recorded, {stored:.1} million \
         a second written; {events} in the file, {lost} counted as lost"
    );
    Ok(())
}
