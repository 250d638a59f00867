//! Collecting what targets send while they run: into files, byte by byte as it came, and to be seen at once.
//!
//! ```text
//! source ──> buffer ──> file, arrivals
//!  thread     fixed  └─> buffer ──> recognise, decode, lines
//!                        fixed      thread
//! ```
//!
//! Every [`Source`] is a stream of its own with three threads. The first only reads, so that what the system buffers
//! for it is emptied in time; it never waits for a file. The second writes the bytes and, beside them, when they came
//! ([`tracewell_wire::arrivals`]). The third shows them. Between them are buffers of a fixed size: what finds no room is
//! counted and marked in its place, and received = written + dropped, exactly. A source that keeps what is not
//! read (a file, standard input) is left waiting instead.
//!
//! | file | what it settles |
//! |---|---|
//! | `source` | the kinds of sources |
//! | `serial`, `tcp`, `udp`, `file` | reading each of them |
//! | `connection`, `intake` | what they share: reconnecting, stamping, counting |
//! | `buffer`, `pace` | two buffers that are exchanged; how often |
//! | `unreceived` | datagrams that the system had no room for |
//! | `control` | when it ends |
//! | `store` | the bytes and their arrivals, into files |
//! | `view`, `live`, `tagged` | recognising, decoding, lines of several sources |
//! | `account`, `datagrams`, `numbers` | what came and what did not |
//! | `notice` | what happens meanwhile, for people |
//!
//! Not here: signals, arguments, names of files (the program); decoding (`format`).

mod account;
mod buffer;
mod connection;
mod control;
mod datagrams;
mod file;
mod intake;
mod live;
mod notice;
mod numbers;
mod pace;
#[cfg(unix)]
mod poll;
#[cfg(unix)]
mod serial;
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

pub use account::SourceReport;
pub use control::Until;
pub use datagrams::{Account, Report};
pub use notice::Notice;
pub use numbers::{Arrival, Numbers, PacketNumbers};
#[cfg(unix)]
pub use serial::{Flow, Parity, Serial, SerialError};
pub use source::{Reader, Source};
pub use store::Raw;
pub use tagged::{SharedOutput, Tag, TaggedWriter};
pub use udp::Datagrams;
pub use view::{Follow, Shown, View};

use buffer::Buffer;
use control::Control;
use intake::{Intake, PIECE};

/// How to collect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// When it ends by itself.
    pub until: Until,
    /// Bytes of a buffer; a source has two of them, and two more where it is shown. At least 64 KiB.
    pub buffer: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { until: Until::default(), buffer: 4 << 20 }
    }
}

/// A source and what becomes of its bytes.
#[derive(Debug)]
pub struct Stream<'a> {
    /// Where they come from.
    pub reader: Reader,
    /// Where they are kept.
    pub raw: Option<Raw<'a>>,
    /// How they are shown.
    pub view: Option<View<'a>>,
}

/// What became of a source.
#[derive(Debug)]
pub struct Collected {
    /// What came.
    pub report: SourceReport,
    /// What was shown.
    pub shown: Option<Shown>,
    /// Why the source could not be read any more.
    pub unreadable: Option<io::Error>,
    /// Why what came could not be written.
    pub unwritable: Option<io::Error>,
}

/// Collects from all sources at once, until it is time, or `stopped` says so, or none is left.
///
/// `tell` is given the name of a source and what happens to it, from several threads.
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
            if let Some(at) = stream.reader.local_addr() {
                tell(stream.reader.name(), &Notice::Listening(at));
            }
            running.push(scope.spawn(move || one(source, stream, options, control, tell)));
        }
        running.into_iter().map(join).collect()
    })
}

/// What a thread returned; its panic is passed on.
fn join<T>(running: thread::ScopedJoinHandle<'_, T>) -> T {
    running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Collects from one source on this thread and two or three more.
fn one(
    source: usize,
    stream: Stream<'_>,
    options: Options,
    control: &Control<'_>,
    tell: &(dyn Fn(&str, &Notice<'_>) + Sync),
) -> Collected {
    let Stream { reader, raw, view } = stream;
    let name = reader.name().to_owned();
    let tell = &|notice: &Notice<'_>| tell(&name, notice);
    let capacity = options.buffer.max(PIECE);
    let keeps = raw.is_some();
    let buffer = &Buffer::new(capacity);
    let showing = &view.as_ref().map(|_| Buffer::new(capacity));
    let enough = &AtomicBool::new(false);
    let mut intake = Intake::new(control, source, buffer, enough, tell);
    thread::scope(|scope| {
        let storing =
            scope.spawn(move || store::store(buffer, raw, showing.as_ref(), control, tell));
        let showing = view.zip(showing.as_ref()).map(|(view, showing)| {
            scope
                .spawn(move || view::show(showing, view, control, (!keeps).then_some(enough), tell))
        });
        let read = reader.collect(&mut intake);
        control.source_ended(source);
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
