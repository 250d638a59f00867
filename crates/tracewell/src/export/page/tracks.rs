//! The tracks of the page as columns. The page contains only the part of each row that is in the
//! page's range.

use std::ops::Range;

use serde_json::{Value, json};

use super::columns::{Column, Columns};
use super::events::Events;
use super::machines::MachineNames;
use super::rows::{Rows, maybe, overlaps, put_span, span};
use crate::analysis::scheduling::{Figures, Waited};
use crate::analysis::summary::{Extent, distinct};
use crate::analysis::tracks::{ArrowKind, Holder, LockTrack, Occupant, Reason, State, Tracks};
use crate::model::{ContextId, Trace};
use crate::report::key_text;
use crate::report::scheduling::{asked_object, kind_of, resource_label};
use crate::threads::{Threads, each_on_threads};

/// One thread per processor.
static THREADS: Threads = Threads::new(0);

/// The names of the tracks, and the inversions. They do not depend on the shown range.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Names {
    /// The members `name`, `key` and `what` of each lock.
    pub(super) locks: Vec<Value>,
    /// The member `reasons` of the header.
    pub(super) reasons: Value,
    /// The inversions, in the order of their beginnings.
    pub(super) inversions: Vec<Inversion>,
    /// Ticks of the longest wait among `inversions`.
    pub(super) longest: u64,
    /// Views of all resolutions show the inversions with at least this number of ticks.
    pub(super) severe: u64,
}

/// Views of all resolutions show this number of inversions: the most severe ones.
const SEVERE: usize = 1000;

/// A wait during which a less urgent task ran although it did not hold the mutex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Inversion {
    pub(super) context: ContextId,
    /// Number of the mutex plus 1, or 0 if it has no row.
    pub(super) lock: u64,
    pub(super) from: u64,
    pub(super) until: u64,
    /// Ticks of the inversion.
    pub(super) ticks: u64,
}

/// The page draws an inversion as a band over all rows.
impl Extent for Inversion {
    fn key(&self) -> u64 {
        0
    }

    fn first(&self) -> u64 {
        self.from
    }

    fn last(&self) -> u64 {
        self.until
    }
}

/// An inversion and its number among all inversions of the trace.
#[derive(Clone, Copy)]
struct Numbered {
    number: u64,
    inversion: Inversion,
}

impl Extent for Numbered {
    fn key(&self) -> u64 {
        self.inversion.key()
    }

    fn first(&self) -> u64 {
        self.inversion.first()
    }

    fn last(&self) -> u64 {
        self.inversion.last()
    }
}

impl Names {
    /// Returns the names of tracks. `figures` are the figures of the same trace.
    pub(super) fn new(trace: &Trace, tracks: &Tracks, figures: &Figures, events: &Events) -> Self {
        let lock = |lock: &LockTrack| {
            json!({
                "name": resource_label(trace, lock.key, lock.kind),
                "key": key_text(trace, lock.key),
                "what": kind_of(trace, lock.is_mutex, lock.kind),
            })
        };
        let inverted = figures.waits.iter().filter_map(|wait| {
            let ticks = Some(wait.inverted_ticks()).filter(|ticks| *ticks > 0)?;
            let identity = (wait.key, wait.kind, wait.is_mutex);
            let same = |lock: &LockTrack| (Some(lock.key), lock.kind, lock.is_mutex) == identity;
            // Row numbers begin with 1, because 0 means that the object has no row.
            let lock = tracks.locks.iter().position(same).map_or(0, |lock| lock as u64 + 1);
            let Waited { context, from, until, .. } = *wait;
            Some(Inversion { context, lock, from, until, ticks })
        });
        let mut inversions: Vec<_> = inverted.collect();
        inversions.sort_by_key(|inversion| (inversion.from, inversion.until));
        // `inversions` uses the length of the longest wait to find the waits that begin before a
        // range and reach into it.
        let lengths = inversions.iter().map(|inversion| inversion.until - inversion.from);
        let longest = lengths.max().unwrap_or(0);
        // The `SEVERE` largest inversions are always shown. `severe` is the size of the smallest of
        // these, which can be found without sorting.
        let mut ticks: Vec<_> = inversions.iter().map(|inversion| inversion.ticks).collect();
        let mild = ticks.len().checked_sub(SEVERE);
        let severe =
            mild.filter(|mild| *mild > 0).map_or(0, |mild| *ticks.select_nth_unstable(mild).1);
        Self {
            locks: tracks.locks.iter().map(lock).collect(),
            reasons: tracks.reasons.iter().map(|reason| described(trace, events, reason)).collect(),
            inversions,
            longest,
            severe,
        }
    }

