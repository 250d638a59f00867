//! The records of a summary: the large parts that most views do not need. They are in memory at
//! first. When there are many, they are moved to a file, if one is available. If this file cannot
//! be written, the summary fails at [`MAX_WITHOUT_FILE`], because a long trace would need all of
//! the memory.
//!
//! A record has a checksum, which is compared when the record is read. So a stored summary can be
//! used without reading its whole file.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::sync::Arc;

use flate2::Crc;

use crate::analysis::stored::stored_structs;

/// When the records in memory have this many bytes, they are moved to the file. Tests need fewer
/// bytes, because they run without optimisation, where checksums are slow.
const MAX_IN_MEMORY: usize = if cfg!(test) { 1 << 20 } else { 16 << 20 };

/// Number of bytes that are written to the file at once. In a virtual machine, larger writes took
/// longer in the kernel: reading with writes of 16 MiB took 1.2 s there, instead of 0.6 s.
const WRITE: usize = 128 << 10;

/// If the file cannot be written, the summary fails when the records in memory have this many
/// bytes.
const MAX_WITHOUT_FILE: usize = if cfg!(test) { 3 << 20 } else { 256 << 20 };

/// The place of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Record {
    at: u64,
    length: usize,
    sum: u32,
}

stored_structs! {
    Record { at, length, sum }
}

/// Opens the file to which the pool moves its records.
type Opener = Box<dyn FnOnce() -> io::Result<File> + Send + Sync>;

/// All records. Their places are offsets in the file, even while they are still in memory.
#[derive(Default)]
pub(super) struct Pool {
    opener: Option<Opener>,
    file: Option<Arc<File>>,
    /// Number of bytes in the file.
    in_file: u64,
    /// The records that are not in the file yet, one after the other. The memory is used again
    /// after they have been moved to the file.
    memory: Vec<u8>,
    /// The error from opening or writing the file. Records stay in memory from then on.
    failure: Option<Arc<io::Error>>,
    /// True for a clone, which does not write to the file of the original.
    is_clone: bool,
}

impl Pool {
    /// Returns the records of a stored summary, which are the first `length` bytes of a file.
    pub(super) fn of_file(file: File, length: u64) -> Self {
        Self { file: Some(Arc::new(file)), in_file: length, ..Self::default() }
    }

    /// Moves the records to a file when there are many. If the file cannot be opened or written,
    /// they stay in memory, and [`Self::check`] fails when they become too many.
    pub(super) fn spill_to(&mut self, opener: Opener) {
        self.opener = Some(opener);
    }

    /// Returns the file, if it was needed.
    pub(super) fn file(&self) -> Option<&File> {
        self.file.as_deref()
    }

    /// Returns the number of bytes of all records.
    pub(super) fn length(&self) -> u64 {
        self.in_file + self.memory.len() as u64
    }

    /// Adds a record, whose bytes `put` appends to the list.
    pub(super) fn push(&mut self, put: impl FnOnce(&mut Vec<u8>)) -> Record {
        let (at, start) = (self.length(), self.memory.len());
        put(&mut self.memory);
        let bytes = &self.memory[start..];
        let record = Record { at, length: bytes.len(), sum: checksum(bytes) };
        let is_full = self.memory.len() >= MAX_IN_MEMORY;
        if is_full && self.failure.is_none() && !self.is_clone {
            // If the disk is full, the file keeps the earlier records.
            self.failure = self.spill().err().map(Arc::new);
        }
        record
    }

    /// Appends a record to `further`, which contains records that will follow those of the pool.
    pub(super) fn append(&self, further: &mut Vec<u8>, bytes: &[u8]) -> Record {
        let at = self.length() + further.len() as u64;
        further.extend_from_slice(bytes);
        Record { at, length: bytes.len(), sum: checksum(bytes) }
    }

    fn spill(&mut self) -> io::Result<()> {
        if let Some(opener) = self.opener.take() {
            self.file = Some(Arc::new(opener()?));
        }
        let Some(file) = &self.file else { return Ok(()) };
        self.write_memory(file)?;
        self.in_file = self.length();
        self.memory.clear();
        Ok(())
    }

    fn write_memory(&self, file: &File) -> io::Result<()> {
        let offsets = (self.in_file..).step_by(WRITE);
        let mut parts = self.memory.chunks(WRITE).zip(offsets);
        parts.try_for_each(|(bytes, at)| write_at(file, bytes, at))
    }

    /// Returns an error if there are too many records for the memory and they could not be written
    /// to the file.
    pub(super) fn check(&self) -> io::Result<()> {
        let failure = self.failure.as_ref().filter(|_| self.memory.len() >= MAX_WITHOUT_FILE);
        let Some(failure) = failure else { return Ok(()) };
        let (found, most) = (self.memory.len() >> 20, MAX_WITHOUT_FILE >> 20);
        let message = format!(
            "the summary of the trace needs a file, because it has too many records for the memory \
             (expected fewer than {most} MiB, found {found} MiB), but the file cannot be written: \
             {failure}"
        );
        Err(io::Error::new(failure.kind(), message))
    }

    /// Writes the records that are not in a file yet, and then `rest`, to `file`. If the pool
    /// already has a file, `file` must be that file.
    pub(super) fn store(&self, file: &File, rest: &[u8]) -> io::Result<()> {
        self.write_memory(file)?;
        write_at(file, rest, self.length())
    }

