//! Receives data from running targets over serial lines, TCP, UDP and growing files, stores them
//! byte for byte, and shows them.
//!
//! ```text
//! source ──> buffer ──> file, arrivals
//!  thread     fixed  └─> buffer ──> recognise, decode, lines
//!                        fixed      thread
//! ```
//!
//! Each [`Source`] has three threads. The first thread only reads, so that it empties the system's
//! buffer in time; it never waits for a file. The second thread writes the bytes to a file, and
//! their arrival times to another file ([`tracewell_wire::arrivals`]). The third thread shows the
//! events. The buffers between the threads have a fixed size. If bytes do not fit, they are
//! dropped, counted, and marked at their position, so received = written + dropped holds exactly.
//! If a source loses no data while its reader waits (a file, standard input), the reader waits
//! instead of dropping bytes.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use tracewell_collect::{Options, Raw, Source, Stream, Until, collect};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
//! let mut stored = Vec::new();
//! let raw = Raw { bytes: Box::new(&mut stored), arrivals: None };
//! let stream = Stream { reader: Source::File(path.into()).open()?, raw: Some(raw), view: None };
//! let until = Until { disconnected: true, ..Until::default() };
//! let options = Options { until, ..Options::default() };
//! let collected = collect(vec![stream], options, &AtomicBool::new(false), &|name, notice| {
//!     eprintln!("{name}: {notice}");
//! });
//! assert_eq!(collected[0].report.written, Some(stored.len() as u64));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! | file | purpose |
//! |---|---|
//! | `source` | the kinds of sources |
//! | `serial`, `tcp`, `udp`, `file` | reading each kind |
//! | `connection`, `intake` | shared by all kinds: reconnecting, arrival times, counting |
//! | `buffer`, `pace` | the double buffer, and the pauses between reads |
//! | `unreceived` | datagrams that the system dropped |
//! | `control` | when collecting ends |
//! | `store` | writing bytes and arrival times to files |
//! | `view`, `show`, `live`, `tagged` | decoding a source, merging the lines of several sources |
//! | `account`, `datagrams`, `numbers` | statistics: received, dropped, missing |
//! | `gauge` | the counts of a running collection, for a display |
//! | `simulation` | collecting step by step without targets, for tests and fuzzing |
//! | `notice` | messages for people while collecting |
//!
//! The crate `tracewell-cli` handles signals, arguments and file names. `tracewell::format` decodes
//! the data.
#![forbid(unsafe_code)]

mod account;
mod buffer;
mod connection;
mod control;
mod datagrams;
mod file;
mod gauge;
mod intake;
mod live;
mod notice;
mod numbers;
mod pace;
#[cfg(unix)]
mod poll;
#[cfg(unix)]
mod serial;
mod show;
#[cfg(any(test, feature = "simulation"))]
pub mod simulation;
mod source;
mod store;
mod tagged;
mod tcp;
mod udp;
mod unreceived;
mod view;

use std::io;
use std::sync::atomic::AtomicBool;
use std::thread;

pub use account::{CollectReport, SCHEMA, SourceReport};
pub use control::Until;
pub use datagrams::{Account, Report};
pub use gauge::{Gauge, Link, Progress};
pub use notice::Notice;
pub use numbers::{Arrival, Numbers, PacketNumbers};
#[cfg(unix)]
pub use serial::{Flow, Parity, Serial, SerialError};
pub use source::{Reader, Source};
pub use store::Raw;
pub use tagged::{SharedOutput, Tag, TaggedWriter};
pub use udp::Datagrams;
pub use view::{MakeSink, Shown, View};

use buffer::Buffer;
use control::Control;
use intake::{CHUNK_LEN, Intake};

/// Settings that all sources of a collection share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Conditions that end the collection.
    pub until: Until,
    /// Size of a buffer in bytes, at least 64 KiB. A source has two buffers, and two more if it is
    /// shown.
    pub buffer: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { until: Until::default(), buffer: 4 << 20 }
    }
}

