//! Runs a hot path for which the program has no command, so that `.ci/instructions` can count its
//! instructions. `hot-path decode FILE` decodes a trace to batches and prints the number of its
//! events. `hot-path floor FOLDER` does the same for a CTF trace that `make-trace` wrote, with a
//! loop that supports only the layout of this trace. `hot-path floor FILE` reads the packets of a
//! SystemView stream that `make-trace` wrote. `hot-path summary FILE` builds the tracks of a trace
//! and their summary, from which `serve` makes views, and prints the number of changes in the
//! tracks. `hot-path views FILE COUNT PARTS` collects the data of a served page, and divides the
//! trace into `PARTS` equal parts. It makes `COUNT` views, each of one part, and prints the size of
//! the last view in bytes. `hot-path page FILE` reads a trace into memory, makes the page of this
//! trace as the static page does, and prints its size in bytes. `hot-path record EVENTS` records
//! events of two fields into a stream that overwrites its oldest events; the number is rounded up
//! to a multiple of 50,000.
#![forbid(unsafe_code)]

use std::error::Error;
use std::hint::black_box;
use std::path::Path;

use tracewell::analysis::summary::SummaryBuilder;
use tracewell::export::page::{ServedBuilder, View};
use tracewell::input::{Input, Settings};
use tracewell_bench::{Events, ctf, stream, systemview};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let events = match arguments.as_slice() {
        ["decode", file] => {
            let mut events = Events::default();
            Input::open(file.as_ref(), Settings::default())?.read(&mut events)?;
            events.0
        }
        ["floor", folder] if Path::new(folder).is_dir() => {
            let streams =
                (0..).map(|cpu| std::fs::read(Path::new(folder).join(format!("channel_{cpu}"))));
            let streams: Vec<_> = streams.map_while(Result::ok).collect();
            let stored = ctf::store_streams(&streams, |batch| {
                black_box(batch);
            });
            stored.ok_or("a stream is truncated")?.events
        }
        ["floor", file] => systemview::read_packets(black_box(&std::fs::read(file)?)).packets,
        ["summary", file] => {
            let mut builder = SummaryBuilder::default();
            let trace = Input::open(file.as_ref(), Settings::default())?.read(&mut builder)?;
            builder.finish(&trace).changes()
        }
        ["views", file, count, parts] => {
            let (count, parts) = (count.parse::<u64>()?, parts.parse::<u64>()?);
            let mut builder = ServedBuilder::with_views();
            let trace = Input::open(file.as_ref(), Settings::default())?.read(&mut builder)?;
            let (mut payload, page) = builder.finish(&trace, "hot path")?;
            let page = page.ok_or("the page has no views")?;
            let length = trace.span / parts.max(1);
            for number in 0..count {
                let from = (trace.span - length) / count * number;
                let view = View { range: Some(from..from + length), ..View::default() };
                payload = black_box(page.view(&view)?);
            }
            payload.len() as u64
        }
        ["page", file] => {
            let mut builder = ServedBuilder::uncompressed();
            let mut input = Input::from_bytes(file, std::fs::read(file)?, Settings::default())?;
            let trace = input.read(&mut builder)?;
            builder.finish(&trace, file)?.0.len() as u64
        }
        ["record", events] => {
            let rounds = events.parse::<u64>()?.div_ceil(u64::from(stream::EVENTS));
            let stream = stream::stream()?;
            (0..rounds).for_each(|_| {
                stream::events(&stream);
            });
            rounds * u64::from(stream::EVENTS)
        }
        _ => {
            let usage = "usage: hot-path decode FILE | floor FILE | summary FILE | \
                         views FILE COUNT PARTS | page FILE | record EVENTS";
            return Err(usage.into());
        }
    };
    println!("{events}");
    Ok(())
}
