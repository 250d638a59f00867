//! A page: one HTML file that shows a trace in a browser, without a server and without the network.
//!
//! | file | purpose |
//! |---|---|
//! | `events` | events as columns, and the limits of a page |
//! | `tracks` | tracks as columns |
//! | `rows` | changes and waits of rows as columns |
//! | `machines` | the tracks of machines and queues as rows |
//! | `servers` | the budgets of servers as rows |
//! | `figures` | the figures of `analyze` as JSON |
//! | `found` | the search in a large trace |
//! | `columns` | the payload: a header and columns, compressed |
//! | `html` | the document: text, style, script and payload |
//! | `served` | the page from a server, for traces of any size |
//! | `stored` | the page of a large trace as bytes, for a cache |
//! | `sha256` | the hash by which a browser recognises the script |
//!
//! The script and the style are in `crates/tracewell/page`.

mod columns;
mod events;
mod figures;
mod found;
mod html;
mod machines;
mod matching;
mod rows;
mod served;
mod servers;
mod sha256;
mod stored;
mod tracks;

use std::io::Write;
use std::ops::Range;

use flate2::Compression;
use serde_json::{Value, json};

use self::columns::Columns;
use self::events::Events;
pub use self::events::{MAX_EVENTS, MAX_TEXT};
use self::figures::OtherFigures;
pub use self::found::{FoundEvents, Search};
pub use self::html::served;
use self::machines::MachineNames;
pub use self::served::{
    AllEvents, FIRST_PARTS, LargePage, Listed, ListedEvents, MAX_LISTED, MAX_PARTS, PARTS,
    ServedBuilder, View,
};
use self::tracks::{Names, Shown};
use super::shown_part::{no_events, shown_range};
use super::{Export, ExportError, ExportNames, Output};
use crate::analysis::scheduling::Wanted;
use crate::analysis::tracks::{MachineTracks, TrackBuilder, Tracks};
use crate::format::Options;
use crate::input::Input;
use crate::model::{
    Batch, Clock, Event, Flow, Loss, LossCause, Processor, Sink, SinkError, Stop, Trace,
};
use crate::select::{Selection, Selector};

/// The export `html`: a timeline with all events in one file.
///
/// ```
/// use tracewell::export::{ExportNames, page};
/// use tracewell::format::Options;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let names = ExportNames { input: "tiny.trx".to_owned(), ..ExportNames::default() };
/// let mut html = Vec::new();
/// page::HTML.write(&mut tracewell::open(path)?, &Options::default(), &names, &mut html)?;
/// assert!(html.starts_with(b"<!doctype html>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub static HTML: Export = Export {
    name: "html",
    description: "timeline: one self-contained page for a browser",
    extension: Some("html"),
    options: &[],
    output: Output::File(write),
};

/// The version of the payload.
const VERSION: u32 = 7;

fn write(
    input: &mut Input,
    options: &Options,
    names: &ExportNames,
    out: &mut dyn Write,
) -> Result<Trace, ExportError> {
    options.check(&[])?;
    // A state can depend on events from before the selection.
    let selection = input.take_selection();
    if selection.tail.is_some() {
        let message = "a page cannot be limited to the last events: use --from and --to";
        return Err(ExportError::NotPossible(message.to_owned()));
    }
    let mut page = PageBuilder::new(selection.clone());
    let mut trace =
        if selection.has_names() { input.read_named(&mut page)? } else { input.read(&mut page)? };
    let payload = page.payload(&trace, &names.input)?;
    html::write(&names.input, &payload, out).map_err(ExportError::Write)?;
    selection.remark(&mut trace);
    Ok(trace)
}

/// Returns the facts of the trace. Numbers of ticks are strings, because they may need 64 bits.
fn header(trace: &Trace, title: &str, range: &Range<u64>, left_out: u64, more_waits: u64) -> Value {
    let losses = trace.losses.iter().map(|(cause, count)| {
        json!({
            "cause": cause.as_str(),
            "gaps": count.gaps,
            "events": count.events,
            "unknown": count.unknown,
        })
    });
    let facts = trace.facts.iter().map(|fact| json!([fact.name, fact.value.to_string()]));
    let objects = trace.objects.iter().filter(|(_, object)| !object.name.is_empty());
    let objects = objects.map(|(_, object)| json!([object.key.to_string(), object.label]));
    let needed = match trace.processor {
        Processor::Switches => None,
        Processor::Recorders { needed } => Some(needed),
    };
    json!({
        "version": VERSION,
        "title": title,
        "format": trace.format,
        "events": trace.events,
        "span": trace.span.to_string(),
        "from": range.start.to_string(),
        "until": range.end.to_string(),
        // Nanoseconds from 1970 to the first event. A page with several traces uses this time to
        // align them.
        "start": trace.wall_clock_ns(0).map(|ns| ns.to_string()),
        "rates": rates(&trace.clock),
        "facts": facts.collect::<Value>(),
        "texts": trace.texts,
        // Keys and names. A search for the key of an object finds events that name the object.
        "objects": objects.collect::<Value>(),
        "losses": losses.collect::<Value>(),
        "causes": LossCause::ALL.map(LossCause::as_str),
        "cpus": trace.cpus,
        "needed": needed,
        "largerIsUrgent": trace.larger_is_urgent,
        "leftOut": left_out,
        "moreWaits": more_waits,
    })
}

