//! The reader: image, registry, order, clock, then the events batch by batch.

use std::ops::Range;

use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{Header, HeaderError, Width};

use super::image::Image;
use super::locate;
use super::registry;
use super::ring::{Piece, Ring};
use super::slots::{Slots, Unwrapping};
use super::survey::{Known, Survey};
use super::{FORMAT, OPTIONS};
use crate::format::{Decoder, Input, OptionError, Options, Progress, ReadError};
use crate::model::schema::Schema;
use crate::model::{
    Batch, Clock, Columns, Counter, Diagnostics, Direction, Fact, FactForm, Flow, Lifetimes, Loss,
    LossCause, PayloadLayout, Processor, Records, Severity, Sink, Trace,
};

/// Events of a batch: their columns and the slots they come from stay in the second-level cache.
const BATCH: usize = 4096;

/// Bytes of the header of a target whose words have 64 bits.
const LONGEST_HEADER: usize = 96;

#[derive(Debug)]
struct ThreadxDecoder {
    known: Known,
    offset: Option<usize>,
    search: usize,
    oldest: Option<usize>,
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
        let start = match self.start(&input)? {
            Start::At(start) => start,
            Start::Wanted(wanted) => return Ok(Progress::More { consumed: 0, wanted }),
        };
        let bytes = input.bytes.get(start..).unwrap_or_default();
        let offset = input.offset + start as u64;
        // Remarks are kept only from the call that sees the whole image.
        let mut diagnostics = Diagnostics::default();
        let image = Image::read(bytes, offset, input.last, &mut diagnostics)?;
        if bytes.len() < image.end() && !input.last {
            let wanted = start.saturating_add(image.end());
            return Ok(Progress::More { consumed: 0, wanted });
        }
        trace.diagnostics = diagnostics;
        if start > 0 && self.offset.is_none() {
            let message = "the dump does not begin at byte 0 but here";
            trace.diagnostics.add(Severity::Note, offset, message);
        }
        // A broken-off walk has delivered what its sink wanted.
        let _ = self.read_image(&image, bytes, offset, trace, sink);
        Ok(Progress::Done)
    }
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

    fn read_image(
        &self,
        image: &Image,
        bytes: &[u8],
        offset: u64,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Flow {
        let layout = image.layout;
        trace.payload =
            PayloadLayout::Words { order: layout.order, bytes: layout.width.bytes() as u8 };
        trace.facts = facts(image);
        registry::read(image, bytes, offset, trace);
        let slots = Slots::new(image.slots(bytes), layout);
        let offset = offset + image.events as u64;
        let oldest = self.oldest.filter(|slot| *slot < image.event_slots);
        if let Some(asked) = self.oldest.filter(|_| oldest.is_none()) {
            let message = format!(
                "option oldest: expected a slot below {}, found {asked}; beginning where the dump says",
                image.event_slots
            );
            trace.diagnostics.add(Severity::Warning, None, message);
        }
        let current = oldest.or(image.current_slot());
        let mask = image.header.timer_valid_mask;
        let survey = Survey::walk(slots, mask, current);
        trace.cpus = survey.cpus;
        trace.clock = survey.clock(mask, self.known, &mut trace.diagnostics);
        let ring = Ring { slots, expected: image.event_slots, current, offset };
        let pieces = ring.pieces(&mut trace.diagnostics);
        let state = Unwrapping::new(trace.clock.counter);
        let lifetimes = Lifetimes::new(&trace.schema);
        Delivery { slots, offset, trace, sink, state, columns: Columns::default(), lifetimes }
            .all(&pieces)
    }
}

/// Gives the pieces of the event list to the sink.
struct Delivery<'a> {
    slots: Slots<'a>,
    offset: u64,
    trace: &'a mut Trace,
    sink: &'a mut dyn Sink,
    state: Unwrapping,
    columns: Columns,
    lifetimes: Lifetimes,
}

