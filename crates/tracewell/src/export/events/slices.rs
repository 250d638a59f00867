//! Writes events that several threads decode and format.

use std::io::{self, Write};

use super::EventWriter;
use crate::model::{Columns, Sink, Slices, Trace};
use crate::select::Listing;
use crate::text::{TextBuffer, TextBuffers, write_in_order};

/// The writers of the threads. Each call of `write_slices` reuses them, because they contain the
/// kept texts.
#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: Vec<Part>,
    buffers: TextBuffers,
}

/// The writer of one thread. `write_slices` passes the lines of all threads to the output, in
/// order.
#[derive(Debug)]
struct Part {
    writer: EventWriter<io::Sink>,
    columns: Columns,
}

impl Part {
    fn put(&mut self, trace: &Trace, slices: &dyn Slices, slice: usize, text: &mut TextBuffer) {
        let Self { writer, columns } = self;
        writer.times.resume(trace, slices.before(trace, slice).ticks);
        let flow = writer.events(trace, &slices.batch(trace, slice, columns));
        debug_assert!(flow.is_continue(), "a writer of a part takes all events");
        writer.lines.swap(text);
    }
}

impl<W: Write> EventWriter<W> {
    /// Returns true if only the times in a line can depend on earlier events.
    pub(super) fn can_be_split(&self) -> bool {
        self.cells.is_none() && self.lines.is_whole()
    }

    /// Writes the lines of all slices.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub(super) fn write_slices(&mut self, trace: &Trace, slices: &dyn Slices) -> io::Result<()> {
        let Parts { mut parts, mut buffers } = std::mem::take(&mut self.parts);
        parts.resize_with(slices.threads(), || self.part());
        write_in_order(
            slices.count(),
            (&mut parts, &mut buffers),
            |part, slice, text| part.put(trace, slices, slice, text),
            |text| self.lines.block(text),
        )?;
        for part in &parts {
            self.times.add(&part.writer.times);
        }
        self.times.resume(trace, slices.before(trace, slices.count()).ticks);
        self.parts = Parts { parts, buffers };
        Ok(())
    }

    fn part(&self) -> Part {
        let mut writer = EventWriter::of(Listing::gathering(), self.format);
        if let Some(form) = &self.form {
            writer = writer.with_times(form.clone());
        }
        if self.decoded {
            writer = writer.with_decoded_arguments();
        }
        Part { writer: EventWriter { begun: true, ..writer }, columns: Columns::default() }
    }
}
