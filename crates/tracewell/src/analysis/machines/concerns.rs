//! Determines, for an event id, which analyses in this folder need its events. Events with other
//! ids are skipped, and their arguments are not read.

use super::{levels, messages, states, timers};
use crate::model::Meaning;
use crate::model::schema::Schema;

/// The analyses that need the events of an id.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Concerns {
    pub(super) levels: bool,
    pub(super) timers: bool,
    /// True if an event can begin or end a message, or belongs to the step of a machine.
    pub(super) messages: bool,
    pub(super) states: bool,
    /// True if an event ends everything that is in progress.
    pub(super) boot: bool,
}

impl Concerns {
    /// Returns the analyses that need the events of an id.
    pub(super) fn of(schema: &Schema, id: u32) -> Self {
        let event = schema.event(id);
        let Some(means) = event.means.as_ref() else { return Self::default() };
        let states = states::concern(event, means);
        Self {
            levels: levels::concern(event, means),
            timers: timers::concern(event, means),
            messages: states || messages::concern(means),
            states,
            boot: means.meaning == Meaning::Boot,
        }
    }

    /// Returns true if no analysis needs the events of the id.
    #[inline(always)]
    pub(super) fn are_none(self) -> bool {
        let Self { levels, timers, messages, states, boot } = self;
        !(levels | timers | messages | states | boot)
    }
}
