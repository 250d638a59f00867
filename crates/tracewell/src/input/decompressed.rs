//! Decompresses inputs. The compressions are in [`crate::compressed`].

use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use super::content::{Content, Faulty, Rest, first};
use super::error::InputError;
use super::map::Bytes;
use crate::compressed::reader::Decompressor;
use crate::compressed::{Compression, lzw};
use crate::format::{self, Confidence};
use crate::model::{Diagnostics, Severity};

/// Decompresses an input if its first bytes are those of a compressed file. Returns any other
/// content unchanged.
///
/// Offsets in later messages count from the first decompressed byte. A remark in the trace states
/// this.
///
/// # Errors
/// Returns an error if reading fails, if nothing can be decompressed, or if a `.Z` file is damaged
/// or too large.
pub(super) fn decompressed(
    path: &Path,
    content: Content,
    remarks: &mut Diagnostics,
) -> Result<Content, InputError> {
    let is_z = lzw::is_compressed(content.start());
    let (name, content) = match Compression::recognise(content.start()) {
        Some(compression) => (compression.name(), begin(path, compression, content)?),
        None if is_z => {
            let bytes = lzw::decompress(&content.into_bytes(path, remarks)?);
            let bytes = bytes.map_err(|error| invalid(path, error.to_string()))?;
            (".Z", Content::Whole(Bytes::Owned(bytes)))
        }
        None => return Ok(content),
    };
    let message =
        format!("decompressed ({name}): byte offsets count from the first decompressed byte");
    remarks.add(Severity::Note, None, message);
    Ok(content)
}

/// Decompresses the start of an input.
fn begin(path: &Path, compression: Compression, content: Content) -> Result<Content, InputError> {
    let is_known = |start: &[u8]| format::recognise_with(start, Confidence::Certain).is_some();
    let io = |source| InputError::io(path, source);
    let (content, faults) = match content {
        Content::Whole(file) => {
            let mut reader = Decompressor::new(compression, &*file);
            let start = first(&mut reader, is_known).map_err(io)?;
            let faults = reader.faults();
            (Content::Compressed { start, compression, file }, faults)
        }
        Content::Stream { start, rest: Rest::Plain(rest) } => {
            let source = BufReader::new(Cursor::new(start).chain(rest));
            let mut reader = Box::new(Decompressor::new(compression, source));
            let start = first(&mut reader, is_known).map_err(io)?;
            // If bytes were decompressed before a fault, the reader reports the fault later, when
            // the stream is read.
            let faults = if start.is_empty() { reader.faults() } else { Vec::new() };
            (Content::Stream { start, rest: Rest::Compressed(reader) }, faults)
        }
        other => return Ok(other),
    };
    match faults.first() {
        Some(fault) if content.start().is_empty() => Err(invalid(path, fault.to_string())),
        _ => Ok(content),
    }
}

fn invalid(path: &Path, message: String) -> InputError {
    InputError::io(path, io::Error::new(io::ErrorKind::InvalidData, message))
}
