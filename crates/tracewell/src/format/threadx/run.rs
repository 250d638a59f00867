//! Decodes the dumps of a run in sequence. For each dump, determines registry, order and clock, and
//! then decodes the events. `seam` compares a dump with the previous one.

use std::collections::VecDeque;
use std::ops::Range;

use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{Layout, PriorityWord, Width, context};

use super::DumpHeader;
use super::image::Image;
use super::registry::{Registry, ThreadBinding};
use super::ring::{Ring, RingPart};
use super::seam::{Dump, Seam, sums};
use super::sections::{MIN_SECTION, SECTION, Section};
use super::slots::{self, Marks, Slots, Ticking, Unwrapping};
use super::survey::{ClockOptions, Survey};
use crate::model::{
    Before, ContextDetail, ContextId, Diagnostics, Emitter, Fact, FactForm, Flow, Lifetimes,
    LossCause, PayloadLayout, RecordedDetails, Records, Severity, Slices, Trace, births_and_deaths,
};
use crate::threads::{Threads, on_threads};

/// The dumps of a run that have been decoded so far.
#[derive(Debug)]
pub(super) struct Run {
    clock_options: ClockOptions,
    /// The survey of all dumps; `None` if there is only one dump, or if later dumps are not known.
    survey: Option<Survey>,
    oldest: Option<usize>,
    /// Number of events that the sink wants; `None` if it wants all.
    only_first: Option<usize>,
    registry: Registry,
    last: Option<Dump>,
    dumps: u64,
    threads: Threads,
}

impl Run {
    /// `survey` is the survey of all dumps, if they are known. `threads` is the number of threads
    /// that may decode events.
    pub(super) fn new(
        (clock_options, survey): (ClockOptions, Option<Survey>),
        oldest: Option<usize>,
        only_first: Option<usize>,
        threads: Threads,
    ) -> Self {
        let registry = Registry::default();
        Self { clock_options, survey, oldest, only_first, registry, last: None, dumps: 0, threads }
    }

    /// Returns the previous dump; `None` before the first dump.
    pub(super) fn image(&self) -> Option<&Image> {
        self.last.as_ref().map(|last| &last.image)
    }

    /// Reads a dump. `more` is true if other dumps may follow.
    pub(super) fn read(
        &mut self,
        image: &Image,
        (bytes, offset, more): (&[u8], u64, bool),
        out: &mut Emitter<'_>,
    ) -> Flow {
        let trace = &mut *out.trace;
        let layout = image.layout;
        if self.image().is_some_and(|last| !last.is_alike(image)) {
            let message = "expected a dump of the same target as before (byte order, size of ULONG and \
                           of names, timestamp mask), found one of another target: ignored";
            trace.diagnostics.add(Severity::Damage, offset, message);
            return Flow::Continue(());
        }
        let last = self.last.take();
        if last.is_none() {
            let bytes = layout.width.bytes() as u8;
            trace.payload = PayloadLayout::Words { order: layout.order, bytes };
            let dump = DumpHeader { layout, header: image.header };
            trace.facts = facts(image, dump.id());
            trace.dialect = Some(Box::new(dump));
            trace.details = Some(priority_words(layout));
        }
        self.dumps += 1;
        count_dumps(trace, self.dumps);
        let named = self.registry.read(image, (bytes, offset, more), trace);
        self.check_oldest(image, trace);
        let ring = Ring::new(image, bytes, offset, self.oldest);
        let Ring { slots, current, .. } = ring;
        let order = ring.order();
        let mask = image.header.timer_valid_mask;
        let survey = ring.survey(order, mask, self.only_first);
        trace.cpus = trace.cpus.max(survey.cpus);
        let own = match self.only_first {
            None => ring.parts(order, &mut trace.diagnostics),
            // Discard the diagnostics, because slots that the sink does not need may not have
            // arrived yet.
            Some(events) => limited(ring.parts(order, &mut Diagnostics::default()), events),
        };
        // The duration of a full ring is needed only if there are several dumps.
        let keeps = more || last.is_some();
        let (parts, state, round) = match last {
            None => {
                let all = self.survey.unwrap_or(survey);
                trace.clock = all.clock(mask, self.clock_options, &mut trace.diagnostics);
                let state = Unwrapping::new(trace.clock.counter);
                let round = if keeps { ring.round(order, state.ticking()) } else { None };
                (own, state, round)
            }
            Some(last) => {
                let (counter, options) = (trace.clock.counter, self.clock_options);
                if self.survey.is_none() && survey.contradicts(counter, options) {
                    let message = "the timestamps of this dump contradict the clock of the earlier dumps, \
                                   so times may be wrong; -O direction= and -O modulus= set the clock";
                    trace.diagnostics.add(Severity::Warning, offset, message);
                }
                let round = ring.round(order, Ticking::new(trace.clock.counter));
                let seam = Seam { last: &last, ring: &ring, order, round };
                (seam.parts(image, own, trace), last.state.with_new_names(), round)
            }
        };
        // Names depend on creations anywhere in the dump, so they are determined before the first
        // event is delivered.
        let (lifetimes, first) = lives(slots, &parts, state.ticking(), &self.threads, trace);
        let bindings = self.registry.settle(trace, &named, lifetimes, first).into();
        let (registry, holes, threads) = (&mut self.registry, survey.holes, &self.threads);
        let (context, in_batches) = (ContextId::default(), 0);
        let mut delivery = Delivery {
            slots,
            offset: ring.offset,
            out,
            state,
            registry,
            bindings,
            holes,
            threads,
            context,
            in_batches,
        };
        delivery.all(&parts)?;
        let state = delivery.state;
        let slots = if more { sums(slots) } else { Vec::new() };
        self.last = Some(Dump { image: *image, current, state, round, slots });
        Flow::Continue(())
    }

