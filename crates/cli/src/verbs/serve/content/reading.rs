//! The thread that reads a trace, and reads it again when its files change. While it reads the
//! trace for the first time, it answers requests for views of the events so far.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tracewell::export::ExportError;
use tracewell::export::page::{MAX_EVENTS, ServedBuilder, View};
use tracewell::input::Advance;
use tracewell::model::{Batch, Flow, Loss, Sink, Trace};
use tracewell::report::document::DocumentWriter;
use tracewell::report::info::{self, Census};
use tracewell::text::shown_path;

use super::super::cache::{Draft, Key};
use super::{Content, State, beginning};
use crate::outcome::{Failure, report_diagnostics};

/// Minimum time from the end of one reading to the start of the next reading.
const MIN_INTERVAL: Duration = Duration::from_millis(500);

/// Minimum length of the pause after a reading, as a multiple of the reading's duration. With 4,
/// the server spends at most one fifth of its time on reading a growing trace.
const MIN_PAUSE: u32 = 4;

/// Time between two reports of progress.
const PROGRESS: Duration = Duration::from_millis(200);

/// Time after which requests are answered with the events so far, if the trace is still being read
/// for the first time. Most traces have been read completely by then, so their pages always show
/// the whole trace.
const PATIENCE: Duration = Duration::from_millis(100);

/// Minimum number of events with which requests are answered during the first reading. With fewer
/// events, the page would be almost empty, and reading this many takes only a few milliseconds.
const MIN_SHOWN: u64 = 1 << 14;

/// Maximum number of events in a payload that a page loads at once. For longer payloads, the page
/// first draws a view.
const MAX_SHORT: u64 = 1 << 16;

/// Minimum time between two editions of the page while the trace is being read. During a long
/// reading, the minimum is the time that has elapsed since the reading began, divided by
/// [`EDITION_SHARE`]. So pages load fewer editions.
const MIN_EDITION: Duration = Duration::from_secs(1);
const EDITION_SHARE: u32 = 4;

impl Content {
    /// Reads the trace now, and again after each change, until the process ends.
    pub(in super::super) fn read(self: &Arc<Self>, verbose: bool) {
        let _ended = Ended(self);
        let (mut first, mut was_damaged) = (true, false);
        loop {
            let start = Instant::now();
            let version = self.traces.version();
            let is_damaged = self.is_damaged.load(Ordering::Acquire) && !was_damaged;
            was_damaged |= is_damaged;
            let key = if first || is_damaged { self.key() } else { None };
            let is_stored = key.as_ref().is_some_and(|key| self.show_stored(key, verbose));
            let read = || self.read_once(first && verbose, first, key.as_ref());
            let changes_unseen = match if is_stored { Ok(false) } else { read() } {
                Ok(in_memory) => in_memory,
                Err(failure) => {
                    let message = failure.message().to_owned();
                    // Report a failure on standard error only for the first reading. If another
                    // program often replaces the trace, many later readings can fail.
                    let outcome = first.then(|| failure.report());
                    self.change(|state| {
                        state.progress.reading = false;
                        state.outcome = outcome.or(state.outcome);
                        // The page keeps its content, and shows the failure until a later reading
                        // succeeds.
                        state.progress.failure = Some(message);
                    });
                    false
                }
            };
            self.answer(|_| None);
            first = false;
            let is_current = || was_damaged || !self.is_damaged.load(Ordering::Acquire);
            let ended = Instant::now();
            let pause = MIN_INTERVAL.max((ended - start) * MIN_PAUSE);
            while is_current() && ended.elapsed() < pause {
                thread::sleep(MIN_INTERVAL);
            }
            while is_current() && !changes_unseen && self.traces.version() == version {
                thread::sleep(MIN_INTERVAL);
            }
        }
    }

