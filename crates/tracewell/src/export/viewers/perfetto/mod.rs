//! Perfetto's format: a sequence of protobuf packets.
//!
//! | file | purpose |
//! |---|---|
//! | `proto` | the wire format of Protocol Buffers |
//! | `packets` | packets, times, interned names |
//! | `descriptors` | tracks and their names |
//! | `kernel` | the thread that runs on each core, and the states of threads |
//! | `slices` | slices, instants, counters, flows |
//! | `layout` | the tracks of a timeline and their changes |
//! | `objects` | the tracks of mutexes, machines, queues and servers |
//! | `spans` | the spans of instrumented programs, as nested slices of their threads |
//!
//! The writer reads the events twice, and writes the packets in order of time during the second
//! reading.

mod descriptors;
mod kernel;
mod layout;
mod objects;
mod packets;
mod proto;
mod slices;
mod spans;

use std::io::{self, Write};

use super::merge::END;
use super::timeline::Timeline;
use crate::analysis::scheduling::Position;
use crate::export::{Export, ExportError, ExportNames, Output};
use crate::format::{OptionError, OptionHelp, Options};
use crate::input::Input;
use crate::model::{Event, Meaning, Severity, Trace};
use layout::Layout;
use packets::Packets;
use slices::{Change, EventLabels};

/// The export `perfetto`: a timeline for Perfetto's viewer.
///
/// ```
/// use tracewell::export::{ExportNames, viewers};
/// use tracewell::format::Options;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let (options, names) = (Options::default(), ExportNames::default());
/// let mut bytes = Vec::new();
/// viewers::PERFETTO.write(&mut tracewell::open(path)?, &options, &names, &mut bytes)?;
/// // Each packet is field 1 of the file's message.
/// assert_eq!(bytes[0], 0x0A);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub static PERFETTO: Export = Export {
    name: "perfetto",
    description: "timeline: packets for Perfetto; times in ns, rounded down",
    extension: Some("pftrace"),
    options: OPTIONS,
    output: Output::File(write),
};

const OPTIONS: &[OptionHelp] = &[
    OptionHelp {
        key: "states",
        value: "threads|slices",
        help: "running contexts as threads and cores (default) or as slices for viewers before 2025",
    },
    OptionHelp {
        key: "arrows",
        value: "N",
        help: "at most N arrows; the others are counted (100000)",
    },
];

/// Default maximum number of arrows.
const MAX_ARROWS: u64 = 100_000;

fn write(
    input: &mut Input,
    options: &Options,
    names: &ExportNames,
    out: &mut dyn Write,
) -> Result<Trace, ExportError> {
    options.check(OPTIONS)?;
    let as_slices = match options.get("states") {
        None | Some("threads") => false,
        Some("slices") => true,
        Some(found) => {
            let message = format!("expected threads or slices, found '{found}'");
            return Err(OptionError::new("states", message).into());
        }
    };
    let most_arrows = options.number("arrows")?.unwrap_or(MAX_ARROWS);
    let timeline = Timeline::read(input)?;
    check_times(&timeline)?;
    // The layout borrows the timeline until the end of this block.
    let arrows_left_out = {
        let packets = Packets::new(out, timeline.trace.clock.clone());
        let layout = Layout::new(&timeline, packets, &names.input, as_slices, most_arrows)
            .map_err(ExportError::Write)?;
        let arrows_left_out = layout.arrows_left_out;
        let mut writer = Writer { timeline: &timeline, layout, labels: EventLabels::default() };
        // The second reading writes the events and, before each event, the changes up to its time.
        timeline.each_event(input, |event, is_selected| writer.event(event, is_selected))?;
        writer.layout.write_until(END).map_err(ExportError::Write)?;
        arrows_left_out
    };
    let has_rate = timeline.trace.clock.rate.is_some();
    let mut trace = timeline.into_trace();
    let mut remark = |message: String| trace.diagnostics.add(Severity::Note, None, message);
    if !has_rate {
        let message = "the clock's rate is unknown, so 1 ns in the output is 1 tick: \
                       give the rate with -O rate=TICKS_PER_SECOND";
        remark(message.to_owned());
    }
    if arrows_left_out > 0 {
        remark(format!("{arrows_left_out} arrows left out: -T arrows=N sets the maximum"));
    }
    Ok(trace)
}

/// Checks that all times fit into Perfetto's timestamps.
fn check_times(timeline: &Timeline) -> Result<(), ExportError> {
    let last = timeline.range.end;
    let time = timeline.trace.clock.nanoseconds(last).unwrap_or(last);
    if i64::try_from(time).is_err() {
        let message = "Perfetto has no times above 2^63 ns: select an earlier part with --to";
        return Err(ExportError::NotPossible(message.to_owned()));
    }
    Ok(())
}

/// Writes events, and the changes of tracks before each of them.
struct Writer<'a, 'o> {
    timeline: &'a Timeline,
    layout: Layout<'a, 'o>,
    labels: EventLabels,
}

impl Writer<'_, '_> {
    fn event(&mut self, event: Event<'_>, is_selected: bool) -> io::Result<()> {
        let at = Position { ticks: event.ticks(), seq: event.seq() };
        let context = event.row.context;
        // The changes at this event show the priority that the event contains.
        if let Some(priority) = event.priority() {
            self.layout.kernel.note_priority(context, priority);
        }
        self.layout.write_until(at)?;
        if !is_selected || !self.timeline.contains(at) {
            return Ok(());
        }
        let track = self.layout.context(context)?;
        let label = self.labels.of(event);
        slices::write(&mut self.layout.packets, at.ticks, track, &Change::Instant(label, None))?;
        self.value(event)
    }

    /// Writes the number in an event as a counter value.
    fn value(&mut self, event: Event<'_>) -> io::Result<()> {
        let means = event.kind().means.filter(|means| means.meaning == Meaning::Value);
        let Some(index) = means.and_then(|means| means.value) else { return Ok(()) };
        let Some(value) = event.argument(index) else { return Ok(()) };
        let count = slices::count(event, index, value);
        let track = self.layout.values(event.id(), &event.label().to_string())?;
        slices::write(&mut self.layout.packets, event.ticks(), track, &count)
    }
}
