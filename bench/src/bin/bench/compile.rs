//! Compiles a large file of templates.

use std::hint::black_box;
use std::time::Instant;

use tracewell::template::{Program, Source};
use tracewell_bench::{median, templates};

use super::plan::Plan;

/// Number of templates in the file.
const STANZAS: u32 = 5000;

pub(crate) fn compile(plan: &Plan) {
    let sources = [Source::new("many.fmt", templates::many(STANZAS))];
    let mut times = Vec::new();
    for _ in 0..plan.rounds {
        let start = Instant::now();
        let compiled = Program::of(black_box(&sources));
        times.push(start.elapsed().as_nanos() as f64 / 1e6);
        assert!(compiled.is_valid() && compiled.program.templates().len() == STANZAS as usize);
    }
    let length = sources[0].text.len() / 1000;
    println!(
        "| compile {STANZAS} templates, {length} kB | must: 50 ms | {:.1} ms | |",
        median(&mut times)
    );
}
