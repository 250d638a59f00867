//! A summary as bytes, for a cache.

use std::fs::File;
use std::io;

use super::objects::Objects;
use super::pool::Pool;
use super::sample::Sample;
use super::{LockPart, Parts, Summary};
use crate::analysis::machines;
use crate::analysis::scheduling::Figures;
use crate::analysis::stored::Stored;
use crate::analysis::tracks::Tracks;

impl Parts {
    /// Appends everything except the records to `out`. Returns new records: one for each sample
    /// block that the pool does not contain yet.
    fn put(&self, out: &mut Vec<u8>) -> Vec<u8> {
        let Self { cores, contexts, locks, marks, arrows, objects, pool } = self;
        let mut further = Vec::new();
        cores.put(out);
        contexts.put(out);
        locks.len().put(out);
        for LockPart { holder, waits } in locks {
            holder.put(out);
            waits.put(pool, &mut further, out);
        }
        marks.put(pool, &mut further, out);
        arrows.put(pool, &mut further, out);
        objects.put(pool, &mut further, out);
        further
    }

    /// Takes the parts. Returns `None` if the pool does not contain all of their records.
    fn take(input: &mut &[u8], pool: Pool) -> Option<Self> {
        let (cores, contexts) = (Stored::take(input)?, Stored::take(input)?);
        let mut locks = Vec::new();
        for _ in 0..usize::take(input)? {
            let (holder, waits) = (Stored::take(input)?, Sample::take(input, &pool)?);
            locks.push(LockPart { holder, waits });
        }
        let (marks, arrows) = (Sample::take(input, &pool)?, Sample::take(input, &pool)?);
        let objects = Objects::take(input, &pool)?;
        let parts = Self { cores, contexts, locks, marks, arrows, objects, pool };
        let Self { cores, contexts, locks, pool, .. } = &parts;
        let are_in = cores.iter().all(|row| row.is_in(pool))
            && contexts.iter().all(|row| row.is_in(pool))
            && locks.iter().all(|lock| lock.holder.is_in(pool));
        are_in.then_some(parts)
    }
}

/// A stored summary consists of two parts: the records of its rows, and all other bytes, which this
/// code writes and reads. Together, both parts contain the tracks that [`Summary::tracks`] returns,
/// except the reasons. After reading, the reasons, the findings, the budgets and the figures are
/// empty.
impl Summary {
    /// Returns the length of the records in bytes, not including the records that [`Self::put`]
    /// returns.
    pub(crate) fn records(&self) -> u64 {
        self.parts.pool.length()
    }

    /// Writes the records to a file, and then `rest`. `rest` begins with the records that
    /// [`Self::put`] returns. If the records are not in a file yet, `opener` supplies the file.
    pub(crate) fn store(
        &self,
        rest: &[u8],
        opener: impl FnOnce() -> io::Result<File>,
    ) -> io::Result<()> {
        match self.parts.pool.file() {
            Some(file) => self.parts.pool.store(file, rest),
            None => self.parts.pool.store(&opener()?, rest),
        }
    }

    /// Appends everything except the records to `out`. Returns new records: one for each sample
    /// block that the pool does not contain yet.
    pub(crate) fn put(&self, out: &mut Vec<u8>) -> Vec<u8> {
        let Self { rest, parts } = self;
        let Tracks { span, cores, contexts, jobs, locks, gaps, left_out, .. } = rest;
        let Tracks { machines, levels, spans, places, .. } = rest;
        span.put(out);
        cores.put(out);
        contexts.put(out);
        jobs.put(out);
        locks.put(out);
        gaps.put(out);
        left_out.put(out);
        machines.put(out);
        levels.put(out);
        spans.put(out);
        places.put(out);
        parts.put(out)
    }

    /// Reads a summary from the input; its records are the first `records` bytes of a file.
    pub(crate) fn take(input: &mut &[u8], file: File, records: u64) -> Option<Self> {
        let rest = Tracks {
            span: Stored::take(input)?,
            cores: Stored::take(input)?,
            contexts: Stored::take(input)?,
            jobs: Stored::take(input)?,
            locks: Stored::take(input)?,
            gaps: Stored::take(input)?,
            left_out: Stored::take(input)?,
            machines: Stored::take(input)?,
            levels: Stored::take(input)?,
            spans: Stored::take(input)?,
            places: Stored::take(input)?,
            marks: Vec::new(),
            recorded: Vec::new(),
            arrows: Vec::new(),
            servers: Vec::new(),
            misses: Vec::new(),
            findings: Vec::new(),
            reasons: Vec::new(),
            figures: Figures::default(),
            machine_figures: machines::Figures::default(),
        };
        let parts = Parts::take(input, Pool::of_file(file, records))?;
        Some(Self { rest, parts })
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::{RowState, SummaryRow};
    use super::*;
    use crate::analysis::tracks::{Change, Holder, Occupant, Position, State};

    /// Returns a row that has records in the pool.
    fn row<S: RowState>(states: [S; 2], pool: &mut Pool) -> SummaryRow<S> {
        let mut row = SummaryRow::default();
        let changes = (0..1000).map(|index| {
            let at = Position { ticks: 10 * index as u64, seq: index as u64 };
            Change { at, state: states[index % 2] }
        });
        row.extend(&changes.collect::<Vec<_>>(), pool);
        row
    }

    /// Returns true if the parts can be read with the records of this pool.
    fn is_read(parts: &Parts, pool: &Pool) -> bool {
        let mut bytes = Vec::new();
        parts.put(&mut bytes);
        Parts::take(&mut bytes.as_slice(), pool.clone()).is_some()
    }

    #[test]
    fn every_row_needs_its_records() {
        let mut pool = Pool::default();
        let cores = vec![row([Occupant::Idle, Occupant::Unknown], &mut pool)];
        let contexts = vec![row([State::Ready, State::Off], &mut pool)];
        let holder = row([Holder::Free, Holder::Unknown], &mut pool);
        let locks = vec![LockPart { holder, ..LockPart::default() }];
        let all = [
            Parts { cores, ..Parts::default() },
            Parts { contexts, ..Parts::default() },
            Parts { locks, ..Parts::default() },
        ];
        for parts in all {
            assert!(is_read(&parts, &pool) && !is_read(&parts, &Pool::default()));
        }
    }
}
