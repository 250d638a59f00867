//! Refuses bytes that are no text: a picture or a program that is given as a template is told so once, and not taken for
//! a text with an error in each byte.

/// Bytes are no text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotText {
    /// They begin as UTF-16 does.
    #[error("expected a text in UTF-8, found one in UTF-16: save it as UTF-8")]
    Utf16,
    /// There are bytes that no text has.
    #[error("not a text file: at byte {offset}: found byte {byte:02X}")]
    Binary {
        /// Where the first of them is.
        offset: usize,
        /// What it is.
        byte: u8,
    },
}

/// How much of a file is looked at for more than zeros.
const LOOKED_AT: usize = 64 * 1024;

/// One in so many bytes may be a control byte: old files have a few of them.
const MAX_CONTROL_SHARE: usize = 16;

/// Returns an error if bytes are no text: a zero is in them, or many control bytes. Other encodings of letters than UTF-8
/// pass, for old files have them.
///
/// # Errors
/// Where the first such byte is.
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
    fn texts_pass_and_others_are_told_once() {
        for text in [&b""[..], b"0AA 1.0 \"a\"\r\n", b"caf\xE9\n", "gr\u{f6}\u{df}e".as_bytes()] {
            assert_eq!(check_text(text), Ok(()), "{text:?}");
        }
        let jpeg = b"\xFF\xD8\xFF\xE0\x00\x10JFIF\x00";
        assert_eq!(check_text(jpeg), Err(NotText::Binary { offset: 4, byte: 0 }));
        assert_eq!(check_text(&[b'a', 1, 2]), Err(NotText::Binary { offset: 1, byte: 1 }));
        assert_eq!(check_text(b"\xFF\xFE0\x00"), Err(NotText::Utf16));
    }
}
