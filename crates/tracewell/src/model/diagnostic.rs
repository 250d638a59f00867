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
/// use tracewell::model::{Diagnostics, Severity};
///
/// let mut diagnostics = Diagnostics::default();
/// diagnostics.add(Severity::Damage, 64, "expected a record, found 3 bytes");
/// let diagnostic = diagnostics.iter().next().unwrap();
/// assert_eq!(diagnostic.to_string(), "damaged: at byte 64: expected a record, found 3 bytes");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How serious it is.
    pub severity: Severity,
    /// The name of a file, if the diagnostic concerns a file that the user gave in addition to the
    /// source, or one of several files that were joined.
    pub file: Option<String>,
    /// Offset in the source in bytes, if the diagnostic concerns one position.
    pub offset: Option<u64>,
    /// The message, without the severity and the place.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}{}", self.severity.as_str(), self.place(), self.message)
    }
}

impl Diagnostic {
    /// Returns the message. If the diagnostic concerns another file, the result begins with the
    /// name of that file.
    pub fn message_with_file(&self) -> String {
        match &self.file {
            Some(file) => format!("{file}: {}", self.message),
            None => self.message.clone(),
        }
    }

    /// Returns the text that precedes the message: the name of the file, the offset, or nothing.
    pub fn place(&self) -> String {
        match (&self.file, self.offset) {
            (Some(file), _) => format!("{file}: "),
            (None, Some(offset)) => format!("at byte {offset}: "),
            (None, None) => String::new(),
        }
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
    /// Maximum number of diagnostics that are kept. Without the limit, hostile input could fill the
    /// memory.
    pub const KEPT: usize = 100;

    /// Adds a diagnostic. `offset` is `None` if the diagnostic concerns the whole input.
    pub fn add(
        &mut self,
        severity: Severity,
        offset: impl Into<Option<u64>>,
        message: impl Into<String>,
    ) {
        // Diagnostics that are not kept also count towards the worst severity.
        self.add_with(severity, offset, || message.into());
    }

    /// Adds a diagnostic about a file other than the input.
    pub fn add_about(&mut self, file: &str, severity: Severity, message: impl Into<String>) {
        self.push(severity, || Diagnostic {
            severity,
            file: Some(file.to_owned()),
            offset: None,
            message: message.into(),
        });
    }

    /// Adds a diagnostic. The function calls `message` only if it keeps the diagnostic.
    pub fn add_with(
        &mut self,
        severity: Severity,
        offset: impl Into<Option<u64>>,
        message: impl FnOnce() -> String,
    ) {
        self.push(severity, || Diagnostic {
            severity,
            file: None,
            offset: offset.into(),
            message: message(),
        });
    }

    fn push(&mut self, severity: Severity, diagnostic: impl FnOnce() -> Diagnostic) {
        self.worst = self.worst.max(Some(severity));
        if self.list.len() < Self::KEPT {
            self.list.push(diagnostic());
        } else {
            self.more += 1;
        }
    }

    /// Appends the diagnostics of a later step to the diagnostics of this step.
    pub fn append(&mut self, later: Self) {
        for diagnostic in later.list {
            self.push(diagnostic.severity, || diagnostic);
        }
        self.worst = self.worst.max(later.worst);
        self.more += later.more;
    }

    /// Appends the diagnostics about one of several files that were joined. `start` is the offset
    /// of the file in the source. Diagnostics without an offset get the name of the file.
    pub(crate) fn append_of_file(&mut self, mut later: Self, start: u64, name: &str) {
        for diagnostic in &mut later.list {
            match &mut diagnostic.offset {
                Some(offset) => *offset += start,
                None => diagnostic.file = Some(name.to_owned()),
            }
        }
        self.append(later);
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
