//! The tracks of a timeline in Perfetto's order, and all changes of these tracks.

use std::collections::{BTreeMap, HashSet};
use std::io;

use foldhash::fast::RandomState;

use super::super::lanes::lanes;
use super::super::merge::Merge;
use super::super::timeline::Timeline;
use super::descriptors::{Descriptors, Group, of_context, of_values};
use super::kernel::{self, Kernel};
use super::packets::Packets;
use super::slices::{self, Change, FlowEnd, Label, Note};
use crate::analysis::scheduling::Position;
use crate::analysis::tracks::{
    Arrow, ArrowKind, Finding, FindingKind, Gap, Job, Occupant, Row, State,
};
use crate::model::{ContextId, Trace};
use crate::report::scheduling::asked_object;
use crate::text::missing;

/// A change of the timeline.
pub(super) enum Act<'a> {
    /// The new state of a context; `None` if the context has the processor.
    Context(ContextId, Option<u8>),
    Core(u16, Occupant),
    On(Place, Change<'a>),
    /// Packets are missing.
    Lost,
}

/// The place of a slice or an instant.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Track(u64),
    Context(ContextId),
}

/// Each change, with its position.
type Changes<'a> = Vec<(Position, Act<'a>)>;

/// All tracks of a timeline.
pub(super) struct Layout<'a, 'o> {
    pub(super) packets: Packets<'o>,
    pub(super) kernel: Kernel,
    /// Number of arrows that exceed the maximum and are left out.
    pub(super) arrows_left_out: u64,
    pub(super) timeline: &'a Timeline,
    pub(super) descriptors: Descriptors,
    pub(super) merge: Merge<'a, Act<'a>>,
    /// The group of the counters that show values; `None` if there is no counter yet.
    values: Option<Group>,
    /// The ids of the events that have a counter.
    valued: HashSet<u32, RandomState>,
}

impl<'a, 'o> Layout<'a, 'o> {
    /// Describes all tracks except those that are needed only for events.
    pub(super) fn new(
        timeline: &'a Timeline,
        mut packets: Packets<'o>,
        name: &str,
        as_slices: bool,
        most_arrows: u64,
    ) -> io::Result<Self> {
        // Perfetto knows only nanoseconds. If the clock's rate is unknown, the name says that 1 ns
        // is 1 tick.
        let name = match timeline.trace.clock.rate {
            Some(_) => name.to_owned(),
            None => format!("{name} (1 ns is 1 tick)"),
        };
        if let Some(date) = timeline.trace.wall_clock_ns(0) {
            packets.clocks(date)?;
        }
        let descriptors = Descriptors::new(&mut packets, &name)?;
        let mut layout = Self {
            packets,
            kernel: Kernel::default(),
            arrows_left_out: 0,
            timeline,
            descriptors,
            merge: Merge::new(),
            values: None,
            valued: HashSet::default(),
        };
        // Perfetto shows the tracks in the order of these calls.
        if as_slices {
            layout.cores_as_slices()?;
        } else {
            layout.threads(&name)?;
        }
        layout.states(as_slices)?;
        layout.spans();
        layout.interrupts()?;
        layout.locks()?;
        layout.jobs()?;
        layout.machines()?;
        layout.levels()?;
        layout.budgets()?;
        layout.findings()?;
        layout.arrows(most_arrows);
        layout.losses()?;
        Ok(layout)
    }

    /// Writes all changes up to a position.
    pub(super) fn write_until(&mut self, limit: Position) -> io::Result<()> {
        while let Some((at, act)) = self.merge.next_until(limit) {
            match act {
                Act::Context(context, state) => {
                    self.kernel.context(&mut self.packets, at.ticks, context, state)?;
                }
                Act::Core(core, state) => {
                    self.kernel.core(&mut self.packets, at.ticks, core, state)?;
                }
                Act::On(place, change) => {
                    let track = match place {
                        Place::Track(track) => track,
                        Place::Context(context) => self.context(context)?,
                    };
                    slices::write(&mut self.packets, at.ticks, track, &change)?;
                }
                Act::Lost => self.packets.lost(at.ticks)?,
            }
        }
        Ok(())
    }

