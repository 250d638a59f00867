//! The format of `compress(1)`: `.Z` files, such as AIX's `/etc/trcfmt.Z`.
//!
//! | byte | content |
//! |---|---|
//! | 0, 1 | 1F 9D |
//! |2 | bits 0-4: maximum number of bits per code, 9 to 16; bit 7: code 256 clears the table |
//! | 3... | codes, least significant bit first |
//!
//! The algorithm is LZW (T. Welch, "A Technique for High-Performance Data Compression", 1984).
//! Codes begin with 9 bits and grow with the table. They are written in groups of eight; when the
//! width changes, the rest of the group is unused.

use std::collections::HashMap;

use foldhash::fast::RandomState;

const MAGIC: [u8; 2] = [0x1F, 0x9D];
const CLEARS: u8 = 0x80;
const CLEAR: u32 = 256;
const MIN_BITS: u32 = 9;
const MAX_BITS: u32 = 16;
/// Maximum length of the decompressed data in bytes. A small file can expand to a very large size.
const MAX_LEN: usize = 256 << 20;

/// Returns true if the bytes begin like a compressed file.
pub fn is_compressed(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Error for bytes that are not a compressed file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CompressError {
    /// The first three bytes are not a valid header.
    #[error("at byte 0: expected 1F 9D and 9 to 16 bits per code, found {0:02X?}")]
    Header(Vec<u8>),
    /// A code is not in the table.
    #[error("at byte {offset}: expected a code below {limit}, found {code}")]
    Code {
        /// Offset of the code in the file.
        offset: usize,
        /// The code that was read.
        code: u32,
        /// Number of codes in the table.
        limit: u32,
    },
    /// The decompressed data would be too long.
    #[error("more than {} MiB when decompressed", MAX_LEN >> 20)]
    TooLong,
}

/// Decompresses a file.
///
/// # Errors
/// Returns an error if the file is damaged, or too long when decompressed.
pub fn decompress(bytes: &[u8]) -> Result<Vec<u8>, CompressError> {
    let header = || CompressError::Header(bytes.iter().take(3).copied().collect());
    let [a, b, flags, codes @ ..] = bytes else { return Err(header()) };
    let most = u32::from(flags & 0x1F);
    if [*a, *b] != MAGIC || !(MIN_BITS..=MAX_BITS).contains(&most) {
        return Err(header());
    }
    Decompressor::new(codes, most, flags & CLEARS != 0).run()
}

/// The position of the next code.
struct Codes<'a> {
    bytes: &'a [u8],
    /// Position of the first code that has the current width, in bits.
    start: usize,
    at: usize,
    width: u32,
}

impl Codes<'_> {
    fn next(&mut self) -> Option<u32> {
        let width = self.width as usize;
        // The last bits are padding if they are too few for a code.
        if self.at + width > 8 * self.bytes.len() {
            return None;
        }
        let byte = |index: usize| u32::from(self.bytes.get(index).copied().unwrap_or(0));
        let first = self.at / 8;
        // A code of up to 16 bits touches at most three bytes.
        let bits = byte(first) | byte(first + 1) << 8 | byte(first + 2) << 16;
        let code = bits >> (self.at % 8) & ((1 << width) - 1);
        self.at += width;
        Some(code)
    }

    /// Skips the rest of the group and continues with another width.
    fn set_width(&mut self, width: u32) {
        // `compress` writes codes in groups of eight, because eight codes are a whole number of
        // bytes. It fills up a group before the width changes.
        let group = 8 * self.width as usize;
        self.at = self.start + (self.at - self.start).next_multiple_of(group);
        self.start = self.at;
        self.width = width;
    }
}

struct Decompressor<'a> {
    codes: Codes<'a>,
    most: u32,
    clears: bool,
    /// One string per code, stored as two values: the code of its prefix, and its last byte.
    table: Vec<(u32, u8)>,
    out: Vec<u8>,
}

impl<'a> Decompressor<'a> {
    fn new(bytes: &'a [u8], most: u32, clears: bool) -> Self {
        let codes = Codes { bytes, start: 0, at: 0, width: MIN_BITS };
        let table = (0..256).map(|byte| (0, byte as u8)).collect();
        let mut decompressor = Self { codes, most, clears, table, out: Vec::new() };
        decompressor.clear();
        decompressor
    }

    fn clear(&mut self) {
        // If the table can be cleared, code 256 means clear, so its entry is not a string.
        self.table.truncate(256);
        self.table.resize(256 + usize::from(self.clears), (0, 0));
    }

    fn run(mut self) -> Result<Vec<u8>, CompressError> {
        let mut before = None;
        loop {
            let full = 1 << self.codes.width;
            // Widen before reading: the next code may be the first that needs one more bit.
            if self.table.len() >= full && self.codes.width < self.most {
                self.codes.set_width(self.codes.width + 1);
            }
            let Some(code) = self.codes.next() else { return Ok(self.out) };
            if self.clears && code == CLEAR {
                self.clear();
                self.codes.set_width(MIN_BITS);
                before = None;
                continue;
            }
            self.string(code, before)?;
            before = Some(code);
        }
    }

