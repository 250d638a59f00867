//! Decodes an input: its head, then one or several streams.
//!
//! The decoder decodes a single stream packet by packet while it arrives. It merges several streams
//! of one recording by time, after the whole input has arrived.

use std::sync::Arc;

use tracewell_wire::systemview::{Form, Packet, ids};

use super::events::{Events, Given, Place};
use super::head::{self, Head};
use super::lane::Lane;
use super::merge::{Merger, Next};
use super::stream::{Cause, Part, Skipped, Source, Stream};
use super::tables::{self, Tables};
use super::{FORMAT, options};
use crate::format::{Decoder, Input, OptionError, Progress, ReadError, Settings};
use crate::model::schema::Schema;
use crate::model::{
    Clock, Emitter, Flow, LossCause, PayloadLayout, Processor, RecordedArguments, Severity, Trace,
};
use crate::text::counted;

/// Minimum number of events before the decoder reports that all times are equal.
const MANY_EVENTS: u64 = 8;

/// Finds the parameters of a recorded packet.
#[derive(Debug)]
struct Recorded(Form);

impl RecordedArguments for Recorded {
    fn append(&self, record: &[u8], out: &mut Vec<u8>) {
        let payload = Packet::read(record, self.0).map_or(&[][..], |packet| packet.payload);
        out.extend_from_slice(payload);
    }

