//! Keeping what came: the bytes as they are, and beside them when they came.

use std::io::{self, Write};

use tracewell_wire::arrivals::{HEADER, What};

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
    let mut entries = HEADER.to_vec();
    let mut behind = false;
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
            let written = written.inspect_err(|_| stored.failed += rest.len() as u64)?;
            stored.written += written as u64;
            rest = rest.get(written..).unwrap_or_default();
        }
        self.bytes.flush()?;
        if let Some(arrivals) = &mut self.arrivals {
            entries.extend(batch.marks.iter().flat_map(|mark| mark.to_bytes()));
            arrivals.write_all(entries)?;
            arrivals.flush()?;
            entries.clear();
        }
        Ok(())
    }
}