    /// Returns the number of the inversions that begin at `ticks` or earlier.
    pub(super) fn inversions_until(&self, ticks: u64) -> usize {
        self.inversions.partition_point(|inversion| inversion.from <= ticks)
    }
}

/// The tracks in a range.
pub(super) struct Shown<'a> {
    pub(super) tracks: &'a Tracks,
    pub(super) names: &'a Names,
    pub(super) machines: &'a MachineNames,
    pub(super) range: &'a Range<u64>,
    /// Number of ticks in a part. Inversions that are not longer are thinned out.
    pub(super) resolution: u64,
}

impl Shown<'_> {
    /// Adds all columns of the tracks. Returns the member `rows` of the header.
    ///
    /// | column | values |
    /// |---|---|
    /// | `change.ticks`, `change.seq` | the event that changed a row |
    /// | `change.state` | the code of the state from this event on, see [`coded`] and [`occupant`] |
    /// | `change.value` | the context, interrupt, reason, state of a machine, or level |
    /// | `recorded.*` | numbers of events of contexts, if the trace shows no states and the payload is a part that lists no events |
    /// | `wait.*` | waits for mutexes and semaphores, by row |
    /// | `job.*`, `mark.*`, `arrow.*`, `gap.*`, `inversion.*` | one value per entry |
    ///
    /// The value for an optional context is its number plus 1, or 0 if there is none. The same
    /// applies to the sequence number of an optional position.
    pub(super) fn put(&self, columns: &mut Columns) -> Value {
        // To encode all columns takes longer than to make the tracks on all threads.
        let parts = each_on_threads(2, &THREADS, |part| match part {
            0 => self.rows(),
            _ => (Vec::new(), self.entries()),
        });
        let mut rows = Vec::new();
        for (mut list, part) in parts {
            rows.append(&mut list);
            columns.append(part);
        }
        Value::Array(rows)
    }

    /// Returns the member `rows` of the header, and the columns of changes and waits.
    fn rows(&self) -> (Vec<Value>, Columns) {
        let Self { tracks, names, machines, range, .. } = *self;
        let mut rows = Rows::new(range.clone());
        for (number, row) in tracks.cores.iter().enumerate() {
            let place = rows.changes(row, occupant);
            rows.add("core", json!({ "number": number, "changes": place }));
        }
        for (context, row) in tracks.contexts() {
            let place = rows.changes(row, coded);
            rows.add("context", json!({ "context": context.0, "changes": place }));
        }
        for (lock, members) in tracks.locks.iter().zip(&names.locks) {
            let held =
                |state: Holder| (u64::from(state.context().is_some()), maybe(state.context()));
            let mut row = members.clone();
            row["changes"] = json!(rows.changes(&lock.holder, held));
            row["waits"] = json!(rows.waits(lock));
            rows.add("lock", row);
        }
        machines.show(tracks, self.resolution, &mut rows);
        let mut columns = Columns::default();
        rows.finish(&mut columns);
        (rows.list, columns)
    }

    /// Returns the columns of jobs, marks, arrows, gaps and inversions.
    fn entries(&self) -> Columns {
        let Self { tracks, names, range, resolution, .. } = *self;
        let mut columns = Columns::default();
        entries(tracks, range, &mut columns);
        inversions(names, range, resolution, &mut columns);
        columns
    }
}

