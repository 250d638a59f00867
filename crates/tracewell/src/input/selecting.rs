//! Reads the selected events of an input.
//!
//! To find the last events of a selection, the input is read twice: the first reading counts the
//! events.

use super::{Input, InputError};
use crate::model::{Batch, Flow, Sink, Trace};
use crate::select::{Selected, Selection};

impl Input {
    /// Selects the events that the following readings pass to their sinks. Numbers and times of
    /// events do not change, and losses are passed on. A name that does not occur in the trace
    /// becomes a warning in the trace's diagnostics.
    ///
    /// ```
    /// use tracewell::select::Selection;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
    /// let mut input = tracewell::open(path)?;
    /// input.select(Selection { tail: Some(2), ..Selection::default() });
    /// let mut numbers = Vec::new();
    /// input.for_each(|event| numbers.push(event.seq()))?;
    /// assert_eq!(numbers, [195, 196]);
    /// # Ok::<(), tracewell::input::InputError>(())
    /// ```
    pub fn select(&mut self, selection: Selection) {
        self.notes_ids |= selection.has_events();
        self.selection = selection;
    }

    /// Collects the ids of events in the next readings, for [`Trace::ids`]. Then
    /// [`Selection::unknown_names`] can report events that never occurred. [`Input::select`] does
    /// the same if the selection names events.
    pub fn note_ids(&mut self) {
        self.notes_ids = true;
    }

    /// Returns the selection, and selects all events for later readings. This is for sinks that
    /// apply the selection themselves.
    pub fn take_selection(&mut self) -> Selection {
        std::mem::take(&mut self.selection)
    }

    /// Converts [`Selection::tail`] to a number of events to skip, and returns the new selection.
    /// If `tail` is set, this function reads the whole input to count the events, and keeps the
    /// bytes of a stream in memory.
    ///
    /// # Errors
    /// Returns the errors of [`Input::read`].
    pub fn without_tail(&mut self, selection: Selection) -> Result<Selection, InputError> {
        let Some(tail) = selection.tail else { return Ok(selection) };
        self.load()?;
        let mut count = Count(0);
        let selection = Selection { tail: None, ..selection };
        let named = selection.has_names();
        self.read_any(&mut Selected::new(&mut count, selection.clone()), named)?;
        let skip = selection.skip + count.0.saturating_sub(tail as u64);
        Ok(Selection { skip, ..selection })
    }

    /// Reads the selected events into a sink. If `named` is true or the selection contains names,
    /// handles names as [`Input::read_named`] does.
    pub(super) fn read_selected(
        &mut self,
        sink: &mut dyn Sink,
        named: bool,
    ) -> Result<Trace, InputError> {
        let selection = self.without_tail(self.selection.clone())?;
        let named = named || selection.has_names();
        let mut trace = self.read_any(&mut Selected::new(sink, selection.clone()), named)?;
        selection.remark(&mut trace);
        Ok(trace)
    }

    fn read_any(&mut self, sink: &mut dyn Sink, named: bool) -> Result<Trace, InputError> {
        if named { self.read_all_named(sink) } else { self.read_all(sink) }
    }
}

/// A sink that counts events.
struct Count(u64);

impl Sink for Count {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        self.0 += batch.len() as u64;
        Flow::Continue(())
    }
}
