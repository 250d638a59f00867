//! Measures the cost of collecting from a live source.

use std::path::Path;
use std::time::Duration;

use tracewell_bench::{collect, median, rkh};

use super::plan::{Plan, Result, program};

/// Prints the processor time that `collect` needs for a live source, with four sets of options.
pub(crate) fn collect_live(plan: &Plan, folder: &Path) -> Result<()> {
    let (program, file) = (program()?, folder.join("live.rkh"));
    let (stream, _) = rkh::stream(4 << 20);
    let seconds = if plan.rounds > 1 { 5.0 } else { 0.2 };
    println!("\nCollecting {} Mbit/s over TCP, as a share of one core:", collect::RATE * 8.0 / 1e6);
    let decoded: &[&str] = &["--follow", "--event", "nothing"];
    let runs: [(&str, &[&str]); 4] = [
        ("saved", &[]),
        ("saved and decoded", decoded),
        ("saved, decoded and printed as lines", &["--follow"]),
        ("saved, decoded and printed as JSON", &["--follow", "--format", "jsonl"]),
    ];
    for (what, arguments) in runs {
        let mut shares = Vec::new();
        for _ in 0..plan.rounds.min(3) {
            let time = Duration::from_secs_f64(seconds);
            let cost = collect::cost(&program, arguments, &file, &stream, time)?;
            assert_eq!(cost.dropped, 0, "{what}");
            assert!(plan.rounds == 1 || cost.rate > 0.95 * collect::RATE, "{} B/s", cost.rate);
            shares.push(100.0 * cost.share);
        }
        println!("* {what}: {:.1} %", median(&mut shares));
    }
    Ok(())
}
