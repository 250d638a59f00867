//! Runs all benchmarks and prints their tables: `bench [--size 256MiB] [--rounds 7] [--check] [--live | --scaling | --tracing]`.
//!
//! `--check` runs everything once on a small trace, to see that it works and that baseline and
//! candidate agree; its times mean nothing. `--live` runs that of collecting alone, `--scaling` prints only how the
//! cost of commands grows with their inputs, `--tracing` what events of the crate `tracing` cost.
#![forbid(unsafe_code)]

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, Flow, Sink, Trace};
use tracewell::template::{Program, Source};
use tracewell_bench::{
    baseline, collect, median, posix, rkh, scaling, shark, size, stream, templates, trace, tracing,
};
use tracewell_record::threadx as record;
use tracewell_wire::rkh as rkh_wire;
use tracewell_wire::threadx::ids;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let plan = Plan::from_arguments()?;
    let folder = tempfile::tempdir()?;
    match plan.only {
        Some(Part::Live) => return live(&plan, folder.path()),
        Some(Part::Scaling) => return growth(&plan),
        Some(Part::Tracing) => return layer(&plan),
        None => {}
    }
    let file = folder.path().join("large.trx");
    let events = trace::events_in(plan.size, trace::USUAL);
    let mut out = BufWriter::new(File::create(&file)?);
    trace::write(&mut out, trace::USUAL, events)?;
    out.flush()?;
    println!("{events} events, {} MiB, medians of {} rounds\n", plan.size >> 20, plan.rounds);
    println!("| work | baseline | Tracewell | ratio |\n|---|---|---|---|");
    decode(&plan, &file, folder.path())?;
    decode_shark(&plan, folder.path())?;
    text(&plan, &file, folder.path())?;
    templates(&plan, &file, folder.path())?;
    compile(&plan);
    insert(&plan);
    rkh_decode(&plan)?;
    rkh_encode(&plan);
    streams(&plan)?;
    layer(&plan)?;
    posix_streams(&plan)?;
    memory(&file)?;
    memory_without_flags(&plan)?;
    flush(&plan, folder.path())?;
    live(&plan, folder.path())?;
    growth(&plan)
}

struct Plan {
    size: u64,
    rounds: usize,
    /// The one part to run; all of them if there is none.
    only: Option<Part>,
}

/// A part that runs alone on request.
enum Part {
    Live,
    Scaling,
    Tracing,
}

const USAGE: &str =
    "usage: bench [--size 256MiB] [--rounds 7] [--check] [--live | --scaling | --tracing]";

impl Plan {
    fn from_arguments() -> Result<Self> {
        let mut plan = Self { size: 256 << 20, rounds: 7, only: None };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().unwrap_or_default();
            match argument.as_str() {
                "--tracing" => plan.only = Some(Part::Tracing),
                "--check" => plan = Self { size: 1 << 20, rounds: 1, ..plan },
                "--live" => plan.only = Some(Part::Live),
                "--scaling" => plan.only = Some(Part::Scaling),
                "--rounds" => plan.rounds = value().parse()?,
                "--size" => plan.size = size(&value()).ok_or("a size such as 256MiB")?,
                "-h" | "--help" => {
                    println!("{USAGE}");
                    std::process::exit(0);
                }
                other => return Err(format!("no option '{other}'; {USAGE}").into()),
            }
        }
        Ok(plan)
    }
}

/// A row: nanoseconds an event of both, and how many times as fast the candidate is.
fn row(work: &str, baseline: &str, ours: f64, theirs: f64) {
    println!("| {work} | {baseline}: {theirs:.1} ns | {ours:.1} ns | {:.2} × |", theirs / ours);
}

/// Counts what the baseline counts, from batches.
struct Counts {
    events: u64,
    /// The id that is counted, and how often it came.
    id: u32,
    of_id: u64,
}

impl Counts {
    fn of(id: u32) -> Self {
        Self { events: 0, id, of_id: 0 }
    }
}

impl Sink for Counts {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        self.events += batch.len() as u64;
        self.of_id += batch.columns.id.iter().filter(|id| **id == self.id).count() as u64;
        Flow::Continue(())
    }
}

fn decode(plan: &Plan, file: &Path, folder: &Path) -> Result<()> {
    let program = baseline::compile("sum", folder)?;
    race(plan, "decode to batches", &program, file, 83)
}

