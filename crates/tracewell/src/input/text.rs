//! Extracts the trace from a memory image that is encoded as text.
//!
//! [`super::image`] decodes the text. This module selects the segment with the trace and reports
//! the faults that the decoder found.

use std::path::Path;

use super::content::{Content, RECOGNISED_BY};
use super::error::InputError;
use super::image;
use super::map::Bytes;
use crate::format;
use crate::model::{Diagnostics, Severity};

/// Returns the memory image that a text encodes. Returns other content unchanged. The content must
/// not begin with a known binary format.
pub(super) fn decoded(
    path: &Path,
    content: Content,
    remarks: &mut Diagnostics,
) -> Result<Content, InputError> {
    let Some(encoding) = image::recognise(content.start()) else { return Ok(content) };
    let text = content.into_bytes(path, remarks)?;
    // If the text is damaged, list its faults and use the bytes that could be decoded.
    let decoded = encoding.decode(&text);
    remarks.add(Severity::Note, None, format!("decoded from {}", encoding.name()));
    remarks.append(decoded.diagnostics);
    let segment = trace_segment(decoded.image, remarks);
    Ok(Content::Whole(Bytes::Owned(segment)))
}

/// Returns the first segment in which a format is recognised. If no segment has a known format,
/// returns the first segment.
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
    // The other segments are not needed, so `swap_remove` may change their order.
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
