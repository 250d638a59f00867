//! The events of a batch as columns of the same length.

use super::moments::Position;
use crate::model::{Arguments, Batch, ContextId, EventRef, Priority, Trace};

/// The columns of a batch, cut to the same length. So the compiler can prove that a row of one
/// column is a row of each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<'a> {
    pub(super) trace: &'a Trace,
    pub(super) batch: &'a Batch<'a>,
    pub(super) ids: &'a [u32],
    ticks: &'a [u64],
    cpus: &'a [u16],
    contexts: &'a [ContextId],
    priorities: &'a [Priority],
    arguments: Arguments<'a>,
}

impl<'a> Rows<'a> {
    #[inline(always)]
    pub(super) fn new(trace: &'a Trace, batch: &'a Batch<'a>) -> Self {
        let columns = batch.columns;
        let lengths = [columns.id.len(), columns.ticks.len(), columns.cpu.len()];
        let length = lengths.into_iter().fold(columns.context.len(), usize::min);
        let length = length.min(columns.priority.len());
        Self {
            trace,
            batch,
            ids: &columns.id[..length],
            ticks: &columns.ticks[..length],
            cpus: &columns.cpu[..length],
            contexts: &columns.context[..length],
            priorities: &columns.priority[..length],
            arguments: Arguments::new(trace, batch),
        }
    }

    #[inline(always)]
    pub(super) fn at(&self, row: usize) -> Position {
        Position { ticks: self.ticks[row], seq: self.batch.first + row as u64 }
    }

    #[inline(always)]
    pub(super) fn cpu(&self, row: usize) -> u16 {
        self.cpus[row]
    }

    #[inline(always)]
    pub(super) fn context(&self, row: usize) -> ContextId {
        self.contexts[row]
    }

    #[inline(always)]
    pub(super) fn priority(&self, row: usize) -> Priority {
        self.priorities[row]
    }

    /// Returns an argument of an event; `None` if `index` is `None` or the event lacks the argument.
    #[inline(always)]
    pub(super) fn argument(&self, row: usize, index: Option<usize>) -> Option<u64> {
        self.arguments.get(row, index?)
    }

    /// Returns the whole event.
    #[inline(always)]
    pub(super) fn event(&self, row: usize) -> EventRef<'a> {
        let (record, payload) = self.batch.records.record_and_payload(row);
        EventRef {
            seq: self.batch.first + row as u64,
            ticks: self.ticks[row],
            cpu: self.cpus[row],
            context: self.contexts[row],
            id: self.ids[row],
            priority: self.priorities[row],
            payload,
            record,
        }
    }
}
