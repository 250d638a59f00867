//! Decodes images with `tracewell-wire`, independently of the recorder, so that tests check the
//! data that a decoder gets.

// Each test file compiles this module separately and uses only a part of it.
#![allow(dead_code, unreachable_pub)]

use tracewell_record::clock::Clock;
use tracewell_record::threadx::{Context, Object, Options, Target, Trace};
use tracewell_wire::threadx::{Event, Header, Layout, RegistrySlot};

/// Address of the recording thread, for tests that do not depend on it.
pub const MAIN: u64 = 0x2000_0400;

/// The recording context, for tests that do not depend on it.
pub fn main_thread() -> Context {
    Context::thread(MAIN, 8, 8)
}

/// A clock that counts 1, 2, 3, …
pub fn counting() -> impl Clock {
    let mut ticks = 0;
    move || {
        ticks += 1;
        ticks
    }
}

/// Returns the size of an image with the given counts of slots, and with names of 32 bytes.
pub fn size_for<T: Target>(registry_slots: usize, events: usize) -> usize {
    let layout = Layout { order: T::ORDER, width: T::WIDTH, name_size: 32 };
    layout.header_size()
        + registry_slots * layout.registry_slot_size()
        + events * layout.event_size()
}

/// Enables a trace without existing objects, with the base address 0x2000_8000.
pub fn enable<'m, C: Clock, T: Target>(
    trace: &mut Trace<'m, C, T>,
    memory: &'m mut [u8],
    slots: usize,
) {
    let options = Options { base_address: Some(0x2000_8000), ..Options::default() };
    trace.enable(memory, slots, &options, [], main_thread()).unwrap();
}

/// A decoded image.
pub struct Image<'a> {
    pub layout: Layout,
    pub header: Header,
    bytes: &'a [u8],
}

/// A registry slot without its borrowed name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    pub available: bool,
    pub kind: u8,
    pub pointer: u64,
    pub parameters: [u64; 2],
    pub priority: Option<u16>,
    pub name: Vec<u8>,
}

impl<'a> Image<'a> {
    pub fn read(bytes: &'a [u8]) -> Self {
        let (layout, header) = Header::read(bytes).expect("an image starts with a header");
        Self { layout, header, bytes }
    }

    fn offset(&self, address: u64) -> usize {
        let offset = address.wrapping_sub(self.header.trace_base_address);
        usize::try_from(offset & self.layout.width.max()).unwrap()
    }

    /// All registry slots, in memory order.
    pub fn slots(&self) -> Vec<Slot> {
        let start = self.offset(self.header.registry_start);
        let end = self.offset(self.header.registry_end);
        let slots = self.bytes[start..end].chunks_exact(self.layout.registry_slot_size());
        slots.map(|bytes| Slot::of(RegistrySlot::read(self.layout, bytes).unwrap())).collect()
    }

    /// Type and pointer of the slots that were used.
    pub fn objects(&self) -> Vec<(u8, u64)> {
        let used = self.slots().into_iter().filter(|slot| slot.kind != 0);
        used.map(|slot| (slot.kind, slot.pointer)).collect()
    }

    /// All event slots in memory order, used or not.
    pub fn event_slots(&self) -> Vec<Event> {
        let start = self.offset(self.header.buffer_start);
        let end = self.offset(self.header.buffer_end);
        let slots = self.bytes[start..end].chunks_exact(self.layout.event_size());
        slots.map(|bytes| Event::read(self.layout, bytes).unwrap()).collect()
    }

    /// Number of the slot to write next.
    pub fn current(&self) -> usize {
        let start = self.offset(self.header.buffer_start);
        (self.offset(self.header.buffer_current) - start) / self.layout.event_size()
    }

    /// The events, oldest first.
    pub fn events(&self) -> Vec<Event> {
        let mut slots = self.event_slots();
        slots.rotate_left(self.current());
        slots.retain(|event| event.context != 0);
        slots
    }

    /// Ids of the events, oldest first.
    pub fn ids(&self) -> Vec<u16> {
        self.events().iter().map(Event::id).collect()
    }
}

impl Slot {
    fn of(slot: RegistrySlot<'_>) -> Self {
        Self {
            available: slot.available == 1,
            kind: slot.object_type,
            pointer: slot.pointer,
            parameters: [slot.parameter1, slot.parameter2],
            priority: slot.priority(),
            name: slot.name.to_vec(),
        }
    }
}

/// Returns a semaphore with this address.
pub fn semaphore(pointer: u64) -> Object<'static> {
    Object::semaphore(pointer, b"semaphore", 0)
}
