//! The values of a column, collected for a batch of rows.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::builder::{ArrayBuilder, BinaryBuilder, StringBuilder};
use arrow_array::types::{
    Decimal128Type, Float64Type, Int32Type, Int64Type, TimestampNanosecondType, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, BooleanArray, DictionaryArray, StringArray};
use arrow_schema::ArrowError;

use crate::column::{DECIMAL_DIGITS, Kind, UTC};
use crate::fixed::{Fixed, Place};

/// A value for one row. A value that does not fit into its column becomes null.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell<'a> {
    Null,
    Number(u64),
    Signed(i64),
    Float(f64),
    Flag(bool),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl From<Option<u64>> for Cell<'_> {
    fn from(number: Option<u64>) -> Self {
        number.map_or(Self::Null, Self::Number)
    }
}

impl<'a> From<Option<&'a str>> for Cell<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, Self::Text)
    }
}

/// The values of a column, in the type of the column.
#[derive(Debug)]
pub(crate) enum Values {
    U16(Fixed<u16>),
    U32(Fixed<u32>),
    U64(Fixed<u64>),
    I64(Fixed<i64>),
    Decimal(Fixed<i128>),
    F64(Fixed<f64>),
    Bool(Fixed<u8>),
    Text(StringBuilder),
    Word(Words),
    Bytes(BinaryBuilder),
    Date(Fixed<i64>),
}

impl Values {
    /// Creates the values of a column that has no rows yet.
    pub(crate) fn new(kind: Kind) -> Self {
        match kind {
            Kind::U16 => Self::U16(Fixed::default()),
            Kind::U32 => Self::U32(Fixed::default()),
            Kind::U64 => Self::U64(Fixed::default()),
            Kind::I64 => Self::I64(Fixed::default()),
            Kind::Decimal => Self::Decimal(Fixed::default()),
            Kind::F64 => Self::F64(Fixed::default()),
            Kind::Bool => Self::Bool(Fixed::default()),
            Kind::Text => Self::Text(StringBuilder::new()),
            Kind::Word => Self::Word(Words::default()),
            Kind::Bytes => Self::Bytes(BinaryBuilder::new()),
            Kind::Date => Self::Date(Fixed::default()),
        }
    }

    /// Returns empty values for the same column, for another thread. The new values share the
    /// dictionary of words.
    pub(crate) fn of_same_column(&self, kind: Kind) -> Self {
        match self {
            Self::Word(words) => Self::Word(words.with_same_words()),
            _ => Self::new(kind),
        }
    }

    /// Appends a value.
    pub(crate) fn push(&mut self, cell: Cell<'_>) {
        self.put(Place::End, cell);
    }

    /// Begins `count` rows. Then [`Values::set`] sets the rows that have values, in increasing
    /// order, and [`Values::end_rows`] completes the others.
    pub(crate) fn begin_rows(&mut self, count: usize) {
        if !matches!(self, Self::Text(_) | Self::Bytes(_)) {
            self.push_nulls(count);
        }
    }

    /// Sets the value of a row.
    #[inline]
    pub(crate) fn set(&mut self, row: usize, cell: Cell<'_>) {
        self.put(Place::Row(row), cell);
    }

    /// Completes rows, so that there are `rows` rows in all.
    pub(crate) fn end_rows(&mut self, rows: usize) {
        match self {
            Self::Text(to) => to.append_nulls(rows.saturating_sub(to.len())),
            Self::Bytes(to) => to.append_nulls(rows.saturating_sub(to.len())),
            _ => {}
        }
    }

    #[inline]
    fn put(&mut self, place: Place, cell: Cell<'_>) {
        if let (Self::Text(_) | Self::Bytes(_), Place::Row(row)) = (&*self, place) {
            self.end_rows(row);
        }
        match (self, cell) {
            (Self::U16(to), Cell::Number(number)) => to.put(place, number.try_into().ok()),
            (Self::U32(to), Cell::Number(number)) => to.put(place, number.try_into().ok()),
            (Self::U64(to), Cell::Number(number)) => to.put(place, Some(number)),
            (Self::I64(to), Cell::Number(number)) => to.put(place, number.try_into().ok()),
            (Self::I64(to), Cell::Signed(number)) => to.put(place, Some(number)),
            (Self::Decimal(to), Cell::Number(number)) => to.put(place, Some(number.into())),
            (Self::Decimal(to), Cell::Signed(number)) => to.put(place, Some(number.into())),
            (Self::F64(to), Cell::Float(number)) => to.put(place, Some(number)),
            (Self::F64(to), Cell::Number(number)) => to.put(place, Some(number as f64)),
            (Self::Bool(to), Cell::Flag(flag)) => to.put(place, Some(flag.into())),
            (Self::Text(to), Cell::Text(text)) => to.append_value(text),
            (Self::Word(to), Cell::Text(text)) => {
                let index = to.index(text);
                to.keys.put(place, Some(index));
            }
            (Self::Bytes(to), Cell::Bytes(bytes)) => to.append_value(bytes),
            (Self::Date(to), Cell::Number(ns)) => to.put(place, ns.try_into().ok()),
            // In a row that was begun, the value is null already.
            _ if matches!(place, Place::Row(_)) => {}
            (values, _) => values.push_nulls(1),
        }
    }