    /// Returns the bytes of a record.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is damaged.
    pub(super) fn read(&self, record: &Record) -> io::Result<Cow<'_, [u8]>> {
        let missing = || damaged("a record is missing");
        if let Some(start) = record.at.checked_sub(self.in_file) {
            let rest = usize::try_from(start).ok().and_then(|start| self.memory.get(start..));
            let bytes = rest.and_then(|rest| rest.get(..record.length));
            return bytes.map(Cow::Borrowed).ok_or_else(missing);
        }
        let file = self.file.as_ref().ok_or_else(missing)?;
        let mut bytes = vec![0; record.length];
        read_at(file, &mut bytes, record.at)?;
        if checksum(&bytes) != record.sum {
            return Err(damaged("a record has another checksum"));
        }
        Ok(Cow::Owned(bytes))
    }

    /// Returns true if this record lies within the records of the pool.
    pub(super) fn has(&self, record: &Record) -> bool {
        record.at.checked_add(record.length as u64).is_some_and(|end| end <= self.length())
    }
}

/// The clone has the same records. Records that are added to the clone stay in memory.
impl Clone for Pool {
    fn clone(&self) -> Self {
        let Self { file, in_file, memory, failure, .. } = self;
        let (file, memory, failure) = (file.clone(), memory.clone(), failure.clone());
        Self { opener: None, file, in_file: *in_file, memory, failure, is_clone: true }
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, in_file, memory, .. } = self;
        let mut shown = f.debug_struct("Pool");
        shown.field("file", file).field("in_file", in_file).field("in_memory", &memory.len());
        shown.finish_non_exhaustive()
    }
}

/// Returns the error for a file of records that is damaged.
pub(super) fn damaged(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the stored summary is damaged: {message}"))
}

/// Returns the CRC-32 of bytes.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = Crc::new();
    sum.update(bytes);
    sum.sum()
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

/// Lets only one thread at a time set the position of a file and read or write there.
#[cfg(not(unix))]
static POSITION: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(not(unix))]
fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    let _position = POSITION.lock();
    io::Seek::seek(&mut file, io::SeekFrom::Start(at))?;
    io::Read::read_exact(&mut file, bytes)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    let _position = POSITION.lock();
    io::Seek::seek(&mut file, io::SeekFrom::Start(at))?;
    io::Write::write_all(&mut file, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(number: u32) -> Vec<u8> {
        vec![number as u8; 1 << 16]
    }

    /// Returns a pool with 40 records, which have 2.5 MiB.
    fn filled(mut pool: Pool) -> (Pool, Vec<Record>) {
        let records = (0..40).map(|number| pool.push(|out| out.extend(bytes(number)))).collect();
        (pool, records)
    }

    #[test]
    fn many_records_move_to_the_file_and_stay_the_same() {
        let mut pool = Pool::default();
        pool.spill_to(Box::new(tempfile::tempfile));
        let (pool, records) = filled(pool);
        assert!(pool.memory.len() < MAX_IN_MEMORY && pool.in_file >= 2 << 20);
        for (number, record) in (0..).zip(&records) {
            assert_eq!(*pool.read(record).unwrap(), bytes(number));
            assert_eq!(*pool.clone().read(record).unwrap(), bytes(number));
        }
        write_at(pool.file().unwrap(), b"damage", records[3].at + 5).unwrap();
        assert_eq!(pool.read(&records[3]).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(pool.read(&records[4]).is_ok());
    }

    /// Adds records to a pool that has 40 of them, until there are too many. Returns the error.
    fn overfilled(pool: &mut Pool) -> String {
        assert!(pool.check().is_ok());
        (40..48).for_each(|number| {
            assert!(pool.check().is_ok());
            pool.push(|out| out.extend(bytes(number)));
        });
        pool.check().unwrap_err().to_string()
    }

    #[test]
    fn records_stay_in_memory_if_the_file_fails() {
        let mut pool = Pool::default();
        pool.spill_to(Box::new(|| Err(io::Error::other("no file"))));
        let (mut pool, records) = filled(pool);
        assert_eq!((pool.memory.len(), pool.in_file), (40 << 16, 0));
        assert_eq!(*pool.read(&records[39]).unwrap(), bytes(39));
        let outside = Record { at: 40 << 16, ..records[0] };
        assert!(pool.has(&records[39]) && !pool.has(&outside) && pool.read(&outside).is_err());
        let message = overfilled(&mut pool);
        assert!(message.contains("expected fewer than 3 MiB, found 3 MiB"), "{message}");
        assert!(message.ends_with("cannot be written: no file"), "{message}");
        let (mut without_file, _) = filled(Pool::default());
        (0..20).for_each(|number| {
            without_file.push(|out| out.extend(bytes(number)));
        });
        assert!(without_file.check().is_ok(), "no caller asked for a file");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn records_stay_in_memory_if_the_file_cannot_be_written() {
        let mut pool = Pool::default();
        let full = || File::options().read(true).write(true).open("/dev/full");
        pool.spill_to(Box::new(full));
        let (mut pool, records) = filled(pool);
        assert_eq!((pool.memory.len(), pool.in_file), (40 << 16, 0));
        assert_eq!(*pool.read(&records[0]).unwrap(), bytes(0));
        assert!(overfilled(&mut pool).contains("No space left on device"));
    }
}
