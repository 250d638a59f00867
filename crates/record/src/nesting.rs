//! Nested recording in one thread: a signal handler can record an event while it interrupts the
//! recording of another event.
//!
//! A thread increments its count of used depths when a record begins, and decrements the count when
//! the record ends. So a handler that interrupts a record uses the next depth, with its own state,
//! and the interrupted record remains untouched. Two records never use the same state, and storing
//! needs no locked instructions.
//!
//! A handler can leave by a jump (`longjmp`). In that case the interrupted record never ends, and
//! its depth remains in use. When all depths are in use, the next record compares stack addresses.
//! If the stack frame of a record was deeper on the stack than the current frame, the record is no
//! longer in progress, so its depth is freed. On a signal stack no depth is freed, because the
//! addresses of the two stacks are unrelated.
//!
//! This module uses unsafe code because `sigaltstack`, which returns the signal stack, is a foreign
//! function.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, compiler_fence};

/// The nesting depths at which a thread is currently recording. At most `DEPTHS` of them can be in
/// use at a time.
///
/// All-zero memory is a valid value: no depth is in use.
///
/// ```
/// use tracewell_record::nesting::Nesting;
///
/// let nesting = Nesting::<2>::new();
/// let inner = nesting.enter(|_| {}, |outer| (outer, nesting.enter(|_| {}, |inner| inner)));
/// assert_eq!(inner, Some((0, Some(1))));
/// ```
#[derive(Debug)]
pub struct Nesting<const DEPTHS: usize> {
    /// Number of records that have begun and not ended. It is also the index of the next free
    /// depth.
    in_use: AtomicU32,
    /// Stack address at which the record of each used depth began.
    frames: [AtomicUsize; DEPTHS],
}

impl<const DEPTHS: usize> Nesting<DEPTHS> {
    /// Returns a value in which no depth is in use.
    pub const fn new() -> Self {
        Self { in_use: AtomicU32::new(0), frames: [const { AtomicUsize::new(0) }; DEPTHS] }
    }

    /// Marks all depths as free. Call this for a thread that has just started.
    pub fn reset(&self) {
        self.in_use.store(0, Ordering::Relaxed);
    }

    /// Returns true if a record has begun and not ended, or was abandoned by a jump. Any thread may
    /// call this.
    pub fn is_in_use(&self) -> bool {
        self.in_use.load(Ordering::Acquire) != 0
    }

