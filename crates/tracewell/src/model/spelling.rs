//! Suggests a known name for a word that is not known, and makes names unique. The module `select`
//! compares the names of events, contexts and objects with patterns.

/// Returns a normal form of a name. Names that differ only in case, spaces and `_` have the same
/// normal form.
pub(crate) fn folded(name: &str) -> String {
    name.chars().map(|c| if c == '_' { ' ' } else { c }).flat_map(char::to_lowercase).collect()
}

/// Returns the name. If it is already used, appends `_2`, `_3`, ….
pub(crate) fn unique(name: &str, is_used: impl Fn(&str) -> bool) -> String {
    let mut candidate = name.to_owned();
    let mut number = 2;
    while is_used(&candidate) {
        candidate = format!("{name}_{number}");
        number += 1;
    }
    candidate
}

/// Returns the name that is most similar to a word, or `None` if none is similar.
///
/// ```
/// use tracewell::model::nearest;
///
/// assert_eq!(nearest("thraedx", ["aix", "threadx"]), Some("threadx"));
/// assert_eq!(nearest("elf", ["shark", "threadx"]), None);
/// ```
pub fn nearest<N: AsRef<str>>(word: &str, names: impl IntoIterator<Item = N>) -> Option<N> {
    let word = folded(word);
    let length = |text: &str| text.chars().count();
    let most = 1 + length(&word) / 5;
    // Names whose lengths differ greatly cannot be similar. This check avoids most comparisons.
    let may_be_near = |name: &N| length(name.as_ref()).abs_diff(length(&word)) <= most;
    let distance = |name: &N| strsim::osa_distance(&word, &folded(name.as_ref()));
    let near = names.into_iter().filter(may_be_near).map(|name| (distance(&name), name));
    let near = near.filter(|(distance, _)| *distance <= most);
    // If several names are equally similar, use the first in alphabetical order, so that the order
    // of `names` does not matter.
    let near = near.min_by(|(a, x), (b, y)| (a, x.as_ref()).cmp(&(b, y.as_ref())));
    near.map(|(_, name)| name)
}

/// Returns the end of a message about an unknown name: a suggestion, or an empty text.
///
/// ```
/// use tracewell::model::{did_you_mean, nearest};
///
/// let known = ["tx_mutex_get", "tx_mutex_put"];
/// let message = did_you_mean(nearest("tx_mutex_gte", known));
/// assert!(message.contains("tx_mutex_get"));
/// assert_eq!(did_you_mean(nearest("sleep", known)), "");
/// ```
pub fn did_you_mean(meant: Option<impl AsRef<str>>) -> String {
    meant.map_or_else(String::new, |meant| {
        format!("; did you mean '{}'?", meant.as_ref().escape_debug())
    })
}

/// Maximum number of names that [`some_of`] returns.
const MAX_NAMES: usize = 6;

/// Returns the first names of a list, in quotation marks, and the number of the other names.
pub(crate) fn some_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.map(|name| format!("'{}'", name.escape_debug())).collect();
    let shown = names.get(..MAX_NAMES).unwrap_or(&names).join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_one_that_differs_little() {
        let names = ["tx_mutex_get", "tx_mutex_put", "SM TRN"];
        assert_eq!(nearest("tx_mutex_gte", names), Some("tx_mutex_get"));
        assert_eq!(nearest("SM_TNR", names), Some("SM TRN"));
        assert_eq!(nearest("queue", names), None);
        assert_eq!(nearest("aa", ["ab", "ac"]), Some("ab"));
    }
}
