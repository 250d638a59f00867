//! Changes to a template file, as AIX's trcupdate makes them: an update file adds, replaces and
//! deletes templates, and what it changed can be undone by another one.
//!
//! ```text
//! * /etc/trcfmt
//! # what this update is for
//! + 0AA 1.1 L=SVC "disk op" "unit=" U1
//! - 0AB
//! ```
//!
//! Here it is decided what becomes of the texts; how files are replaced so that an interruption
//! leaves the old one or the new one is in [`store`], compressed files are in [`compress`].

mod apply;
pub mod compress;
mod records;
pub mod store;

pub use apply::{Applied, Change, apply, extract};
pub use records::{Record, read};

/// What the first line of an update file is.
pub const FIRST_LINE: &str = "* /etc/trcfmt";

/// A text of the template file as a record that puts it back.
fn as_addition(text: &str) -> String {
    format!("+ {text}\n")
}
