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

    /// The slots before one.
    pub(super) fn up_to(&self, end: usize) -> Self {
        Self { bytes: self.bytes(0..end.min(self.len())), layout: self.layout }
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

    /// Walks over some slots, used or not, of which the one before had the masked stamp `previous`.
    pub(super) fn tally(&self, range: Range<usize>, mask: u64, previous: u64) -> Tally {
        let bytes = self.bytes(range);
        for_each_layout!(self, bytes, tally(mask, previous))
    }

    /// The first unused slot among some.
    pub(super) fn first_unused(&self, mut range: Range<usize>) -> Option<usize> {
        range.find(|&slot| self.used(slot) == Some(false))
    }

    /// Number of used slots among some.
    pub(super) fn count_used(&self, range: Range<usize>) -> usize {
        range.filter(|&slot| self.used(slot) == Some(true)).count()
    }

    /// Calls `note` with the slot and the ticks of each event among some whose id is marked in `ids`, and with the
    /// ticks of those before them in `state`.
    pub(super) fn note(
        &self,
        range: Range<usize>,
        state: &mut Ticking,
        ids: &[bool],
        note: &mut dyn FnMut(usize, u64),
    ) {
        let start = range.start;
        let bytes = self.bytes(range);
        for_each_layout!(self, bytes, note_marked(start, state, ids, note));
    }

    /// The event id in a slot.
    pub(super) fn id(&self, slot: usize) -> Option<u16> {
        self.event(slot).map(|event| event.id())
    }

    /// The first four words of a slot, which a kernel does not change after it wrote them.
    pub(super) fn written_once(&self, slot: usize) -> Option<[u64; 4]> {
        let event = self.event(slot)?;
        Some([event.context, event.priority_word, event.id_word, event.stamp])
    }

    /// The raw stamp in a slot.
    pub(super) fn stamp(&self, slot: usize) -> Option<u64> {
        self.event(slot).map(|event| event.stamp)
    }

    /// The slot before which the stamps of slots `0..end` go back, if they do so exactly once.
    pub(super) fn only_backward_step(&self, end: usize) -> Option<usize> {
        let mut previous = 0;
        let used = (0..end).filter(|&slot| self.used(slot) == Some(true));
        let mut steps = used.filter(|&slot| {
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

/// What a walk over some slots counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tally {
    /// Slots whose masked stamp is larger than the one before.
    pub(super) increases: usize,
    /// Slots whose masked stamp is smaller.
    pub(super) decreases: usize,
    /// The largest masked stamp.
    pub(super) largest: u64,
    /// The last masked stamp.
    pub(super) last: u64,
    /// The highest core number.
    pub(super) core: u8,
    /// Whether a slot is unused.
    pub(super) unused: bool,
}

/// No branch depends on what a slot holds, so that the loop runs at the speed of memory.
#[inline(never)]
fn tally<const N: usize, const BIG: bool>(slots: &[[u8; N]], mask: u64, previous: u64) -> Tally {
    let mut tally =
        Tally { increases: 0, decreases: 0, largest: 0, last: previous, core: 0, unused: false };
    for slot in slots {
        let stamp = word::<N, BIG>(slot, 3) & mask;
        tally.increases += usize::from(stamp > tally.last);
        tally.decreases += usize::from(stamp < tally.last);
        tally.largest = tally.largest.max(stamp);
        tally.last = stamp;
        tally.core = tally.core.max((word::<N, BIG>(slot, 2) >> 24) as u8);
        tally.unused |= word::<N, BIG>(slot, 0) == context::UNUSED;
    }
    tally
}

/// How stamps become ticks, from one event to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticking {
    pub(super) counter: Counter,
    pub(super) ticks: u64,
    /// The stamp of the last event.
    pub(super) previous: Option<u64>,
}

impl Ticking {
    pub(super) fn new(counter: Counter) -> Self {
        Self { counter, ticks: 0, previous: None }
    }

    /// Ticks of an event with this stamp, if it came next.
    pub(super) fn ticks_of(&self, raw: u64) -> u64 {
        let stamp = self.counter.stamp(raw);
        let elapsed = self.previous.map_or(0, |previous| self.counter.elapsed(previous, stamp));
        self.ticks.saturating_add(elapsed)
    }
}

/// The state that goes from one batch to the next.
#[derive(Debug)]
pub(super) struct Unwrapping {
    ticking: Ticking,
    contexts: ContextCache,
}

impl Unwrapping {
    pub(super) fn new(counter: Counter) -> Self {
        Self { ticking: Ticking::new(counter), contexts: ContextCache::new() }
    }

    /// How far the clock has come.
    pub(super) fn ticking(&self) -> Ticking {
        self.ticking
    }

    /// Goes on with another dump, in which keys may name other contexts.
    pub(super) fn with_new_names(self) -> Self {
        Self { contexts: ContextCache::new(), ..self }
    }

    /// Forgets the context of a key.
    pub(super) fn forget(&mut self, key: u64) {
        self.contexts.forget(key);
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
        let entry = &mut self.entries[Self::place(key)];
        if entry.0 != key {
            *entry = (key, context_of(key));
        }
        entry.1
    }

    #[inline(always)]
    fn place(key: u64) -> usize {
        ((key as u32).wrapping_mul(0x9E37_79B1) >> 24) as usize
    }

    fn forget(&mut self, key: u64) {
        self.entries[Self::place(key)].0 = context::UNUSED;
    }
}

/// Unlike the hot loop it passes over unused slots, which end nothing here.
#[inline(never)]
fn note_marked<const N: usize, const BIG: bool>(
    slots: &[[u8; N]],
    start: usize,
    state: &mut Ticking,
    ids: &[bool],
    note: &mut dyn FnMut(usize, u64),
) {
    let counter = state.counter;
    let mut ticks = state.ticks;
    let mut previous = state.previous;
    for (row, slot) in slots.iter().enumerate() {
        if word::<N, BIG>(slot, 0) == context::UNUSED {
            continue;
        }
        let stamp = counter.stamp(word::<N, BIG>(slot, 3));
        ticks = ticks.saturating_add(counter.elapsed(previous.unwrap_or(stamp), stamp));
        previous = Some(stamp);
        if ids.get(usize::from(word::<N, BIG>(slot, 2) as u16)) == Some(&true) {
            note(start + row, ticks);
        }
    }
    (state.ticks, state.previous) = (ticks, previous);
}

/// The hot loop. Rows of `columns` from the returned number on are not filled.
#[inline(never)]
fn fill<const N: usize, const BIG: bool>(
    slots: &[[u8; N]],
    state: &mut Unwrapping,
    context_of: &mut dyn FnMut(u64) -> ContextId,
    columns: &mut Columns,
) -> usize {
    let Some(first) = slots.first() else { return 0 };
    let counter = state.ticking.counter;
    let origin = counter.stamp(word::<N, BIG>(first, 3));
    let mut previous = state.ticking.previous.unwrap_or(origin);
    let mut ticks = state.ticking.ticks;
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
        state.ticking.ticks = ticks;
        state.ticking.previous = Some(previous);
    }
    filled
}
