//! The addresses that follow the secret in a path, and the answers to requests for them.
//!
//! | address | answer |
//! |---|---|
//! | `` (empty) | the page |
//! | `api/v1/page` | the payload of the page, in the form of `tracewell::export::page` |
//! | `api/v1/view` | the payload of a view, for a trace that is too large for one payload |
//! | `api/v1/trace` | progress of reading; facts of the trace as `info --json` prints them |
//! | `api/v1/events` | events as `events` prints them |
//! | `api/v1/search` | numbers and times of the events that match a query |
//! | `api/v1/analysis` | figures as `analyze --json` prints them |
//! | `api/v1/live` | a stream of progress |
//! | `api/v1/marks` | the marks of the user; PUT replaces them |
//!
//! If the server shows several traces, all addresses except the page and `live` have the parameter
//! `file`: the number of the trace, from 0.

use std::io;
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use tracewell::analysis::scheduling::Wanted;
use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::export::page::{self, FoundEvents, ListedEvents, Search, View};
use tracewell::input::{Input, InputError};
use tracewell::model::{Batch, Columns, Flow, Loss, Sink, SinkError, Stop, Trace};
use tracewell::report::analyses::{self, Analyses};
use tracewell::report::document::DocumentWriter;
use tracewell::select::{Ranged, Selection};

use super::content::Content;
use super::http::{self, CONFLICT, FAILED, Limits, NOT_FOUND, Request, Response};
use super::marks::{self, MarkError, MarkFile, Marks};
use super::query::{Query, bad};
use super::server::Answer;
use super::shown::Shown;

/// Maximum number of events in one answer.
const MAX_EVENTS: u64 = 100_000;

/// Number of events in an answer if the request has no `limit`.
const EVENTS: u64 = 1000;

/// Time after which a stream of progress sends a comment, to detect a closed connection.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Answers the requests for all traces.
pub(super) struct Routes {
    shown: Arc<Shown>,
    /// The marks of each trace.
    marks: Vec<MarkFile>,
    /// The figures of each trace that were requested last.
    known: Vec<Mutex<Option<KnownFigures>>>,
    /// The lock is held while a request reads the trace for its events, so that only one such
    /// request at a time reads it.
    reading: Mutex<()>,
    /// The same for figures. Figures of a whole trace take long, and events do not wait for them.
    analysing: Mutex<()>,
}

/// The figures of a whole trace as JSON.
struct KnownFigures {
    edition: u64,
    /// Number of the worst waits that they contain.
    worst: u64,
    figures: Arc<Vec<u8>>,
}

impl Answer for Routes {
    fn answer(
        &self,
        path: &str,
        request: &Request,
        stream: &TcpStream,
        limits: &Limits,
    ) -> io::Result<()> {
        if path == "api/v1/live" {
            return match Query::parse(&request.query, &[]) {
                Ok(_) => self.live(stream, limits),
                Err(refusal) => refusal.write(stream, limits),
            };
        }
        if let Some(body) = &request.body {
            let response = if path == "api/v1/marks" {
                let body = http::read_body(stream, body, marks::MAX_BYTES, limits);
                body.and_then(|body| self.put_marks(&request.query, body))
            } else {
                Err(http::wrong_method())
            };
            return response.unwrap_or_else(|refusal| refusal).write(stream, limits);
        }
        let response = self.respond(path, &request.query, stream).unwrap_or_else(|refusal| refusal);
        response.write(stream, limits)
    }
}

impl Routes {
    /// Returns the routes. The marks file of a trace is next to the trace's first file.
    pub(super) fn new(shown: Arc<Shown>) -> Self {
        let marks = shown.all.iter().map(|content| MarkFile::of(content.traces.first())).collect();
        let known = shown.all.iter().map(|_| Mutex::default()).collect();
        Self { shown, marks, known, reading: Mutex::default(), analysing: Mutex::default() }
    }

