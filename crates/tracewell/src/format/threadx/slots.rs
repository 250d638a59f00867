//! Converts event slots to columns: the hot loop of the reader.
//!
//! Each loop is compiled once for each of the four layouts (two widths, two byte orders), so
//! reading a word takes one load and at most one byte swap.

use std::ops::Range;

use tracewell_wire::threadx::{Layout, PriorityWord, Width, context};
use tracewell_wire::{ByteOrder, threadx::Event};

use crate::model::{Columns, ContextId, Counter, Direction, Priority};

/// A table with one entry per event id. The entries for marked ids are true.
pub(super) type Marks = [bool; 1 << 16];

/// Number of slots that are searched together for marked ids.
const BLOCK: usize = 4096;

/// The bits of [`Priority::NONE`]. A priority with all these bits set means that there is no
/// priority.
const NO_PRIORITY: u16 = u16::MAX;

/// A sequence of event slots. The bytes consist of whole slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots<'a> {
    bytes: &'a [u8],
    layout: Layout,
}

/// Calls a generic function with the slots as arrays. The layout of the slots determines the
/// function's generic arguments.
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

    /// Returns the slots before slot `end`.
    pub(super) fn up_to(&self, end: usize) -> Self {
        Self { bytes: self.bytes(0..end.min(self.len())), layout: self.layout }
    }

    /// Returns the number of whole slots.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() / self.size()
    }

    /// Size of a slot in bytes: 32 or 64.
    pub(super) fn size(&self) -> usize {
        self.layout.event_size()
    }

    /// Returns the bytes of a range of slots; empty if the range extends past the last slot.
    pub(super) fn bytes(&self, range: Range<usize>) -> &'a [u8] {
        self.bytes.get(range.start * self.size()..range.end * self.size()).unwrap_or_default()
    }

    fn event(&self, slot: usize) -> Option<Event> {
        Event::read(self.layout, self.bytes(slot..slot + 1))
    }

    /// Returns true if a slot holds an event. Returns `None` if there is no such slot.
    pub(super) fn used(&self, slot: usize) -> Option<bool> {
        self.event(slot).map(|event| event.context != context::UNUSED)
    }

    /// Examines a range of used and unused slots. `previous` is the masked timestamp before the
    /// range.
    pub(super) fn tally(&self, range: Range<usize>, mask: u64, previous: u64) -> Tally {
        let bytes = self.bytes(range);
        for_each_layout!(self, bytes, tally(mask, previous))
    }

    /// Returns the first used slot of a range.
    pub(super) fn first_used(&self, mut range: Range<usize>) -> Option<usize> {
        range.find(|&slot| self.used(slot) == Some(true))
    }

    /// Returns the first unused slot of a range.
    pub(super) fn first_unused(&self, mut range: Range<usize>) -> Option<usize> {
        range.find(|&slot| self.used(slot) == Some(false))
    }

    /// Returns the number of used slots in a range.
    pub(super) fn count_used(&self, range: Range<usize>) -> usize {
        range.filter(|&slot| self.used(slot) == Some(true)).count()
    }

    /// Returns the used slots in a range whose event ids are marked in `ids`, in order, and the
    /// highest core number in the range.
    pub(super) fn marked(&self, range: Range<usize>, ids: &Marks) -> (Vec<usize>, u8) {
        let mut found = Vec::new();
        let mut core = 0;
        let mut start = range.start;
        while start < range.end {
            let block = start..range.end.min(start + BLOCK);
            let bytes = self.bytes(block.clone());
            let (any, highest) = for_each_layout!(self, bytes, any_marked(ids));
            core = highest.max(core);
            // A test of a whole block needs no branch per slot, and almost no block has a marked
            // id.
            if any {
                let marked = |slot: &usize| {
                    let event = self.event(*slot).filter(|event| event.context != context::UNUSED);
                    event.is_some_and(|event| ids[usize::from(event.id())])
                };
                found.extend(block.clone().filter(marked));
            }
            start = block.end;
        }
        (found, core)
    }

    /// Advances `ticking` over the used slots of a range.
    pub(super) fn advance(&self, range: Range<usize>, ticking: &mut Ticking) {
        let bytes = self.bytes(range);
        for_each_layout!(self, bytes, advance(ticking));
    }

    /// Returns the context word of a slot.
    pub(super) fn context(&self, slot: usize) -> Option<u64> {
        self.event(slot).map(|event| event.context)
    }

    /// Returns the event id in a slot.
    pub(super) fn id(&self, slot: usize) -> Option<u16> {
        self.event(slot).map(|event| event.id())
    }

    /// Returns the first four words of a slot. After a kernel has written a slot, it never changes
    /// these words.
    pub(super) fn written_once(&self, slot: usize) -> Option<[u64; 4]> {
        let event = self.event(slot)?;
        Some([event.context, event.priority_word, event.id_word, event.stamp])
    }

    /// Returns the raw timestamp in a slot.
    pub(super) fn stamp(&self, slot: usize) -> Option<u64> {
        self.event(slot).map(|event| event.stamp)
    }

    /// Returns the slot at which the timestamps of slots `0..end` decrease, if they do so exactly
    /// once.
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

    /// Fills columns with a range of slots, up to the first unused one. Returns the number of rows.
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

    /// Like [`Slots::fill`], but only advances `state`.
    pub(super) fn pass(
        &self,
        range: Range<usize>,
        state: &mut Unwrapping,
        context_of: &mut dyn FnMut(u64) -> ContextId,
    ) -> usize {
        for_each_layout!(self, self.bytes(range), fill(state, context_of, &mut NoRows))
    }
}

