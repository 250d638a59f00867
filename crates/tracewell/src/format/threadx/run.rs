//! The dumps of a run, one after the other: registry, order, clock, then the events batch by batch.
//!
//! Dumps of one ring overlap if fewer events were recorded between them than it has slots. A slot that holds the same
//! in both is the same event, given once. If the ring went round in between, its two pointers say how many events are
//! missing, but for whole rounds: none is assumed if there was no time for one at the pace of the dumps.

use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::FixedState;
use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{Event, Header, Layout, PriorityWord, Width, context};

use super::image::Image;
use super::registry::{Registry, ThreadTurn};
use super::ring::{Order, Piece, Ring};
use super::slots::{Slots, Ticking, Unwrapping};
use super::survey::{Known, Survey};
use crate::model::{
    Batch, Columns, ContextDetails, Fact, FactForm, Flow, Lifetimes, Loss, LossCause,
    PayloadLayout, RecordedDetails, Records, Severity, Sink, Trace, births_and_deaths,
};

/// Events of a batch: their columns and the slots they come from stay in the second-level cache.
const BATCH: usize = 4096;

/// The dumps of a run that were read so far.
#[derive(Debug)]
pub(super) struct Run {
    known: Known,
    oldest: Option<usize>,
    registry: Registry,
    last: Option<Dump>,
    dumps: u64,
}

/// What is kept of the last dump.
#[derive(Debug)]
struct Dump {
    layout: Layout,
    header: Header,
    current: Option<usize>,
    state: Unwrapping,
    /// Ticks of a whole round of the ring, if it was full.
    round: Option<u64>,
    /// A sum of what each slot holds, 0 for unused ones; empty if nothing may follow.
    slots: Vec<u64>,
}

impl Run {
    pub(super) fn new(known: Known, oldest: Option<usize>) -> Self {
        Self { known, oldest, registry: Registry::default(), last: None, dumps: 0 }
    }

    /// Bytes of an event slot.
    pub(super) fn slot_size(&self) -> u64 {
        self.last.as_ref().map_or(0, |last| last.layout.event_size() as u64)
    }

    /// Returns true if a header is of the same ring as the last dump.
    pub(super) fn is_of_ring(&self, layout: Layout, header: &Header) -> bool {
        self.last.as_ref().is_some_and(|last| last.is_of_ring(layout, header))
    }

    /// Reads a dump. With `more`, others may follow.
    pub(super) fn read(
        &mut self,
        image: &Image,
        (bytes, offset, more): (&[u8], u64, bool),
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Flow {
        let layout = image.layout;
        if self.last.as_ref().is_some_and(|last| !last.is_alike(image)) {
            let message = "expected a dump of the same target as before (byte order, size of ULONG and of names, \
                           mask of the time stamps), found another: it is not read";
            trace.diagnostics.add(Severity::Damage, offset, message);
            return Flow::Continue(());
        }
        let last = self.last.take();
        if last.is_none() {
            let bytes = layout.width.bytes() as u8;
            trace.payload = PayloadLayout::Words { order: layout.order, bytes };
            trace.facts = facts(image);
            trace.details = Some(Box::new(PriorityWords(layout)));
        }
        self.dumps += 1;
        count_dumps(trace, self.dumps);
        let named = self.registry.read(image, bytes, offset, trace);
        let slots = Slots::new(image.slots(bytes), layout);
        let current = self.current(image, trace);
        let offset = offset + image.events as u64;
        let ring = Ring { slots, expected: image.event_slots, current, offset };
        let order = ring.order();
        let mask = image.header.timer_valid_mask;
        let survey = Survey::walk(ring.filled(order), mask, current);
        trace.cpus = trace.cpus.max(survey.cpus);
        let own = ring.pieces(order, &mut trace.diagnostics);
        let keeps = more || last.is_some();
        let (pieces, state, round) = match last {
            None => {
                trace.clock = survey.clock(mask, self.known, &mut trace.diagnostics);
                let state = Unwrapping::new(trace.clock.counter);
                let round = if keeps { ring.round(order, state.ticking()) } else { None };
                (own, state, round)
            }
            Some(last) => {
                let round = ring.round(order, Ticking::new(trace.clock.counter));
                let seam = Seam { last: &last, ring: &ring, order, round };
                (seam.pieces(&image.header, own, trace), last.state.with_new_names(), round)
            }
        };
        let (lifetimes, first) = lives(slots, &pieces, state.ticking(), trace);
        let turns = self.registry.settle(trace, &named, lifetimes, first).into();
        let mut delivery = Delivery {
            slots,
            offset,
            trace,
            sink,
            state,
            columns: Columns::default(),
            registry: &mut self.registry,
            turns,
            holes: survey.holes,
        };
        delivery.all(&pieces)?;
        let state = delivery.state;
        let slots = if more { sums(slots) } else { Vec::new() };
        self.last = Some(Dump { layout, header: image.header, current, state, round, slots });
        Flow::Continue(())
    }

    /// The slot to be written next, by the user or by the header.
    fn current(&self, image: &Image, trace: &mut Trace) -> Option<usize> {
        let oldest = self.oldest.filter(|slot| *slot < image.event_slots);
        if let Some(asked) = self.oldest.filter(|_| oldest.is_none()) {
            let message = format!(
                "option oldest: expected a slot below {}, found {asked}; beginning where the dump says",
                image.event_slots
            );
            trace.diagnostics.add(Severity::Warning, None, message);
        }
        oldest.or(image.current_slot())
    }
}

impl Dump {
    fn is_of_ring(&self, layout: Layout, header: &Header) -> bool {
        let place = |header: &Header| {
            let (base, registry) = (header.trace_base_address, header.registry_start);
            (base, registry, header.buffer_start, header.buffer_end, header.timer_valid_mask)
        };
        self.layout == layout && place(&self.header) == place(header)
    }

