//! What a source gives its bytes to: it stamps them with their time and puts them into the buffer.

use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tracewell_wire::arrivals::{Arrival, What};

use super::Notice;
use super::buffer::Buffer;
use super::control::Control;
use super::pace::TICK;

/// Bytes that are asked of a source at a time. No datagram is longer.
pub(super) const PIECE: usize = 1 << 16;

/// The first and the longest time between two attempts to open a source.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Where the bytes of one source go.
pub(super) struct Intake<'a> {
    pub(super) control: &'a Control<'a>,
    pub(super) buffer: &'a Buffer,
    pub(super) tell: &'a (dyn Fn(&Notice<'_>) + Sync),
    pub(super) counts: Counts,
    /// Which of the sources this is.
    source: usize,
    /// When it was about to be asked last, in nanoseconds since the start.
    asked: Cell<u64>,
    /// Set when nothing more is wanted of this source.
    enough: &'a AtomicBool,
    /// Whether the last bytes found no room.
    full: bool,
    retry: Retry,
}

/// What came from a source.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Counts {
    pub(super) received: u64,
    /// How often bytes began to find no room.
    pub(super) overflows: u64,
    pub(super) connections: u64,
    pub(super) restarts: u64,
    /// Datagrams of others, which were left out of a stream.
    pub(super) foreign: u64,
    /// Datagrams that the system had no room for.
    pub(super) unreceived: u64,
}

impl<'a> Intake<'a> {
    pub(super) fn new(
        control: &'a Control<'a>,
        source: usize,
        buffer: &'a Buffer,
        enough: &'a AtomicBool,
        tell: &'a (dyn Fn(&Notice<'_>) + Sync),
    ) -> Self {
        let (counts, retry) = (Counts::default(), Retry { pause: BACK_OFF.0, told: None });
        let asked = Cell::new(0);
        Self { control, buffer, tell, counts, source, asked, enough, full: false, retry }
    }

    /// Whether nothing more is wanted. The source is asked only after that.
    pub(super) fn is_over(&self) -> bool {
        self.asked.set(self.control.since_start());
        self.control.is_over() || self.enough.load(Ordering::Relaxed)
    }

    /// Nothing was there.
    pub(super) fn nothing(&self) {
        self.control.was_silent(self.source, self.asked.get());
    }

    /// Takes bytes that came just now; false where there was no room, and they are counted as dropped.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> bool {
        let time_ns = self.control.arrived(bytes.len());
        self.counts.received += bytes.len() as u64;
        self.retry = Retry { pause: BACK_OFF.0, told: None };
        let room = self.buffer.push(time_ns, bytes);
        if !room && !std::mem::replace(&mut self.full, true) {
            self.counts.overflows += 1;
            (self.tell)(&Notice::Dropping);
        }
        self.full = !room;
        room
    }

    /// Waits until there is room for a read; false where collecting is over before that.
    pub(super) fn wait_for_room(&self) -> bool {
        while !self.is_over() {
            if self.buffer.wait_for_room(PIECE, TICK) {
                return true;
            }
        }
        false
    }

    /// A target is connected, or the source is open.
    pub(super) fn opened(&mut self, what: &str) {
        self.counts.connections += 1;
        self.mark(What::Opened);
        (self.tell)(&Notice::Opened(what));
    }

    /// The connection ended.
    pub(super) fn closed(&mut self, error: Option<&io::Error>, again: bool) {
        self.mark(What::Closed);
        (self.tell)(&Notice::Closed { error, again });
    }

    /// The source begins anew.
    pub(super) fn restarted(&mut self) {
        self.counts.restarts += 1;
        self.mark(What::Restarted);
        (self.tell)(&Notice::Restarted);
    }

    fn mark(&self, what: What) {
        self.buffer.mark(Arrival { time_ns: self.control.now(), bytes: 0, what });
    }

    /// Waits before the next attempt to open the source, longer each time until something comes. An error is
    /// told once.
    pub(super) fn back_off(&mut self, error: Option<&io::Error>) {
        if let Some(error) = error {
            let text = error.to_string();
            if self.retry.told.as_ref() != Some(&text) {
                (self.tell)(&Notice::Trying(error));
                self.retry.told = Some(text);
            }
        }
        let end = Instant::now() + self.retry.pause;
        self.retry.pause = (2 * self.retry.pause).min(BACK_OFF.1);
        while !self.is_over() {
            self.nothing();
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(TICK));
        }
    }
}

/// How attempts to open a source go on.
struct Retry {
    pause: Duration,
    told: Option<String>,
}

/// Whether an error says that nothing came yet.
pub(super) fn is_pause(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}
