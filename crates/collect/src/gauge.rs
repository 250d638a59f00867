//! The current counts of a source, for a display of the progress. The threads of the source store
//! the counts, and any thread can read them without waiting.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// The state of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Link {
    /// No target is connected, or the source is not open.
    #[default]
    Waiting,
    /// A target is connected, or the source is open.
    Connected,
    /// The source has ended.
    Ended,
}

/// The progress of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// The state of the source.
    pub link: Link,
    /// Received bytes, including the length prefix of each datagram in a capture.
    pub received: u64,
    /// Bytes that did not fit into the buffer.
    pub dropped: u64,
    /// Decoded events; `None` if the source is not shown.
    pub events: Option<u64>,
}

/// The counts of a source that is being collected.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use tracewell_collect::{Link, Options, Source, Stream, Until, collect};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
/// let reader = Source::File(path.into()).open()?;
/// let gauge = reader.gauge();
/// assert_eq!(gauge.progress().link, Link::Waiting);
///
/// let stream = Stream { reader, raw: None, view: None };
/// let until = Until { disconnected: true, ..Until::default() };
/// let options = Options { until, ..Options::default() };
/// let collected = collect(vec![stream], options, &AtomicBool::new(false), &|_, _| {});
/// assert_eq!(gauge.progress().link, Link::Ended);
/// assert_eq!(gauge.progress().received, collected[0].report.received);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Gauge {
    link: AtomicU8,
    received: AtomicU64,
    dropped: AtomicU64,
    events: AtomicU64,
    is_shown: AtomicBool,
}

impl Gauge {
    /// Returns the current counts. The counts are read one after another, so they can be from
    /// different moments.
    pub fn progress(&self) -> Progress {
        // Relaxed ordering is enough, because the counts publish no other data.
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let links = [Link::Waiting, Link::Connected, Link::Ended];
        let link = links.into_iter().find(|link| *link as u8 == self.link.load(Ordering::Relaxed));
        Progress {
            link: link.unwrap_or_default(),
            received: count(&self.received),
            dropped: count(&self.dropped),
            events: self.is_shown.load(Ordering::Relaxed).then(|| count(&self.events)),
        }
    }

    pub(crate) fn set_link(&self, link: Link) {
        self.link.store(link as u8, Ordering::Relaxed);
    }

    /// Counts bytes that arrived; `room` is false if these bytes were dropped.
    pub(crate) fn arrived(&self, bytes: u64, room: bool) {
        self.received.fetch_add(bytes, Ordering::Relaxed);
        if !room {
            self.dropped.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Sets the number of decoded events.
    pub(crate) fn set_events(&self, events: u64) {
        self.events.store(events, Ordering::Relaxed);
        self.is_shown.store(true, Ordering::Relaxed);
    }
}
