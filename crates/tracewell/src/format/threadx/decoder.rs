//! Finds the dumps of a run in the input and passes each one to [`run`](super::run).

use std::sync::Arc;

use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{Header, HeaderError};

use super::image::Image;
use super::locate;
use super::ring::are_of_tracing;
use super::run::Run;
use super::slots::Slots;
use super::survey::ClockOptions;
use super::{FORMAT, custom_events};
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
            let step = if begins { self.first(window, out)? } else { self.further(window, out) };
            match step {
                Step::Wanted(wanted) => return Ok(Progress::More { consumed: from, wanted }),
                Step::Over => return Ok(Progress::Done),
                Step::Read(read) => from += read,
            }
            if input.last && from >= input.bytes.len() {
                self.remark_on_rest(out.trace);
                return Ok(Progress::Done);
            }
        }
    }
}

/// The result of examining the input at one position.
enum Step {
    /// The decoder needs this many bytes to continue.
    Wanted(usize),
    /// The decoder has finished with this many bytes.
    Read(usize),
    /// The sink needs no further events.
    Over,
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

    /// Decodes the dump at the start of a file of the run.
    fn first(&mut self, input: Input<'_>, out: &mut Emitter<'_>) -> Result<Step, ReadError> {
        self.remark_on_rest(out.trace);
        let start = match self.start(&input)? {
            Start::At(start) => start,
            Start::Wanted(wanted) => return Ok(Step::Wanted(wanted)),
        };
        let bytes = input.bytes.get(start..).unwrap_or_default();
        let offset = input.offset + start as u64;
        // If the image is not complete, the diagnostics of this call are discarded.
        let mut diagnostics = Diagnostics::default();
        let image = Image::read(bytes, offset, input.last, &mut diagnostics)?;
        let end = self.needed(&image, bytes);
        if bytes.len() < end && !input.last {
            return Ok(Step::Wanted(start.saturating_add(end)));
        }
        if start > 0 && self.offset.is_none() {
            let message = "the dump starts here, not at byte 0";
            diagnostics.add(Severity::Note, offset, message);
        }
        Ok(self.read(&image, start, input, diagnostics, out))
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

    fn read(
        &mut self,
        image: &Image,
        start: usize,
        input: Input<'_>,
        diagnostics: Diagnostics,
        out: &mut Emitter<'_>,
    ) -> Step {
        let trace = &mut *out.trace;
        // Add the diagnostics of the header after the diagnostics of earlier dumps.
        let earlier = std::mem::replace(&mut trace.diagnostics, diagnostics);
        trace.diagnostics.prepend(&earlier);
        let bytes = input.bytes.get(start..).unwrap_or_default();
        let offset = input.offset + start as u64;
        // A later dump of the same ring has the same layout.
        let more = !input.last
            || bytes.len() >= image.end().saturating_add(image.layout.header_size())
            || self.parts.iter().any(|part| *part as u64 > offset);
        let run = self.run.get_or_insert_with(|| {
            let Self { clock_options, oldest, only_first, threads, .. } = self;
            Run::new(*clock_options, *oldest, *only_first, threads.clone())
        });
        let flow = run.read(image, (bytes, offset, more), out);
        // Do not decode further dumps if the sink needs no further events. For other sinks, the
        // decoder waits for all bytes of a dump.
        if flow.is_break() || (bytes.len() < image.end() && !input.last) {
            return Step::Over;
        }
        Step::Read(start.saturating_add(image.end()).min(input.bytes.len()))
    }

    /// Examines the bytes after a dump: they can be unused, or another dump of the same ring.
    fn further(&mut self, input: Input<'_>, out: &mut Emitter<'_>) -> Step {
        let Some(run) = &self.run else { return Step::Read(input.bytes.len()) };
        if input.bytes.is_empty() && !input.last {
            return Step::Wanted(1);
        }
        if self.trailing.is_none() {
            // A later dump may begin anywhere within the search limit, so wait until all bytes up
            // to this limit have arrived.
            if input.bytes.len() < self.search.saturating_add(MAX_HEADER_LEN) && !input.last {
                return Step::Wanted(self.search.saturating_add(MAX_HEADER_LEN));
            }
            let found = locate::plausible(input.bytes, self.search);
            if let Some(found) = found.filter(|found| run.is_of_ring(found.layout, &found.header)) {
                let start = found.offset;
                let (bytes, offset) = (input.bytes.get(start..), input.offset + start as u64);
                let mut diagnostics = Diagnostics::default();
                let image = bytes.map(|b| Image::read(b, offset, input.last, &mut diagnostics));
                if let Some(Ok(image)) = image {
                    if input.bytes.len() < start.saturating_add(image.end()) && !input.last {
                        return Step::Wanted(start.saturating_add(image.end()));
                    }
                    let message = "another dump of the same buffer starts here: decoded as a later dump of the same run";
                    diagnostics.add(Severity::Note, offset, message);
                    return self.read(&image, start, input, diagnostics, out);
                }
            }
            if let Some(found) = found {
                let offset = input.offset + found.offset as u64;
                let message = format!(
                    "a dump of another buffer begins here and is not read (-O offset={offset} reads it)"
                );
                out.trace.diagnostics.add(Severity::Warning, offset, message);
            }
        }
        let (_, bytes) = self.trailing.get_or_insert((input.offset, 0));
        *bytes += input.bytes.len() as u64;
        Step::Read(input.bytes.len())
    }

    /// Reports bytes after a dump that are not part of another dump. Ignores a remainder that is
    /// smaller than a slot, because a kernel may leave such a remainder unused.
    fn remark_on_rest(&mut self, trace: &mut Trace) {
        let slot = self.run.as_ref().map_or(0, Run::slot_size);
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