    /// Returns the track of a context.
    pub(super) fn context(&mut self, context: ContextId) -> io::Result<u64> {
        let has_states = self.timeline.tracks.context(context).is_some();
        let trace = &self.timeline.trace;
        self.descriptors.context(&mut self.packets, trace, context, has_states)?;
        Ok(of_context(context))
    }

    /// Returns the counter with the values of an event.
    pub(super) fn values(&mut self, id: u32, name: &str) -> io::Result<u64> {
        if self.valued.insert(id) {
            let mut group = match self.values {
                Some(group) => group,
                None => self.group("Values", "numbers that the program recorded")?,
            };
            Descriptors::counts(&mut self.packets, of_values(id), &mut group, name, "")?;
            self.values = Some(group);
        }
        Ok(of_values(id))
    }

    pub(super) fn group(&mut self, name: &str, description: &str) -> io::Result<Group> {
        self.descriptors.group(&mut self.packets, name, description)
    }

    pub(super) fn member(&mut self, group: &mut Group, name: &str) -> io::Result<u64> {
        self.descriptors.member(&mut self.packets, group, name)
    }

    /// Adds the threads and cores of the kernel.
    fn threads(&mut self, name: &str) -> io::Result<()> {
        let Timeline { trace, tracks, .. } = self.timeline;
        if tracks.cores.is_empty() {
            return Ok(());
        }
        let named = |(id, _): (ContextId, &Row<State>)| Some((id, trace.contexts.get(id)?));
        let threads = tracks.contexts().filter_map(named);
        Descriptors::process_tree(&mut self.packets, name, threads)?;
        let timeline = self.timeline;
        for (context, row) in tracks.contexts() {
            // Only the last change can be the end of a thread. After an earlier deletion, the key
            // is used again.
            let last = row.changes().last().map(|change| change.at);
            self.merge.add(timeline.changes(row).map(move |(at, state)| {
                (at, Act::Context(context, kernel::code(tracks, state, last == Some(at))))
            }));
        }
        for (core, row) in (0..).zip(&tracks.cores) {
            let changes = timeline.changes(row);
            self.merge.add(changes.map(move |(at, state)| (at, Act::Core(core, state))));
        }
        Ok(())
    }

    /// Adds slices of the tasks on each core.
    fn cores_as_slices(&mut self) -> io::Result<()> {
        let Timeline { trace, tracks, .. } = self.timeline;
        if tracks.cores.is_empty() {
            return Ok(());
        }
        let mut group = self.group("Cores", "the context that runs on each core")?;
        for (number, row) in tracks.cores.iter().enumerate() {
            let track = self.member(&mut group, &format!("core {number}"))?;
            self.slices(Place::Track(track), row, |state| match state {
                Occupant::Task { runs, .. } => Some(Label::new("running", name(trace, runs))),
                Occupant::Interrupt { number, .. } => {
                    Some(Label::new("interrupt", interrupt(number)))
                }
                Occupant::Idle => Some(Label::new("idle", "idle")),
                Occupant::Unknown => None,
            });
        }
        Ok(())
    }

