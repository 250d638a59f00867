//! Finds the responses and waits of a trace, and selects the response or wait that a question asks
//! for.

use std::cmp::Reverse;
use std::ops::Range;

use super::Explained;
use super::question::{NoPath, Question, is_meant};
use crate::analysis::tracks::{LockTrack, Position, Reason, State, Tracks};
use crate::model::{ContextId, Meaning, Trace};

/// A response or a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Interval {
    pub(super) context: ContextId,
    pub(super) kind: Explained,
    pub(super) from: Position,
    pub(super) until: Position,
}

impl Interval {
    fn ticks(&self) -> u64 {
        self.until.ticks.saturating_sub(self.from.ticks)
    }

    /// Returns the rank of this interval among the intervals of its task: 2 for a response, 1 for a
    /// wait for a mutex, 0 for another wait. A question about a task selects an interval of the
    /// highest rank.
    fn rank(&self) -> u8 {
        match self.kind {
            Explained::Response => 2,
            Explained::Wait(reason) if reason.request == Some(Meaning::Lock) => 1,
            Explained::Wait(_) => 0,
        }
    }
}

/// Returns the response or wait that a question asks for. If the question asks for the longest
/// response or wait of a task, only responses and waits that end within `range` (in ticks) are
/// candidates.
pub(super) fn find(
    trace: &Trace,
    tracks: &Tracks,
    question: &Question,
    range: &Range<u64>,
) -> Result<Interval, NoPath> {
    let all = all(tracks);
    match question {
        Question::Event(seq) => {
            let ends = |interval: &&Interval| interval.until.seq == *seq;
            let begins = |interval: &&Interval| interval.from.seq == *seq;
            let contains =
                |interval: &Interval| (interval.from.seq..=interval.until.seq).contains(seq);
            // Prefer an interval that ends at the event, then an interval that begins at the event.
            // If there is none, take the shortest interval that contains the event.
            let found = longest(all.iter().filter(ends));
            let found = found.or_else(|| longest(all.iter().filter(begins)));
            found.or_else(|| shortest(&all, contains)).ok_or(NoPath::NothingThere)
        }
        Question::Time(time) => {
            let tick = Question::tick(trace, *time)?;
            let contains =
                |interval: &Interval| (interval.from.ticks..=interval.until.ticks).contains(&tick);
            shortest(&all, contains).ok_or(NoPath::NothingThere)
        }
        Question::Worst(name) => {
            question.check(trace, None)?;
            let is_meant = |id: ContextId| {
                trace.contexts.get(id).is_some_and(|context| is_meant(name, context))
            };
            let of_task = all.iter().filter(|interval| is_meant(interval.context));
            // An interval belongs to the range in which it ends, so it belongs to only one range.
            let of_task = of_task.filter(|interval| range.contains(&interval.until.ticks));
            // Responses rank before waits. Of equally long intervals, the earliest is chosen.
            let found = of_task
                .max_by_key(|interval| (interval.rank(), interval.ticks(), Reverse(interval.from)));
            found.copied().ok_or_else(|| NoPath::NothingOfTask { name: name.clone() })
        }
    }
}

fn longest<'a>(intervals: impl Iterator<Item = &'a Interval>) -> Option<Interval> {
    intervals.max_by_key(|interval| (interval.ticks(), Reverse(interval.from))).copied()
}

fn shortest(intervals: &[Interval], is_meant: impl Fn(&Interval) -> bool) -> Option<Interval> {
    let meant = intervals.iter().filter(|interval| is_meant(interval));
    meant.min_by_key(|interval| (interval.ticks(), interval.from)).copied()
}

/// Returns all responses and waits that end within the trace.
fn all(tracks: &Tracks) -> Vec<Interval> {
    let responses = tracks.jobs.iter().filter_map(|job| {
        let (context, kind) = (job.context, Explained::Response);
        Some(Interval { context, kind, from: job.from, until: job.until? })
    });
    let mut intervals: Vec<_> = responses.collect();
    intervals.extend(tracks.locks.iter().flat_map(requests));
    for (context, _) in tracks.contexts() {
        intervals.extend(blocked(tracks, context));
    }
    intervals
}

/// Returns the waits for mutexes and semaphores, each from the request until the context continues.
fn requests(lock: &LockTrack) -> impl Iterator<Item = Interval> + '_ {
    let request = Some(if lock.is_mutex { Meaning::Lock } else { Meaning::Wait });
    lock.waits.iter().filter_map(move |wait| {
        let (key, kind) = (Some(lock.key), lock.kind);
        let reason = Reason { request, key, kind, holder: wait.owner, code: None };
        let (context, kind) = (wait.context, Explained::Wait(reason));
        Some(Interval { context, kind, from: wait.from, until: wait.until? })
    })
}

/// Returns a context's waits for other objects, each from the loss of the processor until the
/// context runs again.
fn blocked<'a>(tracks: &'a Tracks, context: ContextId) -> impl Iterator<Item = Interval> + 'a {
    let changes = tracks.context(context).map_or(&[][..], |row| row.changes());
    let mut began = None;
    // `requests` returns all waits for mutexes and semaphores. If a context is blocked and its
    // request is not among these waits, the context already has the object and lost the processor
    // for another reason.
    let is_request =
        |reason: &Reason| matches!(reason.request, Some(Meaning::Lock | Meaning::Wait));
    changes.iter().filter_map(move |change| match change.state {
        State::Blocked(_) => {
            let reason = tracks.reason(change.state).filter(|reason| !is_request(reason));
            began = reason.map(|reason| (change.at, *reason));
            None
        }
        State::Running(_) => {
            let (from, reason) = began.take()?;
            let (kind, until) = (Explained::Wait(reason), change.at);
            Some(Interval { context, kind, from, until })
        }
        State::Ready | State::Preempted | State::Interrupted => None,
        _ => {
            began = None;
            None
        }
    })
}
