//! Objects and events as TraceX holds them: 32-bit words, one list of each.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::threadx::ids;

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
    pub(super) by_address: HashMap<u32, usize, RandomState>,
}

impl Trace {
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
