//! Decodes POSIX traces. Distinguishes logs from streams in memory, and reports losses at the end.

use std::sync::Arc;

use tracewell_wire::frame::{self, Lookup};
use tracewell_wire::native::{WORD, word};
use tracewell_wire::posix::StreamPolicy;
use tracewell_wire::posix::log::{Kind, LogHeader, LogRecord, LogStatus, MAGIC};
use tracewell_wire::posix::object::ObjectHeader;

use super::log::Log;
use super::rows::Rows;
use super::{FORMAT, facts, is_memory, memory, ring};
use crate::format::blocks::{TrailingBytes, not_closed};
use crate::format::{Decoder, Input, OptionError, Progress, ReadError, Settings};
use crate::model::schema::Schema;
use crate::model::{
    Clock, Emitter, Flow, LossCause, PayloadLayout, Rate, RecordedArguments, Trace,
};

/// Extracts the recorded data of an event on request.
#[derive(Debug)]
struct Recorded;

impl RecordedArguments for Recorded {
    fn append(&self, record: &[u8], out: &mut Vec<u8>) {
        let data = LogRecord::read(record).map_or(&[][..], |(record, _)| record.data);
        out.extend_from_slice(data);
    }

    fn are_packed(&self) -> bool {
        false
    }
}

#[derive(Debug)]
struct PosixDecoder {
    schema: Arc<Schema>,
    rows: Rows,
    is_growing: bool,
    /// The log; `None` until its header has been read.
    log: Option<(LogHeader, Log)>,
    /// The bytes after the log; `None` until the end of the log has been read.
    trailing: Option<TrailingBytes>,
}

/// Creates a decoder. This format has no options.
pub(super) fn new(settings: &Settings) -> Result<Box<dyn Decoder>, OptionError> {
    let schema = FORMAT.with_schemas(super::schema(), settings)?;
    let (rows, is_growing) = (Rows::default(), settings.is_growing);
    Ok(Box::new(PosixDecoder { schema, rows, is_growing, log: None, trailing: None }))
}

impl Decoder for PosixDecoder {
    fn trace(&self) -> Trace {
        let payload = PayloadLayout::Values { digits: 16 };
        let rate = Rate::new(1_000_000_000, 1);
        let clock = Clock::of_64_bits(rate);
        let trace = Trace::new(FORMAT.name, self.schema.clone(), payload, clock);
        Trace { recorded: Some(Box::new(Recorded)), ..trace }
    }

    fn decode_to(
        &mut self,
        input: Input<'_>,
        out: &mut Emitter<'_>,
    ) -> Result<Progress, ReadError> {
        if let Some(trailing) = &mut self.trailing {
            return Ok(trailing.read(&input, out));
        }
        if let Some((header, log)) = &mut self.log {
            return Ok(match follow((header, self.is_growing), log, &mut self.rows, input, out) {
                Flow::Continue(Followed::Wants(progress)) => progress,
                Flow::Continue(Followed::Ended(end)) => {
                    self.trailing.insert(TrailingBytes::new(end, MAGIC)).read(&input, out)
                }
                // The input ended, or the sink needs no further events.
                Flow::Continue(Followed::CutOff) | Flow::Break(_) => Progress::Done,
            });
        }
        if is_memory(input.bytes) {
            return self.memory(input, out);
        }
        if input.bytes.len() < LogHeader::BLOCK && !input.last {
            return Ok(Progress::More { consumed: 0, wanted: LogHeader::BLOCK });
        }
        let header = log_header(input.bytes).ok_or_else(|| ReadError {
            offset: input.offset,
            message: "expected the header of a POSIX trace log".to_owned(),
        })?;
        facts::of_log(out.trace, &header);
        self.log = Some((header, Log::after_header(input.offset + LogHeader::BLOCK as u64)));
        self.decode_to(input, out)
    }
}

impl PosixDecoder {
    fn memory(&mut self, input: Input<'_>, out: &mut Emitter<'_>) -> Result<Progress, ReadError> {
        if !input.last {
            return Ok(Progress::More { consumed: 0, wanted: input.bytes.len() + 1 });
        }
        let words = std::array::from_fn(|index| word(input.bytes, index).unwrap_or(0));
        let header = ObjectHeader::of_words(&words).ok_or_else(|| ReadError {
            offset: input.offset,
            message: "expected the header of a POSIX trace stream".to_owned(),
        })?;
        facts::of_memory(out.trace, &header, input.bytes);
        // If the sink stopped, `Reading` has stored the reason.
        if memory::read(&header, input.bytes, &mut self.rows, out).is_continue() {
            let _ = out.flush();
        }
        Ok(Progress::Done)
    }
}

/// Returns true if these bytes are the start of a stream's memory, or of a log that is a ring of
/// slots.
pub(super) fn is_whole(start: &[u8]) -> bool {
    is_memory(start) || log_header(start).is_some_and(|header| header.slots > 0)
}

fn log_header(bytes: &[u8]) -> Option<LogHeader> {
    match frame::find(bytes, MAGIC) {
        Lookup::Block { kind, body, .. } if Kind::of_code(kind) == Some(Kind::Header) => {
            LogHeader::read(body).filter(|_| body.len() == LogHeader::WORDS * WORD)
        }
        _ => None,
    }
}

/// The result of [`follow`].
enum Followed {
    /// More bytes are needed.
    Wants(Progress),
    /// The end block was read, so the log ends at this offset.
    Ended(u64),
    /// The input ended, and the log has no end block.
    CutOff,
}

/// Continues to read a log after its header.
fn follow(
    (header, is_growing): (&LogHeader, bool),
    log: &mut Log,
    rows: &mut Rows,
    input: Input<'_>,
    out: &mut Emitter<'_>,
) -> Flow<Followed> {
    let input_end = input.offset + input.bytes.len() as u64;
    let (ended, end) = if header.slots > 0 {
        // Slots are reused, so the oldest record can be in any slot. Wait until all slots are
        // available.
        if !input.last {
            let wanted = input.bytes.len() + 1;
            return Flow::Continue(Followed::Wants(Progress::More { consumed: 0, wanted }));
        }
        (ring::read(header, input.bytes, rows, out)?, input_end)
    } else {
        let progress = log.read(input, rows, out)?;
        if progress != Progress::Done {
            return Flow::Continue(Followed::Wants(progress));
        }
        log.rest(out)?;
        (log.status.map(|status| (status, log.at())), log.at())
    };
    out.flush()?;
    let Some((status, end)) = ended else {
        if !is_growing {
            facts::of_unclosed_log(out.trace);
        }
        not_closed(end, is_growing, out)?;
        return Flow::Continue(Followed::CutOff);
    };
    at_end(header, &status, end, out)?;
    Flow::Continue(Followed::Ended(end))
}

/// Adds the facts that are at the end of a log, and reports losses whose position in the log is
/// unknown.
fn at_end(header: &LogHeader, status: &LogStatus, end: u64, out: &mut Emitter<'_>) -> Flow {
    facts::of_status(out.trace, status);
    let reported = |cause| out.trace.losses.iter().any(|(known, _)| known == cause);
    let overwritten = header.stream_policy == StreamPolicy::Loop;
    let cause = if overwritten { LossCause::Overwritten } else { LossCause::BufferFull };
    // The status contains flags but no positions. If the log reported a loss with the same cause
    // earlier, the flag refers to that loss.
    if (status.overrun != 0 || status.log_overrun != 0)
        && !reported(cause)
        && !reported(LossCause::Overwritten)
    {
        out.loss(None, cause, end)?;
    }
    Flow::Continue(())
}
