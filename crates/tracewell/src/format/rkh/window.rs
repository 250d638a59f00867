//! The loop over the frames of a chunk.
//!
//! Bytes before the first flag are the end of a frame that began earlier. Every later flag ends a
//! frame, so damage affects only the frame that contains the damaged bytes. The decoder accepts a
//! frame if its checksum is valid, its id is known, and its arguments end where the frame ends
//! (`slow`).

use tracewell_wire::rkh::{Cut, MAX_FRAME_LEN, Unstuffed, unstuff};

use super::chunk::{Chunk, Fault, Frame};
use super::fast::{FastPath, Next};
use super::row::SLACK;
use super::scan::Scan;
#[cfg(target_arch = "x86_64")]
use super::simd::Avx2;
use super::simd::{Portable, Simd};
use crate::model::{Flow, LossCause, Severity};
use crate::text::counted;

/// A buffer for the longest frame and for the slack after it, which a load may also read.
type Scratch = [u8; MAX_FRAME_LEN + SLACK];

impl Chunk<'_, '_> {
    /// Reads all whole frames and returns the number of bytes consumed. If `last` is true, the
    /// number includes the bytes after the last flag. Returns `Break` if the sink returns `Break`.
    pub(super) fn read(self, last: bool) -> Flow<usize> {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = Avx2::detect() {
            return self.read_with(last, simd);
        }
        self.read_with(last, Portable)
    }

    fn read_with(mut self, last: bool, simd: impl Simd) -> Flow<usize> {
        let mut scan = Scan::new(self.bytes, simd);
        if self.state.hunting && !self.find_flag(&mut scan)? {
            return Flow::Continue(self.bytes.len());
        }
        let mut scratch = [0; MAX_FRAME_LEN + SLACK];
        loop {
            let cut = match simd.dispatch(FastPath { chunk: &mut self, scan: &mut scan }) {
                // There is no frame between two adjacent flags.
                Next::Slow(cut) if cut.start == cut.end => continue,
                Next::Slow(cut) => cut,
                Next::Full => {
                    self.flush()?;
                    continue;
                }
                Next::End => break,
            };
            match unstuffed(self.bytes, cut, &mut scratch) {
                Ok(frame) => self.frame(frame)?,
                Err(fault) => self.fault(fault, cut)?,
            }
        }
        let consumed = self.unfinished(scan.rest(), last, &mut scratch)?;
        // The batch refers to bytes of this chunk, which may no longer exist at the next call.
        self.flush()?;
        Flow::Continue(consumed)
    }

    /// Drops bytes up to and including a flag. Returns false if there is no flag.
    fn find_flag(&mut self, scan: &mut Scan<'_, impl Simd>) -> Flow<bool> {
        let found = scan.skip_to_flag();
        let dropped = if found { scan.rest() - 1 } else { self.bytes.len() };
        let counts = &mut self.state.counts;
        counts.dropped_bytes += dropped as u64;
        self.state.hunting = !found;
        // If a frame was oversized, the dropped bytes are its rest, and its loss has been reported.
        if found && counts.oversize == 0 && counts.dropped_bytes > 0 {
            let dropped = counts.dropped_bytes;
            let bytes = counted(dropped, "byte");
            let start = self.state.start;
            let message =
                format!("{bytes} before the first flag: the end of a frame that began earlier");
            self.out.trace.diagnostics.add(Severity::Note, start, message);
            // If there are more bytes than one frame can contain, the number of lost events is
            // unknown.
            let events = (dropped <= MAX_FRAME_LEN as u64).then_some(1);
            self.lose_at(events, LossCause::Truncated, start)?;
        }
        Flow::Continue(found)
    }

