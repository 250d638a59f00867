//! Decodes an input. Finds the areas, runs and clock of the input, then delivers the records in
//! order of time, batch by batch.

use std::borrow::Borrow;
use std::ops::Range;
use std::sync::Arc;

use tracewell_wire::shark::Record;

use super::container::{self, Areas, Kind, Missing};
use super::order::{Merge, Step};
use super::rows::{Slot, State};
use super::runs::Survey;
use super::tasks::Tasks;
use super::{FORMAT, PARAMETERS, RecordCounts, clock};
use crate::format::{Decoder, Input, Names, OptionError, Progress, ReadError, Settings, parts};
use crate::model::schema::Schema;
use crate::model::{
    Clock, Diagnostics, Emitter, Fact, FactForm, Flow, PayloadLayout, Processor, Rate, Records,
    Severity, Span, Trace,
};
use crate::text::{counted, times};

/// Number of records per batch, chosen so that their columns and bytes stay in the second-level
/// cache.
const BATCH: usize = 4096;

/// Minimum number of adjacent records that are delivered as a separate batch.
const WORTH_A_BATCH: usize = 256;

/// Number of bytes at the start of a part that are enough to recognise its kind.
const RECOGNISED_BY: usize = 64 * 1024;

#[derive(Debug)]
struct SharkDecoder {
    schema: Arc<Schema>,
    rate: Option<Rate>,
    names: Names,
    kind: Option<Kind>,
    parts: Vec<usize>,
}

/// Creates a decoder with the options of this format.
pub(super) fn new(settings: &Settings) -> Result<Box<dyn Decoder>, OptionError> {
    let options = &settings.options;
    let kind = |name: &str| {
        let found = Kind::NAMES.iter().find(|(known, _)| *known == name);
        let message = || format!("expected records, chunk or capture, found '{name}'");
        found.map(|(_, kind)| *kind).ok_or_else(|| OptionError::new("kind", message()))
    };
    Ok(Box::new(SharkDecoder {
        schema: FORMAT.with_schemas(super::schema(), settings)?,
        rate: options.parse("rate")?,
        names: settings.numbered_names("name_pid_", "a pid")?,
        kind: options.get("kind").map(kind).transpose()?,
        parts: settings.parts.clone(),
    }))
}

impl Decoder for SharkDecoder {
    fn trace(&self) -> Trace {
        let payload = PayloadLayout::Fields(PARAMETERS);
        let clock = Clock::of_64_bits(self.rate);
        let trace = Trace::new(FORMAT.name, self.schema.clone(), payload, clock);
        Trace { processor: Processor::Switches, ..trace }
    }

    fn decode_to(
        &mut self,
        input: Input<'_>,
        out: &mut Emitter<'_>,
    ) -> Result<Progress, ReadError> {
        // Wait for the whole input, because the last record in the input may be the earliest one.
        if !input.last {
            return Ok(Progress::More { consumed: 0, wanted: input.bytes.len() + 1 });
        }
        let trace = &mut *out.trace;
        let (areas, kind) = self.areas(input.bytes, &mut trace.diagnostics)?;
        // Append the decompressed records to the input, so that one slice contains both.
        let joined: Vec<u8>;
        let bytes = if areas.unpacked.is_empty() {
            input.bytes
        } else {
            joined = [input.bytes, &areas.unpacked].concat();
            &joined
        };
        let mut survey = Survey::default();
        areas.list.iter().for_each(|area| survey.area(bytes, area));
        remark(&survey, &mut trace.diagnostics);
        trace.facts = facts(kind, self.parts.len(), &survey);
        let counts = RecordCounts { fast: survey.fast, descents: survey.descents };
        trace.dialect = Some(Box::new(counts));
        let merge = Merge::new(bytes, survey.runs, &areas.missing);
        let first = merge.first().unwrap_or(0);
        trace.clock.first_stamp = first;
        clock::set(&mut trace.clock, survey.clock, first, self.rate, &mut trace.diagnostics);
        let state = State::new(first, Tasks::new(self.names.clone()));
        // If the sink returns `Break`, the trace ends there.
        let mut delivery = Delivery { bytes, out, state, scattered: Vec::new() };
        let is_read = delivery.all(merge).is_continue();
        let Delivery { state, out, .. } = delivery;
        if is_read {
            state.names().remark("pid", &mut out.trace.diagnostics);
        }
        let manual = state.manual();
        if manual > 0 {
            let message = format!(
                "{} with code 0x43 (unlock); the user manual defines it, but no kernel writes it",
                counted(manual, "record")
            );
            out.trace.diagnostics.add(Severity::Warning, None, message);
        }
        Ok(Progress::Done)
    }
}

