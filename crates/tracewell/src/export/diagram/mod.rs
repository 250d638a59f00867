//! Writes sequence diagrams of messages, timers and states in three languages.
//!
//! | file | output |
//! |---|---|
//! | `mermaid` | text for Mermaid (`sequenceDiagram`) |
//! | `plantuml` | text for PlantUML |
//! | `svg` | a self-contained picture |
//!
//! All three show the same diagram, with participants in the order of their first step, and steps
//! in the order of time. A message without a known sender comes from `environment`.

mod mermaid;
mod plantuml;
mod svg;

use std::collections::HashMap;
use std::io::Write;

use foldhash::fast::RandomState;

use super::{Export, ExportError, ExportNames, Output};
use crate::analysis::machines::{Happening, Named, Occurrence, Sequence};
use crate::format::{OptionHelp, Options};
use crate::input::Input;
use crate::model::Trace;
use crate::text::{missing, spoken_time};

/// The export `mermaid`: a sequence diagram for Markdown pages.
pub static MERMAID: Export = Export {
    name: "mermaid",
    description: "sequence diagram: Mermaid text",
    extension: Some("mmd"),
    options: OPTIONS,
    output: Output::File(|input, options, names, out| {
        write(input, options, names, out, mermaid::text)
    }),
};

/// The export `plantuml`: a sequence diagram for PlantUML.
pub static PLANTUML: Export = Export {
    name: "plantuml",
    description: "sequence diagram: PlantUML text",
    extension: Some("puml"),
    options: OPTIONS,
    output: Output::File(|input, options, names, out| {
        write(input, options, names, out, plantuml::text)
    }),
};

/// The export `svg`: a sequence diagram as a picture without external parts.
pub static SVG: Export = Export {
    name: "svg",
    description: "sequence diagram: a self-contained picture",
    extension: Some("svg"),
    options: OPTIONS,
    output: Output::File(|input, options, names, out| write(input, options, names, out, svg::text)),
};

const OPTIONS: &[OptionHelp] = &[OptionHelp {
    key: "most",
    value: "N",
    help: "at most N steps; the others are counted (500)",
}];

/// Default maximum number of steps. Larger diagrams are hardly readable.
const MAX_STEPS: u64 = 500;

/// The name that stands for the sender of a message if the sender is unknown.
const ENVIRONMENT: &str = "environment";

/// The content of a diagram.
#[derive(Debug, Default)]
struct Diagram {
    /// The name of the input.
    title: String,
    participants: Vec<String>,
    steps: Vec<Step>,
    /// Number of steps that exceed the maximum and are left out.
    more: u64,
}

/// A step of a diagram. Participants are indices.
#[derive(Debug)]
struct Step {
    /// The time since the first event, with its unit if the clock's rate is known.
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
    /// A note at one participant.
    Note {
        at: usize,
        text: String,
        kind: NoteKind,
    },
    /// A note across all participants.
    Across(String),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NoteKind {
    State,
    /// An expired timer, or a message that its receiver did not take.
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
    // A step can depend on an event from before the selection, such as the post of a message.
    let selection = input.take_selection();
    if selection.tail.is_some() {
        let message = "a diagram cannot be limited to the last events: use --from, or -T most=N";
        return Err(ExportError::NotPossible(message.to_owned()));
    }
    let most = options.number("most")?.unwrap_or(MAX_STEPS);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut sequence = Sequence::new(most, selection.clone());
    let mut trace = input.read(&mut sequence)?;
    selection.check(&trace).map_err(|error| ExportError::NotPossible(error.to_string()))?;
    // The diagram is built after reading, when all names are known.
    let (happened, more) = sequence.finish();
    let mut builder = Builder::new(&trace);
    builder.diagram.title.clone_from(&names.input);
    builder.diagram.more = more;
    happened.iter().for_each(|occurrence| builder.add(occurrence));
    // Return an error, because an empty picture would look like a success.
    if builder.diagram.participants.is_empty() {
        let message = "the trace, or the selected part of it, has no messages and no states";
        let doubts = selection.unknown_names(&trace).into_iter().map(|doubt| format!("; {doubt}"));
        return Err(ExportError::NotPossible(message.to_owned() + &doubts.collect::<String>()));
    }
    out.write_all(text(&builder.diagram).as_bytes()).map_err(ExportError::Write)?;
    selection.remark(&mut trace);
    Ok(trace)
}

/// Builds a diagram from an analysis.
struct Builder<'a> {
    trace: &'a Trace,
    diagram: Diagram,
    /// The index of each participant in the diagram, by name.
    indices: HashMap<String, usize, RandomState>,
    /// For each owner and signal, the index of the step that shows an expired timer whose message
    /// has not been posted yet.
    expired: HashMap<(u64, u64), usize, RandomState>,
}

impl<'a> Builder<'a> {
    fn new(trace: &'a Trace) -> Self {
        let (indices, expired) = (HashMap::default(), HashMap::default());
        Self { trace, diagram: Diagram::default(), indices, expired }
    }

    fn participant(&mut self, name: String) -> usize {
        let next = self.diagram.participants.len();
        let position = *self.indices.entry(name.clone()).or_insert(next);
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
        // If a timer posts a message, this message already shows that the timer expired.
        if let Some(step) = self.expired.remove(&(receiver.key, signal.key)) {
            self.diagram.steps.remove(step);
            label.push_str(" (timer)");
            // Removing a step changes the indices of the steps after it.
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

/// Returns the text about the steps that are left out.
fn and_more(more: u64) -> String {
    format!("and {more} more steps")
}