    /// Handles the bytes after the last flag: the start of a frame, or a frame that is already too
    /// long. Returns the number of bytes consumed.
    fn unfinished(&mut self, start: usize, last: bool, scratch: &mut Scratch) -> Flow<usize> {
        let cut = Cut { start, end: self.bytes.len(), escaped: true };
        match unstuffed(self.bytes, cut, scratch) {
            Err(Fault::Oversize) => {
                self.fault(Fault::Oversize, cut)?;
                // Drop the remaining bytes of the frame too.
                self.state.hunting = true;
                Flow::Continue(cut.end)
            }
            _ if last && start < cut.end => {
                let bytes = (cut.end - start) as u64;
                self.state.counts.tail_bytes += bytes;
                let offset = self.offset + start as u64;
                let bytes = counted(bytes, "byte");
                let message = format!("{bytes} after the last flag: a frame that is cut off");
                self.out.trace.diagnostics.add(Severity::Note, offset, message);
                self.lose(Some(1), LossCause::Truncated, cut)?;
                Flow::Continue(cut.end)
            }
            _ => Flow::Continue(start),
        }
    }
}

/// Returns a frame without escapes. A frame that has no escapes is returned in place; any other
/// frame is copied to `scratch`.
#[inline]
fn unstuffed<'a>(bytes: &'a [u8], cut: Cut, scratch: &'a mut Scratch) -> Result<Frame<'a>, Fault> {
    let length = cut.end - cut.start;
    // Fast case: the frame needs no copy, and enough bytes follow it.
    if !cut.escaped
        && length <= MAX_FRAME_LEN
        && let Some(bytes) = bytes.get(cut.start..cut.end + SLACK)
    {
        return Ok(Frame { bytes, length, cut });
    }
    let stuffed = bytes.get(cut.start..cut.end).unwrap_or_default();
    // A load may include bytes of the slack after the frame, but a mask removes them.
    let (frame, _) = scratch.split_at_mut(MAX_FRAME_LEN);
    match unstuff(stuffed, frame) {
        Unstuffed::Frame(length) => {
            let bytes = scratch.get(..length + SLACK).unwrap_or_default();
            Ok(Frame { bytes, length, cut })
        }
        Unstuffed::Aborted => Err(Fault::Aborted),
        Unstuffed::TooLong => Err(Fault::Oversize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::rkh::options::StreamOptions;
    use crate::format::rkh::state::State;
    use crate::format::{Input, Options};
    use crate::model::{Batch, Emitter, EventBuffer, Loss, Sink, Trace};

    /// Everything that a sink receives, as text.
    #[derive(Default)]
    struct Log(Vec<String>);

    impl Sink for Log {
        fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
            self.0.extend(batch.events().map(|event| format!("{event:?}")));
            Flow::Continue(())
        }

        fn loss(&mut self, _: &Trace, loss: &Loss) -> Flow {
            self.0.push(format!("{loss:?}"));
            Flow::Continue(())
        }
    }

    fn read_with(bytes: &[u8], simd: impl Simd) -> Vec<String> {
        let options = StreamOptions::from_options(&Options::default())
            .expect("an empty list of options is valid");
        let mut state = State::new(options, &[]);
        let (mut trace, mut log) = (state.trace(), Log::default());
        let input = Input { offset: 0, bytes, last: true };
        assert!(state.begin(&input, &mut trace));
        let mut buffer = EventBuffer::default();
        let mut out = Emitter::new(&mut buffer, input.window(), &mut trace, &mut log);
        let chunk = Chunk { state: &mut state, bytes, offset: 0, out: &mut out };
        let read = chunk.read_with(true, simd);
        assert!(matches!(read, Flow::Continue(read) if read == bytes.len()));
        log.0
    }

    #[test]
    fn every_instruction_set_reads_the_same() {
        let captures: [&[u8]; 3] = [
            include_bytes!("../../../tests/fixtures/rkh/ahsm-a.bin"),
            include_bytes!("../../../tests/fixtures/rkh/ahsm-overrun.bin"),
            include_bytes!("../../../tests/fixtures/rkh/ahsm-a-garbage.bin"),
        ];
        for bytes in captures {
            let log = read_with(bytes, Portable);
            assert!(log.len() > 300);
            #[cfg(target_arch = "x86_64")]
            if let Some(simd) = Avx2::detect() {
                assert_eq!(read_with(bytes, simd), log);
            }
        }
    }
}
