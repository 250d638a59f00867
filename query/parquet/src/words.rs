//! Columns of words: a dictionary of those words that occur in a chunk of a column.
//!
//! Arrow's dictionaries can contain more words, and change from batch to batch. So each index of an
//! Arrow dictionary is mapped to an index of the chunk when it first occurs.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use crate::bounds::Bounds;

/// Returns true if columns of this type contain words.
pub(crate) fn is_word(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Dictionary(keys, values)
        if **keys == DataType::Int32 && **values == DataType::Utf8)
}

/// Different words in the order in which they first occurred.
#[derive(Debug, Default)]
pub(crate) struct Words {
    by_word: HashMap<Arc<str>, u32>,
    list: Vec<Word>,
    /// Number of bytes of all words.
    pub(crate) bytes: usize,
    /// The dictionary of the last batch.
    source: Option<ArrayRef>,
    /// The index of each word of this dictionary in `list`, or [`UNKNOWN`].
    map: Vec<u32>,
    /// The words of the current page.
    in_page: Vec<u32>,
    page: u32,
}

#[derive(Debug)]
struct Word {
    text: Arc<str>,
    /// The last page that contains the word, from 1.
    page: u32,
}

const UNKNOWN: u32 = u32::MAX;

impl Words {
    /// Returns the number of words.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Appends the indices of a column's values, without nulls. Returns `None` if the column is not
    /// a dictionary of texts.
    pub(crate) fn append(
        &mut self,
        array: &dyn Array,
        nulls: Option<&NullBuffer>,
        to: &mut Vec<u32>,
    ) -> Option<()> {
        let array: &DictionaryArray<Int32Type> = array.as_dictionary_opt()?;
        let texts: &StringArray = array.values().as_string_opt()?;
        if !self.source.as_ref().is_some_and(|source| Arc::ptr_eq(source, array.values())) {
            self.source = Some(Arc::clone(array.values()));
            self.map.clear();
            self.map.resize(texts.len(), UNKNOWN);
        }
        let keys = array.keys().values();
        match nulls {
            None => to.extend(keys.iter().map(|key| self.index(*key as usize, texts))),
            Some(nulls) => {
                let rows = nulls.valid_indices();
                to.extend(rows.map(|row| self.index(keys[row] as usize, texts)));
            }
        }
        Some(())
    }

    #[inline]
    fn index(&mut self, key: usize, texts: &StringArray) -> u32 {
        let mut index = self.map[key];
        if index == UNKNOWN {
            index = self.add(texts.value(key));
            self.map[key] = index;
        }
        let word = &mut self.list[index as usize];
        if word.page <= self.page {
            word.page = self.page + 1;
            self.in_page.push(index);
        }
        index
    }

    #[cold]
    fn add(&mut self, text: &str) -> u32 {
        if let Some(index) = self.by_word.get(text) {
            return *index;
        }
        let (index, text) = (self.list.len() as u32, Arc::<str>::from(text));
        self.bytes += text.len();
        self.by_word.insert(Arc::clone(&text), index);
        self.list.push(Word { text, page: 0 });
        index
    }

    /// Ends a page. Returns the first and the last of its words, in the order of their bytes.
    pub(crate) fn end_page(&mut self) -> Option<Bounds> {
        self.page += 1;
        let words = self.in_page.drain(..).map(|index| self.list[index as usize].text.as_ref());
        let (min, max) = words.fold(None, |bounds: Option<(&str, &str)>, word| {
            let (min, max) = bounds.unwrap_or((word, word));
            Some((min.min(word), max.max(word)))
        })?;
        Some(Bounds::Texts(min.into(), max.into()))
    }

    /// Appends all words in the encoding `PLAIN`.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        for word in &self.list {
            out.extend_from_slice(&(word.text.len() as u32).to_le_bytes());
            out.extend_from_slice(word.text.as_bytes());
        }
    }
}
