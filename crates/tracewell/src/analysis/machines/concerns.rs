//! Determines which analyses in this folder need the events of an id. Events that no analysis needs
//! are skipped, and their arguments are not read.

use super::levels::Effect;
use super::{messages, states, timers};
use crate::model::schema::Schema;
use crate::model::{Meaning, OfSchema};

/// Maximum number of events that are checked together.
pub(super) const BLOCK: usize = u64::BITS as usize;

/// The wanted events of a block, with one bit for each event of the block. All bits are computed
/// before the first event is handled. A loop that checks and handles one event at a time would have
/// branches that are often mispredicted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted(u64);

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
    /// Returns the needed events of a block. `ids` are the ids of all events in the block.
    #[inline(always)]
    pub(super) fn of(ids: &[u32], all_concerns: &mut OfSchema<'_, Concerns>) -> Self {
        Self::with(ids, |id| all_concerns.get(id, Concerns::of).way != Way::Skip)
    }

    /// Returns the events of a block that have a wanted id. `ids` are the ids of all events in the
    /// block, and `is_wanted` returns true for a wanted id.
    #[inline(always)]
    pub(super) fn with(ids: &[u32], mut is_wanted: impl FnMut(u32) -> bool) -> Self {
        let bits = ids.iter().enumerate().map(|(row, id)| u64::from(is_wanted(*id)) << row);
        Self(bits.fold(0, |all, bit| all | bit))
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
    use crate::model::PerId;

    #[test]
    fn only_events_that_concern_an_analysis_are_wanted() {
        let text = include_str!("../../../schemas/threadx.toml");
        let schema = Arc::new(Schema::parse(text, "threadx.toml").unwrap());
        let mut table = PerId::default();
        let mut all_concerns = table.of_schema(&schema);
        // The analyses in this folder need events of queues, but not events of mutexes.
        let (mutex, queue) = (52, 69);
        let mut ids = vec![mutex; BLOCK];
        assert_eq!(Wanted::of(&ids, &mut all_concerns).count(), 0);
        (ids[0], ids[17], ids[BLOCK - 1]) = (queue, queue, queue);
        let rows: Vec<_> = Wanted::of(&ids, &mut all_concerns).collect();
        assert_eq!(rows, [0, 17, BLOCK - 1]);
        assert_eq!(Wanted::of(&ids[..17], &mut all_concerns).collect::<Vec<_>>(), [0]);
    }
}
