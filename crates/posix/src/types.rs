//! The event types of a stream: those that every stream has, then those of users in their order.

use tracewell_wire::posix::{FIRST_USER, SYSTEM_NAMES, UNNAMED, fixed_name};

/// Who knows the names of user event types.
pub trait TypeNames {
    /// How many there are.
    fn count(&self) -> usize;

    /// The name of one; `None` where there is none.
    fn user_name(&self, id: u32) -> Option<Vec<u8>>;

    /// The name of any event type.
    fn name(&self, id: u32) -> Option<Vec<u8>> {
        fixed_name(id).map(|name| name.as_bytes().to_vec()).or_else(|| self.user_name(id))
    }
}

/// The event type at a position of the list, which moves on; `None` at the end.
pub(crate) fn next(names: &impl TypeNames, listed: &mut usize) -> Option<u32> {
    let fixed = SYSTEM_NAMES.len();
    let id = match *listed {
        at if at < fixed => at as u32 + 1,
        at if at == fixed => UNNAMED,
        at => {
            let index = at - fixed - 1;
            (index < names.count()).then_some(FIRST_USER + index as u32)?
        }
    };
    *listed += 1;
    Some(id)
}
