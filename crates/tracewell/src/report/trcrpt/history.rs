//! Counts the events with each id, and writes these counts instead of the events.

use crate::model::Trace;
use crate::template::Program;
use crate::template::syntax::Key;
use crate::text::PerEvent;

#[derive(Debug, Default)]
pub(super) struct History {
    counts: PerEvent<u64>,
    seen: Vec<u32>,
}

/// Maximum number of ids that are listed, so that a trace with many ids cannot fill memory.
const MAX_IDS: usize = 1 << 16;

impl History {
    #[inline]
    pub(super) fn count(&mut self, id: u32) {
        let count = self.counts.get(id, || 0);
        *count += 1;
        if *count == 1 && self.seen.len() < MAX_IDS {
            self.seen.push(id);
        }
    }

    /// Returns id, count and label of each event type, most events first.
    pub(super) fn lines(&mut self, trace: &Trace, program: &Program) -> Vec<String> {
        let mut rows: Vec<_> =
            self.seen.iter().map(|id| (*id, *self.counts.get(*id, || 0))).collect();
        // Sort equal counts by id, so that the order is always the same.
        rows.sort_by_key(|(id, count)| (std::cmp::Reverse(*count), *id));
        let line = |(id, count): (u32, u64)| {
            let short = u16::try_from(id).ok();
            let text = match short {
                Some(id) if trace.schema.ids_are_hooks() => Key::Id(id).to_string(),
                _ => format!("{id:04X}"),
            };
            let template =
                short.and_then(|id| program.of_id(id)).and_then(|id| program.template(id));
            let label = template.map_or_else(|| trace.schema.label(id), |t| t.label.clone());
            format!("{text:<4} {count:>12} {label}").trim_end().to_owned()
        };
        std::iter::once(format!("{:<4} {:>12} LABEL", "ID", "COUNT"))
            .chain(rows.into_iter().map(line))
            .collect()
    }
}