/// Returns word `index` of a slot of N bytes.
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

/// Decodes the second word of a slot.
#[inline(always)]
pub(super) fn priority_word<const N: usize, const BIG: bool>(slot: &[u8; N]) -> PriorityWord {
    PriorityWord::of(word::<N, BIG>(slot, 0), word::<N, BIG>(slot, 1))
}

/// Statistics of a range of slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tally {
    /// Number of slots whose masked timestamp is larger than that of the previous slot.
    pub(super) increases: usize,
    /// Number of slots whose masked timestamp is smaller than that of the previous slot.
    pub(super) decreases: usize,
    /// The largest masked timestamp.
    pub(super) largest: u64,
    /// The last masked timestamp.
    pub(super) last: u64,
    /// The highest core number.
    pub(super) core: u8,
    /// True if at least one slot is unused.
    pub(super) unused: bool,
}

/// Computes the statistics of some slots. No branch depends on the content of a slot, so the loop
/// runs at the speed of memory.
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

/// Converts the timestamps of consecutive events to ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticking {
    pub(super) counter: Counter,
    pub(super) ticks: u64,
    /// Timestamp of the latest event.
    pub(super) previous: Option<u64>,
}

impl Ticking {
    pub(super) fn new(counter: Counter) -> Self {
        Self { counter, ticks: 0, previous: None }
    }

    /// Returns the ticks of the next event, given its raw timestamp.
    pub(super) fn ticks_of(&self, raw: u64) -> u64 {
        let stamp = self.counter.stamp(raw);
        let elapsed = self.previous.map_or(0, |previous| self.counter.elapsed(previous, stamp));
        self.ticks.saturating_add(elapsed)
    }
}

/// The state that is kept between batches.
#[derive(Debug)]
pub(super) struct Unwrapping {
    ticking: Ticking,
    contexts: ContextCache,
}

impl From<Ticking> for Unwrapping {
    fn from(ticking: Ticking) -> Self {
        Self { ticking, contexts: ContextCache::new() }
    }
}

impl Unwrapping {
    pub(super) fn new(counter: Counter) -> Self {
        Self::from(Ticking::new(counter))
    }

    /// Sets the clock after other threads have decoded events.
    pub(super) fn advance_to(&mut self, ticking: Ticking) {
        self.ticking = ticking;
    }

    /// Returns the state of the clock.
    pub(super) fn ticking(&self) -> Ticking {
        self.ticking
    }

    /// Prepares for another dump, in which keys may refer to other contexts.
    pub(super) fn with_new_names(self) -> Self {
        Self { contexts: ContextCache::new(), ..self }
    }

    /// Removes the context of a key from the cache.
    pub(super) fn forget(&mut self, key: u64) {
        self.contexts.forget(key);
    }
}

/// A direct-mapped cache of context words: a lookup is a multiplication and a load.
#[derive(Debug)]
struct ContextCache {
    entries: [Known; 256],
}

/// The values that the loop needs for a context word.
#[derive(Clone, Copy, Debug)]
struct Known {
    key: u64,
    context: ContextId,
    /// The bits of [`Priority::NONE`] for interrupts and initialisation, otherwise 0. Slots of
    /// these contexts contain no priority.
    no_priority: u16,
}

impl ContextCache {
    fn new() -> Self {
        let empty =
            |place| Known { key: Self::empty(place), context: ContextId(0), no_priority: 0 };
        Self { entries: std::array::from_fn(empty) }
    }

