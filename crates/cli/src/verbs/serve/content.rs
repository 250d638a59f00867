//! The trace that the server shows. A thread reads the trace, and reads it again when its files
//! change.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use tracewell::export::page::{LargePage, MAX_EVENTS, ServedBuilder, View};
use tracewell::format::FORMATS;
use tracewell::input::{Advance, Input, Settings, paths};
use tracewell::model::{Batch, Diagnostics, Flow, Loss, Processor, Severity, Sink, Trace};
use tracewell::report::document::DocumentWriter;
use tracewell::report::info::{self, Census};
use tracewell::text::shown_path;

use super::cache::{Cache, Draft, Key};
use super::progress::{Changes, Progress};
use crate::args::InputArgs;
use crate::config::Configs;
use crate::outcome::{Failure, Outcome, note, report_diagnostics};

/// The files named on the command line, and how to read them.
#[derive(Debug)]
pub(super) struct Traces {
    files: Vec<PathBuf>,
    args: InputArgs,
    settings: Settings,
}

/// The path, size and modification time of each file; `None` for a file that does not exist.
type Version = Vec<(PathBuf, Option<(u64, Option<SystemTime>)>)>;

impl Traces {
    pub(super) fn new(files: &[PathBuf], args: &InputArgs) -> Result<Self, Failure> {
        let settings = args.configured(args.settings()?, files, &mut Configs::default())?;
        Ok(Self { files: files.to_vec(), args: args.clone(), settings })
    }

    /// Returns the path of the first file.
    pub(super) fn first(&self) -> &Path {
        self.files.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// Opens the files.
    pub(super) fn open(&self) -> Result<Input, Failure> {
        Ok(Input::open_run(&self.files, self.settings.clone())?)
    }

    /// Returns the name of the trace in documents.
    pub(super) fn name(&self) -> String {
        match self.files.as_slice() {
            [file] => shown_path(file).to_string(),
            [first, others @ ..] => format!("{} and {} more", shown_path(first), others.len()),
            [] => String::new(),
        }
    }

    /// Returns the title of the page.
    pub(super) fn title(&self) -> String {
        let name = self.first().file_name().map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_else(|| self.name())
    }

    /// Returns true if a file is memory into which a recorder may write.
    fn is_in_memory(&self) -> bool {
        let takes = |file: &PathBuf| {
            let open = fs::File::open(file);
            let mut snapshots = FORMATS.iter().filter_map(|format| format.snapshot);
            open.is_ok_and(|open| snapshots.any(|take| matches!(take(file, &open), Ok(Some(_)))))
        };
        self.files.iter().any(takes)
    }

    /// Returns the key of the trace in the cache. It changes with each file that is read for the
    /// trace, and with the options.
    fn key(&self) -> Option<Key> {
        let InputArgs { format_in, options, custom_events, names, schema, elf, .. } = &self.args;
        let InputArgs { join, no_config, .. } = &self.args;
        let files =
            [custom_events.iter().collect(), Vec::from_iter(names), schema.iter().collect()];
        let files: Vec<Vec<_>> =
            files.map(|files| files.into_iter().map(|path| path.to_str()).collect()).to_vec();
        let elf = elf.as_ref().map(|path| path.to_str());
        let options = json!([format_in, options, files, elf, join, no_config]);
        let others = self.args.inputs(&self.files);
        let all: Vec<_> = self.files.iter().chain(others.paths()).cloned().collect();
        Key::new(&all, self.files.len(), &options)
    }

    fn version(&self) -> Version {
        let of = |file: PathBuf| {
            let metadata = fs::metadata(&file).ok();
            let version = metadata.map(|metadata| (metadata.len(), metadata.modified().ok()));
            (file, version)
        };
        // A trace in a folder gets new files while it grows.
        let files = self.files.iter().flat_map(|file| paths(file, &self.settings));
        files.map(of).collect()
    }
}

/// The state of the trace: progress, content, failure.
#[derive(Debug, Default)]
struct State {
    progress: Progress,
    /// The payload of the page.
    page: Option<Arc<Vec<u8>>>,
    /// The page that makes views for requests, if the trace is too large for one payload.
    large: Option<Arc<LargePage>>,
    /// The document of `info --json`.
    info: Option<Value>,
    outcome: Option<Outcome>,
    /// Requests for views of the events that have been read so far.
    waiting: Vec<Waiting>,
    /// True if a page shows the events so far, and should show more of them later.
    shows_part: bool,
}

/// A request for a view of the events so far, which the reading thread answers.
#[derive(Debug)]
struct Waiting {
    view: View,
    answer: SyncSender<SoFar>,
}

/// The payload of a view, and its edition. If the trace has been read, or has no view of the events
/// so far, the error returns the request to the caller.
type SoFar = Result<(Vec<u8>, u64), View>;

/// The trace while the server runs.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) traces: Traces,
    /// True if the server also shows other traces.
    is_one_of_several: bool,
    cache: Option<Cache>,
    state: Mutex<State>,
    /// True if `waiting` can contain requests.
    is_asked: AtomicBool,
    /// True if the trace being read probably has too many events for one payload.
    seems_large: AtomicBool,
    /// True if the file of the shown summary is damaged, so the trace has to be read.
    is_damaged: AtomicBool,
    changed: Condvar,
    changes: Arc<Changes>,
}

