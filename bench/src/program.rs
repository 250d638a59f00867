//! Generates ThreadX dumps of any size that look like those of a real program.
//!
//! The kernel of the example `scheduling` runs eleven threads: a servo loop, a radio, sensors on a
//! shared bus, a display, storage and a checksum in the background. A converter and a radio
//! interrupt them at random times, random numbers vary the work of each step, and threads take rare
//! branches. So the order of events is that of a kernel, but no part of a dump repeats another. The
//! random numbers start from a constant, so files of the same size are equal.
//!
//! `trace` generates dumps whose events are independent of each other. `bench/README.md` compares
//! both kinds with dumps of real programs.

use tracewell_wire::threadx::ids::class;

use crate::fleet::simulation::kernel::{CYCLES_PER_US, Kernel, Step};
use crate::trace::USUAL;

use Step::{
    Call, FlagsGet, FlagsSet, MutexGet, MutexPut, QueueReceive, QueueSend, SemaphoreGet, Sleep,
    TimeGet, UserEvent,
};

const REGISTRY_SLOTS: usize = 32;

/// Semaphores, in the order of creation.
const CONVERTED: usize = 0;
const RECEIVED: usize = 1;
/// Mutexes, in the order of creation.
const BUS: usize = 0;
const STATE: usize = 1;
const FILES: usize = 2;
/// Queues, in the order of creation.
const SAMPLES: usize = 0;
const FRAMES: usize = 1;
const COMMANDS: usize = 2;
/// Event flags groups, in the order of creation, and their flags.
const REQUESTS: usize = 0;
const STORE: u64 = 1;
const LOG: u64 = 2;
const REDRAW: usize = 1;
const CHANGED: u64 = 1;
const BLINK: u64 = 2;

/// User events.
const SETPOINT: u32 = 4096;
const LIMITED: u32 = 4097;
const ACCESS: u32 = 4098;
const ACCESSED: u32 = 4099;
const SAMPLE: u32 = 4100;
const FRAME: u32 = 4101;
const EXECUTED: u32 = 4102;
const FILTERED: u32 = 4103;
const DRAWN: u32 = 4104;
const WRITTEN: u32 = 4105;
const LINE: u32 = 4106;
const CHECKED: u32 = 4107;
const BYTES: u32 = 4108;

/// The servo loop. It starts with each conversion.
const SERVO: &[Step] = &[
    SemaphoreGet(CONVERTED),
    TimeGet,
    Call(work::<8, 25>),
    MutexGet(STATE),
    Call(work::<3, 9>),
    MutexPut(STATE),
    UserEvent(SETPOINT),
    Call(work::<2, 6>),
    Call(sometimes::<3, 1>),
    UserEvent(LIMITED),
];

/// Reads the radio's registers in several accesses to the bus.
const RECEIVER: &[Step] = &[
    SemaphoreGet(RECEIVED),
    MutexGet(BUS),
    UserEvent(ACCESS),
    Call(work::<5, 20>),
    UserEvent(ACCESSED),
    Call(again::<3, 3>),
    MutexPut(BUS),
    Call(work::<15, 40>),
    Call(sometimes::<3, 1>),
    QueueSend(COMMANDS),
    Call(sometimes::<9, 1>),
    FlagsSet { group: REQUESTS, flags: LOG },
];

/// Reads several sensors, one after the other.
const SENSOR: &[Step] = &[
    Sleep { ticks: 2 },
    Call(work::<8, 30>),
    MutexGet(BUS),
    UserEvent(ACCESS),
    Call(work::<15, 60>),
    UserEvent(ACCESSED),
    MutexPut(BUS),
    TimeGet,
    UserEvent(SAMPLE),
    QueueSend(SAMPLES),
    Call(again::<3, 8>),
];

const SENDER: &[Step] = &[
    QueueReceive(FRAMES),
    TimeGet,
    Call(work::<25, 70>),
    MutexGet(BUS),
    UserEvent(ACCESS),
    Call(work::<20, 90>),
    UserEvent(ACCESSED),
    Call(again::<2, 3>),
    MutexPut(BUS),
    UserEvent(FRAME),
];

const COMMAND: &[Step] = &[
    QueueReceive(COMMANDS),
    TimeGet,
    Call(work::<12, 90>),
    MutexGet(STATE),
    Call(work::<4, 25>),
    MutexPut(STATE),
    UserEvent(EXECUTED),
    Call(sometimes::<2, 1>),
    QueueSend(FRAMES),
    Call(sometimes::<5, 1>),
    FlagsSet { group: REDRAW, flags: CHANGED },
];

const FILTER: &[Step] = &[
    QueueReceive(SAMPLES),
    Call(work::<30, 120>),
    Call(sometimes::<3, 5>),
    MutexGet(STATE),
    Call(work::<5, 20>),
    MutexPut(STATE),
    UserEvent(FILTERED),
    QueueSend(FRAMES),
    Call(sometimes::<7, 1>),
    FlagsSet { group: REQUESTS, flags: STORE },
];

const KEYBOARD: &[Step] = &[
    Sleep { ticks: 5 },
    Call(work::<6, 14>),
    Call(sometimes::<12, 3>),
    TimeGet,
    QueueSend(COMMANDS),
    FlagsSet { group: REDRAW, flags: CHANGED },
];

