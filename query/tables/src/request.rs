//! Requests for rows of a table.

use std::ops::{ControlFlow, RangeInclusive};

use arrow_array::RecordBatch;

/// The wanted columns and rows of a table.
///
/// ```
/// use tracewell_tables::Request;
///
/// let request = Request { limit: Some(10), ..Request::default() };
/// assert!(request.columns.is_none());
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Positions of the wanted columns in [`Source::schema`](crate::Source::schema), in the order
    /// of the result; `None` for all columns. The reader creates values only for these columns.
    pub columns: Option<Vec<usize>>,
    /// The range of the column `ticks`. In a table without this column, it has no effect.
    pub ticks: RangeInclusive<i64>,
    /// The wanted values of the column `id`; `None` for all. In a table without this column, they
    /// have no effect.
    pub ids: Option<Vec<u32>>,
    /// Maximum number of rows.
    pub limit: Option<u64>,
    /// Maximum number of threads that make rows of `events`; 0 for one per processor. The rows do
    /// not depend on it. Only some formats can be decoded on several threads.
    pub threads: usize,
}

impl Default for Request {
    fn default() -> Self {
        Self { columns: None, ticks: i64::MIN..=i64::MAX, ids: None, limit: None, threads: 0 }
    }
}

impl Request {
    /// Returns true if a time is in the wanted range. Ticks above 2^63 - 1 are null in tables, so
    /// only the range of all ticks contains them.
    pub(crate) fn takes_ticks(&self, ticks: u64) -> bool {
        match i64::try_from(ticks) {
            Ok(ticks) => self.ticks.contains(&ticks),
            Err(_) => self.has_all_ticks(),
        }
    }

    /// Returns true if a range can contain a wanted time.
    pub(crate) fn can_take_ticks(&self, range: RangeInclusive<u64>) -> bool {
        let end = u64::try_from(*self.ticks.end());
        let start = u64::try_from(*self.ticks.start()).unwrap_or(0);
        self.has_all_ticks() || end.is_ok_and(|end| *range.start() <= end && *range.end() >= start)
    }

    /// Returns true if an event id is wanted.
    pub(crate) fn takes_id(&self, id: u32) -> bool {
        self.ids.as_ref().is_none_or(|ids| ids.contains(&id))
    }

    /// Returns true if the request excludes no event.
    pub(crate) fn takes_all(&self) -> bool {
        self.has_all_ticks() && self.ids.is_none()
    }

    fn has_all_ticks(&self) -> bool {
        self.ticks == (i64::MIN..=i64::MAX)
    }
}

/// The number of rows that were returned, and the number that were left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Number of rows in all batches.
    pub rows: u64,
    /// Number of rows left out of the table because an analysis reached its memory limit.
    pub left_out: u64,
}

/// Receives the batches of a table. `Break` ends the reading.
pub type Emit<'a> = dyn FnMut(RecordBatch) -> ControlFlow<()> + 'a;
