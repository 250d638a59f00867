//! The least and the greatest value of a page or of a chunk, so that readers can skip both.

use std::borrow::Cow;

use parquet::basic::Type;
use parquet::data_type::ByteArray;
use parquet::file::statistics::{Statistics, ValueStatistics};

use crate::number::Shape;

/// Maximum number of bytes of a text in the statistics. Longer texts are shortened.
const MAX_TEXT: usize = 64;

/// The least and the greatest of some values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Bounds {
    /// Numbers as [`Shape::ordered`] returns them.
    Numbers(u64, u64),
    /// Texts in the order of their bytes.
    Texts(Box<str>, Box<str>),
}

impl Bounds {
    /// Returns the bounds of the values of both.
    pub(crate) fn join(self, other: &Self) -> Self {
        match (self, other) {
            (Self::Numbers(min, max), Self::Numbers(other_min, other_max)) => {
                Self::Numbers(min.min(*other_min), max.max(*other_max))
            }
            (Self::Texts(min, max), Self::Texts(other_min, other_max)) => {
                Self::Texts(min.min(other_min.clone()), max.max(other_max.clone()))
            }
            (bounds, _) => bounds,
        }
    }

    /// Returns true if neither bound is greater than that of `next`.
    pub(crate) fn is_before(&self, next: &Self) -> bool {
        match (self, next) {
            (Self::Numbers(min, max), Self::Numbers(next_min, next_max)) => {
                min <= next_min && max <= next_max
            }
            (Self::Texts(min, max), Self::Texts(next_min, next_max)) => {
                min <= next_min && max <= next_max
            }
            _ => false,
        }
    }

    /// Returns both bounds as bytes for the page index. Returns `None` if the greatest text has no
    /// short bound.
    pub(crate) fn bytes(&self, shape: Shape) -> Option<(Vec<u8>, Vec<u8>)> {
        let number = |number: u64| {
            let mut bytes = Vec::new();
            shape.put(shape.ordered(number), &mut bytes);
            bytes
        };
        Some(match self {
            Self::Numbers(min, max) => (number(*min), number(*max)),
            Self::Texts(min, max) => {
                (shortened(min).into(), at_least(max)?.into_owned().into_bytes())
            }
        })
    }

    /// Returns statistics of a chunk with these bounds and this number of nulls.
    pub(crate) fn statistics(&self, shape: Shape, nulls: u64) -> Statistics {
        let nulls = Some(nulls);
        match self {
            Self::Numbers(min, max) => {
                let [min, max] = [min, max].map(|number| shape.ordered(*number));
                match shape.is_narrow {
                    true => {
                        Statistics::int32(Some(min as i32), Some(max as i32), None, nulls, false)
                    }
                    false => {
                        Statistics::int64(Some(min as i64), Some(max as i64), None, nulls, false)
                    }
                }
            }
            Self::Texts(min, max) => {
                let (short, bound) = (shortened(min), at_least(max));
                let is_exact = (short == min.as_ref(), bound.as_deref() == Some(max));
                let bytes = |text: &str| ByteArray::from(text.as_bytes().to_vec());
                let (short, bound) = (bytes(short), bound.as_deref().map(bytes));
                let statistics = ValueStatistics::new(Some(short), bound, None, nulls, false);
                let statistics = statistics.with_min_is_exact(is_exact.0);
                Statistics::ByteArray(statistics.with_max_is_exact(is_exact.1))
            }
        }
    }
}

/// Returns statistics of a chunk that contains only nulls.
pub(crate) fn only_nulls(of: Type, nulls: u64) -> Statistics {
    match of {
        Type::INT32 => Statistics::int32(None, None, None, Some(nulls), false),
        Type::INT64 => Statistics::int64(None, None, None, Some(nulls), false),
        _ => Statistics::byte_array(None, None, None, Some(nulls), false),
    }
}

/// Returns the beginning of a text.
fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

/// Returns a short text that is not less than this text.
fn at_least(text: &str) -> Option<Cow<'_, str>> {
    let short = shortened(text);
    if short.len() == text.len() {
        return Some(text.into());
    }
    // Replaces the last character that has a successor, so that all texts with the same beginning
    // are less.
    let next = |(at, character): (usize, char)| Some((at, following(character)?));
    let (at, character) = short.char_indices().rev().find_map(next)?;
    Some(format!("{}{character}", &short[..at]).into())
}

/// Returns the next character.
fn following(character: char) -> Option<char> {
    match character {
        // No characters are between these two.
        '\u{D7FF}' => Some('\u{E000}'),
        _ => char::from_u32(u32::from(character) + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_have_short_bounds() {
        let short = "a".repeat(MAX_TEXT);
        assert_eq!(
            (shortened(&short), at_least(&short).as_deref()),
            (&short[..], Some(&short[..]))
        );
        let long = format!("{short}b");
        assert_eq!(shortened(&long), short);
        let above = at_least(&long).unwrap();
        assert!(*above > *long && above.len() == MAX_TEXT, "{above}");
        // The last character has no successor, and the one before it is followed by surrogates.
        let long = format!("{}\u{D7FF}{}", "a".repeat(50), "\u{10FFFF}".repeat(9));
        assert_eq!(at_least(&long).unwrap(), format!("{}\u{E000}", "a".repeat(50)));
        assert_eq!(shortened(&long).len(), 61);
        assert_eq!(at_least(&"\u{10FFFF}".repeat(20)), None);
    }
}
