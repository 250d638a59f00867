//! Names for numbers from outside, where a trace has numbers only: tasks of S.Ha.R.K. by pid, system calls of AIX.
//!
//! A list has an entry a line, or entries with commas between: `5=tau1`, `0x5 tau1`. A format may have a prefix that can
//! stand before the number (`name_pid_5`, a tab and the name). Other lines that begin with no number are left to whoever
//! they are for. Names are kept as they may be shown.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::text::shown;

/// Names by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    by_number: HashMap<u64, String, RandomState>,
}

impl Names {
    /// Reads a list of what the numbers stand for: `a pid`, say.
    ///
    /// # Errors
    /// At the first entry that begins with a number and is no number with a name.
    pub(super) fn parse(text: &str, prefix: &str, what: &str) -> Result<Self, String> {
        let lines = if text.contains('\n') { '\n' } else { ',' };
        let entries = text.split(lines).map(str::trim).filter(|entry| !entry.is_empty());
        let named: Result<Vec<_>, _> =
            entries.filter_map(|text| entry(text, prefix, what)).collect();
        Ok(Self { by_number: named?.into_iter().collect() })
    }

    /// The name of a number.
    pub(super) fn of(&self, number: u64) -> Option<&str> {
        self.by_number.get(&number).map(String::as_str)
    }

    /// All numbers with their names.
    pub(super) fn all(self) -> impl Iterator<Item = (u64, String)> {
        self.by_number.into_iter()
    }
}

fn entry(text: &str, prefix: &str, what: &str) -> Option<Result<(u64, String), String>> {
    let entry = text.strip_prefix(prefix).unwrap_or(text);
    if !entry.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let wrong = || format!("expected {what} and a name such as 5=tau1, found '{text}'");
    let parts = entry.split_once(|c: char| c == '=' || c.is_whitespace());
    let named = parts.and_then(|(digits, name)| {
        let name = name.trim();
        (!name.is_empty()).then_some(())?;
        let number = match digits.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok()?,
            None => digits.parse().ok()?,
        };
        Some((number, shown(name).into_owned()))
    });
    Some(named.ok_or_else(wrong))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Names, String> {
        Names::parse(text, "name_pid_", "a pid")
    }

    #[test]
    fn names_come_by_line_or_by_comma() {
        for text in ["3=tau1,0x4=tau2", "key\tvalue\nname_pid_3\ttau1\n4  tau2\n"] {
            let names = parsed(text).unwrap();
            assert_eq!((names.of(3), names.of(4), names.of(5)), (Some("tau1"), Some("tau2"), None));
        }
        assert_eq!(
            parsed("0=").unwrap_err(),
            "expected a pid and a name such as 5=tau1, found '0='"
        );
        assert!(parsed("99999999999999999999=a").is_err());
    }
}
