//! Measures `analyze`, and the tracks and their summary, for dumps of random events and of a
//! simulated program. The baseline is decoding the same dump to batches.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

use tracewell::input::{Input, Settings};
use tracewell_bench::{Events, median, program, trace};

use super::plan::{Plan, Result, row, sibling, timed};

/// Measures both kinds of dumps, and prints two rows for each of them.
pub(crate) fn analysis(plan: &Plan, folder: &Path) -> Result<()> {
    let file = folder.join("analysis.trx");
    let events = trace::events_in(plan.size, trace::USUAL);
    let mut out = BufWriter::new(File::create(&file)?);
    trace::write(&mut out, trace::USUAL, events)?;
    out.flush()?;
    rows(plan, "random events", &file, events)?;
    fs::write(&file, program::dump(usize::try_from(plan.size)?))?;
    rows(plan, "simulated program", &file, program::events_in(plan.size))?;
    Ok(fs::remove_file(file)?)
}

fn rows(plan: &Plan, kind: &str, file: &Path, events: u64) -> Result<()> {
    let (hot_path, tracewell) = (sibling("hot-path")?, sibling("tracewell")?);
    let mut counted = Events::default();
    Input::open(file, Settings::default())?.read(&mut counted)?;
    assert_eq!(counted.0, events);
    let [mut decode, mut analyze, mut summary] = [const { Vec::new() }; 3];
    for _ in 0..plan.rounds {
        let per_event = |program, verb| -> Result<f64> {
            Ok(timed(Command::new(program).arg(verb).arg(file))? / events as f64)
        };
        decode.push(per_event(&hot_path, "decode")?);
        analyze.push(per_event(&tracewell, "analyze")?);
        summary.push(per_event(&hot_path, "summary")?);
    }
    let (baseline, decode) = ("decode to batches (Tracewell)", median(&mut decode));
    row(&format!("`analyze`, {kind}"), baseline, median(&mut analyze), decode);
    row(&format!("tracks and summary, {kind}"), baseline, median(&mut summary), decode);
    Ok(())
}