    /// Warns if the user's oldest slot is not a slot of the dump.
    fn check_oldest(&self, image: &Image, trace: &mut Trace) {
        if let Some(asked) = self.oldest.filter(|slot| *slot >= image.event_slots) {
            let message = format!(
                "option oldest: expected a slot below {}, found {asked}; using the dump's own pointer",
                image.event_slots
            );
            trace.diagnostics.add(Severity::Warning, None, message);
        }
    }
}

/// Returns the creations and deletions in the event list, and the ticks of its first event. Also
/// updates the number of processors of the trace.
///
/// The ticks of an event depend on all earlier events, but this function needs only the ticks of
/// creations and deletions. Most dumps contain neither creations nor deletions. For such a dump,
/// this function only searches the slots for the ids.
fn lives(
    slots: Slots<'_>,
    parts: &[RingPart],
    mut ticking: Ticking,
    threads: &Threads,
    trace: &mut Trace,
) -> (Lifetimes, u64) {
    let ids = marks(&births_and_deaths(&trace.schema));
    let ranges = parts.iter().filter_map(|part| match part {
        RingPart::Slots(range) => Some(range.clone()),
        RingPart::Gap { .. } => None,
    });
    let ranges: Vec<_> = ranges.collect();
    let used = |slot: &usize| slots.used(*slot) == Some(true);
    let first = ranges.iter().cloned().flatten().find(used).and_then(|slot| slots.stamp(slot));
    let first = first.map_or(ticking.ticks, |stamp| ticking.ticks_of(stamp));
    let mut marked = Vec::new();
    for range in &ranges {
        let parts = on_threads(range.clone(), SECTION, threads, |part| slots.marked(part, &ids));
        let cores = parts.iter().map(|(_, core)| u16::from(*core) + 1);
        trace.cpus = cores.fold(trace.cpus, u16::max);
        marked.push(parts.into_iter().flat_map(|(slots, _)| slots).collect::<Vec<_>>());
    }
    let mut left = marked.iter().map(Vec::len).sum::<usize>();
    let mut lifetimes = Lifetimes::default();
    for (range, marked) in ranges.into_iter().zip(marked) {
        let mut next = range.start;
        for slot in marked {
            slots.advance(next..slot + 1, &mut ticking);
            next = slot + 1;
            left -= 1;
            let record = slots.bytes(slot..slot + 1);
            let payload = record.get(record.len() / 2..).unwrap_or_default();
            let id = u32::from(slots.id(slot).unwrap_or(0));
            lifetimes.note((&trace.schema, trace.payload), (id, payload), (slot, ticking.ticks));
        }
        // The slots after the last creation or deletion need no ticks.
        if left == 0 {
            break;
        }
        slots.advance(next..range.end, &mut ticking);
    }
    (lifetimes, first)
}

/// Limits the parts to the first `events` slots, because the sink wants no further events.
fn limited(mut parts: Vec<RingPart>, mut events: usize) -> Vec<RingPart> {
    parts.retain_mut(|part| {
        let is_wanted = events > 0;
        if let RingPart::Slots(range) = part {
            range.end = range.end.min(range.start.saturating_add(events));
            events -= range.len();
        }
        is_wanted
    });
    parts
}

