//! The ring of event slots: the next slot, and the stores that fill it.
//!
//! `insert.rs` contains the filters and the notification after a wrap.

use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{Header, Width};

use super::Target;
use super::options::{Sections, layout_of};

/// A recorded event, for patching it later.
///
/// Holds the timestamp and the offset of the slot. If the slot has been overwritten, the timestamps
/// differ and patching does nothing. Two events with the same timestamp in the same slot cannot be
/// distinguished; the kernel has the same limitation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    at: usize,
    stamp: u64,
}

impl Entry {
    /// Returns the entry as two numbers, for callers that cannot store this type, such as C code.
    pub const fn words(self) -> [u64; 2] {
        [self.at as u64, self.stamp]
    }

    /// Returns the entry for the numbers that [`Entry::words`] returned.
    ///
    /// For other numbers, the result is an entry that no slot holds, or the entry of another event.
    /// Patching never writes outside the image.
    pub const fn from_words([at, stamp]: [u64; 2]) -> Self {
        Self { at: at as usize, stamp }
    }
}

/// One of the four information words of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Info {
    /// Information 1.
    One = 0,
    /// Information 2.
    Two = 1,
    /// Information 3.
    Three = 2,
    /// Information 4.
    Four = 3,
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
    /// The ring while tracing is off; it has no slots.
    pub(super) const NONE: Self = Self { first: 0, end: 0, next: 0, base_address: 0 };

    /// Marks all slots as unused by clearing their first word. The other words keep the bytes that
    /// were in memory.
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

    /// Stores an event in the next slot and advances. Returns the entry, and true if the ring
    /// wrapped.
    #[inline(always)]
    pub(super) fn store<T: Target>(
        &mut self,
        memory: &mut [u8],
        words: [u64; 8],
    ) -> Option<(Entry, bool)> {
        let at = self.next;
        put_event::<T>(memory.get_mut(at..)?, &words)?;
        let after = at + 8 * T::WIDTH.bytes();
        let wrapped = after >= self.end;
        self.next = if wrapped { self.first } else { after };
        // Publish the position last, so that a dump never shows an incomplete event as the newest.
        self.publish::<T>(memory)?;
        Some((Entry { at, stamp: words[3] }, wrapped))
    }

    /// Writes `buffer_current`, the only word of the header that changes while recording.
    #[inline(always)]
    fn publish<T: Target>(&self, memory: &mut [u8]) -> Option<()> {
        let layout = const { layout_of::<T>(0) };
        let current = self.base_address.wrapping_add(self.next as u64);
        layout.put_word(memory, Header::buffer_current_offset(layout), current)
    }

    /// Replaces one information word, if the slot still has the entry's timestamp.
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

/// Writes eight words to the start of `slot`. Converts the slot to an array of fixed size, so the
/// stores need only one bounds check.
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
    let (fields, _) = slot.as_chunks_mut::<WORD>();
    for (field, &word) in fields.iter_mut().zip(words) {
        *field = bytes_of(word);
    }
}
