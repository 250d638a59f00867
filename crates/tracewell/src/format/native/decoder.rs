//! Decodes a stream's memory or a log. Reads the runs of each lane and merges them.

use std::sync::Arc;

use tracewell_wire::ByteOrder;
use tracewell_wire::native::block::MAGIC;
use tracewell_wire::native::image::{ImageHeader, State, at};
use tracewell_wire::native::{ClockFacts, ClockKind, FullPolicy, WORD, word};

use super::image::Image;
use super::log::{Log, Stop};
use super::merge::Merge;
use super::{FORMAT, is_image, snapshot};
use crate::format::blocks::{TrailingBytes, not_closed};
use crate::format::{Decoder, Input, OptionError, Progress, ReadError, Settings, program};
use crate::model::schema::Schema;
use crate::model::{
    Clock, Emitter, Fact, FactForm, Flow, LossCause, PayloadLayout, Rate, Severity, Trace,
    WallClock,
};

#[derive(Debug)]
struct NativeDecoder {
    schema: Arc<Schema>,
    log: Log,
    merge: Merge,
    begun: bool,
    is_growing: bool,
    /// The bytes after the log; `None` until the end of the log has been read.
    trailing: Option<TrailingBytes>,
}

/// Creates a decoder. This format has no options.
pub(super) fn new(settings: &Settings) -> Result<Box<dyn Decoder>, OptionError> {
    let schema = FORMAT.with_schemas(Schema::empty(), settings)?;
    let (log, merge) = (Log::default(), Merge::default());
    let is_growing = settings.is_growing;
    Ok(Box::new(NativeDecoder { schema, log, merge, begun: false, is_growing, trailing: None }))
}

impl Decoder for NativeDecoder {
    fn trace(&self) -> Trace {
        let payload = PayloadLayout::Words { order: ByteOrder::Little, bytes: 8 };
        Trace::new(FORMAT.name, self.schema.clone(), payload, Clock::of_64_bits(None))
    }

    fn decode_to(
        &mut self,
        input: Input<'_>,
        out: &mut Emitter<'_>,
    ) -> Result<Progress, ReadError> {
        if let Some(trailing) = &mut self.trailing {
            return Ok(trailing.read(&input, out));
        }
        if input.bytes.len() < WORD && !input.last && !self.begun {
            return Ok(Progress::More { consumed: 0, wanted: WORD });
        }
        if !self.begun && is_image(input.bytes) {
            return self.image(input.last, out);
        }
        if !self.begun && super::recognise(input.bytes).is_none() {
            let message = "expected TWSTREAM or TWB1".to_owned();
            return Err(ReadError { offset: input.offset, message });
        }
        if !self.begun {
            self.log.place.at = input.offset;
            self.begun = true;
        }
        // If the sink stopped, `Reading` has stored the reason.
        let progress = self.log(input.last, out).continue_value().unwrap_or(Progress::Done);
        Ok(match &mut self.trailing {
            Some(trailing) => trailing.read(&input, out),
            None => progress,
        })
    }
}

impl NativeDecoder {
    fn image(&mut self, last: bool, out: &mut Emitter<'_>) -> Result<Progress, ReadError> {
        let (window, trace) = (out.window, &mut *out.trace);
        let mut words = [0; ImageHeader::WORDS];
        if window.bytes.len() < words.len() * WORD && !last {
            return Ok(Progress::More { consumed: 0, wanted: words.len() * WORD });
        }
        for (index, to) in words.iter_mut().enumerate() {
            *to = word(window.bytes, index).unwrap_or(0);
        }
        let header = ImageHeader::of_words(&words)
            .map_err(|error| ReadError { offset: window.offset, message: error.to_string() })?;
        let total = header.geometry.total().saturating_mul(WORD);
        if window.bytes.len() < total && !last {
            return Ok(Progress::More { consumed: 0, wanted: total });
        }
        if window.bytes.len() < total {
            let found = window.bytes.len();
            let message = format!("expected {total} bytes of a stream's memory, found {found}");
            let end = window.offset + found as u64;
            trace.diagnostics.add(Severity::Damage, end, message);
        }
        let image = Image::new(header, window);
        set_clock(trace, &header.clock);
        trace.facts = image_facts(&image);
        image.types(&mut self.merge.kernel, trace);
        image.runs(&mut self.merge, trace);
        // If the sink stopped, `Reading` has stored the reason.
        let _ = self.whole_image(&image, out);
        out.trace.facts.extend(self.merge.kernel.facts());
        Ok(Progress::Done)
    }

    fn whole_image(&mut self, image: &Image<'_>, out: &mut Emitter<'_>) -> Flow {
        self.merge.deliver(None, out)?;
        let (lanes, others) = image.lost();
        let end = out.window.offset + out.window.bytes.len() as u64;
        self.lost_at_end(lanes, others, end, out)
    }

    /// Reports the losses that no packet header reports.
    fn lost_at_end(&self, lanes: u64, others: u64, end: u64, out: &mut Emitter<'_>) -> Flow {
        // The header of a packet reports the losses before this packet. So the other losses
        // happened after the last packets.
        let lost = lanes.saturating_sub(self.merge.lost()).saturating_add(others);
        if lost > 0 {
            out.loss(Some(lost), LossCause::BufferFull, end)?;
        }
        Flow::Continue(())
    }

