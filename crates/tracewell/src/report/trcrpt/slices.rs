//! Writes the lines of events that several threads decode and format.

use std::io::{self, Write};

use super::facts::Facts;
use super::formatter::{Formatter, Shared};
use super::{BatchPart, Page, TrcReport};
use crate::model::{Columns, Slices, Trace};
use crate::text::write_in_order;

/// The state of one thread.
struct Part<'a> {
    formatter: &'a mut Formatter,
    facts: Facts,
    columns: Columns,
    rows: Vec<u32>,
}

impl<W: Write> TrcReport<'_, W> {
    /// Returns true if each line depends only on its event and the previous event.
    pub(super) fn can_be_split(&self, trace: &Trace) -> bool {
        let shows_all = self.is_whole && !self.shows_calls && !self.settings.options.history;
        // A line shows the name that the process had at the first event of the context. This event
        // may be in an earlier slice.
        let mut contexts = trace.contexts.iter();
        shows_all
            && self.formatters.len() > 1
            && contexts.all(|(_, context)| trace.process_of(context).is_none())
    }

    /// Writes the lines of all slices.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub(super) fn write_slices(&mut self, trace: &Trace, slices: &dyn Slices) -> io::Result<()> {
        let Self { program, settings, formatters, buffers, out, shows_offsets, .. } = self;
        let first = self.first.unwrap_or_else(|| slices.before(trace, 0).ticks);
        let (program, settings, shows_offsets) = (*program, &*settings, *shows_offsets);
        let part = |formatter| {
            let (columns, rows) = (Columns::default(), Vec::new());
            Part { formatter, facts: Facts::default(), columns, rows }
        };
        let mut parts: Vec<_> = formatters.iter_mut().map(part).collect();
        write_in_order(
            slices.count(),
            (&mut parts, buffers),
            |part, slice, text| {
                let Part { formatter, facts, columns, rows } = part;
                let before = slices.before(trace, slice).ticks;
                let batch = slices.batch(trace, slice, columns);
                rows.clear();
                rows.extend(0..batch.len() as u32);
                facts.prepare(trace, program, settings, &batch, rows);
                let shared = Shared { program, settings, facts, trace };
                let lines = BatchPart { shared, batch: &batch, calls: &[], first, shows_offsets };
                lines.format(formatter, rows, 0, before, &mut Page::default());
                // Swap the buffers, so that the text is not copied. The formatter gets an empty
                // buffer.
                std::mem::swap(formatter.text(), text);
            },
            |text| out.block(text),
        )?;
        // The line of the next event shows the time since the last event of the slices.
        self.before = Some(slices.before(trace, slices.count()).ticks);
        Ok(())
    }
}