    /// Reads the trace once. If this is the first time, reports its diagnostics. If the trace has a
    /// `key` in the cache, stores its summary there. Returns true if the content can change
    /// although the size and modification time of the file do not.
    fn read_once(
        self: &Arc<Self>,
        verbose: bool,
        is_first: bool,
        key: Option<&Key>,
    ) -> Result<bool, Failure> {
        let mut input = self.traces.open()?;
        let size = input.size();
        let in_memory = self.traces.is_in_memory();
        let watcher = Arc::clone(self);
        let begun = Instant::now();
        let title = self.traces.title();
        let is_large = beginning::is_of_large(size, || self.traces.stored_size());
        if is_first && is_large && !self.is_one_of_several {
            let beginning = beginning::read(&mut input, &title, beginning::EVENTS);
            beginning.into_iter().for_each(|page| self.show_beginning(Arc::new(page)));
        }
        self.seems_large.store(false, Ordering::Relaxed);
        let (mut next, mut next_edition) = (begun + PROGRESS / 4, begun);
        input.watch(move |advance| {
            let now = Instant::now();
            if now < next {
                return;
            }
            next = now + PROGRESS;
            watcher.seems_large.store(seems_large(advance, size), Ordering::Relaxed);
            watcher.change(|state| {
                (state.progress.advance, state.progress.size) = (advance, size);
                state.beginning.take_if(|_| advance.events > beginning::EVENTS as u64);
                if state.shows_part && now >= next_edition {
                    state.progress.edition += 1;
                    next_edition = now + MIN_EDITION.max((now - begun) / EDITION_SHARE);
                }
            });
        });
        let (mut page, census) = (ServedBuilder::default(), Census::default());
        let draft = self.cache.as_ref().zip(key).map(|(cache, key)| Arc::new(cache.draft(key)));
        let of_cache = draft.clone();
        page.spill_to(move || of_cache.map_or_else(|| Draft::unnamed().open(), |of| of.open()));
        let mut sinks = Sinks { page, census, content: self, title: &title, begun };
        let trace = input.read(&mut sinks)?;
        if is_first {
            let outcome = report_diagnostics(input.path(), &trace.diagnostics, verbose);
            self.state().outcome = Some(outcome);
        }
        let name = self.traces.name();
        let mut document = DocumentWriter::new(Vec::new(), info::SCHEMA);
        let document =
            document.trace(&name, &sinks.census.summary(&trace)).and_then(|()| document.end());
        let info = document.map(|bytes| serde_json::from_slice(&bytes).unwrap_or(Value::Null));
        let events = trace.events;
        let failed = |error| Failure::export(input.path(), error);
        let (page, all) = sinks.page.views(&trace, &title).map_err(failed)?;
        if all.is_none() && self.is_one_of_several {
            return Err(Failure::usage(format!(
                "{}: each of several files may have at most {MAX_EVENTS} events, found {events}; \
                 show this file alone, or a part of it that convert --from --to writes",
                shown_path(input.path()),
            )));
        }
        let page = Arc::new(page);
        let (is_large, is_long) = (all.is_none(), events > MAX_SHORT);
        let payload = match all {
            None => page.view(&View::default()).map_err(ExportError::Write),
            Some(all) => {
                // Making a long payload takes up to a second.
                if is_long {
                    self.show_beginning(Arc::clone(&page));
                }
                page.whole(&trace, all)
            }
        };
        let payload = payload.map_err(failed)?;
        let page = (is_large || is_long).then_some(page);
        let (large, brief) = if is_large { (page, None) } else { (None, page) };
        self.change(|state| {
            let State { progress, .. } = state;
            progress.reading = false;
            progress.advance = Advance { events, ..progress.advance };
            progress.failure = None;
            (state.shows_part, state.beginning) = (false, None);
            state.info = info.ok();
            // The page loads the payload of each new edition, so an unchanged payload keeps its
            // edition.
            if state.page.as_deref() != Some(&payload) {
                state.page = Some(Arc::new(payload));
                (state.large, state.brief) = (large, brief);
                state.progress.edition += 1;
            }
        });
        if let (Some(key), Some(draft), false) = (key, draft, in_memory) {
            self.store(key, trace.diagnostics, &draft);
        }
        Ok(in_memory)
    }
}

