//! Writes TraceX's raw trace dump byte for byte, for users who have scripts for the dump or compare
//! Tracewell's results with TraceX's.
//!
//! The text contains TraceX's own figures. They follow the rules of TraceX's reader library
//! (`tml_library.cpp` of the public TraceX repository), including its known mistakes. The head
//! comment of each file explains how its figures differ from correct figures. [`crate::analysis`]
//! computes correct figures for all dialects.
//!
//! A [`Trace`] is loaded once. Each figure is a method that only reads the trace.
//!
//! | file | purpose |
//! |---|---|
//! | `trace` | objects and events as TraceX stores them |
//! | `load` | loads a trace from registry and entries |
//! | `next_context` | the context that runs after each event |
//! | `running` | the RUNNING events that TraceX inserts |
//! | `threads` | priorities, thresholds and events of each thread |
//! | `profile` | execution time of each thread |
//! | `statistics` | context switches, preemptions, interrupts |
//! | `inversions` | priority inversions |
//! | `services` | number of calls of each service |
//! | `stack` | stack usage of each thread |
//! | `middleware` | FileX and NetX counters |
//! | `dump` | the text |
//!
//! ```
//! use tracewell::export::tracex::{Facts, Trace};
//! use tracewell_wire::threadx::{Event, PriorityWord};
//!
//! let event = Event {
//!     context: 0x2000_0000,
//!     priority_word: PriorityWord::of_thread(3, 3),
//!     id_word: 6,
//!     stamp: 10,
//!     ..Event::UNUSED
//! };
//! let facts = Facts { timer_valid_mask: 0xFFFF_FFFF, ..Facts::default() };
//! let trace = Trace::new(facts, true, [], [event, Event { stamp: 25, ..event }]);
//! assert_eq!(trace.profile().threads, [15]);
//! ```

mod dump;
mod inversions;
mod load;
mod middleware;
mod next_context;
mod profile;
mod running;
mod services;
mod stack;
mod statistics;
mod threads;
mod trace;

pub use load::is_tie;
pub use middleware::{FileX, NetX};
pub use profile::Profile;
pub use stack::StackUsage;
pub use statistics::Statistics;
pub use threads::ThreadSummary;
pub use trace::{Event, Facts, IDLE, INITIALIZATION, INTERRUPT, Object, Trace};

use std::io::Write;

use tracewell_wire::threadx::{Event as Entry, Layout, RegistrySlot, Width};

use super::{Export, ExportError, ExportNames, Output};
use crate::format::{OptionHelp, Options, threadx};
use crate::input::Input;
use crate::model::{self, Batch, Direction, Flow, Sink};
use dump::Dump;

/// The export `tracex-dump`, for traces of the dialect `threadx` only.
pub static EXPORT: Export = Export {
    name: "tracex-dump",
    description: "TraceX's raw trace dump (text), with TraceX's own figures",
    extension: None,
    options: &[OptionHelp {
        key: "version",
        value: "TEXT",
        help: "the TraceX version in the first line (6.4.1)",
    }],
    output: Output::File(write),
};

/// The TraceX release whose output this export was compared with.
const VERSION: &str = "6.4.1";

fn write(
    input: &mut Input,
    options: &Options,
    names: &ExportNames,
    out: &mut dyn Write,
) -> Result<model::Trace, ExportError> {
    options.check(EXPORT.options)?;
    let (source, trace) = load(input)?;
    let version = options.get("version").unwrap_or(VERSION);
    Dump::new(&trace).write(names, version, out).map_err(ExportError::Write)?;
    Ok(source)
}

/// Loads a ThreadX trace as TraceX does. Holds all events in memory.
///
/// # Errors
/// Returns an error if the input cannot be read, has another format, or has 64-bit words. TraceX
/// cannot read 64-bit words.
pub fn load(input: &mut Input) -> Result<(model::Trace, Trace), ExportError> {
    let mut entries = Entries::default();
    let source = input.read(&mut entries)?;
    if source.format != threadx::FORMAT.name {
        let message = format!(
            "TraceX shows only ThreadX traces, this is a trace of format {}",
            source.format
        );
        return Err(ExportError::NotPossible(message));
    }
    let layout = threadx::layout(&source);
    if layout.width == Width::Bits64 {
        let message = "TraceX cannot read a trace whose ULONG has 64 bits; convert it first \
                       (convert -o out.trx -T ulong=32)";
        return Err(ExportError::NotPossible(message.to_owned()));
    }
    let facts = threadx::DumpHeader::of(&source).map(facts).unwrap_or_default();
    // TraceX has no option for the direction of the clock, so it infers the direction. If as many
    // timestamps increase as decrease, it assumes a clock that counts down.
    let up = source.clock.counter.direction == Direction::Up
        && !is_tie(facts, entries.list.iter().map(|entry| entry.stamp as u32));
    let slots = source.objects.iter().map(|(_, object)| object.record.as_slice());
    let slots = slots.filter_map(|record| RegistrySlot::read(layout, record));
    let trace = Trace::new(facts, up, slots, entries.list);
    Ok((source, trace))
}

/// Returns the facts that a header with 32-bit words contains.
fn facts(dump: &threadx::DumpHeader) -> Facts {
    let header = &dump.header;
    Facts {
        // TraceX calls the first word of a dump its id. This word shows the byte order of the dump.
        trace_id: dump.id(),
        timer_valid_mask: header.timer_valid_mask as u32,
        object_name_size: u32::from(dump.layout.name_size),
        trace_base_address: header.trace_base_address as u32,
        registry_start: header.registry_start as u32,
        registry_end: header.registry_end as u32,
        buffer_start: header.buffer_start as u32,
        buffer_end: header.buffer_end as u32,
        buffer_current: header.buffer_current as u32,
    }
}

/// A sink that collects the event slots of a trace in memory, because some of TraceX's figures
/// depend on later events.
#[derive(Default)]
struct Entries {
    layout: Option<Layout>,
    list: Vec<Entry>,
}

impl Sink for Entries {
    fn events(&mut self, trace: &model::Trace, batch: &Batch<'_>) -> Flow {
        let layout = *self.layout.get_or_insert_with(|| threadx::layout(trace));
        self.list.extend(batch.events().filter_map(|event| Entry::read(layout, event.record)));
        Flow::Continue(())
    }
}