/// Minimum time from the end of one reading to the start of the next reading.
const MIN_INTERVAL: Duration = Duration::from_millis(500);

/// Minimum length of the pause after a reading, as a multiple of the reading's duration. With 4,
/// the server spends at most one fifth of its time on reading a growing trace.
const MIN_PAUSE: u32 = 4;

/// Time between two reports of progress.
const PROGRESS: Duration = Duration::from_millis(200);

/// Time after which requests are answered with the events so far, if the trace is still being read
/// for the first time. Most traces have been read by then, so their page never shows only a part.
const PATIENCE: Duration = Duration::from_millis(100);

/// Minimum time between two editions with the events so far. If reading takes long, the minimum is
/// the time since the reading began, divided by [`EDITION_SHARE`], so that pages load fewer
/// editions.
const MIN_EDITION: Duration = Duration::from_secs(1);
const EDITION_SHARE: u32 = 4;

impl Content {
    /// Returns a trace that has not been read. It counts its changes in `changes`, and stores the
    /// summary of a large trace in `cache`.
    pub(super) fn new(
        traces: Traces,
        is_one_of_several: bool,
        cache: Option<Cache>,
        changes: Arc<Changes>,
    ) -> Self {
        let progress = Progress { reading: true, ..Progress::default() };
        let state = Mutex::new(State { progress, ..State::default() });
        Self {
            traces,
            is_one_of_several,
            cache,
            state,
            is_asked: AtomicBool::new(false),
            seems_large: AtomicBool::new(false),
            is_damaged: AtomicBool::new(false),
            changed: Condvar::new(),
            changes,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
        self.changes.count();
    }

    /// Returns the page's payload and its edition. Waits until the trace has been read for the
    /// first time.
    ///
    /// # Errors
    /// Returns the message of the failure if the trace cannot be shown.
    pub(super) fn page(&self) -> Result<(Arc<Vec<u8>>, u64), String> {
        let unknown = |state: &mut State| state.page.is_none() && state.progress.failure.is_none();
        let state = self.changed.wait_while(self.state(), unknown);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let failure = || state.progress.failure.clone().unwrap_or_default();
        state.page.clone().map(|page| (page, state.progress.edition)).ok_or_else(failure)
    }

    /// Returns the page's payload and its edition. Until the trace has been read, this payload
    /// contains the events so far.
    ///
    /// # Errors
    /// Returns the message of the failure if the trace cannot be shown.
    pub(super) fn page_so_far(&self) -> Result<(Arc<Vec<u8>>, u64), String> {
        match self.view_so_far(View::default()) {
            Ok((payload, edition)) => Ok((Arc::new(payload), edition)),
            Err(_) => self.page(),
        }
    }

    /// Returns true if the trace has views of parts, or is being read for the first time.
    pub(super) fn has_views(&self) -> bool {
        let state = self.state();
        state.large.is_some() || state.page.is_none() && !self.is_one_of_several
    }

    /// Returns the payload of a view, and its edition. Returns `None` if the trace has no views,
    /// because it fits into one payload.
    ///
    /// # Errors
    /// Returns an error if the file of the summary is damaged for the second time.
    pub(super) fn view(&self, view: View) -> io::Result<Option<(Vec<u8>, u64)>> {
        let view = match self.view_so_far(view) {
            Ok(answer) => return Ok(Some(answer)),
            Err(view) => view,
        };
        match self.view_of_large(&view) {
            Err(_) if self.forget() => match self.view_so_far(view) {
                Ok(answer) => Ok(Some(answer)),
                Err(view) => self.view_of_large(&view),
            },
            answer => answer,
        }
    }

    fn view_of_large(&self, view: &View) -> io::Result<Option<(Vec<u8>, u64)>> {
        let large = {
            let state = self.state();
            state.large.clone().map(|large| (large, state.progress.edition))
        };
        large.map(|(large, edition)| Ok((large.view(view)?, edition))).transpose()
    }

    /// Forgets the shown summary, because its file is damaged, and lets the other thread read the
    /// trace again. Returns false if this has happened before.
    fn forget(&self) -> bool {
        if self.is_damaged.swap(true, Ordering::AcqRel) {
            return false;
        }
        if let (Some(cache), Some(key)) = (&self.cache, self.key()) {
            cache.remove(&key);
        }
        self.change(|state| {
            (state.page, state.large) = (None, None);
            state.progress.reading = true;
        });
        true
    }

    /// Asks the reading thread for a view of the events so far.
    fn view_so_far(&self, view: View) -> SoFar {
        let (answer, answered) = sync_channel(1);
        {
            let mut state = self.state();
            let is_read = state.page.is_some() || !state.progress.reading;
            if is_read || self.is_one_of_several {
                return Err(view);
            }
            state.waiting.push(Waiting { view, answer });
            self.is_asked.store(true, Ordering::Release);
        }
        answered.recv().unwrap_or_else(|_| Err(View::default()))
    }

    /// Answers the waiting requests. `show` returns the payload of a view, or `None` if there is
    /// none.
    fn answer(&self, mut show: impl FnMut(&View) -> Option<Vec<u8>>) {
        let waiting = {
            let mut state = self.state();
            self.is_asked.store(false, Ordering::Relaxed);
            std::mem::take(&mut state.waiting)
        };
        for Waiting { view, answer } in waiting {
            let payload = show(&view);
            let mut state = self.state();
            state.shows_part |= payload.is_some() && view.range.is_none();
            // A client that closed its connection does not receive the answer.
            let _ =
                answer.send(payload.map(|payload| (payload, state.progress.edition)).ok_or(view));
        }
    }

    /// Returns the progress of reading, with the facts of the trace under the key `info`.
    pub(super) fn trace(&self) -> Value {
        let state = self.state();
        let mut trace = state.progress.json();
        trace["info"] = state.info.clone().unwrap_or(Value::Null);
        trace
    }

    /// Returns the progress of reading.
    pub(super) fn progress(&self) -> Progress {
        self.state().progress.clone()
    }

    /// Returns the outcome of the last reading.
    pub(super) fn outcome(&self) -> Outcome {
        self.state().outcome.unwrap_or(Outcome::Done)
    }

    /// Reads the trace now, and again after each change, until the process ends.
    pub(super) fn read(self: &Arc<Self>, verbose: bool) {
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
                    // Report a failure on standard error only for the first reading, because
                    // another program may replace the trace often.
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

    /// Returns the key of the trace in the cache, if both exist.
    fn key(&self) -> Option<Key> {
        let is_cached = self.cache.is_some() && !self.is_one_of_several;
        if is_cached { self.traces.key() } else { None }
    }

    /// Shows the summary from the cache, if there is one. Reports the diagnostics that were stored
    /// with it.
    fn show_stored(&self, key: &Key, verbose: bool) -> bool {
        let stored = self.cache.as_ref().and_then(|cache| cache.load(key));
        let Some((facts, large)) = stored else { return false };
        let diagnostics = StoredFacts::diagnostics(&facts);
        let (Some(diagnostics), Ok(page)) = (diagnostics, large.view(&View::default())) else {
            return false;
        };
        let outcome = report_diagnostics(self.traces.first(), &diagnostics, verbose);
        self.change(|state| {
            let number = |name: &str| facts[name].as_u64().unwrap_or(0);
            state.progress.reading = false;
            state.progress.advance = Advance { events: number("events"), bytes: number("bytes") };
            state.progress.size = facts["size"].as_u64();
            state.progress.edition += 1;
            state.info = Some(facts["info"].clone());
            state.outcome = Some(outcome);
            (state.page, state.large) = (Some(Arc::new(page)), Some(Arc::new(large)));
        });
        true
    }

    /// Stores the summary of a trace that was read completely and has not changed since, unless the
    /// cache cannot be used.
    fn store(&self, key: &Key, diagnostics: Diagnostics, draft: &Draft) {
        let (progress, large, info) = {
            let state = self.state();
            (state.progress.clone(), state.large.clone(), state.info.clone())
        };
        // The facts contain all diagnostics or none.
        if diagnostics.more() > 0 || self.key().as_ref() != Some(key) {
            return;
        }
        if let (Some(cache), Some(large)) = (&self.cache, large) {
            let facts = StoredFacts::json(&progress, info, &diagnostics);
            if let Err(error) = cache.store(key, &facts, &large, draft) {
                note!("the summary is not kept for the next start: {error}");
            }
        }
    }

    /// Reads the trace once. If the trace has a `key` in the cache, stores its summary there.
    /// Returns true if the content can change although the size and modification time of the file
    /// do not.
    fn read_once(
        self: &Arc<Self>,
        verbose: bool,
        report: bool,
        key: Option<&Key>,
    ) -> Result<bool, Failure> {
        let mut input = self.traces.open()?;
        let size = input.size();
        let in_memory = self.traces.is_in_memory();
        let watcher = Arc::clone(self);
        let begun = Instant::now();
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
                if state.shows_part && now >= next_edition {
                    state.progress.edition += 1;
                    next_edition = now + MIN_EDITION.max((now - begun) / EDITION_SHARE);
                }
            });
        });
        let title = self.traces.title();
        let (mut page, census) = (ServedBuilder::default(), Census::default());
        let draft = self.cache.as_ref().zip(key).map(|(cache, key)| Arc::new(cache.draft(key)));
        let of_cache = draft.clone();
        page.spill_to(move || of_cache.map_or_else(|| Draft::unnamed().open(), |of| of.open()));
        let mut sinks = Sinks { page, census, content: self, title: &title, begun };
        let trace = input.read(&mut sinks)?;
        if report {
            let outcome = report_diagnostics(input.path(), &trace.diagnostics, verbose);
            self.state().outcome = Some(outcome);
        }
        let name = self.traces.name();
        let mut document = DocumentWriter::new(Vec::new(), info::SCHEMA);
        let document =
            document.trace(&name, &sinks.census.summary(&trace)).and_then(|()| document.end());
        let info = document.map(|bytes| serde_json::from_slice(&bytes).unwrap_or(Value::Null));
        let events = trace.events;
        let finished = sinks.page.finish(&trace, &title);
        let (page, large) = finished.map_err(|error| Failure::export(input.path(), error))?;
        if large.is_some() && self.is_one_of_several {
            return Err(Failure::usage(format!(
                "{}: each of several files may have at most {MAX_EVENTS} events, found {events}",
                shown_path(input.path()),
            )));
        }
        self.change(|state| {
            let State { progress, .. } = state;
            progress.reading = false;
            progress.advance = Advance { events, ..progress.advance };
            progress.failure = None;
            state.shows_part = false;
            state.info = info.ok();
            // The page loads the payload of each new edition, so an unchanged payload keeps its
            // edition.
            if state.page.as_deref() != Some(&page) {
                state.page = Some(Arc::new(page));
                state.large = large.map(Arc::new);
                state.progress.edition += 1;
            }
        });
        if let (Some(key), Some(draft), false) = (key, draft, in_memory) {
            self.store(key, trace.diagnostics, &draft);
        }
        Ok(in_memory)
    }
}