    fn is_alike(&self, image: &Image) -> bool {
        self.layout == image.layout && self.header.timer_valid_mask == image.header.timer_valid_mask
    }
}

/// Where a dump follows another one.
struct Seam<'a> {
    last: &'a Dump,
    ring: &'a Ring<'a>,
    order: Order,
    /// Ticks of a round of the later one.
    round: Option<u64>,
}

impl Seam<'_> {
    /// What is new in the later dump, after what is missing between the two. `own` is all that it holds.
    fn pieces(&self, header: &Header, own: Vec<Piece>, trace: &mut Trace) -> Vec<Piece> {
        let offset = self.ring.offset;
        // Of what came before the first event, the later dump itself tells.
        let same_ring = self.last.is_of_ring(self.last.layout, header)
            && self.last.state.ticking().previous.is_some();
        let Some((before, current)) =
            self.last.current.zip(self.ring.current).filter(|_| same_ring)
        else {
            return own;
        };
        if let Some(new) = self.new_slots(before, current) {
            return new.into_iter().map(Piece::Slots).collect();
        }
        if self.ring.begins_with_tracing(self.order) {
            let message = "tracing was enabled anew between the dump before and this one";
            trace.diagnostics.add(Severity::Note, offset, message);
            return own;
        }
        let slots = self.ring.expected;
        let missing = ((current + slots - before) % slots) as u64;
        let known = self.no_further_round(missing);
        let mut pieces: Vec<_> = own.into_iter().skip_while(is_overwritten).collect();
        if !known {
            let message = format!(
                "{missing} events are missing between the dump before and this one, and perhaps a multiple of {slots} more"
            );
            trace.diagnostics.add(Severity::Note, offset, message);
        }
        if missing > 0 || !known {
            let (events, cause) = (known.then_some(missing), LossCause::Overwritten);
            pieces.insert(0, Piece::Gap { events, cause, slot: current });
        }
        pieces
    }

    /// The slots that were written since the dump before, if all others hold what they held.
    fn new_slots(&self, before: usize, current: usize) -> Option<Vec<Range<usize>>> {
        let slots = self.ring.slots;
        let new = match before <= current {
            true => [before..current, 0..0],
            false => [before..self.ring.expected, 0..current],
        };
        let kept = (0..slots.len()).filter(|slot| !new.iter().any(|new| new.contains(slot)));
        let pairs =
            kept.map(|slot| (self.last.slots.get(slot).copied().unwrap_or(0), sum(slots, slot)));
        let mut compared = pairs.filter(|(before, now)| *before != 0 && *now != 0).peekable();
        compared.peek()?;
        let same = compared.all(|(before, now)| before == now);
        let new = new.into_iter().map(|range| range.start..range.end.min(slots.len()));
        same.then(|| new.filter(|range| !range.is_empty()).collect())
    }

    /// Returns true if between the dumps there was no time for more than the missing events and half a round.
    fn no_further_round(&self, missing: u64) -> bool {
        let rounds = [self.last.round, self.round];
        let Some(fastest) = rounds.into_iter().flatten().min() else { return false };
        let oldest = match self.order {
            Order::Wrapped(oldest) => oldest,
            _ => 0,
        };
        let ticking = self.last.state.ticking();
        let Some(first) = self.ring.slots.stamp(oldest) else { return false };
        let pause = u128::from(ticking.ticks_of(first).saturating_sub(ticking.ticks));
        let slots = self.ring.expected as u128;
        2 * pause * slots < u128::from(fastest) * (2 * u128::from(missing) + slots)
    }
}

fn is_overwritten(piece: &Piece) -> bool {
    matches!(piece, Piece::Gap { cause: LossCause::Overwritten, .. })
}

