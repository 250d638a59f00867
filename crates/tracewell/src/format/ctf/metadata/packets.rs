//! Reads metadata in packets. Each packet is a header of 37 bytes and a part of the CTF 1.8 text.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | magic number `0x75D11D57`; its byte order is that of the other fields |
//! | 4 | 16 | UUID of the trace |
//! | 20 | 4 | checksum, ignored |
//! | 24 | 4 | length of the content in bits, with the header |
//! | 28 | 4 | length of the packet in bits, with the header and padding |
//! | 32 | 1 each | compression, encryption, checksum scheme (0), major (1) and minor (8) version |

use tracewell_wire::ByteOrder;

use super::{MetadataError, trimmed};

/// Magic number of each packet of metadata.
const MAGIC: u32 = 0x75D1_1D57;

/// Length of the header in bytes.
const HEADER_LEN: usize = 37;

/// Returns the byte order of metadata in packets, or `None` if the metadata is not in packets.
pub(super) fn byte_order(bytes: &[u8]) -> Option<ByteOrder> {
    let magic = bytes.first_chunk()?;
    match (u32::from_le_bytes(*magic), u32::from_be_bytes(*magic)) {
        (MAGIC, _) => Some(ByteOrder::Little),
        (_, MAGIC) => Some(ByteOrder::Big),
        _ => None,
    }
}

/// Returns the joined text of all packets.
///
/// # Errors
/// Returns the offset of the first packet whose header is invalid or whose UUID differs from that
/// of the first packet.
pub(super) fn text(bytes: &[u8], order: ByteOrder) -> Result<Vec<u8>, MetadataError> {
    let mut text = Vec::new();
    let mut offset = 0;
    while offset < bytes.len() {
        let packet = &bytes[offset..];
        let sizes = header(packet, &bytes[4.min(bytes.len())..], order);
        let (content, size) = sizes.map_err(|message| MetadataError {
            offset,
            line: 1,
            column: 1,
            message: format!("metadata packet at byte {offset}: {message}"),
        })?;
        text.extend_from_slice(trimmed(&packet[HEADER_LEN..content]));
        offset += size;
    }
    Ok(text)
}

/// Checks the header of the packet at the start of `bytes`. Returns the length of the header and
/// content, and the length of the whole packet, both in bytes. `first` begins with the UUID of the
/// first packet.
fn header(bytes: &[u8], first: &[u8], order: ByteOrder) -> Result<(usize, usize), String> {
    let Some(header) = bytes.first_chunk::<HEADER_LEN>() else {
        return Err(format!("expected a header of {HEADER_LEN} bytes, found {}", bytes.len()));
    };
    let word = |at: usize| order.u32([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let (magic, content, size) = (word(0), word(24), word(28));
    let available = bytes.len() as u64 * 8;
    if magic != MAGIC {
        return Err(format!("expected magic number {MAGIC:#010X}, found {magic:#010X}"));
    }
    if header[4..20] != first[..16] {
        return Err("expected the UUID of the first packet, found another".to_owned());
    }
    if header[32..35] != [0, 0, 0] {
        let [compression, encryption, checksum] = [header[32], header[33], header[34]];
        return Err(format!(
            "expected compression, encryption and checksum 0, \
             found {compression}, {encryption} and {checksum}"
        ));
    }
    if header[35..37] != [1, 8] {
        return Err(format!("expected version 1.8, found {}.{}", header[35], header[36]));
    }
    if !content.is_multiple_of(8) || !size.is_multiple_of(8) {
        return Err(format!("expected sizes in whole bytes, found {content} and {size} bits"));
    }
    if (content as usize) < HEADER_LEN * 8 || content > size || u64::from(size) > available {
        return Err(format!(
            "expected a content of at least {} bits in a packet of at most {available} bits, \
             found {content} in {size}",
            HEADER_LEN * 8
        ));
    }
    Ok((content as usize / 8, size as usize / 8))
}