fn decode_shark(plan: &Plan, folder: &Path) -> Result<()> {
    let program = baseline::compile("shark", folder)?;
    let file = folder.join("large.dat");
    let mut out = BufWriter::new(File::create(&file)?);
    shark::write(&mut out, shark::records_in(plan.size))?;
    out.flush()?;
    let id = u32::from(tracewell_wire::shark::ids::TASK_SCHEDULE);
    race(plan, "decode S.Ha.R.K. records to batches", &program, &file, id)?;
    Ok(std::fs::remove_file(file)?)
}

/// A baseline that sums the steps of a file's stamps and counts its ids, against a reader.
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
        // The baseline's clock stops before its file is unmapped, too.
        let spent = start.elapsed();
        assert_eq!((counts.events, read.span, counts.of_id), (events, sum, of_id));
        theirs.push(nanoseconds as f64 / events as f64);
        ours.push(spent.as_nanos() as f64 / events as f64);
    }
    row(work, "C, sum deltas and count ids", median(&mut ours), median(&mut theirs));
    Ok(())
}

fn text(plan: &Plan, file: &Path, folder: &Path) -> Result<()> {
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
        row(name, "C, one printf of nine fields", median(&mut ours), median(&mut theirs));
    }
    Ok(())
}

/// Lines of templates that print five fields and one switch, on one thread and on two.
fn templates(plan: &Plan, file: &Path, folder: &Path) -> Result<()> {
    let printf = baseline::compile("text", folder)?;
    let program = program()?;
    let path = folder.join("five.fmt");
    std::fs::write(&path, templates::five_fields())?;
    let events = trace::events_in(plan.size, trace::USUAL) as f64;
    let (mut theirs, mut one, mut two) = (Vec::new(), Vec::new(), Vec::new());
    let ours = |jobs: &str| {
        let mut command = Command::new(&program);
        command.args(["report", "--jobs", jobs, "-t"]).arg(&path).arg(file);
        timed(&mut command)
    };
    for _ in 0..plan.rounds {
        theirs.push(timed(Command::new(&printf).arg(file))? / events);
        one.push(ours("1")? / events);
        two.push(ours("2")? / events);
    }
    let (theirs, one) = (median(&mut theirs), median(&mut one));
    row("`report -t`, five fields and a switch", "C, one printf of nine fields", one, theirs);
    row("the same on two threads", "on one", median(&mut two), one);
    Ok(())
}

/// Stanzas of the file that is compiled.
const STANZAS: u32 = 5000;

fn compile(plan: &Plan) {
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

/// Nanoseconds of a whole process that writes to nowhere.
fn timed(command: &mut Command) -> Result<f64> {
    let start = Instant::now();
    let status = command.stdout(Stdio::null()).status()?;
    if !status.success() {
        return Err(format!("{command:?} failed").into());
    }
    Ok(start.elapsed().as_nanos() as f64)
}

/// The program beside this one, built with the same profile.
fn program() -> Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("tracewell");
    if program.exists() {
        return Ok(program);
    }
    Err(format!("{} is not there: build tracewell-cli with the same profile", program.display())
        .into())
}

/// Events that are recorded between two looks at the clock.
const INSERTS: u64 = 1_000_000;

fn insert(plan: &Plan) {
    let (mut theirs, mut ours, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    let mut memory = vec![0; 1 << 16];
    for _ in 0..plan.rounds {
        theirs.push(plain_stores(&mut memory));
        ours.push(inserts(&mut memory, true));
        refused.push(inserts(&mut memory, false));
    }
    let theirs = median(&mut theirs);
    let baseline = "Rust, store 32 bytes and advance";
    row("record an event, stamp given", baseline, median(&mut ours), theirs);
    row("record an event that is filtered out", baseline, median(&mut refused), theirs);
}

fn plain_stores(memory: &mut [u8]) -> f64 {
    let slots = memory.len() / 32;
    let start = Instant::now();
    let mut slot = 0;
    for stamp in 0..INSERTS as u32 {
        let words =
            [0x2000_0000, 0x8005_0005, 83, black_box(stamp), 1, 2, 3, 4].map(u32::to_le_bytes);
        memory[32 * slot..32 * slot + 32].copy_from_slice(words.as_flattened());
        slot = if slot + 1 == slots { 0 } else { slot + 1 };
    }
    black_box(&memory);
    start.elapsed().as_nanos() as f64 / INSERTS as f64
}

fn inserts(memory: &mut [u8], wanted: bool) -> f64 {
    let mut stamp = 0;
    let mut trace: record::Trace<'_, _> = record::Trace::new(move || {
        stamp += 1;
        black_box(stamp)
    });
    let context = record::Context::thread(0x2000_0000, 5, 5);
    let enabled = trace.enable(memory, 4, &record::Options::default(), [], context);
    assert!(enabled.is_ok());
    if !wanted {
        trace.event_filter(ids::class::SEMAPHORE);
    }
    let start = Instant::now();
    for _ in 0..INSERTS {
        trace.insert(context, 83, [1, 2, 3, 4], black_box(ids::class::SEMAPHORE));
    }
    let spent = start.elapsed();
    black_box(trace.image());
    spent.as_nanos() as f64 / INSERTS as f64
}

