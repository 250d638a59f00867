//! Rows as aligned columns. The first rows determine the widths of the columns, so that memory is
//! bounded; longer values of later rows move the rest of their line.

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Schema};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use tracewell::text::{display_width, shown};

/// Number of rows that determine the widths of columns.
const MEASURED_ROWS: usize = 10_000;

/// The text for a null.
const NULL: &str = "-";

/// A writer of aligned columns.
pub(crate) struct TableWriter<W> {
    out: W,
    names: Vec<String>,
    /// For each column, true if its values are right-aligned.
    right: Vec<bool>,
    /// Rows that wait for the widths.
    waiting: Vec<Vec<String>>,
    /// Widths of the columns, when they are known.
    widths: Option<Vec<usize>>,
}

impl<W: Write> TableWriter<W> {
    /// Creates a writer for rows with these columns.
    pub(crate) fn new(out: W, schema: &Schema) -> Self {
        let fields = schema.fields().iter();
        let names = fields.clone().map(|field| shown(field.name()).into_owned()).collect();
        let right = fields.map(|field| is_number(field.data_type())).collect();
        Self { out, names, right, waiting: Vec::new(), widths: None }
    }

    /// Writes the rows of a batch, now or when the widths are known.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let options = FormatOptions::new().with_null(NULL);
        let columns: Result<Vec<_>, _> = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column, &options))
            .collect();
        let columns = columns?;
        for row in 0..batch.num_rows() {
            let cells: Result<Vec<String>, ArrowError> = columns
                .iter()
                .map(|column| Ok(shown(&column.value(row).try_to_string()?).into_owned()))
                .collect();
            let cells = cells?;
            if let Some(widths) = &self.widths {
                write_line(&mut self.out, &cells, widths, &self.right)?;
            } else {
                self.waiting.push(cells);
                if self.waiting.len() == MEASURED_ROWS {
                    self.write_waiting()?;
                }
            }
        }
        Ok(())
    }

    /// Writes the pending rows.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if self.widths.is_none() { self.write_waiting() } else { Ok(()) }
    }

    fn write_waiting(&mut self) -> io::Result<()> {
        let mut widths: Vec<usize> = self.names.iter().map(|name| display_width(name)).collect();
        for row in &self.waiting {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = display_width(cell).max(*width);
            }
        }
        write_line(&mut self.out, &self.names, &widths, &self.right)?;
        for row in std::mem::take(&mut self.waiting) {
            write_line(&mut self.out, &row, &widths, &self.right)?;
        }
        self.widths = Some(widths);
        Ok(())
    }
}

/// Writes cells with two spaces between columns, and without spaces at the end.
fn write_line(
    out: &mut impl Write,
    cells: &[String],
    widths: &[usize],
    right: &[bool],
) -> io::Result<()> {
    let mut line = String::new();
    let last = cells.len().saturating_sub(1);
    for (column, cell) in cells.iter().enumerate() {
        let spaces = widths[column].saturating_sub(display_width(cell));
        let (before, after) = match (right[column], column == last) {
            (true, _) => (spaces, 0),
            (false, true) => (0, 0),
            (false, false) => (0, spaces),
        };
        line.extend(std::iter::repeat_n(' ', before));
        line.push_str(cell);
        line.extend(std::iter::repeat_n(' ', after));
        line.push_str(if column == last { "\n" } else { "  " });
    }
    out.write_all(line.as_bytes())
}

fn is_number(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_number(values),
        data_type => data_type.is_numeric(),
    }
}
