//! Changes template files as AIX's trcupdate does. An update file adds, replaces and deletes
//! templates. Each update produces another update file that undoes it.
//!
//! ```text
//! * /etc/trcfmt
//! # what this update is for
//! + 0AA 1.1 L=SVC "disk op" "unit=" U1
//! - 0AB
//! ```
//!
//! `apply` computes the new text. [`store`] replaces files so that an interruption leaves either
//! the old or the new file.

mod apply;
mod records;
pub mod store;

pub use apply::{Applied, Change, apply, extract};
pub use records::{Record, read};

/// The required first line of an update file.
pub const FIRST_LINE: &str = "* /etc/trcfmt";

/// Returns a record that adds a template with this text.
fn as_addition(text: &str) -> String {
    format!("+ {text}\n")
}
