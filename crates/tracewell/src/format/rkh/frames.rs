//! Bytes to frames, and which of them are believed.
//!
//! Bytes before the first flag are the end of a frame that began earlier. From there on every flag ends a
//! frame, so that damage costs the frame it is in and no other: decoding goes on behind the next flag. A frame
//! is believed if its checksum is right, its id is known and its arguments end where it ends (`events`).

use std::ops::ControlFlow;

use tracewell_wire::rkh::{Configuration, Cut, Form, LONGEST_FRAME, Unstuffed, checksum, unstuff};

use super::decoder::RkhDecoder;
use super::events::Header;
use super::row::SLACK;
use super::scan::Scan;
use super::usual::{AnyProcessor, Next, Pace};
use crate::model::{Flow, LossCause, Severity, Sink, Trace};
use crate::text::counted;

/// Room for the longest frame and what may be looked at behind it.
type Scratch = [u8; LONGEST_FRAME + SLACK];

/// Some bytes of the stream, and where what they say goes.
pub(super) struct Piece<'a> {
    pub(super) state: &'a mut RkhDecoder,
    pub(super) bytes: &'a [u8],
    /// Position of `bytes` in the source.
    pub(super) offset: u64,
    pub(super) trace: &'a mut Trace,
    pub(super) sink: &'a mut dyn Sink,
}

/// A frame without its escapes.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    /// Its bytes, and [`SLACK`] more that mean nothing.
    pub(super) bytes: &'a [u8],
    /// How many bytes it has, its checksum among them.
    pub(super) length: usize,
    pub(super) cut: Cut,
}

/// Why a frame is not believed.
#[derive(Clone, Copy)]
pub(super) enum Fault {
    Aborted,
    Oversize,
    BadChecksum,
    Short,
    UnknownId,
    BadArguments,
}

impl Fault {
    pub(super) const fn message(self) -> &'static str {
        match self {
            Self::Aborted => "a frame was given up: an escape stands before its flag",
            Self::Oversize => "expected a flag within 1024 bytes, found none",
            Self::BadChecksum => "the bytes of a frame do not add up to 0",
            Self::Short => "a frame is shorter than its header",
            Self::UnknownId => "a frame has the id of no event",
            Self::BadArguments => "the arguments of a frame do not end where it ends",
        }
    }
}

