//! Measures how fast ThreadX dumps and S.Ha.R.K. files are decoded into batches. The baseline is a
//! loop in C that sums the differences of the timestamps and counts ids.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use tracewell::input::{Input, Settings};
use tracewell_bench::{baseline, median, shark};

use super::plan::{Counts, Plan, Result, row};

pub(crate) fn decode(plan: &Plan, file: &Path, folder: &Path) -> Result<()> {
    let program = baseline::compile("sum", folder)?;
    race(plan, "decode to batches", &program, file, 83)
}

pub(crate) fn decode_shark(plan: &Plan, folder: &Path) -> Result<()> {
    let program = baseline::compile("shark", folder)?;
    let file = folder.join("large.dat");
    let mut out = BufWriter::new(File::create(&file)?);
    shark::write(&mut out, shark::records_in(plan.size))?;
    out.flush()?;
    let id = u32::from(tracewell_wire::shark::ids::TASK_SCHEDULE);
    race(plan, "decode S.Ha.R.K. records to batches", &program, &file, id)?;
    Ok(std::fs::remove_file(file)?)
}

/// Compares a program in C with a decoder on the same file. Both report the number of events, the
/// sum of the differences of the timestamps, and the number of events with the given id.
fn race(plan: &Plan, work: &str, program: &Path, file: &Path, id: u32) -> Result<()> {
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..plan.rounds {
        let printed = baseline::output(program, file)?;
        let figures: Vec<u64> =
            printed.split_whitespace().map(str::parse).collect::<std::result::Result<_, _>>()?;
        let [nanoseconds, events, sum, of_id] = figures[..] else { return Err(printed.into()) };
        let start = Instant::now();
        let mut counts = Counts::of(id);
        let mut input = Input::open(file, Settings::default())?;
        let read = input.read(&mut counts)?;
        // Like the time of the baseline, this time does not include unmapping the file.
        let spent = start.elapsed();
        assert_eq!((counts.events, read.span, counts.of_id), (events, sum, of_id));
        theirs.push(nanoseconds as f64 / events as f64);
        ours.push(spent.as_nanos() as f64 / events as f64);
    }
    row(work, "sum deltas and count ids (C)", median(&mut ours), median(&mut theirs));
    Ok(())
}
