//! Objects and events as TraceX holds them: 32-bit words, one list of each.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::threadx::{Event as Entry, RegistrySlot, ids};

use super::{inversions, next_context, running};

/// The context word of an event in an interrupt.
pub const INTERRUPT: u32 = 0xFFFF_FFFF;
/// The context word of an event before the scheduler started.
pub const INITIALIZATION: u32 = 0xF0F0_F0F0;
/// The next context after which nobody runs.
pub const IDLE: u32 = 0;

/// Header fields that the dump shows, and the clock's mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// The id as read in big-endian order.
    pub trace_id: u32,
    /// Bits of a stamp that count; TraceX takes the modulus to be one more.
    pub timer_valid_mask: u32,
    /// Bytes of a name field.
    pub object_name_size: u32,
    /// Target address of the image.
    pub trace_base_address: u32,
    /// Address of registry slot 0.
    pub registry_start: u32,
    /// Address past the last registry slot.
    pub registry_end: u32,
    /// Address of event slot 0.
    pub buffer_start: u32,
    /// Address past the last event slot.
    pub buffer_end: u32,
    /// Address of the oldest event.
    pub buffer_current: u32,
}

/// A registry slot, or a thread that TraceX made up for a context that is in none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    /// Type code.
    pub kind: u8,
    /// Address of the control block.
    pub address: u32,
    /// First parameter.
    pub parameter1: u32,
    /// Second parameter.
    pub parameter2: u32,
    /// First reserved byte.
    pub reserved1: u8,
    /// Second reserved byte.
    pub reserved2: u8,
    /// Name as TraceX shows it.
    pub name: Vec<u8>,
}

impl Object {
    /// Whether it is a thread.
    pub fn is_thread(&self) -> bool {
        self.kind == ids::object::THREAD
    }
}

/// An event, recorded or made up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// Context word; [`IDLE`] only in events that were made up.
    pub context: u32,
    /// Priority word as recorded.
    pub priority_word: u32,
    /// Id word as recorded.
    pub id_word: u32,
    /// Stamp, masked.
    pub stamp: u32,
    /// Ticks since the first event.
    pub ticks: u64,
    /// The information words.
    pub info: [u32; 4],
    /// Priority of a thread (10 bits), the interrupted thread in an interrupt.
    pub priority: u32,
    /// Preemption threshold of a thread, where the kernel recorded it.
    pub threshold: Option<u32>,
    /// Who runs next.
    pub next: u32,
    /// Position of the context among the threads; 0 for other contexts.
    pub thread: usize,
    /// Event at which a deterministic priority inversion that starts here ends; 0 for none.
    pub inversion_end: usize,
    /// The same for a nondeterministic one.
    pub bad_inversion_end: usize,
    /// Whether TraceX made it up.
    pub inserted: bool,
}

impl Event {
    /// The event id without core number.
    pub fn id(&self) -> u16 {
        self.id_word as u16
    }

    /// Whether a thread recorded it.
    pub fn in_thread(&self) -> bool {
        self.context != INTERRUPT && self.context != INITIALIZATION
    }
}

/// A trace as TraceX holds it after loading.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Header fields.
    pub facts: Facts,
    /// Registry in slot order, then threads that were made up.
    pub objects: Vec<Object>,
    /// Positions of the threads among the objects.
    pub threads: Vec<usize>,
    /// Events oldest first, with those that were made up.
    pub events: Vec<Event>,
    /// Deterministic and nondeterministic priority inversions.
    pub inversions: (u32, u32),
    /// First object with an address.
    by_address: HashMap<u32, usize, RandomState>,
}

impl Trace {
    /// Loads a trace from its registry (slots in use only) and its entries, oldest first, with a
    /// clock that counts `up` or down. Words of 64 bits are cut to 32.
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
        registry.into_iter().for_each(|slot| trace.add(object(&slot)));
        let mut threads_by_object = trace.positions_among_threads();
        let mut clock = Ticks { mask: facts.timer_valid_mask, up, before: None, ticks: 0 };
        for entry in entries {
            let event = trace.event(&entry, &mut clock, &mut threads_by_object);
            trace.events.push(event);
        }
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
            event.threshold = (word & 0x8000_0000 != 0).then_some((word >> 16) & 0x3FF);
            event.thread = self.thread_of(context, threads);
        }
        event
    }

    /// The thread of a context. TraceX makes one up where the first object with its address is
    /// none, for every such event again if that object is something else.
    fn thread_of(
        &mut self,
        context: u32,
        threads: &mut HashMap<usize, usize, RandomState>,
    ) -> usize {
        let known = self.by_address.get(&context).and_then(|object| threads.get(object));
        if let Some(thread) = known {
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

    /// The first object with an address.
    pub fn object_at(&self, address: u32) -> Option<usize> {
        self.by_address.get(&address).copied()
    }

    /// The threads as objects.
    pub fn thread_objects(&self) -> impl Iterator<Item = &Object> {
        self.threads.iter().map(|position| &self.objects[*position])
    }

    /// Ticks of the last event.
    pub fn max_ticks(&self) -> u64 {
        self.events.last().map_or(0, |event| event.ticks)
    }
}

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

/// Stamps as ticks, with the mask as modulus whatever the clock really does.
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
        let round = if to < from { u64::from(self.mask) + 1 } else { 0 };
        self.ticks = self.ticks.wrapping_add(u64::from(to) + round - u64::from(from));
        (stamp, self.ticks)
    }
}
