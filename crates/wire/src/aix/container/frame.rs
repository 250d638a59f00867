//! A frame: one entry, and what AIX keeps beside an entry.
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 4 | length n of the entry in bytes |
//! | 4 | 1 | environment of the entry, 32 or 64 |
//! | 5 | 1 | flags: 1 the thread id is known, 2 the process id is |
//! | 6 | 2 | CPU |
//! | 8 | 8 | tick |
//! | 16 | 8 | thread id |
//! | 24 | 8 | process id |
//! | 32 | n | the entry, big-endian |
//! | .. | | 0 up to a multiple of 8 |

use super::{Damage, ReadError};
use crate::ByteOrder;
use crate::aix::Env;

/// The longest entry in bytes: a 64-bit hook word and the most data that its length can say.
pub const MAX_ENTRY_LENGTH: usize = 65_543;

/// The fixed part without the length: where, when and by whom an entry was recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameHead {
    /// Environment of the entry.
    pub env: Env,
    /// The CPU that recorded it.
    pub cpu: u16,
    /// Time stamp, in ticks of the file header's clock, unwrapped.
    pub tick: u64,
    /// The thread that recorded it, where known.
    pub tid: Option<u64>,
    /// The process that recorded it, where known.
    pub pid: Option<u64>,
}

/// A frame; the entry borrows from the file, and is not judged yet: see [`crate::aix::Entry`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame<'a> {
    /// What was recorded beside the entry.
    pub head: FrameHead,
    /// Hook word and data.
    pub entry: &'a [u8],
}

impl FrameHead {
    /// Bytes of the fixed part.
    pub const LENGTH: usize = 32;

    const HAS_TID: u8 = 1;
    const HAS_PID: u8 = 2;

    /// Writes a frame for an entry of `length` bytes at the start of `bytes`, all but the entry,
    /// and returns the place of the entry. `None`, and nothing written, where they are too few or
    /// no entry has that length.
    #[inline]
    pub fn write(self, order: ByteOrder, length: usize, bytes: &mut [u8]) -> Option<&mut [u8]> {
        if !is_entry_length(self.env, length) {
            return None;
        }
        let bytes = bytes.get_mut(..Frame::size(length))?;
        let (fixed, rest) = bytes.split_first_chunk_mut::<{ Self::LENGTH }>()?;
        *fixed = self.bytes(order, length as u32);
        let (entry, padding) = rest.split_at_mut_checked(length)?;
        padding.fill(0);
        Some(entry)
    }

    fn bytes(self, order: ByteOrder, length: u32) -> [u8; Self::LENGTH] {
        let mut fixed = [0; Self::LENGTH];
        fixed[..4].copy_from_slice(&order.bytes_of_u32(length));
        fixed[4] = self.env.bits();
        fixed[5] = (u8::from(self.tid.is_some()) * Self::HAS_TID)
            | (u8::from(self.pid.is_some()) * Self::HAS_PID);
        fixed[6..8].copy_from_slice(&order.bytes_of_u16(self.cpu));
        let wide = [self.tick, self.tid.unwrap_or(0), self.pid.unwrap_or(0)];
        for (place, value) in fixed[8..].as_chunks_mut().0.iter_mut().zip(wide) {
            *place = order.bytes_of_u64(value);
        }
        fixed
    }

    fn read(order: ByteOrder, fixed: &[u8; Self::LENGTH]) -> Result<(Self, usize), Damage> {
        let env = Env::from_bits(fixed[4]).ok_or(Damage::Environment { found: fixed[4] })?;
        let (wide, _) = fixed.as_chunks::<8>();
        let found = order.u32([fixed[0], fixed[1], fixed[2], fixed[3]]);
        let length = usize::try_from(found).unwrap_or(usize::MAX);
        if !is_entry_length(env, length) {
            return Err(Damage::EntryLength { found });
        }
        let head = Self {
            env,
            cpu: order.u16([fixed[6], fixed[7]]),
            tick: order.u64(wide[1]),
            tid: (fixed[5] & Self::HAS_TID != 0).then(|| order.u64(wide[2])),
            pid: (fixed[5] & Self::HAS_PID != 0).then(|| order.u64(wide[3])),
        };
        Ok((head, length))
    }
}

impl<'a> Frame<'a> {
    /// Bytes of a frame with an entry of so many bytes: where the next frame begins.
    #[inline]
    pub const fn size(entry_length: usize) -> usize {
        FrameHead::LENGTH + entry_length.next_multiple_of(8)
    }

    /// Reads the frame at the start of `bytes`, with its size. Padding, flags without meaning and
    /// ids that the flags call unknown are not judged.
    ///
    /// # Errors
    /// [`ReadError::Incomplete`] where the bytes end too early, those of an empty slice included;
    /// [`Damage::Environment`] and [`Damage::EntryLength`], behind which no frame can be found.
    #[inline]
    pub fn read(order: ByteOrder, bytes: &'a [u8]) -> Result<(Self, usize), ReadError> {
        let incomplete = |needed| ReadError::Incomplete { needed };
        let fixed = bytes.first_chunk().ok_or(incomplete(FrameHead::LENGTH))?;
        let (head, length) = FrameHead::read(order, fixed).map_err(ReadError::Damaged)?;
        let size = Self::size(length);
        let whole = bytes.get(..size).ok_or(incomplete(size))?;
        let entry = &whole[FrameHead::LENGTH..FrameHead::LENGTH + length];
        Ok((Self { head, entry }, size))
    }

    /// Writes the frame at the start of `bytes`; its size. `None`, and nothing written, where they
    /// are too few or the entry has a length that no entry has.
    pub fn write(&self, order: ByteOrder, bytes: &mut [u8]) -> Option<usize> {
        self.head.write(order, self.entry.len(), bytes)?.copy_from_slice(self.entry);
        Some(Self::size(self.entry.len()))
    }
}

const fn is_entry_length(env: Env, length: usize) -> bool {
    env.word_bytes() <= length && length <= MAX_ENTRY_LENGTH
}
