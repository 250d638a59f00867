//! Decodes traces in the Common Trace Format, versions 1.8 and 2.
//!
//! | file | task |
//! |---|---|
//! | `classes` | the types of a trace |
//! | `metadata` | metadata to types |
//! | `tsdl`, `json` | the languages of metadata: CTF 1.8 and CTF 2 |

pub mod classes;
mod json;
pub mod metadata;
mod tsdl;
