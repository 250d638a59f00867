//! Reads a trace twice: first all events for the tracks, then the selected events one by one.

use std::collections::BTreeSet;
use std::io;
use std::ops::Range;

use crate::analysis::scheduling::{Position, Wanted};
use crate::analysis::tracks::{Row, TrackBuilder, Tracks};
use crate::export::ExportError;
use crate::export::shown_part::{no_events, shown_range};
use crate::input::{Input, InputError};
use crate::model::{Batch, Event, Flow, Loss, Severity, Sink, SinkError, Stop, Trace};
use crate::select::{Selection, Selector};

/// The tracks of a trace, and the part of them to show.
pub(in crate::export) struct Timeline {
    pub(in crate::export) trace: Trace,
    pub(in crate::export) tracks: Tracks,
    /// Ticks to show, both inclusive.
    pub(super) range: Range<u64>,
    /// Ids of the selected events, in ascending order.
    pub(super) ids: BTreeSet<u32>,
    selection: Selection,
}

impl Timeline {
    /// Reads the tracks. Keeps the bytes of a stream in memory, to read its events again.
    pub(in crate::export) fn read(input: &mut Input) -> Result<Self, ExportError> {
        // A state can depend on events before the selection.
        let selection = input.take_selection();
        let selection = input.without_tail(selection)?;
        input.load()?;
        let wanted = Wanted { waits: true, budgets: true, ..Wanted::default() };
        let mut first = First {
            selector: Selector::new(selection.clone()),
            selection: &selection,
            tracks: TrackBuilder::with_figures(wanted),
            ids: BTreeSet::new(),
            last_id: None,
            ticks: None,
        };
        let trace = read(input, &selection, &mut first)?;
        let First { tracks, ids, ticks, .. } = first;
        let Some(ticks) = ticks else { return Err(no_events(&selection, &trace)) };
        let tracks = tracks.finish(&trace);
        let range = shown_range(&trace, ticks, &selection);
        Ok(Self { trace, tracks, range, ids, selection })
    }

    /// Returns the selection of the input, with [`Selection::tail`] replaced by the number of
    /// events to skip.
    pub(in crate::export) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Reads the events again. Calls `each` for each event, and passes true if the event is
    /// selected.
    pub(super) fn each_event(
        &self,
        input: &mut Input,
        each: impl FnMut(Event<'_>, bool) -> io::Result<()>,
    ) -> Result<(), ExportError> {
        let selector = Selector::new(self.selection.clone());
        read(input, &self.selection, &mut Second { selector, each })?;
        Ok(())
    }

    /// For each span of a row within the range: returns beginning, end and state.
    pub(super) fn spans<S: Copy + PartialEq>(
        &self,
        row: &Row<S>,
    ) -> impl Iterator<Item = (Position, Position, S)> {
        let ticks = self.range.start..self.range.end.saturating_add(1);
        row.spans(ticks, self.tracks.span).map(|span| {
            let until = span.until.unwrap_or(Position { ticks: span.end, seq: u64::MAX });
            (self.clipped(span.from), self.clipped(until), span.state)
        })
    }

    /// Returns the state of a row at the beginning of the range, and all changes within the range.
    pub(in crate::export) fn changes<S: Copy + PartialEq>(
        &self,
        row: &Row<S>,
    ) -> impl Iterator<Item = (Position, S)> {
        self.spans(row).map(|(from, _, state)| (from, state))
    }

    /// Clips an interval to the range, and returns its new ends; `None` if the interval is outside
    /// of the range.
    pub(super) fn within(
        &self,
        from: Position,
        until: Option<Position>,
    ) -> Option<(Position, Position)> {
        let until = until.unwrap_or(Position { ticks: self.tracks.span, seq: u64::MAX });
        let overlaps = from.ticks <= self.range.end && until.ticks >= self.range.start;
        overlaps.then(|| (self.clipped(from), self.clipped(until)))
    }

    /// Returns true if a position is in the range.
    pub(super) fn contains(&self, at: Position) -> bool {
        (self.range.start..=self.range.end).contains(&at.ticks)
    }

    fn clipped(&self, at: Position) -> Position {
        match at.ticks {
            ticks if ticks < self.range.start => Position { ticks: self.range.start, seq: 0 },
            ticks if ticks > self.range.end => Position { ticks: self.range.end, seq: u64::MAX },
            _ => at,
        }
    }

    /// Returns the trace, with remarks about data that the output does not show.
    pub(in crate::export) fn into_trace(self) -> Trace {
        let Self { mut trace, tracks, selection, .. } = self;
        selection.remark(&mut trace);
        if tracks.left_out > 0 {
            let message = format!(
                "the timeline lacks {} state changes: select fewer events with --to",
                tracks.left_out
            );
            trace.diagnostics.add(Severity::Warning, None, message);
        }
        trace
    }
}

fn read(
    input: &mut Input,
    selection: &Selection,
    sink: &mut dyn Sink,
) -> Result<Trace, InputError> {
    if selection.has_names() { input.read_named(sink) } else { input.read(sink) }
}

/// Builds the tracks of all events, and stores the ids and the times of the selected events.
struct First<'a> {
    selection: &'a Selection,
    selector: Selector,
    tracks: TrackBuilder,
    ids: BTreeSet<u32>,
    /// The id of the last selected event.
    last_id: Option<u32>,
    ticks: Option<(u64, u64)>,
}

impl Sink for First<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        Stop::on_error(self.selection.check(trace).map_err(SinkError::not_possible))?;
        self.tracks.events(trace, batch)?;
        for row in batch.events() {
            if self.selector.takes(Event::new(trace, &row))? {
                let (first, _) = *self.ticks.get_or_insert((row.ticks, row.ticks));
                self.ticks = Some((first, row.ticks));
                // Neighbouring events often have the same id. Comparing the two ids saves a look-up
                // in the set.
                if self.last_id.replace(row.id) != Some(row.id) {
                    self.ids.insert(row.id);
                }
            }
        }
        Flow::Continue(())
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.tracks.loss(trace, loss)
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.selection.check(trace).map_err(SinkError::not_possible)
    }
}

/// Passes each event to a function.
struct Second<F> {
    selector: Selector,
    each: F,
}

impl<F: FnMut(Event<'_>, bool) -> io::Result<()>> Sink for Second<F> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for row in batch.events() {
            let event = Event::new(trace, &row);
            let is_selected = self.selector.takes(event)?;
            Stop::on_error((self.each)(event, is_selected).map_err(SinkError::Write))?;
        }
        Flow::Continue(())
    }
}
