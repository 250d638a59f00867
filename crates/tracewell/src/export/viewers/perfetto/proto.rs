//! Writes messages in the wire format of Protocol Buffers.
//!
//! | wire type | content | written by |
//! |---|---|---|
//! | 0 | varint: 7 bits in each byte, the lowest first | [`Message::number`], [`Message::signed`] |
//! | 1 | 8 bytes, little-endian | [`Message::fixed`], [`Message::double`] |
//! | 2 | a length as varint, then that many bytes | [`Message::text`], [`Message::message`] |
//!
//! Source: the encoding specification of Protocol Buffers.

use tracewell_wire::number;

/// Maximum length of a string in bytes. A longer string is cut and ends with `…`.
const MAX_TEXT: usize = 1 << 16;

/// The bytes of a message.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn varint(&mut self, value: u64) {
        self.0.extend_from_slice(&number::encode(value));
    }

    fn tag(&mut self, field: u32, wire_type: u32) {
        self.varint(u64::from(field << 3 | wire_type));
    }

    /// Adds a field of an unsigned or an enumeration type, or of the type bool.
    pub(super) fn number(&mut self, field: u32, value: impl Into<u64>) {
        self.tag(field, 0);
        self.varint(value.into());
    }

    /// Adds a field of the type int32 or int64. A negative value needs ten bytes.
    pub(super) fn signed(&mut self, field: u32, value: i64) {
        self.number(field, value as u64);
    }

    /// Adds a field of the type fixed64.
    pub(super) fn fixed(&mut self, field: u32, value: u64) {
        self.tag(field, 1);
        self.0.extend(value.to_le_bytes());
    }

    /// Adds a field of the type double.
    pub(super) fn double(&mut self, field: u32, value: f64) {
        self.fixed(field, value.to_bits());
    }

    /// Adds a field of the type string.
    pub(super) fn text(&mut self, field: u32, text: &str) {
        self.tag(field, 2);
        if text.len() <= MAX_TEXT {
            self.varint(text.len() as u64);
            return self.0.extend(text.as_bytes());
        }
        let end = (0..=MAX_TEXT).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        self.varint((end + '…'.len_utf8()) as u64);
        self.0.extend(&text.as_bytes()[..end]);
        self.0.extend("…".bytes());
    }

    /// Adds the beginning of a field whose content has `length` bytes.
    pub(super) fn header(&mut self, field: u32, length: usize) {
        self.tag(field, 2);
        self.varint(length as u64);
    }

    /// Adds a message as a field.
    pub(super) fn message(&mut self, field: u32, build: impl FnOnce(&mut Self)) {
        self.tag(field, 2);
        let start = self.0.len();
        build(self);
        let length = self.0.len() - start;
        // The length precedes the content, but is known only after the content was written.
        self.varint(length as u64);
        let digits = self.0.len() - start - length;
        self.0[start..].rotate_right(digits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples come from the encoding specification.
    #[test]
    fn messages_have_the_specified_bytes() {
        let mut message = Message::default();
        message.number(1, 150_u64);
        assert_eq!(message.bytes(), [0x08, 0x96, 0x01]);
        message.clear();
        message.text(2, "testing");
        assert_eq!(message.bytes(), b"\x12\x07testing");
        message.clear();
        message.message(3, |inner| inner.number(1, 150_u64));
        assert_eq!(message.bytes(), [0x1A, 0x03, 0x08, 0x96, 0x01]);
        message.clear();
        message.signed(1, -2);
        assert_eq!(message.bytes(), [8, 0xFE, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
    }

    #[test]
    fn long_contents_have_long_lengths_and_too_long_texts_are_cut() {
        let mut message = Message::default();
        message.message(1, |inner| inner.text(2, &"a".repeat(300)));
        assert_eq!(message.bytes()[..6], [0x0A, 0xAF, 0x02, 0x12, 0xAC, 0x02]);
        message.clear();
        message.text(1, &"ä".repeat(MAX_TEXT));
        assert!(message.bytes().ends_with("ä…".as_bytes()));
        assert_eq!(message.bytes().len(), MAX_TEXT + 3 + 4);
    }
}
