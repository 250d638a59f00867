//! Slices of a dump's events, for sinks that decode events on several threads.
//!
//! The ticks of an event depend on all events before it. So the slots of a section are decoded
//! twice: first on several threads to get the ticks before each slice, and then again by the
//! threads of the sink. A section is small enough to stay in the processor's cache between the two
//! passes, and large enough that starting threads costs little.
//!
//! In a section, no slot is unused, each context is known, and no address changes its name.
//! Otherwise the caller delivers the slots in batches.

use std::ops::Range;

use super::slots::{Slots, Ticking, Unwrapping};
use crate::model::{Batch, Before, Columns, ContextId, Records, Slices, Trace};
use crate::threads::{Threads, on_threads};

/// Maximum number of slots of a section.
pub(super) const SECTION: usize = 1 << 18;

/// Minimum number of slots of a section.
pub(super) const MIN_SECTION: usize = 8 * SLICE;

/// Number of slots of a slice. The text lines for these slots fit into the second-level cache.
const SLICE: usize = 1024;

/// The slices of a section.
pub(super) struct Section<'a> {
    slots: Slots<'a>,
    range: Range<usize>,
    /// Offset of slot 0 in the source.
    offset: u64,
    /// Number of events in the trace before this section.
    first: u64,
    /// The clock before each slice, and after the last slice.
    clocks: Vec<Ticking>,
    /// The context of the event before the first slice.
    context: ContextId,
    threads: usize,
}

/// The first pass over some slices of a section.
struct Survey {
    /// The clock before each slice, and after the last slice. The ticks of these clocks are
    /// relative to the first slice.
    clocks: Vec<Ticking>,
    /// False if a slot is unused or a context is unknown.
    is_whole: bool,
}

impl<'a> Section<'a> {
    /// Prepares the slots of a range, given the clock and the context of the event before the
    /// range. `offset` is the offset of slot 0. Returns `None` if a slot is unused or a context is
    /// unknown.
    pub(super) fn new(
        (slots, range, offset): (Slots<'a>, Range<usize>, u64),
        (clock, context): (Ticking, ContextId),
        trace: &Trace,
        threads: &Threads,
    ) -> Option<Self> {
        let surveys = on_threads(range.clone(), SLICE, threads, |part| {
            let before = match part.start.checked_sub(1).filter(|_| part.start > range.start) {
                Some(slot) => slots.stamp(slot).map(|stamp| clock.counter.stamp(stamp)),
                None => clock.previous,
            };
            survey(slots, part, Ticking { ticks: 0, previous: before, ..clock }, trace)
        });
        if surveys.iter().any(|survey| !survey.is_whole) {
            return None;
        }
        let mut clocks: Vec<Ticking> = Vec::new();
        let mut before = clock.ticks;
        for survey in surveys {
            // The clock after a part is also the clock before the next part.
            clocks.pop();
            let absolute =
                |clock: Ticking| Ticking { ticks: clock.ticks.saturating_add(before), ..clock };
            clocks.extend(survey.clocks.into_iter().map(absolute));
            before = clocks.last().map_or(before, |clock| clock.ticks);
        }
        Some(Self {
            slots,
            range,
            offset,
            first: trace.events,
            clocks,
            context,
            threads: threads.count(),
        })
    }

    /// Returns the clock after the last event.
    pub(super) fn end(&self) -> Option<Ticking> {
        self.clocks.last().copied()
    }

    fn slice(&self, slice: usize) -> Range<usize> {
        let start = self.range.start.saturating_add(slice.saturating_mul(SLICE));
        start.min(self.range.end)..start.saturating_add(SLICE).min(self.range.end)
    }
}

/// Reads slots to find the clock before each slice.
fn survey(slots: Slots<'_>, range: Range<usize>, clock: Ticking, trace: &Trace) -> Survey {
    let mut state = Unwrapping::from(clock);
    let mut is_whole = true;
    let mut clocks = vec![clock];
    for start in range.clone().step_by(SLICE) {
        let slice = start..range.end.min(start + SLICE);
        let length = slice.len();
        // The threads share the trace, so they cannot add a context to it.
        let mut context_of = |key| {
            let known = trace.contexts.find(key);
            is_whole &= known.is_some();
            known.unwrap_or_default()
        };
        let filled = slots.pass(slice, &mut state, &mut context_of);
        is_whole &= filled == length;
        if !is_whole {
            break;
        }
        clocks.push(state.ticking());
    }
    Survey { clocks, is_whole }
}

impl Slices for Section<'_> {
    fn count(&self) -> usize {
        self.range.len().div_ceil(SLICE)
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn before(&self, trace: &Trace, slice: usize) -> Before {
        let ticks = self.clocks.get(slice).map_or(0, |clock| clock.ticks);
        let slot = self.slice(slice).start;
        let key = if slot > self.range.start { self.slots.context(slot - 1) } else { None };
        let context = key.and_then(|key| trace.contexts.find(key)).unwrap_or(self.context);
        Before { ticks, context }
    }

    fn batch<'a>(&'a self, trace: &Trace, slice: usize, columns: &'a mut Columns) -> Batch<'a> {
        let range = self.slice(slice);
        let clock = self.clocks.get(slice).or(self.clocks.last());
        let mut context_of = |key| trace.contexts.find(key).unwrap_or_default();
        match clock {
            Some(clock) => {
                let mut state = Unwrapping::from(*clock);
                self.slots.fill(range.clone(), &mut state, &mut context_of, columns);
            }
            None => columns.resize(0),
        }
        let size = self.slots.size();
        let offset = self.offset + (range.start * size) as u64;
        let first = self.first + (range.start - self.range.start) as u64;
        let records = Records::fixed(self.slots.bytes(range), offset, size, size / 2);
        Batch { first, columns, records }
    }
}

#[cfg(test)]
mod tests {
    use tracewell_wire::ByteOrder;
    use tracewell_wire::threadx::{Layout, Width, context};

    use super::*;
    use crate::format::{Settings, by_name};
    use crate::model::{Context, ContextKind};

    #[test]
    fn a_section_has_used_slots_and_known_contexts_only() {
        const KNOWN: u32 = 0x100;
        let layout = Layout { width: Width::Bits32, order: ByteOrder::Little, name_size: 32 };
        let format = by_name("threadx").unwrap();
        let mut trace = format.decoder(&Settings::default()).unwrap().trace();
        let (key, kind) = (KNOWN.into(), ContextKind::Thread);
        let (key_text, name) = (String::new(), String::new());
        trace.contexts.add(Context { key, key_text, kind, name, object: None });
        // `last` is the context of the last slot.
        let is_section = |last: u32| {
            let slot = |context: u32| [context, 0, 7, 0, 0, 0, 0, 0].map(u32::to_le_bytes);
            let contexts = std::iter::repeat_n(KNOWN, 2 * SLICE - 1).chain([last]);
            let bytes: Vec<u8> = contexts.flat_map(slot).flatten().collect();
            let slots = Slots::new(&bytes, layout);
            let before = (Ticking::new(trace.clock.counter), ContextId::default());
            let range = 0..slots.len();
            Section::new((slots, range, 0), before, &trace, &Threads::new(1)).is_some()
        };
        let contexts = [KNOWN, KNOWN + 1, context::UNUSED as u32];
        assert_eq!(contexts.map(is_section), [true, false, false]);
    }
}
