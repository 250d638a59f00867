//! Two CPUs, their running threads, and the entries that the kernel and the programs record.
//!
//! The table in `main.rs` defines the layouts of the entries.

use std::cell::Cell;

use tracewell_record::aix::{Context, Machine, Options, Trace};
use tracewell_record::clock::{Clock, Masked};
use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{
    Env, HookId, HookType, HookWord, HookWord32, HookWord64, TimeConversion, ids,
};

use super::log::Log;

/// Hooks for the entry into a system call and for the return from it. No document that we know
/// lists these ids.
const SYSTEM_CALL: HookId = HookId::short(0x101);
const SYSTEM_CALL_RETURN: HookId = HookId::short(0x104);

/// Hooks of the programs themselves.
const RECORDS_READ: HookId = HookId::short(0x010);
const BATCH_SORTED: HookId = HookId::short(0x011);
const NOTE: HookId = HookId::short(0x012);
const PHASE: HookId = HookId::short(0x013);
const SPILLED: HookId = HookId::short(0x0FF);

/// 2026-03-02 09:00:00 UTC.
const WALL_CLOCK_NS: u64 = 1_772_442_000_000_000_000;
/// The timer at the start: the machine has been up for some days.
const START_TICK: u64 = 0x0000_A5F3_1C00_0000;
/// A timer of 512 MHz.
const CONVERSION: TimeConversion = TimeConversion { multiplier: 1000, divisor: 512 };

/// A thread, its process, and the word size of its program.
#[derive(Clone, Copy)]
pub(super) struct Thread {
    pub(super) tid: u64,
    pub(super) pid: u64,
    pub(super) env: Env,
}

/// Memory of the base trace and of each CPU's trace. Each trace divides its memory into two
/// buffers. The CPU buffers are small, so the daemon must run often.
pub(super) struct Memory {
    base: [u8; 2048],
    cpus: [[u8; 2048]; 2],
}

impl Default for Memory {
    fn default() -> Self {
        Self { base: [0; 2048], cpus: [[0; 2048]; 2] }
    }
}

type Timer<'m> = Box<dyn FnMut() -> u64 + 'm>;

pub(super) struct System<'m> {
    now: &'m Cell<u64>,
    base: Log<'m, Masked<Timer<'m>>>,
    cpus: [Log<'m, Masked<Timer<'m>>>; 2],
    running: [Thread; 2],
}

/// The daemon that starts and stops the trace.
const DAEMON: Context = Context::thread(0, 3_145_800, 9_437_300);
/// The idle threads, one per CPU.
const IDLE: [Thread; 2] = [
    Thread { tid: 517, pid: 516, env: Env::Bits64 },
    Thread { tid: 775, pid: 774, env: Env::Bits64 },
];

fn timer(now: &Cell<u64>) -> Masked<Timer<'_>> {
    // All bits of this machine's timer are valid.
    Masked { clock: Box::new(|| START_TICK + now.get() * 512 / 1000), mask: u64::MAX }
}

fn described() -> Machine<'static> {
    Machine {
        env: Env::Bits64,
        order: ByteOrder::Big,
        conversion: CONVERSION,
        cpus: 2,
        cpus_traced: 2,
        system: b"AIX 7.3 (simulated)",
        node: b"example",
        machine: b"00000000EX00",
        address: b"192.0.2.10",
    }
}

fn options(per_cpu: bool) -> Options<'static> {
    Options {
        per_cpu,
        wall_clock_ns: WALL_CLOCK_NS,
        command: b"trace -a -C all -o hooks.twx",
        ..Options::default()
    }
}

impl<'m> System<'m> {
    /// Starts the trace; both CPUs are idle.
    pub(super) fn start(now: &'m Cell<u64>, memory: &'m mut Memory) -> Self {
        let start =
            |memory, per_cpu| Log::start(timer(now), described(), memory, DAEMON, options(per_cpu));
        let base = start(&mut memory.base, false);
        let cpus = memory.cpus.each_mut().map(|memory| start(memory, true));
        Self { now, base, cpus, running: IDLE }
    }

    /// Advances the time of both CPUs.
    pub(super) fn work(&mut self, us: u64) {
        self.now.set(self.now.get() + 1000 * us);
    }

    /// Runs the trace daemon, which writes the waiting entries.
    pub(super) fn daemon_runs(&mut self) {
        self.base.drain();
        self.cpus.iter_mut().for_each(Log::drain);
    }

    /// Stops the trace. Returns the base log and the CPU logs.
    pub(super) fn stop(self) -> [Vec<u8>; 3] {
        let [first, second] = self.cpus.map(|cpu| cpu.stop(DAEMON));
        [self.base.stop(DAEMON), first, second]
    }

