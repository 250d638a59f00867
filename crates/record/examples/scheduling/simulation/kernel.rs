//! The simulated kernel: time, threads, interrupts, and the scheduler.
//!
//! The kernel is one loop: the most urgent ready thread gets the processor, and a due interrupt
//! preempts it. Without a due interrupt, the thread works until the next interrupt, or makes its
//! next call. The kernel is independent of the application.

use tracewell_record::clock::Clock;
use tracewell_record::threadx::{Context, Isr, Little32, Object, Options, Trace};

use super::services::{Flags, Mutex, Queue, Semaphore, Timer};

pub(crate) const CYCLES_PER_US: u64 = 100;
const CYCLES_PER_TICK: u64 = 1_000 * CYCLES_PER_US;
const SERVICE: u64 = 90;
const INTERNAL: u64 = 35;
const SWITCH: u64 = 140;

const TICK_ISR: u64 = 0;

const IMAGE_ADDRESS: u64 = 0x2001_0000;
const CONTROL_BLOCKS: u64 = 0x2000_0400;
const STACKS: u64 = 0x2000_2000;
const STACK_SIZE: u64 = 0x400;
const SYSTEM_STACK_TOP: u64 = 0x2000_8000;

/// Number of the kernel's own thread, which resumes sleepers and calls timers.
const TIMER_THREAD: usize = 0;

/// The steps of the kernel's own thread.
const EXPIRE_TIMERS: &[Step] = &[Step::Call(|kernel, thread| kernel.expire_timers(thread))];

/// Thread states, with the values that represent them in events.
pub(crate) mod state {
    pub(crate) const READY: u64 = 0;
    pub(crate) const SUSPENDED: u64 = 3;
    pub(crate) const SLEEP: u64 = 4;
    pub(crate) const QUEUE: u64 = 5;
    pub(crate) const SEMAPHORE: u64 = 6;
    pub(crate) const EVENT_FLAGS: u64 = 7;
    pub(crate) const MUTEX: u64 = 13;
    pub(crate) const PRIORITY_CHANGE: u64 = 14;
}

