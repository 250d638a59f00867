//! The services of the simulated kernel, and its objects.
//!
//! Each service first records its call, with the counts and owners that its objects had before the
//! call. Threads wait without timeout, in the order of arrival.

use std::collections::VecDeque;

use tracewell_record::threadx::Object;
use tracewell_wire::threadx::ids::class;

use super::kernel::{Kernel, Step, state};

const WAIT_FOREVER: u64 = 0xFFFF_FFFF;
const OR: u64 = 0;
const OR_CLEAR: u64 = 1;
const MESSAGE_WORDS: u64 = 4;

pub(super) struct Semaphore {
    address: u64,
    count: u64,
    waiting: VecDeque<usize>,
}

pub(super) struct Mutex {
    address: u64,
    inherits: bool,
    owner: Option<usize>,
    count: u64,
    waiting: VecDeque<usize>,
}

pub(super) struct Queue {
    address: u64,
    capacity: u64,
    enqueued: u64,
    senders: VecDeque<usize>,
    receivers: VecDeque<usize>,
}

pub(super) struct Flags {
    address: u64,
    current: u64,
    /// Waiting threads, each with the flags that it waits for.
    waiting: Vec<(usize, u64)>,
}

/// A timer that sets flags of an event flags group.
pub(super) struct Timer {
    period: u64,
    expires_at: u64,
    group: usize,
    flags: u64,
}

/// Functions that create objects. Each registers the object's name, then records the call.
impl Kernel<'_> {
    pub(crate) fn create_semaphore(&mut self, name: &'static str) {
        let address = self.new_control_block();
        self.trace.register(&Object::semaphore(address, name.as_bytes(), 0));
        self.service(81, [address, 0, self.stack(0x24), 0], class::SEMAPHORE);
        self.semaphores.push(Semaphore { address, count: 0, waiting: VecDeque::new() });
    }

    pub(crate) fn create_mutex(&mut self, name: &'static str, inherits: bool) {
        let address = self.new_control_block();
        self.trace.register(&Object::mutex(address, name.as_bytes(), inherits));
        self.service(50, [address, u64::from(inherits), self.stack(0x24), 0], class::MUTEX);
        let waiting = VecDeque::new();
        self.mutexes.push(Mutex { address, inherits, owner: None, count: 0, waiting });
    }

    pub(crate) fn create_queue(&mut self, name: &'static str, capacity: u64) {
        let address = self.new_control_block();
        let size = capacity * MESSAGE_WORDS * 4;
        self.trace.register(&Object::queue(address, name.as_bytes(), size, MESSAGE_WORDS));
        let messages = address + 0x60;
        self.service(60, [address, MESSAGE_WORDS, messages, size], class::QUEUE);
        let (senders, receivers) = (VecDeque::new(), VecDeque::new());
        self.queues.push(Queue { address, capacity, enqueued: 0, senders, receivers });
    }

    pub(crate) fn create_flags(&mut self, name: &'static str) {
        let address = self.new_control_block();
        self.trace.register(&Object::event_flags(address, name.as_bytes()));
        self.service(30, [address, self.stack(0x24), 0, 0], class::EVENT_FLAGS);
        self.flags.push(Flags { address, current: 0, waiting: Vec::new() });
    }

    pub(crate) fn create_timer(
        &mut self,
        name: &'static str,
        period: u64,
        group: usize,
        flags: u64,
    ) {
        let address = self.new_control_block();
        self.trace.register(&Object::timer(address, name.as_bytes(), period, period));
        self.service(124, [address, period, period, 1], class::TIMER);
        self.timers.push(Timer { period, expires_at: period, group, flags });
    }

    pub(crate) fn create_thread(
        &mut self,
        name: &'static str,
        priority: u16,
        steps: &'static [Step],
    ) {
        let object = self.new_thread(name, priority, steps);
        self.trace.register(&object);
        let Object { pointer, parameter1, parameter2, .. } = object;
        let info = [pointer, u64::from(priority), parameter1, parameter2];
        self.service(100, info, class::THREAD);
        self.resume(self.threads.len() - 1);
    }
}

/// Time.
impl Kernel<'_> {
    pub(super) fn sleep(&mut self, thread: usize, ticks: u64) {
        self.service(112, [ticks, state::READY, self.stack(0x20), 0], class::THREAD);
        self.threads[thread].wake_at = self.time + ticks;
        self.suspend(thread, state::SLEEP);
    }

    pub(super) fn time_get(&mut self) {
        self.service(120, [self.time, self.stack(0x18), 0, 0], class::TIME);
    }

    fn is_due(&self, thread: usize) -> bool {
        let thread = &self.threads[thread];
        thread.state == state::SLEEP && thread.wake_at <= self.time
    }

    pub(super) fn timers_are_due(&self) -> bool {
        (0..self.threads.len()).any(|at| self.is_due(at))
            || self.timers.iter().any(|timer| timer.expires_at <= self.time)
    }

    /// The only step of the timer thread: resumes sleepers and sets the flags of expired timers.
    pub(super) fn expire_timers(&mut self, timer_thread: usize) {
        for thread in 0..self.threads.len() {
            if self.is_due(thread) {
                self.resume(thread);
            }
        }
        for at in 0..self.timers.len() {
            if self.timers[at].expires_at <= self.time {
                self.timers[at].expires_at += self.timers[at].period;
                self.flags_set(self.timers[at].group, self.timers[at].flags);
            }
        }
        self.suspend(timer_thread, state::SUSPENDED);
    }
}

