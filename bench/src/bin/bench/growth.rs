//! Measures how the costs of commands grow with their inputs.

use tracewell_bench::scaling;

use super::plan::{Plan, Result, program};

/// Prints the costs of the commands in `scaling` for inputs of 1, 2, 4 and 8 times the size.
pub(crate) fn print_table(plan: &Plan) -> Result<()> {
    let program = program()?;
    println!("\n| grows 1, 2, 4, 8 times | ms | cost per unit at 8 times |\n|---|---|---|");
    for series in scaling::all() {
        let units = if plan.rounds > 1 { series.units } else { series.units.min(50) };
        let scaling::Growth { milliseconds, growth } =
            series.measure(&program, units, plan.rounds.min(5))?;
        let times = milliseconds.map(|time| format!("{time:.0}")).join(", ");
        let verdict = if growth > scaling::MAX_GROWTH { " **not linear**" } else { "" };
        println!("| {} | {times} | {growth:.2} ×{verdict} |", series.name);
    }
    Ok(())
}
