//! Loads a trace. First loads the objects and events, then derives other values from them, in
//! TraceX's order.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::threadx::{Event as Entry, RegistrySlot, ids};

use super::trace::{Event, Facts, Object, Trace};
use super::{inversions, next_context, running};

impl Trace {
    /// Loads a trace from its registry (only used slots) and its entries, oldest first. `up` is
    /// true if the clock counts up. 64-bit words are truncated to 32 bits.
    pub fn new<'a>(
        facts: Facts,
        up: bool,
        registry: impl IntoIterator<Item = RegistrySlot<'a>>,
        entries: impl IntoIterator<Item = Entry>,
    ) -> Self {
        let mut trace = Self {
            facts,
            objects: Vec::new(),
            threads: Vec::new(),
            events: Vec::new(),
            inversions: (0, 0),
            by_address: HashMap::default(),
        };
        // Events refer to threads by their position among the threads, so load the objects first.
        registry.into_iter().for_each(|slot| trace.add(object(&slot)));
        let mut threads_by_object = trace.positions_among_threads();
        let mut clock = Ticks { mask: facts.timer_valid_mask, up, before: None, ticks: 0 };
        for entry in entries {
            let event = trace.event(&entry, &mut clock, &mut threads_by_object);
            trace.events.push(event);
        }
        // Each step needs the one before: RUNNING events show the next contexts, and inversions are
        // searched in the list with RUNNING events.
        next_context::set(&mut trace.events);
        trace.events = running::inserted(&trace, up);
        trace.inversions = inversions::find(&mut trace);
        trace
    }

    fn add(&mut self, object: Object) {
        let position = self.objects.len();
        self.by_address.entry(object.address).or_insert(position);
        if object.is_thread() {
            self.threads.push(position);
        }
        self.objects.push(object);
    }

    fn positions_among_threads(&self) -> HashMap<usize, usize, RandomState> {
        self.threads.iter().enumerate().map(|(thread, object)| (*object, thread)).collect()
    }

    fn event(
        &mut self,
        entry: &Entry,
        clock: &mut Ticks,
        threads: &mut HashMap<usize, usize, RandomState>,
    ) -> Event {
        // TraceX reads only 32-bit words, so wider words are truncated.
        let (context, word) = (entry.context as u32, entry.priority_word as u32);
        let (stamp, ticks) = clock.next(entry.stamp as u32);
        let mut event = Event {
            context,
            priority_word: word,
            id_word: entry.id_word as u32,
            stamp,
            ticks,
            info: entry.info.map(|word| word as u32),
            priority: word,
            threshold: None,
            next: context,
            thread: 0,
            inversion_end: 0,
            bad_inversion_end: 0,
            inserted: false,
        };
        if event.in_thread() {
            event.priority = word & 0x3FF;
            // The top bit is set if the kernel recorded a threshold.
            event.threshold = (word & 0x8000_0000 != 0).then_some((word >> 16) & 0x3FF);
            event.thread = self.thread_of(context, threads);
        }
        event
    }

    /// Returns the thread of a context. If no object has its address, TraceX adds an unnamed thread
    /// once. If the first object with its address is not a thread, TraceX adds another unnamed
    /// thread for each event.
    fn thread_of(
        &mut self,
        context: u32,
        threads: &mut HashMap<usize, usize, RandomState>,
    ) -> usize {
        let thread = self.by_address.get(&context).and_then(|object| threads.get(object));
        if let Some(thread) = thread {
            return *thread;
        }
        threads.insert(self.objects.len(), self.threads.len());
        self.add(Object {
            kind: ids::object::THREAD,
            address: context,
            parameter1: 0,
            parameter2: 0,
            reserved1: 0,
            reserved2: 0,
            name: b"Un-named Thread".to_vec(),
        });
        self.threads.len() - 1
    }
}

/// Returns true if as many timestamps increase as decrease. In this case, TraceX assumes a clock
/// that counts down. `stamps` begins with the oldest, but TraceX compares timestamps in file order.
pub fn is_tie(facts: Facts, stamps: impl ExactSizeIterator<Item = u32> + Clone) -> bool {
    let slots = facts.buffer_end.wrapping_sub(facts.buffer_start) / SLOT;
    let oldest = facts.buffer_current.wrapping_sub(facts.buffer_start) / SLOT;
    let count = stamps.len();
    let full = u32::try_from(count) == Ok(slots) && oldest < slots;
    let first = if full { oldest as usize } else { 0 };
    // In a full ring the file begins with the newest events.
    let in_file =
        stamps.clone().skip(count - first.min(count)).chain(stamps.take(count - first.min(count)));
    let (mut before, mut sum) = (0, 0_i64);
    for (slot, stamp) in in_file.enumerate() {
        let stamp = stamp & facts.timer_valid_mask;
        // TraceX counts neither the first two slots of the file nor the first two slots of the
        // oldest part.
        if slot >= 2 && !(first..first + 2).contains(&slot) {
            sum += i64::from(stamp > before) - i64::from(stamp < before);
        }
        before = stamp;
    }
    sum == 0
}

/// Size of an event slot in bytes.
const SLOT: u32 = 32;

fn object(slot: &RegistrySlot<'_>) -> Object {
    let readable = slot.name.first().is_some_and(|byte| (0x20..=0x7E).contains(byte));
    Object {
        kind: slot.object_type,
        address: slot.pointer as u32,
        parameter1: slot.parameter1 as u32,
        parameter2: slot.parameter2 as u32,
        reserved1: slot.reserved1,
        reserved2: slot.reserved2,
        name: if readable { slot.name } else { b"Non-ASCII Name" }.to_vec(),
    }
}

/// Converts timestamps to ticks. Like TraceX, this uses the mask plus one as the modulus, even if
/// the clock wraps at another value.
struct Ticks {
    mask: u32,
    up: bool,
    before: Option<u32>,
    ticks: u64,
}

impl Ticks {
    fn next(&mut self, raw: u32) -> (u32, u64) {
        let stamp = raw & self.mask;
        let before = self.before.replace(stamp).unwrap_or(stamp);
        let (from, to) = if self.up { (before, stamp) } else { (stamp, before) };
        // The counter wrapped once.
        let round = if to < from { u64::from(self.mask) + 1 } else { 0 };
        self.ticks = self.ticks.wrapping_add(u64::from(to) + round - u64::from(from));
        (stamp, self.ticks)
    }
}