    /// Returns the parameters of a request, and the trace that it names.
    fn parse(&self, query: &str, known: &[&str]) -> Result<Asked<'_>, Response> {
        let last = self.shown.all.len() - 1;
        let query = if last == 0 {
            Query::parse(query, known)?
        } else {
            Query::parse(query, &[known, &["file"]].concat())?
        };
        let file = query.number("file", 0, last as u64)? as usize;
        let (content, marks, known) = (&self.shown.all[file], &self.marks[file], &self.known[file]);
        Ok(Asked { query, content, marks, known })
    }

    /// Returns the addresses that the page requests for its first picture. They must equal those in
    /// `main.js`, or the browser requests them twice.
    fn early(&self) -> Vec<String> {
        let first = "api/v1/page?first=1";
        let others = (1..self.shown.all.len()).map(|file| format!("{first}&file={file}"));
        ["api/v1/trace".to_owned(), first.to_owned()].into_iter().chain(others).collect()
    }

    fn respond(&self, path: &str, query: &str, stream: &TcpStream) -> Result<Response, Response> {
        let asked = |known: &[&str]| self.parse(query, known);
        match path {
            "" => {
                Query::parse(query, &[])?;
                let (html, policy) = page::served();
                Ok(Response::page(html.to_vec(), policy, self.early()))
            }
            "api/v1/page" => {
                let Asked { query, content, .. } = asked(&["first", "so_far", "parts"])?;
                let flag = |name| Ok::<_, Response>(query.number(name, 0, 1)? == 1);
                let parts = query.number("parts", page::FIRST_PARTS, page::MAX_PARTS)?;
                let page = match (flag("first")?, flag("so_far")?) {
                    (true, _) => content.first_page(),
                    (_, true) => content.page_so_far(parts),
                    _ => content.page(),
                };
                let (page, edition) = page.map_err(|error| Response::error(FAILED, error))?;
                Ok(Response::new("application/octet-stream", page).of_edition(edition))
            }
            "api/v1/view" => self.view(&asked(&["from", "to", "parts", "window", "events"])?),
            "api/v1/trace" => {
                let mut trace = asked(&[])?.content.trace();
                trace["files"] = self.shown.titles().into();
                trace["editions"] = self.shown.editions().into();
                Ok(Response::json(trace.to_string().into_bytes()))
            }
            "api/v1/marks" => with_marks(asked(&[])?.marks.read()),
            "api/v1/events" => self.events(&asked(&["from", "to", "after", "limit", "where"])?),
            "api/v1/search" => {
                self.search(&asked(&["q", "after", "before", "limit", "count"])?, stream)
            }
            "api/v1/analysis" => self.analysis(&asked(&["from", "to", "worst"])?, stream),
            _ => Err(Response::error(NOT_FOUND, "no such address; docs/viewing.md lists them")),
        }
    }

    /// Replaces the marks with the body of a request. `was` is the version that the client has
    /// read.
    fn put_marks(&self, query: &str, body: Vec<u8>) -> Result<Response, Response> {
        let Asked { query, marks, .. } = self.parse(query, &["was"])?;
        query.get("was").ok_or_else(|| bad("expected a parameter was: the ETag of the marks"))?;
        with_marks(marks.write(body, query.number("was", 0, u64::MAX)?))
    }

    /// Reads the trace into a sink for one request, while it holds a lock.
    fn read(
        &self,
        content: &Content,
        lock: &Mutex<()>,
        read: impl FnOnce(&mut Input) -> Result<Trace, InputError>,
    ) -> Result<Trace, Response> {
        let _one = lock.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = content.traces.open();
        let mut input = opened.map_err(|error| Response::error(FAILED, error.message()))?;
        read(&mut input).map_err(|error| match error {
            InputError::Sink(SinkError::NotPossible(message)) => bad(message.to_string()),
            error => Response::error(FAILED, error.to_string()),
        })
    }

    /// Answers with the payload of a view. With `events=1`, the view contains the events of the
    /// range.
    fn view(&self, asked: &Asked<'_>) -> Result<Response, Response> {
        let Asked { query, content, .. } = asked;
        let whole = || bad("api/v1/page returns the whole trace");
        if !content.has_views() {
            return Err(whole());
        }
        let from = query.number("from", 0, u64::MAX)?;
        let to = query.number("to", u64::MAX, u64::MAX)?;
        let range = from..to.max(from);
        let parts = query.number("parts", page::PARTS, page::MAX_PARTS)?;
        let window = query.number("window", 0, u64::MAX)?;
        let mut listed = None;
        if query.number("events", 0, 1)? == 1 {
            let mut events = ListedEvents::new(range.clone());
            let trace = self.read(content, &self.reading, |input| input.read(&mut events))?;
            listed = Some(events.finish(&trace));
        }
        let view = content.view(View { range: Some(range), parts, window, listed });
        let view = view.map_err(|error| Response::error(FAILED, error.to_string()))?;
        let (view, edition) = view.ok_or_else(whole)?;
        Ok(Response::new("application/octet-stream", view).of_edition(edition))
    }

    /// Answers with the events of a range, one JSON object per line. The answer contains at most
    /// `limit` events and at most `limit` losses. If losses are left out, the last line states
    /// their number.
    fn events(&self, asked: &Asked<'_>) -> Result<Response, Response> {
        let Asked { query, content, .. } = asked;
        let limit = query.number("limit", EVENTS, MAX_EVENTS)?;
        let selection = Selection { head: Some(limit), ..query.selection()? };
        let lines = EventWriter::new(Vec::new(), EventFormat::JsonLines, selection);
        let mut after = After::new(FewLosses::new(lines, limit), query)?;
        self.read(content, &self.reading, |input| input.read(&mut after))?;
        let FewLosses { sink, left_out, .. } = after.sink;
        let lines = sink.into_inner();
        let mut lines = lines.map_err(|error| Response::error(FAILED, error.to_string()))?;
        if left_out > 0 {
            lines.extend_from_slice(
                format!("{}\n", json!({ "losses_left_out": left_out })).as_bytes(),
            );
        }
        Ok(Response::new("application/jsonl", lines))
    }

    /// Answers with the numbers and times of the events that match a query.
    fn search(&self, asked: &Asked<'_>, stream: &TcpStream) -> Result<Response, Response> {
        let Asked { query, content, .. } = asked;
        let text = query.get("q").filter(|text| !text.is_empty());
        let text = text.ok_or_else(|| bad("expected a parameter q with the text to find"))?;
        let number = |name| query.number(name, 0, u64::MAX);
        let search = Search {
            first: query.get("after").map_or(Ok(0), |_| Ok(number("after")?.saturating_add(1)))?,
            before: query.get("before").map(|_| number("before")).transpose()?,
            limit: query.number("limit", EVENTS, MAX_EVENTS)? as usize,
            count: query.number("count", 0, 1)? == 1,
        };
        let mut found = WhileOpen { sink: FoundEvents::new(text, search), stream: Some(stream) };
        self.read(content, &self.reading, |input| input.read(&mut found))?;
        Ok(Response::json(found.sink.json().to_string().into_bytes()))
    }

    /// Answers with the figures of a range. The server keeps the answer about the worst waits of
    /// the whole trace, which the page of a large trace requests.
    fn analysis(&self, asked: &Asked<'_>, stream: &TcpStream) -> Result<Response, Response> {
        let Asked { query, content, known, .. } = asked;
        let worst = query.get("worst").map(|_| query.number("worst", 0, MAX_EVENTS)).transpose()?;
        let selection = query.selection()?;
        let (true, Some(worst)) = (selection.is_all(), worst) else {
            return Ok(Response::json(self.figures(content, selection, worst, Some(stream))?));
        };
        // Another request for the same figures waits for this one.
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let edition = content.progress().edition;
        let is_same = |known: &&KnownFigures| (known.edition, known.worst) == (edition, worst);
        let figures = match known.as_ref().filter(is_same) {
            Some(known) => Arc::clone(&known.figures),
            None => {
                let figures = Arc::new(self.figures(content, selection, Some(worst), None)?);
                let own = Arc::clone(&figures);
                *known = Some(KnownFigures { edition, worst, figures: own });
                figures
            }
        };
        Ok(Response::json(figures).of_edition(edition))
    }

    /// Returns the figures of a range as JSON. If `worst` is present, they contain only that number
    /// of the worst waits, and also the worst missed deadlines and the bars of histograms. Stops if
    /// the client closes `stream`.
    fn figures(
        &self,
        content: &Content,
        selection: Selection,
        worst: Option<u64>,
        stream: Option<&TcpStream>,
    ) -> Result<Vec<u8>, Response> {
        let wanted = Wanted {
            waits: true,
            worst_waits: worst.map(|worst| worst as usize),
            worst_misses: worst.map(|worst| worst as usize),
            places: worst.is_some(),
            distributions: true,
            ..Wanted::default()
        };
        let figures = Analyses::new(wanted);
        let lock = &self.analysing;
        let (figures, trace) = if selection.is_all() {
            let mut sink = WhileOpen { sink: figures, stream };
            let trace = self.read(content, lock, |input| input.read(&mut sink))?;
            (sink.sink, trace)
        } else {
            let mut sink = WhileOpen { sink: Ranged::new(figures, selection), stream };
            let trace = self.read(content, lock, |input| input.read(&mut sink))?;
            (sink.sink.into_inner(), trace)
        };
        let mut document = DocumentWriter::new(Vec::new(), analyses::SCHEMA);
        let name = content.traces.name();
        let written = figures.write_json(&trace, &name, None, &mut document);
        let json = written.and_then(|()| document.end());
        json.map_err(|error| Response::error(FAILED, error.to_string()))
    }

    /// Streams the progress of reading until the client closes the connection.
    fn live(&self, stream: &TcpStream, limits: &Limits) -> io::Result<()> {
        http::write_within(stream, http::stream_head().as_bytes(), limits)?;
        let mut last = None;
        loop {
            let event = match self.shown.wait(last, HEARTBEAT) {
                Some((number, progress)) => {
                    last = Some(number);
                    format!("data: {progress}\n\n")
                }
                // Send a comment, which clients ignore.
                None => ":\n\n".to_owned(),
            };
            http::write_within(stream, event.as_bytes(), limits)?;
        }
    }
}

