//! Finds the dumps of a run in the input and passes each one to [`run`](super::run). If the whole
//! input is in memory, the clock is inferred from all dumps.

use std::sync::Arc;

use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{Header, HeaderError};

use super::image::Image;
use super::locate;
use super::ring::{Ring, are_of_tracing};
use super::run::Run;
use super::slots::Slots;
use super::survey::{ClockOptions, Survey};
use super::{FORMAT, custom_events};
use crate::format::parts;
use crate::format::{Decoder, Input, OptionError, Progress, ReadError, Settings};
use crate::model::schema::Schema;
use crate::model::{
    Clock, Counter, Diagnostics, Direction, Emitter, PayloadLayout, Processor, Severity, Trace,
};
use crate::threads::Threads;

/// Length in bytes of the header of a target with 64-bit words.
const MAX_HEADER_LEN: usize = 96;

#[derive(Debug)]
struct ThreadxDecoder {
    /// The schema, including the events that the user named.
    schema: Arc<Schema>,
    /// Diagnostics about the user's names.
    problems: Diagnostics,
    clock_options: ClockOptions,
    offset: Option<usize>,
    search: usize,
    oldest: Option<usize>,
    /// Offsets in the source at which further files of the run start.
    parts: Vec<usize>,
    run: Option<Run>,
    /// The error of the first file of the run that cannot be read.
    failed: Option<ReadError>,
    /// Number of threads that may decode events.
    threads: Threads,
    /// Number of events that the sink wants; `None` if it wants all.
    only_first: Option<usize>,
    /// Offset and number of the bytes after the last dump, if they do not belong to another dump.
    trailing: Option<(u64, u64)>,
}

/// Creates a decoder with the options of this format.
pub(super) fn new(settings: &Settings) -> Result<Box<dyn Decoder>, OptionError> {
    let options = &settings.options;
    if let Some(text) = options.get("names") {
        let message = format!("expected a file of custom events (.trxc), found '{text}'");
        return Err(OptionError::new("names", message));
    }
    let size = |key| -> Result<Option<usize>, OptionError> {
        let too_large = || OptionError::new(key, "larger than this machine's memory");
        options.number(key)?.map(|n| usize::try_from(n).map_err(|_| too_large())).transpose()
    };
    let direction = match options.get("direction") {
        None => None,
        Some("up") => Some(Direction::Up),
        Some("down") => Some(Direction::Down),
        Some(other) => {
            let message = format!("expected up or down, found '{other}'");
            return Err(OptionError::new("direction", message));
        }
    };
    let modulus = options.number("modulus")?;
    if modulus == Some(0) {
        return Err(OptionError::new("modulus", "expected at least 1, found 0"));
    }
    let (schema, problems) = custom_events::schema(&settings.names);
    let schema = FORMAT.with_schemas(schema, settings)?;
    Ok(Box::new(ThreadxDecoder {
        schema,
        problems,
        clock_options: ClockOptions { rate: options.parse("rate")?, direction, modulus },
        offset: size("offset")?,
        search: size("search")?.unwrap_or(locate::DEFAULT_SEARCH_LIMIT),
        oldest: size("oldest")?,
        parts: settings.parts.clone(),
        run: None,
        failed: None,
        threads: Threads::new(settings.threads),
        only_first: settings.only_first,
        trailing: None,
    }))
}

impl Decoder for ThreadxDecoder {
    fn trace(&self) -> Trace {
        let counter = Counter::of_mask(u64::from(u32::MAX), Direction::Up);
        let payload = PayloadLayout::Words { order: ByteOrder::Little, bytes: 4 };
        let clock = Clock::new(self.clock_options.rate, counter);
        let trace = Trace::new(FORMAT.name, self.schema.clone(), payload, clock);
        let diagnostics = self.problems.clone();
        Trace { processor: Processor::Switches, diagnostics, ..trace }
    }

