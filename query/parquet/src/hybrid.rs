//! The encoding `RLE` of Parquet, for indices of dictionaries and for definition levels: runs of
//! equal values, and groups of eight values as bits. `Encodings.md` of `apache/parquet-format`
//! describes it.

use crate::bits::{put_packed, put_varint};

/// Minimum number of groups of eight equal values that become a run. A shorter run would hardly be
/// shorter than the same values as bits.
const MIN_RUN: usize = 4;

/// Appends indices with `width` bits each.
pub(crate) fn put_indices(indices: &[u32], width: u32, out: &mut Vec<u8>) {
    let Some(first) = indices.first() else { return };
    if indices.iter().all(|index| index == first) {
        return put_run(*first, indices.len(), width, out);
    }
    let (groups, rest) = indices.as_chunks::<8>();
    let (mut written, mut next) = (0, 0);
    while next < groups.len() {
        let first = groups[next][0];
        let is_equal = |group: &&[u32; 8]| group.iter().all(|index| *index == first);
        let run = groups[next..].iter().take_while(is_equal).count();
        if run >= MIN_RUN {
            put_groups(&groups[written..next], &[], width, out);
            put_run(first, 8 * run, width, out);
            written = next + run;
        }
        next += run.max(1);
    }
    put_groups(&groups[written..], rest, width, out);
}

/// Appends one definition level per row: 1 if the row has a value. `valid` contains one bit per
/// row, and zeros after the last row.
pub(crate) fn put_levels(valid: &[u8], rows: usize, out: &mut Vec<u8>) {
    let whole = rows / 64 * 8;
    let (words, _) = valid[..whole].as_chunks::<8>();
    let (mut written, mut next) = (0, 0);
    while next < words.len() {
        let first = u64::from_le_bytes(words[next]);
        let level = first as u32 & 1;
        let run = match first {
            0 | u64::MAX => words[next..].iter().take_while(|word| **word == words[next]).count(),
            _ => 0,
        };
        if run > 0 {
            put_bytes(&valid[8 * written..8 * next], out);
            put_run(level, 64 * run, 1, out);
            written = next + run;
        }
        next += run.max(1);
    }
    put_bytes(&valid[8 * written..rows.div_ceil(8)], out);
}

/// Appends a run of equal values.
pub(crate) fn put_run(value: u32, count: usize, width: u32, out: &mut Vec<u8>) {
    put_varint((count as u64) << 1, out);
    out.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
}

/// Appends whole groups of values, and the last values, as bits.
fn put_groups(groups: &[[u32; 8]], rest: &[u32], width: u32, out: &mut Vec<u8>) {
    let count = groups.len() + usize::from(!rest.is_empty());
    if count == 0 {
        return;
    }
    put_varint((count as u64) << 1 | 1, out);
    let end = out.len() + count * width as usize;
    let values = groups.as_flattened().iter().chain(rest);
    put_packed(values.map(|value| u64::from(*value)), width, out);
    out.resize(end, 0);
}

/// Appends groups of eight levels, which are bits already.
fn put_bytes(groups: &[u8], out: &mut Vec<u8>) {
    if !groups.is_empty() {
        put_varint((groups.len() as u64) << 1 | 1, out);
        out.extend_from_slice(groups);
    }
}