    /// Returns the key of an empty entry at `place`. A lookup of this key examines an entry at a
    /// different place, so no lookup matches an empty entry.
    fn empty(place: usize) -> u64 {
        u64::from(place == Self::place(context::UNUSED))
    }

    /// Returns the values for a context word, or `None` if they are not in the cache. The context
    /// word of unused slots is never in the cache.
    #[inline(always)]
    fn get(&self, key: u64) -> Option<Known> {
        let known = self.entries[Self::place(key)];
        (known.key == key).then_some(known)
    }

    fn insert(&mut self, key: u64, context: ContextId) {
        let special = key == context::INTERRUPT || key == context::INITIALIZATION;
        let no_priority = if special { NO_PRIORITY } else { 0 };
        self.entries[Self::place(key)] = Known { key, context, no_priority };
    }

    #[inline(always)]
    fn place(key: u64) -> usize {
        // Multiplying by the golden ratio distributes equally spaced addresses evenly over the
        // table.
        ((key as u32).wrapping_mul(0x9E37_79B1) >> 24) as usize
    }

    fn forget(&mut self, key: u64) {
        let place = Self::place(key);
        self.entries[place].key = Self::empty(place);
    }
}

/// Returns true if any slot has a marked id, and also returns the highest core number of the used
/// slots. The first result is also true for an unused slot with stale content.
#[inline(never)]
fn any_marked<const N: usize, const BIG: bool>(slots: &[[u8; N]], ids: &Marks) -> (bool, u8) {
    let mut any = false;
    let mut bits = 0;
    for slot in slots {
        let id_word = word::<N, BIG>(slot, 2) as u32;
        any |= ids[usize::from(id_word as u16)];
        bits |= id_word;
    }
    // Most targets have one core, so no slot contains a core number other than 0.
    let core = |slot: &[u8; N]| match word::<N, BIG>(slot, 0) {
        context::UNUSED => 0,
        _ => (word::<N, BIG>(slot, 2) >> 24) as u8,
    };
    let highest = if bits >> 24 == 0 { 0 } else { slots.iter().map(core).max().unwrap_or(0) };
    (any, highest)
}

/// Advances `ticking` over the used slots. Unlike the hot loop, this function skips unused slots.
#[inline(never)]
fn advance<const N: usize, const BIG: bool>(slots: &[[u8; N]], ticking: &mut Ticking) {
    let mut now = *ticking;
    for slot in slots {
        if word::<N, BIG>(slot, 0) != context::UNUSED {
            now.ticks = now.ticks_of(word::<N, BIG>(slot, 3));
            now.previous = Some(now.counter.stamp(word::<N, BIG>(slot, 3)));
        }
    }
    *ticking = now;
}

/// Receives decoded slots.
trait Rows {
    /// Returns the rows from row `first` on.
    fn from(&mut self, first: usize) -> impl Iterator<Item = impl FnOnce(Row)>;
}

/// The columns of a decoded slot.
struct Row {
    ticks: u64,
    cpu: u16,
    context: ContextId,
    id: u32,
    priority: Priority,
}

impl Rows for Columns {
    #[inline(always)]
    fn from(&mut self, first: usize) -> impl Iterator<Item = impl FnOnce(Row)> {
        let rows = self.ticks[first..].iter_mut().zip(&mut self.cpu[first..]);
        let rows = rows.zip(&mut self.context[first..]).zip(&mut self.id[first..]);
        let rows = rows.zip(&mut self.priority[first..]);
        rows.map(|((((ticks, cpu), context), id), priority)| {
            move |row: Row| {
                *ticks = row.ticks;
                *cpu = row.cpu;
                *context = row.context;
                *id = row.id;
                *priority = row.priority;
            }
        })
    }
}

/// Drops all rows.
struct NoRows;

impl Rows for NoRows {
    #[inline(always)]
    fn from(&mut self, _: usize) -> impl Iterator<Item = impl FnOnce(Row)> {
        std::iter::repeat_with(|| |_: Row| {})
    }
}

