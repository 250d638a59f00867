//! Finds the rules that an event may affect, by the event's id. The cost of an event therefore
//! depends on the rules that refer to it, not on the number of rules.
//!
//! A part of a rule is either one of its statements (`never`, `count`, `whenever`), or all of its
//! steps. A part processes an event in three cases: one of the part's patterns covers the event,
//! the part's steps currently process every event, or the part's alarm has expired. See
//! [`Index::due`].

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::shapes::Shapes;
use super::syntax::{Pattern, Rules};
use crate::model::Trace;

/// A part of a rule. Parts are processed in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Part {
    /// Index of the rule.
    pub(super) rule: u32,
    pub(super) of: PartOf,
}

/// The kind of a part. Statements come before steps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum PartOf {
    /// The statement with this index.
    Statement(u32),
    Steps,
}

/// Maximum number of cached parts over all ids, so that a trace with many ids cannot fill the
/// memory.
const MAX_REMEMBERED: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

/// The parts of all rules, by the ids to which their patterns refer.
#[derive(Debug)]
pub(super) struct Index<'r> {
    shapes: Arc<Shapes<'r>>,
    /// For each shape, the parts that contain it.
    parts: Vec<Vec<Part>>,
    by_id: HashMap<u32, Arc<[Part]>, RandomState>,
    remembered: usize,
    /// The steps that process every event, in the order of the rules.
    awake: Vec<Part>,
    /// Times after which a statement must process the next event, whatever the id of the event.
    alarms: BinaryHeap<Reverse<(u64, Part)>>,
}

impl<'r> Index<'r> {
    pub(super) fn new(rules: &'r Rules, shapes: Arc<Shapes<'r>>) -> Self {
        let mut parts: Vec<Vec<Part>> = vec![Vec::new(); rules.shapes.len()];
        let mut note = |part: Part, pattern: &Pattern| {
            for alternative in &pattern.alternatives {
                let Some(parts) = parts.get_mut(alternative.shape as usize) else { continue };
                // All patterns of a part are added before any pattern of the next part, so a
                // duplicate can only be the last entry.
                if parts.last() != Some(&part) {
                    parts.push(part);
                }
            }
        };
        let mut awake = Vec::new();
        for (number, rule) in rules.rules.iter().enumerate() {
            let part = |of| Part { rule: number as u32, of };
            for (position, invariant) in rule.invariants.iter().enumerate() {
                let part = part(PartOf::Statement(position as u32));
                invariant.patterns().for_each(|pattern| note(part, pattern));
            }
            rule.steps.patterns(&mut |pattern| note(part(PartOf::Steps), pattern));
            awake.extend(rule.has_steps().then(|| part(PartOf::Steps)));
        }
        let (by_id, alarms) = (HashMap::default(), BinaryHeap::new());
        Self { shapes, parts, by_id, remembered: 0, awake, alarms }
    }

    /// Sets `due` to the parts that an event may affect, in order.
    pub(super) fn due(&mut self, trace: &Trace, id: u32, now: u64, due: &mut Vec<Part>) {
        due.clear();
        due.extend_from_slice(&self.named(trace, id));
        let named = due.len();
        due.extend_from_slice(&self.awake);
        while let Some(Reverse((at, part))) = self.alarms.peek().copied()
            && at <= now
        {
            self.alarms.pop();
            due.push(part);
        }
        // Usually the list contains only parts from `named`, which returns them in order.
        if due.len() > named {
            due.sort_unstable();
            due.dedup();
        }
    }

    /// Returns the parts with a pattern that covers an id.
    fn named(&mut self, trace: &Trace, id: u32) -> Arc<[Part]> {
        if let Some(parts) = self.by_id.get(&id) {
            return Arc::clone(parts);
        }
        let shapes = self.shapes.naming(trace, id).into_iter();
        let parts = shapes.filter_map(|shape| self.parts.get(shape as usize));
        let mut parts: Vec<Part> = parts.flatten().copied().collect();
        parts.sort_unstable();
        parts.dedup();
        // Add 1, because an id without parts also needs an entry.
        self.remembered += parts.len() + 1;
        if self.remembered > MAX_REMEMBERED {
            self.by_id.clear();
            self.remembered = parts.len() + 1;
        }
        let parts: Arc<[Part]> = parts.into();
        self.by_id.insert(id, Arc::clone(&parts));
        parts
    }

    /// If `awake` is true, lets the steps process every event. Otherwise, lets them process only
    /// the events to which their patterns refer.
    pub(super) fn set_awake(&mut self, part: Part, awake: bool) {
        match (self.awake.binary_search(&part), awake) {
            // The list stays sorted, so that parts are processed in the order of the rules.
            (Ok(at), false) => drop(self.awake.remove(at)),
            (Err(at), true) => self.awake.insert(at, part),
            _ => {}
        }
    }

    /// Lets a statement handle the first event at or after this tick.
    pub(super) fn set_alarm(&mut self, part: Part, ticks: u64) {
        self.alarms.push(Reverse((ticks, part)));
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::model::{Clock, PayloadLayout};
    use crate::source::Source;

    fn trace() -> Trace {
        let payload = PayloadLayout::Words { order: tracewell_wire::ByteOrder::Little, bytes: 4 };
        Trace::new("threadx", crate::format::threadx::schema(), payload, Clock::of_64_bits(None))
    }

    #[test]
    fn an_event_is_looked_at_by_the_parts_that_name_it_and_those_that_are_awake() {
        let mut text = "running; tx_mutex_get\nnever tx_mutex_*\n".to_owned();
        for name in crate::format::threadx::schema().events() {
            writeln!(text, "never {}", name.name).unwrap();
        }
        let rules = Rules::parse(&Source::new("many.rules", text)).rules.unwrap();
        let (trace, mut due) = (trace(), Vec::new());
        let mut index = Index::new(&rules, Arc::new(Shapes::new(&rules)));
        let get = crate::format::threadx::schema()
            .events()
            .find(|e| e.label == "tx_mutex_get")
            .unwrap()
            .id;
        index.due(&trace, get, 0, &mut due);
        assert_eq!(due.len(), 3, "two statements and the steps: {due:?}");
        assert!(due.is_sorted() && due[0].of == PartOf::Statement(0) && due[2].of == PartOf::Steps);
        index.set_awake(due[2], false);
        index.due(&trace, get + 1, 0, &mut due);
        assert_eq!(due.len(), 2, "{due:?}");
        index.set_alarm(Part { rule: 0, of: PartOf::Statement(5) }, 100);
        for (now, parts) in [(99, 2), (100, 3), (101, 2)] {
            index.due(&trace, get + 1, now, &mut due);
            assert_eq!(due.len(), parts, "{now}: {due:?}");
        }
    }

    #[test]
    fn what_is_remembered_has_a_limit() {
        let rules = Rules::parse(&Source::new("any.rules", "never *")).rules.unwrap();
        let (trace, mut due) = (trace(), Vec::new());
        let mut index = Index::new(&rules, Arc::new(Shapes::new(&rules)));
        for id in 0..(MAX_REMEMBERED as u32) {
            index.due(&trace, id, 0, &mut due);
            assert_eq!(due.len(), 1);
        }
        assert!(index.by_id.len() <= MAX_REMEMBERED / 2);
    }
}
