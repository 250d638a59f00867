//! Event slots as columns: the hot loop of the reader.
//!
//! Each loop is compiled once for each of the four layouts (two widths, two byte orders), so that
//! reading a word is a load and at most a byte swap.

use std::ops::Range;

use tracewell_wire::threadx::{Layout, Width, context};
use tracewell_wire::{ByteOrder, threadx::Event};

use crate::model::{Columns, ContextId, Counter, NO_PRIORITY};

/// A run of event slots; the bytes hold whole slots only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots<'a> {
    bytes: &'a [u8],
    layout: Layout,
}

/// Runs a function with the slots as arrays of the right size, compiled for each layout.
macro_rules! for_each_layout {
    ($slots:expr, $bytes:expr, $function:ident($($argument:expr),*)) => {
        match ($slots.layout.width, $slots.layout.order) {
            (Width::Bits32, ByteOrder::Little) =>
                $function::<32, false>($bytes.as_chunks().0, $($argument),*),
            (Width::Bits32, ByteOrder::Big) =>
                $function::<32, true>($bytes.as_chunks().0, $($argument),*),
            (Width::Bits64, ByteOrder::Little) =>
                $function::<64, false>($bytes.as_chunks().0, $($argument),*),
            (Width::Bits64, ByteOrder::Big) =>
                $function::<64, true>($bytes.as_chunks().0, $($argument),*),
        }
    };
}

impl<'a> Slots<'a> {
    pub(super) fn new(bytes: &'a [u8], layout: Layout) -> Self {
        Self { bytes, layout }
    }

    /// Number of slots.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() / self.size()
    }

    /// Bytes of a slot.
    pub(super) fn size(&self) -> usize {
        self.layout.event_size()
    }

    /// The bytes of some slots.
    pub(super) fn bytes(&self, range: Range<usize>) -> &'a [u8] {
        self.bytes.get(range.start * self.size()..range.end * self.size()).unwrap_or_default()
    }

    fn event(&self, slot: usize) -> Option<Event> {
        Event::read(self.layout, self.bytes(slot..slot + 1))
    }

    /// Whether a slot holds an event; `None` where there is no such slot.
    pub(super) fn used(&self, slot: usize) -> Option<bool> {
        self.event(slot).map(|event| event.context != context::UNUSED)
    }

    /// Shows slot number, raw stamp and id word of some slots, up to the first unused one; false
    /// if there is one.
    #[inline]
    pub(super) fn walk(&self, range: Range<usize>, see: impl FnMut(usize, u64, u64)) -> bool {
        let bytes = self.bytes(range.clone());
        for_each_layout!(self, bytes, walk(range.start, see))
    }

    /// The slot before which the stamps of slots `0..end` go back, if they do so exactly once.
    pub(super) fn only_backward_step(&self, end: usize) -> Option<usize> {
        let mut previous = 0;
        let mut steps = (0..end).filter(|&slot| {
            let stamp = self.event(slot).map_or(previous, |event| event.stamp);
            std::mem::replace(&mut previous, stamp) > stamp
        });
        let step = steps.next()?;
        steps.next().is_none().then_some(step)
    }

    /// Fills columns with some slots, up to the first unused one. Returns how many were filled.
    pub(super) fn fill(
        &self,
        range: Range<usize>,
        state: &mut Unwrapping,
        context_of: &mut dyn FnMut(u64) -> ContextId,
        columns: &mut Columns,
    ) -> usize {
        let bytes = self.bytes(range);
        columns.resize(bytes.len() / self.size());
        let filled = for_each_layout!(self, bytes, fill(state, context_of, columns));
        columns.resize(filled);
        filled
    }
}