/// Returns two numbers: the code of a context's state, and a detail. For a running context, the
/// detail is the context on whose behalf it runs. For a blocked context, the detail is the reason.
fn coded(state: State) -> (u64, u64) {
    match state {
        State::Unknown => (0, 0),
        State::Running(of) => (1, maybe(of.get())),
        State::Interrupted => (2, 0),
        State::Preempted => (3, 0),
        State::Ready => (4, 0),
        State::Blocked(reason) => (5, u64::from(reason)),
        State::Sleeping => (6, 0),
        State::Done => (7, 0),
        State::Off => (8, 0),
        State::Deleted => (9, 0),
    }
}

/// Returns two numbers: the code of a core's activity, and a detail. The detail is the running
/// context, or the number of the interrupt plus 1.
fn occupant(state: Occupant) -> (u64, u64) {
    match state {
        Occupant::Unknown => (0, 0),
        Occupant::Task { runs, .. } => (1, u64::from(runs.0)),
        Occupant::Interrupt { number, .. } => (2, number.map_or(0, |n| u64::from(n) + 1)),
        Occupant::Idle => (3, 0),
    }
}

/// Returns the reason why a context is blocked: the kind and the name of the object, the context
/// that holds it, and the state code.
fn described(trace: &Trace, events: &Events, reason: &Reason) -> Value {
    let (noun, object) = asked_object(trace, reason);
    let code = reason.code.map(|code| {
        let known = events.codes.get(&code);
        known.map_or_else(|| code.to_string(), |name| awaited(name).to_owned())
    });
    json!({
        "what": noun,
        "object": object,
        "holder": maybe(reason.holder),
        "code": code,
    })
}

/// Returns the words for a reason after "waits for". Kernels name some reasons by the state of the
/// waiting context.
fn awaited(reason: &str) -> &str {
    match reason {
        "suspended" => "a resume",
        "delayed" | "sleep" => "the end of a delay",
        reason => reason,
    }
}

/// Adds jobs, marks, arrows and gaps.
fn entries(tracks: &Tracks, range: &Range<u64>, columns: &mut Columns) {
    let mut jobs: [Column; 7] = Default::default();
    let rows = tracks.jobs_with_each_miss();
    for job in rows.iter().filter(|job| overlaps(range, job.from, job.until)) {
        let [context, missed, missed_seq, from, from_seq, until, until_seq] = &mut jobs;
        context.number(u64::from(job.context.0));
        missed.delta(job.missed.map_or(job.from.ticks, |missed| missed.ticks));
        missed_seq.delta(job.missed.map_or(0, |missed| missed.seq + 1));
        put_span([from, from_seq, until, until_seq], job.from, job.until);
    }
    let [context, missed, missed_seq, from, from_seq, until, until_seq] = jobs;
    columns.numbers("job.context", context);
    columns.deltas("job.missed", missed);
    columns.deltas("job.missed_seq", missed_seq);
    span(columns, "job", [from, from_seq, until, until_seq]);

    // If a trace has no states, the page draws its events, and marks would repeat these events.
    let [mut ticks, mut seq, mut context]: [Column; 3] = Default::default();
    let shows_states = tracks.contexts().next().is_some();
    let marks = tracks.marks.iter().filter(|_| shows_states);
    for mark in marks.filter(|mark| (range.start..=range.end).contains(&mark.at.ticks)) {
        ticks.delta(mark.at.ticks);
        seq.delta(mark.at.seq);
        context.number(u64::from(mark.context.0));
    }
    columns.deltas("mark.ticks", ticks);
    columns.deltas("mark.seq", seq);
    columns.numbers("mark.context", context);

    let mut arrows: [Column; 7] = Default::default();
    let all = tracks.arrows.iter();
    let mut shown: Vec<_> =
        all.filter(|arrow| overlaps(range, arrow.from, Some(arrow.to))).collect();
    // The page searches for arrows by their ends, so sort them.
    shown.sort_by_key(|arrow| arrow.to);
    for arrow in shown {
        let [kind, by, whom, from, from_seq, until, until_seq] = &mut arrows;
        kind.number(match arrow.kind {
            ArrowKind::WakeUp => 0,
            ArrowKind::WaitsFor => 1,
            ArrowKind::Message => 2,
        });
        by.number(maybe(arrow.from_context));
        whom.number(u64::from(arrow.to_context.0));
        put_span([from, from_seq, until, until_seq], arrow.from, Some(arrow.to));
    }
    let [kind, by, whom, from, from_seq, until, until_seq] = arrows;
    columns.numbers("arrow.kind", kind);
    columns.numbers("arrow.by", by);
    columns.numbers("arrow.context", whom);
    span(columns, "arrow", [from, from_seq, until, until_seq]);

    let mut gaps: [Column; 6] = Default::default();
    for gap in tracks.gaps.iter().filter(|gap| overlaps(range, gap.from, gap.until)) {
        let [events, cause, from, from_seq, until, until_seq] = &mut gaps;
        events.number(gap.events.map_or(0, |events| events.saturating_add(1)));
        cause.number(gap.cause.map_or(0, |cause| cause as u64 + 1));
        put_span([from, from_seq, until, until_seq], gap.from, gap.until);
    }
    let [events, cause, from, from_seq, until, until_seq] = gaps;
    columns.numbers("gap.events", events);
    columns.numbers("gap.cause", cause);
    span(columns, "gap", [from, from_seq, until, until_seq]);
}

