//! What a reader has to say about its input beside the events.

use std::fmt;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Unusual, harmless: nothing is lost.
    Note,
    /// Figures may be wrong (a clock that goes both ways, say); all events are there.
    Warning,
    /// The input is damaged: something that should be there could not be read.
    Damage,
}

impl Severity {
    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Damage => "damaged",
        }
    }
}

/// One remark about the input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Where in the source, in bytes, if it is about a place.
    pub offset: Option<u64>,
    /// What was expected and what was found, in words.
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

/// The remarks about one input: the first of them in full, all of them counted.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    more: u64,
    worst: Option<Severity>,
}

impl Diagnostics {
    /// How many remarks are kept in full, so that hostile input cannot fill memory with them.
    pub const KEPT: usize = 100;

    /// Adds a remark.
    pub fn add(
        &mut self,
        severity: Severity,
        offset: impl Into<Option<u64>>,
        message: impl Into<String>,
    ) {
        self.worst = self.worst.max(Some(severity));
        if self.list.len() < Self::KEPT {
            let (offset, message) = (offset.into(), message.into());
            self.list.push(Diagnostic { severity, offset, message });
        } else {
            self.more += 1;
        }
    }

    /// Puts the remarks of an earlier step before these.
    pub fn prepend(&mut self, earlier: &Self) {
        self.worst = self.worst.max(earlier.worst);
        self.more += earlier.more;
        let mut list = earlier.list.clone();
        list.append(&mut self.list);
        self.list = list;
    }

    /// The remarks that were kept, in the order made.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// How many were made beyond those that were kept.
    pub const fn more(&self) -> u64 {
        self.more
    }

    /// The worst severity so far.
    pub const fn worst(&self) -> Option<Severity> {
        self.worst
    }
}