    /// Outputs the string of a code. Adds an entry: the string of the previous code, followed by
    /// the first byte of this code's string.
    fn string(&mut self, code: u32, before: Option<u32>) -> Result<(), CompressError> {
        let limit = self.table.len() as u32;
        // The code may refer to the entry that this call adds.
        let itself = code == limit && before.is_some();
        if code > limit || code == limit && !itself {
            let offset = 3 + (self.codes.at - self.codes.width as usize) / 8;
            return Err(CompressError::Code { offset, code, limit });
        }
        let start = self.out.len();
        // The loop outputs the bytes from last to first. They are reversed below.
        let mut at = if itself { before.unwrap_or(0) } else { code };
        loop {
            let (prefix, byte) = self.table[at as usize];
            self.out.push(byte);
            if at < 256 {
                break;
            }
            at = prefix;
        }
        let first = self.out.last().copied().unwrap_or(0);
        self.out[start..].reverse();
        // If the code refers to the new entry, its string is the previous string, followed by the
        // first byte of the previous string.
        if itself {
            self.out.push(first);
        }
        if let Some(before) = before
            // A full table gets no more entries.
            && limit < 1 << self.most
        {
            self.table.push((before, first));
        }
        if self.out.len() > MAX_LEN { Err(CompressError::TooLong) } else { Ok(()) }
    }
}

/// Compresses bytes, with codes of up to 16 bits and a table that is never cleared.
///
/// # Examples
///
/// ```
/// use tracewell::compressed::lzw::{compress, decompress};
///
/// let packed = compress(b"0AA 1.0 0AB 1.0 0AC 1.0");
/// assert_eq!(decompress(&packed)?, b"0AA 1.0 0AB 1.0 0AC 1.0");
/// # Ok::<(), tracewell::compressed::lzw::CompressError>(())
/// ```
pub fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut out =
        Packer { bytes: vec![MAGIC[0], MAGIC[1], CLEARS | MAX_BITS as u8], ..Packer::default() };
    let mut table: HashMap<(u32, u8), u32, RandomState> = HashMap::default();
    let mut next = CLEAR + 1;
    let Some((first, rest)) = bytes.split_first() else { return out.bytes };
    let mut code = u32::from(*first);
    for byte in rest {
        if let Some(longer) = table.get(&(code, *byte)) {
            code = *longer;
            continue;
        }
        out.put(code, next);
        if next < 1 << MAX_BITS {
            table.insert((code, *byte), next);
            next += 1;
        }
        // The byte that did not fit begins the next string.
        code = u32::from(*byte);
    }
    out.put(code, next);
    out.end()
}

struct Packer {
    bytes: Vec<u8>,
    bits: u64,
    held: u32,
    width: u32,
    /// Number of codes of this width in the current group.
    in_group: u32,
}

impl Default for Packer {
    fn default() -> Self {
        Self { bytes: Vec::new(), bits: 0, held: 0, width: MIN_BITS, in_group: 0 }
    }
}

impl Packer {
    /// Writes a code. Once `next` codes are in use, the following codes may need more bits.
    fn put(&mut self, code: u32, next: u32) {
        self.bit_field(code);
        self.in_group = (self.in_group + 1) % 8;
        if next >= 1 << self.width && self.width < MAX_BITS {
            // Fill up the group, as decompressors expect.
            while self.in_group != 0 {
                self.bit_field(0);
                self.in_group = (self.in_group + 1) % 8;
            }
            self.width += 1;
        }
    }

    fn bit_field(&mut self, code: u32) {
        self.bits |= u64::from(code) << self.held;
        self.held += self.width;
        while self.held >= 8 {
            self.bytes.push(self.bits as u8);
            self.bits >>= 8;
            self.held -= 8;
        }
    }

    fn end(mut self) -> Vec<u8> {
        if self.held > 0 {
            self.bytes.push(self.bits as u8);
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns text that fills the table, so that codes of all widths occur.
    fn long() -> Vec<u8> {
        (0..400_000_u32)
            .flat_map(|n| (n.wrapping_mul(2_654_435_761) >> 20).to_string().into_bytes())
            .collect()
    }

    #[test]
    fn what_was_compressed_comes_back() {
        for bytes in [Vec::new(), b"a".to_vec(), b"aaaaaaaaaaaa".to_vec(), long()] {
            let small = compress(&bytes);
            assert_eq!(decompress(&small).unwrap(), bytes);
            assert!(is_compressed(&small));
        }
        assert!(compress(&long()).len() < long().len());
    }

    #[test]
    fn other_programs_read_it() {
        use std::io::Write;
        use std::process::{Command, Stdio};
        let gzip =
            Command::new("gzip").arg("-dc").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut gzip) = gzip else {
            let _ = writeln!(std::io::stderr(), "skipped: gzip is not installed");
            return;
        };
        let mut stdin = gzip.stdin.take().unwrap();
        let small = compress(&long());
        let writer = std::thread::spawn(move || stdin.write_all(&small));
        assert!(gzip.wait_with_output().unwrap().stdout == long());
        writer.join().unwrap().unwrap();
    }

    #[test]
    fn a_cleared_table_starts_over() {
        // The codes for 'a', 'b' and clear, padding to the end of the group, then codes for "abab".
        let mut packer = Packer { bytes: vec![0x1F, 0x9D, 0x90], ..Packer::default() };
        for code in [97, 98, CLEAR, 0, 0, 0, 0, 0, 97, 98, 257] {
            packer.bit_field(code);
        }
        assert_eq!(decompress(&packer.end()).unwrap(), b"ababab");
    }

    #[test]
    fn damage_is_reported() {
        assert!(matches!(decompress(&[0x1F, 0x9D]), Err(CompressError::Header(_))));
        assert!(matches!(decompress(&[0x1F, 0x9D, 0x91]), Err(CompressError::Header(_))));
        let beyond = decompress(&[0x1F, 0x9D, 0x90, 0xFF, 0xFF]);
        assert_eq!(beyond, Err(CompressError::Code { offset: 3, code: 511, limit: 257 }));
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes: Vec<u8>) {
            prop_assert_eq!(decompress(&compress(&bytes)).unwrap(), bytes);
        }

        #[test]
        fn any_bytes_decompress_or_are_refused(bytes: Vec<u8>) {
            let mut file = vec![0x1F, 0x9D, 0x90];
            file.extend(bytes);
            let _ = decompress(&file);
        }
    }
}
