//! The reader: areas, runs, clock, then the records in order of time, batch by batch.

use std::ops::Range;

use tracewell_wire::shark::Record;

use super::container::{self, Areas, Kind, Missing};
use super::fill::State;
use super::order::{Merge, Step};
use super::runs::Survey;
use super::tasks::Tasks;
use super::{FORMAT, OPTIONS, PARAMETERS, clock};
use crate::format::{Decoder, Input, Names, OptionError, Options, Progress, ReadError, parts_of};
use crate::model::schema::Schema;
use crate::model::{
    Batch, Clock, Columns, Diagnostics, Fact, FactForm, Flow, Loss, PayloadLayout, Processor, Rate,
    Records, Severity, Sink, Span, Trace,
};
use crate::text::{counted, times};

/// Records of a batch: their columns and their bytes stay in the second-level cache.
const BATCH: usize = 4096;

/// Records side by side from which on they are worth a batch of their own.
const WORTH_A_BATCH: usize = 256;

/// How much of a part is looked at to recognise what it is.
const RECOGNISED_BY: usize = 64 * 1024;

#[derive(Debug)]
struct SharkDecoder {
    rate: Option<Rate>,
    names: Names,
    kind: Option<Kind>,
    parts: Vec<usize>,
}

/// Makes a reader with the options of this format.
pub(super) fn new(options: &Options) -> Result<Box<dyn Decoder>, OptionError> {
    options.check(OPTIONS)?;
    let names =
        options.get("names").map(|text| Names::parse(text, "name_pid_", "a pid")).transpose();
    let kind = |name: &str| {
        let found = Kind::NAMES.iter().find(|(known, _)| *known == name);
        let message = || format!("expected records, chunk or capture, found '{name}'");
        found.map(|(_, kind)| *kind).ok_or_else(|| OptionError::new("kind", message()))
    };
    Ok(Box::new(SharkDecoder {
        rate: options.parse("rate")?,
        names: names.map_err(|message| OptionError::new("names", message))?.unwrap_or_default(),
        kind: options.get("kind").map(kind).transpose()?,
        parts: parts_of(options)?,
    }))
}

impl Decoder for SharkDecoder {
    fn trace(&self) -> Trace {
        let payload = PayloadLayout::Fields(PARAMETERS);
        let clock = Clock::of_64_bits(self.rate);
        let trace = Trace::new(FORMAT.name, Schema::shark(), payload, clock);
        Trace { processor: Processor::Switches, ..trace }
    }

    fn decode(
        &mut self,
        input: Input<'_>,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Result<Progress, ReadError> {
        // The last record may be the first in time.
        if !input.last {
            return Ok(Progress::More { consumed: 0, wanted: input.bytes.len() + 1 });
        }
        let (areas, kind) = self.areas(input.bytes, &mut trace.diagnostics)?;
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
        let merge = Merge::new(bytes, survey.runs, &areas.missing);
        let first = merge.first().unwrap_or(0);
        trace.clock.first_stamp = first;
        clock::set(&mut trace.clock, survey.clock, first, self.rate, &mut trace.diagnostics);
        let state = State::new(first, Tasks::new(self.names.clone()));
        let columns = Columns::default();
        // A sink that wants no more ends the trace as its end does.
        let mut delivery = Delivery { bytes, trace, sink, state, columns, scattered: Vec::new() };
        let _ = delivery.all(merge);
        let manual = delivery.state.manual;
        if manual > 0 {
            let message = format!(
                "{} with the user manual's code for unlocking, 0x43; no kernel writes it",
                counted(manual, "record")
            );
            trace.diagnostics.add(Severity::Warning, None, message);
        }
        Ok(Progress::Done)
    }
}

impl SharkDecoder {
    /// The areas of all parts, and what the first part is.
    fn areas(&self, bytes: &[u8], remarks: &mut Diagnostics) -> Result<(Areas, Kind), ReadError> {
        let inner = self.parts.iter().copied().filter(|part| *part > 0 && *part < bytes.len());
        let mut starts: Vec<_> = std::iter::once(0).chain(inner).collect();
        starts.dedup();
        let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
        let mut areas = Areas::default();
        let mut first = None;
        for part in starts.iter().copied().zip(ends).map(|(start, end)| start..end) {
            let kind = self.kind_of(bytes.get(part.clone()).unwrap_or_default(), part.start)?;
            first.get_or_insert(kind);
            container::areas(kind, bytes, part, &mut areas, remarks);
        }
        Ok((areas, first.unwrap_or(Kind::Records)))
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
            let message = format!("stamps go back {} in memory order: a ring went round", times(n));
            remarks.add(Severity::Note, None, message);
        }
        n => {
            let message =
                format!("stamps go back {} in memory order: more than a ring does", times(n));
            remarks.add(Severity::Warning, None, message);
        }
    }
    if let Some(at) = survey.first_odd {
        let count = survey.odd;
        let message =
            format!("{count} code words have bits that no writer sets; here is the first");
        remarks.add(Severity::Warning, at as u64, message);
    }
}

/// Gives the records to the sink.
struct Delivery<'a> {
    bytes: &'a [u8],
    trace: &'a mut Trace,
    sink: &'a mut dyn Sink,
    state: State,
    columns: Columns,
    /// Places of records that come next and do not lie side by side.
    scattered: Vec<usize>,
}

impl Delivery<'_> {
    fn all(&mut self, merge: Merge<'_>) -> Flow {
        for step in merge {
            match step {
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
        let loss = Loss { before: self.trace.events, events, cause, offset: at as u64 };
        self.trace.losses.add(&loss);
        self.state.gap();
        self.sink.loss(self.trace, &loss)
    }

    fn side_by_side(&mut self, range: Range<usize>) -> Flow {
        let mut next = range.start;
        while next < range.end {
            let end = range.end.min(next + BATCH * Record::SIZE);
            let bytes = self.bytes.get(next..end).unwrap_or_default();
            let (slots, _) = bytes.as_chunks();
            let filled = self.state.fill(slots, self.trace, &mut self.columns);
            let records = Records::fixed(bytes, next as u64, Record::SIZE, 0);
            self.deliver(records)?;
            next += filled * Record::SIZE;
        }
        Flow::Continue(())
    }

    /// Delivers the records that do not lie side by side.
    fn flush(&mut self) -> Flow {
        let places = std::mem::take(&mut self.scattered);
        let mut rest = places.as_slice();
        while let Some(first) = rest.first() {
            let (low, within) = reach(rest, *first);
            let bytes = self.bytes.get(low..).unwrap_or_default();
            let slot = |place: &usize| bytes.get(place - low..).and_then(|b| b.first_chunk());
            let slots: Vec<_> = rest.iter().take(within).filter_map(slot).collect();
            let filled = self.state.fill(&slots, self.trace, &mut self.columns);
            let spans: Vec<_> = rest.iter().take(filled).map(|place| span(place - low)).collect();
            self.deliver(Records::variable(bytes, low as u64, &spans))?;
            rest = rest.get(filled.max(1)..).unwrap_or_default();
        }
        self.scattered = places;
        self.scattered.clear();
        Flow::Continue(())
    }

    fn deliver(&mut self, records: Records<'_>) -> Flow {
        let batch = Batch { first: self.trace.events, columns: &self.columns, records };
        self.trace.events += batch.len() as u64;
        self.trace.span = self.state.ticks();
        self.sink.events(self.trace, &batch)
    }
}

/// The lowest place of the first records of a list that a batch can hold, and how many those are:
/// positions within a batch have 32 bits.
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
