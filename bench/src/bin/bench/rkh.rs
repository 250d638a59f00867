//! Measures how fast RKH streams are decoded, and how fast frames are encoded. The baseline for
//! decoding handles one byte at a time.

use std::hint::black_box;
use std::time::Instant;

use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, Flow, Sink, Trace};
use tracewell_bench::{median, rkh};
use tracewell_wire::rkh as wire;

use super::plan::{Plan, Result, row};

/// Counts frames and adds up their arguments.
#[derive(Default)]
struct Arguments(rkh::Tally);

impl Sink for Arguments {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.0.frames += batch.len() as u64;
        for event in batch.events() {
            let count = trace.payload.arguments(event.payload);
            let values = (0..count).filter_map(|i| trace.payload.argument(event.payload, i));
            self.0.arguments = self.0.arguments.wrapping_add(values.sum());
        }
        Flow::Continue(())
    }
}

/// Counts frames.
#[derive(Default)]
struct Frames(u64);

impl Sink for Frames {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        self.0 += batch.len() as u64;
        Flow::Continue(())
    }
}

/// Compares Tracewell with a decoder that handles one byte at a time. Measures Tracewell in three
/// cases: it finds, unescapes and verifies the frames; it also decodes the events with all
/// arguments; its sink also reads every argument.
pub(crate) fn rkh_decode(plan: &Plan) -> Result<()> {
    let (stream, frames) = rkh::stream(plan.size.min(64 << 20) as usize);
    let [mut theirs, mut cut, mut events, mut used] = [const { Vec::new() }; 4];
    let per_frame = |start: Instant| start.elapsed().as_nanos() as f64 / frames as f64;
    let mut input = Input::from_bytes("rkh", stream.clone(), Settings::default())?;
    for _ in 0..plan.rounds {
        let start = Instant::now();
        let expected = rkh::read_byte_by_byte(black_box(&stream));
        theirs.push(per_frame(start));
        let start = Instant::now();
        let good = good_frames(black_box(&stream));
        cut.push(per_frame(start));
        let start = Instant::now();
        let mut counted = Frames::default();
        input.read(&mut counted)?;
        events.push(per_frame(start));
        let start = Instant::now();
        let mut arguments = Arguments::default();
        let trace = input.read(&mut arguments)?;
        used.push(per_frame(start));
        assert_eq!((expected.frames, expected.lost), (frames, 0));
        assert_eq!((good, counted.0, arguments.0.frames), (frames, frames, frames));
        assert!(trace.losses.is_empty());
    }
    let (theirs, baseline) = (median(&mut theirs), "a byte and a frame at a time (Rust)");
    let bytes = stream.len() as f64 / frames as f64;
    for (work, ours) in [
        ("RKH: find, unescape and check frames", median(&mut cut)),
        ("RKH: decode to batches with all arguments", median(&mut events)),
        ("RKH: the same, and read every argument", median(&mut used)),
    ] {
        row(&format!("{work} ({:.0} MB/s)", 1000.0 * bytes / ours), baseline, ours, theirs);
    }
    Ok(())
}

fn good_frames(stream: &[u8]) -> u64 {
    let mut scratch = [0; wire::MAX_FRAME_LEN];
    let mut good = 0;
    for cut in wire::Cutter::new(stream) {
        let stuffed = &stream[cut.start..cut.end];
        let frame = match cut.escaped {
            false => stuffed,
            true => match wire::unstuff(stuffed, &mut scratch) {
                wire::Unstuffed::Frame(length) => &scratch[..length],
                _ => continue,
            },
        };
        good += u64::from(wire::checksum::holds(frame));
    }
    good
}

/// Measures how fast frames are encoded one by one. The baseline copies each frame and sums its
/// bytes.
pub(crate) fn rkh_encode(plan: &Plan) {
    let (stream, _) = rkh::stream(plan.size.min(16 << 20) as usize);
    let mut plain = Vec::new();
    let mut scratch = [0; wire::MAX_FRAME_LEN];
    for cut in wire::Cutter::new(&stream) {
        let frame = wire::unstuff(&stream[cut.start..cut.end], &mut scratch);
        let wire::Unstuffed::Frame(length) = frame else { continue };
        plain.push(scratch[..length - 1].to_vec());
    }
    let mut out = vec![0; 2 * stream.len()];
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..plan.rounds {
        let start = Instant::now();
        let mut at = 0;
        for frame in &plain {
            let sum = frame.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
            out[at..at + frame.len()].copy_from_slice(frame);
            at += frame.len();
            out[at..at + 2].copy_from_slice(&[sum.wrapping_neg(), 0x7E]);
            at += 2;
        }
        theirs.push(start.elapsed().as_nanos() as f64 / plain.len() as f64);
        black_box(&mut out);
        let start = Instant::now();
        let mut at = 1;
        for frame in &plain {
            at += wire::encode(frame, true, &mut out[at..]).expect("there is room");
        }
        ours.push(start.elapsed().as_nanos() as f64 / plain.len() as f64);
        assert!(out[1..at] == stream[1..]);
    }
    let baseline = "copy each and sum it (Rust)";
    row("RKH: encode frames", baseline, median(&mut ours), median(&mut theirs));
}
