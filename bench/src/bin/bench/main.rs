//! Runs all benchmarks and prints their tables:
//! `bench [--size 256MiB] [--rounds 7] [--check] [PART]`.
//!
//! `--check` runs everything once on a small trace, to verify that baseline and candidate agree.
//! Its times are not significant. `--analysis`, `--ctf`, `--decode`, `--live`, `--scaling`,
//! `--start`, `--systemview`, `--timeline` and `--tracing` each run only one part.
//!
//! Each file here prints the rows of one subject. `plan` contains the command line and shared
//! helpers.
#![forbid(unsafe_code)]

mod analysis;
mod compile;
mod ctf;
mod decode;
mod growth;
mod insert;
mod live;
mod memory;
mod plan;
mod posix;
mod rkh;
mod start;
mod streams;
mod systemview;
mod text;
mod timeline;
mod tracing;

use std::fs::File;
use std::io::{BufWriter, Write};

use plan::{Part, Plan, Result};
use tracewell_bench::trace;

fn main() -> Result<()> {
    let plan = Plan::from_arguments()?;
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    match plan.only {
        Some(Part::Live) => return live::collect_live(&plan, folder),
        Some(Part::Scaling) => return growth::print_table(&plan),
        Some(Part::Start) => return start::start(&plan, folder),
        Some(Part::Timeline) => return timeline::timeline(&plan, folder),
        Some(Part::Tracing) => return tracing::record(&plan),
        Some(Part::Analysis) => {
            print_heading();
            return analysis::analysis(&plan, folder);
        }
        Some(Part::Ctf) => {
            print_heading();
            return ctf::ctf_decode(&plan, folder);
        }
        Some(Part::SystemView) => {
            print_heading();
            return systemview::systemview_decode(&plan);
        }
        Some(Part::Decode) | None => {}
    }
    let file = folder.join("large.trx");
    let events = trace::events_in(plan.size, trace::USUAL);
    let mut out = BufWriter::new(File::create(&file)?);
    trace::write(&mut out, trace::USUAL, events)?;
    out.flush()?;
    println!("{events} events, {} MiB, medians of {} rounds\n", plan.size >> 20, plan.rounds);
    print_heading();
    decode::decode(&plan, &file, folder)?;
    decode::decode_shark(&plan, folder)?;
    if let Some(Part::Decode) = plan.only {
        return Ok(());
    }
    text::text(&plan, &file, folder)?;
    text::templates(&plan, &file, folder)?;
    analysis::analysis(&plan, folder)?;
    compile::compile(&plan);
    insert::insert(&plan);
    rkh::rkh_decode(&plan)?;
    rkh::rkh_encode(&plan);
    systemview::systemview_decode(&plan)?;
    ctf::ctf_decode(&plan, folder)?;
    streams::record(&plan)?;
    tracing::record(&plan)?;
    posix::record(&plan)?;
    memory::report(&file)?;
    memory::rkh_without_flags(&plan)?;
    streams::flush(&plan, folder)?;
    live::collect_live(&plan, folder)?;
    timeline::timeline(&plan, folder)?;
    start::start(&plan, folder)?;
    growth::print_table(&plan)
}

fn print_heading() {
    println!("| work | baseline | Tracewell | ratio |\n|---|---|---|---|");
}
