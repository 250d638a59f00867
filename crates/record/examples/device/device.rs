//! The device: an interrupt wakes a thread, which takes a sample. The kernel records ThreadX
//! events, the driver records AIX hooks, and the control loop records S.Ha.R.K. events. All three
//! share one cycle counter.

use std::cell::Cell;

use tracewell_record::clock::{Clock, Masked};
use tracewell_record::shark::Areas;
use tracewell_record::threadx::{Context, Info, Isr, Object, Options, Trace};
use tracewell_record::{aix, shark};
use tracewell_wire::aix::{Env, HookWord32, TimeConversion};
use tracewell_wire::shark::ids::{self as codes, flag};
use tracewell_wire::threadx::ids::{self, class};

const CONTROL: u64 = 0x2000_0400;
const SENSOR: u64 = 0x2000_0600;
const STACK: u64 = 0x2000_FF00;
const SAMPLE: u32 = 4096;

const TASK: aix::Context = aix::Context::thread(0, 4242, 70_001);

/// The recorded bytes of each dialect.
pub(crate) struct Recorded {
    /// The image of the ThreadX ring.
    pub(crate) ring: Vec<u8>,
    /// The log of the AIX hooks.
    pub(crate) log: Vec<u8>,
    /// The image of the S.Ha.R.K. chunk.
    pub(crate) chunk: Vec<u8>,
}

/// Runs the device.
pub(crate) fn record() -> Recorded {
    let cycles = Cell::new(0);
    let read_cycles = || {
        cycles.set(cycles.get() + 100);
        cycles.get()
    };
    let (mut ring, mut buffers, mut chunk) = ([0; 2048], [0; 4096], [0; 48 + 256 + 64]);
    let mut kernel = Trace::new(read_cycles);
    let threads = [
        Object::thread(CONTROL, b"control", 5, 0x2000_1000, 0x400),
        Object::thread(SENSOR, b"sensor", 8, 0x2000_1400, 0x400),
    ];
    let sensor = Context::thread(SENSOR, 8, 8);
    kernel.enable(&mut ring, 8, &Options::default(), threads, sensor).expect("the ring has room");
    let wide = Masked { clock: read_cycles, mask: u64::MAX };
    let mut driver = aix::Trace::new(wide, machine());
    let options = aix::Options { command: b"firmware", ..aix::Options::default() };
    driver.trcstart(TASK, &mut buffers, options).expect("the buffers have room");

    let mut control = shark::Trace::<_, 1>::new(wide);
    start_loop(&mut control, &mut chunk);

    for number in 0..3 {
        interrupt(&mut kernel, number);
        sample(&mut kernel, &mut driver, number);
        control.log(codes::IPOINT, number as u16, (number * number) as u32);
    }
    control.log(codes::TRACE_STOP, 0x100, 0);
    control.disable();
    let log = stop(&mut driver);
    Recorded {
        ring: kernel.disable().expect("the trace is on").to_vec(),
        log,
        chunk: chunk.to_vec(),
    }
}

fn start_loop<'m, C: Clock>(control: &mut shark::Trace<'m, C, 1>, memory: &'m mut [u8]) {
    let areas = Areas { normal: 256, emergency: 64, base_address: Some(0x2000_4000) };
    let chunk = control.chunk_create(memory, areas, flag::FREE | flag::STOP);
    control.chunk_select(chunk.expect("the memory has room")).expect("the chunk is free");
    control.enable().expect("a chunk is selected");
    control.log(codes::TRACE_START, 0x100, 100_000);
}

fn machine() -> aix::Machine<'static> {
    aix::Machine {
        env: Env::Bits32,
        conversion: TimeConversion { multiplier: 10, divisor: 1 },
        system: b"device",
        node: b"node",
        machine: b"0001",
        ..aix::Machine::default()
    }
}

fn interrupt<C: Clock>(kernel: &mut Trace<'_, C>, number: u64) {
    let interrupted = Context::interrupt(SENSOR);
    let isr = Isr { number, stack: STACK, system_state: 1, preempt_disable: 0 };
    kernel.isr_enter(interrupted, isr);
    let resume = [CONTROL, 5, STACK, SENSOR];
    let id = u32::from(ids::THREAD_RESUME);
    let entry = kernel.insert(interrupted, id, resume, class::INTERNAL);
    // The kernel determines the next thread only at this point.
    kernel.patch(entry.expect("nothing is filtered"), Info::Four, CONTROL);
    kernel.isr_exit(interrupted, isr);
}

fn sample<C: Clock, D: Clock>(
    kernel: &mut Trace<'_, C>,
    driver: &mut aix::Trace<'_, D>,
    number: u64,
) {
    let (word, square) = (number as u32, number * number);
    let control = Context::thread(CONTROL, 5, 5);
    kernel.user_event(control, SAMPLE, [number, square, 0, 0]).expect("the trace is on");
    driver.trchook(TASK, HookWord32(0x010E_0000), [word, square as u32, 3, 4, 5]);
    driver.trcgent(TASK, 0, HookWord32(0x0110_0000).into(), number, b"sampled");
}

fn stop<C: Clock>(driver: &mut aix::Trace<'_, C>) -> Vec<u8> {
    driver.trcstop(TASK, 0).expect("the trace has started");
    let header = driver.header(0).expect("the trace has started");
    let mut log = vec![0; header.length()];
    header.write(&mut log).expect("there is room for the header");
    while let Some(chunk) = driver.waiting(0) {
        log.extend(chunk.bytes);
        driver.drained(0);
    }
    log
}