    /// Adds slices for the states of contexts. Without `all`, adds slices only for blocked
    /// contexts, with the reasons.
    fn states(&mut self, all: bool) -> io::Result<()> {
        let Timeline { trace, tracks, .. } = self.timeline;
        for (context, row) in tracks.contexts() {
            self.context(context)?;
            self.slices(Place::Context(context), row, move |state| {
                let Some(reason) = tracks.reason(state) else {
                    let is_shown = all && state != State::Unknown;
                    return is_shown.then(|| Label::new("state", state.name()));
                };
                let (noun, object) = asked_object(trace, reason);
                let words = noun.map(str::to_owned).into_iter().chain(object);
                let object = words.collect::<Vec<_>>().join(" ");
                // Without an object, the slice would only repeat the state that the thread's track
                // already shows.
                if object.is_empty() && !all {
                    return None;
                }
                let mut label = Label::new("blocked", format!("blocked: {object}"));
                if let Some(holder) = reason.holder {
                    label = label.note("holder", Note::Text(name(trace, holder).into()));
                }
                if let Some(code) = reason.code {
                    label = label.note("state code", Note::Number(code));
                }
                Some(label)
            });
        }
        Ok(())
    }

    /// Adds a slice for each span of a row, unless `label` returns `None` for the state of the
    /// span.
    pub(super) fn slices<S: Copy + PartialEq>(
        &mut self,
        place: Place,
        row: &'a Row<S>,
        label: impl Fn(S) -> Option<Label<'a>> + 'a,
    ) {
        let spans = self.timeline.spans(row);
        self.merge.add(spans.flat_map(move |(from, until, state)| {
            let label = label(state);
            let end = label.is_some().then_some((until, Act::On(place, Change::End)));
            label.map(|label| (from, Act::On(place, Change::Begin(label)))).into_iter().chain(end)
        }));
    }

    /// Adds the interrupts on each core. Nested interrupts are nested slices.
    fn interrupts(&mut self) -> io::Result<()> {
        let is_interrupt = |state| matches!(state, Occupant::Interrupt { .. });
        let timeline = self.timeline;
        let rows = (0_u16..).zip(&timeline.tracks.cores);
        let mut group = None;
        for (number, row) in rows {
            if !row.changes().iter().any(|change| is_interrupt(change.state)) {
                continue;
            }
            // Create the group only when the first core with interrupts needs it.
            let mut all = match group {
                Some(group) => group,
                None => self.group("Interrupts", "interrupts on each core")?,
            };
            let track = self.member(&mut all, &format!("core {number}"))?;
            group = Some(all);
            // An unknown state at the end closes all slices that are still open.
            let end = Position { ticks: timeline.range.end, seq: u64::MAX };
            let changes = timeline.changes(row).chain([(end, Occupant::Unknown)]);
            let mut open = Vec::new();
            self.merge.add(changes.flat_map(move |(at, state)| {
                let changes = nested(&mut open, state);
                changes.into_iter().map(move |change| (at, Act::On(Place::Track(track), change)))
            }));
        }
        Ok(())
    }

    /// Adds the jobs of each task. Overlapping jobs are in separate tracks.
    fn jobs(&mut self) -> io::Result<()> {
        let timeline = self.timeline;
        let mut of_tasks: BTreeMap<ContextId, Vec<&'a Job>> = BTreeMap::new();
        for job in &timeline.tracks.jobs {
            if timeline.within(job.from, job.until).is_some() {
                of_tasks.entry(job.context).or_default().push(job);
            }
        }
        if of_tasks.is_empty() {
            return Ok(());
        }
        let mut group = self.group("Jobs", "from the release of each job to its completion")?;
        for (context, jobs) in of_tasks {
            let end = |job: &Job| job.until.map_or(u64::MAX, |until| until.ticks);
            // The slices of a track must be nested, so overlapping jobs need several tracks.
            let rows = lanes(jobs.iter().map(|job| (job.from.ticks, end(job))));
            let mut lanes: Vec<Vec<&'a Job>> = Vec::new();
            for (job, row) in jobs.into_iter().zip(rows) {
                lanes.resize_with(lanes.len().max(row + 1), Vec::new);
                lanes[row].push(job);
            }
            let name = name(&timeline.trace, context);
            for (lane, jobs) in lanes.into_iter().enumerate() {
                let title = match lane {
                    0 => name.to_owned(),
                    _ => format!("{name} ({})", lane + 1),
                };
                let track = self.member(&mut group, &title)?;
                let changes = jobs.into_iter().flat_map(move |job| job_changes(timeline, job));
                self.merge.add(
                    changes.map(move |(at, change)| (at, Act::On(Place::Track(track), change))),
                );
            }
        }
        Ok(())
    }