impl SharkDecoder {
    /// Returns the areas of all parts, and the kind of the first readable part.
    fn areas(&self, bytes: &[u8], remarks: &mut Diagnostics) -> Result<(Areas, Kind), ReadError> {
        let mut areas = Areas::default();
        let (mut first, mut failed) = (None, None);
        for part in parts::ranges(&self.parts, bytes.len()) {
            match self.kind_of(bytes.get(part.clone()).unwrap_or_default(), part.start) {
                Ok(kind) => {
                    first.get_or_insert(kind);
                    container::areas(kind, bytes, part, &mut areas, remarks);
                }
                Err(error) => {
                    remarks.add(Severity::Damage, error.offset, error.message.as_str());
                    failed.get_or_insert(error);
                }
            }
        }
        match (first, failed) {
            (None, Some(error)) => Err(error),
            (first, _) => Ok((areas, first.unwrap_or(Kind::Records))),
        }
    }

    fn kind_of(&self, part: &[u8], start: usize) -> Result<Kind, ReadError> {
        let look = || container::recognise(part.get(..RECOGNISED_BY).unwrap_or(part));
        let message = "expected records of S.Ha.R.K.'s new tracer, found something else (-O kind=)";
        let error = || ReadError { offset: start as u64, message: message.to_owned() };
        self.kind.or_else(|| look().map(|(kind, _)| kind)).ok_or_else(error)
    }
}

fn facts(kind: Kind, further_parts: usize, survey: &Survey) -> Vec<Fact> {
    let decimal = |name, value| Fact { name, value, form: FactForm::Decimal };
    let name = Kind::NAMES.iter().find(|(_, known)| *known == kind).map_or("", |(name, _)| name);
    vec![
        Fact { name: "kind", value: kind as u64, form: FactForm::Text(name) },
        decimal("parts", further_parts as u64 + 1),
        decimal("slots", survey.slots),
        decimal("empty_slots", survey.empty),
        decimal("fast_records", survey.fast),
        decimal("descents", survey.descents),
    ]
}

fn remark(survey: &Survey, remarks: &mut Diagnostics) {
    match survey.descents {
        0 => {}
        n @ 1..=2 => {
            let message =
                format!("timestamps decrease {} in memory order: a ring wrapped", times(n));
            remarks.add(Severity::Note, None, message);
        }
        n => {
            let message = format!(
                "timestamps decrease {} in memory order: more often than in a ring",
                times(n)
            );
            remarks.add(Severity::Warning, None, message);
        }
    }
    if let Some(at) = survey.first_odd {
        let count = survey.odd;
        let message =
            format!("{count} code words have bits that no writer sets; the first one is here");
        remarks.add(Severity::Warning, at as u64, message);
    }
}

/// Delivers the records to the sink.
struct Delivery<'a, 'b> {
    bytes: &'a [u8],
    out: &'a mut Emitter<'b>,
    state: State,
    /// Offsets of the records to deliver next, if they are not adjacent.
    scattered: Vec<usize>,
}

