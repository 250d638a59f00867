//! From a text that encodes a memory image to the bytes of the trace in it.
//!
//! How each encoding is written down is told in [`super::image`]; here is what of it is handed on,
//! and what is said about it.

use std::io::Read;
use std::path::Path;

use super::error::InputError;
use super::map::Bytes;
use super::{Content, RECOGNISED_BY, image};
use crate::format;
use crate::model::{Diagnostics, Severity};

/// The memory image that a text encodes; anything else comes back as it was.
pub(super) fn decoded(
    path: &Path,
    content: Content,
    remarks: &mut Diagnostics,
) -> Result<Content, InputError> {
    // A dump whose first bytes are a known binary format is never taken for text.
    if format::recognise(content.start()).is_some() {
        return Ok(content);
    }
    let Some(encoding) = image::recognise(content.start()) else { return Ok(content) };
    let text = match content {
        Content::Whole(bytes) => bytes,
        Content::Stream { mut start, mut rest } => {
            rest.read_to_end(&mut start).map_err(|source| InputError::io(path, source))?;
            Bytes::Owned(start)
        }
    };
    let decoded = encoding.decode(&text);
    remarks.add(Severity::Note, None, format!("decoded from {}", encoding.name()));
    for fault in decoded.diagnostics.listed() {
        let severity = match fault.severity() {
            image::Severity::Warning => Severity::Warning,
            image::Severity::Error => Severity::Damage,
        };
        remarks.add(severity, None, fault.to_string());
    }
    let segment = trace_segment(decoded.image, remarks);
    Ok(Content::Whole(Bytes::Owned(segment)))
}

/// The bytes of the segment that a format recognises, of the first one where none is.
fn trace_segment(image: image::MemoryImage, remarks: &mut Diagnostics) -> Vec<u8> {
    let mut segments = image.into_segments();
    let known = |segment: &image::Segment| {
        let bytes = segment.bytes();
        format::recognise(bytes.get(..RECOGNISED_BY).unwrap_or(bytes)).is_some()
    };
    let found = segments.iter().position(known).unwrap_or(0);
    if segments.len() > 1 {
        let message = format!(
            "the image has {} segments far from each other; reading the one at address 0x{:X}",
            segments.len(),
            segments.get(found).map_or(0, image::Segment::address)
        );
        remarks.add(Severity::Note, None, message);
    }
    if segments.is_empty() {
        return Vec::new();
    }
    let segment = segments.swap_remove(found);
    for gap in segment.filled() {
        let message = format!(
            "the text has no bytes for the addresses 0x{:X} to 0x{:X}; they are read as zeros",
            segment.address_of(gap.start),
            segment.address_of(gap.end - 1)
        );
        remarks.add(Severity::Warning, gap.start as u64, message);
    }
    segment.into_bytes()
}
