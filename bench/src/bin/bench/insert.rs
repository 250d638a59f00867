//! Compares recording ThreadX events with storing 32 bytes.

use std::hint::black_box;
use std::time::Instant;

use tracewell_bench::median;
use tracewell_record::threadx as record;
use tracewell_wire::threadx::ids;

use super::plan::{Plan, row};

/// Events per measurement.
const INSERTS: u64 = 1_000_000;

pub(crate) fn insert(plan: &Plan) {
    let (mut theirs, mut ours, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    let mut memory = vec![0; 1 << 16];
    for _ in 0..plan.rounds {
        theirs.push(plain_stores(&mut memory));
        ours.push(inserts(&mut memory, true));
        refused.push(inserts(&mut memory, false));
    }
    let theirs = median(&mut theirs);
    let baseline = "store 32 bytes and advance (Rust)";
    row("record an event, stamp given", baseline, median(&mut ours), theirs);
    row("record an event that is filtered out", baseline, median(&mut refused), theirs);
}

fn plain_stores(memory: &mut [u8]) -> f64 {
    let slots = memory.len() / 32;
    let start = Instant::now();
    let mut slot = 0;
    for stamp in 0..INSERTS as u32 {
        let words =
            [0x2000_0000, 0x8005_0005, 83, black_box(stamp), 1, 2, 3, 4].map(u32::to_le_bytes);
        memory[32 * slot..32 * slot + 32].copy_from_slice(words.as_flattened());
        slot = if slot + 1 == slots { 0 } else { slot + 1 };
    }
    black_box(&memory);
    start.elapsed().as_nanos() as f64 / INSERTS as f64
}

fn inserts(memory: &mut [u8], wanted: bool) -> f64 {
    let mut stamp = 0;
    let mut trace: record::Trace<'_, _> = record::Trace::new(move || {
        stamp += 1;
        black_box(stamp)
    });
    let context = record::Context::thread(0x2000_0000, 5, 5);
    let enabled = trace.enable(memory, 4, &record::Options::default(), [], context);
    assert!(enabled.is_ok());
    if !wanted {
        trace.event_filter(ids::class::SEMAPHORE);
    }
    let start = Instant::now();
    for _ in 0..INSERTS {
        trace.insert(context, 83, [1, 2, 3, 4], black_box(ids::class::SEMAPHORE));
    }
    let spent = start.elapsed();
    black_box(trace.image());
    spent.as_nanos() as f64 / INSERTS as f64
}
