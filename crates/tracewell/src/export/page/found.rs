//! Finds the events of a trace that match a query. The page of a large trace cannot search itself,
//! because it loads only the events of a part.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::matching::Matcher;
use crate::model::{Batch, Event, Flow, Sink, Stop, Trace};

/// The events to find.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Search {
    /// Number of the first event to search.
    pub first: u64,
    /// Number of the event at which the search ends. If it is present, the search finds the last
    /// events before it instead of the first events.
    pub before: Option<u64>,
    /// Maximum number of events to find.
    pub limit: usize,
    /// Count all events of the trace that match. The search then reads the whole trace.
    pub count: bool,
}

/// A sink that finds the events that match a query. Ignores the case of letters. An event matches a
/// text in its name, its label, its context or its arguments, and a number in any notation.
///
/// ```
/// use tracewell::export::page::{FoundEvents, Search};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let mut found = FoundEvents::new("mutex", Search { limit: 10, ..Search::default() });
/// tracewell::open(path)?.read(&mut found)?;
/// assert!(found.json()["events"].is_array());
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
#[derive(Debug)]
pub struct FoundEvents {
    matcher: Matcher,
    search: Search,
    /// Numbers and times of the found events.
    found: VecDeque<(u64, u64)>,
    /// True if there are more events than `limit`.
    more: bool,
    /// Number of all events that match.
    count: u64,
}

impl FoundEvents {
    /// Returns a sink that finds the events that match `query`.
    pub fn new(query: &str, search: Search) -> Self {
        let matcher = Matcher::new(query);
        Self { matcher, search, found: VecDeque::new(), more: false, count: 0 }
    }

    /// Returns the found events as JSON: `events` with the members `seq` and `ticks`, `more`, and
    /// `count` if all events were counted.
    pub fn json(&self) -> Value {
        let found = self.found.iter();
        let found = found.map(|(seq, ticks)| json!({ "seq": seq, "ticks": ticks.to_string() }));
        let mut answer = json!({ "events": found.collect::<Vec<_>>(), "more": self.more });
        if self.search.count {
            answer["count"] = self.count.into();
        }
        answer
    }

    fn add(&mut self, seq: u64, ticks: u64) {
        if self.found.len() >= self.search.limit {
            self.more = true;
            if self.search.before.is_none() {
                return;
            }
            self.found.pop_front();
        }
        self.found.push_back((seq, ticks));
    }

    /// Returns true if no later event can change the answer.
    fn is_complete(&self, seq: u64) -> bool {
        let is_full = self.search.before.map_or(self.more, |before| seq >= before);
        is_full && !self.search.count
    }
}

impl Sink for FoundEvents {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.matcher.learn(trace);
        for row in batch.events() {
            if self.is_complete(row.seq) {
                return Flow::Break(Stop::Complete);
            }
            let Search { first, before, count, .. } = self.search;
            let is_searched = row.seq >= first && before.is_none_or(|before| row.seq < before);
            if !(is_searched || count) || !self.matcher.matches(Event::new(trace, &row)) {
                continue;
            }
            self.count += 1;
            if is_searched {
                self.add(row.seq, row.ticks);
            }
        }
        Flow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");

    /// Returns the numbers of the found events, and whether there are more.
    fn found(text: &str, search: Search) -> (Vec<u64>, bool, u64) {
        let mut found = FoundEvents::new(text, search);
        crate::open(TINY).unwrap().read(&mut found).unwrap();
        (found.found.iter().map(|(seq, _)| *seq).collect(), found.more, found.count)
    }

    #[test]
    fn events_are_found_forwards_and_backwards_and_are_counted() {
        let every = Search { limit: usize::MAX, count: true, ..Search::default() };
        let (all, more, count) = found("TX_", every);
        assert!(all.len() > 10 && !more);
        assert_eq!(count, all.len() as u64);
        let middle = all[5];
        let few = Search { limit: 3, ..Search::default() };
        assert_eq!(found("tx_", few).0, all[..3]);
        let after = found("tx_", Search { first: middle + 1, count: true, ..few });
        assert_eq!(after, (all[6..9].to_vec(), true, count));
        let before = found("tx_", Search { before: Some(middle), ..few });
        assert_eq!((before.0, before.1), (all[2..5].to_vec(), true));
        let first = found("tx_", Search { before: Some(all[2]), ..few });
        assert_eq!((first.0, first.1), (all[..2].to_vec(), false));
        assert_eq!(found("no such text", every), (Vec::new(), false, 0));
    }
}
