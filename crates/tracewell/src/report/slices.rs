//! Writes a report in several threads. Each thread decodes the events of one slice at a time and
//! formats their lines.

use std::io::{self, Write};

use super::kept_lines::KeptLines;
use super::{Report, ReportOptions, Shown, Times};
use crate::model::{Columns, Sink, Slices, Trace};
use crate::select::{Listing, Selection};
use crate::text::{TextBuffer, TextBuffers, write_in_order};

/// The reports of the threads. They are kept between calls, because they contain cached texts.
#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: Vec<Part>,
    buffers: TextBuffers,
}

/// The report of one thread. Its lines are added to the report of the trace.
#[derive(Debug)]
struct Part {
    report: Report<io::Sink>,
    columns: Columns,
}

impl Part {
    fn put(&mut self, trace: &Trace, slices: &dyn Slices, slice: usize, text: &mut TextBuffer) {
        let Self { report, columns } = self;
        report.resume(trace, slices, slice);
        let flow = report.events(trace, &slices.batch(trace, slice, columns));
        debug_assert!(flow.is_continue(), "the report of a slice accepts all events");
        report.lines.swap(text);
    }
}

impl<W: Write> Report<W> {
    /// Returns true if a line depends only on its event and the event before it.
    pub(super) fn can_be_split(&self, trace: &Trace) -> bool {
        // The mark of a switch depends on the last event of the same core.
        let is_plain = self.options.layout.width.is_none() && trace.cpus <= 1;
        is_plain && self.columns.is_some() && self.responses.is_none() && self.lines.is_whole()
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
        for part in &mut parts {
            self.shown.add(&std::mem::take(&mut part.report.shown));
        }
        self.resume(trace, slices, slices.count());
        self.parts = Parts { parts, buffers };
        Ok(())
    }

    /// Sets the report to its state before a slice, which is the state after the previous event.
    fn resume(&mut self, trace: &Trace, slices: &dyn Slices, slice: usize) {
        let before = slices.before(trace, slice);
        self.shown.running = vec![Some(before.context)];
        if let Some((_, times)) = &mut self.columns {
            times.resume(&trace.clock, before.ticks);
        }
    }

    fn part(&self) -> Part {
        let options = ReportOptions {
            layout: self.options.layout,
            title: None,
            selection: Selection::default(),
            times: self.options.times.clone(),
            shows_details: self.options.shows_details,
        };
        let columns = self.columns.as_ref();
        let columns = columns.map(|(columns, _)| (*columns, Times::new(*columns, &options.times)));
        let kept = KeptLines::new(columns.as_ref().map_or(0, |(columns, _)| columns.seq));
        let report = Report { columns, kept, ..Report::of(Listing::gathering(), options) };
        Part { report, columns: Columns::default() }
    }
}

impl Shown {
    /// Adds the numbers of events in another part of the trace.
    fn add(&mut self, part: &Self) {
        self.events += part.events;
        let contexts = self.by_context.len().max(part.by_context.len());
        self.by_context.resize(contexts, 0);
        for (all, shown) in self.by_context.iter_mut().zip(&part.by_context) {
            *all += shown;
        }
    }
}
