//! The page from a server: the whole trace, as in a file, or views of a trace that is too large for
//! a file.

use std::fs::File;
use std::io;
use std::ops::Range;

use flate2::Compression;
use serde_json::{Value, json};

use super::columns::Columns;
use super::events::Events;
use super::machines::MachineNames;
use super::tracks::{Names, Shown, recorded};
use super::{figures, header};
use crate::analysis::spans::Spans;
use crate::analysis::summary::{Summary, SummaryBuilder};
use crate::analysis::total::total;
use crate::analysis::tracks::Tracks;
use crate::export::ExportError;
use crate::model::{Batch, Event, Flow, Loss, Sink, Stop, Trace};
use crate::select::{Bound, Selection, Selector};

/// Number of parts into which a view is divided, unless the request states another number.
pub const PARTS: u64 = 2000;

/// Number of parts of the first view of a trace. The page draws this view before it does anything
/// else, so it is no finer than a window of 1920 pixels needs. A page in a wider window then loads
/// a finer view.
pub const FIRST_PARTS: u64 = 840;

/// Maximum number of parts of a view.
pub const MAX_PARTS: u64 = 100_000;

/// Maximum number of events that a view lists.
pub const MAX_LISTED: u64 = 50_000;

/// A view of the events so far can reuse the facts of an earlier view if at most `n / MAX_AGE`
/// events have been read since. `n` is the number of events that the earlier view covered.
const MAX_AGE: u64 = 8;

/// A sink that collects the data of a served page.
///
/// ```
/// use tracewell::export::page::ServedBuilder;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let mut builder = ServedBuilder::default();
/// let trace = tracewell::open(path)?.read(&mut builder)?;
/// let (payload, large) = builder.finish(&trace, "tiny.trx")?;
/// assert!(!payload.is_empty() && large.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct ServedBuilder {
    summary: SummaryBuilder,
    spans: Spans,
    events: Events,
    /// True if the page cannot list all events.
    is_large: bool,
    compression: Compression,
    /// The facts of the latest view of the events so far, and the number of these events.
    so_far: Option<(Facts, u64)>,
}

impl ServedBuilder {
    /// Returns a builder whose payloads are not compressed. Use it if the payload stays on the
    /// computer, because compression would then take more time than it saves.
    pub fn uncompressed() -> Self {
        Self { compression: Compression::none(), ..Self::default() }
    }

    /// Returns a builder for a page that loads views, even if the trace is small.
    pub fn with_views() -> Self {
        Self { is_large: true, ..Self::default() }
    }

    /// Provides a file for the large parts of the summary that most views do not need. When there
    /// are many of these parts, the summary moves them to the file. `opener` returns an empty file
    /// that can be read and written. If the file cannot be opened or written, these parts stay in
    /// memory, and the builder fails when they reach 256 MiB. [`LargePage::store`] completes the
    /// file.
    pub fn spill_to(&mut self, opener: impl FnOnce() -> io::Result<File> + Send + Sync + 'static) {
        self.summary.spill_to(opener);
    }

    /// Stops collecting single events. The page then loads views, like the page of a large trace.
    /// Call this as soon as the trace probably has too many events: collecting the texts of single
    /// events takes most of the reading time.
    pub fn use_views(&mut self) {
        if !self.is_large {
            self.is_large = true;
            self.events.forget();
        }
    }

    /// Returns the payload of the page. If the trace has too many events for one page, the payload
    /// shows the whole trace at a low resolution and lists no events. In this case, also returns a
    /// [`LargePage`], which creates the payloads of views. `trace` is the trace as it is after the
    /// last event.
    ///
    /// # Errors
    /// Returns an error if the trace has no events.
    pub fn finish(
        self,
        trace: &Trace,
        title: &str,
    ) -> Result<(Vec<u8>, Option<LargePage>), ExportError> {
        let (page, events) = self.views(trace, title)?;
        match events {
            None => {
                let payload = page.view(&View::default()).map_err(ExportError::Write)?;
                Ok((payload, Some(page)))
            }
            Some(events) => Ok((page.whole(trace, events)?, None)),
        }
    }

