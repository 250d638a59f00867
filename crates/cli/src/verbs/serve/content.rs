//! The trace that the server shows. A thread reads it, and reads it again when its files change.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use tracewell::export::page::{LargePage, MAX_EVENTS, ServedBuilder};
use tracewell::format::FORMATS;
use tracewell::input::{Advance, Input, Settings, paths};
use tracewell::model::{Batch, Flow, Loss, Sink, Trace};
use tracewell::report::document::DocumentWriter;
use tracewell::report::info::{self, Census};
use tracewell::text::shown_path;

use super::progress::{Changes, Progress};
use crate::args::InputArgs;
use crate::config::Configs;
use crate::outcome::{Failure, Outcome, report_diagnostics};

/// The files of the command line, and how to read them.
#[derive(Debug)]
pub(super) struct Traces {
    files: Vec<PathBuf>,
    settings: Settings,
}

/// Path of each file, its size and its modification time; `None` for a file that does not exist.
type Version = Vec<(PathBuf, Option<(u64, Option<SystemTime>)>)>;

impl Traces {
    pub(super) fn new(files: &[PathBuf], args: &InputArgs) -> Result<Self, Failure> {
        let settings = args.configured(args.settings()?, files, &mut Configs::default())?;
        Ok(Self { files: files.to_vec(), settings })
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
    /// The page from which requests get views, if the trace is too large for one payload.
    large: Option<Arc<LargePage>>,
    /// The document of `info --json`.
    info: Option<Value>,
    outcome: Option<Outcome>,
}

/// The trace while the server runs.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) traces: Traces,
    /// True if the server shows other traces, too.
    is_one_of_several: bool,
    state: Mutex<State>,
    changed: Condvar,
    changes: Arc<Changes>,
}

/// Minimum time from the end of one reading to the start of the next.
const MIN_INTERVAL: Duration = Duration::from_millis(500);

/// Minimum length of the pause after a reading, as a multiple of the reading's duration. With 4,
/// the server spends at most one fifth of the time on reading a growing trace.
const MIN_PAUSE: u32 = 4;

/// Time between two reports of progress.
const PROGRESS: Duration = Duration::from_millis(200);

impl Content {
    /// Returns a trace that has not been read. It counts its changes in `changes`.
    pub(super) fn new(traces: Traces, is_one_of_several: bool, changes: Arc<Changes>) -> Self {
        let progress = Progress { reading: true, ..Progress::default() };
        let state = Mutex::new(State { progress, ..State::default() });
        Self { traces, is_one_of_several, state, changed: Condvar::new(), changes }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
        self.changes.count();
    }

    /// Returns the payload of the page and its edition. Waits until the trace has been read for the
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

    /// Returns the views of a trace that is too large for one payload, and their edition.
    pub(super) fn large(&self) -> Option<(Arc<LargePage>, u64)> {
        let state = self.state();
        state.large.clone().map(|large| (large, state.progress.edition))
    }

    /// Returns the progress of reading, and as `info` the facts of the trace.
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

    /// Reads the trace, and again each time it has changed, until the process ends.
    pub(super) fn read(self: &Arc<Self>, verbose: bool) {
        let _ended = Ended(self);
        let mut first = true;
        loop {
            let start = Instant::now();
            let version = self.traces.version();
            let changes_unseen = match self.read_once(first && verbose, first) {
                Ok(in_memory) => in_memory,
                Err(failure) => {
                    let message = failure.message().to_owned();
                    // Report only a failure of the first reading on standard error, because another
                    // program may replace the trace often.
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
            first = false;
            thread::sleep(MIN_INTERVAL.max(start.elapsed() * MIN_PAUSE));
            while !changes_unseen && self.traces.version() == version {
                thread::sleep(MIN_INTERVAL);
            }
        }
    }

    /// Reads the trace once. Returns true if the trace can change while its file keeps its size and
    /// modification time.
    fn read_once(self: &Arc<Self>, verbose: bool, report: bool) -> Result<bool, Failure> {
        let mut input = self.traces.open()?;
        let size = input.size();
        let in_memory = self.traces.is_in_memory();
        let watcher = Arc::clone(self);
        let mut next = Instant::now();
        input.watch(move |advance| {
            if Instant::now() < next {
                return;
            }
            next = Instant::now() + PROGRESS;
            watcher.change(|state| {
                (state.progress.advance, state.progress.size) = (advance, size);
            });
        });
        let mut sinks = Sinks::default();
        let trace = input.read(&mut sinks)?;
        if report {
            let outcome = report_diagnostics(input.path(), &trace, verbose);
            self.state().outcome = Some(outcome);
        }
        let name = self.traces.name();
        let mut document = DocumentWriter::new(Vec::new(), info::SCHEMA);
        let document =
            document.trace(&name, &sinks.census.summary(&trace)).and_then(|()| document.end());
        let info = document.map(|bytes| serde_json::from_slice(&bytes).unwrap_or(Value::Null));
        let events = trace.events;
        let finished = sinks.page.finish(trace, &self.traces.title());
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
            state.info = info.ok();
            // The page loads the payload of each new edition, so an equal payload keeps its
            // edition.
            if state.page.as_deref() != Some(&page) {
                state.page = Some(Arc::new(page));
                state.large = large.map(Arc::new);
                state.progress.edition += 1;
            }
        });
        Ok(in_memory)
    }
}

/// Reports a failure when the thread that reads the trace ends, which happens only on a panic.
struct Ended<'a>(&'a Content);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.change(|state| {
            state.progress.reading = false;
            state.progress.failure =
                Some("the reader failed: standard error has its message".to_owned());
        });
    }
}

/// The sinks that collect all data of the page in one pass.
#[derive(Default)]
struct Sinks {
    page: ServedBuilder,
    census: Census,
}

impl Sink for Sinks {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.census.events(trace, batch)?;
        self.page.events(trace, batch)
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
    fn a_request_for_the_page_ends_when_the_reader_panics() {
        let traces = Traces { files: Vec::new(), settings: Settings::default() };
        let content = Arc::new(Content::new(traces, false, Arc::default()));
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
