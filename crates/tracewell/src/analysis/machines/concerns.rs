//! Determines which analyses in this folder need the events of an id. Events that no analysis needs
//! are skipped, and their arguments are not read.

use super::levels::Effect;
use super::{messages, states, timers};
use crate::model::Meaning;
use crate::model::schema::Schema;

/// Maximum number of events that are checked together.
pub(super) const BLOCK: usize = u64::BITS as usize;

/// The wanted events of a block, with one bit for each event of the block. All bits are computed
/// before the first event is handled. A loop that checks and handles one event at a time would have
/// branches that are often mispredicted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted(u64);

/// The ids whose events no analysis needs, as far as they have occurred. A look-up costs less than
/// in a table of [`Concerns`].
#[derive(Clone, Debug, Default)]
pub(super) struct Skipped {
    /// For each id, true if its events are skipped.
    ids: Vec<bool>,
}

/// Ids from this number on are not stored.
const MAX_SKIPPED: usize = 1 << 16;

impl Skipped {
    /// Returns true if the events of an id are skipped.
    #[inline(always)]
    pub(super) fn contains(&self, id: u32) -> bool {
        self.ids.get(id as usize).is_some_and(|is_skipped| *is_skipped)
    }

    /// Adds an id.
    #[cold]
    pub(super) fn add(&mut self, id: u32) {
        let index = id as usize;
        if index < MAX_SKIPPED {
            self.ids.resize(self.ids.len().max(index + 1), false);
            self.ids[index] = true;
        }
    }

    /// Removes all ids, because the schema has changed.
    pub(super) fn clear(&mut self) {
        self.ids.clear();
    }
}

/// The analyses that need the events of an id.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Concerns {
    /// The effect on the level of an object, if the event has one.
    pub(super) levels: Option<Effect>,
    pub(super) timers: bool,
    /// True if an event can begin or end a message, or belongs to the step of a machine.
    pub(super) messages: bool,
    pub(super) states: bool,
    /// True if an event ends everything that is in progress.
    pub(super) boot: bool,
    pub(super) way: Way,
}

/// The way in which the events of an id are handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Way {
    /// No analysis needs the events.
    #[default]
    Skip,
    /// The events affect only a level, and [`Levels::take`](super::Levels::take) handles them.
    Level,
    /// Any analysis may need the events.
    Any,
}

impl Wanted {
    /// Returns the events of a block that have a wanted id. `ids` are the ids of all events in the
    /// block, and `is_wanted` returns true for a wanted id.
    #[inline(always)]
    pub(super) fn with(ids: &[u32], mut is_wanted: impl FnMut(u32) -> bool) -> Self {
        // The last event comes first, so that each further one shifts the bits by one place.
        Self(ids.iter().rev().fold(0, |bits, id| bits << 1 | u64::from(is_wanted(*id))))
    }
}

impl Iterator for Wanted {
    type Item = usize;

    /// Returns the index of the next needed event.
    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let row = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        (row < BLOCK).then_some(row)
    }
}

impl Concerns {
    /// Returns the analyses that need the events of an id.
    pub(super) fn of(schema: &Schema, id: u32) -> Self {
        let event = schema.event(id);
        let Some(means) = event.means.as_ref() else { return Self::default() };
        let states = states::concern(event, means);
        let levels = Effect::of(schema, event, means);
        let (timers, boot) = (timers::concern(event, means), means.meaning == Meaning::Boot);
        let messages = states || messages::concern(means);
        let way = match levels {
            None if !(timers || messages || boot) => Way::Skip,
            Some(effect) if !(effect.creates || timers || messages || boot) => Way::Level,
            _ => Way::Any,
        };
        Self { levels, timers, messages, states, boot, way }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn only_events_that_concern_an_analysis_are_wanted() {
        let text = include_str!("../../../schemas/threadx.toml");
        let schema = Arc::new(Schema::parse(text, "threadx.toml").unwrap());
        let mut skipped = Skipped::default();
        let all = schema.events().map(|event| event.id);
        let is_skipped = |id: &u32| Concerns::of(&schema, *id).way == Way::Skip;
        all.filter(is_skipped).for_each(|id| skipped.add(id));
        let wanted = |ids: &[u32]| Wanted::with(ids, |id| !skipped.contains(id));
        // The analyses in this folder need events of queues, but not events of mutexes.
        let (mutex, queue) = (52, 69);
        let mut ids = vec![mutex; BLOCK];
        assert_eq!(wanted(&ids).count(), 0);
        (ids[0], ids[17], ids[BLOCK - 1]) = (queue, queue, queue);
        assert_eq!(wanted(&ids).collect::<Vec<_>>(), [0, 17, BLOCK - 1]);
        assert_eq!(wanted(&ids[..17]).collect::<Vec<_>>(), [0]);
        // Large ids are never skipped.
        skipped.add(u32::MAX);
        assert!(!skipped.contains(u32::MAX));
    }
}