/// The facts about a trace that the cache stores in addition to the page.
struct StoredFacts;

impl StoredFacts {
    fn json(progress: &Progress, info: Option<Value>, diagnostics: &Diagnostics) -> Value {
        let diagnostics = diagnostics.iter().map(|diagnostic| {
            json!([diagnostic.severity.as_str(), diagnostic.offset, diagnostic.message_with_file()])
        });
        json!({
            "events": progress.advance.events,
            "bytes": progress.advance.bytes,
            "size": progress.size,
            "info": info,
            "diagnostics": diagnostics.collect::<Vec<_>>(),
        })
    }

    /// Returns the diagnostics that the facts of a page contain.
    fn diagnostics(facts: &Value) -> Option<Diagnostics> {
        let mut all = Diagnostics::default();
        for stored in facts["diagnostics"].as_array()? {
            let name = stored[0].as_str()?;
            let severity = SEVERITIES.into_iter().find(|severity| severity.as_str() == name)?;
            all.add(severity, stored[1].as_u64(), stored[2].as_str()?);
        }
        Some(all)
    }
}

const SEVERITIES: [Severity; 4] =
    [Severity::Note, Severity::Hint, Severity::Warning, Severity::Damage];

/// Reports a failure when the thread that reads the trace ends, which happens only if it panics.
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

/// The sinks that collect all data of the page in one pass. They answer requests for the events so
/// far.
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
        // Without states, a page has only events, and a large trace is refused.
        let has_states = trace.processor == Processor::Switches;
        if has_states && content.seems_large.load(Ordering::Relaxed) {
            page.use_views();
        }
        if content.is_asked.load(Ordering::Acquire) && begun.elapsed() >= PATIENCE {
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
    use super::*;

    #[test]
    fn the_first_events_show_that_a_trace_is_large() {
        let seems = |events, bytes, size| seems_large(Advance { events, bytes }, size);
        assert!(seems(100_000, 3_200_000, Some(320_000_000)));
        assert!(!seems(100_000, 3_200_000, Some(100_000_000)), "3 million events");
        assert!(!seems(10, 320, Some(u64::MAX)), "too few events to judge");
        assert!(!seems(100_000, 3_200_000, None) && !seems(100_000, 0, Some(5)));
    }

    #[test]
    fn a_request_for_the_page_ends_when_the_reader_panics() {
        let traces =
            Traces { files: Vec::new(), args: InputArgs::default(), settings: Settings::default() };
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