    /// Returns the page that creates the payloads of views. If the trace has few enough events for
    /// one payload, also returns these events, for [`LargePage::whole`]. So a caller can show views
    /// before it makes the payload of the whole trace, which takes much longer. `trace` is the
    /// trace as it is after the last event.
    ///
    /// # Errors
    /// Returns an error if the trace has no events.
    pub fn views(
        self,
        trace: &Trace,
        title: &str,
    ) -> Result<(LargePage, Option<AllEvents>), ExportError> {
        if trace.events == 0 {
            return Err(ExportError::NotPossible("the trace has no events".to_owned()));
        }
        let Self { summary, spans, events, is_large, compression, so_far: _ } = self;
        let summary = summary.finish(trace);
        let facts = Facts::new(trace, title, &summary, spans, &events)?;
        let events = (!is_large).then_some(AllEvents { events, compression });
        Ok((LargePage { facts, summary }, events))
    }

    /// Returns the payload of a view that shows the events so far, as if the trace ended here.
    /// `trace` is the trace as it is after the last of these events. Returns `None` if the trace
    /// has no events yet.
    ///
    /// # Errors
    /// Returns an error if the file of the summary cannot be read.
    pub fn so_far(
        &mut self,
        trace: &Trace,
        title: &str,
        view: &View,
    ) -> Result<Option<Vec<u8>>, ExportError> {
        if trace.events == 0 {
            return Ok(None);
        }
        let Self { summary, spans, events, so_far, .. } = self;
        let payload = summary.so_far(trace, |summary| {
            // A page usually requests several views soon after each other. So reuse recent facts:
            // making them takes most of the time, because they contain copies of all figures.
            let is_recent = |(facts, count): &(Facts, u64)| {
                trace.events - count <= count / MAX_AGE && facts.name_all(trace, summary)
            };
            let (facts, count) = match so_far.take().filter(is_recent) {
                Some(recent) => recent,
                None => {
                    let facts = Facts::new(trace, title, summary, spans.clone(), events)?;
                    (facts, trace.events)
                }
            };
            let payload = facts.view(summary, view);
            *so_far = Some((facts, count));
            payload.map_err(ExportError::Write)
        });
        payload.map(Some)
    }
}

impl Sink for ServedBuilder {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.summary.events(trace, batch)?;
        self.spans.events(trace, batch)?;
        self.events.note(trace, batch);
        for row in batch.events() {
            if self.is_large {
                break;
            }
            if self.events.push(Event::new(trace, &row)).is_err() {
                self.use_views();
            }
        }
        Flow::Continue(())
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.summary.loss(trace, loss)?;
        self.spans.loss(trace, loss)
    }
}

/// All events of a trace, for the payload of the whole trace.
#[derive(Debug)]
pub struct AllEvents {
    events: Events,
    compression: Compression,
}

/// The part of a trace that a payload shows.
#[derive(Clone, Debug)]
pub struct View {
    /// The shown ticks; `None` for the whole trace. A range that ends before it begins stands for
    /// the tick at which it begins.
    pub range: Option<Range<u64>>,
    /// Number of parts into which the range is divided. States that are shorter than a part are
    /// combined with their neighbours.
    pub parts: u64,
    /// Length of a window in ticks. Windows begin at multiples of it. The time of each activity of
    /// a core is exact in each window. 0 if there are no windows.
    pub window: u64,
    /// The events of the range, if the view lists them.
    pub listed: Option<Listed>,
}

impl Default for View {
    /// Returns the first view of a trace: the whole trace without a list of events.
    fn default() -> Self {
        Self { range: None, parts: FIRST_PARTS, window: 0, listed: None }
    }
}

/// Everything that views show besides the summary. It does not depend on the shown range.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Facts {
    /// The members of the header that are the same in all views.
    pub(super) header: Value,
    pub(super) span: u64,
    pub(super) names: Names,
    pub(super) machines: MachineNames,
    /// Number of all things with names; see [`Summary::names`].
    pub(super) named: usize,
    /// The figures of the whole trace, as JSON.
    pub(super) figures: Vec<u8>,
}

