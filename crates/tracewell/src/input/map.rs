//! A whole input in memory: mapped from a file, or owned.
//!
//! This module holds the crate's only `unsafe` code: the call that maps a file.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Deref;

use memmap2::Mmap;

/// The bytes of a whole input.
#[derive(Debug)]
pub enum Bytes {
    /// Pages of a file.
    Mapped(Mmap),
    /// Bytes read or made in memory.
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps a regular file.
    ///
    /// A file that another program shortens while it is read ends this one with SIGBUS, as with
    /// every program that maps files; one that is rewritten in place shows a mixture. Neither is
    /// how dumps come about.
    ///
    /// # Errors
    /// Where the operating system refuses.
    pub fn map(file: &File) -> io::Result<Self> {
        if file.metadata()?.len() == 0 {
            // An empty mapping is an error on most systems.
            return Ok(Self::Owned(Vec::new()));
        }
        // SAFETY: the mapping is private to this process and read-only. The bytes are only ever
        // read as `u8`, for which every value is valid; readers copy what they check before they
        // use it, so bytes that change under them make wrong figures, not undefined behaviour of
        // safe code: no length is read twice.
        let map = unsafe { Mmap::map(file) }?;
        // Advice is for speed only; a system without it reads all the same.
        #[cfg(unix)]
        let _ = map.advise(memmap2::Advice::Sequential);
        Ok(Self::Mapped(map))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Owned(bytes) => bytes,
        }
    }
}