/// Returns a table with one entry per 16-bit id. The first entries are copied from `ids`, and all
/// others are false.
fn marks(ids: &[bool]) -> Box<Marks> {
    let mut marks = vec![false; size_of::<Marks>()];
    marks.iter_mut().zip(ids).for_each(|(mark, id)| *mark = *id);
    marks.try_into().unwrap_or_else(|_| unreachable!("the vector has the length of the table"))
}

/// Delivers the event list to the sink.
struct Delivery<'a, 'b> {
    slots: Slots<'a>,
    offset: u64,
    out: &'a mut Emitter<'b>,
    state: Unwrapping,
    registry: &'a mut Registry,
    /// The remaining slots at which addresses begin to refer to other threads, in order of time.
    bindings: VecDeque<ThreadBinding>,
    /// True if there may be unused slots among the events.
    holes: bool,
    threads: &'a Threads,
    /// The context of the last event that was delivered.
    context: ContextId,
    /// In the current range, the slots before this one are delivered in batches.
    in_batches: usize,
}

impl Delivery<'_, '_> {
    fn all(&mut self, parts: &[RingPart]) -> Flow {
        for part in parts {
            match part {
                RingPart::Slots(range) => self.slots(range.clone())?,
                RingPart::Gap { events, cause, slot } => self.gap(*events, *cause, *slot)?,
            }
        }
        Flow::Continue(())
    }

    fn gap(&mut self, events: Option<u64>, cause: LossCause, slot: usize) -> Flow {
        self.out.loss(events, cause, self.offset_of(slot))
    }

    /// Returns the offset of a slot in the source.
    fn offset_of(&self, slot: usize) -> u64 {
        self.offset + (slot * self.slots.size()) as u64
    }

    fn slots(&mut self, range: Range<usize>) -> Flow {
        let mut next = range.start;
        self.in_batches = 0;
        while next < range.end {
            // At some slots, an address gets another name. A batch must end before such a slot.
            let end = self.rebind(next).min(range.end);
            if let Some(end) = self.section(next..end.min(next + SECTION))? {
                next = end;
                continue;
            }
            let end = end.min(next + Emitter::EVENTS);
            let unused = if self.holes { self.slots.first_unused(next..end) } else { None };
            let filled = self.batch(next..unused.unwrap_or(end))?;
            next += filled;
            if next < end {
                next = self.damaged(next..range.end)?;
            }
        }
        Flow::Continue(())
    }

    /// Applies the thread names that change at a slot. Returns the next slot at which a name
    /// changes. No batch extends beyond this slot, because the decoder looks up each context once
    /// per batch.
    fn rebind(&mut self, slot: usize) -> usize {
        while let Some(binding) = self.bindings.pop_front_if(|binding| binding.slot == slot) {
            self.out.trace.contexts.bind(binding.key, binding.context);
            self.state.forget(binding.key);
        }
        let next = self.bindings.front().map(|binding| binding.slot);
        // In a wrapped ring, the next change of a name can be in a slot with a lower number. Such a
        // slot is not in the current range.
        next.filter(|next| *next > slot).unwrap_or(usize::MAX)
    }

    /// If the sink accepts slices and all slots are suitable, delivers the slots in slices and
    /// returns the end of the range. Otherwise returns `None`.
    fn section(&mut self, range: Range<usize>) -> Flow<Option<usize>> {
        // Slots before `in_batches` are not suitable for slices. Do not check them again.
        let suitable = !self.holes && range.len() >= MIN_SECTION && range.start >= self.in_batches;
        if !suitable || !self.out.takes_slices() || self.threads.count() == 1 {
            return Flow::Continue(None);
        }
        let slots = (self.slots, range.clone(), self.offset);
        let before = (self.state.ticking(), self.context);
        let Some(section) = Section::new(slots, before, self.out.trace, self.threads) else {
            self.in_batches = range.end;
            return Flow::Continue(None);
        };
        self.out.slices(&section, range.len() as u64)?;
        let Before { context, .. } = section.before(self.out.trace, section.count());
        self.context = context;
        if let Some(clock) = section.end() {
            self.state.advance_to(clock);
        }
        Flow::Continue(Some(range.end))
    }

    /// Delivers events up to the first unused slot. Returns their number.
    fn batch(&mut self, range: Range<usize>) -> Flow<usize> {
        let Self { slots, state, registry, context, .. } = self;
        let filled = self.out.columns(|trace, columns| {
            let mut context_of = |key| registry.context(trace, key);
            let filled = slots.fill(range.clone(), state, &mut context_of, columns);
            *context = columns.context.last().copied().unwrap_or(*context);
            filled
        });
        if filled > 0 {
            let size = self.slots.size();
            let bytes = self.slots.bytes(range.start..range.start + filled);
            let records = Records::fixed(bytes, self.offset_of(range.start), size, size / 2);
            if self.out.trace.events == 0 {
                self.note_first(bytes);
            }
            self.out.batch(records)?;
        }
        Flow::Continue(filled)
    }

