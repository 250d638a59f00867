//! Stores received bytes unchanged, and their arrival times in a second file.

use std::io::{self, Write};

use tracewell_wire::arrivals::{Arrival, ArrivalKind, HEADER};

use crate::Notice;
use crate::buffer::{Batch, Buffer, Taken};
use crate::control::Control;
use crate::pace::{Pace, TICK, WRITING};

/// The destination of the bytes of a source.
pub struct Raw<'a> {
    /// Receives the bytes exactly as they arrive. Pass a file, not a buffered writer, so that bytes
    /// are written without delay.
    pub bytes: Box<dyn Write + Send + 'a>,
    /// Receives the arrival times ([`tracewell_wire::arrivals`]).
    pub arrivals: Option<Box<dyn Write + Send + 'a>>,
}

impl std::fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Raw").field("arrivals", &self.arrivals.is_some()).finish_non_exhaustive()
    }
}

/// The result of storing.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    /// Bytes written to the file.
    pub(crate) written: u64,
    /// Bytes that were removed from the buffer but could not be written.
    pub(crate) failed: u64,
    pub(crate) error: Option<io::Error>,
}

/// Writes all bytes of the buffer and passes them to the view, until the source ends. A write error
/// ends the collection.
pub(crate) fn store(
    buffer: &Buffer,
    raw: Option<Raw<'_>>,
    view: Option<&Buffer>,
    control: &Control<'_>,
    tell: &(dyn Fn(&Notice<'_>) + Sync),
) -> Stored {
    let mut storing = Storing::new(raw, view, tell);
    if let Err(error) = storing.all(buffer) {
        storing.stored.error = Some(error);
        // Otherwise a reader that waits for room in the buffer, such as the reader of a pipe, would
        // wait forever.
        buffer.abandon();
        control.end();
    }
    view.iter().for_each(|view| view.finish());
    storing.stored
}

/// Writes batches and passes them to the view.
pub(crate) struct Storing<'a, 't> {
    raw: Option<Raw<'a>>,
    view: Option<&'t Buffer>,
    tell: &'t (dyn Fn(&Notice<'_>) + Sync),
    pub(crate) stored: Stored,
    entries: Vec<u8>,
    /// True if the last batch did not fit into the view.
    overrun: bool,
}

impl<'a, 't> Storing<'a, 't> {
    pub(crate) fn new(
        raw: Option<Raw<'a>>,
        view: Option<&'t Buffer>,
        tell: &'t (dyn Fn(&Notice<'_>) + Sync),
    ) -> Self {
        let (stored, entries) = (Stored::default(), Vec::new());
        Self { raw, view, tell, stored, entries, overrun: false }
    }

    fn all(&mut self, buffer: &Buffer) -> io::Result<()> {
        self.begin()?;
        let (mut batch, mut pace) = (buffer.other(), Pace::new(WRITING));
        loop {
            // The length of the timeout does not matter: if no bytes arrive, this thread has
            // nothing to do.
            match buffer.take(&mut batch, TICK) {
                Taken::End => return Ok(()),
                Taken::Nothing => continue,
                Taken::Batch => {}
            }
            self.batch(&batch)?;
            // Wait before the next write, so that more bytes arrive and the write is larger.
            pace.rest();
        }
    }

    /// Writes the header, so that the file of arrivals is always valid.
    pub(crate) fn begin(&mut self) -> io::Result<()> {
        self.raw.as_mut().map_or(Ok(()), |raw| raw.arrived(&HEADER))
    }

    /// Writes a batch and passes it to the view.
    pub(crate) fn batch(&mut self, batch: &Batch) -> io::Result<()> {
        if let Some(raw) = &mut self.raw {
            raw.write(batch, &mut self.entries, &mut self.stored)?;
        }
        if let Some(view) = self.view {
            let complete = pass_on(batch, view);
            // Report this once while the view is too slow, not for each batch.
            if !complete && !self.overrun {
                (self.tell)(&Notice::DisplayOverrun);
            }
            self.overrun = !complete;
        }
        Ok(())
    }
}

