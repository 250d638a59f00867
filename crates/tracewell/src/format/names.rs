//! Reads names that users supply for numbers in a trace. The numbers are pids of S.Ha.R.K. tasks or
//! numbers of AIX system calls.
//!
//! A list has one entry per line, or entries separated by commas, such as `5=tau1` or `0x5 tau1`. A
//! format can define a prefix that may precede the number, such as `name_pid_` in `name_pid_5`.
//! Other lines that do not begin with a number are ignored, because they may be for other readers
//! of the same file. Unsafe characters in names are escaped.

use std::cell::Cell;
use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::model::{Diagnostics, Severity};
use crate::text::{counted, shown};

/// The names that users assigned to numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    by_number: HashMap<u64, String, RandomState>,
    /// True if the trace contained one of the numbers, or if the list is used for many traces.
    /// [`Names::remark`] then adds no warning.
    used: Cell<bool>,
}

impl Names {
    /// Creates a list that is used for many traces. A trace that contains none of the list's
    /// numbers causes no warning.
    pub(super) fn of_many_traces() -> Self {
        Self { used: Cell::new(true), ..Self::default() }
    }

    /// Adds the entries of a list. `prefix` can precede a number. `what` says what the numbers are,
    /// such as `a pid`.
    ///
    /// # Errors
    /// Returns an error for the first entry that begins with a number but has no name.
    pub(super) fn add(
        &mut self,
        text: &str,
        separator: char,
        prefix: &str,
        what: &str,
    ) -> Result<(), String> {
        let entries = text.split(separator).map(str::trim).filter(|entry| !entry.is_empty());
        for named in entries.filter_map(|text| entry(text, prefix, what)) {
            let (number, name) = named?;
            self.by_number.insert(number, name);
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_number.is_empty()
    }

    /// Returns the name of a number that occurs in the trace.
    pub(super) fn of(&self, number: u64) -> Option<&str> {
        let name = self.by_number.get(&number)?;
        self.used.set(true);
        Some(name)
    }

    /// Adds a warning to the diagnostics if there are names, but [`Names::of`] never returned one.
    /// Call this after the last event. `what` says what the numbers are, such as `pid`.
    pub(super) fn remark(&self, what: &str, diagnostics: &mut Diagnostics) {
        if self.is_empty() || self.used.get() {
            return;
        }
        let numbers = counted(self.by_number.len() as u64, "number");
        let message =
            format!("names are given for {numbers}, but none of them is a {what} of this trace");
        diagnostics.add(Severity::Warning, None, message);
    }

    /// Returns all numbers with their names.
    pub(super) fn all(self) -> impl Iterator<Item = (u64, String)> {
        self.by_number.into_iter()
    }
}

fn entry(text: &str, prefix: &str, what: &str) -> Option<Result<(u64, String), String>> {
    let entry = text.strip_prefix(prefix).unwrap_or(text);
    // A line that does not begin with a number is for another reader of the same file.
    if !entry.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let wrong = || format!("expected {what} and a name such as 5=tau1, found '{text}'");
    let parts = entry.split_once(|c: char| c == '=' || c.is_whitespace());
    let named = parts.and_then(|(digits, name)| {
        let name = name.trim();
        // A number without a name is an error, so do not ignore it.
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

    fn parsed(text: &str, separator: char) -> Result<Names, String> {
        let mut names = Names::default();
        names.add(text, separator, "name_pid_", "a pid").map(|()| names)
    }

    #[test]
    fn names_come_by_line_or_by_comma() {
        let lines = "key\tvalue\nname_pid_3\ttau1\n28  tau2\n";
        for (text, separator) in [("3=tau1,0x1c=tau2", ','), (lines, '\n')] {
            let names = parsed(text, separator).unwrap();
            let found = [3, 28, 5].map(|pid| names.of(pid));
            assert_eq!(found, [Some("tau1"), Some("tau2"), None]);
        }
        assert_eq!(
            parsed("0=", ',').unwrap_err(),
            "expected a pid and a name such as 5=tau1, found '0='"
        );
        assert!(parsed("99999999999999999999=a", ',').is_err());
    }
}