impl Delivery<'_, '_> {
    fn all(&mut self, merge: Merge<'_>) -> Flow {
        for step in merge {
            match step {
                // Collect records from short ranges before delivering them, because a batch has a
                // fixed cost.
                Step::Records(range) if range.len() < WORTH_A_BATCH * Record::SIZE => {
                    self.scattered.extend(range.step_by(Record::SIZE));
                    if self.scattered.len() >= BATCH {
                        self.flush()?;
                    }
                }
                Step::Records(range) => {
                    self.flush()?;
                    self.side_by_side(range)?;
                }
                Step::Missing(missing, at) => {
                    self.flush()?;
                    self.missing(missing, at)?;
                }
            }
        }
        self.flush()
    }

    fn missing(&mut self, Missing { events, cause }: Missing, at: usize) -> Flow {
        self.state.gap();
        self.out.loss(events, cause, at as u64)
    }

    fn side_by_side(&mut self, range: Range<usize>) -> Flow {
        let mut next = range.start;
        while next < range.end {
            let end = range.end.min(next + BATCH * Record::SIZE);
            let bytes = self.bytes.get(next..end).unwrap_or_default();
            let (slots, _) = bytes.as_chunks();
            let filled = self.fill(slots);
            let records = Records::fixed(bytes, next as u64, Record::SIZE, 0);
            self.out.batch(records)?;
            next += filled * Record::SIZE;
        }
        Flow::Continue(())
    }

    /// Delivers the records that are not adjacent.
    fn flush(&mut self) -> Flow {
        let places = std::mem::take(&mut self.scattered);
        let mut rest = places.as_slice();
        while let Some(first) = rest.first() {
            let (low, within) = reach(rest, *first);
            let bytes = self.bytes.get(low..).unwrap_or_default();
            let slot = |place: &usize| bytes.get(place - low..).and_then(|b| b.first_chunk());
            // The records are not adjacent, so the batch contains the offset of each.
            let slots: Vec<_> = rest.iter().take(within).filter_map(slot).collect();
            let filled = self.fill(&slots);
            let spans: Vec<_> = rest.iter().take(filled).map(|place| span(place - low)).collect();
            self.out.batch(Records::variable(bytes, low as u64, &spans))?;
            rest = rest.get(filled.max(1)..).unwrap_or_default();
        }
        self.scattered = places;
        self.scattered.clear();
        Flow::Continue(())
    }

    /// Fills the columns of the next batch and returns the number of records in it.
    fn fill<S: Borrow<Slot>>(&mut self, slots: &[S]) -> usize {
        self.out.columns(|trace, columns| self.state.fill(slots, trace, columns))
    }
}

/// Determines how many of the first records of a list fit into one batch. Returns the lowest offset
/// of these records, and their number. Positions within a batch have 32 bits.
fn reach(places: &[usize], first: usize) -> (usize, usize) {
    let (mut low, mut high) = (first, first);
    let mut within = 0;
    for place in places.iter().take(BATCH) {
        let (lower, higher) = (low.min(*place), high.max(*place));
        if higher - lower > u32::MAX as usize - Record::SIZE {
            break;
        }
        (low, high) = (lower, higher);
        within += 1;
    }
    (low, within)
}

fn span(start: usize) -> Span {
    let start = u32::try_from(start).unwrap_or(u32::MAX - Record::SIZE as u32);
    Span { start, payload: start, end: start + Record::SIZE as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_of_scattered_records_has_a_limited_number_and_reach() {
        let places: Vec<_> = (0..BATCH + 1).map(|place| 32 * place + 64).rev().collect();
        let (first, last) = (places[0], places[BATCH - 1]);
        assert_eq!(reach(&places, first), (last, BATCH));
        assert_eq!(reach(&places[BATCH - 1..], last), (64, 2));
        let most = u32::MAX as usize - Record::SIZE;
        assert_eq!(reach(&[0, most, most + 1], 0), (0, 2));
    }
}