    /// Calls `record` with the first free depth, which remains in use until `record` returns.
    /// Returns `None` if all depths are in use.
    ///
    /// Calls `abandoned` first for each depth whose record was abandoned by a jump.
    #[inline(always)]
    pub fn enter<R>(
        &self,
        abandoned: impl FnMut(usize),
        record: impl FnOnce(usize) -> R,
    ) -> Option<R> {
        let local = 0_u8;
        let here = (&raw const local).addr();
        // Relaxed, with compiler fences: only this thread and its signal handlers depend on the
        // order. A caller of `is_in_use` in another thread must first execute a memory barrier in
        // all threads.
        let mut depth = self.in_use.load(Ordering::Relaxed) as usize;
        if depth >= DEPTHS {
            depth = self.recover(here, abandoned)?;
        }
        let frame = self.frames.get(depth)?;
        // A handler can run before the count is incremented or after it is decremented. In both
        // cases the handler uses the same depth as this record, and overwrites the frame address of
        // this record. The handler must restore this address on return. Otherwise a later handler
        // would see the first handler's address, which is deeper on the stack, and would treat this
        // record as abandoned.
        let outer = frame.load(Ordering::Relaxed);
        frame.store(here, Ordering::Relaxed);
        self.in_use.store(depth as u32 + 1, Ordering::Relaxed);
        // The fences prevent the compiler from moving the record's stores out of the guarded
        // region.
        compiler_fence(Ordering::SeqCst);
        let result = record(depth);
        compiler_fence(Ordering::SeqCst);
        self.in_use.store(depth as u32, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        frame.store(outer, Ordering::Relaxed);
        Some(result)
    }

    /// Frees the depths of abandoned records. Returns the first free depth, or `None` if all are in
    /// use.
    #[cold]
    #[inline(never)]
    fn recover(&self, here: usize, mut abandoned: impl FnMut(usize)) -> Option<usize> {
        if on_signal_stack() {
            return None;
        }
        let mut free = DEPTHS;
        // The stack grows downwards, so a frame at a lower address than the current frame no longer
        // exists.
        while free > 0 && self.frames[free - 1].load(Ordering::Relaxed) <= here {
            free -= 1;
            abandoned(free);
        }
        self.in_use.store(free as u32, Ordering::Relaxed);
        (free < DEPTHS).then_some(free)
    }
}

impl<const DEPTHS: usize> Default for Nesting<DEPTHS> {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns true if the calling thread is running on its signal stack.
fn on_signal_stack() -> bool {
    // SAFETY: the call fills the structure, which contains only plain data. errno exists as long as
    // its thread.
    unsafe {
        let saved = *libc::__errno_location();
        let mut stack: libc::stack_t = std::mem::zeroed();
        let asked = libc::sigaltstack(std::ptr::null(), &raw mut stack) == 0;
        *libc::__errno_location() = saved;
        asked && stack.ss_flags & libc::SS_ONSTACK != 0
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::arch::asm;
    use std::vec::Vec;

    use super::*;

    static NESTING: Nesting<3> = Nesting::new();
    /// Number of records that handlers made at each depth. The last element counts the handlers
    /// that found no free depth.
    static HANDLED: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];
    static ABANDONED: AtomicU32 = AtomicU32::new(0);

    fn count_abandoned(_: usize) {
        ABANDONED.fetch_add(1, Ordering::Relaxed);
    }

    extern "C" fn handler(_: libc::c_int) {
        let depth = NESTING.enter(count_abandoned, |depth| depth).unwrap_or(3);
        HANDLED[depth].fetch_add(1, Ordering::Relaxed);
    }

    /// Calls `run` and interrupts it before each instruction.
    fn interrupted_everywhere(run: impl FnOnce()) {
        // SAFETY: the handler is safe to run at any instruction. The assembly instructions use the
        // stack and change only the trap flag.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as extern "C" fn(libc::c_int) as libc::sighandler_t;
            assert_eq!(libc::sigaction(libc::SIGTRAP, &raw const action, std::ptr::null_mut()), 0);
            asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq");
            run();
            asm!("pushfq", "and qword ptr [rsp], -257", "popfq");
        }
    }

    #[test]
    fn a_handler_at_any_instruction_abandons_no_record() {
        NESTING.enter(count_abandoned, |_| {
            NESTING.enter(count_abandoned, |_| {
                interrupted_everywhere(|| {
                    assert_eq!(NESTING.enter(count_abandoned, |depth| depth), Some(2));
                });
            })
        });
        let handled = HANDLED.each_ref().map(|count| count.load(Ordering::Relaxed));
        assert_eq!(ABANDONED.load(Ordering::Relaxed), 0);
        assert_eq!(handled[..2], [0, 0]);
        assert!(handled[2] > 0 && handled[3] > 0, "{handled:?}");
    }

    #[test]
    fn depths_of_frames_that_are_gone_are_free_again() {
        let nesting = Nesting::<2>::new();
        // Two records that began deeper on the stack and never ended.
        nesting.in_use.store(2, Ordering::Relaxed);
        nesting.frames.iter().for_each(|frame| frame.store(1, Ordering::Relaxed));
        let mut abandoned = Vec::new();
        assert_eq!(nesting.enter(|depth| abandoned.push(depth), |depth| depth), Some(0));
        assert_eq!(abandoned, [1, 0]);
        // Two records that began at the end of the address space are still in progress.
        nesting.in_use.store(2, Ordering::Relaxed);
        nesting.frames.iter().for_each(|frame| frame.store(usize::MAX, Ordering::Relaxed));
        assert_eq!(nesting.enter(|_| unreachable!(), |depth| depth), None);
    }
}
