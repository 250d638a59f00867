//! Values that are the same for all events of a context, or for all events with the same id. They
//! are not computed again for each event.

use super::entry::Tail;
use super::heading::{PID, PROCESS_NAME, TID};
use super::{Options, Settings, heading};
use crate::format::aix::Header;
use crate::model::{Batch, ContextId, SeenContexts, Trace};
use crate::template::syntax::{Key, Level};
use crate::template::{Environment, Program, TemplateId};
use crate::text::{Literal, PerEvent};

/// Values that events share: the values of each context, of each id, and of the whole trace.
#[derive(Debug, Default)]
pub(super) struct Facts {
    contexts: Vec<ContextFacts>,
    seen_contexts: SeenContexts,
    ids: PerEvent<IdFacts>,
    /// The set of small ids whose values have been computed.
    seen: Vec<bool>,
    /// Column in which the text begins.
    pub(super) margin: usize,
    /// Width of the column ID.
    pub(super) id_width: usize,
    /// Column in which times begin.
    pub(super) times_at: usize,
    /// Nanoseconds from midnight to the first event.
    pub(super) of_day_ns: Option<u64>,
    /// True if a column about the context is shown.
    pub(super) who: bool,
    /// True if the clock's rate is known.
    pub(super) has_rate: bool,
    /// Word size of the traced system.
    pub(super) system: Environment,
    /// True for AIX traces. Their events are entries that begin with a hook word.
    pub(super) hooks: bool,
}

/// Values that all events of a context share.
#[derive(Debug)]
pub(super) struct ContextFacts {
    pub(super) tid: u64,
    pub(super) pid: u64,
    /// Path of the program, or name of the context.
    pub(super) executable: String,
    /// The first columns of each line, padded to their widths.
    pub(super) name_column: Literal,
    pub(super) pid_column: Literal,
    pub(super) tid_column: Literal,
}

/// Values that all events of an id share.
#[derive(Debug)]
pub(super) struct IdFacts {
    pub(super) column: Literal,
    pub(super) template: Option<TemplateId>,
    /// Level of the text. It determines the column of the text.
    pub(super) level: Level,
    /// The last argument, if it is a string or bytes and the arguments before it are words.
    pub(super) tail: Option<Tail>,
    /// Constant start of the text: the heading of the template, or the label if there is no
    /// template.
    pub(super) head: Option<Literal>,
}

/// Most events have ids below this number.
const SMALL_IDS: usize = 1 << 13;
const NANOSECONDS_OF_DAY: u64 = 86_400_000_000_000;

impl Facts {
    /// Computes the values that the chosen events of a batch need.
    pub(super) fn prepare(
        &mut self,
        trace: &Trace,
        program: &Program,
        settings: &Settings,
        batch: &Batch<'_>,
        rows: &[u32],
    ) {
        // The decoder may determine the clock's rate or the word size late, so the values below are
        // set again for each batch.
        self.margin = heading::margin(trace, &settings.options);
        self.id_width = heading::id_width(trace);
        self.times_at = heading::times_at(trace, &settings.options);
        self.seen.resize(SMALL_IDS, false);
        let Options { exec, cpu, pid, tid, svc, .. } = settings.options;
        self.who = exec || cpu || pid || tid || svc;
        self.has_rate = trace.clock.rate.is_some();
        self.system = system(trace);
        self.hooks = trace.schema.ids_are_hooks();
        if self.of_day_ns.is_none() {
            self.of_day_ns = trace.wall_clock_ns(0).map(|ns| ns % NANOSECONDS_OF_DAY);
        }
        let columns = batch.columns;
        trace.contexts.update(&mut self.contexts, &mut self.seen_contexts, |id, _| {
            // Use the name that the process had when the context first ran.
            let row = columns.context.iter().position(|context| *context == id);
            let ticks = row.and_then(|row| columns.ticks.get(row)).copied();
            context(trace, id, ticks.unwrap_or(trace.span))
        });
        for row in rows {
            let Some(event) = columns.id.get(*row as usize) else { continue };
            // For most events, this is one lookup in a small table.
            if self.seen.get(*event as usize) == Some(&true) {
                continue;
            }
            if self.ids.find(*event).is_none() {
                let facts = id(trace, program, *event, self.hooks);
                self.ids.get(*event, || facts);
            }
            if let Some(seen) = self.seen.get_mut(*event as usize) {
                *seen = true;
            }
        }
    }

    #[inline]
    pub(super) fn context(&self, id: ContextId) -> Option<&ContextFacts> {
        self.contexts.get(id.index())
    }

    #[inline]
    pub(super) fn id(&self, id: u32) -> Option<&IdFacts> {
        self.ids.find(id)
    }
}

/// Returns the word size of the traced system.
fn system(trace: &Trace) -> Environment {
    let bits = match Header::of(trace) {
        Some(header) => usize::from(header.numbers.env.bits()),
        None => 4 * trace.payload.digits(),
    };
    if bits > 32 { Environment::Bits64 } else { Environment::Bits32 }
}

/// Returns a left-aligned field, followed by at least one space.
fn field(text: &str, width: usize) -> Literal {
    let blank = if text.chars().count() >= width { " " } else { "" };
    Literal::new(format!("{text:<width$}{blank}"))
}

fn context(trace: &Trace, id: ContextId, ticks: u64) -> ContextFacts {
    let context = trace.contexts.get(id);
    let pid = context.and_then(|context| trace.process_of(context));
    let name = context.map_or("", |context| context.name.as_str());
    // Keep a space between the name and the next column.
    let cut: String = name.chars().take(PROCESS_NAME - 1).collect();
    let process = pid.and_then(|pid| trace.objects.at(pid, ticks, None));
    let pid_text = pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string());
    ContextFacts {
        tid: context.map_or(0, |context| context.key),
        pid: pid.unwrap_or(0),
        executable: process.map_or(name, |(_, object)| object.label.as_str()).to_owned(),
        name_column: field(&cut, PROCESS_NAME),
        pid_column: field(&pid_text, PID),
        tid_column: field(context.map_or("", |context| context.key_text.as_str()), TID),
    }
}

fn id(trace: &Trace, program: &Program, id: u32, hooks: bool) -> IdFacts {
    let short = u16::try_from(id).ok();
    // Only AIX has ids of three digits.
    let text = match short {
        Some(id) if hooks => Key::Id(id).to_string(),
        _ => format!("{id:04X}"),
    };
    let event = trace.schema.event(id);
    let template = short.and_then(|id| program.of_id(id)).or_else(|| program.of_name(&event.name));
    let facts = template.and_then(|id| program.template(id));
    let head = match facts {
        Some(facts) => facts.head(),
        None => Some(format!("{} ", trace.schema.label(id))),
    };
    IdFacts {
        column: field(&text, heading::id_width(trace)),
        template,
        level: facts.map_or(Level::default(), |facts| facts.level),
        tail: Tail::of(event, trace.payload),
        head: head.map(Literal::new),
    }
}
