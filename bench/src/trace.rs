//! Generates ThreadX dumps of any size: threads that send, wait and lock, and a tick interrupt.
//!
//! A fixed pseudo-random sequence determines the events, so files of the same size are equal. The
//! ring is exactly full: its oldest event is in slot 0.

use std::io::{self, Write};

use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{
    Event, Header, Layout, PriorityWord, RegistrySlot, Width, context, ids,
};

/// Address of the image.
const BASE: u64 = 0x1000_0000;
/// Address of the first control block. The others follow at intervals of 256 bytes.
const OBJECTS: u64 = 0x8000_0000;

const THREADS: [&str; 12] = [
    "System Timer Thread",
    "control",
    "sensor",
    "radio",
    "telemetry",
    "display",
    "storage",
    "keyboard",
    "audio",
    "logger",
    "shell",
    "background",
];
const OTHERS: [(u8, &str); 8] = [
    (ids::object::QUEUE, "samples"),
    (ids::object::QUEUE, "frames"),
    (ids::object::SEMAPHORE, "uart rx"),
    (ids::object::SEMAPHORE, "dma done"),
    (ids::object::MUTEX, "bus"),
    (ids::object::MUTEX, "file system"),
    (ids::object::EVENT_FLAGS, "requests"),
    (ids::object::TIMER, "heartbeat"),
];

/// Returns the number of events in a dump of `bytes` bytes. Returns 1 if the number would be 0.
pub fn events_in(bytes: u64, layout: Layout) -> u64 {
    let head = layout.header_size() + 20 * layout.registry_slot_size();
    (bytes.saturating_sub(head as u64) / layout.event_size() as u64).max(1)
}

/// Writes a dump of `events` events.
///
/// # Errors
/// Returns any error of the writer.
pub fn write(out: &mut dyn Write, layout: Layout, events: u64) -> io::Result<()> {
    let threads = THREADS.iter().map(|name| (ids::object::THREAD, *name));
    let objects: Vec<_> = threads
        .chain(OTHERS)
        .zip(0..)
        .map(|((kind, name), number)| slot(kind, name, number))
        .collect();
    let mut scene = Scene::default();
    write_dump(out, layout, &objects, (0..events as usize).map(|_| scene.next()))
}

/// Writes a dump with this registry and these events. The oldest event is in slot 0.
///
/// # Errors
/// Returns any error of the writer.
pub fn write_dump(
    out: &mut dyn Write,
    layout: Layout,
    registry: &[RegistrySlot<'_>],
    events: impl ExactSizeIterator<Item = Event>,
) -> io::Result<()> {
    let registry_start = BASE + layout.header_size() as u64;
    let buffer_start = registry_start + (registry.len() * layout.registry_slot_size()) as u64;
    let header = Header {
        timer_valid_mask: u64::from(u32::MAX),
        trace_base_address: BASE,
        registry_start,
        registry_end: buffer_start,
        buffer_start,
        buffer_end: buffer_start.wrapping_add((events.len() * layout.event_size()) as u64),
        buffer_current: buffer_start,
        reserved1: 0,
        reserved: Header::RESERVED,
    };
    let mut head = vec![0; (buffer_start - BASE) as usize];
    let short = || io::Error::other("a layout's sizes do not fit");
    header.write(layout, &mut head).ok_or_else(short)?;
    let slots = head[layout.header_size()..].chunks_exact_mut(layout.registry_slot_size());
    for (slot, bytes) in registry.iter().zip(slots) {
        slot.write(layout, bytes).ok_or_else(short)?;
    }
    out.write_all(&head)?;
    let mut bytes = vec![0; layout.event_size()];
    for event in events {
        event.write(layout, &mut bytes).ok_or_else(short)?;
        out.write_all(&bytes)?;
    }
    Ok(())
}

/// The layout of almost all existing dumps.
pub const USUAL: Layout = Layout { order: ByteOrder::Little, width: Width::Bits32, name_size: 32 };

fn address(number: u64) -> u64 {
    OBJECTS + 256 * number
}

fn slot(object_type: u8, name: &str, number: u64) -> RegistrySlot<'_> {
    let is_thread = object_type == ids::object::THREAD;
    let [reserved1, reserved2] =
        if is_thread { RegistrySlot::priority_bytes(2 * number as u16) } else { [0, 0] };
    RegistrySlot {
        available: 0,
        object_type,
        reserved1,
        reserved2,
        pointer: address(number),
        parameter1: 0x9000_0000 + 4096 * number,
        parameter2: 4096,
        name: name.as_bytes(),
    }
}

/// The state of the simulated kernel.
struct Scene {
    random: u64,
    stamp: u64,
    running: u64,
    /// Number of events until the current interrupt ends; 0 outside interrupts.
    interrupt: u32,
}

impl Default for Scene {
    fn default() -> Self {
        Self { random: 0x9E37_79B9_7F4A_7C15, stamp: 0, running: 1, interrupt: 0 }
    }
}

impl Scene {
    fn draw(&mut self, n: u64) -> u64 {
        draw(&mut self.random, n)
    }

    fn next(&mut self) -> Event {
        self.stamp = (self.stamp + 20 + self.draw(4000)) & u64::from(u32::MAX);
        if self.interrupt > 0 {
            return self.in_interrupt();
        }
        if self.draw(12) == 0 {
            self.interrupt = 3;
            return self.event(ids::ISR_ENTER, true, [0x9F00_0000, 0, 1, 0]);
        }
        self.in_thread()
    }

    fn event(&self, id: u16, interrupt: bool, info: [u64; 4]) -> Event {
        let running = address(self.running);
        let priority = 2 * self.running as u16;
        Event {
            context: if interrupt { context::INTERRUPT } else { running },
            priority_word: if interrupt {
                running
            } else {
                PriorityWord::of_thread(priority, priority)
            },
            id_word: u64::from(id),
            stamp: self.stamp,
            info,
        }
    }

    fn in_interrupt(&mut self) -> Event {
        self.interrupt -= 1;
        let other = address(1 + self.draw(11));
        match self.interrupt {
            2 => self.event(88, true, [address(14), 0, 1, 0x9F00_0010]),
            1 => {
                self.event(ids::THREAD_RESUME, true, [other, 6, 0x9F00_0020, address(self.running)])
            }
            _ => self.event(ids::ISR_EXIT, true, [0x9F00_0000, 0, 1, 0]),
        }
    }

    fn in_thread(&mut self) -> Event {
        let stack = 0x9000_0F00 + 4096 * self.running;
        match self.draw(9) {
            0 => self.event(69, false, [address(12), stack, 0xFFFF_FFFF, 3]),
            1 => self.event(68, false, [address(13), stack, 50, 0]),
            2 => self.event(83, false, [address(15), 0xFFFF_FFFF, 1, stack]),
            3 => self.event(52, false, [address(16), 0xFFFF_FFFF, 0, 0]),
            4 => self.event(57, false, [address(16), address(self.running), 1, stack]),
            5 => self.event(32, false, [address(18), 3, 1, 1]),
            6 => {
                let value = self.draw(1 << 20);
                self.event(4096, false, [value, self.stamp, 0, 0])
            }
            _ => {
                let next = 1 + self.draw(11);
                let state = 4 + self.draw(4);
                let event = self.event(
                    ids::THREAD_SUSPEND,
                    false,
                    [address(self.running), state, stack, address(next)],
                );
                self.running = next;
                event
            }
        }
    }
}

/// Returns a pseudo-random number below `n`, and updates the state `random` (xorshift, G.
/// Marsaglia).
pub(crate) fn draw(random: &mut u64, n: u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    (*random >> 32) % n
}