    /// Adds priority inversions and missed deadlines.
    fn findings(&mut self) -> io::Result<()> {
        let timeline = self.timeline;
        let mut shown: Vec<_> = timeline.tracks.findings.iter().collect();
        shown.retain(|finding| timeline.within(finding.from, Some(finding.until)).is_some());
        if shown.is_empty() {
            return Ok(());
        }
        // `lanes` expects the beginnings in order.
        shown.sort_by_key(|finding| finding.from);
        let ends = shown.iter().map(|finding| (finding.from.ticks, finding.until.ticks));
        let rows = lanes(ends);
        let mut group = self.group("Findings", "priority inversions and missed deadlines")?;
        let mut tracks = Vec::new();
        for row in 0..=rows.iter().copied().max().unwrap_or(0) {
            let title =
                if row == 0 { "findings".to_owned() } else { format!("findings ({})", row + 1) };
            tracks.push(self.member(&mut group, &title)?);
        }
        let changes = shown.into_iter().zip(rows).flat_map(|(finding, row)| {
            let place = Place::Track(tracks[row]);
            let ends = timeline.within(finding.from, Some(finding.until));
            let label = finding_label(&timeline.trace, finding);
            let begin = ends.map(|(from, _)| (from, Act::On(place, Change::Begin(label))));
            let end = ends.map(|(_, until)| (until, Act::On(place, Change::End)));
            begin.into_iter().chain(end)
        });
        // A finding may end after the next one begins, so these changes are not in order.
        self.merge.add_unordered(changes.collect());
        Ok(())
    }

    /// Adds arrows, each as two instants with the same flow.
    fn arrows(&mut self, most: u64) {
        let timeline = self.timeline;
        let mut changes: Changes<'a> = Vec::new();
        let shown = timeline.tracks.arrows.iter().filter(|arrow| timeline.contains(arrow.to));
        for (number, arrow) in (1..).zip(shown) {
            if number > most {
                self.arrows_left_out += 1;
                continue;
            }
            // If the cause is outside the range, show the effect without an arrow.
            let from = arrow.from_context.filter(|_| timeline.contains(arrow.from));
            let (cause, effect) = arrow_labels(&timeline.trace, arrow);
            if let Some(context) = from {
                let change = Change::Instant(cause, Some(FlowEnd::From(number)));
                changes.push((arrow.from, Act::On(Place::Context(context), change)));
            }
            let flow = from.map(|_| FlowEnd::To(number));
            let change = Change::Instant(effect, flow);
            changes.push((arrow.to, Act::On(Place::Context(arrow.to_context), change)));
        }
        self.merge.add_unordered(changes);
    }

    /// Adds the gaps.
    fn losses(&mut self) -> io::Result<()> {
        let timeline = self.timeline;
        let shown = |gap: &&Gap| timeline.within(gap.from, gap.until).is_some();
        if !timeline.tracks.gaps.iter().any(|gap| shown(&gap)) {
            return Ok(());
        }
        let mut group = self.group("Losses", "times in which events are missing")?;
        let place = Place::Track(self.member(&mut group, "missing events")?);
        let mut changes: Changes<'a> = Vec::new();
        for gap in &timeline.tracks.gaps {
            let Some((from, until)) = timeline.within(gap.from, gap.until) else { continue };
            let name = match (gap.events, gap.cause) {
                (_, None) => "recording was off".to_owned(),
                (Some(0), _) => "a record is damaged".to_owned(),
                (Some(events), _) => missing(events, "event"),
                (None, _) => "events are missing, number unknown".to_owned(),
            };
            let mut label = Label::new("loss", name);
            if let Some(cause) = gap.cause {
                label = label.note("cause", Note::Text(cause.as_str().into()));
                // Perfetto marks the place of lost packets. A pause of the recording is no loss.
                changes.push((from, Act::Lost));
            }
            changes.push((from, Act::On(place, Change::Begin(label))));
            changes.push((until, Act::On(place, Change::End)));
        }
        self.merge.add_unordered(changes);
        Ok(())
    }
}

