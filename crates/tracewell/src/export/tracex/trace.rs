//! Objects and events as TraceX stores them: a list of objects and a list of events, with 32-bit
//! words.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::threadx::ids;

/// The context word of an event in an interrupt.
pub const INTERRUPT: u32 = 0xFFFF_FFFF;
/// The context word of an event before the scheduler started.
pub const INITIALIZATION: u32 = 0xF0F0_F0F0;
/// The next context word of an event after which no thread runs.
pub const IDLE: u32 = 0;

/// Header fields that the dump shows, and the clock's mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// The id as read in big-endian order.
    pub trace_id: u32,
    /// Mask of a timestamp's valid bits; TraceX uses this mask plus one as the modulus.
    pub timer_valid_mask: u32,
    /// Size of a name field in bytes.
    pub object_name_size: u32,
    /// Target address of the image.
    pub trace_base_address: u32,
    /// Address of registry slot 0.
    pub registry_start: u32,
    /// End address of the last registry slot.
    pub registry_end: u32,
    /// Address of event slot 0.
    pub buffer_start: u32,
    /// End address of the last event slot.
    pub buffer_end: u32,
    /// Address of the oldest event.
    pub buffer_current: u32,
}

/// A registry slot, or a thread that TraceX added for a context without a slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    /// Type code of the object, such as [`ids::object::THREAD`].
    pub kind: u8,
    /// Address of the control block.
    pub address: u32,
    /// First parameter of the registry slot; its meaning depends on the type.
    pub parameter1: u32,
    /// Second parameter of the registry slot; its meaning depends on the type.
    pub parameter2: u32,
    /// First reserved byte of the registry slot, as recorded.
    pub reserved1: u8,
    /// Second reserved byte of the registry slot, as recorded.
    pub reserved2: u8,
    /// Name as TraceX shows it.
    pub name: Vec<u8>,
}

impl Object {
    /// Returns true if it is a thread.
    pub fn is_thread(&self) -> bool {
        self.kind == ids::object::THREAD
    }
}

/// An event, recorded or inserted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// Context word; [`IDLE`] only in inserted events.
    pub context: u32,
    /// Priority word as recorded.
    pub priority_word: u32,
    /// Id word as recorded.
    pub id_word: u32,
    /// Timestamp, reduced to the valid bits of the counter.
    pub stamp: u32,
    /// Ticks since the first event.
    pub ticks: u64,
    /// The four information words, as recorded.
    pub info: [u32; 4],
    /// Priority of the thread (10 bits), or the address of the interrupted thread in an interrupt.
    pub priority: u32,
    /// Preemption threshold of the thread, if the kernel recorded it.
    pub threshold: Option<u32>,
    /// The context that runs next.
    pub next: u32,
    /// Position of the context among the threads; 0 for other contexts.
    pub thread: usize,
    /// Index of the event that ends a deterministic priority inversion that starts here; 0 if none
    /// starts here.
    pub inversion_end: usize,
    /// Index of the event that ends a nondeterministic inversion that starts here; 0 if none starts
    /// here.
    pub bad_inversion_end: usize,
    /// True if TraceX inserted it.
    pub inserted: bool,
}

impl Event {
    /// Returns the event id without core number.
    pub fn id(&self) -> u16 {
        self.id_word as u16
    }

    /// Returns true if a thread recorded it.
    pub fn in_thread(&self) -> bool {
        self.context != INTERRUPT && self.context != INITIALIZATION
    }
}

/// A trace in the form that TraceX stores.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The header of the dump: counter mask and addresses.
    pub facts: Facts,
    /// Registry in slot order, followed by added threads.
    pub objects: Vec<Object>,
    /// Positions of the threads among the objects.
    pub threads: Vec<usize>,
    /// Events, oldest first, including inserted ones.
    pub events: Vec<Event>,
    /// Deterministic and nondeterministic priority inversions.
    pub inversions: (u32, u32),
    /// The first object at each address.
    pub(super) by_address: HashMap<u32, usize, RandomState>,
}

impl Trace {
    /// Returns the position of the first object that has the given address.
    pub fn object_at(&self, address: u32) -> Option<usize> {
        self.by_address.get(&address).copied()
    }

    /// Returns the objects that are threads.
    pub fn thread_objects(&self) -> impl Iterator<Item = &Object> {
        self.threads.iter().map(|position| &self.objects[*position])
    }

    /// Returns the ticks of the last event.
    pub fn max_ticks(&self) -> u64 {
        self.events.last().map_or(0, |event| event.ticks)
    }
}