impl Delivery<'_> {
    fn all(mut self, pieces: &[Piece]) -> Flow {
        for piece in pieces {
            match piece {
                Piece::Slots(range) => self.slots(range.clone())?,
                Piece::Gap { events, cause, slot } => self.gap(*events, *cause, *slot)?,
            }
        }
        Flow::Continue(())
    }

    fn gap(&mut self, events: Option<u64>, cause: LossCause, slot: usize) -> Flow {
        let offset = self.offset + (slot * self.slots.size()) as u64;
        let loss = Loss { before: self.trace.events, events, cause, offset };
        self.trace.losses.add(&loss);
        self.sink.loss(self.trace, &loss)
    }

    fn slots(&mut self, range: Range<usize>) -> Flow {
        let mut next = range.start;
        while next < range.end {
            let end = range.end.min(next + BATCH);
            let filled = self.batch(next..end)?;
            next += filled;
            if next < end {
                next = self.damaged(next..range.end)?;
            }
        }
        Flow::Continue(())
    }

    /// Delivers events up to the first unused slot; returns how many.
    fn batch(&mut self, range: Range<usize>) -> std::ops::ControlFlow<(), usize> {
        let size = self.slots.size();
        let trace = &mut *self.trace;
        let mut context_of = |key| registry::context(trace, key);
        let filled =
            self.slots.fill(range.clone(), &mut self.state, &mut context_of, &mut self.columns);
        if filled > 0 {
            let bytes = self.slots.bytes(range.start..range.start + filled);
            let offset = self.offset + (range.start * size) as u64;
            let records = Records::fixed(bytes, offset, size, size / 2);
            if self.trace.events == 0 {
                self.note_first(bytes);
            }
            let batch = Batch { first: self.trace.events, columns: &self.columns, records };
            self.trace.events += filled as u64;
            self.trace.span = self.state.ticks();
            // The survey may have ended before a core first recorded.
            let core = self.columns.cpu.iter().max().copied().unwrap_or(0);
            self.trace.cpus = self.trace.cpus.max(core + 1);
            self.lifetimes.follow(self.trace, &batch);
            self.sink.events(self.trace, &batch)?;
        }
        std::ops::ControlFlow::Continue(filled)
    }

    fn note_first(&mut self, bytes: &[u8]) {
        let word = self.slots.size() / 8;
        if let Some(raw) = self.trace.payload.argument(bytes.get(3 * word..).unwrap_or_default(), 0)
        {
            self.trace.clock.first_stamp = self.trace.clock.counter.stamp(raw);
        }
    }

    /// Reports a run of unused slots among used ones; returns the slot behind it.
    fn damaged(&mut self, range: Range<usize>) -> std::ops::ControlFlow<(), usize> {
        let used = |slot: &usize| self.slots.used(*slot) == Some(true);
        let end = range.clone().find(used).unwrap_or(range.end);
        let offset = self.offset + (range.start * self.slots.size()) as u64;
        let count = end - range.start;
        let message = format!("expected an event, found {count} slots with context 0");
        self.trace.diagnostics.add(Severity::Damage, offset, message);
        self.gap(Some(count as u64), LossCause::Damaged, range.start)?;
        std::ops::ControlFlow::Continue(end)
    }
}

fn facts(image: &Image) -> Vec<Fact> {
    let header = &image.header;
    let hexadecimal = |name, value| Fact { name, value, form: FactForm::Hexadecimal };
    let decimal = |name, value| Fact { name, value, form: FactForm::Decimal };
    let (order, id) = match image.layout.order {
        ByteOrder::Little => ("little", u64::from(Header::ID.swap_bytes())),
        ByteOrder::Big => ("big", u64::from(Header::ID)),
    };
    let bits = match image.layout.width {
        Width::Bits32 => 32,
        Width::Bits64 => 64,
    };
    vec![
        Fact { name: "byte_order", value: id, form: FactForm::Text(order) },
        decimal("ulong_bits", bits),
        hexadecimal("timer_valid_mask", header.timer_valid_mask),
        hexadecimal("trace_base_address", header.trace_base_address),
        hexadecimal("registry_start", header.registry_start),
        decimal("object_name_size", u64::from(image.layout.name_size)),
        hexadecimal("registry_end", header.registry_end),
        hexadecimal("buffer_start", header.buffer_start),
        hexadecimal("buffer_end", header.buffer_end),
        hexadecimal("buffer_current", header.buffer_current),
        hexadecimal("reserved1", u64::from(header.reserved1)),
        hexadecimal("reserved2", header.reserved[0]),
        hexadecimal("reserved3", header.reserved[1]),
        hexadecimal("reserved4", header.reserved[2]),
        decimal("registry_slots", image.registry_slots as u64),
        decimal("event_slots", image.event_slots as u64),
    ]
}
