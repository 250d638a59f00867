//! Which events to show: by context, event, object, time and place in the list.
//!
//! A [`Selection`] is what a user typed. A [`Selector`] applies it and remembers its answers, so
//! that a context or an event id costs one comparison of text for the whole trace.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::str::FromStr;

use foldhash::fast::RandomState;

use crate::model::schema::ArgumentKind;
use crate::model::{Context, EventRef, Trace};

/// A point of time as typed: `12345` ticks, or `1.5s`, `20ms`, `7us`, `300ns`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Ticks since the first event.
    Ticks(u64),
    /// Nanoseconds since the first event; needs a clock of known rate.
    Nanoseconds(u64),
}

/// A text is not a point of time.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected ticks such as 12345 or a time such as 1.5s, 20ms, 7us, 300ns, found '{found}'")]
pub struct BoundError {
    found: String,
}

impl FromStr for Bound {
    type Err = BoundError;

    fn from_str(text: &str) -> Result<Self, BoundError> {
        let error = || BoundError { found: text.to_owned() };
        let units = [("ns", 0), ("us", 3), ("ms", 6), ("s", 9)];
        let unit = units.iter().find_map(|(unit, power)| Some((text.strip_suffix(unit)?, *power)));
        match unit {
            None => text.parse().map(Self::Ticks).map_err(|_| error()),
            Some((number, power)) => {
                scaled(number.trim_end(), power).map(Self::Nanoseconds).ok_or_else(error)
            }
        }
    }
}

/// A decimal number times a power of ten, exactly.
fn scaled(number: &str, power: usize) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.len() > power || whole.is_empty() {
        return None;
    }
    let digits = format!("{whole}{fraction:0<power$}");
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Which events to show. Empty lists and absent bounds select everything.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Names (with `*` for any text) or keys of contexts.
    pub contexts: Vec<String>,
    /// Names or labels (with `*`) or ids of events.
    pub events: Vec<String>,
    /// Names (with `*`) or keys of objects that an argument refers to.
    pub objects: Vec<String>,
    /// Not before this time.
    pub from: Option<Bound>,
    /// Not after this time.
    pub to: Option<Bound>,
    /// At most so many of the selected events, the first ones.
    pub head: Option<u64>,
    /// At most so many of the selected events, the last ones.
    pub tail: Option<usize>,
}

/// A selection cannot be applied to a trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SelectionError {
    /// A time was given and the trace does not know how long a tick is.
    #[error(
        "times need a clock of known rate: give ticks, or the rate with -O rate=TICKS_PER_SECOND"
    )]
    NoRate,
}

impl Selection {
    /// Whether this selection can be applied to this trace.
    ///
    /// # Errors
    /// Where it names times and the trace's clock has no rate.
    pub fn check(&self, trace: &Trace) -> Result<(), SelectionError> {
        let timed = |bound: Option<Bound>| matches!(bound, Some(Bound::Nanoseconds(_)));
        if trace.clock.rate.is_none() && (timed(self.from) || timed(self.to)) {
            return Err(SelectionError::NoRate);
        }
        Ok(())
    }
}

/// Applies a selection.
#[derive(Debug)]
pub struct Selector {
    selection: Selection,
    contexts: Vec<bool>,
    events: Vec<Option<bool>>,
    objects: HashSet<u64, RandomState>,
    objects_seen: usize,
    taken: u64,
}

impl Selector {
    /// Makes a selector that has answered nothing yet.
    pub fn new(selection: Selection) -> Self {
        let objects = HashSet::default();
        let (contexts, events) = (Vec::new(), Vec::new());
        Self { selection, contexts, events, objects, objects_seen: 0, taken: 0 }
    }

    /// Whether everything is selected, so that nothing needs to be asked.
    pub fn takes_all(&self) -> bool {
        let Selection { contexts, events, objects, from, to, head, tail: _ } = &self.selection;
        let lists = contexts.is_empty() && events.is_empty() && objects.is_empty();
        lists && from.is_none() && to.is_none() && head.is_none()
    }

    /// Whether to show this event; breaks when no later one will be shown.
    #[inline]
    pub fn takes(&mut self, trace: &Trace, event: &EventRef<'_>) -> ControlFlow<(), bool> {
        if self.selection.head.is_some_and(|head| self.taken >= head) {
            return ControlFlow::Break(());
        }
        let before = |bound| match bound {
            Bound::Ticks(ticks) => event.ticks < ticks,
            Bound::Nanoseconds(ns) => trace.clock.nanoseconds(event.ticks) < Some(ns),
        };
        let after = |bound| match bound {
            Bound::Ticks(ticks) => event.ticks > ticks,
            Bound::Nanoseconds(ns) => trace.clock.nanoseconds(event.ticks) > Some(ns),
        };
        if self.selection.to.is_some_and(after) {
            return ControlFlow::Break(());
        }
        let takes = !self.selection.from.is_some_and(before)
            && self.takes_context(trace, event)
            && self.takes_event(trace, event.id)
            && self.takes_object(trace, event);
        self.taken += u64::from(takes);
        ControlFlow::Continue(takes)
    }