    fn decode_to(
        &mut self,
        input: Input<'_>,
        out: &mut Emitter<'_>,
    ) -> Result<Progress, ReadError> {
        // Several files are in memory, so wait for all of them.
        if !self.parts.is_empty() && !input.last {
            return Ok(Progress::More { consumed: 0, wanted: input.bytes.len() + 1 });
        }
        // If dumps arrive one by one, the first dump determines the clock.
        let survey = if self.run.is_none() && input.last { self.survey(input.bytes) } else { None };
        let mut from = 0;
        loop {
            let offset = input.offset + from as u64;
            let rest = input.bytes.get(from..).unwrap_or_default();
            // A file of the run ends where the next one begins.
            let next = self.parts.iter().map(|part| *part as u64).find(|part| *part > offset);
            let room = next.map_or(usize::MAX, |next| (next - offset) as usize);
            let last = input.last || rest.len() >= room;
            let bytes = rest.get(..room.min(rest.len())).unwrap_or_default();
            let begins = self.run.is_none() || self.parts.contains(&(offset as usize));
            let window = Input { offset, bytes, last };
            if begins {
                self.remark_on_rest(out.trace);
            }
            let previous = self.run.as_ref().and_then(Run::image).filter(|_| !begins);
            let found = match previous {
                Some(previous) => Ok(self.further(&window, previous)),
                None => self.first(&window),
            };
            match found {
                Ok(Next::Wanted(wanted)) => {
                    return Ok(Progress::More { consumed: from, wanted });
                }
                Ok(Next::Dump(dump)) => match self.read(dump, survey, window, out) {
                    Some(read) => from += read,
                    None => return Ok(Progress::Done),
                },
                Ok(Next::Rest(remarks)) => {
                    out.trace.diagnostics.append(remarks);
                    let (_, trailing) = self.trailing.get_or_insert((offset, 0));
                    *trailing += bytes.len() as u64;
                    from += bytes.len();
                }
                Err(error) if self.parts.is_empty() => return Err(error),
                // The other files of the run may be readable.
                Err(error) => {
                    out.trace.diagnostics.add(Severity::Damage, error.offset, &*error.message);
                    self.failed.get_or_insert(error);
                    from += bytes.len();
                }
            }
            if input.last && from >= input.bytes.len() {
                self.remark_on_rest(out.trace);
                let failed = self.failed.take().filter(|_| self.run.is_none());
                return failed.map_or(Ok(Progress::Done), Err);
            }
        }
    }
}

/// The result of examining the input at one position.
enum Next {
    /// The decoder needs this many bytes to continue.
    Wanted(usize),
    Dump(Found),
    /// No dump follows. The diagnostics are about the bytes.
    Rest(Diagnostics),
}

/// A dump in the input.
struct Found {
    /// Offset of the image in the input.
    start: usize,
    image: Image,
    diagnostics: Diagnostics,
}

/// Either the offset of the image, or the number of bytes that are needed to find it.
enum Start {
    At(usize),
    Wanted(usize),
}

impl ThreadxDecoder {
    fn start(&self, input: &Input<'_>) -> Result<Start, ReadError> {
        let at = self.offset.unwrap_or(0);
        let here = input.bytes.get(at..).unwrap_or_default();
        if here.len() < MAX_HEADER_LEN && !input.last {
            // The width of a header's words can be seen only from its last words.
            return Ok(Start::Wanted(at.saturating_add(MAX_HEADER_LEN)));
        }
        match Header::read(here) {
            Ok(_) => Ok(Start::At(at)),
            Err(error @ HeaderError::NotThreadX { .. }) if self.offset.is_none() => {
                if input.bytes.len() < self.search && !input.last {
                    return Ok(Start::Wanted(self.search));
                }
                match locate::locate(input.bytes, self.search) {
                    Some(found) => Ok(Start::At(found.offset)),
                    None => Err(self.no_dump(input, error)),
                }
            }
            Err(_) => Ok(Start::At(at)),
        }
    }

    /// Returns the error for an input in which no dump was found. `error` is the fault at the start
    /// of the input.
    fn no_dump(&self, input: &Input<'_>, error: HeaderError) -> ReadError {
        let searched = input.bytes.len().min(self.search);
        let is_blank = input.bytes.iter().take(searched).all(|byte| *byte == 0);
        let message = if is_blank && input.last && input.bytes.len() == searched {
            "expected a ThreadX trace, found only zeros: tx_trace_enable was not called, or the \
             trace is at another address"
                .to_owned()
        } else if input.last && input.bytes.len() == searched {
            error.to_string()
        } else {
            format!(
                "{error}, and no trace in the first {searched} bytes; -O search=BYTES searches \
                 more of the input"
            )
        };
        ReadError { offset: input.offset, message }
    }

