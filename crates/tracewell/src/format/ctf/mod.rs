//! Decodes traces in the Common Trace Format, versions 1.8 and 2.
//!
//! | file | task |
//! |---|---|
//! | `classes` | the types of a trace |

pub mod classes;
