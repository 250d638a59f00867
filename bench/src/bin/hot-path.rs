//! Runs a hot path for which the program has no command, so that `.ci/instructions` can count its
//! instructions. `hot-path decode FILE` decodes a trace to batches and prints the number of its
//! events. `hot-path summary FILE` builds the tracks of a trace and their summary, from which
//! `serve` shows views, and prints the number of changes. `hot-path record EVENTS` records events
//! of two fields into a stream that overwrites its oldest events; the number is rounded up to a
//! multiple of 50,000.
#![forbid(unsafe_code)]

use std::error::Error;

use tracewell::analysis::summary::SummaryBuilder;
use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, Flow, Sink, Trace};
use tracewell_bench::stream;

/// Counts events.
#[derive(Default)]
struct Events(u64);

impl Sink for Events {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        self.0 += batch.len() as u64;
        Flow::Continue(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let events = match arguments.as_slice() {
        ["decode", file] => {
            let mut events = Events::default();
            Input::open(file.as_ref(), Settings::default())?.read(&mut events)?;
            events.0
        }
        ["summary", file] => {
            let mut builder = SummaryBuilder::default();
            let trace = Input::open(file.as_ref(), Settings::default())?.read(&mut builder)?;
            builder.finish(&trace).changes()
        }
        ["record", events] => {
            let rounds = events.parse::<u64>()?.div_ceil(u64::from(stream::EVENTS));
            let stream = stream::stream()?;
            (0..rounds).for_each(|_| {
                stream::events(&stream);
            });
            rounds * u64::from(stream::EVENTS)
        }
        _ => return Err("usage: hot-path decode FILE | summary FILE | record EVENTS".into()),
    };
    println!("{events}");
    Ok(())
}