/// Counts frames and adds up their arguments.
#[derive(Default)]
struct Arguments(rkh::Tally);

impl Sink for Arguments {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.0.frames += batch.len() as u64;
        for event in batch.events() {
            let count = trace.payload.arguments(event.payload);
            let values = (0..count).filter_map(|i| trace.payload.argument(event.payload, i));
            self.0.arguments = self.0.arguments.wrapping_add(values.sum());
        }
        Flow::Continue(())
    }
}

/// Counts frames.
#[derive(Default)]
struct Frames(u64);

impl Sink for Frames {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        self.0 += batch.len() as u64;
        Flow::Continue(())
    }
}

/// Frames cut, unstuffed and summed; events with all arguments decoded; the same with every
/// argument read again by the sink. All against a byte at a time.
fn rkh_decode(plan: &Plan) -> Result<()> {
    let (stream, frames) = rkh::stream(plan.size.min(64 << 20) as usize);
    let [mut theirs, mut cut, mut events, mut used] = [const { Vec::new() }; 4];
    let per_frame = |start: Instant| start.elapsed().as_nanos() as f64 / frames as f64;
    let mut input = Input::from_bytes("rkh", stream.clone(), Settings::default())?;
    for _ in 0..plan.rounds {
        let start = Instant::now();
        let expected = rkh::read_byte_by_byte(black_box(&stream));
        theirs.push(per_frame(start));
        let start = Instant::now();
        let good = good_frames(black_box(&stream));
        cut.push(per_frame(start));
        let start = Instant::now();
        let mut counted = Frames::default();
        input.read(&mut counted)?;
        events.push(per_frame(start));
        let start = Instant::now();
        let mut arguments = Arguments::default();
        let trace = input.read(&mut arguments)?;
        used.push(per_frame(start));
        assert_eq!((expected.frames, expected.lost), (frames, 0));
        assert_eq!((good, counted.0, arguments.0.frames), (frames, frames, frames));
        assert!(trace.losses.is_empty());
    }
    let (theirs, baseline) = (median(&mut theirs), "Rust, a byte and a frame at a time");
    let bytes = stream.len() as f64 / frames as f64;
    for (work, ours) in [
        ("RKH: cut, unstuff and check frames", median(&mut cut)),
        ("RKH: decode to batches with all arguments", median(&mut events)),
        ("RKH: the same, and use every argument", median(&mut used)),
    ] {
        row(&format!("{work} ({:.0} MB/s)", 1000.0 * bytes / ours), baseline, ours, theirs);
    }
    Ok(())
}

fn good_frames(stream: &[u8]) -> u64 {
    let mut scratch = [0; rkh_wire::LONGEST_FRAME];
    let mut good = 0;
    for cut in rkh_wire::Cutter::new(stream) {
        let stuffed = &stream[cut.start..cut.end];
        let frame = match cut.escaped {
            false => stuffed,
            true => match rkh_wire::unstuff(stuffed, &mut scratch) {
                rkh_wire::Unstuffed::Frame(length) => &scratch[..length],
                _ => continue,
            },
        };
        good += u64::from(rkh_wire::checksum::holds(frame));
    }
    good
}

