//! The content that the server shows for a trace, and the requests that wait for content.
//!
//! | file | purpose |
//! |---|---|
//! | `beginning` | the first events of a large trace, which are shown at once |
//! | `reading` | the thread that reads the trace, and reads it again when its files change |
//! | `stored` | the summary of a large trace in the cache |

mod beginning;
mod reading;
mod stored;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tracewell::export::page::{FIRST_PARTS, LargePage, View};

use super::cache::Cache;
use super::progress::{Changes, Progress};
use super::traces::Traces;
use crate::outcome::Outcome;

/// The state of the trace: progress, content, failure.
#[derive(Debug, Default)]
struct State {
    progress: Progress,
    /// The payload of the page.
    page: Option<Arc<Vec<u8>>>,
    /// The page that makes views for requests, if the trace is too large for one payload.
    large: Option<Arc<LargePage>>,
    /// A page of the first events, shown until more events have been read. While the payload of a
    /// completely read trace is being made, a page of all its events.
    beginning: Option<Arc<LargePage>>,
    /// A page of all events, if the payload is so long that a page first shows a view.
    brief: Option<Arc<LargePage>>,
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

/// The payload of a view, and its edition. If the trace has been read completely, or its events so
/// far have no view, `Err` contains the requested view, so that the caller can use it again.
type SoFar = Result<(Vec<u8>, u64), View>;

/// The content that the server shows: the trace and its views.
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

impl Content {
    /// Returns a trace that has not been read. The trace counts its changes in `changes`. If it is
    /// large, it stores its summary in `cache`.
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
    /// contains the events so far. If the payload is a view, it is divided into `parts`.
    ///
    /// # Errors
    /// Returns the message of the failure if the trace cannot be shown.
    pub(super) fn page_so_far(&self, parts: u64) -> Result<(Arc<Vec<u8>>, u64), String> {
        let view = match self.view_so_far(View { parts, ..View::default() }) {
            Ok((payload, edition)) => return Ok((Arc::new(payload), edition)),
            Err(view) => view,
        };
        let large = if parts == FIRST_PARTS { None } else { self.state().large.clone() };
        match large.map(|_| self.view(view)) {
            Some(Ok(Some((payload, edition)))) => Ok((Arc::new(payload), edition)),
            Some(Err(error)) => Err(error.to_string()),
            None | Some(Ok(None)) => self.page(),
        }
    }

    /// Returns the payload for the first picture of a page, and its edition. Like
    /// [`Self::page_so_far`], but if the payload of the whole trace is long, returns a view, with
    /// the number of the previous edition. So the page then loads the whole trace.
    ///
    /// # Errors
    /// Returns the message of the failure if the trace cannot be shown.
    pub(super) fn first_page(&self) -> Result<(Arc<Vec<u8>>, u64), String> {
        let brief = {
            let state = self.state();
            state.brief.clone().map(|brief| (brief, state.progress.edition.saturating_sub(1)))
        };
        match brief.map(|(brief, edition)| (brief.view(&View::default()), edition)) {
            Some((Ok(payload), edition)) => Ok((Arc::new(payload), edition)),
            Some((Err(_), _)) | None => self.page_so_far(FIRST_PARTS),
        }
    }

    /// Returns true if views of parts of the trace exist, or may be requested because the trace is
    /// being read for the first time.
    pub(super) fn has_views(&self) -> bool {
        let state = self.state();
        let has_pages = state.large.is_some() || state.brief.is_some();
        has_pages || state.page.is_none() && !self.is_one_of_several
    }

    /// Returns the payload of a view, and its edition. Returns `None` if the trace has no views,
    /// because it fits into one payload.
    ///
    /// # Errors
    /// Returns an error if the file of the summary is found to be damaged a second time.
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
            let large = state.large.as_ref().or(state.brief.as_ref());
            large.map(|large| (Arc::clone(large), state.progress.edition))
        };
        large.map(|(large, edition)| Ok((large.view(view)?, edition))).transpose()
    }

    /// Returns a view of the beginning of the trace, or asks the reading thread for a view of the
    /// events so far.
    fn view_so_far(&self, view: View) -> SoFar {
        let (answer, answered) = sync_channel(1);
        {
            let mut state = self.state();
            let is_read = state.page.is_some() || !state.progress.reading;
            if is_read {
                return Err(view);
            }
            if let Some(beginning) = state.beginning.clone() {
                state.shows_part |= view.range.is_none();
                let edition = state.progress.edition;
                drop(state);
                return beginning.view(&view).map(|payload| (payload, edition)).map_err(|_| view);
            }
            state.waiting.push(Waiting { view, answer });
            self.is_asked.store(true, Ordering::Release);
        }
        answered.recv().unwrap_or_else(|_| Err(View::default()))
    }

    /// Shows the beginning of the trace, and answers the waiting requests with it. Otherwise they
    /// would wait for the first batch of the whole trace.
    fn show_beginning(&self, beginning: Arc<LargePage>) {
        self.state().beginning = Some(Arc::clone(&beginning));
        self.answer(|view| beginning.view(view).ok());
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
            // Sending fails only if the requesting thread has ended.
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
}
