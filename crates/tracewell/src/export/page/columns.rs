//! The payload of the page: a header in JSON and columns of numbers, in one compressed block.
//!
//! Before compression (zlib) the payload is:
//!
//! | bytes | content |
//! |---|---|
//! | 4 | length of the header, little-endian |
//! | … | the header, JSON; its member `columns` lists the columns in their order |
//! | … | the columns, one after the other |
//!
//! An entry of `columns` has `name`, `form`, `count` (number of values), `bytes`, and `wide`, which
//! is true if a value needs more than 53 bits. The forms:
//!
//! | form | content |
//! |---|---|
//! | `numbers` | each value in groups of 7 bits, the lowest first; bit 7 is set if another group follows |
//! | `deltas` | each difference from the value before, as a number: twice its magnitude, plus 1 if it is negative |
//! | `bytes` | bytes as they are |

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};

use crate::analysis::stored::put_number;

/// Numbers from here on are not exact in a 64-bit floating-point value.
const WIDE: u64 = 1 << 53;

/// A column that is being filled.
#[derive(Debug, Default)]
pub(super) struct Column {
    bytes: Vec<u8>,
    count: u64,
    last: u64,
    wide: bool,
}

impl Column {
    /// Appends a value to a column of `numbers`.
    pub(super) fn number(&mut self, value: u64) {
        self.count += 1;
        self.wide |= value >= WIDE;
        put_number(value, &mut self.bytes);
    }

    /// Appends a value to a column of `deltas`.
    pub(super) fn delta(&mut self, value: u64) {
        self.count += 1;
        self.wide |= value >= WIDE;
        let is_less = value < self.last;
        let magnitude = value.abs_diff(self.last);
        // With its sign, the number can need 65 bits, which `encode` does not accept. So write the
        // first byte here.
        let (first, others) = ((magnitude << 1) as u8 & 0x7F | u8::from(is_less), magnitude >> 6);
        if others == 0 {
            self.bytes.push(first);
        } else {
            self.bytes.push(first | 0x80);
            put_number(others, &mut self.bytes);
        }
        self.last = value;
    }
}

/// All columns of a page, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    list: Vec<Value>,
    content: Vec<Vec<u8>>,
}

impl Columns {
    /// Adds a column that was filled with [`Column::number`].
    pub(super) fn numbers(&mut self, name: &str, column: Column) {
        self.add(name, "numbers", column);
    }

    /// Adds a column that was filled with [`Column::delta`].
    pub(super) fn deltas(&mut self, name: &str, column: Column) {
        self.add(name, "deltas", column);
    }

    /// Adds bytes.
    pub(super) fn bytes(&mut self, name: &str, bytes: Vec<u8>) {
        let count = bytes.len() as u64;
        self.add(name, "bytes", Column { bytes, count, ..Column::default() });
    }

    /// Adds the columns of another list.
    pub(super) fn append(&mut self, mut other: Self) {
        self.list.append(&mut other.list);
        self.content.append(&mut other.content);
    }

    fn add(&mut self, name: &str, form: &str, column: Column) {
        let Column { bytes, count, wide, .. } = column;
        self.list.push(json!({
            "name": name, "form": form, "count": count, "bytes": bytes.len(), "wide": wide,
        }));
        self.content.push(bytes);
    }

    /// Returns the payload with this header, to which it adds `columns`. The payload has the form
    /// of zlib, even without compression.
    pub(super) fn payload(
        self,
        mut header: Value,
        compression: Compression,
    ) -> io::Result<Vec<u8>> {
        header["columns"] = Value::Array(self.list);
        let header = header.to_string();
        let content: usize = self.content.iter().map(Vec::len).sum();
        // Without compression, zlib adds five bytes to each block of up to 32 KiB.
        let room = if compression == Compression::none() { content + content / 4096 } else { 0 };
        let mut encoder = ZlibEncoder::new(Vec::with_capacity(room + header.len()), compression);
        let length = u32::try_from(header.len()).map_err(io::Error::other)?;
        encoder.write_all(&length.to_le_bytes())?;
        encoder.write_all(header.as_bytes())?;
        for bytes in &self.content {
            encoder.write_all(bytes)?;
        }
        encoder.finish()
    }
}
