//! The values of a column, collected for a batch of rows.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Decimal128Builder, Float64Builder, Int32Builder, Int64Builder,
    StringBuilder, TimestampNanosecondBuilder, UInt16Builder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, DictionaryArray, StringArray};
use arrow_schema::ArrowError;

use crate::column::{DECIMAL_DIGITS, Kind, UTC};

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
    U16(UInt16Builder),
    U32(UInt32Builder),
    U64(UInt64Builder),
    I64(Int64Builder),
    Decimal(Decimal128Builder),
    F64(Float64Builder),
    Bool(BooleanBuilder),
    Text(StringBuilder),
    Word(Words),
    Bytes(BinaryBuilder),
    Date(TimestampNanosecondBuilder),
}

impl Values {
    /// Creates the values of a column that has no rows yet.
    ///
    /// # Errors
    /// Returns an error if the type is not valid; only a bug in this crate can cause this.
    pub(crate) fn new(kind: Kind) -> Result<Self, ArrowError> {
        Ok(match kind {
            Kind::U16 => Self::U16(UInt16Builder::new()),
            Kind::U32 => Self::U32(UInt32Builder::new()),
            Kind::U64 => Self::U64(UInt64Builder::new()),
            Kind::I64 => Self::I64(Int64Builder::new()),
            Kind::Decimal => {
                let builder = Decimal128Builder::new();
                Self::Decimal(builder.with_precision_and_scale(DECIMAL_DIGITS, 0)?)
            }
            Kind::F64 => Self::F64(Float64Builder::new()),
            Kind::Bool => Self::Bool(BooleanBuilder::new()),
            Kind::Text => Self::Text(StringBuilder::new()),
            Kind::Word => Self::Word(Words::default()),
            Kind::Bytes => Self::Bytes(BinaryBuilder::new()),
            Kind::Date => Self::Date(TimestampNanosecondBuilder::new().with_timezone(UTC)),
        })
    }

    /// Returns empty values for the same column, for another thread. The new values share the
    /// dictionary of words.
    ///
    /// # Errors
    /// Returns the errors of [`Values::new`].
    pub(crate) fn of_same_column(&self, kind: Kind) -> Result<Self, ArrowError> {
        match self {
            Self::Word(words) => Ok(Self::Word(words.with_same_words())),
            _ => Self::new(kind),
        }
    }

    /// Appends a value.
    pub(crate) fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Self::U16(to), Cell::Number(number)) => to.append_option(number.try_into().ok()),
            (Self::U32(to), Cell::Number(number)) => to.append_option(number.try_into().ok()),
            (Self::U64(to), Cell::Number(number)) => to.append_value(number),
            (Self::I64(to), Cell::Number(number)) => to.append_option(number.try_into().ok()),
            (Self::I64(to), Cell::Signed(number)) => to.append_value(number),
            (Self::Decimal(to), Cell::Number(number)) => to.append_value(number.into()),
            (Self::Decimal(to), Cell::Signed(number)) => to.append_value(number.into()),
            (Self::F64(to), Cell::Float(number)) => to.append_value(number),
            (Self::F64(to), Cell::Number(number)) => to.append_value(number as f64),
            (Self::Bool(to), Cell::Flag(flag)) => to.append_value(flag),
            (Self::Text(to), Cell::Text(text)) => to.append_value(text),
            (Self::Word(to), Cell::Text(text)) => to.push(text),
            (Self::Bytes(to), Cell::Bytes(bytes)) => to.append_value(bytes),
            (Self::Date(to), Cell::Number(ns)) => to.append_option(ns.try_into().ok()),
            (values, _) => values.push_nulls(1),
        }
    }

    /// Appends nulls.
    pub(crate) fn push_nulls(&mut self, count: usize) {
        match self {
            Self::U16(to) => to.append_nulls(count),
            Self::U32(to) => to.append_nulls(count),
            Self::U64(to) => to.append_nulls(count),
            Self::I64(to) => to.append_nulls(count),
            Self::Decimal(to) => to.append_nulls(count),
            Self::F64(to) => to.append_nulls(count),
            Self::Bool(to) => to.append_nulls(count),
            Self::Text(to) => to.append_nulls(count),
            Self::Word(to) => to.keys.append_nulls(count),
            Self::Bytes(to) => to.append_nulls(count),
            Self::Date(to) => to.append_nulls(count),
        }
    }

    /// Returns the values as an array. The next values begin a new array.
    ///
    /// # Errors
    /// Returns an error if the values do not form an array; only a bug in this crate can cause
    /// this.
    pub(crate) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Self::U16(from) => Arc::new(from.finish()),
            Self::U32(from) => Arc::new(from.finish()),
            Self::U64(from) => Arc::new(from.finish()),
            Self::I64(from) => Arc::new(from.finish()),
            Self::Decimal(from) => Arc::new(from.finish()),
            Self::F64(from) => Arc::new(from.finish()),
            Self::Bool(from) => Arc::new(from.finish()),
            Self::Text(from) => Arc::new(from.finish()),
            Self::Word(from) => from.finish()?,
            Self::Bytes(from) => Arc::new(from.finish()),
            Self::Date(from) => Arc::new(from.finish()),
        })
    }
}

/// Words, stored as indices in a dictionary that contains each word once. The dictionary grows from
/// batch to batch, so equal words have equal indices in all batches of a table. Several threads can
/// share a dictionary.
#[derive(Debug, Default)]
pub(crate) struct Words {
    keys: Int32Builder,
    dictionary: Arc<Mutex<Dictionary>>,
}

#[derive(Debug, Default)]
struct Dictionary {
    words: Vec<String>,
    by_word: HashMap<String, i32>,
    /// The dictionary of the last batch, if no word was added since then.
    array: Option<Arc<StringArray>>,
}

impl Dictionary {
    fn index(&mut self, word: &str) -> i32 {
        if let Some(index) = self.by_word.get(word) {
            return *index;
        }
        // Indices do not overflow in practice: two thousand million different words would occupy at
        // least 48 GiB.
        let index = i32::try_from(self.words.len()).unwrap_or(i32::MAX);
        self.words.push(word.to_owned());
        self.by_word.insert(word.to_owned(), index);
        self.array = None;
        index
    }

    fn array(&mut self) -> Arc<StringArray> {
        let words = &self.words;
        let made = || Arc::new(StringArray::from_iter_values(words));
        Arc::clone(self.array.get_or_insert_with(made))
    }
}

impl Words {
    /// Returns an empty column with the same dictionary.
    fn with_same_words(&self) -> Self {
        Self { keys: Int32Builder::new(), dictionary: Arc::clone(&self.dictionary) }
    }

    /// Returns the index of a word, and adds the word if it is new.
    pub(crate) fn index(&self, word: &str) -> i32 {
        self.dictionary().index(word)
    }

    /// Appends the word with this index, or a null.
    #[inline]
    pub(crate) fn push_index(&mut self, index: Option<i32>) {
        self.keys.append_option(index);
    }

    fn push(&mut self, word: &str) {
        let index = self.index(word);
        self.push_index(Some(index));
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let array = self.dictionary().array();
        Ok(Arc::new(DictionaryArray::try_new(self.keys.finish(), array)?))
    }

    fn dictionary(&self) -> MutexGuard<'_, Dictionary> {
        // A panic cannot leave a word half-added.
        self.dictionary.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
