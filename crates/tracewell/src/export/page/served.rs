//! The page from a server: the whole trace as in one file, or views of a trace that is too large
//! for one.

use std::ops::Range;

use flate2::Compression;
use serde_json::json;

use super::columns::Columns;
use super::events::{Events, TooLarge};
use super::figures::{self, OtherFigures};
use super::header;
use super::tracks::Shown;
use crate::analysis::summary::{Summary, SummaryBuilder};
use crate::analysis::tracks::MachineTracks;
use crate::export::ExportError;
use crate::model::{Batch, Event, Flow, Loss, Processor, Sink, SinkError, Stop, Trace};
use crate::select::{Bound, Selection, Selector};

/// Number of parts into which the first view of a large trace is divided.
pub const PARTS: u64 = 4000;

/// Maximum number of parts of a view.
pub const MAX_PARTS: u64 = 100_000;

/// Maximum number of events that a view lists.
pub const MAX_LISTED: u64 = 50_000;

/// A sink that collects the data of a served page.
///
/// ```
/// use tracewell::export::page::ServedBuilder;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let mut builder = ServedBuilder::default();
/// let trace = tracewell::open(path)?.read(&mut builder)?;
/// let (payload, large) = builder.finish(trace, "tiny.trx")?;
/// assert!(!payload.is_empty() && large.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct ServedBuilder {
    summary: SummaryBuilder,
    figures: OtherFigures,
    events: Events,
    /// True if the page cannot list all events.
    is_large: bool,
    compression: Compression,
}

impl ServedBuilder {
    /// Returns a builder whose payloads are not compressed, for pages that read the trace on the
    /// same computer.
    pub fn uncompressed() -> Self {
        Self { compression: Compression::none(), ..Self::default() }
    }

    /// Returns the payload of the page. If the trace has too many events for one page, the payload
    /// shows the whole trace at a low resolution and lists no events. The second value then creates
    /// the payloads of views. `trace` is the trace after the last event.
    ///
    /// # Errors
    /// Returns an error if the trace has no events.
    pub fn finish(
        self,
        trace: Trace,
        title: &str,
    ) -> Result<(Vec<u8>, Option<LargePage>), ExportError> {
        if trace.events == 0 {
            return Err(ExportError::NotPossible("the trace has no events".to_owned()));
        }
        let span = trace.span;
        let summary = self.summary.finish(&trace);
        let tracks = summary.tracks(0..span, span);
        let figures = self.figures.finish(&trace, &tracks.figures);
        let (figures, machines) = figures.map_err(ExportError::Write)?;
        let (noted, compression) = (self.events, self.compression);
        let title = title.to_owned();
        let page = LargePage { trace, title, summary, machines, figures, noted, compression };
        if self.is_large {
            let payload = page.view(0..span, PARTS, None).map_err(ExportError::Write)?;
            return Ok((payload, Some(page)));
        }
        let payload = page.whole().map_err(ExportError::Write)?;
        Ok((payload, None))
    }
}

impl Sink for ServedBuilder {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.summary.events(trace, batch)?;
        self.figures.events(trace, batch)?;
        for row in batch.events() {
            let event = Event::new(trace, &row);
            self.events.note(event);
            if self.is_large {
                continue;
            }
            if let Err(error) = self.events.push(event) {
                Stop::on_error(too_large(trace, error))?;
                self.is_large = true;
                self.events.forget();
            }
        }
        Flow::Continue(())
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.summary.loss(trace, loss)?;
        self.figures.loss(trace, loss)
    }
}

/// Returns an error if the trace shows no states, because its page could only list events.
fn too_large(trace: &Trace, error: TooLarge) -> Result<(), SinkError> {
    match trace.processor {
        Processor::Switches => Ok(()),
        Processor::Recorders { .. } => Err(SinkError::not_possible(error)),
    }
}

/// The page of a trace with too many events for one payload.
#[derive(Debug)]
pub struct LargePage {
    trace: Trace,
    title: String,
    summary: Summary,
    machines: MachineTracks,
    /// The figures of the whole trace, as JSON.
    figures: Vec<u8>,
    /// The facts about all events that the page needs, without a list of the events.
    noted: Events,
    compression: Compression,
}

impl LargePage {
    fn whole(self) -> std::io::Result<Vec<u8>> {
        let Self { trace, title, summary, machines, figures, noted, compression } = self;
        let range = 0..trace.span;
        let tracks = summary.tracks(range.clone(), 0);
        let mut columns = Columns::default();
        columns.bytes(figures::COLUMN, figures);
        let shown = Shown { tracks: &tracks, machines: &machines, range: &range, resolution: 0 };
        let (rows, reasons) = shown.put(&trace, &noted, &mut columns);
        let mut header = header(&trace, &tracks, &machines, &title, &range);
        header["rows"] = rows;
        header["reasons"] = reasons;
        header["contexts"] = noted.contexts(&trace);
        header["kinds"] = noted.finish(&trace, &mut columns);
        columns.payload(header, compression)
    }

