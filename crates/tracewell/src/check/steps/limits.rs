//! Computes when the time limits of steps start, and tests whether the limits have expired.

use super::Shared;
use crate::check::syntax::Limit;
use crate::model::Clock;
use crate::select::Bound;

/// Returns the tick at which a limit starts.
pub(super) fn start_of(limit: Limit, since: u64, shared: &Shared) -> u64 {
    // An event named by `as` may be in a branch that was not taken. The limit then counts from
    // the previous step.
    let mark = limit.of.and_then(|mark| shared.marks.get(mark).copied().flatten());
    mark.unwrap_or(since)
}

/// Returns the start and the length of a limit that has expired.
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

/// Returns true if a time is longer than a bound. If `or_equal` is true, also returns true for a
/// time equal to the bound.
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
            // Without a rate, no limit expires. `Rules::check` refuses such traces.
            took.is_some_and(|(now, since)| is(now.saturating_sub(since), ns))
        }
    }
}
