//! Constructs small dumps, using only the definitions of the wire format.
#![allow(dead_code, unreachable_pub, reason = "each test crate uses a part of this")]

use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{Event, Header, Layout, PriorityWord, RegistrySlot, Width};

/// The layout of nearly all real dumps.
pub const USUAL: Layout = Layout { order: ByteOrder::Little, width: Width::Bits32, name_size: 32 };

/// A dump to be written. A test changes the fields that it checks.
#[derive(Clone, Debug)]
pub struct Dump {
    pub layout: Layout,
    pub header: Header,
    pub objects: Vec<RegistrySlot<'static>>,
    pub events: Vec<Event>,
}

pub const BASE: u64 = 0x2000_0000;

/// A thread's registry slot.
pub fn thread(pointer: u64, name: &'static str) -> RegistrySlot<'static> {
    let [reserved1, reserved2] = RegistrySlot::priority_bytes(7);
    let name = name.as_bytes();
    RegistrySlot {
        available: 0,
        object_type: 1,
        reserved1,
        reserved2,
        pointer,
        parameter1: 0x1000,
        parameter2: 512,
        name,
    }
}

/// Creates an event of a thread. The four information words have the values 1, 2, 3 and 4.
pub fn event(context: u64, id: u64, stamp: u64) -> Event {
    let priority_word = PriorityWord::of_thread(7, 7);
    Event { context, priority_word, id_word: id, stamp, info: [1, 2, 3, 4] }
}

impl Dump {
    /// Creates a dump of these objects and event slots. Slot `current` is the next slot to be
    /// written.
    pub fn new(
        layout: Layout,
        objects: Vec<RegistrySlot<'static>>,
        events: Vec<Event>,
        current: usize,
    ) -> Self {
        let registry_start = BASE + layout.header_size() as u64;
        let registry_end = registry_start + (objects.len() * layout.registry_slot_size()) as u64;
        let slot = layout.event_size() as u64;
        let header = Header {
            timer_valid_mask: u64::from(u32::MAX),
            trace_base_address: BASE,
            registry_start,
            registry_end,
            buffer_start: registry_end,
            buffer_end: registry_end + slot * events.len() as u64,
            buffer_current: registry_end + slot * current as u64,
            reserved1: 0,
            reserved: Header::RESERVED,
        };
        Self { layout, header, objects, events }
    }

    /// Two threads and eight slots. Six slots are used, with timestamps 100, 110, 120, …
    pub fn small(layout: Layout) -> Self {
        let (a, b) = (0x2100_0000, 0x2100_0100);
        let ids = [6, 6, 83, 2, 88, 5000];
        let used = ids
            .iter()
            .zip(0..)
            .map(|(id, n)| event(if n % 3 == 0 { b } else { a }, *id, 100 + 10 * n));
        let events = used.chain([Event::UNUSED, Event::UNUSED]).collect();
        Self::new(layout, vec![thread(a, "alpha"), thread(b, "beta")], events, 6)
    }

    /// A wrapped dump of two threads. All eight slots are used, and the oldest event is in slot 3.
    pub fn wrapped(layout: Layout) -> Self {
        let mut dump = Self::small(layout);
        let slots = (0..8).map(|n| event(0x2100_0000, 83, if n < 3 { 1000 + n } else { 500 + n }));
        dump.events = slots.collect();
        dump.header.buffer_current = dump.header.buffer_start + 3 * layout.event_size() as u64;
        dump
    }

    /// Returns the bytes of the dump.
    pub fn bytes(&self) -> Vec<u8> {
        let layout = self.layout;
        let mut bytes = vec![0; layout.header_size()];
        self.header.write(layout, &mut bytes).unwrap();
        for object in &self.objects {
            let at = bytes.len();
            bytes.resize(at + layout.registry_slot_size(), 0);
            object.write(layout, &mut bytes[at..]).unwrap();
        }
        for event in &self.events {
            let at = bytes.len();
            bytes.resize(at + layout.event_size(), 0);
            event.write(layout, &mut bytes[at..]).unwrap();
        }
        bytes
    }
}