    /// Returns the sum of the surveys of all dumps in a whole input, or `None` if the input does
    /// not contain several dumps.
    fn survey(&self, bytes: &[u8]) -> Option<Survey> {
        let mut dumps: Vec<(Image, &[u8])> = Vec::new();
        for part in parts::ranges(&self.parts, bytes.len()) {
            let mut at = part.start;
            while let Some(bytes) = bytes.get(at..part.end) {
                let input = Input { offset: at as u64, bytes, last: true };
                let next = match dumps.last().filter(|_| at > part.start) {
                    Some((previous, _)) => self.further(&input, previous),
                    None => self.first(&input).unwrap_or(Next::Rest(Diagnostics::default())),
                };
                let Next::Dump(Found { start, image, .. }) = next else { break };
                if dumps.first().is_none_or(|(first, _)| first.is_alike(&image)) {
                    dumps.push((image, bytes.get(start..).unwrap_or_default()));
                }
                at = at.saturating_add(start).saturating_add(image.end());
            }
        }
        if dumps.len() < 2 {
            return None;
        }
        let surveys = dumps.iter().map(|(image, bytes)| {
            let ring = Ring::new(image, bytes, 0, self.oldest);
            ring.survey(ring.order(), image.header.timer_valid_mask, None)
        });
        surveys.reduce(Survey::with_dump)
    }

    /// Finds the dump at the start of a file of the run.
    fn first(&self, input: &Input<'_>) -> Result<Next, ReadError> {
        let start = match self.start(input)? {
            Start::At(start) => start,
            Start::Wanted(wanted) => return Ok(Next::Wanted(wanted)),
        };
        let bytes = input.bytes.get(start..).unwrap_or_default();
        let offset = input.offset + start as u64;
        let mut diagnostics = Diagnostics::default();
        let image = Image::read(bytes, offset, input.last, &mut diagnostics)?;
        let end = self.needed(&image, bytes);
        if bytes.len() < end && !input.last {
            return Ok(Next::Wanted(start.saturating_add(end)));
        }
        if start > 0 && self.offset.is_none() {
            let message = "the dump starts here, not at byte 0";
            diagnostics.add(Severity::Note, offset, message);
        }
        Ok(Next::Dump(Found { start, image, diagnostics }))
    }

    /// Returns the number of bytes of a dump that are needed to read the wanted events.
    fn needed(&self, image: &Image, bytes: &[u8]) -> usize {
        let current = image.current_slot().filter(|_| self.oldest.is_none());
        let (Some(events), Some(current)) = (self.only_first, current) else { return image.end() };
        // If a ring has wrapped, its oldest event is in the slot to be written next. A ring that
        // still begins with the first events has not wrapped.
        let begins = are_of_tracing(Slots::new(image.slots(bytes), image.layout));
        image.end_of(if begins { events } else { current.saturating_add(events) })
    }

    /// Reads a dump. Returns the number of bytes that are read, or `None` if the sink needs no
    /// further events. `survey` is the survey of all dumps, if they are known.
    fn read(
        &mut self,
        found: Found,
        survey: Option<Survey>,
        input: Input<'_>,
        out: &mut Emitter<'_>,
    ) -> Option<usize> {
        let Found { start, image, diagnostics } = found;
        out.trace.diagnostics.append(diagnostics);
        let bytes = input.bytes.get(start..).unwrap_or_default();
        let offset = input.offset + start as u64;
        // A later dump of the same ring has the same layout.
        let more = !input.last
            || bytes.len() >= image.end().saturating_add(image.layout.header_size())
            || self.parts.iter().any(|part| *part as u64 > offset);
        let run = self.run.get_or_insert_with(|| {
            let Self { clock_options, oldest, only_first, threads, .. } = self;
            Run::new((*clock_options, survey), *oldest, *only_first, threads.clone())
        });
        let flow = run.read(&image, (bytes, offset, more), out);
        // Do not decode further dumps if the sink needs no further events. For other sinks, the
        // decoder waits for all bytes of a dump.
        if flow.is_break() || (bytes.len() < image.end() && !input.last) {
            return None;
        }
        Some(start.saturating_add(image.end()).min(input.bytes.len()))
    }