    fn note_first(&mut self, bytes: &[u8]) {
        let word = self.slots.size() / 8;
        let trace = &mut *self.out.trace;
        if let Some(raw) = trace.payload.argument(bytes.get(3 * word..).unwrap_or_default(), 0) {
            trace.clock.first_stamp = trace.clock.counter.stamp(raw);
        }
    }

    /// Reports unused slots between used slots. Returns the first used slot after the unused slots.
    fn damaged(&mut self, range: Range<usize>) -> Flow<usize> {
        let used = |slot: &usize| self.slots.used(*slot) == Some(true);
        let end = range.clone().find(used).unwrap_or(range.end);
        let count = end - range.start;
        let message = format!("expected an event, found {count} slots with context 0");
        let missing = (Some(count as u64), LossCause::Damaged);
        self.out.damage(message, missing, self.offset_of(range.start))?;
        Flow::Continue(end)
    }
}

/// Adds the number of dumps to the trace's facts if there are at least two.
fn count_dumps(trace: &mut Trace, dumps: u64) {
    const NAME: &str = "dumps";
    trace.facts.retain(|fact| fact.name != NAME);
    if dumps > 1 {
        trace.facts.push(Fact { name: NAME, value: dumps, form: FactForm::Decimal });
    }
}

/// Decodes the second word of a slot. `N` is the size of a slot in bytes, and `BIG` is true if
/// words are big-endian.
#[derive(Debug)]
struct PriorityWords<const N: usize, const BIG: bool>;

impl<const N: usize, const BIG: bool> RecordedDetails for PriorityWords<N, BIG> {
    fn detail(&self, record: &[u8]) -> Option<ContextDetail> {
        match slots::priority_word::<N, BIG>(record.first_chunk()?) {
            PriorityWord::Thread { priority, threshold: Some(threshold) } => {
                (threshold != priority).then_some(ContextDetail::PreemptionThreshold(threshold))
            }
            // For an interrupt, old kernels always record 0. Newer kernels record 0 if the system
            // was idle.
            PriorityWord::Interrupted(thread) => {
                (thread != context::UNUSED).then_some(ContextDetail::Interrupted(thread))
            }
            _ => None,
        }
    }
}

/// Returns the decoder for the second word of a slot in this layout.
fn priority_words(layout: Layout) -> Box<dyn RecordedDetails> {
    match (layout.width, layout.order) {
        (Width::Bits32, ByteOrder::Little) => Box::new(PriorityWords::<32, false>),
        (Width::Bits32, ByteOrder::Big) => Box::new(PriorityWords::<32, true>),
        (Width::Bits64, ByteOrder::Little) => Box::new(PriorityWords::<64, false>),
        (Width::Bits64, ByteOrder::Big) => Box::new(PriorityWords::<64, true>),
    }
}

fn facts(image: &Image, id: u32) -> Vec<Fact> {
    let header = &image.header;
    let hexadecimal = |name, value| Fact { name, value, form: FactForm::Hexadecimal };
    let decimal = |name, value| Fact { name, value, form: FactForm::Decimal };
    let order = match image.layout.order {
        ByteOrder::Little => "little",
        ByteOrder::Big => "big",
    };
    let bits = match image.layout.width {
        Width::Bits32 => 32,
        Width::Bits64 => 64,
    };
    vec![
        Fact { name: "byte_order", value: u64::from(id), form: FactForm::Text(order) },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_events_are_read_if_the_sink_wants_no_others() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
        let read = |only_first| {
            let mut input = crate::open(path).unwrap();
            input.set_only_first(only_first);
            let mut events = Vec::new();
            input.for_each(|event| events.push((event.seq(), event.ticks(), event.id()))).unwrap();
            events
        };
        let all = read(None);
        assert_eq!(read(Some(10)), all[..10]);
        assert_eq!(read(Some(100_000)), all);
    }

    #[test]
    fn the_first_slots_can_be_in_several_parts() {
        let gap = RingPart::Gap { events: None, cause: LossCause::Overwritten, slot: 5 };
        let parts = [RingPart::Slots(5..8), gap.clone(), RingPart::Slots(0..5)];
        let limited = |events| limited(parts.to_vec(), events);
        assert_eq!(limited(4), [RingPart::Slots(5..8), gap.clone(), RingPart::Slots(0..1)]);
        assert_eq!(limited(2), [RingPart::Slots(5..7)]);
        assert_eq!(limited(9), parts);
    }
}