/// Word `index` of a slot of N bytes.
#[inline(always)]
fn word<const N: usize, const BIG: bool>(slot: &[u8; N], index: usize) -> u64 {
    let order = if BIG { ByteOrder::Big } else { ByteOrder::Little };
    let size = N / 8;
    match slot[index * size..].first_chunk::<8>() {
        Some(bytes) if N == 64 => order.u64(*bytes),
        _ => match slot[index * size..].first_chunk::<4>() {
            Some(bytes) => u64::from(order.u32(*bytes)),
            None => 0,
        },
    }
}

#[inline(always)]
fn walk<const N: usize, const BIG: bool>(
    slots: &[[u8; N]],
    first: usize,
    mut see: impl FnMut(usize, u64, u64),
) -> bool {
    for (index, slot) in slots.iter().enumerate() {
        if word::<N, BIG>(slot, 0) == context::UNUSED {
            return false;
        }
        see(first + index, word::<N, BIG>(slot, 3), word::<N, BIG>(slot, 2));
    }
    true
}

/// The state that goes from one batch to the next.
#[derive(Debug)]
pub(super) struct Unwrapping {
    counter: Counter,
    ticks: u64,
    previous: Option<u64>,
    contexts: ContextCache,
}

impl Unwrapping {
    pub(super) fn new(counter: Counter) -> Self {
        Self { counter, ticks: 0, previous: None, contexts: ContextCache::new() }
    }

    /// Ticks of the last event.
    pub(super) fn ticks(&self) -> u64 {
        self.ticks
    }
}

/// Context words seen lately, directly mapped: a look-up is a multiplication and a load.
#[derive(Debug)]
struct ContextCache {
    entries: [(u64, ContextId); 256],
}

impl ContextCache {
    fn new() -> Self {
        // An unused slot's context is never looked up, so it can stand for an empty entry.
        Self { entries: [(context::UNUSED, ContextId(0)); 256] }
    }

    #[inline(always)]
    fn get(&mut self, key: u64, context_of: &mut dyn FnMut(u64) -> ContextId) -> ContextId {
        // The golden ratio spreads control blocks that lie at equal distances.
        let entry = &mut self.entries[((key as u32).wrapping_mul(0x9E37_79B1) >> 24) as usize];
        if entry.0 != key {
            *entry = (key, context_of(key));
        }
        entry.1
    }
}

/// The hot loop. Rows of `columns` from the returned number on are not filled.
#[inline(never)]
fn fill<const N: usize, const BIG: bool>(
    slots: &[[u8; N]],
    state: &mut Unwrapping,
    context_of: &mut dyn FnMut(u64) -> ContextId,
    columns: &mut Columns,
) -> usize {
    let counter = state.counter;
    let Some(first) = slots.first() else { return 0 };
    let origin = counter.stamp(word::<N, BIG>(first, 3));
    let mut previous = state.previous.unwrap_or(origin);
    let mut ticks = state.ticks;
    let mut filled = 0;
    let rows = columns.ticks.iter_mut().zip(&mut columns.cpu).zip(&mut columns.context);
    let rows = rows.zip(&mut columns.id).zip(&mut columns.priority);
    for (slot, ((((to_ticks, to_cpu), to_context), to_id), to_priority)) in slots.iter().zip(rows) {
        let key = word::<N, BIG>(slot, 0);
        if key == context::UNUSED {
            break;
        }
        let stamp = counter.stamp(word::<N, BIG>(slot, 3));
        ticks = ticks.saturating_add(counter.elapsed(previous, stamp));
        previous = stamp;
        let id_word = word::<N, BIG>(slot, 2);
        let special = key == context::INTERRUPT || key == context::INITIALIZATION;
        *to_ticks = ticks;
        *to_cpu = (id_word >> 24) as u8 as u16;
        *to_context = state.contexts.get(key, context_of);
        *to_id = id_word as u16 as u32;
        let priority = word::<N, BIG>(slot, 1) as u16 & 0x3FF;
        *to_priority = if special { NO_PRIORITY } else { priority };
        filled += 1;
    }
    if filled > 0 {
        state.ticks = ticks;
        state.previous = Some(previous);
    }
    filled
}
