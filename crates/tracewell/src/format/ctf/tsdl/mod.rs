//! Reads metadata of CTF 1.8, in the language TSDL.
//!
//! | file | task |
//! |---|---|
//! | `lexer` | text to tokens |
//! | `parser`, `parse_types` | tokens to a syntax tree |
//! | `tree` | the syntax tree |
//! | `attributes`, `words` | values of attributes |
//! | `scopes`, `resolve` | type trees to types: finds names, checks attributes |
//! | `blocks` | blocks to the declarations of a trace |

mod attributes;
mod blocks;
mod lexer;
mod parse_types;
mod parser;
mod resolve;
mod scopes;
mod tree;
mod words;

use super::declared::fault::{Fault, Log};
use super::declared::trace::Declared;

/// Returns the declarations of a text.
///
/// # Errors
/// Returns the position of the first error, what was expected and what was found.
pub(super) fn declared(text: &[u8], log: &mut Log) -> Result<Declared, Fault> {
    let parts = parser::parse(text, log)?;
    blocks::declared(&parts, log)
}
