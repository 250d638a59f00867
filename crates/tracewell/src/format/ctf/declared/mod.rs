//! The declarations of a metadata text. References between fields are not resolved yet. The parsers
//! of both languages produce this form.
//!
//! | file | content |
//! |---|---|
//! | `trace` | the trace, its streams and events |
//! | `types` | the declared types |
//! | `limits` | limits of metadata |
//! | `ranges` | the values that labels select |
//! | `fault` | errors and warnings at a position |

pub(crate) mod fault;
pub(crate) mod limits;
pub(crate) mod ranges;
pub(crate) mod trace;
pub(crate) mod types;
