//! Writes the lines of events whose arguments are numbers. Keeps the parts of lines as text: for
//! each context its name and priority, for each event id its label, and for each argument its name
//! and value. [`Report::line`] can write the same lines without cached texts, and writes all other
//! lines.

use std::io::Write;

use super::columns::Columns;
use super::{ContextCell, Report, label};
use crate::model::{Event, Flow, MAX_NUMBERS, NumberRow, NumberRows, Priority, Trace};
use crate::text::{
    IncrementalRight, LineDescriber, MAX_LINE, PerEvent, Reservation, TextBuffer, WideText,
};

/// The cached parts of lines, except the parts for contexts.
#[derive(Debug)]
pub(super) struct KeptLines {
    seq: IncrementalRight<2>,
    /// The label of each event id; `None` if it is too long.
    labels: PerEvent<Option<WideText>>,
    describer: LineDescriber,
    text: TextBuffer,
}

/// Maximum length of a line in bytes. A line consists of numbers and blanks, the context, the
/// label, a detail, and the arguments.
const MAX_LENGTH: usize = 8 * Reservation::NUMBER + (3 + MAX_NUMBERS) * WideText::MAX_LEN;
const _: () = assert!(MAX_LENGTH <= MAX_LINE);

impl KeptLines {
    /// Prepares the lines of a report whose first column has this width.
    pub(super) fn new(seq_width: usize) -> Self {
        Self {
            seq: IncrementalRight::new(seq_width),
            labels: PerEvent::default(),
            describer: LineDescriber::new(|_| {}),
            text: TextBuffer::default(),
        }
    }

    /// Forgets the labels, because the columns changed.
    pub(super) fn forget_labels(&mut self) {
        self.labels = PerEvent::default();
    }
}

impl<W: Write> Report<W> {
    /// Returns true if the report shows the time since the first event, and has no response times,
    /// no folded lines and no selection. Other reports cannot use cached texts.
    pub(super) fn has_usual_lines(&self) -> bool {
        let has_times = self.columns.as_ref().is_some_and(|(_, times)| times.are_relative());
        has_times && self.responses.is_none() && self.screen.is_none() && self.lines.is_whole()
    }

    /// Writes the lines of a batch.
    pub(super) fn kept_lines(&mut self, rows: &NumberRows<'_>) -> Flow {
        self.kept.describer.begin(rows);
        for row in rows.iter() {
            if self.kept_line(rows, row) {
                self.lines.after_line()?;
            } else if let Some(event) = rows.event(row.row) {
                self.line(Event::new(rows.trace(), &event), None)?;
            }
        }
        Flow::Continue(())
    }

    /// Writes the line of an event. Returns false and writes nothing if this is not possible.
    #[inline(always)]
    fn kept_line(&mut self, rows: &NumberRows<'_>, row: NumberRow<'_>) -> bool {
        let Some(numbers) = rows.numbers(&row) else { return false };
        let KeptLines { seq, labels, describer, text } = &mut self.kept;
        let Some((columns, times)) = &mut self.columns else { return false };
        let Some(context) = self.contexts.get_mut(row.context.index()) else { return false };
        // The kept text contains the priority, so a new priority needs a new text.
        if context.kept_for != Some(row.priority) {
            keep_context(text, columns, context, row.priority);
        }
        let Some(context) = &context.kept else { return false };
        let trace = rows.trace();
        let Some(Some(label)) = labels.find(row.id) else {
            keep_label(labels, trace, row.id, *columns);
            return false;
        };
        // The buffer does not change until `done` is called, so an earlier return writes nothing.
        let mut line = self.lines.buffer().window();
        seq.put(&mut line, rows.seq(&row));
        let time = trace.clock.nanoseconds(row.ticks);
        times.put_line(&mut line, row.ticks, time);
        if columns.cpu > 0 {
            line.right(u64::from(row.cpu), columns.cpu);
        }
        let changed = self.shown.takes_over(row.context, row.cpu);
        line.mark(if changed { b"  >" } else { b"   " });
        line.wide(context);
        line.wide(label);
        if !describer.put(&mut line, &mut self.describer, rows, &row, &numbers) {
            return false;
        }
        line.trim_end();
        line.mark(b"\n");
        line.done();
        // Note the time and the context only now. After an early return, another function writes
        // the line and notes them.
        times.note(row.ticks, time);
        self.shown.note(row.context, row.cpu);
        true
    }
}

/// Formats and stores the label of an event id.
#[cold]
fn keep_label(labels: &mut PerEvent<Option<WideText>>, trace: &Trace, id: u32, columns: Columns) {
    labels.get(id, || WideText::new(&label(trace, id, columns).bytes()));
}

/// Formats and stores the cells of context and priority.
#[cold]
fn keep_context(
    text: &mut TextBuffer,
    columns: &Columns,
    context: &mut ContextCell,
    priority: Priority,
) {
    text.truncate(0);
    text.literal(&context.text);
    match priority.get() {
        Some(priority) => text.right(u64::from(priority), columns.priority),
        None => text.text(columns.no_priority()),
    }
    context.kept_for = Some(priority);
    context.kept = WideText::new(text.as_bytes());
}