/// Frames encoded one by one, against copying each and adding up its bytes.
fn rkh_encode(plan: &Plan) {
    let (stream, _) = rkh::stream(plan.size.min(16 << 20) as usize);
    let mut plain = Vec::new();
    let mut scratch = [0; rkh_wire::LONGEST_FRAME];
    for cut in rkh_wire::Cutter::new(&stream) {
        let frame = rkh_wire::unstuff(&stream[cut.start..cut.end], &mut scratch);
        let rkh_wire::Unstuffed::Frame(length) = frame else { continue };
        plain.push(scratch[..length - 1].to_vec());
    }
    let mut out = vec![0; 2 * stream.len()];
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..plan.rounds {
        let start = Instant::now();
        let mut at = 0;
        for frame in &plain {
            let sum = frame.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
            out[at..at + frame.len()].copy_from_slice(frame);
            at += frame.len();
            out[at..at + 2].copy_from_slice(&[sum.wrapping_neg(), 0x7E]);
            at += 2;
        }
        theirs.push(start.elapsed().as_nanos() as f64 / plain.len() as f64);
        black_box(&mut out);
        let start = Instant::now();
        let mut at = 1;
        for frame in &plain {
            at += rkh_wire::encode(frame, true, &mut out[at..]).expect("there is room");
        }
        ours.push(start.elapsed().as_nanos() as f64 / plain.len() as f64);
        assert!(out[1..at] == stream[1..]);
    }
    let baseline = "Rust, copy each and sum it";
    row("RKH: encode frames", baseline, median(&mut ours), median(&mut theirs));
}

fn streams(plan: &Plan) -> Result<()> {
    let recording = stream::stream()?;
    let mut memory = vec![[0; 4]; 2048];
    let mut found: [Vec<f64>; 8] = Default::default();
    // These are short, so that there can be many of them.
    for _ in 0..plan.rounds * 20 {
        let (by_family, by_id) = stream::filtered(&recording);
        let round = [
            stream::counter_reads(),
            stream::events(&recording),
            stream::counter_and_stores(&mut memory),
            stream::counter_reads_of_two(),
            stream::events_of_two(&recording),
            stream::suspended(&recording),
            by_family,
            by_id,
        ];
        found.iter_mut().zip(round).for_each(|(all, one)| all.push(one));
    }
    let [read, event, stores, read_two, event_two, suspended, by_family, by_id] =
        found.map(|mut all| median(&mut all));
    let counter = "Rust, read the counter";
    row("stream: an event of two fields", counter, event, read);
    row(
        "stream: an event of two fields",
        "Rust, read the counter and store 32 bytes",
        event,
        stores,
    );
    row(
        "stream: the same by two threads at a time",
        "Rust, read the counter, two threads",
        event_two,
        read_two,
    );
    row("stream: the same by two threads at a time", "the same by one thread", event_two, event);
    row("stream: an event while suspended", counter, suspended, read);
    row("stream: an event of a filtered family", counter, by_family, read);
    row("stream: an event of a filtered id", counter, by_id, read);
    Ok(())
}

/// Events of the crate `tracing` beside those of a stream.
fn layer(plan: &Plan) -> Result<()> {
    let own = stream::stream()?;
    let (recording, silent) = (tracing::recording()?, tracing::silent());
    let mut found: [Vec<f64>; 6] = Default::default();
    for _ in 0..plan.rounds * 20 {
        let round = [
            stream::events(&own),
            tracing::events(&silent),
            tracing::events(&recording),
            tracing::texts(&recording),
            tracing::stream_events_of_four(&own),
            tracing::events_of_four(&recording),
        ];
        found.iter_mut().zip(round).for_each(|(all, one)| all.push(one));
    }
    let [event, nothing, recorded, text, event_four, recorded_four] =
        found.map(|mut all| median(&mut all));
    let baseline = "an event of a stream";
    row("tracing: a layer that does nothing", baseline, nothing, event);
    row("tracing: an event of two numbers", baseline, recorded, event);
    row("tracing: an event of a number and a text", baseline, text, event);
    let of_four = "an event of a stream by four threads";
    row("tracing: two numbers by four threads at a time", of_four, recorded_four, event_four);
    Ok(())
}