/// A request for one trace: its parameters, and the trace.
struct Asked<'a> {
    query: Query,
    content: &'a Content,
    marks: &'a MarkFile,
    known: &'a Mutex<Option<KnownFigures>>,
}

/// Returns the response with the marks, or the error response.
fn with_marks(marks: Result<Marks, MarkError>) -> Result<Response, Response> {
    match marks {
        Ok(Marks { content, version }) => {
            let kind = "text/plain; charset=utf-8";
            Ok(Response::new(kind, content.into_bytes()).of_edition(version))
        }
        Err(MarkError::Content(message)) => Err(bad(message)),
        Err(MarkError::Changed(message)) => Err(Response::error(CONFLICT, message)),
        Err(MarkError::File(message)) => Err(Response::error(FAILED, message)),
    }
}

/// A sink that passes on only the events after a given event. The parameter `after` of a request
/// contains the number of this event.
struct After<S> {
    sink: S,
    /// Number of the first event to pass on.
    first: u64,
    columns: Columns,
}

impl<S: Sink> After<S> {
    fn new(sink: S, query: &Query) -> Result<Self, Response> {
        let after = query.get("after").map(|_| query.number("after", 0, u64::MAX)).transpose()?;
        let first = after.map_or(0, |after| after.saturating_add(1));
        Ok(Self { sink, first, columns: Columns::default() })
    }
}

