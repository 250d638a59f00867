//! Runs a program on an entry.
//!
//! All that a machine needs it keeps and uses again: for an event nothing is allocated once the
//! buffers have grown to what the templates need. Templates come from anywhere, so what one event can
//! cost is limited, and where a limit is reached the report says so in its place:
//!
//! | limit | mark | then |
//! |---|---|---|
//! | data that is not there | `<TRUNCATED>` | the event ends |
//! | ten templates and functions within each other | `<TEMPLATE NESTING>` | the event ends |
//! | `MOST_TURNS` turns of a loop | `<LOOP LIMIT>` | the loop ends |
//! | `MOST_STEPS` steps | `<STEP LIMIT>` | the event ends |
//! | `MOST_TEXT` bytes of text | `<OUTPUT LIMIT>` | the event ends |
//! | `MOST_TIMERS` timers that run | `<TIMER LIMIT>` | the timer does not start |

mod lines;
mod print;
mod read;
mod run;
mod timers;

pub use lines::Lines;

use super::entry::{Around, Entry};
use super::program::{Program, TemplateId};
use super::syntax::Level;
use crate::text::{TextBuffer, put};
use run::Run;
use timers::Timers;

/// Turns of one loop, at most.
const MOST_TURNS: i64 = 65_536;
/// Templates and functions within each other, at most.
const DEEPEST: usize = 10;
/// Steps for an event, at most.
const MOST_STEPS: u32 = 1 << 22;
/// Bytes of text for an event, at most.
const MOST_TEXT: usize = 1 << 20;
/// Timers that run at a time, at most.
const MOST_TIMERS: usize = 1 << 16;

/// What is to be done after an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Outcome {
    /// Show its lines.
    #[default]
    Shown,
    /// Leave it out (`$SKIP`).
    Skipped,
    /// Show its lines and end the report (`$STOP`).
    Stop,
}

/// How often a limit was reached or something was not there, over all events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Marks {
    /// `<TRUNCATED>`: a template read more data than an event has.
    pub truncated: u64,
    /// `<TEMPLATE NESTING>`, and the limits of loops, steps, text and timers.
    pub limits: u64,
    /// `<NO TEMPLATE hhh>` and `<NO FUNCTION name>`.
    pub missing: u64,
    /// Events that no template was there for.
    pub undefined: u64,
}

impl Marks {
    /// Both together.
    #[must_use]
    pub fn sum(self, other: Self) -> Self {
        Self {
            truncated: self.truncated + other.truncated,
            limits: self.limits + other.limits,
            missing: self.missing + other.missing,
            undefined: self.undefined + other.undefined,
        }
    }
}

/// Hook ids of templates that stand in for others.
const OF_ID_ZERO: u16 = 0x0040;
const OF_UNDEFINED: u16 = 0x0070;
const OF_DEFAULT: u16 = 0x0080;

/// Runs programs. Timers are all that lasts from one event to the next.
#[derive(Debug, Default)]
pub struct Machine {
    lines: Lines,
    state: State,
}

/// What a run works with.
#[derive(Debug, Default)]
struct State {
    /// Values of the macros that templates assign, each with the number of the event it is of.
    slots: Vec<(u64, read::Value)>,
    event: u64,
    stack: Vec<read::Value>,
    loops: Vec<i64>,
    calls: Vec<run::Frame>,
    /// Values that parameters hide.
    hidden: Vec<(u16, (u64, read::Value))>,
    timers: Timers,
    marks: Marks,
}

impl Machine {
    /// Formats an entry by the template of its id, or as one that has none.
    pub fn format(&mut self, program: &Program, entry: &Entry<'_>, around: &Around<'_>) -> &Lines {
        self.lines.whole().truncate(0);
        self.append(program, entry, around)
    }

    /// The text that events are appended to by all but [`Machine::format`].
    #[inline(always)]
    pub(crate) fn text(&mut self) -> &mut TextBuffer {
        self.lines.whole()
    }

    /// The lines of the event that was appended last.
    #[inline(always)]
    pub(crate) fn lines(&mut self) -> &mut Lines {
        &mut self.lines
    }

    /// As [`Machine::format`], behind what is there.
    pub(crate) fn append(
        &mut self,
        program: &Program,
        entry: &Entry<'_>,
        around: &Around<'_>,
    ) -> &Lines {
        let id = if entry.id == 0 { OF_ID_ZERO } else { entry.id };
        match program.of_id(id) {
            Some(template) => self.run(program, template, entry, around),
            None => self.undefined(program, entry, around),
        }
    }

    /// Appends an entry by this template, whatever its id is.
    pub(crate) fn run(
        &mut self,
        program: &Program,
        template: TemplateId,
        entry: &Entry<'_>,
        around: &Around<'_>,
    ) -> &Lines {
        if let Some(facts) = program.template(template) {
            self.go(program, facts.level, 0, facts.start, entry, around);
        }
        &self.lines
    }

    /// The same where the text ends with the template's head, of so many bytes, already.
    #[inline(always)]
    pub(crate) fn run_behind_head(
        &mut self,
        program: &Program,
        template: TemplateId,
        head: usize,
        entry: &Entry<'_>,
        around: &Around<'_>,
    ) {
        if let Some(facts) = program.template(template) {
            self.go(program, facts.level, head, facts.body, entry, around);
        }
    }

    #[inline(always)]
    fn go(
        &mut self,
        program: &Program,
        level: Level,
        head: usize,
        start: u32,
        entry: &Entry<'_>,
        around: &Around<'_>,
    ) {
        self.begin(program, level, head);
        let mut run = Run::new(program, entry, around, &mut self.state, &mut self.lines);
        let outcome = run.from(start);
        self.lines.end(outcome);
    }

    /// Appends an entry as one whose id is not known.
    fn undefined(&mut self, program: &Program, entry: &Entry<'_>, around: &Around<'_>) -> &Lines {
        self.state.marks.undefined += 1;
        if let Some(template) = program.of_id(OF_UNDEFINED) {
            return self.run(program, template, entry, around);
        }
        self.begin(program, Level::default(), 0);
        let (word, digits) = entry.hook_word();
        let id = super::syntax::Key::Id(entry.id);
        let text = format_args!("UNDEFINED TRACE ID {id} hookword {word:0digits$X}");
        put(self.lines.buffer(), text);
        self.lines.end(Outcome::Shown);
        &self.lines
    }

    /// Appends an event that prints what `put` does, in one line.
    pub(crate) fn show(&mut self, put: impl FnOnce(&mut TextBuffer)) {
        self.lines.begin(Level::default(), 0);
        put(self.lines.buffer());
        self.lines.end(Outcome::Shown);
    }

    /// How often limits were reached so far.
    pub fn marks(&self) -> Marks {
        self.state.marks
    }

    #[inline(always)]
    fn begin(&mut self, program: &Program, level: Level, head: usize) {
        let state = &mut self.state;
        state.event += 1;
        if state.slots.len() != program.slots.len() {
            state.slots.resize(program.slots.len(), (0, read::Value::default()));
        }
        // An event that ended early leaves these as they were.
        state.stack.clear();
        state.loops.clear();
        state.calls.clear();
        state.hidden.clear();
        self.lines.begin(level, head);
    }
}