    /// Appends nulls.
    pub(crate) fn push_nulls(&mut self, count: usize) {
        match self {
            Self::U16(to) => to.push_nulls(count),
            Self::U32(to) => to.push_nulls(count),
            Self::U64(to) => to.push_nulls(count),
            Self::I64(to) | Self::Date(to) => to.push_nulls(count),
            Self::Decimal(to) => to.push_nulls(count),
            Self::F64(to) => to.push_nulls(count),
            Self::Bool(to) => to.push_nulls(count),
            Self::Text(to) => to.append_nulls(count),
            Self::Word(to) => to.keys.push_nulls(count),
            Self::Bytes(to) => to.append_nulls(count),
        }
    }

    /// Returns the values as an array. The next values begin a new array.
    ///
    /// # Errors
    /// Returns an error if the values do not form an array; only a bug in this crate can cause
    /// this.
    pub(crate) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Self::U16(from) => Arc::new(from.finish_array::<UInt16Type>()),
            Self::U32(from) => Arc::new(from.finish_array::<UInt32Type>()),
            Self::U64(from) => Arc::new(from.finish_array::<UInt64Type>()),
            Self::I64(from) => Arc::new(from.finish_array::<Int64Type>()),
            Self::Decimal(from) => {
                let array = from.finish_array::<Decimal128Type>();
                Arc::new(array.with_precision_and_scale(DECIMAL_DIGITS, 0)?)
            }
            Self::F64(from) => Arc::new(from.finish_array::<Float64Type>()),
            Self::Bool(from) => {
                let (flags, valid) = from.finish();
                Arc::new(BooleanArray::new(flags.iter().map(|flag| *flag != 0).collect(), valid))
            }
            Self::Text(from) => Arc::new(from.finish()),
            Self::Word(from) => from.finish()?,
            Self::Bytes(from) => Arc::new(from.finish()),
            Self::Date(from) => {
                Arc::new(from.finish_array::<TimestampNanosecondType>().with_timezone(UTC))
            }
        })
    }
}

/// Words, stored as indices in a dictionary that contains each word once.
#[derive(Debug, Default)]
pub(crate) struct Words {
    pub(crate) keys: Fixed<i32>,
    pub(crate) dictionary: Dictionary,
}

/// A dictionary that grows from batch to batch, so equal words have equal indices in all batches of
/// a table. Several threads can share a dictionary.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dictionary(Arc<Mutex<DictionaryWords>>);

#[derive(Debug, Default)]
struct DictionaryWords {
    words: Vec<String>,
    by_word: HashMap<String, i32>,
    /// The dictionary of the last batch, if no word was added since then.
    array: Option<Arc<StringArray>>,
}

impl Dictionary {
    /// Returns the index of a word, and adds the word if it is new.
    pub(crate) fn index(&self, word: &str) -> i32 {
        let mut dictionary = self.lock();
        if let Some(index) = dictionary.by_word.get(word) {
            return *index;
        }
        // Indices do not overflow in practice: two thousand million different words would occupy at
        // least 48 GiB.
        let index = i32::try_from(dictionary.words.len()).unwrap_or(i32::MAX);
        dictionary.words.push(word.to_owned());
        dictionary.by_word.insert(word.to_owned(), index);
        dictionary.array = None;
        index
    }

    fn array(&self) -> Arc<StringArray> {
        let DictionaryWords { words, array, .. } = &mut *self.lock();
        Arc::clone(array.get_or_insert_with(|| Arc::new(StringArray::from_iter_values(words))))
    }

    fn lock(&self) -> MutexGuard<'_, DictionaryWords> {
        // A panic cannot leave a word half-added.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Words {
    /// Returns an empty column with the same dictionary.
    fn with_same_words(&self) -> Self {
        Self { keys: Fixed::default(), dictionary: self.dictionary.clone() }
    }

    /// Returns the index of a word, and adds the word if it is new.
    pub(crate) fn index(&self, word: &str) -> i32 {
        self.dictionary.index(word)
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let keys = self.keys.finish_array::<Int32Type>();
        Ok(Arc::new(DictionaryArray::try_new(keys, self.dictionary.array())?))
    }
}