/// A position before all events at this tick.
pub(super) fn at(ticks: u64) -> Position {
    Position { ticks, seq: 0 }
}

fn finding_label<'a>(trace: &'a Trace, finding: &Finding) -> Label<'a> {
    let title = format!("{}: {}", finding.kind.name(), name(trace, finding.context));
    let mut label = Label::new("finding", title);
    if let Some(culprit) = finding.culprit {
        label = label.note("caused by", Note::Text(name(trace, culprit).into()));
    }
    if let FindingKind::PriorityInversion { ticks } = finding.kind {
        label = label.note("inverted ticks", Note::Number(ticks));
    }
    label = label.note("first event", Note::Number(finding.from.seq));
    label.note("last event", Note::Number(finding.until.seq))
}

pub(super) fn name(trace: &Trace, context: ContextId) -> &str {
    trace.contexts.get(context).map_or("?", |context| context.name.as_str())
}

fn interrupt(number: Option<u32>) -> String {
    number.map_or_else(|| "interrupt".to_owned(), |number| format!("interrupt {number}"))
}

/// Returns which interrupts must end and which must begin when a core enters a new state. `open`
/// contains the interrupt numbers of the open slices.
fn nested(open: &mut Vec<Option<u32>>, state: Occupant) -> Vec<Change<'static>> {
    let (top, depth) = match state {
        Occupant::Interrupt { number, depth } => (number, usize::from(depth)),
        _ => (None, 0),
    };
    let mut changes = Vec::new();
    // Another interrupt may follow at the same depth.
    let is_other = open.len() == depth && open.last().is_some_and(|number| *number != top);
    let kept = if is_other { depth - 1 } else { depth };
    while open.len() > kept {
        open.pop();
        changes.push(Change::End);
    }
    while open.len() < depth {
        let number = if open.len() + 1 == depth { top } else { None };
        open.push(number);
        changes.push(Change::Begin(Label::new("interrupt", interrupt(number))));
    }
    changes
}

/// Returns the changes of a job's track.
fn job_changes<'a>(
    timeline: &Timeline,
    job: &Job,
) -> impl Iterator<Item = (Position, Change<'a>)> + use<'a> {
    let begin = match job.until {
        Some(_) => Label::new("job", "job"),
        None => Label::new("job", "job, completion not recorded"),
    };
    let missed = job.missed.filter(|at| timeline.contains(*at));
    let missed = missed
        .map(|at| (at, Change::Instant(Label::new("deadline missed", "deadline missed"), None)));
    let ends = timeline.within(job.from, job.until);
    let from = ends.map(|(from, _)| (from, Change::Begin(begin)));
    let until = ends.map(|(_, until)| (until, Change::End));
    from.into_iter().chain(missed).chain(until)
}

/// Returns the labels of both ends of an arrow.
fn arrow_labels<'a>(trace: &'a Trace, arrow: &Arrow) -> (Label<'a>, Label<'a>) {
    let to = name(trace, arrow.to_context);
    let from = arrow.from_context.map_or("an interrupt", |from| name(trace, from));
    let (category, cause, effect) = match arrow.kind {
        ArrowKind::WakeUp => ("wake-up", format!("wakes {to}"), format!("woken by {from}")),
        ArrowKind::Message => ("message", format!("sends to {to}"), format!("takes from {from}")),
        ArrowKind::WaitsFor => ("wait", format!("waits for {to}"), format!("{from} waits")),
    };
    (Label::new(category, cause), Label::new(category, effect))
}