/// Decodes slots up to the first unused one. Returns their number.
#[inline(never)]
fn fill<const N: usize, const BIG: bool>(
    slots: &[[u8; N]],
    state: &mut Unwrapping,
    context_of: &mut dyn FnMut(u64) -> ContextId,
    rows: &mut impl Rows,
) -> usize {
    let Some(first) = slots.first() else { return 0 };
    let counter = state.ticking.counter;
    let first = counter.stamp(word::<N, BIG>(first, 3));
    let previous = state.ticking.previous.unwrap_or(first);
    let out = (&mut state.contexts, context_of, rows);
    let ticks = &mut state.ticking.ticks;
    let mut before = previous;
    // The modulus of the usual counter is a power of two, so the difference can be masked, without
    // a division or a branch.
    let filled = match (counter.low_bits(), counter.direction) {
        (Some(mask), Direction::Up) => {
            let elapsed = |raw: u64| raw.wrapping_sub(std::mem::replace(&mut before, raw)) & mask;
            fill_rows::<N, BIG>(slots, elapsed, ticks, out)
        }
        (Some(mask), Direction::Down) => {
            let elapsed = |raw: u64| std::mem::replace(&mut before, raw).wrapping_sub(raw) & mask;
            fill_rows::<N, BIG>(slots, elapsed, ticks, out)
        }
        (None, _) => {
            let elapsed = |raw: u64| {
                let stamp = counter.stamp(raw);
                counter.elapsed(std::mem::replace(&mut before, stamp), stamp)
            };
            fill_rows::<N, BIG>(slots, elapsed, ticks, out)
        }
    };
    if let Some(last) = filled.checked_sub(1).and_then(|last| slots.get(last)) {
        state.ticking.previous = Some(counter.stamp(word::<N, BIG>(last, 3)));
    }
    filled
}

/// Fills the rows for [`fill`], and returns their number. `elapsed` takes a timestamp, and returns
/// the ticks since the timestamp of its previous call.
#[inline(always)]
fn fill_rows<const N: usize, const BIG: bool>(
    slots: &[[u8; N]],
    mut elapsed: impl FnMut(u64) -> u64,
    last_ticks: &mut u64,
    out: (&mut ContextCache, &mut dyn FnMut(u64) -> ContextId, &mut impl Rows),
) -> usize {
    let (contexts, context_of, rows) = out;
    let mut ticks = *last_ticks;
    let mut filled = 0;
    while let Some(rest) = slots.get(filled..) {
        // The hot loop. The loop calls no function, so all its values stay in registers. It ends at
        // the first context that is not in the cache.
        for (slot, put) in rest.iter().zip(rows.from(filled)) {
            let Some(known) = contexts.get(word::<N, BIG>(slot, 0)) else { break };
            ticks = ticks.saturating_add(elapsed(word::<N, BIG>(slot, 3)));
            let id_word = word::<N, BIG>(slot, 2);
            let priority = word::<N, BIG>(slot, 1) as u16 & 0x3FF;
            put(Row {
                ticks,
                cpu: (id_word >> 24) as u8 as u16,
                context: known.context,
                id: id_word as u16 as u32,
                priority: Priority::new(priority | known.no_priority),
            });
            filled += 1;
        }
        // The caller reports unused slots as damage and continues after them.
        match slots.get(filled).map(|slot| word::<N, BIG>(slot, 0)) {
            None | Some(context::UNUSED) => break,
            Some(key) => contexts.insert(key, context_of(key)),
        }
    }
    *last_ticks = ticks;
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_every_counter_are_the_sums_of_its_steps() {
        let layout = Layout { width: Width::Bits32, order: ByteOrder::Little, name_size: 32 };
        let mut random = 1_u64;
        let stamps: Vec<u32> = (0..500)
            .map(|_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 32) as u32
            })
            .collect();
        let slot = |stamp: &u32| [0x100, 0, 7, *stamp, 0, 0, 0, 0].map(u32::to_le_bytes);
        let bytes = stamps.iter().flat_map(slot).flatten().collect::<Vec<u8>>();
        let slots = Slots::new(&bytes, layout);
        let masks = [0, 1, 0xFFFF, 0xFF00, 0xFFFF_FFFF, u64::MAX];
        for direction in [Direction::Up, Direction::Down] {
            let of_mask = masks.map(|mask| Counter::of_mask(mask, direction));
            let decimal = Counter { last: 999_999_999, ..of_mask[4] };
            for counter in of_mask.into_iter().chain([decimal]) {
                let (mut state, mut columns) = (Unwrapping::new(counter), Columns::default());
                let mut ticks: Vec<u64> = Vec::new();
                for start in [0, 300] {
                    let range = start..(start + 300).min(slots.len());
                    slots.fill(range, &mut state, &mut |_| ContextId(3), &mut columns);
                    ticks.extend(&columns.ticks);
                }
                let mut expected = Ticking::new(counter);
                let expected: Vec<_> = (0..slots.len())
                    .map(|slot| {
                        slots.advance(slot..slot + 1, &mut expected);
                        expected.ticks
                    })
                    .collect();
                assert_eq!(ticks, expected, "{counter:?}");
            }
        }
    }
}
