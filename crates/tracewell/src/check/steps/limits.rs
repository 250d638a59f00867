//! Times that steps may take: since when they run, and whether they are over.

use super::Shared;
use crate::check::syntax::Limit;
use crate::model::Clock;
use crate::select::Bound;

/// When a limit began to run.
pub(super) fn start_of(limit: Limit, since: u64, shared: &Shared) -> u64 {
    let mark = limit.of.and_then(|mark| shared.marks.get(mark).copied().flatten());
    mark.unwrap_or(since)
}

/// Since when a limit ran that is over, and how long it was.
pub(super) fn over(
    limit: Option<Limit>,
    since: u64,
    shared: &Shared,
    clock: &Clock,
    now: u64,
) -> Option<(u64, Bound)> {
    let limit = limit?;
    let since = start_of(limit, since, shared);
    is_longer(clock, since, now, limit.bound, false).then_some((since, limit.bound))
}

/// Whether a time is longer than a bound, or as long where that is enough.
pub(in crate::check) fn is_longer(
    clock: &Clock,
    since: u64,
    now: u64,
    bound: Bound,
    or_equal: bool,
) -> bool {
    let is = |took: u64, bound: u64| took > bound || (or_equal && took == bound);
    match bound {
        Bound::Ticks(ticks) => is(now.saturating_sub(since), ticks),
        Bound::Nanoseconds(ns) | Bound::WallClock(ns) => {
            let nanoseconds = |ticks| clock.nanoseconds(ticks);
            let took = nanoseconds(now).zip(nanoseconds(since));
            took.is_some_and(|(now, since)| is(now.saturating_sub(since), ns))
        }
    }
}
