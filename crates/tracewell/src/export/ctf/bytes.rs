//! Writes strings and sequences as bytes.

/// Appends a string and a final byte 0.
pub(super) fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    for (index, part) in text.split(|byte| *byte == 0).enumerate() {
        if index > 0 {
            out.extend(b"\\x00");
        }
        out.extend(part);
    }
    out.push(0);
}

pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length(out, bytes.len());
    out.extend(bytes);
}

pub(super) fn put_length(out: &mut Vec<u8>, length: usize) {
    // An event is shorter than 4 GiB.
    out.extend((length as u32).to_le_bytes());
}
