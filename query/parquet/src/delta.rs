//! The encoding `DELTA_BINARY_PACKED` of Parquet: differences between successive numbers, in blocks
//! with a common minimum. `Encodings.md` of `apache/parquet-format` describes it.

use crate::bits::{put_packed, put_varint, put_zigzag, width_of};
use crate::number::Shape;

/// Number of differences in a block.
const BLOCK: usize = 128;
/// Number of differences in a part of a block. Each part has its own number of bits.
const PART: usize = 32;

/// Appends numbers.
pub(crate) fn put_numbers(numbers: &[u64], shape: Shape, out: &mut Vec<u8>) {
    put_varint(BLOCK as u64, out);
    put_varint((BLOCK / PART) as u64, out);
    put_varint(numbers.len() as u64, out);
    put_zigzag(numbers.first().map_or(0, |first| shape.signed(*first)), out);
    let mut deltas = [0; BLOCK];
    let mut start = 0;
    while start + 1 < numbers.len() {
        let end = (start + BLOCK).min(numbers.len() - 1);
        let pairs = numbers[start..end].iter().zip(&numbers[start + 1..=end]);
        let mut min = i64::MAX;
        for ((before, number), delta) in pairs.zip(&mut deltas) {
            *delta = shape.signed(number.wrapping_sub(*before));
            min = min.min(*delta);
        }
        put_block(&deltas[..end - start], min, out);
        start = end;
    }
}

fn put_block(deltas: &[i64], min: i64, out: &mut Vec<u8>) {
    put_zigzag(min, out);
    let widths = out.len();
    out.resize(widths + BLOCK / PART, 0);
    for (part, deltas) in deltas.chunks(PART).enumerate() {
        let above = |delta: &i64| delta.wrapping_sub(min) as u64;
        let width = width_of(deltas.iter().map(above).fold(0, |all, delta| all | delta));
        out[widths + part] = width as u8;
        let end = out.len() + PART / 8 * width as usize;
        put_packed(deltas.iter().map(above), width, out);
        out.resize(end, 0);
    }
}
