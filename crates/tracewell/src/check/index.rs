//! Which rules an event may concern, by its id: so an event costs what can match it, however many rules there are.
//!
//! A part of a rule is one of its statements (`never`, `count`, `whenever`) or its steps. A part is looked at if one of its
//! patterns names the event, if its steps are awake, or if its alarm is over: see [`Index::due`].

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::shapes::Shapes;
use super::syntax::{Pattern, Rules};
use crate::model::Trace;

/// A part of a rule. They are looked at in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Part {
    /// Position of the rule.
    pub(super) rule: u32,
    pub(super) of: PartOf,
}

/// What part of a rule it is; statements come before steps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum PartOf {
    /// The statement of this position.
    Statement(u32),
    Steps,
}

/// Parts that are remembered over all ids; a trace of nothing but different ids must not fill memory.
const MAX_REMEMBERED: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

/// The parts of all rules by the ids that their patterns name.
#[derive(Debug)]
pub(super) struct Index<'r> {
    shapes: Arc<Shapes<'r>>,
    /// The parts that name a shape, by the shape.
    parts: Vec<Vec<Part>>,
    by_id: HashMap<u32, Arc<[Part]>, RandomState>,
    remembered: usize,
    /// Steps that look at every event, in order.
    awake: Vec<Part>,
    /// When statements must be looked at, whatever the event is.
    alarms: BinaryHeap<Reverse<(u64, Part)>>,
}

impl<'r> Index<'r> {
    pub(super) fn new(rules: &'r Rules, shapes: Arc<Shapes<'r>>) -> Self {
        let mut parts: Vec<Vec<Part>> = vec![Vec::new(); rules.shapes.len()];
        let mut note = |part: Part, pattern: &Pattern| {
            for alternative in &pattern.alternatives {
                let Some(parts) = parts.get_mut(alternative.shape as usize) else { continue };
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

    /// Sets `due` to the parts that an event may concern, in order.
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
        if due.len() > named {
            due.sort_unstable();
            due.dedup();
        }
    }

    /// The parts with a pattern that names an id.
    fn named(&mut self, trace: &Trace, id: u32) -> Arc<[Part]> {
        if let Some(parts) = self.by_id.get(&id) {
            return Arc::clone(parts);
        }
        let shapes = self.shapes.naming(trace, id).into_iter();
        let parts = shapes.filter_map(|shape| self.parts.get(shape as usize));
        let mut parts: Vec<Part> = parts.flatten().copied().collect();
        parts.sort_unstable();
        parts.dedup();
        // An id without any costs room, too.
        self.remembered += parts.len() + 1;
        if self.remembered > MAX_REMEMBERED {
            self.by_id.clear();
            self.remembered = parts.len() + 1;
        }
        let parts: Arc<[Part]> = parts.into();
        self.by_id.insert(id, Arc::clone(&parts));
        parts
    }

    /// Lets steps look at every event, or only at those that their patterns name.
    pub(super) fn set_awake(&mut self, part: Part, awake: bool) {
        match (self.awake.binary_search(&part), awake) {
            (Ok(at), false) => drop(self.awake.remove(at)),
            (Err(at), true) => self.awake.insert(at, part),
            _ => {}
        }
    }

    /// Lets a statement look at the first event at these ticks or later.
    pub(super) fn set_alarm(&mut self, part: Part, ticks: u64) {
        self.alarms.push(Reverse((ticks, part)));
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::model::schema::Schema;
    use crate::model::{Clock, PayloadLayout};
    use crate::source::Source;

    fn trace() -> Trace {
        let payload = PayloadLayout::Words { order: tracewell_wire::ByteOrder::Little, bytes: 4 };
        Trace::new("threadx", Schema::threadx(), payload, Clock::of_64_bits(None))
    }

    #[test]
    fn an_event_is_looked_at_by_the_parts_that_name_it_and_those_that_are_awake() {
        let mut text = "running; tx_mutex_get\nnever tx_mutex_*\n".to_owned();
        for name in Schema::threadx().events() {
            writeln!(text, "never {}", name.name).unwrap();
        }
        let rules = Rules::parse(&Source::new("many.rules", text)).rules.unwrap();
        let (trace, mut due) = (trace(), Vec::new());
        let mut index = Index::new(&rules, Arc::new(Shapes::new(&rules)));
        let get = Schema::threadx().events().iter().find(|e| e.label == "tx_mutex_get").unwrap().id;
        index.due(&trace, get, 0, &mut due);
        assert_eq!(due.len(), 3, "its own, the one with a star, and the steps: {due:?}");
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