    /// Examines the bytes after a dump: they can be unused, or another dump of the same ring as the
    /// previous one.
    fn further(&self, input: &Input<'_>, previous: &Image) -> Next {
        let mut diagnostics = Diagnostics::default();
        if input.bytes.is_empty() && !input.last {
            return Next::Wanted(1);
        }
        if self.trailing.is_some() {
            return Next::Rest(diagnostics);
        }
        // A later dump may begin anywhere within the search limit, so wait until all bytes up to
        // this limit have arrived.
        if input.bytes.len() < self.search.saturating_add(MAX_HEADER_LEN) && !input.last {
            return Next::Wanted(self.search.saturating_add(MAX_HEADER_LEN));
        }
        let Some(found) = locate::plausible(input.bytes, self.search) else {
            return Next::Rest(diagnostics);
        };
        let start = found.offset;
        let offset = input.offset + start as u64;
        if previous.is_of_ring(found.layout, &found.header) {
            let bytes = input.bytes.get(start..).unwrap_or_default();
            if let Ok(image) = Image::read(bytes, offset, input.last, &mut diagnostics) {
                let end = start.saturating_add(image.end());
                if input.bytes.len() < end && !input.last {
                    return Next::Wanted(end);
                }
                let message = "another dump of the same buffer starts here: decoded as a later dump of the same run";
                diagnostics.add(Severity::Note, offset, message);
                return Next::Dump(Found { start, image, diagnostics });
            }
        }
        let message = format!(
            "a dump of another buffer begins here and is not read (-O offset={offset} reads it)"
        );
        diagnostics.add(Severity::Warning, offset, message);
        Next::Rest(diagnostics)
    }

    /// Reports bytes after a dump that are not part of another dump. Ignores a remainder that is
    /// smaller than a slot, because a kernel may leave such a remainder unused.
    fn remark_on_rest(&mut self, trace: &mut Trace) {
        let image = self.run.as_ref().and_then(Run::image);
        let slot = image.map_or(0, |image| image.layout.event_size() as u64);
        if let Some((offset, bytes)) = self.trailing.take().filter(|(_, bytes)| *bytes >= slot) {
            let message = format!("the {bytes} bytes from here on belong to no dump");
            trace.diagnostics.add(Severity::Note, offset, message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Reading, State};
    use crate::model::{Batch, Flow, Sink};

    /// The sequence numbers and the ids of events.
    #[derive(Default, PartialEq, Debug)]
    struct Seen(Vec<(u64, u32)>);

    impl Sink for Seen {
        fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
            self.0.extend(batch.events().map(|row| (row.seq, row.id)));
            Flow::Continue(())
        }
    }

    /// Offset of the word `buffer_current` in a header.
    const CURRENT: usize = 32;

    #[test]
    fn the_first_events_need_only_their_bytes() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scheduling.trx");
        let dump = std::fs::read(path).unwrap();
        let image = Image::read(&dump, 0, true, &mut Diagnostics::default()).unwrap();
        // The same dump after the ring has wrapped: the oldest event is in slot 300.
        let mut wrapped = dump.clone();
        let size = image.layout.event_size();
        let slot = |number: usize| image.events + number * size;
        wrapped.copy_within(slot(10)..slot(12), slot(0));
        let current = image.header.buffer_start + (300 * size) as u64;
        wrapped[CURRENT..][..4].copy_from_slice(&(current as u32).to_le_bytes());
        for (dump, oldest) in [(dump, 0), (wrapped, 300)] {
            let settings = |only_first| Settings { only_first, ..Settings::default() };
            let read = |only_first, bytes: &[u8]| {
                let mut reading = Reading::begin(&FORMAT, &settings(only_first)).unwrap();
                let mut seen = Seen::default();
                let state = reading.push(bytes, &mut seen).unwrap();
                (seen, state)
            };
            let mut all = Seen::default();
            let mut reading = Reading::begin(&FORMAT, &settings(None)).unwrap();
            reading.push(&dump, &mut all).unwrap();
            reading.end(&mut all).unwrap();
            assert!(all.0.len() > 1000);
            let end = slot(oldest + 100);
            let (first, state) = read(Some(100), &dump[..end]);
            assert!(matches!(state, State::Done), "{state:?}");
            assert_eq!(first.0, all.0[..100]);
            for (events, bytes) in [(Some(100), end - 1), (Some(101), end), (None, image.end() - 1)]
            {
                let (none, state) = read(events, &dump[..bytes]);
                assert!(matches!(state, State::Wanting), "{events:?} of {bytes} bytes: {state:?}");
                assert_eq!(none, Seen::default());
            }
        }
    }
}
