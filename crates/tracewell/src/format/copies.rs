//! Room for the copy of a stream's memory, whose header says how large it is.
//!
//! A file may say much and have little: a hole in it reads as zeros and takes no room. So the room is asked for
//! in a way that may fail, and no more is copied than the file has, but for a gibibyte that may be holes.

use std::fs::Metadata;
use std::io;

/// Largest memory of a stream that is copied, in bytes.
const MAX_BYTES: u64 = 1 << 35;
/// Bytes that may be copied though the file has no blocks for them.
const MAX_HOLES: u64 = 1 << 30;

/// Zeros that a stream is copied into; those that are not touched take no room.
#[derive(Debug)]
pub(super) struct Room {
    pub(super) bytes: Vec<u8>,
    left: u64,
}

impl Room {
    /// Room for so many bytes of a file.
    ///
    /// # Errors
    /// InvalidData where there is not so much room.
    pub(super) fn new(total: usize, file: &Metadata) -> io::Result<Self> {
        let refused = || {
            let message = format!(
                "at byte 0: expected a stream that fits into memory, found the header of one of {total} bytes"
            );
            io::Error::new(io::ErrorKind::InvalidData, message)
        };
        if total as u64 > MAX_BYTES || Vec::<u8>::new().try_reserve_exact(total).is_err() {
            return Err(refused());
        }
        Ok(Self { bytes: vec![0; total], left: allocated(file).max(MAX_HOLES) })
    }

    /// Notes that so many bytes are about to be copied.
    ///
    /// # Errors
    /// InvalidData where the file has less.
    pub(super) fn spend(&mut self, bytes: usize) -> io::Result<()> {
        self.left = self.left.checked_sub(bytes as u64).ok_or_else(|| {
            let message =
                "expected records, found holes in the file where its heads say that some are";
            io::Error::new(io::ErrorKind::InvalidData, message)
        })?;
        Ok(())
    }
}

/// Bytes that a file really has.
#[cfg(unix)]
fn allocated(file: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    file.blocks().saturating_mul(512)
}

/// Bytes that a file says it has.
#[cfg(not(unix))]
fn allocated(file: &Metadata) -> u64 {
    file.len()
}