    fn log(&mut self, last: bool, out: &mut Emitter<'_>) -> Flow<Progress> {
        let window = out.window;
        loop {
            let stop = self.log.read(window, last, &mut self.merge, out.trace);
            self.describe(out.trace);
            match stop {
                // At the end of the input, `rest` delivers all records.
                Stop::Status if last => {}
                Stop::Status => {
                    let limit = self.log.status.map(|status| status.complete_before);
                    self.merge.deliver(limit, out)?;
                }
                Stop::Wanted(_) if last => break,
                Stop::Wanted(wanted) => {
                    // Some records cannot be delivered before the next status block. They refer to
                    // bytes in the window, so keep these bytes.
                    let needed = self.merge.needed_from().unwrap_or(self.log.place.at);
                    let consumed =
                        needed.min(self.log.place.at).saturating_sub(window.offset) as usize;
                    let read = self.log.place.at.saturating_sub(window.offset) as usize;
                    let wanted = (read - consumed).saturating_add(wanted);
                    return Flow::Continue(Progress::More { consumed, wanted });
                }
                Stop::End => break,
            }
        }
        self.rest(out)?;
        out.trace.facts.extend(self.merge.kernel.facts());
        if let Some(end) = self.log.program_end {
            program::ended(end, self.log.place.at, out.trace);
        }
        self.trailing = self.log.ended.then(|| TrailingBytes::new(self.log.place.at, MAGIC));
        Flow::Continue(Progress::Done)
    }

    /// Delivers the remaining records, and reports events that are missing at the end of the log.
    fn rest(&mut self, out: &mut Emitter<'_>) -> Flow {
        self.merge.deliver(None, out)?;
        let end = self.log.place.at;
        // If the damage was already reported as a loss at its own position, do not report a second
        // loss.
        if self.log.place.damaged && out.trace.losses.damaged() == 0 {
            let cause = if self.log.ended { LossCause::Damaged } else { LossCause::Truncated };
            out.loss(None, cause, end)?;
        }
        if !self.log.ended {
            let is_running = out.trace.fact("state") == Some(State::Running.code());
            if is_running && !self.is_growing {
                out.trace.replace_fact(snapshot::not_closed());
            }
            not_closed(end, self.is_growing, out)?;
        }
        if let Some(status) = self.log.status {
            let others = [status.lost_unplaced, status.lost_suspended, status.lost_log];
            let others = others.into_iter().fold(0, u64::saturating_add);
            self.lost_at_end(status.lost, others, end, out)?;
        }
        Flow::Continue(())
    }

    fn describe(&self, trace: &mut Trace) {
        let Some(start) = self.log.start else { return };
        set_clock(trace, &start.clock);
        trace.facts = vec![text("container", 2, "log")];
        trace.facts.extend(common_facts(start.policy, &start.clock, u64::from(start.process)));
        if let Some(status) = self.log.status {
            let state = State::of_code(status.state);
            trace.facts.push(text("state", status.state, state.as_str()));
            let error = status.flush_error;
            trace.facts.push(Fact { name: "flush_error", value: error, form: FactForm::Decimal });
        }
    }
}

fn set_clock(trace: &mut Trace, clock: &ClockFacts) {
    trace.wall_clock = WallClock::at(clock.origin_realtime, clock.origin);
    trace.clock.rate = match clock.kind {
        ClockKind::Monotonic => Rate::new(1_000_000_000, 1),
        _ => Rate::new(clock.ticks_per_second, 1),
    };
}

fn text(name: &'static str, value: u64, text: &'static str) -> Fact {
    Fact { name, value, form: FactForm::Text(text) }
}

fn common_facts(policy: FullPolicy, clock: &ClockFacts, process: u64) -> [Fact; 5] {
    let decimal = |name, value| Fact { name, value, form: FactForm::Decimal };
    [
        text("policy", policy.code(), policy.as_str()),
        text("clock", clock.kind.code(), clock.kind.as_str()),
        decimal("clock_origin", clock.origin),
        decimal("origin_realtime_ns", clock.origin_realtime),
        decimal("process", process),
    ]
}

fn image_facts(image: &Image<'_>) -> Vec<Fact> {
    let header = &image.header;
    let decimal = |name, value| Fact { name, value, form: FactForm::Decimal };
    let state = State::of_code(image.word(at::STATE));
    let mut facts = vec![text("container", 1, "stream in memory")];
    facts.extend(common_facts(header.policy, &header.clock, u64::from(header.process)));
    facts.extend([
        text("state", state.code(), state.as_str()),
        decimal("lanes", u64::from(header.geometry.lanes)),
        decimal("lanes_owned", image.owned()),
        decimal("packets", u64::from(header.geometry.packets)),
        decimal("packet_bytes", u64::from(header.geometry.packet_words) * 8),
        decimal("lost_unplaced", image.word(at::LOST_UNPLACED)),
        decimal("lost_suspended", image.word(at::LOST_SUSPENDED)),
        decimal("lost_log", image.word(at::LOST_LOG)),
        decimal("flush_error", image.word(at::FLUSH_ERROR)),
    ]);
    facts
}
