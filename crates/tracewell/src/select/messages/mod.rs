//! Computes two values for each message between machines: the sequence number of the message at its
//! receiver, and the time for which the message waited. Reports show both values, and expressions
//! can use them.
//!
//! | file | purpose |
//! |---|---|
//! | `sight` | the meaning and the participants of an event |
//! | `waiting` | the order of pending messages |
//! | `responses` | the waiting time of each message, known when the message is taken |
//! | `fields` | these values as fields of events |
//!
//! The analyses in [`crate::analysis::machines`] compute the latencies of messages. They also use
//! `sight` and `waiting`.

mod fields;
mod responses;
pub(crate) mod sight;
pub(crate) mod waiting;

pub(crate) use fields::{MessageField, MessageFields};
pub use responses::{Response, Responses};

/// Maximum number of rows of a table about machines, objects or messages. Without this limit, a
/// damaged trace could fill the memory.
pub(crate) const MAX_ROWS: usize = 1 << 16;
