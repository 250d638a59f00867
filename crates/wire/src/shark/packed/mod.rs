//! The lossless compression of a chunk's used records, in memory order.
//!
//! A packed record has four fields:
//!
//! | size | content |
//! |---|---|
//! | 1 | event code, not 0 |
//! | 1 to 3 | 2 * parameter 1, plus 1 for a record of the fast path |
//! | 1 to 10 | difference from the timestamp of the previous record, zigzag-coded |
//! | 1 to 5 | parameter 2 |
//!
//! The last three fields are [numbers](crate::number). The difference is modulo 2^64. The first
//! difference is relative to 0. A zigzag code has the sign in the lowest bit. The records end at an
//! event code of 0 or at the end of the area. The rest of the area is 0. The byte 0xFF is the code
//! of a command, not of an event. In the place of an event code, this byte begins a
//! [block](PackedBlock) of packed records. A block can be compressed further.
//!
//! The published kernel has the flag (`COMPR`) but an empty compressor, so this layout is
//! Tracewell's own. The first stage (packing) needs neither memory nor a library. Packing turns
//! similar records into equal bytes, which the second stage (compression) shortens. Full timestamps
//! would never repeat.

mod area;
mod block;

pub use area::{AreaRecords, Expand, PackedDamage};
pub use block::{BlockError, PackedBlock};

use super::Record;
use crate::number;

/// Packs records one at a time.
///
/// ```
/// use tracewell_wire::shark::{Packer, Record, Unpacker};
///
/// let record = |tsc| Record { code_word: 0x82, par1: 0x100, tsc, par2: 0x100 };
/// let mut packer = Packer::default();
/// let mut bytes = Vec::new();
/// for tsc in [1_000_000, 1_000_040] {
///     bytes.extend_from_slice(packer.pack(&record(tsc)).bytes());
/// }
/// assert_eq!(bytes.len(), 8 + 6);
/// let records: Vec<_> = Unpacker::new(&bytes).collect();
/// assert_eq!(records, [record(1_000_000), record(1_000_040)]);
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct Packer {
    before: u64,
}

/// A record in packed form, of 4 to [`PackedRecord::MAX_LEN`] bytes.
#[derive(Clone, Copy, Debug)]
pub struct PackedRecord {
    bytes: [u8; Self::MAX_LEN],
    length: usize,
}

impl PackedRecord {
    /// Maximum size of a packed record in bytes. The minimum is 4.
    pub const MAX_LEN: usize = 1 + 3 + 10 + 5;

    /// Returns the packed bytes.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    fn push_number(&mut self, value: u64) {
        number::encode(value).iter().for_each(|byte| self.push(*byte));
    }
}

impl Packer {
    /// Packs the next record. Omits the bits of the code word that no writer sets.
    pub fn pack(&mut self, record: &Record) -> PackedRecord {
        let mut packed = PackedRecord { bytes: [0; PackedRecord::MAX_LEN], length: 0 };
        let delta = record.tsc.wrapping_sub(self.before);
        self.before = record.tsc;
        packed.push(record.code());
        // The flag and the first parameter share one number. This saves a byte per record.
        packed.push_number(u64::from(record.par1) << 1 | u64::from(record.is_fast()));
        // With zigzag encoding, a small step back in time is a small number.
        packed.push_number(number::unsigned(delta.cast_signed()));
        packed.push_number(u64::from(record.par2));
        packed
    }
}

/// Iterator over packed records without blocks. Use [`AreaRecords`] for an area, because an area
/// can contain blocks.
#[derive(Clone, Debug)]
pub struct Unpacker<'a> {
    rest: &'a [u8],
    before: u64,
    damaged: bool,
}

impl<'a> Unpacker<'a> {
    /// Returns an iterator over the records in `area`.
    pub const fn new(area: &'a [u8]) -> Self {
        Self { rest: area, before: 0, damaged: false }
    }

    /// Returns true if an invalid record ended the iteration. [`Unpacker::rest`] begins with the
    /// invalid record.
    pub const fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// Returns the bytes that are not read yet.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

/// Reads one packed record; `before` is the timestamp of the previous record. Returns the record
/// and the bytes after it.
fn read(bytes: &[u8], before: u64) -> Option<(Record, &[u8])> {
    let (code, rest) = bytes.split_first().filter(|(code, _)| **code != PackedBlock::MARK)?;
    // The number has 17 bits. The lowest bit is the flag of the fast path. The other bits are the
    // first parameter.
    let (first, rest) = number_up_to(0x1_FFFF, rest)?;
    let (delta, rest) = number::read(rest)?;
    let (par2, rest) = number_up_to(u64::from(u32::MAX), rest)?;
    let fast = if first & 1 == 1 { Record::FAST } else { 0 };
    let record = Record {
        code_word: u16::from(*code) | fast,
        par1: (first >> 1) as u16,
        tsc: before.wrapping_add_signed(number::signed(delta)),
        par2: par2 as u32,
    };
    Some((record, rest))
}

impl Iterator for Unpacker<'_> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        if self.damaged || matches!(self.rest.first(), None | Some(0)) {
            return None;
        }
        let Some((record, rest)) = read(self.rest, self.before) else {
            self.damaged = true;
            return None;
        };
        (self.rest, self.before) = (rest, record.tsc);
        Some(record)
    }
}

/// Reads a number that must not exceed `most`. Returns it and the bytes after it.
fn number_up_to(most: u64, bytes: &[u8]) -> Option<(u64, &[u8])> {
    number::read(bytes).filter(|(value, _)| *value <= most)
}