/// Semaphores and mutexes.
impl Kernel<'_> {
    pub(super) fn semaphore_get(&mut self, thread: usize, at: usize) {
        let Semaphore { address, count, .. } = self.semaphores[at];
        self.service(83, [address, WAIT_FOREVER, count, self.stack(0x28)], class::SEMAPHORE);
        if count > 0 {
            self.semaphores[at].count -= 1;
        } else {
            self.semaphores[at].waiting.push_back(thread);
            self.suspend(thread, state::SEMAPHORE);
        }
    }

    pub(crate) fn semaphore_put(&mut self, at: usize) {
        let Semaphore { address, count, ref waiting } = self.semaphores[at];
        let suspended = waiting.len() as u64;
        self.service(88, [address, count, suspended, self.stack(0x28)], class::SEMAPHORE);
        match self.semaphores[at].waiting.pop_front() {
            Some(thread) => self.resume(thread),
            None => self.semaphores[at].count += 1,
        }
    }

    pub(super) fn mutex_get(&mut self, thread: usize, at: usize) {
        let Mutex { address, inherits, owner, count, .. } = self.mutexes[at];
        let owner_address = owner.map_or(0, |owner| self.threads[owner].address);
        self.service(52, [address, WAIT_FOREVER, owner_address, count], class::MUTEX);
        match owner {
            Some(owner) if owner != thread => {
                self.mutexes[at].waiting.push_back(thread);
                let priority = self.threads[thread].priority;
                if inherits && priority < self.threads[owner].priority {
                    self.change_priority(owner, priority);
                }
                self.suspend(thread, state::MUTEX);
            }
            _ => {
                self.mutexes[at].owner = Some(thread);
                self.mutexes[at].count += 1;
            }
        }
    }

    pub(super) fn mutex_put(&mut self, thread: usize, at: usize) {
        let Mutex { address, count, .. } = self.mutexes[at];
        let owner = self.threads[thread].address;
        self.service(57, [address, owner, count, self.stack(0x28)], class::MUTEX);
        self.mutexes[at].count -= 1;
        if count > 1 {
            return;
        }
        let own_priority = self.threads[thread].own_priority;
        if self.mutexes[at].inherits && self.threads[thread].priority != own_priority {
            self.change_priority(thread, own_priority);
        }
        self.mutexes[at].owner = self.mutexes[at].waiting.pop_front();
        if let Some(next_owner) = self.mutexes[at].owner {
            self.mutexes[at].count = 1;
            self.resume(next_owner);
        }
    }

    /// Changes a thread's priority. A ready thread is suspended and resumed. A trace shows priority
    /// inheritance only as this pair of events.
    fn change_priority(&mut self, thread: usize, priority: u16) {
        let ready = self.threads[thread].state == state::READY;
        if ready {
            self.suspend(thread, state::PRIORITY_CHANGE);
        }
        self.threads[thread].priority = priority;
        if ready {
            self.resume(thread);
        }
    }
}

/// Queues and event flags.
impl Kernel<'_> {
    pub(super) fn queue_send(&mut self, thread: usize, at: usize) {
        let Queue { address, capacity, enqueued, .. } = self.queues[at];
        self.service(69, [address, self.stack(0x10), WAIT_FOREVER, enqueued], class::QUEUE);
        if let Some(receiver) = self.queues[at].receivers.pop_front() {
            self.resume(receiver);
        } else if enqueued < capacity {
            self.queues[at].enqueued += 1;
        } else {
            self.queues[at].senders.push_back(thread);
            self.suspend(thread, state::QUEUE);
        }
    }

    pub(super) fn queue_receive(&mut self, thread: usize, at: usize) {
        let Queue { address, enqueued, .. } = self.queues[at];
        self.service(68, [address, self.stack(0x10), WAIT_FOREVER, enqueued], class::QUEUE);
        if enqueued == 0 {
            self.queues[at].receivers.push_back(thread);
            self.suspend(thread, state::QUEUE);
        } else if let Some(sender) = self.queues[at].senders.pop_front() {
            // The sender's message fills the free slot, so the number of messages stays the same.
            self.resume(sender);
        } else {
            self.queues[at].enqueued -= 1;
        }
    }

    pub(super) fn flags_get(&mut self, thread: usize, at: usize, flags: u64) {
        let Flags { address, current, .. } = self.flags[at];
        self.service(32, [address, flags, current, OR_CLEAR], class::EVENT_FLAGS);
        if current & flags != 0 {
            self.flags[at].current &= !flags;
        } else {
            self.flags[at].waiting.push((thread, flags));
            self.suspend(thread, state::EVENT_FLAGS);
        }
    }

    pub(super) fn flags_set(&mut self, at: usize, flags: u64) {
        let Flags { address, ref waiting, .. } = self.flags[at];
        let suspended = waiting.len() as u64;
        self.service(36, [address, flags, OR, suspended], class::EVENT_FLAGS);
        self.flags[at].current |= flags;
        let current = self.flags[at].current;
        let satisfied = |(_, wanted): &mut (usize, u64)| *wanted & current != 0;
        let resumed: Vec<_> = self.flags[at].waiting.extract_if(.., satisfied).collect();
        for (thread, wanted) in resumed {
            self.flags[at].current &= !wanted;
            self.resume(thread);
        }
    }
}
