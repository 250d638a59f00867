//! The reader: image or log, pieces, merge.

use tracewell_wire::ByteOrder;
use tracewell_wire::native::block::MAGIC;
use tracewell_wire::native::image::{ImageHeader, State, at};
use tracewell_wire::native::{ClockFacts, ClockKind, FullPolicy, WORD, word};

use super::image::Image;
use super::log::{Log, Stop};
use super::merge::{Merge, Window, report};
use super::{FORMAT, is_image, types};
use crate::format::blocks::Behind;
use crate::format::{Decoder, Input, OptionError, Options, Progress, ReadError};
use crate::model::{
    Clock, Fact, FactForm, Flow, LossCause, PayloadLayout, Rate, Severity, Sink, Trace,
};

#[derive(Debug, Default)]
struct NativeDecoder {
    log: Log,
    merge: Merge,
    begun: bool,
    /// What follows the log, once its end was read.
    behind: Option<Behind>,
}

/// Makes a reader; this format has no options.
pub(super) fn new(options: &Options) -> Result<Box<dyn Decoder>, OptionError> {
    options.check(FORMAT.options)?;
    Ok(Box::new(NativeDecoder::default()))
}

impl Decoder for NativeDecoder {
    fn trace(&self) -> Trace {
        let payload = PayloadLayout::Words { order: ByteOrder::Little, bytes: 8 };
        Trace::new(FORMAT.name, types::empty_schema(), payload, Clock::of_64_bits(None))
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
        if input.bytes.len() < WORD && !input.last && !self.begun {
            return Ok(Progress::More { consumed: 0, wanted: WORD });
        }
        let window = Window { bytes: input.bytes, offset: input.offset };
        if !self.begun && is_image(input.bytes) {
            return self.image(window, input.last, trace, sink);
        }
        if !self.begun && super::recognise(input.bytes).is_none() {
            let message = "expected TWSTREAM or TWB1".to_owned();
            return Err(ReadError { offset: input.offset, message });
        }
        if !self.begun {
            self.log.place.at = input.offset;
            self.begun = true;
        }
        // A broken-off walk has delivered what its sink wanted.
        let progress = self.log(window, input.last, trace, sink).unwrap_or(Progress::Done);
        Ok(match &mut self.behind {
            Some(behind) => behind.read(&input, trace, sink),
            None => progress,
        })
    }
}

/// What a walk over a log comes to; `None` where the sink wants no more.
type Walked = Option<Progress>;

impl NativeDecoder {
    fn image(
        &mut self,
        window: Window<'_>,
        last: bool,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Result<Progress, ReadError> {
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
        trace.clock.rate = rate(&header.clock);
        trace.facts = image_facts(&image);
        image.types(trace);
        image.pieces(&mut self.merge, trace);
        // A broken-off walk has delivered what its sink wanted.
        let _ = self.whole_image(&image, window, trace, sink);
        Ok(Progress::Done)
    }

    fn whole_image(
        &mut self,
        image: &Image<'_>,
        window: Window<'_>,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Flow {
        self.merge.deliver(None, window, trace, sink)?;
        let (lanes, others) = image.lost();
        let end = window.offset + window.bytes.len() as u64;
        self.lost_at_end(lanes, others, end, trace, sink)
    }

    /// Losses that lie behind the last packets, or nowhere.
    fn lost_at_end(
        &mut self,
        lanes: u64,
        others: u64,
        end: u64,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Flow {
        let lost = lanes.saturating_sub(self.merge.lost()).saturating_add(others);
        if lost > 0 {
            report(Some(lost), LossCause::NoRoom, end, trace, sink)?;
        }
        Flow::Continue(())
    }

    fn log(
        &mut self,
        window: Window<'_>,
        last: bool,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Walked {
        loop {
            let stop = self.log.read(window, last, &mut self.merge, trace);
            self.describe(trace);
            match stop {
                Stop::Status if last => {}
                Stop::Status => {
                    let limit = self.log.status.map(|status| status.complete_before);
                    self.merge.deliver(limit, window, trace, sink).is_continue().then_some(())?;
                }
                Stop::Wanted(_) if last => break,
                Stop::Wanted(wanted) => {
                    let needed = self.merge.needed_from().unwrap_or(self.log.place.at);
                    let consumed =
                        needed.min(self.log.place.at).saturating_sub(window.offset) as usize;
                    let read = self.log.place.at.saturating_sub(window.offset) as usize;
                    let wanted = (read - consumed).saturating_add(wanted);
                    return Some(Progress::More { consumed, wanted });
                }
                Stop::End => break,
            }
        }
        self.rest(window, trace, sink).is_continue().then_some(())?;
        self.behind = self.log.ended.then(|| Behind::new(self.log.place.at, MAGIC));
        Some(Progress::Done)
    }

    /// What is to be said when no more blocks come.
    fn rest(&mut self, window: Window<'_>, trace: &mut Trace, sink: &mut dyn Sink) -> Flow {
        self.merge.deliver(None, window, trace, sink)?;
        let end = self.log.place.at;
        if self.log.place.damaged && trace.losses.damaged() == 0 {
            let cause = if self.log.ended { LossCause::Damaged } else { LossCause::Truncated };
            report(None, cause, end, trace, sink)?;
        }
        if !self.log.ended {
            let message = "the log was not closed: it ends here without an end block";
            trace.diagnostics.add(Severity::Note, end, message);
        }
        if let Some(status) = self.log.status {
            let others = [status.lost_unplaced, status.lost_suspended, status.lost_log];
            let others = others.into_iter().fold(0, u64::saturating_add);
            self.lost_at_end(status.lost, others, end, trace, sink)?;
        }
        Flow::Continue(())
    }

    fn describe(&self, trace: &mut Trace) {
        let Some(start) = self.log.start else { return };
        trace.clock.rate = rate(&start.clock);
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

fn rate(clock: &ClockFacts) -> Option<Rate> {
    match clock.kind {
        ClockKind::Monotonic => Rate::new(1_000_000_000, 1),
        _ => Rate::new(clock.ticks_per_second, 1),
    }
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