impl Facts {
    fn new(
        trace: &Trace,
        title: &str,
        summary: &Summary,
        spans: Spans,
        events: &Events,
    ) -> Result<Self, ExportError> {
        let span = trace.span;
        // The names of the tracks do not depend on the resolution.
        let tracks = summary.tracks(0..span, span).map_err(ExportError::Write)?;
        let own = summary.figures();
        let figures = figures::json(trace, own, summary.machine_figures(), spans);
        let figures = figures.map_err(ExportError::Write)?;
        let names = Names::new(trace, &tracks, own, events);
        let machines = MachineNames::new(trace, &tracks, &summary.span_states(), summary.servers());
        let mut header = header(trace, title, &(0..span), tracks.left_out, own.more_waits);
        header["contexts"] = events.contexts(trace);
        // A part that lists no events cannot show how many there are.
        for (context, count) in summary.recorded() {
            header["contexts"][context.index()]["events"] = count.into();
        }
        header["reasons"] = names.reasons.clone();
        header["inversions"] = names.inversions.len().into();
        Ok(Self { header, span, names, machines, named: summary.names(), figures })
    }

    /// Returns true if the facts contain the names of everything that the summary contains.
    fn name_all(&self, trace: &Trace, summary: &Summary) -> bool {
        let length = |list: &Value| list.as_array().map_or(0, Vec::len);
        let contexts = length(&self.header["contexts"]);
        (contexts, self.named) == (trace.contexts.len(), summary.names())
    }

    /// Returns the payload with the whole trace and all its events.
    fn whole(
        &self,
        trace: &Trace,
        summary: &Summary,
        AllEvents { events, compression }: AllEvents,
    ) -> io::Result<Vec<u8>> {
        let Self { header, span, names, machines, figures, .. } = self;
        let tracks = summary.tracks(0..*span, 0)?;
        let mut columns = Columns::default();
        columns.bytes(figures::COLUMN, figures.clone());
        let mut header = header.clone();
        let shown = Shown { tracks: &tracks, names, machines, range: &(0..*span), resolution: 0 };
        header["rows"] = shown.put(&mut columns);
        header["kinds"] = events.finish(trace, &mut columns);
        columns.payload(header, compression)
    }

    /// Returns the payload of a view. A page waits for each view, and compression would make views
    /// only a seventh smaller, so they are not compressed.
    fn view(&self, summary: &Summary, view: &View) -> io::Result<Vec<u8>> {
        let Self { header, span, names, machines, figures, .. } = self;
        let View { range, parts, window, listed } = view;
        let is_whole = range.as_ref().is_none_or(|range| *range == (0..*span));
        let range = range.clone().unwrap_or(0..*span);
        let range = range.start..range.end.max(range.start);
        // A view with a list of events has few changes, so it contains all of them.
        let is_listed = listed.as_ref().is_some_and(|listed| listed.events.is_some());
        let parted = (range.end - range.start) / (*parts).max(1);
        let resolution = if is_listed { 0 } else { parted };
        let tracks = summary.tracks_in_windows(range.clone(), resolution, *window)?;
        let about = about(&tracks, &range);
        let is_cut = listed.as_ref().is_some_and(|listed| listed.events.is_none());
        let mut columns = Columns::default();
        // The page keeps the figures of its first view, which shows the whole trace.
        if is_whole {
            columns.bytes(figures::COLUMN, figures.clone());
        }
        let mut header = header.clone();
        let shown = Shown { tracks: &tracks, names, machines, range: &range, resolution };
        header["rows"] = shown.put(&mut columns);
        if !is_listed && !tracks.recorded.is_empty() {
            recorded(&tracks, &mut columns);
        }
        header["part"] = json!({
            "from": range.start.to_string(),
            "until": range.end.to_string(),
            "resolution": resolution.to_string(),
            "window": window.to_string(),
            "events": if is_cut { about.max(MAX_LISTED + 1) } else { about },
            "most": MAX_LISTED,
            "listed": listed.is_some() && !is_cut,
            // Number of the inversions that begin before the end of the range.
            "inversions": names.inversions_until(range.end),
        });
        let events = listed.as_ref().and_then(|listed| listed.events.clone());
        let (list, kinds) = events.unwrap_or_else(|| {
            let mut none = Columns::default();
            Events::default().put(&mut none);
            (none, json!([]))
        });
        header["kinds"] = kinds;
        columns.append(list);
        columns.payload(header, Compression::none())
    }
}

