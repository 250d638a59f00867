//! Values of a fixed size, with a bit for each row that has a value.
//!
//! The builders of Arrow append one value at a time. But a table of events has dozens of columns,
//! and most of them have values in only a few rows. So these columns grow by many nulls at once,
//! and then get single values. Columns without nulls grow by many values at once.

use arrow_array::{ArrowPrimitiveType, PrimitiveArray};
use arrow_buffer::{ArrowNativeType, BooleanBufferBuilder, NullBuffer, ScalarBuffer};

/// The row of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// A new row after all others.
    End,
    /// This existing row.
    Row(usize),
}

/// The values of a column for a batch of rows.
#[derive(Debug, Default)]
pub(crate) struct Fixed<T> {
    values: Vec<T>,
    /// The bits; `None` as long as all rows have values.
    valid: Option<BooleanBufferBuilder>,
}

impl<T: ArrowNativeType> Fixed<T> {
    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Appends values.
    pub(crate) fn extend(&mut self, values: impl Iterator<Item = T>) {
        let before = self.len();
        self.values.extend(values);
        if let Some(valid) = &mut self.valid {
            valid.append_n(self.values.len() - before, true);
        }
    }

    /// Appends values and nulls.
    pub(crate) fn extend_options(&mut self, values: impl Iterator<Item = Option<T>>) {
        let (mut word, mut count) = (0, 0);
        for value in values {
            self.values.push(value.unwrap_or_default());
            word |= u64::from(value.is_some()) << count;
            count += 1;
            if count == u64::BITS as usize {
                self.append_bits(word, count);
                (word, count) = (0, 0);
            }
        }
        self.append_bits(word, count);
    }

    /// Appends the bits of the last `count` rows, at most 64.
    fn append_bits(&mut self, word: u64, count: usize) {
        if self.valid.is_some() || word.count_ones() as usize != count {
            let before = self.len() - count;
            self.valid_of(before).append_word(word, count);
        }
    }

    /// Appends a value or a null.
    #[inline]
    pub(crate) fn push(&mut self, value: Option<T>) {
        match value {
            Some(value) => {
                self.values.push(value);
                self.valid.iter_mut().for_each(|valid| valid.append(true));
            }
            None => self.push_nulls(1),
        }
    }

    /// Appends nulls.
    pub(crate) fn push_nulls(&mut self, count: usize) {
        let before = self.len();
        self.valid_of(before).append_n(count, false);
        self.values.resize(before + count, T::default());
    }

    /// Appends a value, or replaces the null in an existing row by a value.
    #[inline]
    pub(crate) fn put(&mut self, place: Place, value: Option<T>) {
        match (place, value) {
            (Place::End, value) => self.push(value),
            (Place::Row(row), Some(value)) => {
                if let Some(place) = self.values.get_mut(row) {
                    *place = value;
                    self.valid.iter_mut().for_each(|valid| valid.set_bit(row, true));
                }
            }
            (Place::Row(_), None) => {}
        }
    }

    /// Returns the values and the bits. The next value begins a new batch.
    pub(crate) fn finish(&mut self) -> (ScalarBuffer<T>, Option<NullBuffer>) {
        let valid = self.valid.take().map(|valid| NullBuffer::new(valid.build()));
        (std::mem::take(&mut self.values).into(), valid.filter(|valid| valid.null_count() > 0))
    }

    /// Returns the values as an array. The next value begins a new array.
    pub(crate) fn finish_array<P: ArrowPrimitiveType<Native = T>>(&mut self) -> PrimitiveArray<P> {
        let (values, valid) = self.finish();
        PrimitiveArray::new(values, valid)
    }

    /// Returns the bits. Creates them if all rows have had values so far; there are `rows` of them.
    fn valid_of(&mut self, rows: usize) -> &mut BooleanBufferBuilder {
        self.valid.get_or_insert_with(|| {
            let mut valid = BooleanBufferBuilder::new(rows);
            valid.append_n(rows, true);
            valid
        })
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::types::UInt32Type;
    use arrow_array::{Array, UInt32Array};

    use super::*;

    #[test]
    fn values_and_nulls_keep_their_rows() {
        let mut fixed = Fixed::default();
        let mut expected: Vec<Option<u32>> = Vec::new();
        // Batches that end inside a word of bits, with and without nulls.
        for count in [1, 63, 64, 65, 130] {
            fixed.extend(0..count);
            expected.extend((0..count).map(Some));
            let some = |number: u32| (number % 4 > 1).then_some(number);
            fixed.extend_options((0..count).map(some));
            expected.extend((0..count).map(some));
            let before = fixed.len();
            fixed.push_nulls(count as usize);
            expected.resize(before + count as usize, None);
            for (row, value) in [(0, None), (count as usize - 1, Some(7))] {
                fixed.put(Place::Row(before + row), value);
                expected[before + row] = value;
            }
            fixed.put(Place::End, Some(9));
            fixed.put(Place::End, None);
            expected.extend([Some(9), None]);
        }
        // There is no such row.
        fixed.put(Place::Row(expected.len()), Some(1));
        assert_eq!(fixed.finish_array::<UInt32Type>(), UInt32Array::from(expected));
        fixed.extend(0..3);
        fixed.extend_options([Some(3)].into_iter());
        let array = fixed.finish_array::<UInt32Type>();
        assert_eq!((array.len(), array.nulls()), (4, None));
        assert_eq!(fixed.len(), 0);
    }
}
