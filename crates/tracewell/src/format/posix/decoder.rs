//! The reader: what begins with which magic is read by whom, and what is said at the end.

use tracewell_wire::frame::{self, Found};
use tracewell_wire::native::{WORD, word};
use tracewell_wire::posix::StreamPolicy;
use tracewell_wire::posix::log::{Kind, LogHeader, LogRecord, LogStatus, MAGIC};
use tracewell_wire::posix::object::ObjectHeader;

use super::log::Log;
use super::rows::Rows;
use super::{FORMAT, facts, is_memory, memory, ring};
use crate::format::blocks::Behind;
use crate::format::{Decoder, Input, OptionError, Options, Progress, ReadError};
use crate::model::schema::Schema;
use crate::model::{
    Clock, Flow, LossCause, PayloadLayout, Rate, RecordedArguments, Severity, Sink, Trace,
};

/// The data of a record.
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

#[derive(Debug, Default)]
struct PosixDecoder {
    rows: Rows,
    /// The log being read, once its header was.
    log: Option<(LogHeader, Log)>,
    /// What follows the log, once its end was read.
    behind: Option<Behind>,
}

/// Makes a reader; this format has no options.
pub(super) fn new(options: &Options) -> Result<Box<dyn Decoder>, OptionError> {
    options.check(FORMAT.options)?;
    Ok(Box::new(PosixDecoder::default()))
}

impl Decoder for PosixDecoder {
    fn trace(&self) -> Trace {
        let payload = PayloadLayout::Values { digits: 16 };
        let rate = Rate::new(1_000_000_000, 1);
        let trace = Trace::new(FORMAT.name, Schema::posix(), payload, Clock::of_64_bits(rate));
        Trace { recorded: Some(Box::new(Recorded)), ..trace }
    }

    fn decode(
        &mut self,
        input: Input<'_>,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Result<Progress, ReadError> {
        if let Some(behind) = &mut self.behind {
            return Ok(behind.read(&input, trace, sink));
        }
        if let Some((header, log)) = &mut self.log {
            return Ok(match follow(header, log, &mut self.rows, input, trace, sink) {
                Flow::Continue(Followed::Wants(progress)) => progress,
                Flow::Continue(Followed::Ended(end)) => {
                    self.behind.insert(Behind::new(end, MAGIC)).read(&input, trace, sink)
                }
                // A broken-off walk has delivered what its sink wanted.
                Flow::Continue(Followed::CutOff) | Flow::Break(()) => Progress::Done,
            });
        }
        if is_memory(input.bytes) {
            return self.memory(input, trace, sink);
        }
        if input.bytes.len() < LogHeader::BLOCK && !input.last {
            return Ok(Progress::More { consumed: 0, wanted: LogHeader::BLOCK });
        }
        let header = log_header(input.bytes).ok_or_else(|| ReadError {
            offset: input.offset,
            message: "expected the header of a POSIX trace log".to_owned(),
        })?;
        facts::of_log(trace, &header);
        self.log = Some((header, Log::behind(input.offset + LogHeader::BLOCK as u64)));
        self.decode(input, trace, sink)
    }
}

impl PosixDecoder {
    fn memory(
        &mut self,
        input: Input<'_>,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Result<Progress, ReadError> {
        if !input.last {
            return Ok(Progress::More { consumed: 0, wanted: input.bytes.len() + 1 });
        }
        let words = std::array::from_fn(|index| word(input.bytes, index).unwrap_or(0));
        let header = ObjectHeader::of_words(&words).ok_or_else(|| ReadError {
            offset: input.offset,
            message: "expected the header of a POSIX trace stream".to_owned(),
        })?;
        facts::of_memory(trace, &header, input.bytes);
        // A broken-off walk has delivered what its sink wanted.
        let _ = memory::read(&header, input.bytes, &mut self.rows, trace, sink)
            .is_continue()
            .then(|| self.rows.hand_over(trace, sink));
        Ok(Progress::Done)
    }
}

/// Returns true if these bytes begin a stream's memory, or a log that is a ring of slots.
pub(super) fn is_whole(start: &[u8]) -> bool {
    is_memory(start) || log_header(start).is_some_and(|header| header.slots > 0)
}

fn log_header(bytes: &[u8]) -> Option<LogHeader> {
    match frame::find(bytes, MAGIC) {
        Found::Block { kind, body, .. } if Kind::of_code(kind) == Some(Kind::Header) => {
            LogHeader::read(body).filter(|_| body.len() == LogHeader::WORDS * WORD)
        }
        _ => None,
    }
}

/// How far a log was read.
enum Followed {
    /// More of it is to come.
    Wants(Progress),
    /// To its end block, behind which this place is.
    Ended(u64),
    /// To the end of the input, which has no end block.
    CutOff,
}

/// Reads on in a log whose header was read.
fn follow(
    header: &LogHeader,
    log: &mut Log,
    rows: &mut Rows,
    input: Input<'_>,
    trace: &mut Trace,
    sink: &mut dyn Sink,
) -> std::ops::ControlFlow<(), Followed> {
    let input_end = input.offset + input.bytes.len() as u64;
    let (ended, end) = if header.slots > 0 {
        if !input.last {
            let wanted = input.bytes.len() + 1;
            return Flow::Continue(Followed::Wants(Progress::More { consumed: 0, wanted }));
        }
        (ring::read(header, input.bytes, rows, trace, sink)?, input_end)
    } else {
        let progress = log.read(input, rows, trace, sink)?;
        if progress != Progress::Done {
            return Flow::Continue(Followed::Wants(progress));
        }
        log.rest(rows, trace, sink)?;
        (log.status.map(|status| (status, log.at())), log.at())
    };
    rows.hand_over(trace, sink)?;
    let Some((status, end)) = ended else {
        let message = "the log was not closed: it ends here without an end block";
        trace.diagnostics.add(Severity::Note, end, message);
        return Flow::Continue(Followed::CutOff);
    };
    at_end(header, &status, end, rows, trace, sink)?;
    Flow::Continue(Followed::Ended(end))
}

/// Facts at the end of a log, and the losses that lie in no place of it.
fn at_end(
    header: &LogHeader,
    status: &LogStatus,
    end: u64,
    rows: &mut Rows,
    trace: &mut Trace,
    sink: &mut dyn Sink,
) -> Flow {
    facts::of_status(trace, status);
    let told = |cause| trace.losses.iter().any(|(known, _)| known == cause);
    let overwritten = header.stream_policy == StreamPolicy::Loop;
    let cause = if overwritten { LossCause::Overwritten } else { LossCause::NoRoom };
    if (status.overrun != 0 || status.log_overrun != 0)
        && !told(cause)
        && !told(LossCause::Overwritten)
    {
        rows.lost(None, cause, end, trace, sink)?;
    }
    Flow::Continue(())
}
