//! A whole input in memory: mapped from a file, or owned.
//!
//! The call that maps a file is unsafe; so is what happens when the file is cut meanwhile ([`super::cut`]).
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Deref;

use memmap2::Mmap;

#[cfg(unix)]
use super::cut::Guard;

/// The bytes of a whole input.
#[derive(Debug)]
pub enum Bytes {
    /// Pages of a file.
    Mapped(Mapping),
    /// Bytes read or made in memory.
    Owned(Vec<u8>),
}

/// Pages of a file.
#[derive(Debug)]
pub struct Mapping {
    /// Dropped before the pages are.
    #[cfg(unix)]
    guard: Guard,
    map: Mmap,
    file: File,
}

impl Bytes {
    /// Maps a regular file.
    ///
    /// If another program shortens it while it is read, the rest reads as zeros, and [`Bytes::is_cut`] says so; one that is
    /// rewritten in place shows a mixture.
    ///
    /// # Errors
    /// If the operating system refuses.
    pub fn map(file: File) -> io::Result<Self> {
        if file.metadata()?.len() == 0 {
            // An empty mapping is an error on most systems.
            return Ok(Self::Owned(Vec::new()));
        }
        // SAFETY: the mapping is private to this process and read-only. The bytes are only ever
        // read as `u8`, for which every value is valid; readers copy what they check before they
        // use it, so bytes that change under them make wrong figures, not undefined behaviour of
        // safe code: no length is read twice.
        let map = unsafe { Mmap::map(&file) }?;
        // Advice is for speed only; a system without it reads all the same.
        #[cfg(unix)]
        let _ = map.advise(memmap2::Advice::Sequential);
        #[cfg(unix)]
        let Some(guard) = Guard::new(&map) else { return read(file) };
        Ok(Self::Mapped(Mapping {
            #[cfg(unix)]
            guard,
            map,
            file,
        }))
    }

    /// Returns the length that the file has now if that is shorter than when it was mapped: what was read behind it
    /// may be none of its bytes.
    pub fn is_cut(&self) -> Option<u64> {
        let Self::Mapped(Mapping { map, file, .. }) = self else { return None };
        let length = file.metadata().ok()?.len();
        let is_shorter = length < map.len() as u64;
        #[cfg(unix)]
        let is_shorter = is_shorter || self.was_cut();
        is_shorter.then_some(length)
    }

    /// Whether it was shorter for some time, and its reader met that.
    #[cfg(unix)]
    fn was_cut(&self) -> bool {
        matches!(self, Self::Mapped(Mapping { guard, .. }) if guard.was_cut())
    }
}

/// Reads a file that cannot be guarded while it is mapped.
#[cfg(unix)]
fn read(mut file: File) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut file, &mut bytes)?;
    Ok(Bytes::Owned(bytes))
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(mapping) => &mapping.map,
            Self::Owned(bytes) => bytes,
        }
    }
}
