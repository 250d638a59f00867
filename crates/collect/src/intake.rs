//! The receiving end of a source. It adds arrival times, counts bytes, and fills the buffer.

use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tracewell_wire::arrivals::{Arrival, ArrivalKind};

use crate::Notice;
use crate::buffer::Buffer;
use crate::control::Control;
use crate::gauge::{Gauge, Link};
use crate::pace::TICK;

/// Maximum number of bytes per read. No datagram is longer.
pub(crate) const CHUNK_LEN: usize = 1 << 16;

/// The minimum and maximum time between two attempts to open a source.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// The receiving end of one source.
pub(crate) struct Intake<'a> {
    pub(crate) control: &'a Control<'a>,
    pub(crate) buffer: &'a Buffer,
    pub(crate) tell: &'a (dyn Fn(&Notice<'_>) + Sync),
    pub(crate) counts: Counts,
    /// Index of the source.
    source: usize,
    /// Time of the last read, in nanoseconds since the start.
    asked: Cell<u64>,
    /// The view sets this flag when it needs no more bytes from this source.
    enough: &'a AtomicBool,
    gauge: &'a Gauge,
    /// True if the source pauses between reads and between attempts to open it. Simulations do not
    /// pause.
    pub(crate) pauses: bool,
    /// True if the most recently received bytes were dropped.
    full: bool,
    retry: Retry,
}

/// Counters of a source.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Counts {
    pub(crate) received: u64,
    /// Number of times the buffer became full.
    pub(crate) overflows: u64,
    pub(crate) connections: u64,
    pub(crate) restarts: u64,
    /// Datagrams from other senders, which were ignored.
    pub(crate) foreign: u64,
    /// Datagrams that the system dropped.
    pub(crate) unreceived: u64,
}

impl<'a> Intake<'a> {
    pub(crate) fn new(
        control: &'a Control<'a>,
        source: usize,
        buffer: &'a Buffer,
        enough: &'a AtomicBool,
        gauge: &'a Gauge,
        tell: &'a (dyn Fn(&Notice<'_>) + Sync),
    ) -> Self {
        let (counts, retry) = (Counts::default(), Retry { pause: BACK_OFF.0, reported: None });
        let asked = Cell::new(0);
        let (pauses, full) = (true, false);
        Self { control, buffer, tell, counts, source, asked, enough, gauge, pauses, full, retry }
    }

    /// Returns true if the source should end. Call this before each read, because it also stores
    /// the time.
    pub(crate) fn is_over(&self) -> bool {
        self.asked.set(self.control.since_start());
        self.control.is_over() || self.enough.load(Ordering::Relaxed)
    }

    /// Reports that the last read returned no data.
    pub(crate) fn nothing(&self) {
        self.control.was_silent(self.source, self.asked.get());
    }

    /// Adds bytes that have just arrived. If there is no room, counts them as dropped and returns
    /// false.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> bool {
        let time_ns = self.control.arrived(bytes.len());
        self.counts.received += bytes.len() as u64;
        // The source works, so report its next error, even if it is the same as the last reported
        // error.
        self.retry = Retry { pause: BACK_OFF.0, reported: None };
        let room = self.buffer.push(time_ns, bytes);
        self.gauge.arrived(bytes.len() as u64, room);
        // Report an overflow once, even if it drops the data of many reads.
        if !room && !std::mem::replace(&mut self.full, true) {
            self.counts.overflows += 1;
            (self.tell)(&Notice::Dropping);
        }
        self.full = !room;
        room
    }

    /// Waits until there is room for a read. Returns false if the collection ends first.
    pub(crate) fn wait_for_room(&self) -> bool {
        while !self.is_over() {
            if self.buffer.wait_for_room(CHUNK_LEN, TICK) {
                return true;
            }
        }
        false
    }

    /// Handles a target that has connected, or a source that has been opened. Counts, marks and
    /// reports the connection.
    pub(crate) fn opened(&mut self, what: &str) {
        self.counts.connections += 1;
        self.gauge.set_link(Link::Connected);
        self.mark(ArrivalKind::Opened);
        (self.tell)(&Notice::Opened(what));
    }

    /// Marks and reports the end of a connection.
    pub(crate) fn closed(&mut self, error: Option<&io::Error>, again: bool) {
        self.gauge.set_link(Link::Waiting);
        self.mark(ArrivalKind::Closed);
        (self.tell)(&Notice::Closed { error, again });
    }

    /// Handles a source that starts again from its beginning: counts, marks and reports the
    /// restart.
    pub(crate) fn restarted(&mut self) {
        self.counts.restarts += 1;
        self.mark(ArrivalKind::Restarted);
        (self.tell)(&Notice::Restarted);
    }

    fn mark(&self, kind: ArrivalKind) {
        self.buffer.mark(Arrival { time_ns: self.control.now(), bytes: 0, kind });
    }

    /// Waits before the next attempt to open the source. The wait doubles each time until data
    /// arrives. Reports a repeated error only once.
    pub(crate) fn back_off(&mut self, error: Option<&io::Error>) {
        if let Some(error) = error {
            let text = error.to_string();
            if self.retry.reported.as_ref() != Some(&text) {
                (self.tell)(&Notice::Trying(error));
                self.retry.reported = Some(text);
            }
        }
        if !self.pauses {
            return;
        }
        let end = Instant::now() + self.retry.pause;
        self.retry.pause = (2 * self.retry.pause).min(BACK_OFF.1);
        // Sleep in short intervals, so a signal ends the wait within one tick.
        while !self.is_over() {
            // A source that cannot be opened counts as silent.
            self.nothing();
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(TICK));
        }
    }
}

/// The state of repeated attempts to open a source.
struct Retry {
    pause: Duration,
    /// The last reported error.
    reported: Option<String>,
}

/// Returns true if the error only means that no data is available yet.
pub(crate) fn is_pause(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}
