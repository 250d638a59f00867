//! The vocabulary of kernels and executors. It is shared by the compact stream of small targets and
//! by native streams.
//!
//! | file | task |
//! |---|---|
//! | `names` | definitions: names of tasks, objects and events |
//! | `tasks` | the parts of each task's state that are needed to derive events |
//! | `state` | assigns events to contexts, and derives events from the state of the tasks |
//!
//! [`tracewell_wire::target::ids`] lists the recorded events. Each dialect finds these events in
//! its bytes and writes their rows.

mod names;
mod state;
mod tasks;

use std::sync::{Arc, LazyLock};

pub(super) use names::FIRST_USER;
pub(super) use state::{Kernel, Place, Recorded};

use crate::model::schema::Schema;

/// Returns the event types that every kernel can record and those that the decoder derives.
pub(super) fn schema() -> Arc<Schema> {
    static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
        Schema::built_in(include_str!("../../../schemas/target.toml"), "schemas/target.toml")
    });
    SCHEMA.clone()
}
