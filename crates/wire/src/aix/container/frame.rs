//! A frame: one entry, together with the data that AIX stores separately from it.
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 4 | length n of the entry in bytes |
//! | 4 | 1 | environment of the entry, 32 or 64 |
//! | 5 | 1 | flags: 1 if the thread id is known, 2 if the process id is known |
//! | 6 | 2 | CPU |
//! | 8 | 8 | tick |
//! | 16 | 8 | thread id |
//! | 24 | 8 | process id |
//! | 32 | n | the entry, big-endian |
//! | 32 + n | | padding with 0 to a multiple of 8 |

use super::{Damage, ReadError};
use crate::ByteOrder;
use crate::aix::Env;

/// Maximum length of an entry in bytes: 8 for a 64-bit hook word, and 65,535 for the data. The hook
/// word's length field cannot hold a larger number.
pub const MAX_ENTRY_LENGTH: usize = 65_543;

/// The fixed part of a frame, without the length. This header identifies the CPU, time and thread
/// of the entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameHeader {
    /// Environment of the entry.
    pub env: Env,
    /// The CPU that recorded the entry.
    pub cpu: u16,
    /// Timestamp in ticks of the clock that the file header describes. Our recorder unwraps the
    /// timestamps of a clock with fewer than 64 bits.
    pub tick: u64,
    /// Id of the thread that recorded the entry, if known.
    pub tid: Option<u64>,
    /// Id of the process that recorded the entry, if known.
    pub pid: Option<u64>,
}

/// A frame. The entry borrows from the file; [`crate::aix::Entry`] decodes it.
///
/// ```
/// use tracewell_wire::ByteOrder;
/// use tracewell_wire::aix::{Env, Frame, FrameHeader};
///
/// let head = FrameHeader { env: Env::Bits32, cpu: 3, tick: 1_000, tid: Some(77), pid: None };
/// let frame = Frame { head, entry: &[0x10, 0x69, 0, 0] };
/// let mut bytes = [0; 40];
/// assert_eq!(frame.write(ByteOrder::Little, &mut bytes), Some(40));
/// assert_eq!(Frame::read(ByteOrder::Little, &bytes), Ok((frame, 40)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame<'a> {
    /// The fixed part, without the length of the entry.
    pub head: FrameHeader,
    /// The entry: hook word and data.
    pub entry: &'a [u8],
}

impl FrameHeader {
    /// Length of the fixed part in bytes.
    pub const LENGTH: usize = 32;

    const HAS_TID: u8 = 1;
    const HAS_PID: u8 = 2;

    /// Writes the fixed part and the padding of a frame at the start of `bytes`. The entry of the
    /// frame has `length` bytes. Returns the part of `bytes` in which the caller must store the
    /// entry. Returns `None`, and writes nothing, if `bytes` is too short or no entry can have this
    /// length.
    #[inline]
    pub fn write(self, order: ByteOrder, length: usize, bytes: &mut [u8]) -> Option<&mut [u8]> {
        if !is_entry_length(self.env, length) {
            return None;
        }
        let bytes = bytes.get_mut(..Frame::size(length))?;
        let (fixed, rest) = bytes.split_first_chunk_mut::<{ Self::LENGTH }>()?;
        *fixed = self.bytes(order, length as u32);
        let (entry, padding) = rest.split_at_mut_checked(length)?;
        // The memory may hold stale bytes, which must not leak into a log.
        padding.fill(0);
        Some(entry)
    }

    fn bytes(self, order: ByteOrder, length: u32) -> [u8; Self::LENGTH] {
        let mut fixed = [0; Self::LENGTH];
        fixed[..4].copy_from_slice(&order.bytes_of_u32(length));
        fixed[4] = self.env.bits();
        // Flags mark unknown ids, because 0 can be a valid thread or process id.
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
        // Check the length before reading any byte of the entry. Otherwise a damaged length would
        // make a reader wait for gigabytes.
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
    /// Returns the length in bytes of a frame whose entry has `entry_length` bytes.
    #[inline]
    pub const fn size(entry_length: usize) -> usize {
        FrameHeader::LENGTH + entry_length.next_multiple_of(8)
    }

    /// Decodes the frame at the start of `bytes`. Returns the frame and its length in bytes. Does
    /// not check padding, unknown flags, or ids that the flags mark as unknown.
    ///
    /// # Errors
    /// Returns [`ReadError::Incomplete`] if `bytes` is too short or empty. Returns
    /// [`ReadError::Damaged`] with [`Damage::Environment`] or [`Damage::EntryLength`] if the header
    /// is damaged. The caller then cannot know the start of the next frame.
    #[inline]
    pub fn read(order: ByteOrder, bytes: &'a [u8]) -> Result<(Self, usize), ReadError> {
        let incomplete = |needed| ReadError::Incomplete { needed };
        let fixed = bytes.first_chunk().ok_or(incomplete(FrameHeader::LENGTH))?;
        let (head, length) = FrameHeader::read(order, fixed).map_err(ReadError::Damaged)?;
        let size = Self::size(length);
        let whole = bytes.get(..size).ok_or(incomplete(size))?;
        let entry = &whole[FrameHeader::LENGTH..FrameHeader::LENGTH + length];
        Ok((Self { head, entry }, size))
    }

    /// Writes the frame at the start of `bytes` and returns its length. Returns `None`, and writes
    /// nothing, if `bytes` is too short or no entry can have this length.
    pub fn write(&self, order: ByteOrder, bytes: &mut [u8]) -> Option<usize> {
        self.head.write(order, self.entry.len(), bytes)?.copy_from_slice(self.entry);
        Some(Self::size(self.entry.len()))
    }
}

const fn is_entry_length(env: Env, length: usize) -> bool {
    env.word_bytes() <= length && length <= MAX_ENTRY_LENGTH
}