    fn takes_context(&mut self, trace: &Trace, event: &EventRef<'_>) -> bool {
        let wanted = &self.selection.contexts;
        if wanted.is_empty() {
            return true;
        }
        let matches = |context: &Context| {
            wanted.iter().any(|w| like(w, &context.name) || is_key(w, context.key))
        };
        let known = self.contexts.len();
        self.contexts
            .extend(trace.contexts.iter().skip(known).map(|(_, context)| matches(context)));
        self.contexts.get(event.context.index()).is_some_and(|takes| *takes)
    }

    fn takes_event(&mut self, trace: &Trace, id: u32) -> bool {
        let wanted = &self.selection.events;
        if wanted.is_empty() {
            return true;
        }
        let matches = || {
            let event = trace.schema.event(id);
            wanted
                .iter()
                .any(|w| like(w, &event.name) || like(w, &event.label) || is_key(w, u64::from(id)))
        };
        let index = id as usize;
        if index >= REMEMBERED_IDS {
            return matches();
        }
        if index >= self.events.len() {
            self.events.resize(index + 1, None);
        }
        *self.events[index].get_or_insert_with(matches)
    }

    fn takes_object(&mut self, trace: &Trace, event: &EventRef<'_>) -> bool {
        let wanted = &self.selection.objects;
        if wanted.is_empty() {
            return true;
        }
        for (_, object) in trace.objects.iter().skip(self.objects_seen) {
            if wanted.iter().any(|w| like(w, &object.label) || is_key(w, object.key)) {
                self.objects.insert(object.key);
            }
        }
        self.objects_seen = trace.objects.len();
        let named = |index: usize, kind: Option<u32>| {
            let Some(value) = trace.payload.argument(event.payload, index) else { return false };
            let key = trace.schema.key(kind, value);
            self.objects.contains(&key) || wanted.iter().any(|w| is_key(w, value))
        };
        let args = &trace.schema.event(event.id).args;
        args.iter().enumerate().any(|(index, arg)| match arg.kind {
            ArgumentKind::Object(kind) => named(index, kind),
            _ => false,
        })
    }
}

/// Ids up to here are remembered; larger ones are looked at each time they come.
const REMEMBERED_IDS: usize = 1 << 16;

/// Whether a text is like a pattern in which `*` stands for any text; case does not count.
fn like(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_lowercase(), text.to_lowercase());
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    // Both ends first, so that what is between them is searched only there.
    let between = text.strip_prefix(first).and_then(|text| text.strip_suffix(last));
    between.is_some_and(|between| {
        let mut rest = between;
        middle.split('*').all(|part| match rest.find(part) {
            Some(at) => {
                rest = &rest[at + part.len()..];
                true
            }
            None => false,
        })
    })
}

/// Whether a pattern is this number, decimal or hexadecimal with `0x`.
fn is_key(pattern: &str, key: u64) -> bool {
    match pattern.strip_prefix("0x").or_else(|| pattern.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16) == Ok(key),
        None => pattern.parse() == Ok(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(like("tx_*_get", "TX_SEMAPHORE_GET"));
        assert!(like("*", "") && like("low", "Low") && like("a*a", "a a a"));
        assert!(!like("low", "slow") && !like("lo", "low") && !like("a*a", "a"));
        assert!(!like("tx_*_get", "tx_semaphore_get_2"));
        assert!(like("*aa", "aaa") && like("*000", "log0000") && like("a*b*c", "a-b-b-c"));
        assert!(!like("aa*aa", "aaa") && !like("a*b*c", "a-c"));
    }

    #[test]
    fn bounds_are_read_exactly() {
        let read = |text: &str| text.parse::<Bound>().ok();
        assert_eq!(read("12345"), Some(Bound::Ticks(12_345)));
        assert_eq!(read("1.5s"), Some(Bound::Nanoseconds(1_500_000_000)));
        assert_eq!(read("20 ms"), Some(Bound::Nanoseconds(20_000_000)));
        assert_eq!(read("300ns"), Some(Bound::Nanoseconds(300)));
        for bad in ["", "s", "1.5ns", "-1", "1e3us", "99999999999s", "1,5s"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
