//! The numbers of words in a plan, and the two expressions that convert words to numbers and back.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use datafusion::arrow::array::{
    Array, ArrayData, AsArray, DictionaryArray, Int32Array, RecordBatch, StringArray, UInt64Array,
};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Int32Type, Schema, UInt64Type};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;

/// Number of dictionaries whose numbers are kept. Each thread of a query reads a few columns.
const RECENT: usize = 32;

/// Number of bits of a number.
const BITS: u32 = u32::BITS;

/// The number of null. The numbers of words begin at 1.
const NULL: u32 = 0;

/// The words of a plan. Each has a number, which is the same on all threads.
#[derive(Debug, Default)]
pub(super) struct Words {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    numbers: HashMap<String, u32>,
    /// All words, in the order of their numbers.
    words: Vec<String>,
    /// `words` as an array, if no word was added since then.
    array: Option<Arc<StringArray>>,
    /// The dictionaries that were read last.
    recent: VecDeque<Recent>,
}

/// A dictionary, and the numbers of its words.
#[derive(Debug)]
struct Recent {
    dictionary: ArrayData,
    numbers: Arc<[u32]>,
}

impl Words {
    /// Returns the number of each word of a dictionary.
    fn numbers(&self, dictionary: &dyn Array) -> Result<Arc<[u32]>> {
        let data = dictionary.to_data();
        let mut known = self.lock();
        if let Some(recent) = known.recent.iter().find(|recent| recent.dictionary.ptr_eq(&data)) {
            return Ok(Arc::clone(&recent.numbers));
        }
        let words = dictionary.as_string_opt::<i32>().ok_or_else(|| no_words(dictionary))?;
        let numbers = words.iter().map(|word| word.map_or(Ok(NULL), |word| known.number(word)));
        let numbers: Arc<[u32]> = numbers.collect::<Result<_>>()?;
        if known.recent.len() == RECENT {
            known.recent.pop_front();
        }
        known.recent.push_back(Recent { dictionary: data, numbers: Arc::clone(&numbers) });
        Ok(numbers)
    }

    /// Returns a dictionary of all words. The position of a word is its number, less 1.
    fn array(&self) -> Arc<StringArray> {
        let known = &mut *self.lock();
        let words = &known.words;
        let made = || Arc::new(StringArray::from_iter_values(words));
        Arc::clone(known.array.get_or_insert_with(made))
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // A panic cannot leave a word half-added.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn number(&mut self, word: &str) -> Result<u32> {
        if let Some(number) = self.numbers.get(word) {
            return Ok(*number);
        }
        // Numbers are also positions in a dictionary, which are i32.
        let number = i32::try_from(self.words.len() + 1).map(i32::unsigned_abs);
        let number = number.map_err(|_| {
            DataFusionError::ResourcesExhausted("too many different words".to_owned())
        })?;
        self.words.push(word.to_owned());
        self.numbers.insert(word.to_owned(), number);
        self.array = None;
        Ok(number)
    }
}

fn no_words(array: &dyn Array) -> DataFusionError {
    DataFusionError::Internal(format!("expected words, found {}", array.data_type()))
}

/// The numbers of one or two words of each row, in one value.
#[derive(Debug)]
pub(super) struct Number {
    words: Arc<Words>,
    /// Expressions whose values are words.
    of: Vec<Arc<dyn PhysicalExpr>>,
}

impl Number {
    pub(super) fn new(words: Arc<Words>, of: Vec<Arc<dyn PhysicalExpr>>) -> Self {
        Self { words, of }
    }
}

impl PhysicalExpr for Number {
    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let mut values = vec![0_u64; batch.num_rows()];
        for expr in &self.of {
            let column = expr.evaluate(batch)?.into_array(batch.num_rows())?;
            let column = column.as_dictionary_opt::<Int32Type>();
            let column = column.ok_or_else(|| {
                DataFusionError::Internal(format!("expected words, found another type: {expr}"))
            })?;
            let numbers = self.words.numbers(column.values())?;
            let number = |key: i32| {
                let found = usize::try_from(key).ok().and_then(|key| numbers.get(key));
                u64::from(found.copied().unwrap_or(NULL))
            };
            let keys = column.keys();
            if keys.null_count() == 0 {
                for (value, key) in values.iter_mut().zip(keys.values()) {
                    *value = *value << BITS | number(*key);
                }
            } else {
                for (value, key) in values.iter_mut().zip(keys) {
                    *value = *value << BITS | key.map_or(u64::from(NULL), number);
                }
            }
        }
        Ok(ColumnarValue::Array(Arc::new(UInt64Array::from(values))))
    }

    fn return_field(&self, _: &Schema) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(self.to_string(), DataType::UInt64, false)))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        self.of.iter().collect()
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(Arc::new(Self { words: Arc::clone(&self.words), of: children }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of: Vec<_> = self.of.iter().map(ToString::to_string).collect();
        write!(f, "number_of_words({})", of.join(", "))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.words, &other.words) && self.of == other.of
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.of.hash(state);
    }
}

/// The word of a number in each row.
#[derive(Debug)]
pub(super) struct Word {
    words: Arc<Words>,
    /// An expression whose values are those of [`Number`].
    of: Arc<dyn PhysicalExpr>,
    /// True for the first of two words.
    is_upper: bool,
    field: FieldRef,
}

impl Word {
    pub(super) fn new(
        words: Arc<Words>,
        of: Arc<dyn PhysicalExpr>,
        is_upper: bool,
        field: FieldRef,
    ) -> Self {
        Self { words, of, is_upper, field }
    }
}

impl PhysicalExpr for Word {
    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let values = self.of.evaluate(batch)?.into_array(batch.num_rows())?;
        let values = values.as_primitive_opt::<UInt64Type>().ok_or_else(|| {
            DataFusionError::Internal(format!("expected numbers of words: {}", self.of))
        })?;
        let shift = if self.is_upper { BITS } else { 0 };
        let key = |value: &u64| {
            let number = value >> shift & u64::from(u32::MAX);
            // Null has no key.
            number.checked_sub(1).and_then(|key| i32::try_from(key).ok())
        };
        let keys: Int32Array = values.values().iter().map(key).collect();
        let words = DictionaryArray::try_new(keys, self.words.array())?;
        Ok(ColumnarValue::Array(Arc::new(words)))
    }

    fn return_field(&self, _: &Schema) -> Result<FieldRef> {
        Ok(Arc::clone(&self.field))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.of]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let Ok([of]) = <[_; 1]>::try_from(children) else {
            return Err(DataFusionError::Internal(format!("expected one child: {self}")));
        };
        let (words, field) = (Arc::clone(&self.words), Arc::clone(&self.field));
        Ok(Arc::new(Self { words, of, is_upper: self.is_upper, field }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.is_upper { "first_word" } else { "last_word" };
        write!(f, "{place}({})", self.of)
    }
}

impl PartialEq for Word {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.words, &other.words)
            && (&self.of, self.is_upper, &self.field) == (&other.of, other.is_upper, &other.field)
    }
}

impl Eq for Word {}

impl Hash for Word {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.of, self.is_upper).hash(state);
    }
}
