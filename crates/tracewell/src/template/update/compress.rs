//! The format of `compress(1)`: `.Z` files, such as AIX's `/etc/trcfmt.Z`.
//!
//! | byte | content |
//! |---|---|
//! | 0, 1 | 1F 9D |
//! | 2 | bits 0-4 most bits of a code, 9 to 16; bit 7 set where code 256 clears the table |
//! | 3... | codes, least significant bit first |
//!
//! Codes are the LZW algorithm's (T. Welch, "A Technique for High-Performance Data Compression",
//! 1984): they begin with 9 bits and grow as the table does. Codes come in groups of eight, and where
//! their width changes the rest of a group is empty.

use std::collections::HashMap;

use foldhash::fast::RandomState;

const MAGIC: [u8; 2] = [0x1F, 0x9D];
const CLEARS: u8 = 0x80;
const CLEAR: u32 = 256;
const LEAST_BITS: u32 = 9;
const MOST_BITS: u32 = 16;
/// What is decompressed at most, in bytes: a file of some kilobytes can claim any size.
const LONGEST: usize = 256 << 20;

/// Whether bytes begin as those of a compressed file.
pub fn is_compressed(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Bytes are no compressed file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CompressError {
    /// The first three bytes are not those of such a file.
    #[error("at byte 0: expected 1F 9D and 9 to 16 bits a code, found {0:02X?}")]
    Header(Vec<u8>),
    /// A code stands for nothing.
    #[error("at byte {offset}: expected a code below {limit}, found {code}")]
    Code {
        /// Where in the file.
        offset: usize,
        /// The code.
        code: u32,
        /// Codes in use.
        limit: u32,
    },
    /// It would become too long.
    #[error("it is longer than {} MiB when decompressed", LONGEST >> 20)]
    TooLong,
}

/// Decompresses a file.
///
/// # Errors
/// Where it is damaged.
pub fn decompress(bytes: &[u8]) -> Result<Vec<u8>, CompressError> {
    let header = || CompressError::Header(bytes.iter().take(3).copied().collect());
    let [a, b, flags, codes @ ..] = bytes else { return Err(header()) };
    let most = u32::from(flags & 0x1F);
    if [*a, *b] != MAGIC || !(LEAST_BITS..=MOST_BITS).contains(&most) {
        return Err(header());
    }
    Decompressor::new(codes, most, flags & CLEARS != 0).run()
}

/// Where the next code is.
struct Codes<'a> {
    bytes: &'a [u8],
    /// Bit at which codes of this width began.
    start: usize,
    at: usize,
    width: u32,
}

impl Codes<'_> {
    fn next(&mut self) -> Option<u32> {
        let width = self.width as usize;
        if self.at + width > 8 * self.bytes.len() {
            return None;
        }
        let byte = |index: usize| u32::from(self.bytes.get(index).copied().unwrap_or(0));
        let first = self.at / 8;
        let bits = byte(first) | byte(first + 1) << 8 | byte(first + 2) << 16;
        let code = bits >> (self.at % 8) & ((1 << width) - 1);
        self.at += width;
        Some(code)
    }

    /// Skips the rest of the group and goes on with codes of another width.
    fn set_width(&mut self, width: u32) {
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
    /// Code before the last byte of each string, and that byte.
    table: Vec<(u32, u8)>,
    out: Vec<u8>,
}

impl<'a> Decompressor<'a> {
    fn new(bytes: &'a [u8], most: u32, clears: bool) -> Self {
        let codes = Codes { bytes, start: 0, at: 0, width: LEAST_BITS };
        let table = (0..256).map(|byte| (0, byte as u8)).collect();
        let mut decompressor = Self { codes, most, clears, table, out: Vec::new() };
        decompressor.clear();
        decompressor
    }

    fn clear(&mut self) {
        // A table that can be cleared has an entry that stands for that.
        self.table.truncate(256);
        self.table.resize(256 + usize::from(self.clears), (0, 0));
    }

    fn run(mut self) -> Result<Vec<u8>, CompressError> {
        let mut before = None;
        loop {
            let full = 1 << self.codes.width;
            if self.table.len() >= full && self.codes.width < self.most {
                self.codes.set_width(self.codes.width + 1);
            }
            let Some(code) = self.codes.next() else { return Ok(self.out) };
            if self.clears && code == CLEAR {
                self.clear();
                self.codes.set_width(LEAST_BITS);
                before = None;
                continue;
            }
            self.string(code, before)?;
            before = Some(code);
        }
    }

    /// Puts out the string of a code; with the one before it, it makes a new entry.
    fn string(&mut self, code: u32, before: Option<u32>) -> Result<(), CompressError> {
        let limit = self.table.len() as u32;
        // The entry that this code makes may be the one it stands for.
        let itself = code == limit && before.is_some();
        if code > limit || code == limit && !itself {
            let offset = 3 + (self.codes.at - self.codes.width as usize) / 8;
            return Err(CompressError::Code { offset, code, limit });
        }
        let start = self.out.len();
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
        if itself {
            self.out.push(first);
        }
        if let Some(before) = before
            && limit < 1 << self.most
        {
            self.table.push((before, first));
        }
        if self.out.len() > LONGEST { Err(CompressError::TooLong) } else { Ok(()) }
    }
}

/// Compresses bytes, with codes of up to 16 bits and a table that is never cleared.
pub fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut out =
        Packer { bytes: vec![MAGIC[0], MAGIC[1], CLEARS | MOST_BITS as u8], ..Packer::default() };
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
        if next < 1 << MOST_BITS {
            table.insert((code, *byte), next);
            next += 1;
        }
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
    /// Codes of this width in the group under way.
    in_group: u32,
}

impl Default for Packer {
    fn default() -> Self {
        Self { bytes: Vec::new(), bits: 0, held: 0, width: LEAST_BITS, in_group: 0 }
    }
}

impl Packer {
    /// Puts a code; `next` codes are in use then, which may widen those that follow.
    fn put(&mut self, code: u32, next: u32) {
        self.bit_field(code);
        self.in_group = (self.in_group + 1) % 8;
        if next >= 1 << self.width && self.width < MOST_BITS {
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

    /// Text that fills the table, so that all widths come.
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
            let _ = writeln!(std::io::stderr(), "skipped: no gzip, which reads .Z files");
            return;
        };
        let mut stdin = gzip.stdin.take().unwrap();
        let small = compress(&long());
        let writer = std::thread::spawn(move || stdin.write_all(&small));
        assert!(gzip.wait_with_output().unwrap().stdout == long());
        writer.join().unwrap().unwrap();
    }

    #[test]
    fn a_cleared_table_begins_anew() {
        // 'a', 'b', clear; then "ab" again with codes of a new group.
        let mut packer = Packer { bytes: vec![0x1F, 0x9D, 0x90], ..Packer::default() };
        for code in [97, 98, CLEAR, 0, 0, 0, 0, 0, 97, 98, 257] {
            packer.bit_field(code);
        }
        assert_eq!(decompress(&packer.end()).unwrap(), b"ababab");
    }

    #[test]
    fn damage_is_told() {
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
