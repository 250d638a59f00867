//! Sequence diagrams: who sent what to whom, timers, states, in three languages.
//!
//! | file | what |
//! |---|---|
//! | `mermaid` | text for Mermaid (`sequenceDiagram`) |
//! | `plantuml` | text for PlantUML |
//! | `svg` | a picture that needs nothing else |
//!
//! All of them draw a diagram: participants in the order in which they first do something, and steps in the
//! order of time. A message whose sender nobody names comes from `environment`.

mod mermaid;
mod plantuml;
mod svg;

use std::collections::HashMap;
use std::io::Write;

use foldhash::fast::RandomState;

use super::{Export, ExportError, ExportNames};
use crate::analysis::machines::{Happening, Named, Occurrence, Sequence};
use crate::format::{OptionHelp, Options};
use crate::input::Input;
use crate::model::Trace;
use crate::select::{Bound, Selection};
use crate::text::{missing, spoken_time};

/// Mermaid's entry in the list of exports.
pub static MERMAID: Export = Export {
    name: "mermaid",
    description: "sequence diagram: Mermaid text",
    extension: Some("mmd"),
    options: OPTIONS,
    write: |input, options, names, out| write(input, options, names, out, mermaid::text),
};

/// PlantUML's entry.
pub static PLANTUML: Export = Export {
    name: "plantuml",
    description: "sequence diagram: PlantUML text",
    extension: Some("puml"),
    options: OPTIONS,
    write: |input, options, names, out| write(input, options, names, out, plantuml::text),
};

/// The picture's entry.
pub static SVG: Export = Export {
    name: "svg",
    description: "sequence diagram: a picture that needs nothing else",
    extension: Some("svg"),
    options: OPTIONS,
    write: |input, options, names, out| write(input, options, names, out, svg::text),
};

const OPTIONS: &[OptionHelp] = &[
    OptionHelp { key: "from", value: "TIME", help: "not before: ticks, or 1.5s, 20ms, 7us" },
    OptionHelp { key: "until", value: "TIME", help: "not after" },
    OptionHelp {
        key: "context",
        value: "NAME,...",
        help: "only what these contexts recorded; * for any text",
    },
    OptionHelp { key: "event", value: "NAME,...", help: "only what these events tell" },
    OptionHelp { key: "object", value: "NAME,...", help: "only what concerns these objects" },
    OptionHelp { key: "most", value: "N", help: "at most N steps; the others are counted (500)" },
];

/// Steps of a diagram, if nothing else is said: more than people look at.
const MOST_STEPS: u64 = 500;

/// Who sends messages that nobody else is named for.
const ENVIRONMENT: &str = "environment";

/// What is drawn.
#[derive(Debug, Default)]
struct Diagram {
    /// Where it comes from.
    title: String,
    participants: Vec<String>,
    steps: Vec<Step>,
    /// Steps that are left out.
    more: u64,
}

/// A step of a diagram; participants are positions.
#[derive(Debug)]
struct Step {
    /// When, for people.
    time: String,
    kind: StepKind,
}

#[derive(Debug)]
enum StepKind {
    Message {
        from: usize,
        to: usize,
        label: String,
        taken: Option<String>,
    },
    /// Something that happens to one participant.
    Note {
        at: usize,
        text: String,
        kind: NoteKind,
    },
    /// Something that concerns all.
    Across(String),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NoteKind {
    State,
    /// A timer ran out, or a message was not taken.
    Remark,
}

fn write(
    input: &mut Input,
    options: &Options,
    names: &ExportNames,
    out: &mut dyn Write,
    text: fn(&Diagram) -> String,
) -> Result<Trace, ExportError> {
    options.check(OPTIONS)?;
    let selection = selection(options)?;
    let most = options.number("most")?.unwrap_or(MOST_STEPS);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut sequence = Sequence::new(most, selection.clone());
    let mut trace = input.read(&mut sequence)?;
    selection.check(&trace).map_err(|error| ExportError::NotPossible(error.to_string()))?;
    let (happened, more) = sequence.finish();
    let mut builder = Builder::new(&trace);
    builder.diagram.title.clone_from(&names.input);
    builder.diagram.more = more;
    happened.iter().for_each(|occurrence| builder.add(occurrence));
    if builder.diagram.participants.is_empty() {
        let message = "this trace, or what was selected of it, tells of no messages and no states";
        let doubts = selection.doubts(&trace).into_iter().map(|doubt| format!("; {doubt}"));
        return Err(ExportError::NotPossible(message.to_owned() + &doubts.collect::<String>()));
    }
    out.write_all(text(&builder.diagram).as_bytes()).map_err(ExportError::Write)?;
    selection.remark(&mut trace);
    Ok(trace)
}

fn selection(options: &Options) -> Result<Selection, ExportError> {
    let list = |key| {
        let names = options.get(key).into_iter().flat_map(|names| names.split(','));
        names.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
    };
    Ok(Selection {
        contexts: list("context"),
        events: list("event"),
        objects: list("object"),
        from: options.parse::<Bound>("from")?,
        to: options.parse::<Bound>("until")?,
        ..Selection::default()
    })
}

/// Makes a diagram of what happened.
struct Builder<'a> {
    trace: &'a Trace,
    diagram: Diagram,
    /// Participants by name.
    known: HashMap<String, usize, RandomState>,
    /// Expiries whose messages were not sent yet: positions of their steps, by owner and signal.
    expired: HashMap<(u64, u64), usize, RandomState>,
}

