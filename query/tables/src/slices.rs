//! Makes rows of `events` on several threads. Each thread makes the rows of some slices, and the
//! thread of the reader passes them on in the order of the trace.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, Builder};

use tracewell::model::{Columns, Flow, Slices, Trace};

use crate::columns::{EVENTS, TEXT};
use crate::events::{Events, RowMaker};
use crate::output::Output;
use crate::values::Values;

/// Number of slices whose rows form a batch.
const BATCH_SLICES: usize = 8;

/// The rows of some slices.
struct Made {
    values: Vec<Values>,
    rows: usize,
}

impl Events<'_> {
    /// Returns true if several threads make the rows faster than one. Slices are decoded twice, so
    /// several threads are faster only if the values cost more than the decoding. If the request
    /// has a limit, one thread is enough, because the reading ends after a few rows.
    pub(crate) fn gains_from_threads(&self) -> bool {
        let is_costly = |column: usize| {
            column >= EVENTS.len() || EVENTS.get(column).is_some_and(|column| column.name == TEXT)
        };
        let RowMaker { request, columns, .. } = &self.maker;
        request.limit.is_none() && columns.iter().any(|(column, _)| is_costly(*column))
    }

    /// Makes the rows of all slices.
    pub(crate) fn read_slices(&mut self, trace: &Trace, slices: &dyn Slices) -> Flow {
        let batches = slices.count().div_ceil(BATCH_SLICES);
        let threads = slices.threads().min(batches);
        let Self { maker, output, others } = self;
        while others.len() < threads {
            others.push(maker.for_another_thread());
        }
        let empty = maker.empty(&output.values);
        let next = AtomicUsize::new(0);
        let (sender, made) = sync_channel(threads);
        thread::scope(|scope| {
            let mut started = 0;
            for maker in others.iter_mut().take(threads) {
                let (sender, next, empty) = (sender.clone(), &next, &empty);
                let work = move || {
                    let mut columns = Columns::default();
                    loop {
                        let batch = next.fetch_add(1, Ordering::Relaxed);
                        if batch >= batches {
                            break;
                        }
                        let of_batch = maker.make(trace, slices, batch, empty, &mut columns);
                        // The receiver ends when it needs no more rows.
                        if sender.send((batch, of_batch)).is_err() {
                            break;
                        }
                    }
                };
                started += usize::from(Builder::new().spawn_scoped(scope, work).is_ok());
            }
            drop(sender);
            match started {
                0 => {
                    let mut columns = Columns::default();
                    (0..batches).try_for_each(|batch| {
                        put(output, maker.make(trace, slices, batch, &empty, &mut columns))
                    })
                }
                _ => put_in_order(output, made),
            }
        })?;
        self.flow_after(Some(slices.before(trace, slices.count()).ticks))
    }
}

impl RowMaker<'_> {
    /// Returns empty [`Values`] for the wanted columns.
    fn empty(&self, values: &[Values]) -> Vec<Values> {
        let columns = values.iter().zip(&self.columns);
        columns.map(|(values, (_, kind))| values.of_same_column(*kind)).collect()
    }

    /// Makes the rows of a batch of slices.
    fn make(
        &mut self,
        trace: &Trace,
        slices: &dyn Slices,
        batch: usize,
        empty: &[Values],
        columns: &mut Columns,
    ) -> Made {
        let mut made = Made { values: self.empty(empty), rows: 0 };
        let first = batch.saturating_mul(BATCH_SLICES);
        let of_batch: Range<usize> = first..(first + BATCH_SLICES).min(slices.count());
        for slice in of_batch {
            // The ticks of events in slices never decrease.
            let [from, until] = [slice, slice + 1].map(|slice| slices.before(trace, slice).ticks);
            if self.request.can_take_ticks(from..=until) {
                let batch = slices.batch(trace, slice, columns);
                let place = (made.rows, usize::MAX);
                made.rows += self.append(trace, &batch, &mut made.values, place);
            }
        }
        made
    }
}

fn put(output: &mut Output<'_>, made: Made) -> Flow {
    output.put(made.values, made.rows)
}

/// Passes on the rows of batches in the order of their numbers.
fn put_in_order(output: &mut Output<'_>, made: Receiver<(usize, Made)>) -> Flow {
    let (mut early, mut due) = (BTreeMap::new(), 0);
    for (batch, of_batch) in made {
        early.insert(batch, of_batch);
        while let Some(of_batch) = early.remove(&due) {
            due += 1;
            put(output, of_batch)?;
        }
    }
    Flow::Continue(())
}