    /// Returns the payload of a view: a range of ticks, divided into this number of parts. States
    /// that are shorter than a part are combined with their neighbours. A range that ends before it
    /// begins is taken as the tick at which it begins. `listed` has the events of the range.
    ///
    /// # Errors
    /// Returns an error if the compression fails.
    pub fn view(
        &self,
        range: Range<u64>,
        parts: u64,
        listed: Option<ListedEvents>,
    ) -> std::io::Result<Vec<u8>> {
        let Self { trace, title, summary, machines, figures, noted, compression } = self;
        let range = range.start..range.end.max(range.start);
        let resolution = (range.end - range.start) / parts.max(1);
        let tracks = summary.tracks(range.clone(), resolution);
        // The sequence numbers of the shown changes give the approximate number of events.
        let shown = tracks.contexts().flat_map(|(_, row)| row.changes());
        let seqs = shown.filter(|change| range.contains(&change.at.ticks)).map(|c| c.at.seq);
        let seqs = seqs.fold(None, |all: Option<(u64, u64)>, seq| {
            let (first, last) = all.unwrap_or((seq, seq));
            Some((first.min(seq), last.max(seq)))
        });
        let about = seqs.map_or(0, |(first, last)| last - first);
        let is_cut = listed.as_ref().is_some_and(|listed| listed.is_cut);
        let mut columns = Columns::default();
        // The page keeps the figures of its first view, which shows the whole trace.
        if range == (0..trace.span) {
            columns.bytes(figures::COLUMN, figures.clone());
        }
        let shown = Shown { tracks: &tracks, machines, range: &range, resolution };
        let (rows, reasons) = shown.put(trace, noted, &mut columns);
        let mut header = header(trace, &tracks, machines, title, &(0..trace.span));
        header["part"] = json!({
            "from": range.start.to_string(),
            "until": range.end.to_string(),
            "resolution": resolution.to_string(),
            "events": if is_cut { about.max(MAX_LISTED + 1) } else { about },
            "most": MAX_LISTED,
            "listed": listed.is_some() && !is_cut,
        });
        header["rows"] = rows;
        header["reasons"] = reasons;
        header["contexts"] = noted.contexts(trace);
        let events = listed.filter(|listed| !listed.is_cut).map(|listed| listed.events);
        header["kinds"] = events.unwrap_or_default().finish(trace, &mut columns);
        columns.payload(header, *compression)
    }

    /// Returns a sink for the events of a range. [`Self::view`] lists them.
    pub fn listed(&self, range: Range<u64>) -> ListedEvents {
        let from = Some(Bound::Ticks(range.start));
        let selection =
            Selection { from, to: Some(Bound::Ticks(range.end)), ..Selection::default() };
        let selector = Selector::new(selection);
        ListedEvents { selector, events: Events::default(), is_cut: false }
    }
}

/// A sink for the events that a view lists, at most [`MAX_LISTED`].
#[derive(Debug)]
pub struct ListedEvents {
    selector: Selector,
    events: Events,
    /// True if the range has more events.
    is_cut: bool,
}

impl Sink for ListedEvents {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for row in batch.events() {
            let event = Event::new(trace, &row);
            if !self.selector.takes(event)? {
                continue;
            }
            if self.events.count == MAX_LISTED || self.events.push(event).is_err() {
                self.is_cut = true;
                return Flow::Break(Stop::Complete);
            }
        }
        Flow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::events::MAX_EVENTS;
    use super::*;

    /// Reads a trace into a page that is nearly full.
    fn large(path: &str) -> Result<(Vec<u8>, Option<LargePage>), ExportError> {
        let events = Events::filled(MAX_EVENTS - 1, 0);
        let mut builder = ServedBuilder { events, ..ServedBuilder::default() };
        let path = format!("{}/tests/fixtures/{path}", env!("CARGO_MANIFEST_DIR"));
        let trace = crate::open(path).unwrap().read(&mut builder).map_err(ExportError::from)?;
        builder.finish(trace, "large")
    }

    #[test]
    fn a_large_trace_has_views_with_and_without_events() {
        let (payload, page) = large("threadx/tiny.trx").unwrap();
        let page = page.expect("the page is too large for one payload");
        assert_eq!(payload, page.view(0..page.trace.span, PARTS, None).unwrap());
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
        let range = 0..page.trace.span / 2;
        let mut listed = page.listed(range.clone());
        crate::open(path).unwrap().read(&mut listed).unwrap();
        assert!(listed.events.count > 10 && listed.events.count < page.trace.events);
        assert!(page.view(range, 10, Some(listed)).unwrap().len() > 100);
        // A range that ends before it begins is a tick.
        let from = page.trace.span / 2;
        assert_eq!(page.view(from..0, 10, None).unwrap(), page.view(from..from, 10, None).unwrap());
    }

    #[test]
    fn a_large_trace_without_states_is_refused() {
        let message = large("rkh/ahsm-a.bin").unwrap_err().to_string();
        assert!(message.starts_with("a page has at most 2000000 events"), "{message}");
    }
}
