//! Applies the files with which users name what is in a trace, and reports entries without effect.

use std::sync::Arc;

use super::Settings;
use crate::format::Format;
use crate::model::schema::Extension;
use crate::model::{Batch, Severity, Trace};

/// Maximum number of events in one note.
const MAX_LISTED: usize = 10;

/// The schema files of a user, and the ids that occurred so far.
pub(super) struct UserNames {
    files: Vec<Arc<Extension>>,
    /// A bit for each id below 65536 that occurred. Schemas define no larger ids.
    seen: Vec<u64>,
}

impl UserNames {
    /// Returns the files for this format. Warns of files for other formats if all are.
    pub(super) fn new(format: &Format, settings: &Settings, trace: &mut Trace) -> Option<Self> {
        let is_ours = |file: &&Arc<Extension>| file.format() == format.name;
        let mut files = settings.all_schemas(format.name);
        files.retain(|file| is_ours(&file));
        // With files for several formats, a user names all systems of a project at once.
        let severity = if files.is_empty() { Severity::Warning } else { Severity::Note };
        for file in settings.schemas.iter().filter(|file| !is_ours(file)) {
            let (path, of) = (file.path(), file.format());
            let message = format!(
                "{path} has no effect: it is for format {of}, and this trace has format {}",
                format.name
            );
            trace.diagnostics.add(severity, None, message);
        }
        (!files.is_empty()).then(|| Self { files, seen: vec![0; 65536 / 64] })
    }

    /// Notes the ids of these events.
    pub(super) fn note(&mut self, batch: &Batch<'_>) {
        for event in batch.events() {
            if let Some(bits) = self.seen.get_mut(event.id as usize / 64) {
                *bits |= 1 << (event.id % 64);
            }
        }
    }

    /// Adds notes about events that never occurred, and warnings of entries that do not fit.
    pub(super) fn report(&self, trace: &mut Trace) {
        let seen = |id: u32| {
            self.seen.get(id as usize / 64).is_some_and(|bits| bits >> (id % 64) & 1 == 1)
        };
        for fault in trace.schema.faults() {
            trace.diagnostics.add(Severity::Warning, None, fault.to_string());
        }
        for file in &self.files {
            let unseen = file.unseen(&trace.schema, seen);
            if unseen.is_empty() {
                continue;
            }
            let more = unseen.len().saturating_sub(MAX_LISTED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let listed = unseen[..unseen.len().min(MAX_LISTED)].join(", ");
            let message = format!("{}: these events never occurred: {listed}{more}", file.path());
            trace.diagnostics.add(Severity::Note, None, message);
        }
    }
}
