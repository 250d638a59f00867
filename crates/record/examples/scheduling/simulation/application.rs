//! The simulated system: a control thread that responds to bytes from a UART, a sensor that is
//! sampled over a bus, a telemetry thread that condenses the samples, and a logger.
//!
//! Two mutexes demonstrate how an urgent thread waits for a less urgent owner. `bus`
//! uses priority inheritance, so the sensor waits only for the logger. The mutex `log file` has no
//! priority inheritance. While the logger owns this mutex and the control thread waits for it, the
//! sensor and telemetry threads preempt the logger. So the most urgent thread also waits for
//! threads that do not use the mutex.

use super::kernel::{CYCLES_PER_US, Kernel, Step};
use super::{Change, Run};

/// The number of the interrupt of the UART.
const UART_ISR: u64 = 7;

/// Semaphores, in the order of creation.
const UART_RX: usize = 0;
/// Mutexes, in the order of creation.
const BUS: usize = 0;
const LOG_FILE: usize = 1;
/// Queues, in the order of creation.
const SAMPLES: usize = 0;
/// Event flags groups, in the order of creation.
const LOG_REQUESTS: usize = 0;

/// Flag of `LOG_REQUESTS`: telemetry has a new value.
const NEW_VALUE: u64 = 1;
/// Flag of `LOG_REQUESTS`: the heartbeat timer expired.
const HEARTBEAT: u64 = 2;

/// User events. Information 1 counts how often the thread recorded the event.
const SAMPLE_TAKEN: u32 = 4096;
const COMMAND_DONE: u32 = 4097;
const VALUE_SENT: u32 = 4098;
const LINE_WRITTEN: u32 = 4099;
/// The UART's interrupt records this event.
const BYTES_RECEIVED: u32 = 4100;

const CONTROL: &[Step] = &[
    Step::SemaphoreGet(UART_RX),
    Step::Work { us: 40 },
    Step::MutexGet(LOG_FILE),
    Step::Work { us: 15 },
    Step::MutexPut(LOG_FILE),
    Step::UserEvent(COMMAND_DONE),
];

const SENSOR: &[Step] = &[
    Step::Sleep { ticks: 2 },
    Step::Work { us: 60 },
    Step::MutexGet(BUS),
    Step::Work { us: 80 },
    Step::MutexPut(BUS),
    Step::UserEvent(SAMPLE_TAKEN),
    Step::QueueSend(SAMPLES),
];

const TELEMETRY: &[Step] = &[
    Step::QueueReceive(SAMPLES),
    Step::Work { us: 280 },
    Step::QueueReceive(SAMPLES),
    Step::Work { us: 420 },
    Step::UserEvent(VALUE_SENT),
    Step::FlagsSet { group: LOG_REQUESTS, flags: NEW_VALUE },
];

const LOGGER: &[Step] = &[
    Step::FlagsGet { group: LOG_REQUESTS, flags: NEW_VALUE | HEARTBEAT },
    Step::TimeGet,
    Step::MutexGet(LOG_FILE),
    Step::Work { us: 700 },
    Step::UserEvent(LINE_WRITTEN),
    Step::MutexPut(LOG_FILE),
    Step::MutexGet(BUS),
    Step::Work { us: 150 },
    // The logger calls a driver, which locks the bus a second time.
    Step::MutexGet(BUS),
    Step::Work { us: 350 },
    Step::MutexPut(BUS),
    Step::MutexPut(BUS),
];

/// The same work as [`LOGGER`], but the logger keeps the mutex `log file` while it uses the bus.
const GREEDY_LOGGER: &[Step] = &[
    Step::FlagsGet { group: LOG_REQUESTS, flags: NEW_VALUE | HEARTBEAT },
    Step::TimeGet,
    Step::MutexGet(LOG_FILE),
    Step::Work { us: 700 },
    Step::UserEvent(LINE_WRITTEN),
    Step::MutexGet(BUS),
    Step::Work { us: 150 },
    Step::MutexGet(BUS),
    Step::Work { us: 350 },
    Step::MutexPut(BUS),
    Step::MutexPut(BUS),
    Step::MutexPut(LOG_FILE),
];

/// Creates the objects, as the target does before its scheduler starts.
pub(super) fn define(kernel: &mut Kernel<'_>, run: &Run) {
    kernel.random = run.seed.into();
    let slow = run.change == Some(Change::LongInterrupt);
    kernel.connect(UART_ISR, 150, if slow { receive_slowly } else { receive });
    kernel.create_semaphore("uart rx");
    kernel.create_mutex("bus", true);
    kernel.create_mutex("log file", false);
    kernel.create_queue("samples", 4);
    kernel.create_flags("log requests");
    kernel.create_timer("heartbeat", 5, LOG_REQUESTS, HEARTBEAT);
    kernel.create_thread("control", 5, CONTROL);
    kernel.create_thread("sensor", 8, SENSOR);
    kernel.create_thread("telemetry", 12, TELEMETRY);
    let logger = if run.change == Some(Change::LongLock) { GREEDY_LOGGER } else { LOGGER };
    kernel.create_thread("logger", 20, logger);
}

/// The interrupt of the UART. Returns the time until the next bytes: 1.2 to 4.2 ms.
fn receive(kernel: &mut Kernel<'_>) -> u64 {
    kernel.user_event(BYTES_RECEIVED, 1 + kernel.random % 16);
    kernel.semaphore_put(UART_RX);
    // A linear congruential generator of 32 bits.
    let random = (kernel.random as u32).wrapping_mul(1_664_525).wrapping_add(1_013_904_223) >> 1;
    kernel.random = random.into();
    1_200 + u64::from(random >> 8) % 3_000
}

/// The same interrupt, but it takes 1 µs longer.
fn receive_slowly(kernel: &mut Kernel<'_>) -> u64 {
    kernel.advance(CYCLES_PER_US);
    receive(kernel)
}
