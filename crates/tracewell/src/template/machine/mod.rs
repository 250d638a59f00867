//! Runs a program on an entry.
//!
//! A machine reuses its buffers. Once the buffers have the size that the templates need, formatting
//! an event allocates no memory. Templates may come from untrusted sources, so the cost of
//! an event is limited, and the report shows a mark if a limit is reached:
//!
//! |limit|mark|effect|
//! |---|---|---|
//! |reading beyond the data | `<TRUNCATED>` | the event ends |
//! |`MAX_NESTING` nested templates and functions | `<TEMPLATE NESTING>` | the event ends |
//! |`MAX_ITERATIONS` iterations of a loop | `<LOOP LIMIT>` | the loop ends |
//! |`MAX_STEPS` steps | `<STEP LIMIT>` | the event ends |
//! |`MAX_TEXT` bytes of text | `<OUTPUT LIMIT>` | the event ends |
//! |`MAX_TIMERS` running timers | `<TIMER LIMIT>` | the timer does not start |

mod lines;
mod print;
mod read;
mod run;
mod timers;

pub use lines::Lines;

use super::entry::{Entry, EventContext};
use super::program::{Program, TemplateId};
use super::syntax::Level;
use crate::text::{TextBuffer, put};
use run::Run;
use timers::Timers;

/// Maximum number of iterations of one loop.
const MAX_ITERATIONS: i64 = 65_536;
/// Maximum depth of nested templates and functions.
const MAX_NESTING: usize = 10;
/// Maximum number of steps per event.
const MAX_STEPS: u32 = 1 << 22;
/// Maximum text per event, in bytes.
const MAX_TEXT: usize = 1 << 20;
/// Maximum number of running timers.
const MAX_TIMERS: usize = 1 << 16;

/// The action that the caller takes after an event was formatted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Outcome {
    /// Show the lines of the event.
    #[default]
    Shown,
    /// Omit the event (`$SKIP`).
    Skipped,
    /// Show the lines of the event and end the report (`$STOP`).
    Stop,
}

/// The number of marks of each kind, and the number of events without a template.
///
/// # Examples
///
/// ```
/// use tracewell::template::{Entry, EventContext, Machine, Program, Source};
///
/// let program = Program::of(&[Source::new("my.fmt", "0AA 1.0 \"@e\" X8")]).program;
/// let mut machine = Machine::default();
/// let entry = Entry::hook32(&[0x0A, 0xA1, 0, 0])?;
/// assert_eq!(machine.format(&program, &entry, &EventContext::default()).text(), "<TRUNCATED>");
/// assert_eq!(machine.marks().truncated, 1);
/// # Ok::<(), tracewell::template::EntryError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Marks {
    /// `<TRUNCATED>`: number of times that a template read past the data of an event.
    pub truncated: u64,
    /// `<TEMPLATE NESTING>`, and the marks for the limits of loops, steps, text and timers.
    pub limits: u64,
    /// `<NO TEMPLATE hhh>` and `<NO FUNCTION name>`.
    pub missing: u64,
    /// Events without a template.
    pub undefined: u64,
}

impl Marks {
    /// Returns the sums of this machine's counts and another machine's counts.
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

/// Hook ids of the templates that are used for events without a template of their own.
const OF_ID_ZERO: u16 = 0x0040;
const OF_UNDEFINED: u16 = 0x0070;
const OF_DEFAULT: u16 = 0x0080;

/// Runs programs on events. Timers are the only state that is kept from one event to the next.
///
/// # Examples
///
/// ```
/// use tracewell::template::{Entry, EventContext, Machine, Outcome, Program, Source};
///
/// let text = "0AA 1.0 \"@e\" $HD, 2 {$SKIP}, \\* {\"event \" X2}";
/// let program = Program::of(&[Source::new("my.fmt", text)]).program;
/// let mut machine = Machine::default();
///
/// let first = Entry::hook32(&[0x0A, 0xA1, 0x00, 0x01])?;
/// assert_eq!(machine.format(&program, &first, &EventContext::default()).text(), "event 0001");
/// let second = Entry::hook32(&[0x0A, 0xA1, 0x00, 0x02])?;
/// let lines = machine.format(&program, &second, &EventContext::default());
/// assert_eq!(lines.outcome(), Outcome::Skipped);
/// # Ok::<(), tracewell::template::EntryError>(())
/// ```
#[derive(Debug, Default)]
pub struct Machine {
    lines: Lines,
    state: State,
}

/// The state of a run.
#[derive(Debug, Default)]
struct State {
    /// Values of assigned macros, each with the number of the event that assigned it.
    slots: Vec<(u64, read::Value)>,
    event: u64,
    stack: Vec<read::Value>,
    loops: Vec<i64>,
    calls: Vec<run::Frame>,
    /// The macros that are parameters of a current call, each with its value from before the call.
    /// When a call returns, the machine restores the values of the call's parameters.
    hidden: Vec<(u16, (u64, read::Value))>,
    timers: Timers,
    marks: Marks,
}

impl Machine {
    /// Formats an entry with the template of its id, or as an unknown event.
    pub fn format(
        &mut self,
        program: &Program,
        entry: &Entry<'_>,
        context: &EventContext<'_>,
    ) -> &Lines {
        self.lines.whole().truncate(0);
        self.append(program, entry, context)
    }

