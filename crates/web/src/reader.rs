//! Reads a trace in memory and answers requests about it, as the server of `serve` does for a file.

use std::fmt::Display;

use serde::Deserialize;
use serde_json::json;
use tracewell::analysis::scheduling::Wanted;
use tracewell::export::list::FormatList;
use tracewell::export::page::{
    FoundEvents, LargePage, ListedEvents, MAX_PARTS, Search, ServedBuilder, View,
};
use tracewell::input::{Advance, Input, Settings};
use tracewell::model::{Severity, Trace};
use tracewell::report::analyses::{self, Analyses};
use tracewell::report::document::DocumentWriter;
use tracewell::select::{Bound, Ranged, Selection};

/// Maximum number of bytes of a trace.
pub const MAX_BYTES: usize = 512 << 20;

/// A request of the page, as JSON.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "lowercase", deny_unknown_fields)]
enum Request {
    /// The formats and their options, as `tracewell formats --json` prints them.
    Formats,
    /// Reads the [loaded](Reader::load) bytes. The answer is the payload of the page.
    Open {
        /// Name of the file, for the title and messages.
        name: String,
        /// Name of the format. If it is absent, the reader recognises the format.
        format: Option<String>,
        /// Options of the format, as `key=value`.
        options: Vec<String>,
    },
    /// The facts of the open trace that the payload does not contain: the name of its format, and
    /// the diagnostics of its decoder.
    Facts,
    /// The payload of a view of a large trace. `from` and `to` are timestamps in ticks, and
    /// `window` is a number of ticks.
    View { from: String, to: String, parts: u64, window: String, events: bool },
    /// The figures of a large trace or of a range, as the server's `api/v1/analysis` returns them.
    /// They contain `worst` waits and as many missed deadlines.
    Analysis { range: Option<[String; 2]>, worst: usize },
    /// The events of a large trace that contain a text, as the server's `api/v1/search` returns
    /// them.
    Search { text: String, after: Option<u64>, before: Option<u64>, limit: usize, count: bool },
}

/// A trace in memory.
///
/// ```
/// use tracewell_web::Reader;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scheduling.trx");
/// let mut reader = Reader::default();
/// reader.load(std::fs::read(path)?);
/// let request = r#"{"ask": "open", "name": "a.trx", "options": ["rate=100MHz"]}"#;
/// let payload = reader.answer(request.as_bytes(), |_| ())?;
/// assert!(payload.len() > 10_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Reader {
    bytes: Vec<u8>,
    input: Option<Input>,
    /// The answer to `facts`: the format and the diagnostics of the open trace, as JSON.
    facts: String,
    large: Option<LargePage>,
}

impl Reader {
    /// Replaces the trace by these bytes. Send `open` before `facts` and `view`.
    pub fn load(&mut self, bytes: Vec<u8>) {
        *self = Self { bytes, ..Self::default() };
    }

    /// Answers a request. The request `open` stores `watch`; other requests ignore it. The reader
    /// calls the stored function after each batch of events that it reads, for this request or a
    /// later one.
    ///
    /// # Errors
    /// Returns a message for the user if the request is not valid or the trace cannot be read.
    pub fn answer(&mut self, request: &[u8], watch: fn(Advance)) -> Result<Vec<u8>, String> {
        let request = serde_json::from_slice(request);
        match request.map_err(|error| format!("not a request of the page: {error}"))? {
            Request::Formats => serde_json::to_vec(&FormatList::new()).map_err(text),
            Request::Open { name, format, options } => self.open(&name, format, &options, watch),
            Request::Facts => Ok(self.facts.clone().into_bytes()),
            Request::View { from, to, parts, window, events } => {
                let range = ticks(&from)?..ticks(&to)?;
                let range = Some(range.start..range.end.max(range.start));
                let (parts, window) = (parts.clamp(1, MAX_PARTS), ticks(&window)?);
                self.view(View { range, parts, window, listed: None }, events)
            }
            Request::Analysis { range, worst } => {
                let bound = |at: usize| -> Result<Option<Bound>, String> {
                    range.as_ref().map(|range| Ok(Bound::Ticks(ticks(&range[at])?))).transpose()
                };
                let selection =
                    Selection { from: bound(0)?, to: bound(1)?, ..Selection::default() };
                self.analysis(selection, worst)
            }
            Request::Search { text, after, before, limit, count } => {
                let first = after.map_or(0, |after| after.saturating_add(1));
                let mut found = FoundEvents::new(&text, Search { first, before, limit, count });
                self.large_input()?.read(&mut found).map_err(self::text)?;
                Ok(found.json().to_string().into_bytes())
            }
        }
    }

    fn open(
        &mut self,
        name: &str,
        format: Option<String>,
        options: &[String],
        watch: fn(Advance),
    ) -> Result<Vec<u8>, String> {
        let mut settings = Settings { format, ..Settings::default() };
        for option in options {
            settings.options.add(option).map_err(text)?;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let mut input = Input::from_bytes(name, bytes, settings).map_err(text)?;
        input.watch(watch);
        // The payload stays on this computer, so compression would cost more time than it saves.
        let mut page = ServedBuilder::uncompressed();
        let trace = input.read(&mut page).map_err(text)?;
        self.facts = facts(&trace);
        let (payload, large) = page.finish(&trace, name).map_err(text)?;
        // Only views read the bytes again.
        self.input = large.is_some().then_some(input);
        self.large = large;
        Ok(payload)
    }

    /// Returns the payload of a view. If `events` is true, the view lists the events of its range.
    fn view(&mut self, view: View, events: bool) -> Result<Vec<u8>, String> {
        let (Some(large), Some(input)) = (&self.large, &mut self.input) else {
            return Err(whole());
        };
        let mut listed = None;
        if let (true, Some(range)) = (events, &view.range) {
            let mut sink = ListedEvents::new(range.clone());
            let trace = input.read(&mut sink).map_err(text)?;
            listed = Some(sink.finish(&trace));
        }
        large.view(&View { listed, ..view }).map_err(text)
    }

    fn analysis(&mut self, selection: Selection, worst: usize) -> Result<Vec<u8>, String> {
        let wanted = Wanted {
            waits: true,
            worst_waits: Some(worst),
            worst_misses: Some(worst),
            places: true,
            distributions: true,
            ..Wanted::default()
        };
        let mut ranged = Ranged::new(Analyses::new(wanted), selection);
        let trace = self.large_input()?.read(&mut ranged).map_err(text)?;
        let mut document = DocumentWriter::new(Vec::new(), analyses::SCHEMA);
        let figures = ranged.into_inner();
        figures.write_json(&trace, "", None, &mut document).map_err(text)?;
        document.end().map_err(text)
    }

    /// Returns the input of a large trace.
    fn large_input(&mut self) -> Result<&mut Input, String> {
        self.input.as_mut().ok_or_else(whole)
    }
}

/// Returns the error for a request that only a large trace needs.
fn whole() -> String {
    "the answer to 'open' already contains the whole trace".to_owned()
}

fn text(error: impl Display) -> String {
    error.to_string()
}

fn ticks(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a number of ticks, found '{text}'"))
}

/// Returns the facts of a trace as JSON. Omits notes, because they describe no fault.
fn facts(trace: &Trace) -> String {
    let shown = trace.diagnostics.iter().filter(|one| one.severity != Severity::Note);
    let diagnostics = shown.map(|one| one.to_string()).collect::<Vec<_>>();
    json!({ "format": trace.format, "diagnostics": diagnostics }).to_string()
}
