//! Text that both the report and the exporters write: numbers, padded fields, decoded arguments.
//!
//! Everything goes into a byte buffer that its owner reuses, so that a line costs no allocation.

mod describe;
mod lines;
mod number;
mod per_event;

pub use describe::Describer;
pub use lines::{LineWriter, Tail};
pub use number::{put_decimal, put_hex, put_left, put_right, put_seconds};
pub use per_event::PerEvent;