impl<'a> Builder<'a> {
    fn new(trace: &'a Trace) -> Self {
        let (known, expired) = (HashMap::default(), HashMap::default());
        Self { trace, diagram: Diagram::default(), known, expired }
    }

    fn participant(&mut self, name: String) -> usize {
        let next = self.diagram.participants.len();
        let position = *self.known.entry(name.clone()).or_insert(next);
        if position == next {
            self.diagram.participants.push(name);
        }
        position
    }

    fn named(&mut self, named: Named) -> usize {
        self.participant(named.label(self.trace))
    }

    fn time(&self, ticks: u64) -> String {
        match self.trace.clock.nanoseconds(ticks) {
            Some(ns) => spoken_time(ns),
            None => ticks.to_string(),
        }
    }

    fn add(&mut self, occurrence: &Occurrence) {
        let kind = match occurrence.what {
            Happening::Sent { sender, receiver, signal, taken } => {
                self.message(sender, receiver, signal, taken)
            }
            Happening::Expired { timer, owner, signal } => self.expiry(timer, owner, signal),
            Happening::Reached { machine, state } => StepKind::Note {
                at: self.named(machine),
                text: state.label(self.trace),
                kind: NoteKind::State,
            },
            Happening::Unhandled { machine, signal, id } => {
                let signal = signal.map(|signal| format!("{}: ", signal.label(self.trace)));
                let text = signal.unwrap_or_default() + &self.trace.schema.label(id);
                StepKind::Note { at: self.named(machine), text, kind: NoteKind::Remark }
            }
            Happening::Boot => StepKind::Across("the target starts".to_owned()),
            Happening::Lost(None) => StepKind::Across("events are missing".to_owned()),
            Happening::Lost(Some(0)) => StepKind::Across("a record is damaged".to_owned()),
            Happening::Lost(Some(lost)) => StepKind::Across(missing(lost, "event")),
        };
        let time = self.time(occurrence.ticks);
        self.diagram.steps.push(Step { time, kind });
    }

    fn message(
        &mut self,
        sender: Option<Named>,
        receiver: Named,
        signal: Named,
        taken: Option<u64>,
    ) -> StepKind {
        let from = match sender {
            Some(sender) => self.named(sender),
            None => self.participant(ENVIRONMENT.to_owned()),
        };
        let mut label = signal.label(self.trace);
        // A timer's message says that it ran out.
        if let Some(step) = self.expired.remove(&(receiver.key, signal.key)) {
            self.diagram.steps.remove(step);
            label.push_str(" (timer)");
            self.expired.values_mut().for_each(|other| *other -= usize::from(*other > step));
        }
        let taken = taken.map(|ticks| self.time(ticks));
        StepKind::Message { from, to: self.named(receiver), label, taken }
    }

    fn expiry(&mut self, timer: Named, owner: Named, signal: Option<Named>) -> StepKind {
        let at = self.named(owner);
        let text = match signal {
            Some(signal) => {
                self.expired.insert((owner.key, signal.key), self.diagram.steps.len());
                format!("timer {}", signal.label(self.trace))
            }
            None => format!("timer {}", timer.label(self.trace)),
        };
        StepKind::Note { at, text, kind: NoteKind::Remark }
    }
}

/// What is said of steps that are left out.
fn and_more(more: u64) -> String {
    format!("and {more} steps more")
}
