//! Diagnostics: a decoder's messages about its input.

use std::fmt;

/// How serious a diagnostic is.
///
/// ```
/// use tracewell::model::Severity;
///
/// assert!(Severity::Damage > Severity::Warning);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The input is unusual, but the events are not affected.
    Note,
    /// Another command would probably show more. The events of this input are complete.
    Hint,
    /// All events are decoded, but figures may be wrong. For example, the clock counts both up and
    /// down.
    Warning,
    /// Part of the input is damaged and was not decoded.
    Damage,
}

impl Severity {
    /// Returns the word that the output shows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Hint => "hint",
            Self::Warning => "warning",
            Self::Damage => "damaged",
        }
    }
}

/// A diagnostic about the input.
///
/// ```
/// use tracewell::model::{Diagnostic, Severity};
///
/// let message = "expected a record, found 3 bytes".to_owned();
/// let diagnostic = Diagnostic { severity: Severity::Damage, offset: Some(64), message };
/// assert_eq!(diagnostic.to_string(), "damaged: at byte 64: expected a record, found 3 bytes");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How serious it is.
    pub severity: Severity,
    /// Offset in the source in bytes, if the diagnostic concerns one position.
    pub offset: Option<u64>,
    /// The message with the expected and the found value.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.severity.as_str())?;
        if let Some(offset) = self.offset {
            write!(f, "at byte {offset}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// The diagnostics about one input. The first [`Diagnostics::KEPT`] diagnostics are kept; the
/// others are only counted.
///
/// ```
/// use tracewell::model::{Diagnostics, Severity};
///
/// let mut diagnostics = Diagnostics::default();
/// for record in 0..150 {
///     diagnostics.add(Severity::Note, record * 16, "empty record");
/// }
/// assert_eq!((diagnostics.iter().len(), diagnostics.more()), (100, 50));
/// assert_eq!(diagnostics.worst(), Some(Severity::Note));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    more: u64,
    worst: Option<Severity>,
}

impl Diagnostics {
    /// Number of diagnostics that are kept, so that hostile input cannot fill memory.
    pub const KEPT: usize = 100;

    /// Adds a diagnostic. `offset` is `None` if the diagnostic concerns the whole input.
    pub fn add(
        &mut self,
        severity: Severity,
        offset: impl Into<Option<u64>>,
        message: impl Into<String>,
    ) {
        // The severity also includes diagnostics that are not kept.
        self.add_with(severity, offset, || message.into());
    }

    /// Adds a diagnostic. The function calls `message` only if it keeps the diagnostic.
    pub fn add_with(
        &mut self,
        severity: Severity,
        offset: impl Into<Option<u64>>,
        message: impl FnOnce() -> String,
    ) {
        self.worst = self.worst.max(Some(severity));
        if self.list.len() < Self::KEPT {
            self.list.push(Diagnostic { severity, offset: offset.into(), message: message() });
        } else {
            self.more += 1;
        }
    }

    /// Appends the diagnostics of a later step to the diagnostics of this step.
    pub fn append(&mut self, later: Self) {
        for Diagnostic { severity, offset, message } in later.list {
            self.add(severity, offset, message);
        }
        self.worst = self.worst.max(later.worst);
        self.more += later.more;
    }

    /// Inserts the diagnostics of an earlier step before the diagnostics of this step.
    pub fn prepend(&mut self, earlier: &Self) {
        self.worst = self.worst.max(earlier.worst);
        self.more += earlier.more;
        let mut list = earlier.list.clone();
        list.append(&mut self.list);
        self.list = list;
    }

    /// Returns the kept diagnostics in the order in which they were added.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Returns the number of diagnostics that were not kept.
    pub const fn more(&self) -> u64 {
        self.more
    }

    /// Returns the worst severity so far.
    pub const fn worst(&self) -> Option<Severity> {
        self.worst
    }
}
