//! Lists of small numbers that users type, such as the processors of `--cpu 0,2-5`.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Numbers and ranges of numbers from 0 to 65535, such as `0,2-5`.
///
/// Each element of the text is a decimal number without a sign, or a range. A range consists of two
/// such numbers with `-` between them. The second number must not be less than the first. Commas or
/// white space separate elements. A list keeps the order of its elements, and elements may overlap.
/// [`NumberList::default`] is an empty list; parsing a text never returns one.
///
/// ```
/// use tracewell::select::NumberList;
///
/// let list: NumberList = "0, 2-5".parse()?;
/// assert!(list.contains(0) && list.contains(4) && !list.contains(1));
/// assert_eq!(list.to_string(), "0,2-5");
/// let error = "0,5-2".parse::<NumberList>().unwrap_err();
/// assert_eq!(error.found(), "5-2");
/// # Ok::<(), tracewell::select::NumberListError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NumberList(Vec<RangeInclusive<u16>>);

/// Error for text that is not a valid list of numbers.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected numbers such as 0,2-3, found '{found}'")]
pub struct NumberListError {
    found: String,
}

impl NumberListError {
    /// Returns the first invalid element, or the whole text if it has no element.
    pub fn found(&self) -> &str {
        &self.found
    }
}

impl NumberList {
    /// Returns true if the list has no element.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if an element of the list contains the number.
    #[inline]
    pub fn contains(&self, number: u16) -> bool {
        self.0.iter().any(|range| range.contains(&number))
    }

    /// Returns the elements in the order of the text. A single number is a range of one number.
    pub fn ranges(&self) -> &[RangeInclusive<u16>] {
        &self.0
    }
}

impl FromStr for NumberList {
    type Err = NumberListError;

    fn from_str(text: &str) -> Result<Self, NumberListError> {
        let fail = |found: &str| NumberListError { found: found.to_owned() };
        let ranges: Vec<_> = elements(text)
            .map(|element| range(element).ok_or_else(|| fail(element)))
            .collect::<Result<_, _>>()?;
        if ranges.is_empty() { Err(fail(text)) } else { Ok(Self(ranges)) }
    }
}

impl fmt::Display for NumberList {
    /// Writes the elements, separated by commas. Parsing this text returns the same list.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, range) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            match (range.start(), range.end()) {
                (first, last) if first == last => write!(f, "{separator}{first}")?,
                (first, last) => write!(f, "{separator}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

/// Returns the elements of a list, separated by commas or white space.
///
/// ```
/// let elements: Vec<_> = tracewell::select::elements("1*, 2,,3 ").collect();
/// assert_eq!(elements, ["1*", "2", "3"]);
/// ```
pub fn elements(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c == ',' || c.is_whitespace()).filter(|element| !element.is_empty())
}

fn range(element: &str) -> Option<RangeInclusive<u16>> {
    let (first, last) = element.split_once('-').unwrap_or((element, element));
    let range = number(first)?..=number(last)?;
    (!range.is_empty()).then_some(range)
}

fn number(digits: &str) -> Option<u16> {
    // `parse` alone would accept a sign.
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn other_texts_are_refused_and_the_error_names_the_element() {
        for (text, found) in [
            ("", ""),
            (" , ", " , "),
            ("1,x", "x"),
            ("1,-2", "-2"),
            ("+1", "+1"),
            ("3-", "3-"),
            ("3-2", "3-2"),
            ("1-2-3", "1-2-3"),
            ("65536", "65536"),
            ("\u{0663}", "\u{0663}"),
        ] {
            let error = text.parse::<NumberList>().unwrap_err();
            assert_eq!(error.found(), found);
            assert_eq!(
                error.to_string(),
                format!("expected numbers such as 0,2-3, found '{found}'")
            );
        }
    }

    proptest! {
        #[test]
        fn a_list_contains_the_numbers_of_its_elements(
            elements in prop::collection::vec((any::<u16>(), 0_u16..9, any::<bool>()), 1..9),
            separators in prop::collection::vec(prop::sample::select(vec![",", " ", ", ", "\t,,"]), 9),
        ) {
            let mut text = String::new();
            let mut expected = vec![false; 1 << 16];
            for ((first, more, is_range), separator) in elements.iter().zip(separators) {
                let last = if *is_range { first.saturating_add(*more) } else { *first };
                text.push_str(&if *is_range { format!("{first}-{last}") } else { first.to_string() });
                text.push_str(separator);
                (*first..=last).for_each(|number| expected[usize::from(number)] = true);
            }
            let list: NumberList = text.parse().unwrap();
            for number in 0..=u16::MAX {
                prop_assert_eq!(list.contains(number), expected[usize::from(number)], "{}", number);
            }
            prop_assert_eq!(list.ranges().len(), elements.len());
            prop_assert_eq!(list.to_string().parse(), Ok(list));
        }
    }
}
