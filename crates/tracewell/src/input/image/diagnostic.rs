//! Reports the faults of a text, with line and column.
//!
//! A fault is damage if bytes are lost, otherwise a warning. The code that finds a fault supplies
//! the message.

use crate::model::{Diagnostics, Severity};

/// A position in a text. Lines and columns are counted from 1. A column is one byte wide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) column: u64,
}

/// Adds a fault. `message` is called only if the fault is kept, because a large file in another
/// format has millions of faults.
pub(super) fn report(
    diagnostics: &mut Diagnostics,
    severity: Severity,
    at: Place,
    message: impl FnOnce() -> String,
) {
    let Place { line, column } = at;
    let message = || format!("line {line}, column {column}: {}", message());
    diagnostics.add_with(severity, None, message);
}

/// Returns a byte of the text as it is shown in messages.
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
    fn the_message_of_a_fault_that_is_only_counted_is_not_made() {
        let mut diagnostics = Diagnostics::default();
        let at = Place { line: 2, column: 7 };
        let mut made = 0;
        for _ in 0..250 {
            report(&mut diagnostics, Severity::Warning, at, || {
                made += 1;
                "odd".to_owned()
            });
        }
        assert_eq!((diagnostics.iter().len(), diagnostics.more(), made), (100, 150, 100));
        assert_eq!(diagnostics.iter().next().unwrap().message, "line 2, column 7: odd");
    }

    #[test]
    fn a_byte_that_cannot_be_printed_is_shown_by_number() {
        assert_eq!(shown(b'x'), "'x'");
        assert_eq!(shown(0x1B), "byte 0x1B");
        assert_eq!(shown(0xC3), "byte 0xC3");
    }
}