    /// Returns the current context of a CPU, and its trace.
    fn recorder(&mut self, cpu: usize) -> (Context, &mut Trace<'m, impl Clock + use<'m>>) {
        let Thread { tid, pid, .. } = self.running[cpu];
        (Context::thread(cpu as u16, pid, tid), &mut self.cpus[cpu].trace)
    }

    fn plain<const N: usize>(&mut self, cpu: usize, id: HookId, data: u16, words: [u64; N]) {
        let mut five = [0; 5];
        five[..N].copy_from_slice(&words);
        let env = self.running[cpu].env;
        let (context, trace) = self.recorder(cpu);
        match env {
            Env::Bits32 => {
                let hook = HookWord32::new(id, HookType::for_words(N).stamped(), data);
                trace.trchook(context, hook, five.map(|word| word as u32))
            }
            Env::Bits64 => trace.trchook64(context, HookWord64::plain(id, data, N as u16), five),
        };
    }

    /// Records a kernel entry, always in 64-bit form.
    fn kernel_64(&mut self, cpu: usize, id: HookId, words: [u64; 2]) {
        let [a, b] = words;
        let (context, trace) = self.recorder(cpu);
        trace.trchook64(context, HookWord64::plain(id, 0, 2), [a, b, 0, 0, 0]);
    }

    fn generic(&mut self, cpu: usize, id: HookId, word: u64, data: &[u8]) {
        let hook: HookWord = match self.running[cpu].env {
            Env::Bits32 => HookWord32::new(id, HookType::Trcgen, 0).into(),
            Env::Bits64 => HookWord64::generic(id, 0).into(),
        };
        let (context, trace) = self.recorder(cpu);
        trace.trcgent(context, 0, hook, word, data);
    }

    fn dispatch_as(&mut self, cpu: usize, id: HookId, thread: Thread) {
        self.running[cpu] = thread;
        let words = [thread.tid as u32, thread.pid as u32, 0, 0, 0];
        let hook = HookWord32::new(id, HookType::Trchkgt, 0);
        let (context, trace) = self.recorder(cpu);
        trace.trchook(context, hook, words);
    }

    /// Dispatches a thread on the CPU.
    pub(super) fn dispatch(&mut self, cpu: usize, thread: Thread) {
        self.dispatch_as(cpu, ids::DISPATCH, thread);
    }

    /// Dispatches the idle thread of the CPU.
    pub(super) fn idle(&mut self, cpu: usize) {
        self.dispatch_as(cpu, ids::DISPATCH_IDLE, IDLE[cpu]);
    }

    /// The running process forks a child.
    pub(super) fn fork(&mut self, cpu: usize, child: Thread) {
        self.kernel_64(cpu, ids::FORK, [child.pid, child.tid]);
    }

    /// The running process creates a thread.
    pub(super) fn create_thread(&mut self, cpu: usize, thread: Thread) {
        self.kernel_64(cpu, ids::THREAD_CREATE, [thread.tid, thread.pid]);
    }

    /// The running process executes another program, of the given word size.
    pub(super) fn exec(&mut self, cpu: usize, path: &str, env: Env) {
        self.running[cpu].env = env;
        let Thread { tid, pid, .. } = self.running[cpu];
        let tid = tid.to_be_bytes();
        let mut data = tid[8 - env.word_bytes()..].to_vec();
        data.extend(path.bytes().chain([0]));
        self.generic(cpu, ids::EXEC, pid, &data);
    }

    /// The running thread enters a system call.
    pub(super) fn call(&mut self, cpu: usize, number: u64) {
        self.plain(cpu, SYSTEM_CALL, 0, [number]);
    }

    /// The system call returns.
    pub(super) fn call_returns(&mut self, cpu: usize, number: u64, result: u64) {
        self.plain(cpu, SYSTEM_CALL_RETURN, 0, [number, result]);
    }

    /// The shell's script records its phase.
    pub(super) fn phase(&mut self, cpu: usize, phase: u16) {
        self.plain(cpu, PHASE, phase, []);
    }

    /// A program records the number of records that it has read so far.
    pub(super) fn records_read(&mut self, cpu: usize, count: u64) {
        self.plain(cpu, RECORDS_READ, 0, [count]);
    }

    /// A worker sorted a range of records.
    pub(super) fn batch_sorted(&mut self, cpu: usize, worker: u16, range: [u64; 2], ns: u64) {
        let [first, last] = range;
        self.plain(cpu, BATCH_SORTED, worker, [first, last, ns]);
    }

    /// A worker wrote a run of records to disk.
    pub(super) fn spilled(&mut self, cpu: usize, worker: u16) {
        self.plain(cpu, SPILLED, worker, []);
    }

    /// A program records a string.
    pub(super) fn note(&mut self, cpu: usize, number: u64, text: &str) {
        self.generic(cpu, NOTE, number, text.as_bytes());
    }
}