    /// Returns the text to which events are appended. Of the functions that format an event, only
    /// [`Machine::format`] removes the earlier text.
    #[inline(always)]
    pub(crate) fn text(&mut self) -> &mut TextBuffer {
        self.lines.whole()
    }

    /// Returns the lines of the event that was appended last.
    #[inline(always)]
    pub(crate) fn lines(&mut self) -> &mut Lines {
        &mut self.lines
    }

    /// Does the same as [`Machine::format`], but appends the event to the text.
    pub(crate) fn append(
        &mut self,
        program: &Program,
        entry: &Entry<'_>,
        context: &EventContext<'_>,
    ) -> &Lines {
        let id = if entry.id == 0 { OF_ID_ZERO } else { entry.id };
        match program.of_id(id) {
            Some(template) => self.run(program, template, entry, context),
            None => self.undefined(program, entry, context),
        }
    }

    /// Appends an entry formatted with this template, regardless of its id.
    pub(crate) fn run(
        &mut self,
        program: &Program,
        template: TemplateId,
        entry: &Entry<'_>,
        context: &EventContext<'_>,
    ) -> &Lines {
        if let Some(facts) = program.template(template) {
            self.go(program, facts.level, 0, facts.start, entry, context);
        }
        &self.lines
    }

    /// Like [`Machine::run`], for a text that already ends with the first `head` bytes of the
    /// template's output.
    #[inline(always)]
    pub(crate) fn run_after_head(
        &mut self,
        program: &Program,
        template: TemplateId,
        head: usize,
        entry: &Entry<'_>,
        context: &EventContext<'_>,
    ) {
        if let Some(facts) = program.template(template) {
            self.go(program, facts.level, head, facts.body, entry, context);
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
        context: &EventContext<'_>,
    ) {
        self.begin(program, level, head);
        let mut run = Run::new(program, entry, context, &mut self.state, &mut self.lines);
        let outcome = run.from(start);
        self.lines.end(outcome);
    }

    /// Appends an entry as an unknown event.
    fn undefined(
        &mut self,
        program: &Program,
        entry: &Entry<'_>,
        context: &EventContext<'_>,
    ) -> &Lines {
        self.state.marks.undefined += 1;
        if let Some(template) = program.of_id(OF_UNDEFINED) {
            return self.run(program, template, entry, context);
        }
        self.begin(program, Level::default(), 0);
        let (word, digits) = entry.hook_word();
        let id = super::syntax::Key::Id(entry.id);
        let text = format_args!("UNDEFINED TRACE ID {id} hookword {word:0digits$X}");
        put(self.lines.buffer(), text);
        self.lines.end(Outcome::Shown);
        &self.lines
    }

    /// Appends an event that `put` prints on one line.
    pub(crate) fn show(&mut self, put: impl FnOnce(&mut TextBuffer)) {
        self.lines.begin(Level::default(), 0);
        put(self.lines.buffer());
        self.lines.end(Outcome::Shown);
    }

    /// Returns the number of marks so far, by kind.
    pub fn marks(&self) -> Marks {
        self.state.marks
    }

    #[inline(always)]
    fn begin(&mut self, program: &Program, level: Level, head: usize) {
        let state = &mut self.state;
        state.event += 1;
        // The machine may run a different program than last time.
        if state.slots.len() != program.slots.len() {
            state.slots.resize(program.slots.len(), (0, read::Value::default()));
        }
        // If the previous event ended early, the stacks still have entries.
        state.stack.clear();
        state.loops.clear();
        state.calls.clear();
        state.hidden.clear();
        self.lines.begin(level, head);
    }
}
