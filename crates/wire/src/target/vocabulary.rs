//! The names and arguments of the recorded events. Native streams contain them, because each stream
//! describes its own event types ([`crate::native::kernel`]). The compact stream contains only ids.

mod table;

use crate::native::FieldKind;

/// A recorded event: its id, its name, and its arguments in recorded order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Described {
    /// The id; [`ids`](super::ids) lists them.
    pub id: u8,
    /// The name used in reports, such as `queue_send`.
    pub name: &'static str,
    /// Names and kinds of the arguments.
    pub arguments: &'static [(&'static str, FieldKind)],
}

impl Described {
    /// All events, in the order of their ids.
    pub const ALL: &'static [Self] = table::EVENTS;

    /// Returns the event that has the given id.
    ///
    /// ```
    /// use tracewell_wire::target::{Described, ids};
    ///
    /// assert_eq!(Described::of(ids::QUEUE_SEND).unwrap().arguments[0].0, "queue");
    /// ```
    pub fn of(id: u8) -> Option<&'static Self> {
        let index = Self::ALL.binary_search_by_key(&id, |event| event.id).ok()?;
        Self::ALL.get(index)
    }

    /// Returns the event that has the given name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|event| event.name == name)
    }
}
