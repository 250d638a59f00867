//! Names of tasks from outside: the kernel keeps them in its own table and records only pids.
//!
//! A list has an entry a line, or entries with commas between: `5=tau1`, `5 tau1`. A line
//! `name_pid_5`, a tab and the name says the same; other lines that begin with no number are left to
//! whoever they are for.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Names by pid.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    by_pid: HashMap<u32, String, RandomState>,
}

impl Names {
    /// Reads a list.
    ///
    /// # Errors
    /// At the first entry that begins with a number and is no pid with a name.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let lines = if text.contains('\n') { '\n' } else { ',' };
        let entries = text.split(lines).map(str::trim).filter(|entry| !entry.is_empty());
        let named: Result<Vec<_>, _> = entries.filter_map(entry).collect();
        Ok(Self { by_pid: named?.into_iter().collect() })
    }

    /// The name of the task with this pid.
    pub(super) fn of(&self, pid: u32) -> Option<&str> {
        self.by_pid.get(&pid).map(String::as_str)
    }
}

fn entry(text: &str) -> Option<Result<(u32, String), String>> {
    let entry = text.strip_prefix("name_pid_").unwrap_or(text);
    if !entry.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let wrong = || format!("expected a pid and a name such as 5=tau1, found '{text}'");
    let parts = entry.split_once(|c: char| c == '=' || c.is_whitespace());
    let named = parts.and_then(|(pid, name)| {
        let name = name.trim();
        (!name.is_empty()).then_some(())?;
        Some((pid.parse().ok()?, name.to_owned()))
    });
    Some(named.ok_or_else(wrong))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_by_line_or_by_comma() {
        for text in ["3=tau1,4=tau2", "key\tvalue\nname_pid_3\ttau1\n4  tau2\n"] {
            let names = Names::parse(text).unwrap();
            assert_eq!((names.of(3), names.of(4), names.of(5)), (Some("tau1"), Some("tau2"), None));
        }
        assert_eq!(
            Names::parse("0=").unwrap_err(),
            "expected a pid and a name such as 5=tau1, found '0='"
        );
        assert!(Names::parse("99999999999=a").is_err());
    }
}