/// Passes a batch to the view. Returns false if some of it did not fit.
fn pass_on(batch: &Batch, view: &Buffer) -> bool {
    let mut complete = true;
    for (mark, bytes) in batch.pieces() {
        match mark.kind {
            // The view has its own buffer. If that buffer is full, bytes are stored but not shown.
            ArrivalKind::Bytes => complete &= view.push(mark.time_ns, bytes),
            _ => view.mark(mark),
        }
    }
    complete
}

impl Raw<'_> {
    /// Writes a batch: first the bytes, and then the arrivals. So arrivals never describe bytes
    /// that are not in the file.
    fn write(
        &mut self,
        batch: &Batch,
        entries: &mut Vec<u8>,
        stored: &mut Stored,
    ) -> io::Result<()> {
        let mut rest = batch.bytes.as_slice();
        while !rest.is_empty() {
            // Do not use `write_all`: after an error, it does not report the number of bytes
            // written.
            let written = match self.bytes.write(rest) {
                Ok(0) => Err(io::ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
                result => result,
            };
            let written = written.inspect_err(|_| {
                stored.failed += rest.len() as u64;
                // Record the arrival of the written part. If this also fails, report only the first
                // error.
                let _ = self.arrived(&marks_of(batch, batch.bytes.len() - rest.len()));
            })?;
            stored.written += written as u64;
            rest = rest.get(written..).unwrap_or_default();
        }
        // Flush even if the batch has no bytes, because the first flush renames the file to its
        // final name.
        self.bytes.flush()?;
        entries.extend(batch.marks.iter().flat_map(|mark| mark.to_bytes()));
        self.arrived(entries)?;
        entries.clear();
        Ok(())
    }

    /// Writes entries to the file of arrivals.
    fn arrived(&mut self, entries: &[u8]) -> io::Result<()> {
        let Some(arrivals) = &mut self.arrivals else { return Ok(()) };
        arrivals.write_all(entries)?;
        arrivals.flush()
    }
}

/// Returns the arrival entries for a batch. The first `written` bytes of the batch were written;
/// the entries mark the other bytes as dropped.
fn marks_of(batch: &Batch, written: usize) -> Vec<u8> {
    let mut rest = written;
    let mut entries = Vec::new();
    for mark in &batch.marks {
        let bytes = mark.bytes as usize;
        // Marks of connections have no bytes, so they apply in any case.
        if mark.kind != ArrivalKind::Bytes {
            entries.extend(mark.to_bytes());
            continue;
        }
        // The written bytes are the first ones of the batch.
        let kept = bytes.min(rest);
        rest -= kept;
        let parts = [(kept, ArrivalKind::Bytes), (bytes - kept, ArrivalKind::Dropped)];
        for (bytes, kind) in parts.into_iter().filter(|(bytes, _)| *bytes > 0) {
            entries.extend(Arrival { bytes: bytes as u32, kind, ..*mark }.to_bytes());
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
    use crate::Until;

    /// A disk with this much free space, in bytes.
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
    struct SharedBytes(Arc<Mutex<Vec<u8>>>);

    impl Write for SharedBytes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn on_a_full_disk_the_arrivals_match_the_written_bytes() {
        let buffer = Buffer::new(1 << 16);
        buffer.push(1, b"first");
        buffer.push(2, b"second");
        buffer.push(3, b"third");
        buffer.finish();
        let kept = SharedBytes::default();
        let raw = Raw { bytes: Box::new(Disk(8)), arrivals: Some(Box::new(kept.clone())) };
        let stopped = AtomicBool::new(false);
        let control = Control::new(Until::default(), &stopped, 1);
        let stored = store(&buffer, Some(raw), None, &control, &|_| ());
        assert_eq!((stored.written, stored.failed), (8, 8));
        assert_eq!(stored.error.unwrap().kind(), io::ErrorKind::StorageFull);
        let file = kept.0.lock().unwrap();
        let entries = Arrivals::new(&file).unwrap();
        let entries: Vec<_> = entries.map(|(_, entry)| (entry.bytes, entry.kind)).collect();
        let expected = [
            (5, ArrivalKind::Bytes),
            (3, ArrivalKind::Bytes),
            (3, ArrivalKind::Dropped),
            (5, ArrivalKind::Dropped),
        ];
        assert_eq!(entries, expected);
    }
}
