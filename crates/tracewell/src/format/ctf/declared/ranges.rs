//! Finds the values that select each option of a CTF 1.8 variant, from the labels of an
//! enumeration.

use std::collections::{BTreeMap, HashMap};

use super::types::OptionType;
use crate::format::ctf::classes::Mapping;

/// Returns the values that select each option. A label selects the option of the same name; a
/// leading underscore of either is ignored. If a value has several labels, only the first label
/// with an option applies, so no value selects two options.
pub(crate) fn selecting(mappings: &[Mapping], options: &[OptionType]) -> Vec<Vec<(i128, i128)>> {
    let mut exact = HashMap::new();
    let mut stripped = HashMap::new();
    for (index, option) in options.iter().enumerate() {
        exact.entry(&*option.name).or_insert(index);
        stripped.entry(without_underscore(&option.name)).or_insert(index);
    }
    let mut values = vec![Vec::new(); options.len()];
    let mut claimed = Claimed::default();
    for Mapping { label, low, high } in mappings {
        let plain = without_underscore(label);
        let index = exact.get(&**label).or_else(|| exact.get(plain));
        let index = index.or_else(|| stripped.get(&**label)).or_else(|| stripped.get(plain));
        if let Some(index) = index {
            claimed.claim((*low, *high), &mut values[*index]);
        }
    }
    values
}

/// Returns a name without one leading underscore. The name `_` does not change.
pub(crate) fn without_underscore(name: &str) -> &str {
    name.strip_prefix('_').filter(|rest| !rest.is_empty()).unwrap_or(name)
}

/// The values that are already assigned to an option, as ranges that do not overlap.
#[derive(Default)]
struct Claimed {
    /// Maps the first value of each range to the last value of the range.
    ranges: BTreeMap<i128, i128>,
}

impl Claimed {
    /// Marks the values of a range as assigned. Appends to `values` those that were not assigned
    /// before.
    fn claim(&mut self, (low, high): (i128, i128), values: &mut Vec<(i128, i128)>) {
        let before = self.ranges.range(..low).next_back().map(|(first, last)| (*first, *last));
        let (start, mut next) = match before {
            Some((first, last)) if last >= low => (first, last + 1),
            _ => (low, low),
        };
        // The ranges are joined, so that later calls do not visit each range again.
        let inside: Vec<_> = self.ranges.range(low..=high).map(|(a, b)| (*a, *b)).collect();
        for (first, last) in inside {
            if next < first {
                values.push((next, first - 1));
            }
            next = next.max(last + 1);
            self.ranges.remove(&first);
        }
        if next <= high {
            values.push((next, high));
        }
        self.ranges.insert(start, high.max(next - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::ctf::classes::Encoding;
    use crate::format::ctf::declared::types::Type;

    fn values(mappings: &[(&str, i128, i128)], names: &[&str]) -> Vec<Vec<(i128, i128)>> {
        let mappings: Vec<_> = mappings
            .iter()
            .map(|(label, low, high)| Mapping { label: (*label).into(), low: *low, high: *high })
            .collect();
        let options: Vec<_> = names
            .iter()
            .map(|name| OptionType {
                at: 0,
                name: (*name).into(),
                shown: (*name).into(),
                values: None,
                class: Type::Text(Encoding::Utf8),
            })
            .collect();
        selecting(&mappings, &options)
    }

    #[test]
    fn the_first_label_that_has_an_option_decides() {
        let mappings = [("none", 0, 9), ("b", 3, 4), ("a", 0, 9), ("b", 0, 20), ("a", 30, 30)];
        assert_eq!(
            values(&mappings, &["a", "b"]),
            [vec![(0, 2), (5, 9), (30, 30)], vec![(3, 4), (10, 20)]]
        );
    }

    #[test]
    fn one_underscore_is_ignored_on_either_side() {
        let mappings = [("_a", 0, 0), ("b", 1, 1), ("__c", 2, 2), ("_", 3, 3)];
        assert_eq!(
            values(&mappings, &["a", "_b", "_c", "_"]),
            [vec![(0, 0)], vec![(1, 1)], vec![(2, 2)], vec![(3, 3)]]
        );
        // An option whose name equals the label exactly has priority.
        let mappings = [("_a", 0, 0), ("__a", 1, 1)];
        assert_eq!(values(&mappings, &["_a", "__a"]), [vec![(0, 0)], vec![(1, 1)]]);
    }
}
