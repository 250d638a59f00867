//! Imitates the scheduling events of a Linux kernel trace. Trace Compass draws its views of threads
//! and processors from them.
//!
//! | change of a track | event |
//! |---|---|
//! | a core switches to another task, or becomes idle | `sched_switch` |
//! | a task that was not ready becomes ready | `sched_wakeup` |
//! | an interrupt begins or ends | `irq_handler_entry`, `irq_handler_exit` |
//!
//! Names, types and values are the same as in LTTng's kernel tracer, except that names of tasks are
//! strings of any length. All events of the trace are written in addition to these events. The
//! views cannot show an unknown state. So while the running task of a core is not known, the output
//! shows a thread with the name `unknown` and the largest thread id.

use std::io;

use super::writer::Writer;
use crate::analysis::scheduling::Position;
use crate::analysis::tracks::{Occupant, State, Tracks};
use crate::export::viewers::{Merge, Timeline};
use crate::model::{Batch, ContextId, Event, Flow, Loss, Meaning, Sink, SinkError, Stop, Trace};

/// Ids of the imitated events.
mod id {
    pub(super) const SWITCH: u32 = 0xFFFF_FF00;
    pub(super) const WAKEUP: u32 = SWITCH + 1;
    pub(super) const INTERRUPT_ENTRY: u32 = SWITCH + 2;
    pub(super) const INTERRUPT_EXIT: u32 = SWITCH + 3;
}

/// The event classes in the metadata.
pub(super) fn classes() -> String {
    let class = |(name, id, fields): (&str, u32, &str)| {
        format!(
            "event {{\n\tname = \"{name}\";\n\tid = {id};\n\tstream_id = 0;\n\
             \tfields := struct {{\n\t\t{fields}\n\t}};\n}};\n\n"
        )
    };
    let switch = "string _prev_comm; i32 _prev_tid; i32 _prev_prio; i64 _prev_state; \
                  string _next_comm; i32 _next_tid; i32 _next_prio;";
    [
        ("sched_switch", id::SWITCH, switch),
        ("sched_wakeup", id::WAKEUP, "string _comm; i32 _tid; i32 _prio; i32 _target_cpu;"),
        ("irq_handler_entry", id::INTERRUPT_ENTRY, "i32 _irq; string _name;"),
        ("irq_handler_exit", id::INTERRUPT_EXIT, "i32 _irq; i32 _ret;"),
    ]
    .map(class)
    .concat()
}

/// The environment entries that make Trace Compass treat the trace as a kernel trace.
pub(super) const ENVIRONMENT: &str =
    "\ttracer_name = \"lttng-modules\";\n\ttracer_major = 2;\n\ttracer_minor = 13;\n";

/// Values of `prev_state` in Linux kernels before version 4.14.
mod state {
    pub(super) const READY: i64 = 0;
    pub(super) const INTERRUPTIBLE: i64 = 1;
    pub(super) const UNINTERRUPTIBLE: i64 = 2;
    pub(super) const DEAD: i64 = 64;
}

/// The priority written for a task whose priority is unknown: the priority of a Linux thread
/// without a nice value.
const USUAL_PRIORITY: i32 = 20;

/// A change of a track.
#[derive(Clone, Copy)]
enum Change {
    Core(u16, Occupant),
    Ready(ContextId),
}

/// The thread that is running on a core.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Runs {
    #[default]
    Unknown,
    Idle,
    Task(ContextId),
}

#[derive(Clone, Default)]
struct Core {
    runs: Runs,
    /// Numbers of the interrupts that are being served.
    interrupts: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Task {
    priority: Option<u16>,
    /// The core on which the task last ran.
    core: u16,
}

/// The sink that passes events to the writer. Before each event, it writes the imitated events that
/// precede the event.
pub(super) struct Imitation<'a> {
    timeline: &'a Timeline,
    changes: Merge<'a, Change>,
    cores: Vec<Core>,
    tasks: Vec<Task>,
    writer: &'a mut Writer,
}

impl<'a> Imitation<'a> {
    /// Creates the sink for the input from which the timeline was made.
    pub(super) fn new(timeline: &'a Timeline, writer: &'a mut Writer) -> Self {
        let mut changes = Merge::new();
        for (context, row) in timeline.tracks.contexts() {
            let mut before = State::Unknown;
            changes.add(timeline.changes(row).filter_map(move |(at, state)| {
                let was = std::mem::replace(&mut before, state);
                // A task that loses its core is ready at once. This is no wake-up.
                let had_processor =
                    matches!(was, State::Running(_) | State::Interrupted | State::Preempted);
                let wakes = state == State::Ready && !had_processor;
                wakes.then_some((at, Change::Ready(context)))
            }));
        }
        for (core, row) in (0..=u16::MAX).zip(&timeline.tracks.cores) {
            changes
                .add(timeline.changes(row).map(move |(at, state)| (at, Change::Core(core, state))));
        }
        let cores = vec![Core::default(); timeline.tracks.cores.len()];
        let tasks = vec![Task::default(); timeline.trace.contexts.len()];
        Self { timeline, changes, cores, tasks, writer }
    }

    /// Writes the imitated events up to this event.
    fn write_until(&mut self, event: Event<'_>) -> io::Result<()> {
        let limit = Position { ticks: event.ticks(), seq: event.seq() };
        while let Some((at, change)) = self.changes.next_until(limit) {
            match change {
                Change::Ready(context) => self.wakeup(event, at, context)?,
                Change::Core(core, state) => self.core(event, at, core, state)?,
            }
        }
        Ok(())
    }

