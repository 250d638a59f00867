//! The event types of a stream: first the system types, then the user types in the order of their
//! definition.

use tracewell_wire::posix::{FIRST_USER, SYSTEM_NAMES, UNNAMED, fixed_name};

/// The names of user event types.
pub trait TypeNames {
    /// Returns the number of names.
    fn count(&self) -> usize;

    /// Returns the name of a user event type, or `None` if the id is not defined.
    fn user_name(&self, id: u32) -> Option<Vec<u8>>;

    /// Returns the name of a system or user event type.
    fn name(&self, id: u32) -> Option<Vec<u8>> {
        fixed_name(id).map(|name| name.as_bytes().to_vec()).or_else(|| self.user_name(id))
    }
}

/// Returns the event type at a position in the list and advances the position. Returns `None` at
/// the end.
pub(crate) fn next(names: &impl TypeNames, listed: &mut usize) -> Option<u32> {
    let fixed = SYSTEM_NAMES.len();
    let id = match *listed {
        at if at < fixed => at as u32 + 1,
        at if at == fixed => UNNAMED,
        at => {
            // The user's types follow the system types and the type without a name.
            let index = at - fixed - 1;
            (index < names.count()).then_some(FIRST_USER + index as u32)?
        }
    };
    *listed += 1;
    Some(id)
}