/// Adds the numbers of events that contexts recorded, for a part that lists no events.
pub(super) fn recorded(tracks: &Tracks, columns: &mut Columns) {
    let [mut ticks, mut context, mut count]: [Column; 3] = Default::default();
    for recorded in &tracks.recorded {
        ticks.delta(recorded.at.ticks);
        context.number(u64::from(recorded.context.0));
        count.number(recorded.count);
    }
    columns.deltas("recorded.ticks", ticks);
    columns.numbers("recorded.context", context);
    columns.numbers("recorded.count", count);
}

/// Adds the inversions that a view can distinguish, and the most severe inversions. The column
/// `inversion.number` contains the number of each among all inversions of the trace, so that the
/// page can count those that the view leaves out.
fn inversions(names: &Names, range: &Range<u64>, resolution: u64, columns: &mut Columns) {
    let mut all: [Column; 6] = Default::default();
    let Names { inversions, longest, severe, .. } = names;
    // An inversion that reaches into the range began at most `longest` ticks before the range.
    let earliest = range.start.saturating_sub(*longest);
    let first = inversions.partition_point(|inversion| inversion.from < earliest);
    let last = names.inversions_until(range.end);
    let near = (first as u64..).zip(&inversions[first..last]);
    let near = near.map(|(number, inversion)| Numbered { number, inversion: *inversion });
    let (mild, severe): (Vec<_>, Vec<_>) = near.partition(|one| one.inversion.ticks < *severe);
    // The resolution may merge mild inversions, but never severe ones.
    let mut shown = distinct(mild.iter(), range, resolution);
    shown.extend(distinct(severe.iter(), range, 0));
    // The columns store differences, which need ascending beginnings.
    shown.sort_by_key(|one| one.number);
    for Numbered { number, inversion } in shown {
        let [context, row, from, until, ticks, numbers] = &mut all;
        numbers.delta(number);
        context.number(u64::from(inversion.context.0));
        row.number(inversion.lock);
        from.delta(inversion.from);
        until.delta(inversion.until);
        ticks.number(inversion.ticks);
    }
    let [context, row, from, until, ticks, numbers] = all;
    columns.deltas("inversion.number", numbers);
    columns.numbers("inversion.context", context);
    columns.numbers("inversion.lock", row);
    columns.deltas("inversion.from", from);
    columns.deltas("inversion.until", until);
    columns.numbers("inversion.ticks", ticks);
}
