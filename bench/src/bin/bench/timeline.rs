//! Measures `serve` with a large trace: the first picture, the summary, views, and the second
//! start.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use tracewell::input::{Input, Settings};
use tracewell_bench::serve::Server;
use tracewell_bench::{median, trace};

use super::plan::{Counts, Plan, Result, program};

/// Minimum size of the trace in bytes. Smaller traces have no views.
const MIN_SIZE: u64 = 72 << 20;

/// Number of parts of a view: one for each pixel of a wide screen.
const PARTS: u64 = 2000;

/// Number of zoom levels that are measured: the whole trace, a tenth of it, and so on.
const ZOOMS: u32 = 7;

/// Prints the figures of the timeline.
pub(crate) fn timeline(plan: &Plan, folder: &Path) -> Result<()> {
    let (program, cache) = (program()?, folder.join("cache"));
    let file = folder.join("timeline.trx");
    let size = plan.size.max(MIN_SIZE);
    let events = trace::events_in(size, trace::USUAL);
    let mut out = BufWriter::new(File::create(&file)?);
    trace::write(&mut out, trace::USUAL, events)?;
    out.flush()?;
    drop(out);
    println!("\nTimeline of {events} events, {} MiB:", size >> 20);
    let mut counts = Counts::of(0);
    let start = Instant::now();
    let span = Input::open(&file, Settings::default())?.read(&mut counts)?.span;
    let decode = start.elapsed();

    let start = Instant::now();
    let server = Server::start(&program, &file, &cache)?;
    server.get("api/v1/page?first=1")?;
    let picture = start.elapsed();
    let (mut memory, mut processor) = (0, Duration::ZERO);
    while server.is_reading()? {
        memory = memory.max(server.anonymous_memory()?);
        processor = server.processor_time()?;
        thread::sleep(Duration::from_millis(20));
    }
    let read = start.elapsed();
    println!("* first picture: {:.0} ms after the start", milliseconds(picture));
    let rate = |time: Duration| events as f64 / time.as_secs_f64() / 1e6;
    println!(
        "* summary: {:.1} million events per second, {:.1} per second of processor time; \
         decoding: {:.1}, ratio {:.2}",
        rate(read),
        rate(processor),
        rate(decode),
        read.as_secs_f64() / decode.as_secs_f64()
    );
    views(plan, &server, span)?;
    let stored = || fs::read_dir(cache.join("tracewell")).into_iter().flatten().flatten();
    while !stored().any(|file| file.path().extension().is_some_and(|of| of == "summary")) {
        memory = memory.max(server.anonymous_memory()?);
        thread::sleep(Duration::from_millis(20));
    }
    memory = memory.max(server.anonymous_memory()?);
    println!("* anonymous memory: at most {} MiB", memory >> 10);
    let bytes: u64 = stored().filter_map(|file| Some(file.metadata().ok()?.len())).sum();
    drop(server);

    let (mut times, mut memory, mut processor) = (Vec::new(), 0, Vec::new());
    for _ in 0..plan.rounds {
        let start = Instant::now();
        let server = Server::start(&program, &file, &cache)?;
        server.get("api/v1/page?first=1")?;
        times.push(milliseconds(start.elapsed()));
        processor.push(milliseconds(server.processor_time()?));
        memory = memory.max(server.anonymous_memory()?);
    }
    println!(
        "* second start, from a summary of {} MiB: picture after {:.0} ms, {:.0} ms of processor \
         time, {} MiB of anonymous memory",
        bytes >> 20,
        median(&mut times),
        median(&mut processor),
        memory >> 10
    );
    Ok(fs::remove_file(file)?)
}

/// Prints the times of views at random places.
fn views(plan: &Plan, server: &Server, span: u64) -> Result<()> {
    let count = if plan.rounds > 1 { 30 } else { 2 };
    println!("\n| view | median | worst | processor time | bytes |\n|---|---|---|---|---|");
    let mut random = 7_u64;
    let mut all = Vec::new();
    for zoom in 0..ZOOMS {
        let (mut times, mut bytes) = (Vec::new(), Vec::new());
        let before = server.processor_time()?;
        for _ in 0..count {
            // This is Knuth's generator for 64-bit numbers. Only its high bits are used, because
            // the low bits are not random.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let length = span / 10_u64.pow(zoom);
            let from = (random >> 11) % (span - length + 1);
            let to = from + length;
            let address = format!("api/v1/view?from={from}&to={to}&parts={PARTS}");
            let (body, time) = server.get(&address)?;
            times.push(milliseconds(time));
            bytes.push(body.len() as f64);
        }
        let processor = milliseconds(server.processor_time()?.saturating_sub(before));
        let processor = processor / f64::from(count);
        all.extend_from_slice(&times);
        let worst = times.iter().copied().fold(0.0, f64::max);
        println!(
            "| 1/{} | {:.1} ms | {worst:.1} ms | {processor:.1} ms | {:.0} |",
            10_u64.pow(zoom),
            median(&mut times),
            median(&mut bytes)
        );
    }
    let worst = all.iter().copied().fold(0.0, f64::max);
    println!("| all | {:.1} ms | {worst:.1} ms | | |\n", median(&mut all));
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
