//! The ring of event slots: which is next, and the few stores that fill it.
//!
//! Not here: whether an event is recorded at all, and what happens after a wrap (`insert.rs`).

use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{Header, Width};

use super::options::{Sections, layout_of};
use super::{Info, Target};

/// An event that was recorded, for patching it later.
///
/// Holds the slot's place and the stamp. When the ring has come round and the slot holds another
/// event, the stamps differ and patching does nothing; two events with equal stamps in one slot
/// cannot be told apart, here as in the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    at: usize,
    stamp: u64,
}

impl Entry {
    /// As two numbers, for callers that cannot keep the type itself.
    pub const fn words(self) -> [u64; 2] {
        [self.at as u64, self.stamp]
    }

    /// What [`Entry::words`] gave. Other numbers make an entry that no slot holds, or whichever
    /// event is in the slot that they happen to name; patching stays inside the image.
    pub const fn from_words([at, stamp]: [u64; 2]) -> Self {
        Self { at: at as usize, stamp }
    }
}

/// Byte offsets of the ring inside an image.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    first: usize,
    end: usize,
    next: usize,
    base_address: u64,
}

impl Ring {
    /// The ring of memory without trace: nothing fits.
    pub(super) const NONE: Self = Self { first: 0, end: 0, next: 0, base_address: 0 };

    /// Marks all slots unused. Only the first word says so; the rest keeps what was in memory.
    pub(super) fn initialise<T: Target>(
        memory: &mut [u8],
        sections: Sections,
        base_address: u64,
    ) -> Self {
        let layout = layout_of::<T>(0);
        for at in (sections.events..sections.events_end).step_by(layout.event_size()) {
            layout.put_word(memory, at, 0);
        }
        let (first, end) = (sections.events, sections.events_end);
        Self { first, end, next: first, base_address }
    }

    /// Stores an event in the next slot and advances; the flag tells that the ring wrapped.
    #[inline(always)]
    pub(super) fn store<T: Target>(
        &mut self,
        memory: &mut [u8],
        words: [u64; 8],
    ) -> Option<(Entry, bool)> {
        let at = self.next;
        put_event::<T>(memory.get_mut(at..)?, &words)?;
        let behind = at + 8 * T::WIDTH.bytes();
        let wrapped = behind >= self.end;
        self.next = if wrapped { self.first } else { behind };
        self.publish::<T>(memory)?;
        Some((Entry { at, stamp: words[3] }, wrapped))
    }

    /// Writes `buffer_current`, the only word of the header that ever changes.
    #[inline(always)]
    fn publish<T: Target>(&self, memory: &mut [u8]) -> Option<()> {
        let layout = const { layout_of::<T>(0) };
        let current = self.base_address.wrapping_add(self.next as u64);
        layout.put_word(memory, Header::buffer_current_offset(layout), current)
    }

    /// Replaces one information word, if the slot still has the entry's stamp.
    #[inline]
    pub(super) fn patch<T: Target>(
        memory: &mut [u8],
        entry: Entry,
        info: Info,
        value: u64,
    ) -> Option<()> {
        let layout = layout_of::<T>(0);
        let slot = memory.get_mut(entry.at..)?;
        let w = T::WIDTH.bytes();
        if layout.word(slot, 3 * w)? != entry.stamp & T::WIDTH.max() {
            return None;
        }
        layout.put_word(slot, (4 + info as usize) * w, value)
    }
}

/// The eight words at the start of `slot`. A fixed array per width leaves one bounds check.
#[inline(always)]
fn put_event<T: Target>(slot: &mut [u8], words: &[u64; 8]) -> Option<()> {
    match T::WIDTH {
        Width::Bits32 => put_words(slot.first_chunk_mut::<32>()?, words, |word| {
            ByteOrder::bytes_of_u32(T::ORDER, word as u32)
        }),
        Width::Bits64 => put_words(slot.first_chunk_mut::<64>()?, words, |word| {
            ByteOrder::bytes_of_u64(T::ORDER, word)
        }),
    }
    Some(())
}

#[inline(always)]
fn put_words<const SLOT: usize, const WORD: usize>(
    slot: &mut [u8; SLOT],
    words: &[u64; 8],
    bytes_of: impl Fn(u64) -> [u8; WORD],
) {
    let (places, _) = slot.as_chunks_mut::<WORD>();
    for (place, &word) in places.iter_mut().zip(words) {
        *place = bytes_of(word);
    }
}
