//! Writes counts in words.

/// Returns a count followed by a noun. Adds an `s` to the noun unless the count is 1.
///
/// ```
/// use tracewell::text::counted;
///
/// assert_eq!(counted(1, "event"), "1 event");
/// assert_eq!(counted(3, "event"), "3 events");
/// ```
pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {}", plural(count, what))
}

/// Returns a noun, with an `s` unless the count is 1. Use it if the count is written in another
/// form than [`counted`] writes it.
///
/// ```
/// use tracewell::text::{grouped, plural};
///
/// assert_eq!(format!("{} {}", grouped(4000), plural(4000, "event")), "4,000 events");
/// ```
pub fn plural(count: u64, what: &str) -> String {
    format!("{what}{}", if count == 1 { "" } else { "s" })
}

/// Returns a clause that states how many things are missing.
///
/// ```
/// use tracewell::text::missing;
///
/// assert_eq!(missing(1, "event"), "1 event is missing");
/// ```
pub fn missing(count: u64, what: &str) -> String {
    let are = if count == 1 { "is" } else { "are" };
    format!("{} {are} missing", counted(count, what))
}

/// Returns a number with commas between groups of three digits, so that people can read it easily.
///
/// ```
/// use tracewell::text::grouped;
///
/// assert_eq!([grouped(999), grouped(1_234_567)], ["999", "1,234,567"]);
/// ```
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number of occurrences in words, such as `once` or `5 times`.
///
/// ```
/// use tracewell::text::times;
///
/// assert_eq!(times(5), "5 times");
/// ```
pub fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        _ => format!("{count} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_no_plural() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "event")), ["0 events", "1 event", "2 events"]);
        assert_eq!(
            [1, 2].map(|n| missing(n, "event")),
            ["1 event is missing", "2 events are missing"]
        );
        assert_eq!([0, 1, 2].map(times), ["0 times", "once", "2 times"]);
    }
}
