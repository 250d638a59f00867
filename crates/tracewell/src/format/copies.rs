//! Allocates memory for the copy of a stream, and fills it from a file. The stream's header
//! contains the size.
//!
//! A file with holes can be large although it has few blocks, because holes read as zeros and
//! occupy no disk space. So the size of the stream may exceed the memory of the machine. The number
//! of copied bytes is limited to the size of the file's blocks or 1 GiB, whichever is larger.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};

/// Maximum size of a stream that is copied, in bytes: 32 GiB.
const MAX_BYTES: u64 = 1 << 35;
/// Number of bytes that can be copied even if the file's blocks are smaller in total: 1 GiB.
const MAX_HOLES: u64 = 1 << 30;

/// Zeroed memory for the copy of a stream. Untouched pages occupy no memory.
#[derive(Debug)]
pub(super) struct Room {
    pub(super) bytes: Vec<u8>,
    left: u64,
}

impl Room {
    /// Allocates `total` bytes for a file.
    ///
    /// # Errors
    /// Returns `InvalidData` if the stream is larger than 32 GiB or the allocation fails.
    pub(super) fn new(total: usize, file: &Metadata) -> io::Result<Self> {
        let refused = || {
            let message = format!(
                "at byte 0: expected a stream that fits into memory, found the header of a stream of {total} bytes"
            );
            io::Error::new(io::ErrorKind::InvalidData, message)
        };
        if total as u64 > MAX_BYTES || Vec::<u8>::new().try_reserve_exact(total).is_err() {
            return Err(refused());
        }
        Ok(Self { bytes: vec![0; total], left: allocated(file).max(MAX_HOLES) })
    }

    /// Counts bytes that are about to be copied.
    ///
    /// # Errors
    /// Returns `InvalidData` if the limit is exceeded. In this case, some of the copied bytes are
    /// in holes of the file.
    pub(super) fn spend(&mut self, bytes: usize) -> io::Result<()> {
        self.left = self.left.checked_sub(bytes as u64).ok_or_else(|| {
            let message =
                "expected records, found holes in the file at positions that headers mark as used";
            io::Error::new(io::ErrorKind::InvalidData, message)
        })?;
        Ok(())
    }
}

/// Fills `bytes` from the offset `at` of a file. Returns false if the file is too short.
pub(super) fn fill(mut file: &File, bytes: &mut [u8], at: usize) -> io::Result<bool> {
    file.seek(SeekFrom::Start(at as u64))?;
    match file.read_exact(bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        result => result.map(|()| true),
    }
}

/// Returns the total size of a file's blocks in bytes.
#[cfg(unix)]
fn allocated(file: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    file.blocks().saturating_mul(512)
}

/// Returns the length of a file in bytes, on systems that do not report its blocks.
#[cfg(not(unix))]
fn allocated(file: &Metadata) -> u64 {
    file.len()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn metadata(file: &std::fs::File) -> Metadata {
        file.sync_all().unwrap();
        file.metadata().unwrap()
    }

    #[test]
    fn blocks_have_512_bytes_and_holes_have_no_blocks() {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, &[1; 4096]).unwrap();
        let written = allocated(&metadata(&file));
        assert!(written >= 4096 && written.is_multiple_of(512), "{written}");
        file.set_len(1 << 30).unwrap();
        assert!(allocated(&metadata(&file)) < 1 << 20);
    }

    #[test]
    fn a_copy_ends_when_its_bytes_are_spent() {
        let file = tempfile::tempfile().unwrap();
        let mut room = Room::new(16, &metadata(&file)).unwrap();
        assert_eq!((room.bytes.len(), room.left), (16, MAX_HOLES));
        room.spend(MAX_HOLES as usize - 1).unwrap();
        room.spend(1).unwrap();
        assert_eq!(room.spend(1).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