/// A source and the destinations of its bytes.
#[derive(Debug)]
pub struct Stream<'a> {
    /// The source, already open.
    pub reader: Reader,
    /// Destination of the bytes; `None` to store nothing.
    pub raw: Option<Raw<'a>>,
    /// Settings for showing the events; `None` to show nothing.
    pub view: Option<View<'a>>,
}

/// The result of collecting from a source.
#[derive(Debug)]
pub struct Collected {
    /// Counts of received, stored and dropped bytes.
    pub report: SourceReport,
    /// The result of the view; `None` if the stream has no view.
    pub shown: Option<Shown>,
    /// The error that ended reading.
    pub unreadable: Option<io::Error>,
    /// The error that ended writing.
    pub unwritable: Option<io::Error>,
}

/// Collects from all sources at once, until [`Options::until`] holds, `stopped` is set, or all
/// sources have ended.
///
/// Several threads may call `tell` at the same time, each with the name of a source and a notice
/// about this source.
pub fn collect(
    streams: Vec<Stream<'_>>,
    options: Options,
    stopped: &AtomicBool,
    tell: &(dyn Fn(&str, &Notice<'_>) + Sync),
) -> Vec<Collected> {
    let control = &Control::new(options.until, stopped, streams.len());
    thread::scope(|scope| {
        let mut running = Vec::new();
        for (source, stream) in streams.into_iter().enumerate() {
            // Send these notices here and not from the threads, so that the sources appear in the
            // order of the command line.
            if let Some(at) = stream.reader.local_addr() {
                tell(stream.reader.name(), &Notice::Listening(at));
            }
            running
                .push(scope.spawn(move || collect_source(source, stream, options, control, tell)));
        }
        running.into_iter().map(join).collect()
    })
}

/// Returns the result of a thread, or continues its panic.
fn join<T>(running: thread::ScopedJoinHandle<'_, T>) -> T {
    running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Collects from one source, on this thread and one or two further threads.
fn collect_source(
    source: usize,
    stream: Stream<'_>,
    options: Options,
    control: &Control<'_>,
    tell: &(dyn Fn(&str, &Notice<'_>) + Sync),
) -> Collected {
    let Stream { reader, raw, view } = stream;
    let name = reader.name().to_owned();
    let gauge = &reader.gauge();
    let tell = &|notice: &Notice<'_>| tell(&name, notice);
    // A buffer must have room for a whole read, because it never accepts a part of a read.
    let capacity = options.buffer.max(CHUNK_LEN);
    let keeps = raw.is_some();
    let buffer = &Buffer::new(capacity);
    let showing = &view.as_ref().map(|_| Buffer::new(capacity));
    let enough = &AtomicBool::new(false);
    let mut intake = Intake::new(control, source, buffer, enough, gauge, tell);
    thread::scope(|scope| {
        // One thread stores bytes and another shows them, each with its own buffer: a slow terminal
        // must not delay the disk, and a slow disk must not delay the source.
        let storing =
            scope.spawn(move || store::store(buffer, raw, showing.as_ref(), control, tell));
        let showing = view.zip(showing.as_ref()).map(|(view, showing)| {
            // If the source is stored, reading continues even when the view needs no more events.
            let enough = (!keeps).then_some(enough);
            scope.spawn(move || show::show(showing, view, control, enough, gauge, tell))
        });
        let read = reader.collect(&mut intake);
        control.source_ended(source);
        gauge.set_link(Link::Ended);
        // Both threads run until the buffer is empty, so no received data is lost.
        buffer.finish();
        let stored = join(storing);
        let shown = showing.map(join);
        let (packets, unreadable) = match read {
            Ok(packets) => (packets, None),
            Err(error) => (None, Some(error)),
        };
        let mut report = SourceReport::new(name.clone(), intake.counts, packets);
        report.written = keeps.then_some(stored.written);
        report.dropped = buffer.dropped() + stored.failed;
        report.failed = stored.error.is_some();
        report.left_out = shown.as_ref().map_or(0, |shown| shown.left_out);
        Collected { report, shown, unreadable, unwritable: stored.error }
    })
}

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