impl Piece<'_> {
    /// Reads all whole frames; how many bytes are done with. With `last`, what follows the last
    /// flag is done with, too.
    pub(super) fn read(self, last: bool) -> ControlFlow<(), usize> {
        #[cfg(target_arch = "x86_64")]
        if let Some(look) = super::avx2::Avx2::detect() {
            return self.read_by(last, look);
        }
        self.read_by(last, AnyProcessor)
    }

    fn read_by<P: Pace>(mut self, last: bool, pace: P) -> ControlFlow<(), usize> {
        let mut scan = Scan::new(self.bytes, pace);
        if self.state.hunting && !self.found_flag(&mut scan)? {
            return ControlFlow::Continue(self.bytes.len());
        }
        let mut scratch = [0; LONGEST_FRAME + SLACK];
        loop {
            let cut = match P::usual(&mut self, &mut scan) {
                // A flag after a flag is no frame.
                Next::Unusual(cut) if cut.start == cut.end => continue,
                Next::Unusual(cut) => cut,
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
        let rest = self.unfinished(scan.rest(), last, &mut scratch)?;
        self.flush()?;
        ControlFlow::Continue(rest)
    }

    /// Drops bytes up to a flag; false where there is none.
    fn found_flag(&mut self, scan: &mut Scan<'_, impl Pace>) -> ControlFlow<(), bool> {
        let found = scan.skip_to_flag();
        let dropped = if found { scan.rest() - 1 } else { self.bytes.len() };
        let counts = &mut self.state.counts;
        counts.dropped_bytes += dropped as u64;
        self.state.hunting = !found;
        // Those behind a frame that is too long are part of that loss.
        if found && counts.oversize == 0 && counts.dropped_bytes > 0 {
            let bytes = counted(counts.dropped_bytes, "byte");
            let start = self.state.start;
            let message =
                format!("{bytes} before the first flag: the end of a frame that began earlier");
            self.trace.diagnostics.add(Severity::Note, start, message);
            // So much may be the end of one frame; more is nothing known.
            let one = counts_one(self.state.counts.dropped_bytes);
            self.lose_at(one, LossCause::Truncated, start)?;
        }
        ControlFlow::Continue(found)
    }

    /// What follows the last flag: the start of a frame, or too much to be one. Returns how many
    /// bytes are done with.
    fn unfinished(
        &mut self,
        start: usize,
        last: bool,
        scratch: &mut Scratch,
    ) -> ControlFlow<(), usize> {
        let cut = Cut { start, end: self.bytes.len(), escaped: true };
        match unstuffed(self.bytes, cut, scratch) {
            Err(Fault::Oversize) => {
                self.fault(Fault::Oversize, cut)?;
                self.state.hunting = true;
                // Those behind the limit belong to nothing.
                ControlFlow::Continue(cut.end)
            }
            _ if last && start < cut.end => {
                let bytes = (cut.end - start) as u64;
                self.state.counts.tail_bytes += bytes;
                let offset = self.offset + start as u64;
                let bytes = counted(bytes, "byte");
                let message = format!("{bytes} after the last flag: a frame that is cut off");
                self.trace.diagnostics.add(Severity::Note, offset, message);
                self.lose(Some(1), LossCause::Truncated, cut)?;
                ControlFlow::Continue(cut.end)
            }
            _ => ControlFlow::Continue(start),
        }
    }

    #[inline]
    fn frame(&mut self, frame: Frame<'_>) -> Flow {
        let whole = frame.bytes.get(..frame.length).unwrap_or_default();
        if let Some(configuration) = Configuration::recognise(whole)
            && self.state.believes(&configuration)
        {
            self.configure(&configuration)?;
            if configuration.form == Form::Thirteen {
                let header = Header::bare(&self.state.settings, frame.bytes);
                return self.event(frame, header);
            }
        }
        if self.state.unsettled {
            return self.unsettled(frame.cut);
        }
        if self.state.settings.checksum && !checksum::holds(whole) {
            return self.fault(Fault::BadChecksum, frame.cut);
        }
        let header = Header::read(&self.state.settings, frame.bytes);
        self.event(frame, header)
    }

    /// A frame before anything tells the settings; the first one of them is a loss of all.
    #[cold]
    fn unsettled(&mut self, cut: Cut) -> Flow {
        self.state.counts.unsettled += 1;
        match self.state.counts.unsettled {
            1 => self.lose(None, LossCause::Damaged, cut),
            _ => Flow::Continue(()),
        }
    }

    /// A frame that is not believed.
    #[cold]
    pub(super) fn fault(&mut self, fault: Fault, cut: Cut) -> Flow {
        let counts = &mut self.state.counts;
        let count = match fault {
            Fault::Aborted => &mut counts.aborted,
            Fault::Oversize => &mut counts.oversize,
            Fault::BadChecksum => &mut counts.bad_checksum,
            Fault::Short => &mut counts.short,
            Fault::UnknownId => &mut counts.unknown_id,
            Fault::BadArguments => &mut counts.bad_args,
        };
        *count += 1;
        let offset = self.offset + cut.start as u64;
        let hints = matches!(fault, Fault::UnknownId | Fault::BadArguments);
        let hint = if hints { self.state.hint() } else { "" };
        let message = format!("{}{hint}", fault.message());
        self.trace.diagnostics.add(Severity::Damage, offset, message);
        // Where frames are numbered, the next good one tells how many are missing.
        let events = self.state.settings.sequence.then_some(0);
        self.lose(events, LossCause::Damaged, cut)
    }
}

/// One event for bytes that can be a piece of one frame.
fn counts_one(bytes: u64) -> Option<u64> {
    (bytes <= LONGEST_FRAME as u64).then_some(1)
}

/// A frame without its escapes: where it lies if it has none, in `scratch` if it has.
#[inline]
fn unstuffed<'a>(bytes: &'a [u8], cut: Cut, scratch: &'a mut Scratch) -> Result<Frame<'a>, Fault> {
    let length = cut.end - cut.start;
    if !cut.escaped
        && length <= LONGEST_FRAME
        && let Some(bytes) = bytes.get(cut.start..cut.end + SLACK)
    {
        return Ok(Frame { bytes, length, cut });
    }
    let stuffed = bytes.get(cut.start..cut.end).unwrap_or_default();
    let (room, _) = scratch.split_at_mut(LONGEST_FRAME);
    match unstuff(stuffed, room) {
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
    use crate::format::rkh::options::Known;
    use crate::format::{Decoder, Input, Options};
    use crate::model::{Batch, Loss};

    /// All that a sink is told, as text.
    #[derive(Default)]
    struct Told(Vec<String>);

    impl Sink for Told {
        fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
            self.0.extend(batch.events().map(|event| format!("{event:?}")));
            Flow::Continue(())
        }

        fn loss(&mut self, _: &Trace, loss: &Loss) -> Flow {
            self.0.push(format!("{loss:?}"));
            Flow::Continue(())
        }
    }

    fn read_by(bytes: &[u8], pace: impl Pace) -> Vec<String> {
        let known = Known::from_options(&Options::default()).expect("nothing is told");
        let mut state = RkhDecoder::new(known);
        let (mut trace, mut told) = (state.trace(), Told::default());
        assert!(state.begin(&Input { offset: 0, bytes, last: true }, &mut trace));
        let piece =
            Piece { state: &mut state, bytes, offset: 0, trace: &mut trace, sink: &mut told };
        assert_eq!(piece.read_by(true, pace), ControlFlow::Continue(bytes.len()));
        told.0
    }

    #[test]
    fn every_pace_tells_the_same() {
        let captures: [&[u8]; 3] = [
            include_bytes!("../../../tests/fixtures/rkh/ahsm-a.bin"),
            include_bytes!("../../../tests/fixtures/rkh/ahsm-overrun.bin"),
            include_bytes!("../../../tests/fixtures/rkh/ahsm-a-garbage.bin"),
        ];
        for bytes in captures {
            let told = read_by(bytes, AnyProcessor);
            assert!(told.len() > 300);
            #[cfg(target_arch = "x86_64")]
            if let Some(pace) = crate::format::rkh::avx2::Avx2::detect() {
                assert_eq!(read_by(bytes, pace), told);
            }
        }
    }
}
