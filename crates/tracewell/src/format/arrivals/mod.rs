//! Decodes arrival files as traces. An arrival file contains the arrival times of the bytes that a
//! collector saved.
//!
//! Each entry becomes an event with a timestamp of the host. [`tracewell_wire::arrivals`] defines
//! the layout and writes it.

mod decoder;
pub mod sidecar;

use std::sync::{Arc, LazyLock};

use tracewell_wire::arrivals::HEADER;

use super::{Confidence, Format};
use crate::model::schema::Schema;

/// The format's entry in the list of formats.
pub static FORMAT: Format = Format {
    description: "arrival times of the bytes that `collect` saved (FILE.arrivals)",
    recognised_by: "TWARRIVE at the start",
    schema,
    sidecar: Some(sidecar::SIDECAR),
    ..Format::new(
        "arrivals",
        |start| start.starts_with(HEADER.split_at(8).0).then_some(Confidence::Certain),
        decoder::new,
    )
};

/// Returns the event types of arrival files.
pub fn schema() -> Arc<Schema> {
    static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
        Schema::built_in(include_str!("../../../schemas/arrivals.toml"), "schemas/arrivals.toml")
    });
    SCHEMA.clone()
}
