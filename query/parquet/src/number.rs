//! Columns of whole numbers: their values as 64 bits, and a dictionary of them.

use std::hash::{BuildHasher, RandomState};

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int64Type, TimestampNanosecondType, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};

/// The representation of the numbers of a column in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Shape {
    /// True if a number has four bytes, not eight.
    pub(crate) is_narrow: bool,
    is_signed: bool,
}

impl Shape {
    /// Returns the shape of a column. Returns `None` if the column does not contain whole numbers.
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        let (is_narrow, is_signed) = match data_type {
            DataType::UInt16 | DataType::UInt32 => (true, false),
            DataType::UInt64 => (false, false),
            DataType::Int64 | DataType::Timestamp(TimeUnit::Nanosecond, _) => (false, true),
            _ => return None,
        };
        Some(Self { is_narrow, is_signed })
    }

    /// Returns a number whose order as a number without a sign is the order of the column. The
    /// function is its own inverse.
    #[inline]
    pub(crate) const fn ordered(self, number: u64) -> u64 {
        number ^ ((self.is_signed as u64) << (u64::BITS - 1))
    }

    /// Returns the bytes of a number as a signed number.
    #[inline]
    pub(crate) const fn signed(self, number: u64) -> i64 {
        if self.is_narrow { number as u32 as i32 as i64 } else { number as i64 }
    }

    /// Appends the bytes of a number.
    pub(crate) fn put(self, number: u64, out: &mut Vec<u8>) {
        let bytes = number.to_le_bytes();
        out.extend_from_slice(if self.is_narrow { &bytes[..4] } else { &bytes });
    }
}

/// Appends the values of a column, without nulls. Columns that have no [`Shape`] have no values.
pub(crate) fn append(array: &dyn Array, nulls: Option<&NullBuffer>, to: &mut Vec<u64>) {
    match array.data_type() {
        DataType::UInt16 => values::<UInt16Type>(array, nulls, u64::from, to),
        DataType::UInt32 => values::<UInt32Type>(array, nulls, u64::from, to),
        DataType::UInt64 => values::<UInt64Type>(array, nulls, |value| value, to),
        DataType::Int64 => values::<Int64Type>(array, nulls, |value| value as u64, to),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            values::<TimestampNanosecondType>(array, nulls, |value| value as u64, to);
        }
        _ => {}
    }
}

fn values<T: ArrowPrimitiveType>(
    array: &dyn Array,
    nulls: Option<&NullBuffer>,
    number: impl Fn(T::Native) -> u64,
    to: &mut Vec<u64>,
) {
    let values = array.as_primitive::<T>().values();
    match nulls {
        None => to.extend(values.iter().map(|value| number(*value))),
        Some(nulls) => {
            to.reserve(nulls.len() - nulls.null_count());
            to.extend(nulls.valid_indices().map(|row| number(values[row])));
        }
    }
}

/// Different numbers in the order in which they first occurred.
#[derive(Debug)]
pub(crate) struct Numbers {
    pub(crate) list: Vec<u64>,
    /// Hash table: 1 + the index of a number, or 0. Its length is a power of two.
    slots: Vec<u32>,
    /// A random odd factor, so that no trace can contain numbers that are chosen to collide.
    factor: u64,
}

impl Numbers {
    pub(crate) fn new() -> Self {
        let factor = RandomState::new().hash_one(0) | 1;
        Self { list: Vec::new(), slots: vec![0; 16], factor }
    }

    /// Returns the index of a number, and adds the number if it is new.
    #[inline]
    pub(crate) fn index(&mut self, number: u64) -> u32 {
        let mask = self.slots.len() - 1;
        let mut slot = self.slot(number);
        loop {
            match self.slots[slot] {
                0 => return self.add(number, slot),
                index if self.list[index as usize - 1] == number => return index - 1,
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    /// Returns the first slot in which a number can be. The highest bits of a product depend on all
    /// bits of the number.
    #[inline]
    fn slot(&self, number: u64) -> usize {
        let bits = self.slots.len().trailing_zeros();
        (number.wrapping_mul(self.factor) >> (u64::BITS - bits)) as usize
    }

    #[cold]
    fn add(&mut self, number: u64, slot: usize) -> u32 {
        let index = self.list.len() as u32;
        self.list.push(number);
        self.slots[slot] = index + 1;
        if self.slots.len() < 2 * self.list.len() {
            self.fill_slots(2 * self.slots.len());
        }
        index
    }

    /// Removes the numbers that were added after the first `count`.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.list.truncate(count);
        self.fill_slots(self.slots.len());
    }

    fn fill_slots(&mut self, count: usize) {
        self.slots.clear();
        self.slots.resize(count, 0);
        for index in 0..self.list.len() {
            let mut slot = self.slot(self.list[index]);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (count - 1);
            }
            self.slots[slot] = index as u32 + 1;
        }
    }
}
