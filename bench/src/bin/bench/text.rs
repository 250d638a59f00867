//! Compares whole commands that print text with one `printf` per event in C.

use std::path::Path;
use std::process::Command;

use tracewell_bench::{baseline, median, templates::five_fields, trace};

use super::plan::{Plan, Result, program, row, timed};

pub(crate) fn text(plan: &Plan, file: &Path, folder: &Path) -> Result<()> {
    let printf = baseline::compile("text", folder)?;
    let program = program()?;
    let events = trace::events_in(plan.size, trace::USUAL) as f64;
    let commands: [(&str, &[&str]); 3] = [
        ("`events --format tsv`", &["events", "--format", "tsv"]),
        ("`events --format jsonl`", &["events"]),
        ("`report`", &["report"]),
    ];
    for (name, arguments) in commands {
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        for _ in 0..plan.rounds {
            theirs.push(timed(Command::new(&printf).arg(file))? / events);
            ours.push(timed(Command::new(&program).args(arguments).arg(file))? / events);
        }
        row(name, "one printf of nine fields (C)", median(&mut ours), median(&mut theirs));
    }
    Ok(())
}

/// Measures templates that print five fields and one switch, on one thread and on two threads.
pub(crate) fn templates(plan: &Plan, file: &Path, folder: &Path) -> Result<()> {
    let printf = baseline::compile("text", folder)?;
    let program = program()?;
    let path = folder.join("five.fmt");
    std::fs::write(&path, five_fields())?;
    let events = trace::events_in(plan.size, trace::USUAL) as f64;
    let (mut theirs, mut one, mut two) = (Vec::new(), Vec::new(), Vec::new());
    let ours = |jobs: &str| {
        let mut command = Command::new(&program);
        command.args(["report", "--threads", jobs, "-t"]).arg(&path).arg(file);
        timed(&mut command)
    };
    for _ in 0..plan.rounds {
        theirs.push(timed(Command::new(&printf).arg(file))? / events);
        one.push(ours("1")? / events);
        two.push(ours("2")? / events);
    }
    let (theirs, one) = (median(&mut theirs), median(&mut one));
    row("`report -t`, five fields and a switch", "one printf of nine fields (C)", one, theirs);
    row("the same on two threads", "on one", median(&mut two), one);
    Ok(())
}
