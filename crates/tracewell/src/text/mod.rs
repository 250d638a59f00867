//! Text for the reports and exports: numbers, padded fields, decoded arguments.
//!
//! Everything is appended to a reused buffer, so a line needs no allocation.

mod args;
mod blocks;
mod buffer;
pub mod calendar;
mod conversion;
mod count;
mod describe;
mod described_line;
mod digits;
mod display;
mod duration;
mod in_order;
mod incremental;
mod kept;
mod lines;
mod literal;
mod names;
mod per_event;
mod reservation;
mod shown;
pub mod style;
mod time_form;
mod window;

pub use buffer::{TextBuffer, put};
pub use count::{counted, grouped, missing, plural, times};
pub use describe::Describer;
pub(crate) use describe::{put_item, put_name, put_signed};
pub(crate) use described_line::{LineDescriber, MAX_KEPT_IDS};
pub(crate) use digits::{put_bytes, put_digits, put_fraction};
pub use display::{display_width, fold, padded, shortened};
pub(crate) use duration::spoken_time;
pub use in_order::{MAX_THREADS, TextBuffers, thread_count, write_in_order};
pub(crate) use incremental::IncrementalRight;
pub use incremental::{IncrementalDecimal, Seconds};
pub(crate) use kept::{KeptTexts, NumberForm, put_unkept};
pub use lines::LineWriter;
pub use literal::{Literal, ShortText};
pub use per_event::PerEvent;
pub use reservation::Reservation;
pub use shown::{Shown, is_plain, shown, shown_lines, shown_path};
pub(crate) use shown::{is_plain_ascii, put_shown};
pub use time_form::TimeForm;
pub(crate) use window::{KeyText, LineWindow, MAX_LINE, WideText};
