//! From when to when objects lived, as far as creations and deletions are in the trace.
//!
//! A key may name several objects one after the other: a control block whose memory was used
//! again. A creation in the trace begins the life of the key's next object in the order of the
//! source that has not lived yet; a deletion ends the life of the one that lives.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::schema::{EventType, Means, Schema};
use super::{Batch, Meaning, ObjectId, Trace};

/// Follows creations and deletions over the batches of a trace.
#[derive(Debug, Default)]
pub struct Lifetimes {
    /// Whether an id is a creation or a deletion, by id.
    relevant: Vec<bool>,
    /// Which of a key's objects lives now, as a position in its list.
    living: HashMap<u64, usize, RandomState>,
}

impl Lifetimes {
    /// Prepares for the ids of a schema.
    pub fn new(schema: &Schema) -> Self {
        let mut relevant = Vec::new();
        for event in schema.events().iter().filter(|event| birth_or_death(event).is_some()) {
            let id = event.id as usize;
            relevant.resize(relevant.len().max(id + 1), false);
            relevant[id] = true;
        }
        Self { relevant, living: HashMap::default() }
    }

    /// Notes the creations and deletions of a batch in the objects of its trace.
    pub fn follow(&mut self, trace: &mut Trace, batch: &Batch<'_>) {
        for (row, id) in batch.columns.id.iter().enumerate() {
            if self.relevant.get(*id as usize) == Some(&true) {
                self.note(trace, batch, row);
            }
        }
    }

    #[cold]
    fn note(&mut self, trace: &mut Trace, batch: &Batch<'_>, row: usize) {
        let Some(event) = batch.event(row) else { return };
        let Some(means) = birth_or_death(trace.schema.event(event.id)) else { return };
        let key = means.object.and_then(|index| trace.payload.argument(event.payload, index));
        match (key, means.meaning) {
            (Some(key), Meaning::Create) => self.create(trace, key, event.ticks),
            (Some(key), _) => self.delete(trace, key, event.ticks),
            (None, _) => {}
        }
    }

    fn create(&mut self, trace: &mut Trace, key: u64, ticks: u64) {
        let known = trace.objects.with_key(key).len();
        let position = self.living.get(&key).map_or(0, |position| position + 1);
        // The registry may have recycled a slot: its last object then lives again.
        let position = position.min(known.saturating_sub(1));
        self.living.insert(key, position);
        if let Some(object) = living(trace, key, position) {
            object.lifetime.from = Some(ticks);
            object.lifetime.until = None;
        }
    }

    fn delete(&mut self, trace: &mut Trace, key: u64, ticks: u64) {
        let position = *self.living.entry(key).or_insert(0);
        if let Some(object) = living(trace, key, position) {
            object.lifetime.until = Some(ticks);
        }
    }
}

fn birth_or_death(event: &EventType) -> Option<Means> {
    event.means.filter(|means| matches!(means.meaning, Meaning::Create | Meaning::Delete))
}

fn living(trace: &mut Trace, key: u64, position: usize) -> Option<&mut super::Object> {
    let id: ObjectId = *trace.objects.with_key(key).get(position)?;
    trace.objects.get_mut(id)
}