/// One step of a thread. A thread repeats its steps forever.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    Work {
        us: u64,
    },
    Sleep {
        ticks: u64,
    },
    SemaphoreGet(usize),
    MutexGet(usize),
    MutexPut(usize),
    QueueSend(usize),
    QueueReceive(usize),
    FlagsGet {
        group: usize,
        flags: u64,
    },
    FlagsSet {
        group: usize,
        flags: u64,
    },
    TimeGet,
    UserEvent(u32),
    /// A function of the kernel or of the application, which gets the number of the thread.
    Call(fn(&mut Kernel<'_>, usize)),
}

/// The 100 MHz cycle counter.
pub(crate) struct Cycles {
    now: u64,
    /// The cycle at which the simulation ends.
    pub(crate) end: u64,
}

impl Clock for Cycles {
    fn ticks(&mut self) -> u64 {
        self.now
    }
}

/// A device that interrupts the processor.
struct Device {
    number: u64,
    /// The cycle of its next interrupt.
    next: u64,
    /// Makes the calls of an interrupt. Returns the time until the next one in microseconds.
    handler: fn(&mut Kernel<'_>) -> u64,
}

pub(crate) struct Thread {
    pub(super) address: u64,
    /// The current priority. It differs from `own_priority` while a priority is inherited.
    pub(super) priority: u16,
    pub(super) own_priority: u16,
    pub(super) state: u64,
    /// Tick at which a sleeper is resumed.
    pub(super) wake_at: u64,
    stack_start: u64,
    steps: &'static [Step],
    /// Grows with each step. The first step follows the last one.
    pub(crate) next_step: usize,
    /// Cycles of work before the next step.
    pub(crate) work_left: u64,
    /// Threads of one priority run in the order in which they became ready.
    ready_since: u64,
    user_events: u64,
}

/// The running code, which determines the context of events.
enum Mode {
    Initialization,
    Threads,
    Interrupt,
}

pub(crate) struct Kernel<'m> {
    pub(crate) trace: Trace<'m, Cycles, Little32>,
    pub(crate) threads: Vec<Thread>,
    pub(super) semaphores: Vec<Semaphore>,
    pub(super) mutexes: Vec<Mutex>,
    pub(super) queues: Vec<Queue>,
    pub(super) flags: Vec<Flags>,
    pub(super) timers: Vec<Timer>,
    /// Ticks since the start.
    pub(super) time: u64,
    /// State of the application's random numbers.
    pub(crate) random: u64,
    devices: Vec<Device>,
    mode: Mode,
    /// The thread that has the processor; `None` while the system is idle.
    running: Option<usize>,
    objects: u64,
    resumes: u64,
}

impl<'m> Kernel<'m> {
    /// Creates a kernel with its timer thread. It traces from the start of initialization, and its
    /// run ends after `ms` milliseconds.
    pub(crate) fn start(memory: &'m mut [u8], registry_slots: usize, ms: u64) -> Self {
        let end = ms.saturating_mul(CYCLES_PER_TICK);
        let mut kernel = Self {
            trace: Trace::for_target(Cycles { now: 25_000, end }),
            threads: Vec::new(),
            semaphores: Vec::new(),
            mutexes: Vec::new(),
            queues: Vec::new(),
            flags: Vec::new(),
            timers: Vec::new(),
            time: 0,
            random: 0,
            devices: Vec::new(),
            mode: Mode::Initialization,
            running: None,
            objects: 0,
            resumes: 0,
        };
        let name = "System Timer Thread";
        let timer_thread = kernel.new_thread(name, 0, EXPIRE_TIMERS);
        let options = Options { base_address: Some(IMAGE_ADDRESS), ..Options::default() };
        let context = kernel.context();
        kernel
            .trace
            .enable(memory, registry_slots, &options, [timer_thread], context)
            .expect("the memory was sized for the trace");
        kernel
    }

    /// Adds a thread that is not ready yet. Returns the thread's object, which the caller
    /// registers.
    pub(super) fn new_thread(
        &mut self,
        name: &'static str,
        priority: u16,
        steps: &'static [Step],
    ) -> Object<'static> {
        let address = self.new_control_block();
        let stack_start = STACKS + STACK_SIZE * self.threads.len() as u64;
        self.threads.push(Thread {
            address,
            priority,
            own_priority: priority,
            state: state::SUSPENDED,
            wake_at: 0,
            stack_start,
            steps,
            next_step: 0,
            work_left: 0,
            ready_since: 0,
            user_events: 0,
        });
        Object::thread(address, name.as_bytes(), priority, stack_start, STACK_SIZE)
    }

    /// Returns an unused address for the control block of an object.
    pub(super) fn new_control_block(&mut self) -> u64 {
        self.objects += 1;
        CONTROL_BLOCKS + 0xC0 * (self.objects - 1)
    }

    /// Adds a device. `handler` makes the calls of an interrupt, and returns the time until the
    /// next interrupt in microseconds.
    pub(crate) fn connect(
        &mut self,
        number: u64,
        first_us: u64,
        handler: fn(&mut Kernel<'_>) -> u64,
    ) {
        self.devices.push(Device { number, next: first_us * CYCLES_PER_US, handler });
    }

    /// Schedules until the end of the simulated time.
    pub(crate) fn run(&mut self) {
        self.mode = Mode::Threads;
        while self.now() < self.trace.clock().end {
            self.dispatch();
            if self.now() >= self.next_interrupt() {
                self.interrupt();
            } else if let Some(thread) = self.running {
                self.proceed(thread);
            } else {
                let idle = self.next_interrupt() - self.now();
                self.advance(idle);
            }
        }
    }

    pub(crate) fn stop(mut self) {
        self.trace.disable().expect("nothing else switches the trace off");
    }

    /// Returns the most urgent ready thread. Among threads of equal priority, returns the thread
    /// that has been ready longest.
    fn selected(&self) -> Option<usize> {
        let ready = (0..self.threads.len()).filter(|&at| self.threads[at].state == state::READY);
        ready.min_by_key(|&at| (self.threads[at].priority, self.threads[at].ready_since))
    }

    fn dispatch(&mut self) {
        let selected = self.selected();
        if selected != self.running {
            self.running = selected;
            self.advance(SWITCH);
        }
    }

    /// Lets a thread work until it is done, is interrupted, or makes its next call.
    fn proceed(&mut self, thread: usize) {
        let until_interrupt = self.next_interrupt() - self.now();
        let Thread { work_left, steps, next_step, .. } = &mut self.threads[thread];
        if *work_left > 0 {
            let worked = until_interrupt.min(*work_left);
            *work_left -= worked;
            self.advance(worked);
            return;
        }
        let step = steps[*next_step % steps.len()];
        *next_step += 1;
        self.call(thread, step);
    }

    fn call(&mut self, thread: usize, step: Step) {
        match step {
            Step::Work { us } => self.threads[thread].work_left = us * CYCLES_PER_US,
            Step::Sleep { ticks } => self.sleep(thread, ticks),
            Step::SemaphoreGet(at) => self.semaphore_get(thread, at),
            Step::MutexGet(at) => self.mutex_get(thread, at),
            Step::MutexPut(at) => self.mutex_put(thread, at),
            Step::QueueSend(at) => self.queue_send(thread, at),
            Step::QueueReceive(at) => self.queue_receive(thread, at),
            Step::FlagsGet { group, flags } => self.flags_get(thread, group, flags),
            Step::FlagsSet { group, flags } => self.flags_set(group, flags),
            Step::TimeGet => self.time_get(),
            Step::UserEvent(id) => {
                self.threads[thread].user_events += 1;
                self.user_event(id, self.threads[thread].user_events);
            }
            Step::Call(function) => function(self, thread),
        }
    }

    fn next_tick(&self) -> u64 {
        (self.time + 1) * CYCLES_PER_TICK
    }

    fn next_interrupt(&self) -> u64 {
        self.devices.iter().map(|device| device.next).fold(self.next_tick(), u64::min)
    }

    /// Runs the interrupt that is due first, which is the tick if several are due at once.
    fn interrupt(&mut self) {
        let due = self.next_interrupt();
        if due == self.next_tick() {
            return self.interrupt_of(TICK_ISR, Self::tick);
        }
        let Some(at) = self.devices.iter().position(|device| device.next == due) else { return };
        let Device { number, handler, .. } = self.devices[at];
        self.interrupt_of(number, |kernel| {
            kernel.devices[at].next += handler(kernel) * CYCLES_PER_US;
        });
    }

    fn interrupt_of(&mut self, number: u64, handler: impl FnOnce(&mut Self)) {
        let stack = SYSTEM_STACK_TOP - 0x38;
        let isr = Isr { number, stack, system_state: 1, preempt_disable: 0 };
        self.mode = Mode::Interrupt;
        self.trace.isr_enter(self.context(), isr);
        self.advance(SERVICE);
        handler(self);
        self.advance(INTERNAL);
        self.trace.isr_exit(self.context(), isr);
        self.mode = Mode::Threads;
    }

    fn tick(&mut self) {
        self.time += 1;
        if self.timers_are_due() && self.threads[TIMER_THREAD].state == state::SUSPENDED {
            self.resume(TIMER_THREAD);
        }
    }

    /// Makes a thread ready and records this event, including the thread that runs next.
    pub(super) fn resume(&mut self, thread: usize) {
        self.advance(INTERNAL);
        let Thread { address, state, .. } = self.threads[thread];
        let (context, stack, next) = (self.context(), self.stack(0x50), self.next_address());
        let entry = self.trace.thread_resume(context, address, state, stack, next);
        self.resumes += 1;
        self.threads[thread].ready_since = self.resumes;
        self.threads[thread].state = state::READY;
        self.trace.set_next_thread(entry, self.next_address());
    }

    /// Suspends a thread and records this event, including the thread that runs next.
    pub(super) fn suspend(&mut self, thread: usize, state: u64) {
        self.advance(INTERNAL);
        let address = self.threads[thread].address;
        let (context, stack, next) = (self.context(), self.stack(0x50), self.next_address());
        let entry = self.trace.thread_suspend(context, address, state, stack, next);
        self.threads[thread].state = state;
        self.trace.set_next_thread(entry, self.next_address());
    }

    /// Records a call of a service, with four information words.
    pub(super) fn service(&mut self, id: u32, info: [u64; 4], class: u32) {
        self.advance(SERVICE);
        self.trace.insert(self.context(), id, info, class);
    }

    pub(crate) fn user_event(&mut self, id: u32, count: u64) {
        self.advance(INTERNAL);
        let recorded = self.trace.user_event(self.context(), id, [count, self.time, 0, 0]);
        recorded.expect("the trace is on while the system runs");
    }

    /// Returns the address that is `depth` bytes below the top of the current stack.
    pub(super) fn stack(&self, depth: u64) -> u64 {
        match (&self.mode, self.running) {
            (Mode::Threads, Some(at)) => self.threads[at].stack_start + STACK_SIZE - depth,
            _ => SYSTEM_STACK_TOP - depth,
        }
    }

    pub(super) fn context(&self) -> Context {
        let running = self.running.map(|at| &self.threads[at]);
        match (&self.mode, running) {
            (Mode::Initialization, _) => Context::INITIALIZATION,
            (Mode::Interrupt, interrupted) => {
                Context::interrupt(interrupted.map_or(0, |thread| thread.address))
            }
            (Mode::Threads, thread) => {
                let Thread { address, priority, .. } = *thread.expect("only threads make calls");
                Context::thread(address, priority, priority)
            }
        }
    }

    fn next_address(&self) -> u64 {
        self.selected().map_or(0, |at| self.threads[at].address)
    }

    fn now(&mut self) -> u64 {
        self.trace.clock().now
    }

    pub(crate) fn advance(&mut self, cycles: u64) {
        self.trace.clock().now += cycles;
    }
}
