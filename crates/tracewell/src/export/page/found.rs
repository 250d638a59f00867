//! Finds the events of a trace that contain a text. The page of a large trace cannot search itself,
//! because it loads only the events of a part.

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::model::{Batch, Event, Flow, Sink, Stop, Trace};
use crate::text::{Describer, TextBuffer};

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
    /// Count all events of the trace that contain the text. The search then reads the whole trace.
    pub count: bool,
}

/// A sink that finds the events whose name, label, context or arguments contain a text. Ignores the
/// case of letters.
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
    text: String,
    search: Search,
    /// Numbers and times of the found events.
    found: VecDeque<(u64, u64)>,
    /// True if there are more events than `limit`.
    more: bool,
    /// Number of all events that contain the text.
    count: u64,
    describer: Describer,
    buffer: TextBuffer,
}

impl FoundEvents {
    /// Returns a sink that finds the events that contain `text`.
    pub fn new(text: &str, search: Search) -> Self {
        Self {
            text: text.to_lowercase(),
            search,
            found: VecDeque::new(),
            more: false,
            count: 0,
            describer: Describer::default(),
            buffer: TextBuffer::default(),
        }
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

    fn matches(&mut self, event: Event<'_>) -> bool {
        let contains = |text: &str| contains(text, &self.text);
        let context = event.context().map_or("", |context| context.name.as_str());
        if contains(&event.kind().name)
            || contains(&event.trace.schema.label(event.id()))
            || contains(context)
        {
            return true;
        }
        self.buffer.truncate(0);
        self.describer.put(&mut self.buffer, event);
        contains(&self.buffer.as_text())
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

/// Returns true if a text contains another one, which is in lower case. Ignores the case of
/// letters.
fn contains(text: &str, wanted: &str) -> bool {
    if !text.is_ascii() {
        return text.to_lowercase().contains(wanted);
    }
    // Most texts are ASCII. A copy in lower case would take more time than the comparison.
    let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
    wanted.is_empty() || text.windows(wanted.len()).any(|part| part.eq_ignore_ascii_case(wanted))
}

impl Sink for FoundEvents {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for row in batch.events() {
            if self.is_complete(row.seq) {
                return Flow::Break(Stop::Complete);
            }
            let Search { first, before, count, .. } = self.search;
            let is_searched = row.seq >= first && before.is_none_or(|before| row.seq < before);
            if !(is_searched || count) || !self.matches(Event::new(trace, &row)) {
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
    fn texts_are_compared_without_the_case_of_letters() {
        for (text, wanted) in
            [("TX_Mutex", "mutex"), ("Zähler", "zähler"), ("ÄRGER", "ärg"), ("", "")]
        {
            assert!(contains(text, wanted), "{text}: {wanted}");
        }
        for (text, wanted) in [("mute", "mutex"), ("plain", "ä"), ("Zähler", "zahler"), ("", "a")]
        {
            assert!(!contains(text, wanted), "{text}: {wanted}");
        }
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
