//! Recognises and decompresses compressed files. Each compression has its own module.
//!
//! [`reader`] decompresses gzip and zstd files while they are read, and [`lzw`] decompresses `.Z`
//! files as a whole. `input` decompresses traces. `template::update` compresses a template file
//! again if it was compressed before.

mod gzip;
pub mod lzw;
pub mod reader;
mod source;
mod zstd;

/// A compression whose files are decompressed while they are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    /// Members of `gzip`, RFC 1952.
    Gzip,
    /// Frames of `zstd`, RFC 8878.
    Zstd,
}

impl Compression {
    /// Returns the compression of a file that begins with these bytes.
    ///
    /// ```
    /// use tracewell::compressed::Compression;
    ///
    /// assert_eq!(Compression::recognise(&[0x1F, 0x8B, 8, 0]), Some(Compression::Gzip));
    /// assert_eq!(Compression::recognise(b"plain"), None);
    /// ```
    pub fn recognise(start: &[u8]) -> Option<Self> {
        match start {
            [0x1F, 0x8B, 8, ..] => Some(Self::Gzip),
            // The second form begins a skippable frame.
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Returns the name of the compression for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// The compressions that are recognised but not read. Each entry contains the first bytes of a
/// file, the name of the compression, and the command that decompresses a file to standard output.
const OTHERS: [(&[u8], &str, &str); 6] = [
    (b"\xFD7zXZ\0", "xz", "xz -dc"),
    (b"BZh", "bzip2", "bzip2 -dc"),
    (b"\x04\x22\x4D\x18", "lz4", "lz4 -dc"),
    (b"PK\x03\x04", "zip", "unzip -p"),
    (b"7z\xBC\xAF\x27\x1C", "7-Zip", "7z x -so"),
    (b"LZIP", "lzip", "lzip -dc"),
];

/// Returns the name of a compression that Tracewell cannot read, and the command that decompresses
/// a file to standard output.
///
/// ```
/// assert_eq!(tracewell::compressed::other(b"BZh91AY"), Some(("bzip2", "bzip2 -dc")));
/// ```
pub fn other(start: &[u8]) -> Option<(&'static str, &'static str)> {
    let found = OTHERS.iter().find(|(magic, ..)| start.starts_with(magic));
    found.map(|(_, name, command)| (*name, *command))
}
