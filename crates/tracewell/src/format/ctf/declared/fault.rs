//! Errors and warnings about metadata: a position in the text and a message. `metadata` converts
//! positions to lines and columns.

use super::limits::MAX_WARNINGS;

/// An error or a warning at a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    /// Offset in the text. Metadata is shorter than 2^32 bytes.
    pub at: u32,
    /// The message, in lower case and without a full stop.
    pub message: String,
    /// True if the text ends too early.
    pub is_end: bool,
}

/// Creates a fault at a position.
pub(crate) fn fault(at: u32, message: impl Into<String>) -> Fault {
    Fault { at, message: message.into(), is_end: false }
}

/// Collects warnings.
#[derive(Default)]
pub(crate) struct Log {
    /// The first warnings, up to the limit.
    pub warnings: Vec<Fault>,
    /// Number of warnings that were not kept.
    pub further: u64,
    /// True if the log already contains the warning about a draft of CTF 2.
    is_draft: bool,
}

impl Log {
    /// Adds a warning.
    pub(crate) fn warn(&mut self, at: u32, message: impl FnOnce() -> String) {
        match self.warnings.len() < MAX_WARNINGS {
            true => self.warnings.push(fault(at, message())),
            false => self.further += 1,
        }
    }

    /// At the first call, adds a warning that the metadata contains words of a draft of CTF 2.
    pub(crate) fn warn_draft(&mut self, at: u32) {
        if !std::mem::replace(&mut self.is_draft, true) {
            self.warn(at, || {
                "words of a draft of CTF 2, read like the words of the final version".to_owned()
            });
        }
    }
}
