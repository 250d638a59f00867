//! What a user says about an input.

use std::sync::Arc;

use crate::format::Options;
use crate::model::schema::Schema;

/// What a user says about an input; the default leaves everything to its bytes.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Name of its format, instead of recognising it.
    pub format: Option<String>,
    /// What its bytes do not tell.
    pub options: Options,
    /// Names of events, instead of the built-in ones of the format.
    pub schema: Option<Arc<Schema>>,
}
