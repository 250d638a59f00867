//! Builds batches of rows and passes them to the caller's function.

use std::ops::ControlFlow;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, SchemaRef};
use tracewell::model::{Clock, Flow, SinkError, Stop};

use crate::request::{Emit, Request, Summary};
use crate::table::Table;
use crate::values::{Cell, Values};

/// Number of rows that are enough for a batch. The last batch and the batches of [`Output::put`]
/// can have fewer.
pub(crate) const BATCH_ROWS: usize = 8192;

/// The rows of a table that are not in a batch yet.
pub(crate) struct Output<'a> {
    /// The wanted columns.
    pub(crate) schema: SchemaRef,
    /// The values of the wanted columns.
    pub(crate) values: Vec<Values>,
    /// Number of rows in `values`.
    pub(crate) rows: usize,
    pub(crate) summary: Summary,
    emit: &'a mut Emit<'a>,
    limit: u64,
    /// True if the receiver needs no more batches.
    stopped: bool,
}

impl<'a> Output<'a> {
    pub(crate) fn new(
        schema: SchemaRef,
        values: Vec<Values>,
        limit: Option<u64>,
        emit: &'a mut Emit<'a>,
    ) -> Self {
        let (summary, limit) = (Summary::default(), limit.unwrap_or(u64::MAX));
        Self { schema, values, rows: 0, summary, emit, limit, stopped: false }
    }

    /// Returns the number of rows that can be added before the limit is reached.
    pub(crate) fn room(&self) -> u64 {
        self.limit.saturating_sub(self.summary.rows + self.rows as u64)
    }

    /// Passes on all earlier rows, then these rows. Returns a break if no more rows are needed.
    pub(crate) fn put(&mut self, values: Vec<Values>, rows: usize) -> Flow {
        self.pass_on()?;
        (self.values, self.rows) = (values, rows);
        self.pass_on()
    }

    /// Passes on this number of rows without columns, because no column is wanted.
    pub(crate) fn put_rows_without_columns(&mut self, count: u64) -> Result<(), ArrowError> {
        let mut left = count.min(self.room());
        while left > 0 && !self.stopped {
            self.rows = usize::try_from(left).unwrap_or(usize::MAX).min(BATCH_ROWS);
            left -= self.rows as u64;
            self.flush()?;
        }
        Ok(())
    }

    fn pass_on(&mut self) -> Flow {
        Stop::on_error(self.flush().map_err(SinkError::not_possible))?;
        match self.stopped {
            true => Flow::Break(Stop::Complete),
            false => Flow::Continue(()),
        }
    }

    /// Passes on a batch if it has enough rows, or if the limit is reached. Returns a break if no
    /// more rows are needed.
    pub(crate) fn advance(&mut self) -> Flow {
        if self.rows >= BATCH_ROWS || self.room() == 0 {
            self.pass_on()?;
        }
        match self.room() {
            0 => Flow::Break(Stop::Complete),
            _ => Flow::Continue(()),
        }
    }

    /// Passes on all rows.
    pub(crate) fn flush(&mut self) -> Result<(), ArrowError> {
        if self.rows == 0 || self.stopped {
            return Ok(());
        }
        let columns: Result<Vec<ArrayRef>, _> =
            self.values.iter_mut().map(Values::finish).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns?, &options)?;
        self.summary.rows += self.rows as u64;
        self.rows = 0;
        self.stopped = (self.emit)(batch) == ControlFlow::Break(());
        Ok(())
    }
}

/// The rows of a small table.
pub(crate) struct Rows<'a> {
    output: Output<'a>,
    /// Position of each wanted column in the table.
    columns: Vec<usize>,
    request: &'a Request,
    ticks: Option<usize>,
    id: Option<usize>,
    clock: &'a Clock,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(
        table: Table,
        columns: Vec<usize>,
        request: &'a Request,
        clock: &'a Clock,
        output: Output<'a>,
    ) -> Self {
        let (ticks, id) = (table.position("ticks"), table.position("id"));
        Self { output, columns, request, ticks, id, clock }
    }

    /// Returns the time of a tick in nanoseconds.
    pub(crate) fn time_ns(&self, ticks: u64) -> Cell<'static> {
        self.clock.nanoseconds(ticks).into()
    }

    /// Returns the duration between two ticks in nanoseconds.
    pub(crate) fn duration_ns(&self, from: u64, until: u64) -> Cell<'static> {
        let (from, until) = (self.clock.nanoseconds(from), self.clock.nanoseconds(until));
        from.zip(until).map(|(from, until)| until.saturating_sub(from)).into()
    }

    /// Appends a row with a value for each column of the table, unless the request excludes the
    /// row. Returns a break if no more rows are needed.
    pub(crate) fn push(&mut self, cells: &[Cell<'_>]) -> Flow {
        if self.output.room() == 0 {
            return Flow::Break(Stop::Complete);
        }
        let number = |at: usize| match cells.get(at) {
            Some(Cell::Number(number)) => Some(*number),
            _ => None,
        };
        let request = self.request;
        let takes_ticks = |at| number(at).is_none_or(|ticks| request.takes_ticks(ticks));
        let takes_id = |at| {
            let id = number(at).and_then(|id| u32::try_from(id).ok());
            id.is_some_and(|id| request.takes_id(id))
        };
        if !self.ticks.is_none_or(takes_ticks) || !self.id.is_none_or(takes_id) {
            return Flow::Continue(());
        }
        for (values, column) in self.output.values.iter_mut().zip(&self.columns) {
            values.push(cells.get(*column).copied().unwrap_or(Cell::Null));
        }
        self.output.rows += 1;
        self.output.advance()
    }

    /// Counts rows that were left out of the table.
    pub(crate) fn leave_out(&mut self, rows: u64) {
        self.output.summary.left_out += rows;
    }

    /// Passes on the last rows.
    pub(crate) fn finish(mut self) -> Result<Summary, ArrowError> {
        self.output.flush()?;
        Ok(self.output.summary)
    }
}
