//! Firmware for a Cortex-M with three recorders. A state machine sends RKH frames over the serial
//! line. The kernel fills a ThreadX ring in memory, and a debugger saves the ring. Two tasks
//! control a machine and use the recorder for small targets.
//!
//! `board` contains the code for the hardware. The state machine and the tasks are the same as in
//! the examples `door` and `axis` of `tracewell-record`. A test compares the streams of this
//! program with those of the examples, byte for byte.
#![no_std]
#![no_main]

#[path = "../../../crates/record/examples/axis/axis.rs"]
mod axis;
mod board;
#[path = "../../../crates/record/examples/door/door.rs"]
mod door;

use board::Masked;
use tracewell_record::threadx::{Context, Isr, Object, Options, Trace};
use tracewell_wire::threadx::ids::{self, class};

const CONTROL: u64 = 0x2000_0400;
const SENSOR: u64 = 0x2000_0600;
const STACK: u64 = 0x2000_FF00;
const SAMPLE: u32 = 4096;

const RING_SIZE: usize = 2048;
const SAMPLES: u64 = 8;

/// The kernel's trace. Threads and interrupts record into this ring, so each access masks
/// interrupts.
type Kernel = Trace<'static, fn() -> u64>;
static KERNEL: Masked<Option<Kernel>> = Masked::new(None);
static RING: Masked<[u8; RING_SIZE]> = Masked::new([0; RING_SIZE]);

fn kernel<R>(work: impl FnOnce(&mut Kernel) -> R) -> Option<R> {
    KERNEL.with(|kernel| kernel.as_mut().map(work))
}

/// The main function, which the board calls after a reset.
fn main() -> Result<(), &'static str> {
    let memory = RING.take().ok_or("the ring is taken")?;
    start(memory)?;

    door::run(board::send);
    for number in 0..SAMPLES {
        board::raise_interrupt();
        let sample = [number, number * number, 0, 0];
        let context = Context::thread(CONTROL, 5, 5);
        kernel(|kernel| kernel.user_event(context, SAMPLE, sample));
    }

    let image = kernel(|kernel| kernel.disable().ok()).flatten().ok_or("the trace is off")?;
    board::save(c"door.trx", image)?;

    let (mut memory, mut line) = ([0; 8192], [0; 8192]);
    let length = axis::record(&mut memory, &mut line).map_err(|_| "the memory is too small")?;
    board::save(c"axis.bin", &line[..length])
}

fn start(memory: &'static mut [u8]) -> Result<(), &'static str> {
    let threads = [
        Object::thread(CONTROL, b"control", 5, 0x2000_1000, 0x400),
        Object::thread(SENSOR, b"sensor", 8, 0x2000_1400, 0x400),
    ];
    let mut trace: Kernel = Trace::new(board::cycles);
    let running = Context::thread(SENSOR, 8, 8);
    trace
        .enable(memory, 8, &Options::default(), threads, running)
        .map_err(|_| "the ring is too small")?;
    KERNEL.with(|kernel| *kernel = Some(trace));
    Ok(())
}

/// The interrupt handler: wakes the thread `control`.
fn interrupt() {
    let context = Context::interrupt(SENSOR);
    let isr = Isr { number: 15, stack: STACK, system_state: 1, preempt_disable: 0 };
    kernel(|kernel| {
        kernel.isr_enter(context, isr);
        let resume = [CONTROL, 5, STACK, CONTROL];
        kernel.insert(context, u32::from(ids::THREAD_RESUME), resume, class::INTERNAL);
        kernel.isr_exit(context, isr);
    });
}
