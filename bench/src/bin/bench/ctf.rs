//! Compares the CTF decoder with two loops that support only the layout of the generated trace, and
//! with Babeltrace 2 if it is installed. One loop does the work of a decoder: it merges the streams
//! by time and stores the events with their arguments. The other loop only reads.

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use tracewell::input::{Input, Settings};
use tracewell_bench::{Events, ctf, median};

use super::plan::{Plan, Result, row};

/// Number of streams, one for each processor.
const STREAMS: u32 = 4;

/// Measures decoding to batches with arguments and contexts.
pub(crate) fn ctf_decode(plan: &Plan, folder: &Path) -> Result<()> {
    let folder = folder.join("ctf");
    std::fs::create_dir_all(&folder)?;
    let size = (plan.size / u64::from(STREAMS)).min(16 << 20) as usize;
    let expected = ctf::write(&folder, STREAMS, size)?;
    let streams: Vec<_> = (0..STREAMS)
        .map(|cpu| std::fs::read(folder.join(format!("channel_{cpu}"))))
        .collect::<std::io::Result<_>>()?;
    let (mut floor, mut read, mut rival, mut ours) = (vec![], vec![], vec![], vec![]);
    let per_event = |start: Instant| start.elapsed().as_nanos() as f64 / expected.events as f64;
    for _ in 0..plan.rounds {
        let (mut sum, mut events) = (0, 0);
        let start = Instant::now();
        for stream in &streams {
            let read = ctf::read_stream(black_box(stream), &mut sum);
            events += read.map_or(0, |tally| tally.events);
        }
        read.push(per_event(start));
        black_box(sum);
        assert_eq!(events, expected.events);
        let start = Instant::now();
        let stored = ctf::store_streams(black_box(&streams), |batch| {
            black_box(batch);
        });
        floor.push(per_event(start));
        assert_eq!(stored, Some(expected));
        let start = Instant::now();
        let mut events = Events::default();
        let trace = Input::open(&folder, Settings::default())?.read(&mut events)?;
        ours.push(per_event(start));
        assert_eq!((events.0, trace.span), (expected.events, expected.ticks));
        assert!(trace.losses.is_empty());
        let start = Instant::now();
        let mut babeltrace = Command::new("babeltrace2");
        babeltrace.args(["-o", "dummy"]).arg(&folder).stdout(Stdio::null());
        if babeltrace.status().is_ok_and(|status| status.success()) {
            rival.push(per_event(start));
        }
    }
    let (floor, read, ours) = (median(&mut floor), median(&mut read), median(&mut ours));
    let work = "CTF: decode the streams of 4 processors to batches with all arguments";
    row(work, "floor: a loop for this layout that merges and stores (Rust)", ours, floor);
    row(work, "a loop for this layout that only reads (Rust)", ours, read);
    if rival.is_empty() {
        println!("| {work} | babeltrace2: not installed | {ours:.1} ns | |");
    } else {
        row(work, "babeltrace2 -o dummy", ours, median(&mut rival));
    }
    Ok(())
}