/// Returns the approximate number of events in a range. If the trace shows states, it is computed
/// from the sequence numbers of the changes in the range.
fn about(tracks: &Tracks, range: &Range<u64>) -> u64 {
    if !tracks.recorded.is_empty() {
        return total(tracks.recorded.iter().map(|recorded| recorded.count));
    }
    let shown = tracks.contexts().flat_map(|(_, row)| row.changes());
    let seqs = shown.filter(|change| range.contains(&change.at.ticks)).map(|c| c.at.seq);
    let seqs = seqs.fold(None, |all: Option<(u64, u64)>, seq| {
        let (first, last) = all.unwrap_or((seq, seq));
        Some((first.min(seq), last.max(seq)))
    });
    seqs.map_or(0, |(first, last)| last - first)
}

/// The page of a trace with too many events for one payload, or of a trace whose page first shows
/// a view because its payload is long.
#[derive(Debug)]
pub struct LargePage {
    pub(super) facts: Facts,
    pub(super) summary: Summary,
}

impl LargePage {
    /// Returns the payload of a view.
    ///
    /// # Errors
    /// Returns an error if the file of the page cannot be read or is damaged.
    pub fn view(&self, view: &View) -> io::Result<Vec<u8>> {
        self.facts.view(&self.summary, view)
    }

