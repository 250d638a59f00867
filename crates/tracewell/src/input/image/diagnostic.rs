//! What is wrong with a text, where, and how much of it: a bounded list.
//!
//! Not here: the faults' wording, which stands beside the code that finds them.

use core::fmt;

/// Whether bytes were lost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Everything was read, but something in the text contradicts it.
    Warning,
    /// Some bytes of the text could not be used.
    Error,
}

/// Kinds of faults in a text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cause {
    /// A character that cannot stand where it stands.
    Character,
    /// A record that ends before its announced length, or too short for its type.
    Length,
    /// A record type that the encoding does not have.
    RecordType,
    /// A checksum that does not fit the record's bytes; they are used all the same.
    Checksum,
    /// A count record that does not agree with the number of records read.
    Count,
    /// Text behind a record's or the image's end; it is not used.
    Trailing,
    /// The text stops without the record that ends an image; it may be cut.
    MissingEnd,
    /// An address that gets a second, different value; the later one is used.
    Conflict,
}

impl Cause {
    /// Every cause there is.
    pub const ALL: [Self; 8] = [
        Self::Character,
        Self::Length,
        Self::RecordType,
        Self::Checksum,
        Self::Count,
        Self::Trailing,
        Self::MissingEnd,
        Self::Conflict,
    ];

    /// Errors lose bytes, warnings do not.
    pub const fn severity(self) -> Severity {
        match self {
            Self::Character | Self::Length | Self::RecordType => Severity::Error,
            Self::Checksum | Self::Count | Self::Trailing | Self::MissingEnd | Self::Conflict => {
                Severity::Warning
            }
        }
    }
}

/// A place in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) column: u64,
    pub(super) offset: usize,
}

/// One fault in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextDiagnostic {
    /// Line, the first one being 1.
    pub line: u64,
    /// Column in bytes, the first one being 1.
    pub column: u64,
    /// Byte offset from the start of the text; the text's length where its end is at fault.
    pub offset: usize,
    /// Kind of fault.
    pub cause: Cause,
    /// What was expected, what was found and what was done about it, in one sentence without a
    /// full stop.
    pub message: String,
}

impl TextDiagnostic {
    /// Whether bytes were lost.
    pub const fn severity(&self) -> Severity {
        self.cause.severity()
    }
}

impl fmt::Display for TextDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

/// The faults of one text: the first [`Diagnostics::LISTED_PER_CAUSE`] of each cause with place
/// and wording, the others as a number.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Diagnostics {
    listed: Vec<TextDiagnostic>,
    counts: [u64; Cause::ALL.len()],
}

impl Diagnostics {
    /// How many faults of one cause are listed before the rest is only counted.
    pub const LISTED_PER_CAUSE: u64 = 100;

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// The listed faults, in the order in which they were found.
    pub fn listed(&self) -> &[TextDiagnostic] {
        &self.listed
    }

    /// How many faults of this cause there are, listed or not.
    pub fn count(&self, cause: Cause) -> u64 {
        self.counts[cause as usize]
    }

    /// How many faults of this cause are not listed.
    pub fn unlisted(&self, cause: Cause) -> u64 {
        self.count(cause).saturating_sub(Self::LISTED_PER_CAUSE)
    }

    /// Takes note of a fault; the wording is asked for only where it will be listed.
    pub(super) fn report(&mut self, cause: Cause, at: Place, message: impl FnOnce() -> String) {
        let count = &mut self.counts[cause as usize];
        *count += 1;
        if *count <= Self::LISTED_PER_CAUSE {
            let Place { line, column, offset } = at;
            self.listed.push(TextDiagnostic { line, column, offset, cause, message: message() });
        }
    }
}

/// A byte of the text as a message shows it.
pub(super) fn shown(byte: u8) -> String {
    if byte.is_ascii_graphic() || byte == b' ' {
        format!("'{}'", char::from(byte))
    } else {
        format!("byte 0x{byte:02X}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_beyond_the_hundredth_of_a_cause_are_only_counted() {
        let mut diagnostics = Diagnostics::default();
        let at = Place { line: 1, column: 1, offset: 0 };
        for _ in 0..250 {
            diagnostics.report(Cause::Checksum, at, String::new);
        }
        diagnostics.report(Cause::Length, at, String::new);
        assert_eq!(diagnostics.listed().len(), 101);
        assert_eq!(diagnostics.count(Cause::Checksum), 250);
        assert_eq!(diagnostics.unlisted(Cause::Checksum), 150);
        assert_eq!(diagnostics.unlisted(Cause::Length), 0);
    }

    #[test]
    fn every_cause_has_its_own_counter() {
        for (index, cause) in Cause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, index);
        }
    }

    #[test]
    fn a_byte_that_cannot_be_printed_is_shown_by_number() {
        assert_eq!(shown(b'x'), "'x'");
        assert_eq!(shown(0x1B), "byte 0x1B");
        assert_eq!(shown(0xC3), "byte 0xC3");
    }
}
