//! The simulated system: a controller that answers bytes from a UART, a sensor that is sampled
//! over a bus, a telemetry thread that condenses the samples, and a logger.
//!
//! Two mutexes show both outcomes of a more urgent thread meeting a less urgent owner. `bus`
//! inherits priority, so the sensor waits for the logger alone. `log file` does not: while the
//! logger holds it and the control thread waits, sensor and telemetry run first, and the most
//! urgent thread waits for threads that have nothing to do with the mutex.

use super::kernel::{Kernel, Step};

/// Semaphores, in the order of creation.
pub(super) const UART_RX: usize = 0;
/// Mutexes, in the order of creation.
pub(super) const BUS: usize = 0;
pub(super) const LOG_FILE: usize = 1;
/// Queues, in the order of creation.
pub(super) const SAMPLES: usize = 0;
/// Event flags groups, in the order of creation.
pub(super) const LOG_REQUESTS: usize = 0;

/// Flag of `LOG_REQUESTS`: telemetry has a new value.
const NEW_VALUE: u64 = 1;
/// Flag of `LOG_REQUESTS`: the heartbeat timer expired.
pub(super) const HEARTBEAT: u64 = 2;

/// User events; information 1 counts how often the thread recorded it.
const SAMPLE_TAKEN: u32 = 4096;
const COMMAND_DONE: u32 = 4097;
const VALUE_SENT: u32 = 4098;
const LINE_WRITTEN: u32 = 4099;
/// Recorded by the UART's interrupt.
pub(super) const BYTES_RECEIVED: u32 = 4100;

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
    // The driver that writes the line takes the bus by itself.
    Step::MutexGet(BUS),
    Step::Work { us: 350 },
    Step::MutexPut(BUS),
    Step::MutexPut(BUS),
];

/// Creates the objects, as the target does before its scheduler starts.
pub(super) fn define(kernel: &mut Kernel<'_>) {
    kernel.create_semaphore("uart rx");
    kernel.create_mutex("bus", true);
    kernel.create_mutex("log file", false);
    kernel.create_queue("samples", 4);
    kernel.create_flags("log requests");
    kernel.create_timer("heartbeat", 5);
    kernel.create_thread("control", 5, CONTROL);
    kernel.create_thread("sensor", 8, SENSOR);
    kernel.create_thread("telemetry", 12, TELEMETRY);
    kernel.create_thread("logger", 20, LOGGER);
}
