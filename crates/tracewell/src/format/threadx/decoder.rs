//! The reader: finds each dump of a run and reads it ([`run`](super::run)).

use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{Header, HeaderError};

use super::image::Image;
use super::locate;
use super::run::Run;
use super::survey::Known;
use super::{FORMAT, OPTIONS};
use crate::format::{Decoder, Input, OptionError, Options, Progress, ReadError, parts_of};
use crate::model::schema::Schema;
use crate::model::{
    Clock, Counter, Diagnostics, Direction, PayloadLayout, Processor, Severity, Sink, Trace,
};

/// Bytes of the header of a target whose words have 64 bits.
const LONGEST_HEADER: usize = 96;

#[derive(Debug)]
struct ThreadxDecoder {
    known: Known,
    offset: Option<usize>,
    search: usize,
    oldest: Option<usize>,
    /// Where further files of a run begin in the source.
    parts: Vec<usize>,
    run: Option<Run>,
    /// Bytes that no dump claims, behind the last one, and where they begin.
    behind: Option<(u64, u64)>,
}

/// Makes a reader with the options of this format.
pub(super) fn new(options: &Options) -> Result<Box<dyn Decoder>, OptionError> {
    options.check(OPTIONS)?;
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
    Ok(Box::new(ThreadxDecoder {
        known: Known { rate: options.parse("rate")?, direction, modulus },
        offset: size("offset")?,
        search: size("search")?.unwrap_or(locate::DEFAULT_SEARCH_LIMIT),
        oldest: size("oldest")?,
        parts: parts_of(options)?,
        run: None,
        behind: None,
    }))
}

impl Decoder for ThreadxDecoder {
    fn trace(&self) -> Trace {
        let counter = Counter::of_mask(u64::from(u32::MAX), Direction::Up);
        let payload = PayloadLayout::Words { order: ByteOrder::Little, bytes: 4 };
        let clock = Clock::new(self.known.rate, counter);
        let trace = Trace::new(FORMAT.name, Schema::threadx(), payload, clock);
        Trace { processor: Processor::Switches, ..trace }
    }

    fn decode(
        &mut self,
        input: Input<'_>,
        trace: &mut Trace,
        sink: &mut dyn Sink,
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
            let step = if begins {
                self.first(window, trace, sink)?
            } else {
                self.further(window, trace, sink)
            };
            match step {
                Step::Wanted(wanted) => return Ok(Progress::More { consumed: from, wanted }),
                Step::Over => return Ok(Progress::Done),
                Step::Read(read) => from += read,
            }
            if input.last && from >= input.bytes.len() {
                self.remark_on_rest(trace);
                return Ok(Progress::Done);
            }
        }
    }
}

/// What came of looking at a place of the input.
enum Step {
    /// So many bytes must be there.
    Wanted(usize),
    /// So many bytes were dealt with.
    Read(usize),
    /// The sink wants no more.
    Over,
}

/// Where the image begins, or how many bytes must be there to tell.
enum Start {
    At(usize),
    Wanted(usize),
}

impl ThreadxDecoder {
    fn start(&self, input: &Input<'_>) -> Result<Start, ReadError> {
        let at = self.offset.unwrap_or(0);
        let here = input.bytes.get(at..).unwrap_or_default();
        if here.len() < LONGEST_HEADER && !input.last {
            // The width of a header shows only in its last words.
            return Ok(Start::Wanted(at.saturating_add(LONGEST_HEADER)));
        }
        match Header::read(here) {
            Ok(_) => Ok(Start::At(at)),
            Err(HeaderError::NotThreadX { .. }) if self.offset.is_none() => {
                if input.bytes.len() < self.search && !input.last {
                    return Ok(Start::Wanted(self.search));
                }
                match locate::locate(input.bytes, self.search) {
                    Some(found) => Ok(Start::At(found.offset)),
                    // The error of the place where a dump should begin says most.
                    None => Ok(Start::At(at)),
                }
            }
            Err(_) => Ok(Start::At(at)),
        }
    }

    /// Reads the dump of a file of the run.
    fn first(
        &mut self,
        input: Input<'_>,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Result<Step, ReadError> {
        self.remark_on_rest(trace);
        let start = match self.start(&input)? {
            Start::At(start) => start,
            Start::Wanted(wanted) => return Ok(Step::Wanted(wanted)),
        };
        let bytes = input.bytes.get(start..).unwrap_or_default();
        let offset = input.offset + start as u64;
        // Remarks are kept only from the call that sees the whole image.
        let mut diagnostics = Diagnostics::default();
        let image = Image::read(bytes, offset, input.last, &mut diagnostics)?;
        if bytes.len() < image.end() && !input.last {
            return Ok(Step::Wanted(start.saturating_add(image.end())));
        }
        if start > 0 && self.offset.is_none() {
            let message = "the dump does not begin at byte 0 but here";
            diagnostics.add(Severity::Note, offset, message);
        }
        Ok(self.read(&image, start, input, diagnostics, (trace, sink)))
    }

    fn read(
        &mut self,
        image: &Image,
        start: usize,
        input: Input<'_>,
        diagnostics: Diagnostics,
        (trace, sink): (&mut Trace, &mut dyn Sink),
    ) -> Step {
        let earlier = std::mem::replace(&mut trace.diagnostics, diagnostics);
        trace.diagnostics.prepend(&earlier);
        let bytes = input.bytes.get(start..).unwrap_or_default();
        let offset = input.offset + start as u64;
        let more = !input.last
            || bytes.len() > image.end()
            || self.parts.iter().any(|part| *part as u64 > offset);
        let run = self.run.get_or_insert_with(|| Run::new(self.known, self.oldest));
        let flow = run.read(image, (bytes, offset, more), trace, sink);
        // A broken-off walk has delivered what its sink wanted.
        if flow.is_break() {
            return Step::Over;
        }
        Step::Read(start.saturating_add(image.end()).min(input.bytes.len()))
    }

    /// Looks at what lies behind a dump: slack, or another dump of the same ring.
    fn further(&mut self, input: Input<'_>, trace: &mut Trace, sink: &mut dyn Sink) -> Step {
        let Some(run) = &self.run else { return Step::Read(input.bytes.len()) };
        if input.bytes.is_empty() && !input.last {
            return Step::Wanted(1);
        }
        if self.behind.is_none() {
            if input.bytes.len() < self.search.saturating_add(LONGEST_HEADER) && !input.last {
                return Step::Wanted(self.search.saturating_add(LONGEST_HEADER));
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
                    let message = "another dump of the same buffer begins here: read as a later one of the same run";
                    diagnostics.add(Severity::Note, offset, message);
                    return self.read(&image, start, input, diagnostics, (trace, sink));
                }
            }
            if let Some(found) = found {
                let offset = input.offset + found.offset as u64;
                let message = format!(
                    "a dump of another buffer begins here and is not read (-O offset={offset} reads it)"
                );
                trace.diagnostics.add(Severity::Warning, offset, message);
            }
        }
        let (_, bytes) = self.behind.get_or_insert((input.offset, 0));
        *bytes += input.bytes.len() as u64;
        Step::Read(input.bytes.len())
    }

    /// Tells of bytes that no dump claims; less than a slot is what a kernel leaves unused.
    fn remark_on_rest(&mut self, trace: &mut Trace) {
        let slot = self.run.as_ref().map_or(0, Run::slot_size);
        if let Some((offset, bytes)) = self.behind.take().filter(|(_, bytes)| *bytes >= slot) {
            let message = format!("{bytes} bytes from here on belong to no dump");
            trace.diagnostics.add(Severity::Note, offset, message);
        }
    }
}
