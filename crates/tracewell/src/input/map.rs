//! Holds a whole input in memory, either mapped from a file or owned.
//!
//! Mapping a file is unsafe, and so is reading the mapping if the file is truncated in the meantime
//! ([`super::cut`]).
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
    /// Mapped pages of a file.
    Mapped(Mapping),
    /// Bytes that were read or computed.
    Owned(Vec<u8>),
}

/// The mapped pages of a file.
#[derive(Debug)]
pub struct Mapping {
    /// This field comes first, so that the guard is dropped before the pages.
    #[cfg(unix)]
    guard: Guard,
    map: Mmap,
    /// The file, kept open to notice a truncation; `None` after [`Bytes::close`].
    file: Option<File>,
}

impl Bytes {
    /// Maps a regular file.
    ///
    /// If another program truncates the file while this program reads it, the missing bytes read as
    /// zeros, and [`Bytes::is_cut`] reports the truncation. A file that is rewritten in place shows
    /// a mixture of old and new bytes.
    ///
    /// # Errors
    /// Returns an error if the operating system refuses.
    pub fn map(file: File) -> io::Result<Self> {
        if file.metadata()?.len() == 0 {
            // An empty mapping is an error on most systems.
            return Ok(Self::Owned(Vec::new()));
        }
        // SAFETY: the mapping is private to this process and read-only. The bytes are read only as
        // `u8`, for which every value is valid. Readers copy a value before they check and use it,
        // and read no length twice. So bytes that change in the meantime can cause wrong figures,
        // but no undefined behaviour.
        let map = unsafe { Mmap::map(&file) }?;
        // The advice only affects speed, so its failure is ignored.
        #[cfg(unix)]
        let _ = map.advise(memmap2::Advice::Sequential);
        #[cfg(unix)]
        let Some(guard) = Guard::new(&map) else { return read(file) };
        Ok(Self::Mapped(Mapping {
            #[cfg(unix)]
            guard,
            map,
            file: Some(file),
        }))
    }

    /// Closes the file. The bytes stay. A process can map more files than it can have open. After
    /// this, [`Bytes::is_cut`] reports a truncation only if a missing byte was read.
    #[must_use]
    pub fn close(mut self) -> Self {
        if let Self::Mapped(mapping) = &mut self {
            mapping.file = None;
        }
        self
    }

    /// Returns the file's current length if the file is shorter than when it was mapped. Bytes
    /// beyond this length need not come from the file.
    pub fn is_cut(&self) -> Option<u64> {
        let Self::Mapped(Mapping { map, file, .. }) = self else { return None };
        let length = match file {
            Some(file) => file.metadata().ok()?.len(),
            None => map.len() as u64,
        };
        let is_shorter = length < map.len() as u64;
        #[cfg(unix)]
        let is_shorter = is_shorter || self.was_cut();
        is_shorter.then_some(length)
    }

    /// Returns true if the process read bytes that were no longer in the file, even if the file is
    /// long enough again.
    #[cfg(unix)]
    fn was_cut(&self) -> bool {
        matches!(self, Self::Mapped(Mapping { guard, .. }) if guard.was_cut())
    }
}

/// Reads a file into memory, because its mapping cannot be guarded.
#[cfg(unix)]
fn read(mut file: File) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut file, &mut bytes)?;
    Ok(Bytes::Owned(bytes))
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
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
