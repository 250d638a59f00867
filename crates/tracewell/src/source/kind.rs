//! Rejects bytes that are not text. So if a user passes a picture or a program as a template, the
//! user gets one message instead of many.

/// Error for bytes that are not text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotText {
    /// The bytes begin with the byte order mark of UTF-16.
    #[error("expected UTF-8, found UTF-16: save the file as UTF-8")]
    Utf16,
    /// Some of the bytes do not occur in text.
    #[error("not a text file: at byte {offset}: found byte {byte:02X}")]
    Binary {
        /// Offset of the first such byte.
        offset: usize,
        /// Value of that byte.
        byte: u8,
    },
}

/// Number of bytes that are checked for control bytes. The whole file is checked for zeros.
const LOOKED_AT: usize = 64 * 1024;

/// A text may have at most one control byte per this number of bytes. Old files contain a few
/// control bytes.
const MAX_CONTROL_SHARE: usize = 16;

/// Returns an error if the bytes contain a zero or many control bytes, or begin with the byte order
/// mark of UTF-16. Accepts encodings other than UTF-8, because old files use them.
///
/// # Examples
///
/// ```
/// use tracewell::source::{NotText, check_text};
///
/// assert_eq!(check_text(b"never QUE_FULL\n"), Ok(()));
/// assert_eq!(check_text(b"\x89PNG\x00"), Err(NotText::Binary { offset: 4, byte: 0 }));
/// ```
///
/// # Errors
/// Returns [`NotText::Utf16`], or the offset and the value of the first zero or control byte.
pub fn check_text(bytes: &[u8]) -> Result<(), NotText> {
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return Err(NotText::Utf16);
    }
    if let Some(offset) = bytes.iter().position(|byte| *byte == 0) {
        return Err(NotText::Binary { offset, byte: 0 });
    }
    let control =
        |byte: u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0C);
    let start = &bytes[..bytes.len().min(LOOKED_AT)];
    let controls = start.iter().filter(|byte| control(**byte)).count();
    let first = start.iter().position(|byte| control(*byte));
    match first {
        Some(offset) if controls > start.len() / MAX_CONTROL_SHARE => {
            Err(NotText::Binary { offset, byte: start[offset] })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_passes_and_other_bytes_are_reported_once() {
        for text in [&b""[..], b"0AA 1.0 \"a\"\r\n", b"caf\xE9\n", "gr\u{f6}\u{df}e".as_bytes()] {
            assert_eq!(check_text(text), Ok(()), "{text:?}");
        }
        let jpeg = b"\xFF\xD8\xFF\xE0\x00\x10JFIF\x00";
        assert_eq!(check_text(jpeg), Err(NotText::Binary { offset: 4, byte: 0 }));
        assert_eq!(check_text(&[b'a', 1, 2]), Err(NotText::Binary { offset: 1, byte: 1 }));
        assert_eq!(check_text(b"\xFF\xFE0\x00"), Err(NotText::Utf16));
    }
}
