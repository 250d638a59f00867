//! Event ids in the notation of AIX's commands, and named groups of ids.

use std::str::FromStr;

use super::names::is_event;
use crate::model::schema::Schema;

/// An id of three or four hexadecimal digits, or a prefix of ids: `134`, `1340`, `1*`, `13`.
///
/// As everywhere in AIX trace, an id of three digits is short for an id of four digits: `134` means
/// `1340`. Two digits mean the sixteen ids that begin with them: `13` is `130` to `13F`, as in
/// AIX's trcrpt.
///
/// ```
/// use tracewell::select::IdPattern;
///
/// let pattern: IdPattern = "13".parse()?;
/// assert!(pattern.matches(0x1340) && !pattern.matches(0x1400));
/// # Ok::<(), tracewell::select::IdError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdPattern {
    value: u32,
    mask: u32,
}

/// Error for text that is not a valid id.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "expected 3 or 4 hexadecimal digits of an id, 2 digits for the 16 ids that begin with them, or 1 to 3 digits and '*', found '{found}'"
)]
pub struct IdError {
    found: String,
}

impl IdPattern {
    /// Returns true if `id` matches the pattern.
    pub const fn matches(self, id: u32) -> bool {
        id & self.mask == self.value
    }
}

impl FromStr for IdPattern {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let error = || IdError { found: text.to_owned() };
        let (digits, open) = match text.strip_suffix('*') {
            Some(digits) => (digits, true),
            None => (text, false),
        };
        let long_enough = if open { (1..=3).contains(&digits.len()) } else { digits.len() >= 2 };
        if !long_enough || digits.len() > 4 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(error());
        }
        // Ids have 16 bits and are left-aligned: `134` is 0x1340.
        let missing = 4 * (4 - digits.len() as u32);
        let value = u32::from_str_radix(digits, 16).map_err(|_| error())? << missing;
        let mask = match digits.len() {
            // After two digits, the third digit can be any digit, and the fourth digit must be 0.
            2 if !open => !0xF0,
            _ if open => u32::MAX << missing,
            _ => u32::MAX,
        };
        Ok(Self { value, mask })
    }
}

impl std::fmt::Display for IdPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = format!("{:04X}", self.value);
        if self.mask == !0xF0 {
            return write!(f, "{:02X}", self.value >> 8);
        }
        let open = self.mask != u32::MAX;
        let kept = if open { 4 - self.mask.trailing_zeros() as usize / 4 } else { 4 };
        // AIX omits the last digit of a hook's id if this digit is 0.
        match (open, digits.strip_suffix('0')) {
            (true, _) => write!(f, "{}*", digits.get(..kept).unwrap_or_default()),
            (false, Some(short)) => f.write_str(short),
            (false, None) => f.write_str(&digits),
        }
    }
}

/// An element of a list of events: an id in AIX's notation, or a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IdOrName {
    /// Ids in AIX's notation.
    Id(IdPattern),
    /// A name, a label, or an id in another notation.
    Name(String),
}

impl IdOrName {
    /// Returns true if this element refers to the event id `id`.
    pub fn matches(&self, schema: &Schema, id: u32) -> bool {
        match self {
            Self::Id(pattern) => pattern.matches(id),
            Self::Name(name) => is_event(name, schema, id),
        }
    }

    pub(super) fn id(&self) -> Option<IdPattern> {
        match self {
            Self::Id(pattern) => Some(*pattern),
            Self::Name(_) => None,
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Id(_) => None,
            Self::Name(name) => Some(name),
        }
    }
}

impl From<IdPattern> for IdOrName {
    fn from(pattern: IdPattern) -> Self {
        Self::Id(pattern)
    }
}

impl From<&str> for IdOrName {
    fn from(element: &str) -> Self {
        element.parse().map_or_else(|_| Self::Name(element.to_owned()), Self::Id)
    }
}

/// A named group of ids.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Name of the group.
    pub name: String,
    /// Description of the group, as shown in lists.
    pub description: String,
    /// Ids of the group.
    pub ids: Vec<IdPattern>,
}

/// Parses groups, one per line: `name: description: id,id,...`. A line that begins with `#` is a
/// comment. Errors are returned with their line numbers.
///
/// ```
/// use tracewell::select::groups;
///
/// let (groups, errors) = groups("tidhk: scheduling: 106,10C\n");
/// assert_eq!((groups[0].name.as_str(), groups[0].ids.len()), ("tidhk", 2));
/// assert!(errors.is_empty());
/// ```
pub fn groups(text: &str) -> (Vec<Group>, Vec<(usize, String)>) {
    let (mut groups, mut errors) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match group(line) {
            Ok(group) => groups.push(group),
            Err(message) => errors.push((number + 1, message)),
        }
    }
    (groups, errors)
}

fn group(line: &str) -> Result<Group, String> {
    let expected = || format!("expected 'name: description: id,id', found '{line}'");
    let (name, rest) = line.split_once(':').ok_or_else(expected)?;
    // Split at the last colon, because a description may contain colons.
    let (description, ids) = rest.rsplit_once(':').ok_or_else(expected)?;
    let separated = ids.split([',', ' ', '\t']).filter(|id| !id.is_empty());
    let ids: Result<Vec<IdPattern>, IdError> = separated.map(str::parse).collect();
    Ok(Group {
        name: name.trim().to_owned(),
        description: description.trim().to_owned(),
        ids: ids.map_err(|error| error.to_string())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_four_with_a_zero() {
        let matches = |pattern: &str, id| pattern.parse::<IdPattern>().unwrap().matches(id);
        assert!(matches("134", 0x1340) && matches("1340", 0x1340) && matches("0ff", 0x0FF0));
        assert!(matches("1*", 0x1340) && matches("13*", 0x1345) && matches("134*", 0x1349));
        assert!(!matches("134", 0x1341) && !matches("1*", 0x2340) && !matches("134", 0x1_1340));
        assert!(matches("13", 0x1300) && matches("13", 0x1340) && matches("13", 0x13F0));
        assert!(!matches("13", 0x1341) && !matches("13", 0x1400) && !matches("13", 0x1_1340));
        assert_eq!("13".parse::<IdPattern>().unwrap().to_string(), "13");
        for bad in ["", "*", "1", "13400", "xyz", "1340*", "1**"] {
            assert!(bad.parse::<IdPattern>().is_err(), "{bad}");
        }
    }

    #[test]
    fn groups_are_lines() {
        let (found, errors) = groups("# ours\n\nproc: processes: 134,139 465\nbad\nx: y: 1\n");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].name.as_str(), found[0].ids.len()), ("proc", 3));
        assert_eq!(errors.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [4, 5]);
    }
}
