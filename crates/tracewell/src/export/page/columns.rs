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
//! | `deltas` | for each value, twice its distance from the previous value, plus 1 if the value is smaller; in groups of 7 bits as above |
//! | `bytes` | bytes as they are |

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};
use tracewell_wire::number;

/// All numbers below this limit are exact in a 64-bit floating-point value.
const WIDE: u64 = 1 << 53;

/// A column that is being filled.
#[derive(Debug, Default)]
pub(super) struct Column {
    /// The encoded values, and room for a further value.
    bytes: Vec<u8>,
    /// Number of bytes of the encoded values.
    length: usize,
    count: u64,
    last: u64,
    wide: bool,
}

impl Column {
    /// Appends a value to a column of `numbers`.
    pub(super) fn number(&mut self, value: u64) {
        self.count += 1;
        self.wide |= value >= WIDE;
        self.put(value);
    }

    /// Appends a value to a column of `deltas`.
    pub(super) fn delta(&mut self, value: u64) {
        self.count += 1;
        self.wide |= value >= WIDE;
        let is_less = value < self.last;
        let magnitude = value.abs_diff(self.last);
        if magnitude < 1 << 55 {
            self.put(magnitude << 1 | u64::from(is_less));
        } else {
            // With its sign, the number can need 65 bits, so write the first byte here.
            self.make_room();
            self.bytes[self.length] = (magnitude << 1) as u8 | u8::from(is_less) | 0x80;
            self.length += 1;
            self.put(magnitude >> 6);
        }
        self.last = value;
    }

    /// Appends a number in groups of 7 bits.
    #[inline]
    fn put(&mut self, value: u64) {
        self.make_room();
        let free = &mut self.bytes[self.length..];
        // In many columns, all values are small.
        if value < 0x80 {
            free[0] = value as u8;
            self.length += 1;
            return;
        }
        if value >= 1 << 56 {
            let number = number::encode(value);
            free[..number.len()].copy_from_slice(&number);
            self.length += number.len();
            return;
        }
        // Divide the number into groups of 28, 14 and 7 bits, and write eight bytes at once.
        let halves = value & 0x0FFF_FFFF | (value & 0x00FF_FFFF_F000_0000) << 4;
        let fours = halves & 0x0000_3FFF_0000_3FFF | (halves & 0x0FFF_C000_0FFF_C000) << 2;
        let groups = fours & 0x007F_007F_007F_007F | (fours & 0x3F80_3F80_3F80_3F80) << 1;
        let others = (63 - (value | 1).leading_zeros()) / 7;
        let continues = 0x8080_8080_8080_8080 & ((1_u64 << (8 * others)) - 1);
        free[..8].copy_from_slice(&(groups | continues).to_le_bytes());
        self.length += others as usize + 1;
    }

    /// Makes room for the longest number, and for one byte before it.
    #[inline]
    fn make_room(&mut self) {
        if self.bytes.len() < self.length + number::MAX_NUMBER + 1 {
            self.bytes.resize(2 * self.bytes.len() + 64, 0);
        }
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
        let (count, length) = (bytes.len() as u64, bytes.len());
        self.add(name, "bytes", Column { bytes, length, count, ..Column::default() });
    }

    /// Adds the columns of another list.
    pub(super) fn append(&mut self, mut other: Self) {
        self.list.append(&mut other.list);
        self.content.append(&mut other.content);
    }

    fn add(&mut self, name: &str, form: &str, column: Column) {
        let Column { mut bytes, length, count, wide, .. } = column;
        bytes.truncate(length);
        self.list.push(json!({
            "name": name, "form": form, "count": count, "bytes": bytes.len(), "wide": wide,
        }));
        self.content.push(bytes);
    }

    /// Adds the member `columns` to the header, and returns the payload with this header. The
    /// payload has the zlib format, even if it is not compressed.
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
