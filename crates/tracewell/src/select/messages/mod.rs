//! Messages between machines, as far as selections and rules need them: the sequence number of a
//! message at its receiver, and the time that the message waited. Reports show both, and
//! expressions can name them.
//!
//! | file | purpose |
//! |---|---|
//! | `sight` | the meaning of an event and its participants |
//! | `waiting` | the order of pending messages |
//! | `responses` | the waiting time of each message, known when the message is taken |
//! | `fields` | these values as fields of events |
//!
//! [`crate::analysis::machines`] computes the figures of messages, and also uses these files.

mod fields;
mod responses;
pub(crate) mod sight;
pub(crate) mod waiting;

pub(crate) use fields::{MessageField, MessageFields};
pub use responses::{Response, Responses};

/// Maximum number of rows of a table about machines, objects or messages. It limits the memory for
/// damaged traces.
pub(crate) const MAX_ROWS: usize = 1 << 16;
