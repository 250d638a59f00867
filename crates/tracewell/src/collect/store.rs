//! Keeping what came: the bytes as they are, and beside them when they came.

use std::io::{self, Write};

use tracewell_wire::arrivals::{Arrival, HEADER, What};

use super::Notice;
use super::buffer::{Batch, Buffer, Taken};
use super::control::Control;
use super::pace::{Pace, TICK, WRITING};

/// Where the bytes of a source are kept.
pub struct Raw<'a> {
    /// The bytes exactly as they came. Written at once: give it a file, not a buffer in front of one.
    pub bytes: Box<dyn Write + Send + 'a>,
    /// When they came ([`tracewell_wire::arrivals`]).
    pub arrivals: Option<Box<dyn Write + Send + 'a>>,
}

impl std::fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Raw").field("arrivals", &self.arrivals.is_some()).finish_non_exhaustive()
    }
}

/// What became of the bytes that were taken from the buffer.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// Bytes in the file.
    pub(super) written: u64,
    /// Bytes that were taken and could not be written.
    pub(super) failed: u64,
    pub(super) error: Option<io::Error>,
}

/// Writes what comes and passes it on to be shown, until nothing more comes. A file that cannot be
/// written ends the collection.
pub(super) fn store(
    buffer: &Buffer,
    mut raw: Option<Raw<'_>>,
    view: Option<&Buffer>,
    control: &Control<'_>,
    tell: &(dyn Fn(&Notice<'_>) + Sync),
) -> Stored {
    let mut stored = Stored::default();
    let (mut batch, mut pace) = (buffer.other(), Pace::new(WRITING));
    let mut entries = Vec::new();
    let mut behind = false;
    // Beside bytes there is always a file of arrivals that can be read, whatever happens later.
    if let Some(raw) = &mut raw
        && let Err(error) = raw.arrived(&HEADER)
    {
        stored.error = Some(error);
        buffer.abandon();
        control.end();
        view.iter().for_each(|view| view.finish());
        return stored;
    }
    loop {
        match buffer.take(&mut batch, TICK) {
            Taken::End => break,
            Taken::Nothing => continue,
            Taken::Batch => {}
        }
        if let Some(raw) = &mut raw
            && let Err(error) = raw.write(&batch, &mut entries, &mut stored)
        {
            stored.error = Some(error);
            buffer.abandon();
            control.end();
            break;
        }
        if let Some(view) = view {
            let complete = pass_on(&batch, view);
            if !complete && !std::mem::replace(&mut behind, true) {
                tell(&Notice::Behind);
            }
            behind = !complete;
        }
        pace.rest();
    }
    view.iter().for_each(|view| view.finish());
    stored
}

/// Passes what came on to be shown; false where not all of it found room.
fn pass_on(batch: &Batch, view: &Buffer) -> bool {
    let mut complete = true;
    for (mark, bytes) in batch.pieces() {
        match mark.what {
            What::Bytes => complete &= view.push(mark.time_ns, bytes),
            _ => view.mark(mark),
        }
    }
    complete
}

impl Raw<'_> {
    /// Writes a batch, and behind the bytes when they came: what the one file says of the other is there.
    fn write(
        &mut self,
        batch: &Batch,
        entries: &mut Vec<u8>,
        stored: &mut Stored,
    ) -> io::Result<()> {
        let mut rest = batch.bytes.as_slice();
        while !rest.is_empty() {
            let written = match self.bytes.write(rest) {
                Ok(0) => Err(io::ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
                result => result,
            };
            let written = written.inspect_err(|_| {
                stored.failed += rest.len() as u64;
                // What is in the file came, whatever became of the rest; where even this cannot be written, the
                // error of the bytes says why.
                let _ = self.arrived(&marks_of(batch, batch.bytes.len() - rest.len()));
            })?;
            stored.written += written as u64;
            rest = rest.get(written..).unwrap_or_default();
        }
        self.bytes.flush()?;
        entries.extend(batch.marks.iter().flat_map(|mark| mark.to_bytes()));
        self.arrived(entries)?;
        entries.clear();
        Ok(())
    }

    /// Writes entries of the file of arrivals.
    fn arrived(&mut self, entries: &[u8]) -> io::Result<()> {
        let Some(arrivals) = &mut self.arrivals else { return Ok(()) };
        arrivals.write_all(entries)?;
        arrivals.flush()
    }
}

/// The entries of a batch of which only the first bytes were written; the others are dropped there.
fn marks_of(batch: &Batch, written: usize) -> Vec<u8> {
    let mut rest = written;
    let mut entries = Vec::new();
    for mark in &batch.marks {
        let bytes = mark.bytes as usize;
        if mark.what != What::Bytes {
            entries.extend(mark.to_bytes());
            continue;
        }
        let kept = bytes.min(rest);
        rest -= kept;
        let parts = [(kept, What::Bytes), (bytes - kept, What::Dropped)];
        for (bytes, what) in parts.into_iter().filter(|(bytes, _)| *bytes > 0) {
            entries.extend(Arrival { bytes: bytes as u32, what, ..*mark }.to_bytes());
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::{Arc, Mutex};

    use tracewell_wire::arrivals::Arrivals;

    use super::*;
    use crate::collect::Until;

    /// A disk with room for so many bytes.
    struct Disk(usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let written = bytes.len().min(self.0);
            self.0 -= written;
            if written > 0 { Ok(written) } else { Err(io::ErrorKind::StorageFull.into()) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_leaves_arrivals_that_say_what_is_in_the_file() {
        let buffer = Buffer::new(1 << 16);
        buffer.push(1, b"first");
        buffer.push(2, b"second");
        buffer.push(3, b"third");
        buffer.finish();
        let kept = Kept::default();
        let raw = Raw { bytes: Box::new(Disk(8)), arrivals: Some(Box::new(kept.clone())) };
        let stopped = AtomicBool::new(false);
        let control = Control::new(Until::default(), &stopped, 1);
        let stored = store(&buffer, Some(raw), None, &control, &|_| ());
        assert_eq!((stored.written, stored.failed), (8, 8));
        assert_eq!(stored.error.unwrap().kind(), io::ErrorKind::StorageFull);
        let file = kept.0.lock().unwrap();
        let entries = Arrivals::new(&file).unwrap();
        let entries: Vec<_> = entries.map(|(_, entry)| (entry.bytes, entry.what)).collect();
        let expected = [(5, What::Bytes), (3, What::Bytes), (3, What::Dropped), (5, What::Dropped)];
        assert_eq!(entries, expected);
    }
}