impl<S: Sink> Sink for After<S> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        let skipped = self.first.saturating_sub(batch.first);
        match usize::try_from(skipped).unwrap_or(usize::MAX) {
            0 => self.sink.events(trace, batch),
            skipped if skipped >= batch.len() => Flow::Continue(()),
            skipped => {
                let rest = batch.part(skipped..batch.len(), &mut self.columns);
                self.sink.events(trace, &rest)
            }
        }
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        if trace.events >= self.first { self.sink.loss(trace, loss) } else { Flow::Continue(()) }
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.sink.finish(trace)
    }
}

/// Passes everything on until the client closes its connection. Then it ends the reading, because
/// nothing needs the answer: a page gives up a search when the user changes the text.
struct WhileOpen<'a, S> {
    sink: S,
    /// `None` if the answer is needed in any case.
    stream: Option<&'a TcpStream>,
}

impl<S: Sink> Sink for WhileOpen<'_, S> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        if self.stream.is_some_and(http::is_closed) {
            // A client can close only its own side and still read. It must not get a part as the
            // whole answer, so it gets an error.
            let message = "the client closed its side of the connection before the answer";
            return Flow::Break(Stop::Failed(Box::new(SinkError::NotPossible(message.into()))));
        }
        self.sink.events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.sink.loss(trace, loss)
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.sink.finish(trace)
    }
}

/// Passes on events, and a limited number of losses: a damaged trace can contain millions of losses
/// without an event between them.
struct FewLosses<S> {
    sink: S,
    /// Number of further losses to pass on.
    room: u64,
    left_out: u64,
}

impl<S: Sink> FewLosses<S> {
    fn new(sink: S, limit: u64) -> Self {
        Self { sink, room: limit, left_out: 0 }
    }
}

impl<S: Sink> Sink for FewLosses<S> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.sink.events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        let Some(room) = self.room.checked_sub(1) else {
            self.left_out += 1;
            return Flow::Continue(());
        };
        self.room = room;
        self.sink.loss(trace, loss)
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.sink.finish(trace)
    }
}
