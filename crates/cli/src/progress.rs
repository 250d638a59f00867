//! One line of progress on a terminal, for work that takes long.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use tracewell::model::{Batch, Flow, Loss, Sink, Trace};

/// Nothing is shown before this.
const PATIENCE: Duration = Duration::from_millis(500);

/// Time between two updates.
const INTERVAL: Duration = Duration::from_millis(100);

/// Passes events on to a sink and shows how far the input has been read.
pub(crate) struct Progress<'a> {
    sink: &'a mut dyn Sink,
    size: Option<u64>,
    bytes: u64,
    next: Option<Instant>,
    shown: bool,
}

impl<'a> Progress<'a> {
    /// Puts a progress line before a sink; `size` is that of the input, where it is known. Without
    /// a terminal on standard error nothing is shown.
    pub(crate) fn new(sink: &'a mut dyn Sink, size: Option<u64>) -> Self {
        let next = std::io::stderr().is_terminal().then(|| Instant::now() + PATIENCE);
        Self { sink, size, bytes: 0, next, shown: false }
    }

    fn show(&mut self, events: u64) {
        let Some(next) = self.next else { return };
        let now = Instant::now();
        if now < next {
            return;
        }
        self.next = Some(now + INTERVAL);
        self.shown = true;
        let share = match self.size {
            Some(size) if size > 0 => format!("{:3} %, ", (100 * self.bytes / size).min(100)),
            _ => String::new(),
        };
        // A progress line that cannot be shown is not missed.
        let _ = write!(std::io::stderr(), "\r{share}{events} events\x1b[K");
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

impl Sink for Progress<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        let first = batch.records.offset(0);
        self.bytes += batch.records.offset(batch.len()).saturating_sub(first);
        self.show(trace.events);
        self.sink.events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.sink.loss(trace, loss)
    }
}