const DISPLAY: &[Step] = &[
    FlagsGet { group: REDRAW, flags: CHANGED | BLINK },
    MutexGet(STATE),
    Call(work::<5, 15>),
    MutexPut(STATE),
    Call(work::<150, 700>),
    MutexGet(BUS),
    // The driver of the display locks the bus a second time.
    MutexGet(BUS),
    UserEvent(ACCESS),
    Call(work::<20, 80>),
    UserEvent(ACCESSED),
    MutexPut(BUS),
    Call(again::<6, 5>),
    MutexPut(BUS),
    UserEvent(DRAWN),
];

const STORAGE: &[Step] = &[
    FlagsGet { group: REQUESTS, flags: STORE },
    MutexGet(FILES),
    TimeGet,
    Call(work::<80, 300>),
    UserEvent(WRITTEN),
    Call(again::<3, 3>),
    Call(sometimes::<3, 1>),
    Sleep { ticks: 1 },
    MutexPut(FILES),
];

const LOGGER: &[Step] = &[
    FlagsGet { group: REQUESTS, flags: LOG },
    TimeGet,
    MutexGet(FILES),
    Call(work::<20, 90>),
    UserEvent(LINE),
    Call(again::<4, 2>),
    MutexPut(FILES),
];

/// Reads files in the background, block by block.
const CHECKSUM: &[Step] = &[
    MutexGet(FILES),
    Call(work::<10, 60>),
    MutexPut(FILES),
    UserEvent(CHECKED),
    Call(work::<20, 120>),
    Call(sometimes::<16, 1>),
    Sleep { ticks: 3 },
];

/// Returns the number of events in a dump of `bytes` bytes.
pub fn events_in(bytes: u64) -> u64 {
    let head = USUAL.header_size() + REGISTRY_SLOTS * USUAL.registry_slot_size();
    bytes.saturating_sub(head as u64) / USUAL.event_size() as u64
}

/// Returns a dump of `bytes` bytes. The ring is exactly full: its oldest event is in slot 0.
///
/// # Panics
/// Panics if the size has no space for the registry and an event.
pub fn dump(bytes: usize) -> Vec<u8> {
    let mut memory = vec![0; bytes];
    let mut kernel = Kernel::start(&mut memory, REGISTRY_SLOTS, u64::MAX);
    kernel.random = 0x9E37_79B9_7F4A_7C15;
    kernel.trace.buffer_full_notify(Some(|trace| {
        trace.event_filter(class::ALL);
        trace.clock().end = 0;
    }));
    define(&mut kernel);
    kernel.run();
    kernel.stop();
    memory
}

fn define(kernel: &mut Kernel<'_>) {
    kernel.connect(15, 400, convert);
    kernel.connect(16, 900, receive);
    kernel.create_semaphore("converted");
    kernel.create_semaphore("received");
    kernel.create_mutex("bus", true);
    kernel.create_mutex("state", true);
    kernel.create_mutex("files", false);
    kernel.create_queue("samples", 4);
    kernel.create_queue("frames", 8);
    kernel.create_queue("commands", 8);
    kernel.create_flags("requests");
    kernel.create_flags("redraw");
    kernel.create_timer("blink", 50, REDRAW, BLINK);
    kernel.create_timer("heartbeat", 20, REQUESTS, LOG);
    kernel.create_thread("servo", 4, SERVO);
    kernel.create_thread("receiver", 6, RECEIVER);
    kernel.create_thread("sensor", 8, SENSOR);
    kernel.create_thread("sender", 9, SENDER);
    kernel.create_thread("command", 10, COMMAND);
    kernel.create_thread("filter", 12, FILTER);
    kernel.create_thread("keyboard", 14, KEYBOARD);
    kernel.create_thread("display", 16, DISPLAY);
    kernel.create_thread("storage", 18, STORAGE);
    kernel.create_thread("logger", 20, LOGGER);
    kernel.create_thread("checksum", 30, CHECKSUM);
}

/// The interrupt of the converter, every 980 to 1019 µs.
fn convert(kernel: &mut Kernel<'_>) -> u64 {
    kernel.semaphore_put(CONVERTED);
    980 + draw(kernel, 40)
}

/// The interrupt of the radio. Some bytes follow at once, others after up to 8 ms.
fn receive(kernel: &mut Kernel<'_>) -> u64 {
    let bytes = 1 + draw(kernel, 16);
    kernel.user_event(BYTES, bytes);
    kernel.semaphore_put(RECEIVED);
    let most = [200, 8_000, 2_000, 8_000][draw(kernel, 4) as usize];
    60 + draw(kernel, most)
}

/// Work that takes `LEAST` to `MOST` microseconds.
fn work<const LEAST: u64, const MOST: u64>(kernel: &mut Kernel<'_>, thread: usize) {
    let cycles = draw(kernel, (MOST - LEAST) * CYCLES_PER_US);
    kernel.threads[thread].work_left = LEAST * CYCLES_PER_US + cycles;
}

/// A branch that is taken once in `TIMES` times on average. Otherwise, the thread skips its next
/// `STEPS` steps.
fn sometimes<const TIMES: u64, const STEPS: usize>(kernel: &mut Kernel<'_>, thread: usize) {
    if draw(kernel, TIMES) != 0 {
        kernel.threads[thread].next_step += STEPS;
    }
}

/// The end of a loop with the previous `STEPS` steps, which runs `TIMES` times on average.
fn again<const TIMES: u64, const STEPS: usize>(kernel: &mut Kernel<'_>, thread: usize) {
    if draw(kernel, TIMES) != 0 {
        // Also go back over this step itself.
        kernel.threads[thread].next_step -= STEPS + 1;
    }
}

/// Returns a number below `n`.
fn draw(kernel: &mut Kernel<'_>, n: u64) -> u64 {
    crate::trace::draw(&mut kernel.random, n)
}