/// What each slot holds, as a sum.
fn sums(slots: Slots<'_>) -> Vec<u64> {
    (0..slots.len()).map(|slot| sum(slots, slot)).collect()
}

/// What a slot holds, as a sum; 0 if it is unused.
fn sum(slots: Slots<'_>, slot: usize) -> u64 {
    match slots.written_once(slot).filter(|_| slots.used(slot) == Some(true)) {
        Some(words) => FixedState::default().hash_one(words).max(1),
        None => 0,
    }
}

/// The creations and deletions of some pieces, and the ticks of their first event.
fn lives(
    slots: Slots<'_>,
    pieces: &[Piece],
    mut ticking: Ticking,
    trace: &Trace,
) -> (Lifetimes, u64) {
    let ids = births_and_deaths(&trace.schema);
    let mut lifetimes = Lifetimes::default();
    let mut first = None;
    for piece in pieces {
        let Piece::Slots(range) = piece else { continue };
        if first.is_none() {
            let used = range.clone().find(|slot| slots.used(*slot) == Some(true));
            first = used.and_then(|slot| slots.stamp(slot)).map(|stamp| ticking.ticks_of(stamp));
        }
        slots.note(range.clone(), &mut ticking, &ids, &mut |slot, ticks| {
            let record = slots.bytes(slot..slot + 1);
            let payload = record.get(record.len() / 2..).unwrap_or_default();
            let id = u32::from(slots.id(slot).unwrap_or(0));
            lifetimes.note((&trace.schema, trace.payload), (id, payload), (slot, ticks));
        });
    }
    (lifetimes, first.unwrap_or(ticking.ticks))
}

/// Gives the pieces of the event list to the sink.
struct Delivery<'a> {
    slots: Slots<'a>,
    offset: u64,
    trace: &'a mut Trace,
    sink: &'a mut dyn Sink,
    state: Unwrapping,
    columns: Columns,
    registry: &'a mut Registry,
    /// Where addresses come to name other threads, in the order of time.
    turns: VecDeque<ThreadTurn>,
    /// Whether unused slots are to be expected.
    holes: bool,
}

impl Delivery<'_> {
    fn all(&mut self, pieces: &[Piece]) -> Flow {
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
            let end = self.turn(next).min(range.end).min(next + BATCH);
            let unused = if self.holes { self.slots.first_unused(next..end) } else { None };
            let filled = self.batch(next..unused.unwrap_or(end))?;
            next += filled;
            if next < end {
                next = self.damaged(next..range.end)?;
            }
        }
        Flow::Continue(())
    }

    /// From a slot on an address may name another thread. Returns the next slot at which one does: no batch goes beyond
    /// it, for a context is found by its address once a batch.
    fn turn(&mut self, slot: usize) -> usize {
        while let Some(turn) = self.turns.pop_front_if(|turn| turn.slot == slot) {
            self.trace.contexts.turn(turn.key, turn.context);
            self.state.forget(turn.key);
        }
        let next = self.turns.front().map(|turn| turn.slot);
        // Slots behind the end of a wrapped ring come first.
        next.filter(|next| *next > slot).unwrap_or(usize::MAX)
    }

    /// Delivers events up to the first unused slot; returns how many.
    fn batch(&mut self, range: Range<usize>) -> std::ops::ControlFlow<(), usize> {
        let size = self.slots.size();
        let (trace, registry) = (&mut *self.trace, &mut *self.registry);
        let mut context_of = |key| registry.context(trace, key);
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
            self.trace.span = self.state.ticking().ticks;
            // The survey may have ended before a core first recorded.
            let core = self.columns.cpu.iter().max().copied().unwrap_or(0);
            self.trace.cpus = self.trace.cpus.max(core + 1);
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

/// Says of how many dumps a trace was made, if of several.
fn count_dumps(trace: &mut Trace, dumps: u64) {
    const NAME: &str = "dumps";
    trace.facts.retain(|fact| fact.name != NAME);
    if dumps > 1 {
        trace.facts.push(Fact { name: NAME, value: dumps, form: FactForm::Decimal });
    }
}

/// Reads the second word of a slot.
#[derive(Debug)]
struct PriorityWords(Layout);

impl RecordedDetails for PriorityWords {
    fn details(&self, record: &[u8]) -> ContextDetails {
        match Event::read(self.0, record).map(|event| event.priority()) {
            Some(PriorityWord::Thread { priority, threshold }) => {
                let preemption_threshold = threshold.filter(|threshold| *threshold != priority);
                ContextDetails { preemption_threshold, interrupted: None }
            }
            // Old kernels record 0, new ones if nobody was interrupted.
            Some(PriorityWord::Interrupted(thread)) if thread != context::UNUSED => {
                ContextDetails { preemption_threshold: None, interrupted: Some(thread) }
            }
            _ => ContextDetails::default(),
        }
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