    /// Returns the payload with the whole trace and all its events. `events` are those that
    /// [`ServedBuilder::views`] returned with this page, and `trace` is the trace that it received.
    ///
    /// # Errors
    /// Returns an error if the file of the page cannot be read or is damaged.
    pub fn whole(&self, trace: &Trace, events: AllEvents) -> Result<Vec<u8>, ExportError> {
        self.facts.whole(trace, &self.summary, events).map_err(ExportError::Write)
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

/// The events of a range, ready for a [`View`].
#[derive(Clone, Debug)]
pub struct Listed {
    /// The columns of the events, and the member `kinds` of the header. `None` if the range has too
    /// many events.
    events: Option<(Columns, Value)>,
}

impl ListedEvents {
    /// Returns a sink for the events of a range of ticks.
    pub fn new(range: Range<u64>) -> Self {
        let from = Some(Bound::Ticks(range.start));
        let selection =
            Selection { from, to: Some(Bound::Ticks(range.end)), ..Selection::default() };
        let selector = Selector::new(selection);
        Self { selector, events: Events::default(), is_cut: false }
    }

    /// Returns the events. `trace` is the trace as it is after the last event that the sink
    /// received.
    pub fn finish(self, trace: &Trace) -> Listed {
        let listed = || {
            let mut columns = Columns::default();
            let kinds = self.events.finish(trace, &mut columns);
            (columns, kinds)
        };
        Listed { events: (!self.is_cut).then(listed) }
    }
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
pub(super) mod tests {
    use super::super::events::MAX_EVENTS;
    use super::*;

    const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");

    /// Reads a trace into a page that is nearly full.
    pub(in super::super) fn large(path: &str) -> Result<(Vec<u8>, Option<LargePage>), ExportError> {
        let events = Events::filled(MAX_EVENTS - 1, 0);
        let mut builder = ServedBuilder { events, ..ServedBuilder::default() };
        let path = format!("{}/tests/fixtures/{path}", env!("CARGO_MANIFEST_DIR"));
        let trace = crate::open(path).unwrap().read(&mut builder).map_err(ExportError::from)?;
        builder.finish(&trace, "large")
    }

    /// Returns the names of a payload's columns, and the number of their values.
    fn columns(payload: &[u8]) -> Vec<(String, u64)> {
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut flate2::read::ZlibDecoder::new(payload), &mut bytes).unwrap();
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
        let list = header["columns"].as_array().unwrap().iter();
        list.map(|column| {
            (column["name"].as_str().unwrap().to_owned(), column["count"].as_u64().unwrap())
        })
        .collect()
    }

    #[test]
    fn a_large_trace_has_views_with_and_without_events() {
        let (payload, page) = large("threadx/tiny.trx").unwrap();
        let page = page.expect("the page is too large for one payload");
        assert_eq!(payload, page.view(&View::default()).unwrap());
        let range = 0..page.facts.span / 2;
        let mut listed = ListedEvents::new(range.clone());
        let trace = crate::open(TINY).unwrap().read(&mut listed).unwrap();
        assert!(listed.events.count > 10 && listed.events.count < trace.events);
        let listed = Some(listed.finish(&trace));
        let view = View { range: Some(range), parts: 10, listed, ..View::default() };
        // Both views have the same columns, except that only the first contains the figures.
        let part = columns(&page.view(&view).unwrap());
        let figures = ("figures".to_owned(), page.facts.figures.len() as u64);
        let names = |columns: &[(String, u64)]| -> Vec<String> {
            columns.iter().map(|(name, _)| name.clone()).collect()
        };
        let whole = columns(&payload);
        assert_eq!(whole[0], figures);
        assert_eq!(names(&whole[1..]), names(&part));
        let events = |columns: &[(String, u64)]| {
            columns.iter().find(|(name, _)| name == "event.ticks").unwrap().1
        };
        assert_eq!((events(&whole), events(&part) > 10), (0, true));
        // A range that ends before it begins counts as one tick.
        let from = page.facts.span / 2;
        let view =
            |range| page.view(&View { range: Some(range), parts: 10, ..View::default() }).unwrap();
        assert_eq!(view(from..0), view(from..from));
    }

    /// Asks for a view after each event.
    struct Watched(ServedBuilder, Vec<usize>);

    impl Sink for Watched {
        fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
            self.0.events(trace, batch)?;
            let view = self.0.so_far(trace, "tiny", &View::default()).unwrap();
            self.1.extend(view.map(|payload| payload.len()));
            Flow::Continue(())
        }
    }

    #[test]
    fn a_trace_has_views_while_it_is_read_and_they_do_not_change_the_page() {
        let mut watched = Watched(ServedBuilder::default(), Vec::new());
        let trace = crate::open(TINY).unwrap().read(&mut watched).unwrap();
        assert!(watched.1.iter().all(|length| *length > 100) && !watched.1.is_empty());
        let mut builder = ServedBuilder::default();
        crate::open(TINY).unwrap().read(&mut builder).unwrap();
        let payload = |builder: ServedBuilder| builder.finish(&trace, "tiny").unwrap().0;
        assert_eq!(payload(watched.0), payload(builder));
    }

    #[test]
    fn a_large_trace_without_states_has_numbers_of_events_or_lists_them() {
        let (payload, page) = large("rkh/ahsm-a.bin").unwrap();
        let page = page.expect("the page is too large for one payload");
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/rkh/ahsm-a.bin");
        let range = 0..page.facts.span / 3;
        let mut listed = ListedEvents::new(range.clone());
        let trace = crate::open(path).unwrap().read(&mut listed).unwrap();
        let count = |columns: &[(String, u64)], wanted: &str| {
            columns.iter().find(|(name, _)| name == wanted).map_or(0, |(_, count)| *count)
        };
        let whole = columns(&payload);
        assert!(count(&whole, "recorded.count") > 10 && count(&whole, "change.state") > 10);
        let listed = Some(listed.finish(&trace));
        let view = View { range: Some(range), parts: 10, window: 0, listed };
        let part = columns(&page.view(&view).unwrap());
        assert_eq!(count(&part, "recorded.count"), 0);
        assert!(count(&part, "event.ticks") > 10 && count(&part, "change.state") > 10);
        let contexts = page.facts.header["contexts"].as_array().unwrap();
        let events: u64 = contexts.iter().filter_map(|context| context["events"].as_u64()).sum();
        assert_eq!(events, trace.events);
    }
}
