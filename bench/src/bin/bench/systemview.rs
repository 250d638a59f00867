//! Compares two costs: decoding SystemView streams, and a loop that only reads their packets.

use std::hint::black_box;
use std::time::Instant;

use tracewell::input::{Input, Settings};
use tracewell_bench::{Events, median, systemview};

use super::plan::{Plan, Result, row};

/// Measures decoding to batches with arguments and contexts.
pub(crate) fn systemview_decode(plan: &Plan) -> Result<()> {
    let (stream, expected) = systemview::stream(plan.size.min(64 << 20) as usize);
    let (mut floor, mut ours) = (Vec::new(), Vec::new());
    let per_packet = |start: Instant| start.elapsed().as_nanos() as f64 / expected.packets as f64;
    let mut input = Input::from_bytes("systemview", stream.clone(), Settings::default())?;
    for _ in 0..plan.rounds {
        let start = Instant::now();
        let read = systemview::read_packets(black_box(&stream));
        floor.push(per_packet(start));
        let start = Instant::now();
        let mut events = Events::default();
        let trace = input.read(&mut events)?;
        ours.push(per_packet(start));
        assert_eq!(read, expected);
        assert_eq!((events.0, trace.span), (expected.packets, expected.ticks));
        assert!(trace.losses.is_empty());
    }
    let (floor, ours) = (median(&mut floor), median(&mut ours));
    let speed = 1000.0 * stream.len() as f64 / expected.packets as f64 / ours;
    let work = format!("SystemView: decode to batches with all arguments ({speed:.0} MB/s)");
    row(&work, "floor: read the packets (Rust)", ours, floor);
    Ok(())
}
