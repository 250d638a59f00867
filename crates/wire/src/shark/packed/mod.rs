//! The content of a compressed chunk: the records that are in use, in memory order, without loss.
//!
//! Each record is
//!
//! | size | content |
//! |---|---|
//! | 1 | event code, not 0 |
//! | 1 to 3 | parameter 1 twice, plus 1 for a record of the fast path |
//! | 1 to 10 | stamp minus that of the record before (0 before the first), modulo 2^64, as a signed number whose sign is its lowest bit |
//! | 1 to 5 | parameter 2 |
//!
//! where the last three are numbers of seven bits a byte, lowest first, with bit 7 set in all bytes but the
//! last. A code of 0 or the end of the area ends the records; what is left of the area is 0. In place of a
//! record, the byte 0xFF, which is no event's code but a command's, begins a [block](PackedBlock) of packed
//! records that may be compressed further.
//!
//! The published kernel has the flag (`COMPR`) and an empty compressor, so that this layout is ours. It has
//! two stages because the first needs no memory and no library, and makes what the second finds repetitions
//! in: stamps as they are never repeat.

mod area;
mod block;

pub use area::{AreaRecords, Expand, PackedDamage};
pub use block::{BlockError, PackedBlock};

use super::Record;

/// Takes records in turn and gives their packed bytes.
#[derive(Clone, Copy, Default, Debug)]
pub struct Packer {
    before: u64,
}

/// A packed record.
#[derive(Clone, Copy, Debug)]
pub struct PackedRecord {
    bytes: [u8; Self::MOST],
    length: usize,
}

impl PackedRecord {
    /// The most bytes of a packed record; the fewest are 4.
    pub const MOST: usize = 1 + 3 + 10 + 5;

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    fn push_number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.push(value as u8);
    }
}

impl Packer {
    /// Packs the next record. The bits of the code word that no writer sets are left out.
    pub fn pack(&mut self, record: &Record) -> PackedRecord {
        let mut packed = PackedRecord { bytes: [0; PackedRecord::MOST], length: 0 };
        let delta = record.tsc.wrapping_sub(self.before);
        self.before = record.tsc;
        packed.push(record.code());
        packed.push_number(u64::from(record.par1) << 1 | u64::from(record.is_fast()));
        packed.push_number(delta << 1 ^ ((delta as i64) >> 63) as u64);
        packed.push_number(u64::from(record.par2));
        packed
    }
}

/// The records of packed bytes without blocks, in turn; [`AreaRecords`] are those of an area.
#[derive(Clone, Debug)]
pub struct Unpacker<'a> {
    rest: &'a [u8],
    before: u64,
    damaged: bool,
}

impl<'a> Unpacker<'a> {
    /// Reads from the start.
    pub const fn new(area: &'a [u8]) -> Self {
        Self { rest: area, before: 0, damaged: false }
    }

    /// Whether reading ended because bytes make no record. [`Unpacker::rest`] begins with them.
    pub const fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// What is not read yet.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

/// Reads one packed record, where the one before had the stamp `before`, and what follows it.
fn read(bytes: &[u8], before: u64) -> Option<(Record, &[u8])> {
    let (code, rest) = bytes.split_first().filter(|(code, _)| **code != PackedBlock::MARK)?;
    let (first, rest) = number(rest, 0x1_FFFF)?;
    let (delta, rest) = number(rest, u64::MAX)?;
    let (par2, rest) = number(rest, u64::from(u32::MAX))?;
    let fast = if first & 1 == 1 { Record::FAST } else { 0 };
    let record = Record {
        code_word: u16::from(*code) | fast,
        par1: (first >> 1) as u16,
        tsc: before.wrapping_add(delta >> 1 ^ (delta & 1).wrapping_neg()),
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

/// Reads a number of at most `most`.
fn number(bytes: &[u8], most: u64) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (index, &byte) in bytes.iter().take(10).enumerate() {
        let part = u128::from(byte & 0x7F) << (7 * index);
        value |= part;
        if byte & 0x80 == 0 {
            let value = u64::try_from(value).ok().filter(|value| *value <= most)?;
            return Some((value, bytes.get(index + 1..)?));
        }
    }
    None
}
