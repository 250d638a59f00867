//! Passes events to a sink that counts within a range. The sink also receives the events before the
//! range, because they determine the state at its beginning.

use super::selected::Receiver;
use super::{Bound, Selection, Selector};
use crate::model::{Batch, Event, Flow, Loss, Sink, SinkError, Stop, Trace};

/// A sink that counts within a range of time.
pub trait CountsInRange: Sink {
    /// Begins the range at a tick: forgets all figures so far, and keeps the state.
    fn begin(&mut self, trace: &Trace, from: u64);

    /// Ends the range, after the last event and before [`Sink::finish`].
    fn end(&mut self, covered: Covered);
}

/// The part of a trace from which the figures are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Covered {
    /// The first tick of the range.
    pub from: u64,
    /// The first tick after the range; `None` if the range extends to the end of the trace.
    pub until: Option<u64>,
    /// Number of events before the range. These events only determine the state at the beginning of
    /// the range.
    pub before: u64,
    /// Number of events that are within the range but not selected.
    pub not_selected: u64,
}

/// A sink that passes events on to a sink that counts within a range. The selection limits the
/// range by time, and by the numbers of the first and the last event. The other conditions of the
/// selection leave out events within the range.
///
/// A range includes its last tick. So if ranges cover a trace without overlap, each event and each
/// tick belongs to exactly one range.
#[derive(Debug)]
pub struct Ranged<S> {
    selection: Selection,
    /// Decides which events are left out.
    filter: Selector,
    /// Decides which events are in the range.
    range: Selector,
    covered: Covered,
    begun: bool,
    /// Ticks of the previous event, and of the previous event in the range.
    last: u64,
    last_in_range: u64,
    receiver: Receiver<S>,
}

impl<S: CountsInRange> Ranged<S> {
    /// Creates a sink for a selection. [`Selection::tail`] has no effect. To count only the last
    /// events, replace the selection by the result of
    /// [`Input::without_tail`](crate::input::Input::without_tail).
    pub fn new(sink: S, selection: Selection) -> Self {
        // The selection has two parts: the range, and the conditions for single events.
        let range = Selection {
            from: selection.from,
            to: selection.to,
            head: selection.head,
            skip: selection.skip,
            ..Selection::default()
        };
        let filter = Selection {
            from: None,
            to: None,
            head: None,
            tail: None,
            skip: 0,
            ..selection.clone()
        };
        Self {
            begun: selection.from.is_none() && selection.skip == 0,
            selection,
            filter: Selector::new(filter),
            range: Selector::new(range),
            covered: Covered::default(),
            last: 0,
            last_in_range: 0,
            receiver: Receiver::new(sink),
        }
    }

    /// Returns the sink that counts.
    pub fn into_inner(self) -> S {
        self.receiver.sink
    }

    /// Begins the range before an event at `ticks`, unless it has begun.
    fn begin(&mut self, trace: &Trace, ticks: u64) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let is_before = |bound: Bound, tick: u64| bound.is_after(trace, tick);
        self.covered.from = match self.selection.from {
            Some(bound) => first_tick(self.last, ticks, |tick| !is_before(bound, tick)),
            None => ticks,
        };
        self.receiver.sink.begin(trace, self.covered.from);
    }

    /// Ends the range before an event at `ticks`.
    fn end(&mut self, trace: &Trace, ticks: u64) {
        let by_time = self.selection.to.filter(|bound| bound.is_before(trace, ticks));
        let until = match by_time {
            Some(bound) => first_tick(self.last, ticks, |tick| bound.is_before(trace, tick)),
            // The range ends after the tick of its last event.
            None => self.last_in_range.saturating_add(1).min(ticks),
        };
        self.covered.until = Some(until.max(self.covered.from));
    }
}

/// Returns the first tick of `from..=to` for which `is` returns true, or `to` if there is none. If
/// `is` is true for a tick, it must be true for all later ticks.
fn first_tick(from: u64, to: u64, is: impl Fn(u64) -> bool) -> u64 {
    let (mut from, mut to) = (from.min(to), to);
    while from < to {
        let middle = from + (to - from) / 2;
        if is(middle) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    to
}

impl<S: CountsInRange> Sink for Ranged<S> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        Stop::on_error(self.selection.check(trace).map_err(SinkError::not_possible))?;
        let mut start = 0;
        for (row, event) in batch.events().enumerate() {
            let (event, ticks) = (Event::new(trace, &event), event.ticks);
            if !self.filter.takes(event)? {
                self.covered.not_selected += 1;
                // The receiver gets the rows around the excluded one in two pieces.
                self.receiver.pass(trace, batch, start..row)?;
                start = row + 1;
                continue;
            }
            match self.range.takes(event) {
                Flow::Continue(false) => self.covered.before += 1,
                Flow::Continue(true) => {
                    if !self.begun {
                        // The range begins at this row. The earlier rows only determine the state
                        // at the beginning.
                        self.receiver.pass(trace, batch, start..row)?;
                        start = row;
                        self.begin(trace, ticks);
                    }
                    self.last_in_range = ticks;
                }
                Flow::Break(stop) => {
                    self.receiver.pass(trace, batch, start..row)?;
                    // If no event was in the range, the range begins and ends here.
                    self.begin(trace, ticks);
                    self.end(trace, ticks);
                    return Flow::Break(stop);
                }
            }
            self.last = ticks;
        }
        self.receiver.pass(trace, batch, start..batch.len())
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.receiver.sink.loss(trace, loss)
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.receiver.sink.flush()
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.selection.check(trace).map_err(SinkError::not_possible)?;
        // If no event began the range, it begins between the last event and the end of the trace.
        self.begin(trace, trace.span);
        self.receiver.sink.end(self.covered);
        self.receiver.sink.finish(trace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_tick_is_found_between_two_events() {
        assert_eq!(first_tick(10, 20, |tick| tick >= 13), 13);
        assert_eq!(first_tick(10, 20, |tick| tick >= 5), 10);
        assert_eq!(first_tick(10, 20, |_| false), 20);
        assert_eq!(first_tick(30, 20, |_| true), 20);
    }
}
