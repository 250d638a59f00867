//! Text that both the report and the exporters write: numbers, padded fields, decoded arguments.
//!
//! Everything goes into a buffer that its owner reuses, so that a line costs no allocation.

mod buffer;
pub mod calendar;
mod count;
mod describe;
mod duration;
mod growing;
mod lines;
mod listing;
mod names;
mod per_event;
mod shown;

pub use buffer::{Literal, Room, ShortText, TextBuffer, put};
pub use count::counted;
pub(crate) use count::{missing, times};
pub use describe::Describer;
pub(crate) use describe::{put_bytes, put_name, put_signed};
pub(crate) use duration::spoken_time;
pub use growing::{Growing, Seconds};
pub use lines::LineWriter;
pub use listing::Listing;
pub use per_event::PerEvent;
pub use shown::{Shown, is_plain, shown, shown_lines, shown_path};
pub(crate) use shown::{is_plain_ascii, put_shown};