/// Reports a failure when the reading thread ends. The thread ends only if it panics.
struct Ended<'a>(&'a Content);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.change(|state| {
            state.progress.reading = false;
            state.progress.failure =
                Some("the reader failed: see its message on standard error".to_owned());
        });
        self.0.answer(|_| None);
    }
}

/// Returns true if a trace probably contains far more events than one payload can contain.
/// `advance` contains the numbers of bytes and events that have been read, and `size` is the number
/// of all bytes.
fn seems_large(advance: Advance, size: Option<u64>) -> bool {
    let Advance { events, bytes } = advance;
    let Some(size) = size.filter(|_| bytes > 0 && events >= MAX_EVENTS / 100) else { return false };
    u128::from(events) * u128::from(size) / u128::from(bytes) > 2 * u128::from(MAX_EVENTS)
}

/// The sinks that collect all data of the page in one pass. They answer requests from the events
/// that have been read so far.
struct Sinks<'a> {
    page: ServedBuilder,
    census: Census,
    content: &'a Content,
    title: &'a str,
    begun: Instant,
}

impl Sink for Sinks<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.census.events(trace, batch)?;
        self.page.events(trace, batch)?;
        let Self { page, content, title, begun, .. } = self;
        if content.seems_large.load(Ordering::Relaxed) {
            page.use_views();
        }
        let is_asked = content.is_asked.load(Ordering::Acquire);
        if is_asked && trace.events >= MIN_SHOWN && begun.elapsed() >= PATIENCE {
            content.answer(|view| page.so_far(trace, title, view).ok().flatten());
        }
        Flow::Continue(())
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.census.loss(trace, loss)?;
        self.page.loss(trace, loss)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::traces::Traces;
    use super::*;
    use crate::args::InputArgs;

    #[test]
    fn the_first_events_show_that_a_trace_is_large() {
        let seems = |events, bytes, size| seems_large(Advance { events, bytes }, size);
        assert!(seems(100_000, 3_200_000, Some(320_000_000)));
        assert!(!seems(100_000, 3_200_000, Some(100_000_000)), "3 million events");
        assert!(!seems(10, 320, Some(u64::MAX)), "too few events to judge");
        assert!(!seems(100_000, 3_200_000, None) && !seems(100_000, 0, Some(5)));
    }

    #[test]
    fn one_of_several_files_shows_its_events_so_far_but_no_views() {
        let traces = Traces::new(&[], &[], &InputArgs::default()).unwrap();
        let content = Arc::new(Content::new(traces, true, None, Arc::default()));
        let waiting = Arc::clone(&content);
        let request = thread::spawn(move || waiting.first_page());
        while content.state().waiting.is_empty() {
            thread::yield_now();
        }
        assert!(!content.has_views());
        content.answer(|view| view.range.is_none().then(|| b"so far".to_vec()));
        let (payload, edition) = request.join().unwrap().unwrap();
        assert_eq!((payload.as_slice(), edition), (b"so far".as_slice(), 0));
        assert!(content.state().shows_part, "the page gets a new edition when more has been read");
    }

    #[test]
    fn a_request_for_the_page_ends_when_the_reader_panics() {
        let traces = Traces::new(&[], &[], &InputArgs::default()).unwrap();
        let content = Arc::new(Content::new(traces, false, None, Arc::default()));
        let reader = Arc::clone(&content);
        let waiting = Arc::clone(&content);
        let request = thread::spawn(move || waiting.page());
        let read = thread::spawn(move || {
            let _ended = Ended(&reader);
            panic!("a test of a panic");
        });
        assert!(read.join().is_err());
        assert!(request.join().unwrap().unwrap_err().contains("the reader failed"));
        assert_eq!(content.trace()["reading"], false);
    }
}
