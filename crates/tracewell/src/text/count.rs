//! Numbers of things as people say them.

/// So many of something whose plural ends in `s`.
pub fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// That so many of something are missing.
pub(crate) fn missing(count: u64, what: &str) -> String {
    let are = if count == 1 { "is" } else { "are" };
    format!("{} {are} missing", counted(count, what))
}

/// How often something was.
pub(crate) fn times(count: u64) -> String {
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