/// Returns the rates of the clock, each as four strings. The first two are the ticks and the
/// nanoseconds at which the rate begins to apply. The other two are a number of ticks, and the
/// seconds that these ticks take.
fn rates(clock: &Clock) -> Value {
    let rate = |ticks: u64, ns: u64, rate: crate::model::Rate| {
        let (count, seconds) = rate.ratio();
        json!([ticks.to_string(), ns.to_string(), count.to_string(), seconds.to_string()])
    };
    if clock.changes.is_empty() {
        return clock.rate.iter().map(|constant| rate(0, 0, *constant)).collect();
    }
    clock.changes.iter().map(|change| rate(change.ticks, change.nanoseconds, change.rate)).collect()
}

/// Collects the tracks and the figures of all events, and the selected events.
struct PageBuilder {
    selection: Selection,
    selector: Selector,
    tracks: TrackBuilder,
    figures: OtherFigures,
    events: Events,
}

impl PageBuilder {
    /// Returns the payload of the page. `trace` is the trace as it is after the last event. Fails
    /// if no event was selected.
    fn payload(self, trace: &Trace, title: &str) -> Result<Vec<u8>, ExportError> {
        let Self { tracks, figures, events, selection, .. } = self;
        let Some(ticks) = events.ticks else { return Err(no_events(&selection, trace)) };
        // Complete the tracks first, because the figures of machines refer to them.
        let tracks = tracks.finish(trace);
        let range = shown_range(trace, ticks, &selection);
        let mut columns = Columns::default();
        let (figures, machines) =
            figures.finish(trace, &tracks.figures).map_err(ExportError::Write)?;
        let tracks = with_machines(tracks, machines);
        let left_out = tracks.left_out;
        let mut header = header(trace, title, &range, left_out, tracks.figures.more_waits);
        let names = Names::new(trace, &tracks, &tracks.figures, &events);
        let states = machines::span_states(&tracks);
        let machines = MachineNames::new(trace, &tracks, &states, &tracks.servers);
        let shown = Shown {
            tracks: &tracks,
            names: &names,
            machines: &machines,
            range: &range,
            // The page contains all changes. Only the server thins them out.
            resolution: 0,
        };
        header["rows"] = shown.put(&mut columns);
        header["reasons"] = names.reasons;
        columns.bytes(figures::COLUMN, figures);
        header["contexts"] = events.contexts(trace);
        header["kinds"] = events.finish(trace, &mut columns);
        columns.payload(header, Compression::default()).map_err(ExportError::Write)
    }

    fn new(selection: Selection) -> Self {
        let wanted = Wanted { waits: true, ..Wanted::default() };
        Self {
            selector: Selector::new(selection.clone()),
            selection,
            tracks: TrackBuilder::with_figures(wanted).without_machines(),
            figures: OtherFigures::default(),
            events: Events::default(),
        }
    }
}

/// Adds the tracks of machines, levels, spans and messages to the others.
fn with_machines(mut tracks: Tracks, machines: MachineTracks) -> Tracks {
    let MachineTracks { levels, machines, mut messages, spans, left_out, .. } = machines;
    tracks.arrows.append(&mut messages);
    tracks.left_out += left_out;
    (tracks.levels, tracks.machines, tracks.spans) = (levels, machines, spans);
    tracks
}

impl Sink for PageBuilder {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        Stop::on_error(self.selection.check(trace).map_err(SinkError::not_possible))?;
        self.tracks.events(trace, batch)?;
        self.figures.events(trace, batch)?;
        self.events.note(trace, batch);
        for row in batch.events() {
            let event = Event::new(trace, &row);
            if self.selector.takes(event)? {
                Stop::on_error(self.events.push(event).map_err(SinkError::not_possible))?;
            }
        }
        Flow::Continue(())
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.tracks.loss(trace, loss)?;
        self.figures.loss(trace, loss)
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.selection.check(trace).map_err(SinkError::not_possible)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a trace into a page that is nearly full.
    fn refused(events: Events) -> String {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
        let mut page = PageBuilder { events, ..PageBuilder::new(Selection::default()) };
        let error = crate::open(path).unwrap().read(&mut page).unwrap_err();
        ExportError::from(error).to_string()
    }

    #[test]
    fn a_page_that_would_be_too_large_is_an_error_that_names_the_way_out() {
        let full = Events::filled(MAX_EVENTS - 1, 0);
        assert_eq!(
            refused(full),
            "a page has at most 2000000 events: select fewer with --from and --to"
        );
        let message = refused(Events::filled(0, MAX_TEXT));
        assert!(
            message.starts_with("a page has at most 268435456 bytes of arguments"),
            "{message}"
        );
    }
}