/// The POSIX trace functions beside the stream engine's own event.
fn posix_streams(plan: &Plan) -> Result<()> {
    let own = stream::stream()?;
    let unnamed = tracewell_wire::posix::UNNAMED;
    let mut without: Vec<f64> = (0..plan.rounds * 20).map(|_| posix::events(unnamed)).collect();
    let (recording, id) = posix::stream()?;
    let mut found: [Vec<f64>; 5] = Default::default();
    for _ in 0..plan.rounds * 20 {
        let round = [
            stream::events(&own),
            posix::events(id),
            posix::filtered(&recording, id),
            posix::suspended(&recording, id),
            stream::counter_reads(),
        ];
        found.iter_mut().zip(round).for_each(|(all, one)| all.push(one));
    }
    let [event, posix_event, filtered, suspended, read] = found.map(|mut all| median(&mut all));
    row("POSIX: an event with 8 bytes", "Tracewell, an event of two fields", posix_event, event);
    let counter = "Rust, read the counter";
    row("POSIX: an event that is filtered out", counter, filtered, read);
    row("POSIX: an event while suspended", counter, suspended, read);
    row("POSIX: an event without a stream", counter, median(&mut without), read);
    let mut speeds =
        (0..plan.rounds).map(|_| posix::read_back()).collect::<std::result::Result<Vec<_>, _>>()?;
    let each = 1e9 / median(&mut speeds);
    row("POSIX: take an event out of a stream", "10 million a second", each, 100.0);
    Ok(())
}

/// Recording at full speed while a thread flushes: every event is in the file or counted.
fn flush(plan: &Plan, folder: &Path) -> Result<()> {
    let events = if plan.rounds > 1 { 50_000_000 } else { 1_000_000 };
    let path = folder.join("log");
    let stream::Flushed { attempted, stored, events, lost } = stream::flush(&path, events)?;
    let mut counts = Counts::of(0);
    let read = Input::open(&path, Settings::default())?.read(&mut counts)?;
    assert_eq!((counts.events, read.losses.events()), (events, Some(lost)));
    let (attempted, stored) = (attempted / 1e6, stored / 1e6);
    println!(
        "\nFlushing to a file: {attempted:.1} million events a second recorded, {stored:.1} million \
         a second written; {events} in the file, {lost} counted as lost"
    );
    Ok(())
}

/// Peak anonymous memory of a report of the trace at hand; `--size 1GiB` makes it a large one.
fn memory(file: &Path) -> Result<()> {
    let mut report =
        Command::new(program()?).arg("report").arg(file).stdout(Stdio::null()).spawn()?;
    let peak = anonymous_peak(&mut report)?;
    let size = file.metadata()?.len() >> 20;
    println!("\nAnonymous memory of `report` on {size} MiB: at most {peak} KiB");
    Ok(())
}

/// A stream that never has another flag: what comes is dropped, and memory does not grow.
fn memory_without_flags(plan: &Plan) -> Result<()> {
    let mut info = Command::new(program()?)
        .args(["info", "--format-in", "rkh", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let pieces = plan.size >> 18;
    let mut stream = info.stdin.take().ok_or("standard input is a pipe")?;
    let writer = std::thread::spawn(move || {
        let piece = [0x55; 1 << 20];
        stream
            .write_all(&[0x7E])
            .and_then(|()| (0..pieces).try_for_each(|_| stream.write_all(&piece)))
    });
    let peak = anonymous_peak(&mut info)?;
    writer.join().map_err(|_| "the writer has panicked")??;
    println!(
        "Anonymous memory of `info` on {pieces} MiB of RKH without a flag: at most {peak} KiB"
    );
    Ok(())
}

/// The most anonymous memory that a program had until it ended, in KiB.
fn anonymous_peak(program: &mut Child) -> Result<u64> {
    let status = format!("/proc/{}/status", program.id());
    let mut peak = 0;
    while program.try_wait()?.is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let anonymous = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kib = anonymous.and_then(|line| line.split_whitespace().next()?.parse().ok());
        peak = peak.max(kib.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(peak)
}

/// What a live source costs: its bytes kept; decoded as well; and all its events printed as well.
fn live(plan: &Plan, folder: &Path) -> Result<()> {
    let (program, file) = (program()?, folder.join("live.rkh"));
    let (stream, _) = rkh::stream(4 << 20);
    let seconds = if plan.rounds > 1 { 5.0 } else { 0.2 };
    println!("\nCollecting {} Mbit/s over TCP, of one core:", collect::RATE * 8.0 / 1e6);
    let decoded: &[&str] = &["--follow", "--event", "nothing"];
    let runs: [(&str, &[&str]); 4] = [
        ("kept", &[]),
        ("kept and decoded", decoded),
        ("kept, decoded and printed as lines", &["--follow"]),
        ("kept, decoded and printed as JSON", &["--follow", "--format", "jsonl"]),
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

/// How the cost of commands grows with their inputs, from 1 to 8 times.
fn growth(plan: &Plan) -> Result<()> {
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
