//! Reads the metadata of a CTF trace, in both languages, into its [`Metadata`].
//!
//! Recognises the language, joins packets, and converts positions to lines and columns. The folders
//! `tsdl` and `json` parse the languages; `place` resolves the references between fields.

mod empty;
mod lookup;
mod packets;
mod place;
mod roles;

use std::borrow::Cow;

use super::classes::Metadata;
use super::declared::fault::{Fault, Log};
pub use super::declared::limits::{
    MAX_ALIGNMENT, MAX_DEPTH, MAX_FIELDS, MAX_LEN, MAX_MAPPINGS, MAX_WARNINGS,
};
use super::{json, tsdl};

/// Metadata and the warnings about it.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The types of the trace.
    pub metadata: Metadata,
    /// The warnings, in order of reading; at most [`MAX_WARNINGS`].
    pub warnings: Vec<Warning>,
    /// Number of warnings beyond [`MAX_WARNINGS`].
    pub further_warnings: u64,
}

/// A warning about a part of the metadata.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// Offset in bytes in the text. If the text is divided into packets, the offset is in the
    /// joined text.
    pub offset: usize,
    /// Number of the line in the text, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The message, in lower case and without a full stop.
    pub message: String,
}

/// Error for metadata that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct MetadataError {
    /// Offset in bytes in the text. If the text is divided into packets, the offset is in the
    /// joined text. If a packet of metadata is broken, this is the offset of the packet in the
    /// file.
    pub offset: usize,
    /// Number of the line in the text, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The message, in lower case and without a full stop.
    pub message: String,
}

/// Reads metadata: a file in CTF 1.8, plain or in packets, or in CTF 2.
///
/// # Examples
///
/// ```
/// use tracewell::format::ctf::metadata::read;
///
/// let text = b"/* CTF 1.8 */
/// trace { major = 1; minor = 8; byte_order = le; };
/// event { name = tick; fields := struct { integer { size = 8; } count; }; };";
/// let metadata = read(text).unwrap().metadata;
/// assert_eq!(metadata.streams[0].events[0].name.as_deref(), Some("tick"));
///
/// let error = read(b"/* CTF 1.8 */ trace { major = ; };").unwrap_err();
/// assert_eq!(error.to_string(), "1:31: expected a value, found ';'");
/// ```
///
/// # Errors
/// Returns the position of the first error, what was expected and what was found.
pub fn read(bytes: &[u8]) -> Result<Parsed, MetadataError> {
    if bytes.len() > MAX_LEN {
        let message =
            format!("expected metadata of at most {MAX_LEN} bytes, found {}", bytes.len());
        return Err(MetadataError { offset: MAX_LEN, line: 1, column: 1, message });
    }
    let text = match packets::byte_order(bytes) {
        Some(order) => Cow::Owned(packets::text(bytes, order)?),
        None => Cow::Borrowed(trimmed(bytes)),
    };
    let mut log = Log::default();
    let declared = match text.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(0x1E) => json::declared(&text, &mut log),
        _ => tsdl::declared(&text, &mut log),
    };
    let metadata = declared.and_then(|declared| place::metadata(declared, &mut log));
    let metadata = metadata.map_err(|fault| located(&text, fault))?;
    let warnings = log.warnings.into_iter().map(|fault| {
        let MetadataError { offset, line, column, message } = located(&text, fault);
        Warning { offset, line, column, message }
    });
    Ok(Parsed { metadata, warnings: warnings.collect(), further_warnings: log.further })
}

/// Returns the text without NULs at its end.
fn trimmed(text: &[u8]) -> &[u8] {
    let length = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    &text[..length]
}

/// Returns a fault with its line and column.
fn located(text: &[u8], fault: Fault) -> MetadataError {
    let offset = (fault.at as usize).min(text.len());
    let before = &text[..offset];
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    // Continuation bytes of UTF-8 do not begin a column.
    let column = 1 + before[start..].iter().filter(|byte| **byte & 0xC0 != 0x80).count();
    MetadataError { offset, line: line as u32, column: column as u32, message: fault.message }
}
