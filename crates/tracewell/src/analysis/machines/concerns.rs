//! Determines, for an event id, which analyses in this folder need its events. Events with other
//! ids are skipped, and their arguments are not read.

use super::levels::Effect;
use super::{messages, states, timers};
use crate::model::Meaning;
use crate::model::schema::Schema;

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
    /// The events only have an effect on a level, and [`Levels::take`](super::Levels::take) handles
    /// them.
    Level,
    /// Any analysis may need the events.
    Any,
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
            Some(effect) if !(effect.needs_sight || timers || messages || boot) => Way::Level,
            _ => Way::Any,
        };
        Self { levels, timers, messages, states, boot, way }
    }
}