    fn are_packed(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct SystemViewDecoder {
    schema: Arc<Schema>,
    given: Given,
    core_in_id: bool,
    parts: Vec<usize>,
    /// True if several streams are merged.
    merges: bool,
    events: Events,
    /// The only stream; `None` before the head has been read.
    lane: Option<Lane>,
    /// The packet form that the trace uses to extract arguments.
    form: Form,
}

/// Creates a decoder.
pub(super) fn new(settings: &Settings) -> Result<Box<dyn Decoder>, OptionError> {
    let given = options::given(&settings.options)?;
    let base = match given.kernel {
        Some(Some(kernel)) => kernel.schema(),
        _ => super::schema(),
    };
    let schema = FORMAT.with_schemas(base, settings)?;
    let tables = Tables::new(settings.all_schemas(FORMAT.name), given.kernel.flatten());
    let core_in_id = options::core_in_id(&settings.options)?;
    Ok(Box::new(SystemViewDecoder {
        schema,
        core_in_id,
        parts: settings.parts.clone(),
        merges: false,
        events: Events::new(given.clone(), tables),
        given,
        lane: None,
        form: Form::default(),
    }))
}

impl Decoder for SystemViewDecoder {
    fn trace(&self) -> Trace {
        let payload = PayloadLayout::Values { digits: 8 };
        let clock = Clock::of_64_bits(self.given.rate);
        let mut trace = Trace::new(FORMAT.name, self.schema.clone(), payload, clock);
        trace.objects.share_names_among_kinds();
        trace.processor = Processor::Switches;
        trace.recorded = Some(Box::new(Recorded(self.form)));
        tables::name_calls(&mut trace);
        trace
    }

    fn decode_to(
        &mut self,
        input: Input<'_>,
        out: &mut Emitter<'_>,
    ) -> Result<Progress, ReadError> {
        let whole = Progress::More { consumed: 0, wanted: input.bytes.len() + 1 };
        if self.lane.is_none() {
            if !self.parts.is_empty() && !input.last {
                return Ok(whole);
            }
            let Some(head) = head::read(input.bytes, input.last) else { return Ok(whole) };
            if self.parts.is_empty() && head.streams.is_empty() {
                let lane = self.begin(&head, input.offset, out.trace);
                self.lane = Some(lane);
            } else if !input.last {
                return Ok(whole);
            } else {
                // If the sink stopped, `Reading` has stored the reason.
                let _ = self.several(&head, input, out);
                return Ok(Progress::Done);
            }
        }
        let Some(mut lane) = self.lane.take() else { return Ok(Progress::Done) };
        let flow = self.single(&mut lane, input, out);
        self.lane = Some(lane);
        Ok(flow.continue_value().unwrap_or(Progress::Done))
    }
}

impl SystemViewDecoder {
    /// Adds the texts of a head, and returns the stream after the head. `offset` is the position of
    /// the head in the source.
    fn begin(&mut self, head: &Head, offset: u64, trace: &mut Trace) -> Lane {
        add_head(trace, head, offset);
        let core_in_id = self.core_in_id || head.core_in_id;
        Lane::new(Stream::new(offset + head.length as u64, core_in_id), 0)
    }

    /// Decodes the available bytes of the only stream.
    fn single(
        &mut self,
        lane: &mut Lane,
        input: Input<'_>,
        out: &mut Emitter<'_>,
    ) -> Flow<Progress> {
        let source = Source { bytes: input.bytes, offset: input.offset, last: input.last };
        loop {
            // A fast loop decodes the most frequent packets.
            self.events.add_short(lane, source, out)?;
            match lane.stream.next(source, &self.events) {
                Part::Packet(packet, offset) => {
                    let place = lane.place(&packet, offset);
                    self.packet(lane, &packet, place, out)?;
                }
                Part::Skipped(skipped) => self.skipped(lane, skipped, out)?,
                Part::More(wanted) => {
                    out.flush()?;
                    let consumed = usize::try_from(lane.stream.at.saturating_sub(input.offset));
                    let consumed = consumed.unwrap_or(usize::MAX).min(input.bytes.len());
                    return Flow::Continue(Progress::More { consumed, wanted });
                }
                Part::End => {
                    at_end(lane.advanced, out)?;
                    return Flow::Continue(Progress::Done);
                }
            }
        }
    }

    /// Adds the event of a packet.
    #[inline]
    fn packet(
        &mut self,
        lane: &mut Lane,
        packet: &Packet<'_>,
        place: Place,
        out: &mut Emitter<'_>,
    ) -> Flow {
        let mut place = place;
        match packet.id {
            // If there are several streams, `Merger` has already compared their times, so the times
            // must not change here.
            ids::SYSTIME_US if !self.merges => {
                let missing = self.events.missing_ticks(packet, place, out.trace);
                lane.ticks = lane.ticks.saturating_add(missing);
                place.ticks = lane.ticks;
            }
            ids::TASK_CREATE => self.events.creates(packet, place, out)?,
            _ => {}
        }
        if self.form != lane.stream.form {
            // The new form must not apply to earlier events, so deliver them first.
            out.flush()?;
            self.form = lane.stream.form;
            out.trace.recorded = Some(Box::new(Recorded(self.form)));
        }
        let record = place.offset..place.offset + packet.length as u64;
        self.events.add(packet, place, record, out)?;
        if packet.id == ids::INIT {
            let rate = out.trace.clock.rate.map(|rate| rate.ratio().0);
            lane.stream.rate = rate.and_then(|rate| u32::try_from(rate).ok());
        }
        Flow::Continue(())
    }

    /// Reports bytes that are not packets.
    #[cold]
    fn skipped(&mut self, lane: &Lane, skipped: Skipped, out: &mut Emitter<'_>) -> Flow {
        let Skipped { from, until, cause, guessed } = skipped;
        let bytes = until - from;
        // If the ids contain the core, the lost packets may be from any core.
        let cpu = Some(lane.cpu).filter(|_| !lane.stream.form.core_in_id);
        self.events.skipped(cpu, cause == Cause::Joined);
        if guessed {
            let message =
                "no sync follows: the events from here on are plausible, but not confirmed";
            out.trace.diagnostics.add(Severity::Warning, until, message);
        }
        match cause {
            // The recorder sends a sync before the first packet, so nothing is missing before it.
            Cause::Joined if bytes == 0 => Flow::Continue(()),
            Cause::Joined => {
                let message =
                    format!("the recording began earlier: skipped {}", counted(bytes, "byte"));
                out.trace.diagnostics.add(Severity::Note, from, message);
                out.loss(None, LossCause::Overwritten, from)
            }
            Cause::Truncated => {
                let message = format!("the input ends within a packet, after {bytes} of its bytes");
                out.trace.diagnostics.add(Severity::Note, from, message);
                out.loss(Some(1), LossCause::Truncated, from)
            }
            Cause::Cut => {
                let message = "the packet before this sync lacks bytes";
                out.damage(message, (None, LossCause::Damaged), from)
            }
            Cause::Fault(fault) => {
                let message =
                    format!("expected a packet, found {fault}; skipped {}", counted(bytes, "byte"));
                out.damage(message, (None, LossCause::Damaged), from)
            }
        }
    }

    /// Decodes several streams of one recording.
    fn several(&mut self, head: &Head, input: Input<'_>, out: &mut Emitter<'_>) -> Flow {
        let length = input.bytes.len() as u64;
        let mut lanes = Vec::new();
        // One file: its head specifies the offset of each core's stream.
        if self.parts.is_empty() {
            add_head(out.trace, head, input.offset);
            let begins = begins(head, length, out.trace);
            for (index, (core, begin)) in begins.iter().enumerate() {
                let end = begins.get(index + 1).map_or(length, |(_, next)| *next);
                let stream = Stream::new(*begin, self.core_in_id || head.core_in_id);
                lanes.push((Lane::new(stream, *core), end));
            }
        } else {
            // Several files: each has a head of its own, and their order is the order of the cores.
            let starts = std::iter::once(0).chain(self.parts.iter().copied());
            let starts: Vec<_> = starts.filter(|start| *start <= input.bytes.len()).collect();
            for (index, start) in starts.iter().enumerate() {
                let end = starts.get(index + 1).copied().unwrap_or(input.bytes.len());
                let bytes = input.bytes.get(*start..end).unwrap_or_default();
                let Some(head) = head::read(bytes, true) else { continue };
                let mut lane = self.begin(&head, *start as u64, out.trace);
                lane.cpu = u16::try_from(index).unwrap_or(u16::MAX);
                lanes.push((lane, end as u64));
            }
        }
        self.merges = true;
        let mut merger = Merger::new(lanes, input);
        merger.begin(&self.events, out.trace);
        while let Some((index, next)) = merger.earliest() {
            let Some(lane) = merger.lane(index) else { break };
            match next {
                Next::Packet(packet, place) => self.packet(lane, &packet, place, out)?,
                // The decoder has already added an event for the same packet of another core.
                Next::Copy => {}
                Next::Skipped(skipped) => self.skipped(lane, skipped, out)?,
            }
            merger.advance(index, &self.events);
        }
        at_end(merger.advanced(), out)
    }
}

/// Returns the core numbers and beginnings of the streams in an input of `length` bytes.
fn begins(head: &Head, length: u64, trace: &mut Trace) -> Vec<(u16, u64)> {
    let mut begins = Vec::new();
    for (core, after) in &head.streams {
        match after.checked_add(head.length as u64) {
            Some(begin) if begin < length => begins.push((*core, begin)),
            // The stream is empty.
            Some(begin) if begin == length => {}
            _ => {
                let message = format!(
                    "expected the stream of core {core} at {after} bytes after the head, found the \
                     end of the input"
                );
                trace.diagnostics.add(Severity::Warning, length, message);
            }
        }
    }
    begins
}

/// Adds the texts of a head, and reports the invalid lines of the head. `offset` is the position of
/// the head in the source.
fn add_head(trace: &mut Trace, head: &Head, offset: u64) {
    for ignored in &head.ignored {
        let message = "expected at most 256 lines 'Offset CoreN BYTES' with N below 256; ignored \
                       this line";
        trace.diagnostics.add(Severity::Warning, offset + ignored, message);
    }
    for (name, text) in &head.texts {
        if trace.texts.iter().all(|(known, _)| known != name) {
            trace.texts.push((name, text.clone()));
        }
    }
}

/// Delivers the last events, and reports a clock that did not run.
fn at_end(advanced: bool, out: &mut Emitter<'_>) -> Flow {
    out.flush()?;
    if !advanced && out.trace.events > MANY_EVENTS {
        let message = "all events have the same time: the target's counter did not run; \
                       their order is right";
        out.trace.diagnostics.add(Severity::Warning, None, message);
    }
    Flow::Continue(())
}