    fn wakeup(&mut self, event: Event<'_>, at: Position, context: ContextId) -> io::Result<()> {
        let core = self.tasks.get(context.index()).map_or(0, |task| task.core);
        let task = self.thread(Runs::Task(context), core);
        self.writer.imitated(event, (event.cpu(), at.ticks), id::WAKEUP, |out| {
            task.put(out);
            out.extend(i32::from(core).to_le_bytes());
        })
    }

    fn core(
        &mut self,
        event: Event<'_>,
        at: Position,
        core: u16,
        state: Occupant,
    ) -> io::Result<()> {
        let Some(known) = self.cores.get_mut(usize::from(core)) else { return Ok(()) };
        let (number, depth) = match state {
            Occupant::Interrupt { number, depth } => (number.unwrap_or(0), usize::from(depth)),
            _ => (0, 0),
        };
        let place = (core, at.ticks);
        let is_other = known.interrupts.len() == depth && known.interrupts.last() != Some(&number);
        let kept = if is_other { depth.saturating_sub(1) } else { depth };
        while known.interrupts.len() > kept {
            let irq = known.interrupts.pop().unwrap_or(0);
            self.writer.imitated(event, place, id::INTERRUPT_EXIT, |out| {
                // The handler's return value 1 means that it served the interrupt.
                out.extend([irq, 1].map(u32::to_le_bytes).concat());
            })?;
        }
        while known.interrupts.len() < depth {
            known.interrupts.push(number);
            self.writer.imitated(event, place, id::INTERRUPT_ENTRY, |out| {
                out.extend(number.to_le_bytes());
                out.extend(format!("irq {number}\0").bytes());
            })?;
        }
        let runs = match state {
            Occupant::Task { runs, .. } => Runs::Task(runs),
            Occupant::Idle => Runs::Idle,
            Occupant::Unknown => Runs::Unknown,
            Occupant::Interrupt { .. } => return Ok(()),
        };
        let before = std::mem::replace(&mut known.runs, runs);
        if before == runs {
            return Ok(());
        }
        if let Runs::Task(context) = runs
            && let Some(task) = self.tasks.get_mut(context.index())
        {
            task.core = core;
        }
        let (prev, next) = (self.thread(before, core), self.thread(runs, core));
        let state = match before {
            Runs::Task(context) => self.state(context, at),
            Runs::Idle | Runs::Unknown => state::READY,
        };
        self.writer.imitated(event, place, id::SWITCH, |out| {
            prev.put(out);
            out.extend(state.to_le_bytes());
            next.put(out);
        })
    }

    /// Returns `prev_state` for a context after a position.
    fn state(&self, context: ContextId, at: Position) -> i64 {
        let tracks: &Tracks = &self.timeline.tracks;
        let changes = tracks.context(context).map_or(&[][..], |row| row.changes());
        let after = changes.partition_point(|change| change.at <= at);
        let state = after.checked_sub(1).map_or(State::Unknown, |last| changes[last].state);
        // Linux calls a wait for a mutex an uninterruptible sleep.
        let is_lock = || tracks.reason(state).is_some_and(|r| r.request == Some(Meaning::Lock));
        match state {
            State::Running(_) | State::Interrupted | State::Preempted | State::Ready => {
                state::READY
            }
            State::Blocked(_) if is_lock() => state::UNINTERRUPTIBLE,
            State::Deleted => state::DEAD,
            State::Blocked(_) | State::Sleeping | State::Done | State::Off | State::Unknown => {
                state::INTERRUPTIBLE
            }
        }
    }

    /// Returns the Linux thread that represents the occupant of a core.
    fn thread(&self, runs: Runs, core: u16) -> Thread {
        let usual = |name, tid| Thread { name, tid, priority: USUAL_PRIORITY };
        let context = match runs {
            Runs::Unknown => return usual("unknown".to_owned(), i32::MAX),
            Runs::Idle => return usual(format!("swapper/{core}"), 0),
            Runs::Task(context) => context,
        };
        let name = self.timeline.trace.contexts.get(context).map(|context| context.name.as_str());
        let priority = self.tasks.get(context.index()).and_then(|task| task.priority);
        Thread {
            name: name.unwrap_or("?").replace('\0', " "),
            // Thread 0 is the idle thread. A trace has fewer contexts than this type has values.
            tid: i32::try_from(context.0).unwrap_or(i32::MAX).saturating_add(1),
            priority: priority.map_or(USUAL_PRIORITY, i32::from),
        }
    }
}

struct Thread {
    name: String,
    tid: i32,
    priority: i32,
}

impl Thread {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.name.bytes());
        out.push(0);
        out.extend(self.tid.to_le_bytes());
        out.extend(self.priority.to_le_bytes());
    }
}

impl Sink for Imitation<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for row in batch.events() {
            let event = Event::new(trace, &row);
            if let (Some(priority), Some(task)) =
                (event.priority(), self.tasks.get_mut(row.context.index()))
            {
                task.priority = Some(priority);
            }
            self.writer.begin(trace);
            // The changes up to this event precede it in the stream.
            Stop::on_error(self.write_until(event))?;
            Stop::on_error(self.writer.event(event))?;
        }
        Flow::Continue(())
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.writer.loss(trace, loss)
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.writer.finish(trace)
    }
}
