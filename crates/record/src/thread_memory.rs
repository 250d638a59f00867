//! Per-thread memory for recorders that are called from signal handlers.
//!
//! If a library is loaded while the program runs, `malloc` allocates the library's thread-local
//! variables when a thread first uses them. A signal handler that interrupted `malloc` would
//! deadlock. So each user of this module has only one word per thread, which points to a block of
//! pages from the kernel. The loader reserves this word for every thread (TLS model *initial
//! exec*). When a thread ends, a later thread reuses its block, so the number of blocks remains
//! close to the maximum number of simultaneous threads.
//!
//! Nothing in this file allocates from the heap, waits or takes a lock. A thread makes system calls
//! only when it first needs its block: to get its id, to find the block of a thread that has ended,
//! and to map pages if there is none.
//!
//! This module uses unsafe code to access the word with inline assembly, to call the kernel, and to
//! make references to mapped pages.
#![allow(unsafe_code)]

use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// A type for which all-zero memory is a valid value.
///
/// # Safety
/// * All-zero bytes must be a valid value, and the alignment must not exceed the page size.
/// * `is_in_use` must access only atomics, because other threads call it while the value changes.
pub unsafe trait Zeroed: 'static {
    /// Resets the value of an ended thread so that another thread can use it.
    fn reset(&self);

    /// Returns true if the value's thread may be using the data that the value protects.
    fn is_in_use(&self) -> bool {
        true
    }
}

/// A user of per-thread memory. Each user has a word in each thread.
#[derive(Clone, Copy, Debug)]
pub enum User {
    /// The streams of [`crate::stream`].
    Streams = 0,
    /// The streams of POSIX trace.
    Posix = 1,
}

/// One value of type `T` for each thread.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use tracewell_record::thread_memory::{ThreadMemory, User, Zeroed};
///
/// struct Count(AtomicU64);
///
/// // SAFETY: all-zero bytes are a valid atomic.
/// unsafe impl Zeroed for Count {
///     fn reset(&self) {
///         self.0.store(0, Ordering::Relaxed);
///     }
/// }
///
/// static COUNTS: ThreadMemory<Count> = ThreadMemory::new(User::Streams);
///
/// COUNTS.get().unwrap().0.fetch_add(1, Ordering::Relaxed);
/// let in_other_thread = std::thread::spawn(|| {
///     COUNTS.get().unwrap().0.load(Ordering::Relaxed)
/// });
/// assert_eq!(in_other_thread.join().unwrap(), 0);
/// ```
#[derive(Debug)]
pub struct ThreadMemory<T: Zeroed> {
    user: User,
    /// Head of the list of all blocks: the newest block.
    blocks: AtomicPtr<Block<T>>,
    /// Index of the block at which the next thread starts its search.
    from: AtomicUsize,
    value: PhantomData<fn() -> T>,
}

#[repr(C)]
struct Block<T> {
    /// Process (low half) and thread (high half) that own the block; 0 if it is free; [`TAKING`] is
    /// set while it is being reused.
    thread: AtomicU64,
    /// The next older block.
    before: AtomicPtr<Self>,
    /// Number of the last check that found the thread idle.
    idle: AtomicU64,
    value: T,
}

/// Maximum number of blocks that a thread checks before it creates one. Each check makes at most
/// one system call.
const MAX_LIVENESS_CHECKS: usize = 16;
/// Maximum number of times that [`ThreadMemory::all_idle_since`] checks a value.
const MAX_IDLE_CHECKS: u32 = 100;
/// Bit of `Block::thread` that is set while a thread takes over the block.
const TAKING: u64 = 1 << 63;

impl<T: Zeroed> ThreadMemory<T> {
    /// Creates memory in which no thread has a value.
    ///
    /// Each [`User`] must have only one `ThreadMemory` in a process.
    pub const fn new(user: User) -> Self {
        let (blocks, from) = (AtomicPtr::new(ptr::null_mut()), AtomicUsize::new(0));
        Self { user, blocks, from, value: PhantomData }
    }

    /// Returns the calling thread's value, or `None` if no memory is available. Safe to call from a
    /// signal handler.
    #[inline(always)]
    pub fn get(&self) -> Option<&T> {
        let word = word(self.user);
        // SAFETY: the pointer is null or points to a block that `find` stored there, which remains
        // mapped.
        match unsafe { ptr::with_exposed_provenance::<Block<T>>(word).as_ref() } {
            Some(block) => Some(&block.value),
            None => self.find(),
        }
    }

    /// Checks which threads are idle. A thread is idle if, at some moment during the call, it does
    /// not use its value. For each thread, stores the number of the last check that found it idle.
    /// Returns the smallest of these numbers.
    ///
    /// `number` must increase from check to check. If `idle` is the caller's value, the caller
    /// counts as idle. In the child of a fork, the values of the parent's threads count as well,
    /// although only one of these threads exists.
    pub fn all_idle_since(&self, number: u64, idle: Option<&T>) -> u64 {
        let caller = caller();
        let since = self.iter().map(|block| {
            let is_idle = || {
                core::hint::spin_loop();
                !block.value.is_in_use()
            };
            if idle.is_some_and(|idle| ptr::eq(&block.value, idle))
                || (0..MAX_IDLE_CHECKS).any(|_| is_idle())
                // A thread that has ended cannot use its value any more.
                || has_ended(block.thread.load(Ordering::Relaxed), caller)
            {
                // A later check, which has a larger number, may already have stored its number.
                number.max(block.idle.fetch_max(number, Ordering::Relaxed))
            } else {
                block.idle.load(Ordering::Relaxed)
            }
        });
        since.min().unwrap_or(number)
    }

    /// Finds a block for the calling thread and stores it in the thread's word.
    #[cold]
    #[inline(never)]
    fn find(&self) -> Option<&T> {
        let own = caller();
        let block = match self.take_over(own) {
            Some(block) => block,
            None => self.make(own)?,
        };
        let word = &words()[self.user as usize];
        let place = ptr::from_ref(block).expose_provenance();
        // A signal handler may have run this function since `get` loaded 0. The handler's block
        // remains in use, because it may contain data of the handler. The block found here is
        // released.
        match word.compare_exchange(0, place, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Some(&block.value),
            Err(other) if other == place => Some(&block.value),
            Err(_) => {
                block.thread.store(0, Ordering::Release);
                self.get()
            }
        }
    }

    /// Takes over a block that is free, or whose thread belonged to this process and has ended.
    ///
    /// Searches begin at different blocks, so that threads that start at the same time do not all
    /// check the same blocks, and every block is checked eventually.
    fn take_over(&self, own: u64) -> Option<&Block<T>> {
        let count = self.iter().count();
        let from = self.from.fetch_add(MAX_LIVENESS_CHECKS, Ordering::Relaxed) % count.max(1);
        let turned = self.iter().skip(from).chain(self.iter().take(from));
        for block in turned.take(MAX_LIVENESS_CHECKS) {
            let before = block.thread.load(Ordering::Relaxed);
            if before != 0 && !has_ended(before, own) {
                continue;
            }
            // The flag keeps a third thread from taking the block before it is reset.
            let taking = own | TAKING;
            // Acquire: pairs with the release store in `find`, in the thread that released the
            // block.
            let taken =
                block.thread.compare_exchange(before, taking, Ordering::Acquire, Ordering::Relaxed);
            if taken.is_ok() {
                block.value.reset();
                block.thread.store(own, Ordering::Relaxed);
                return Some(block);
            }
        }
        None
    }

    /// Maps a new block and links it into the list.
    fn make(&self, own: u64) -> Option<&Block<T>> {
        let block = pages(size_of::<Block<T>>())?.cast::<Block<T>>();
        // SAFETY: `pages` mapped zeroed pages of at least this size, which remain mapped. Zeros are
        // valid for the other fields, which are atomics, and for `T`, as its implementation of
        // `Zeroed` guarantees.
        let block = unsafe { block.as_ref() };
        block.thread.store(own, Ordering::Relaxed);
        let mut last = self.blocks.load(Ordering::Relaxed);
        loop {
            block.before.store(last, Ordering::Relaxed);
            let new = ptr::from_ref(block).cast_mut();
            // Release: a thread that finds the block in the list also sees its owner and its link.
            let linked =
                self.blocks.compare_exchange(last, new, Ordering::Release, Ordering::Relaxed);
            match linked {
                Ok(_) => return Some(block),
                Err(other) => last = other,
            }
        }
    }

    /// Iterates over all blocks, newest first. Blocks are never removed.
    fn iter(&self) -> impl Iterator<Item = &Block<T>> {
        let block = |place: *mut Block<T>| {
            // SAFETY: the pointer is null or points to a block that `make` linked, which remains
            // mapped.
            NonNull::new(place).map(|place| unsafe { place.as_ref() })
        };
        // Acquire: pairs with the release in `make`, for this block and all blocks that it links
        // to.
        let first = block(self.blocks.load(Ordering::Acquire));
        core::iter::successors(first, move |last: &&Block<T>| {
            block(last.before.load(Ordering::Relaxed))
        })
    }
}

/// Returns the calling thread: process id (low half) and thread id (high half).
fn caller() -> u64 {
    // SAFETY: neither call takes arguments or touches memory.
    let (process, thread) = unsafe { (libc::getpid(), libc::syscall(libc::SYS_gettid)) };
    u64::from(process as u32) | (thread as u64) << 32
}

/// Returns true if `thread` is a thread of this process and has ended.
///
/// The parent's threads do not count as ended in the child of a fork, because the child continues
/// to use the block of the thread that forked.
fn has_ended(thread: u64, own: u64) -> bool {
    // In this case, the kernel has given the caller the id of an ended thread.
    if thread == own {
        return true;
    }
    if thread as u32 != own as u32 || thread & TAKING != 0 {
        return false;
    }
    // SAFETY: signal 0 is never delivered; the call only checks for existence. errno exists as long
    // as its thread.
    unsafe {
        let saved = *libc::__errno_location();
        let result = libc::syscall(libc::SYS_tgkill, thread as u32, (thread >> 32) as u32, 0);
        let ended = result != 0 && *libc::__errno_location() == libc::ESRCH;
        *libc::__errno_location() = saved;
        ended
    }
}

/// Maps private zeroed pages.
fn pages(bytes: usize) -> Option<NonNull<u8>> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: the kernel chooses a free address range. errno exists as long as its thread.
    unsafe {
        let saved = *libc::__errno_location();
        let start = libc::mmap(ptr::null_mut(), bytes, access, kind, -1, 0);
        *libc::__errno_location() = saved;
        if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
    }
}

/// Returns a user's word in the calling thread.
#[cfg(all(target_env = "gnu", target_arch = "x86_64"))]
#[inline(always)]
fn word(user: User) -> usize {
    let word: usize;
    // SAFETY: the instruction loads one word of this thread's variable.
    unsafe {
        core::arch::asm!(
            "mov {place}, qword ptr [rip + tracewell_record_thread_words@GOTTPOFF]",
            "mov {word}, qword ptr fs:[{place} + {user} * 8]",
            place = out(reg) _,
            user = in(reg) user as usize,
            word = lateout(reg) word,
            options(readonly, nostack, preserves_flags),
        );
    }
    word
}

#[cfg(not(all(target_env = "gnu", target_arch = "x86_64")))]
#[inline(always)]
fn word(user: User) -> usize {
    words()[user as usize].load(Ordering::Relaxed)
}

/// Returns the words of the calling thread, one per user.
#[cfg(all(target_env = "gnu", target_arch = "x86_64"))]
#[inline(always)]
fn words() -> &'static [AtomicUsize; 2] {
    let place: *const [AtomicUsize; 2];
    // SAFETY: the sum of the thread's base address and the variable's offset is the variable's
    // address in this thread. Only this thread uses the reference, and it does so immediately. The
    // words are initially zero, which is valid for atomics.
    unsafe {
        core::arch::asm!(
            "mov {place}, qword ptr fs:[0]",
            "add {place}, qword ptr [rip + tracewell_record_thread_words@GOTTPOFF]",
            place = out(reg) place,
            options(pure, nomem, nostack),
        );
        &*place
    }
}

#[cfg(all(target_env = "gnu", target_arch = "aarch64"))]
#[inline(always)]
fn words() -> &'static [AtomicUsize; 2] {
    let place: *const [AtomicUsize; 2];
    // SAFETY: see the x86-64 version.
    unsafe {
        core::arch::asm!(
            "adrp {place}, :gottprel:tracewell_record_thread_words",
            "ldr {place}, [{place}, :gottprel_lo12:tracewell_record_thread_words]",
            "mrs {base}, tpidr_el0",
            "add {place}, {place}, {base}",
            place = out(reg) place,
            base = out(reg) _,
            options(pure, nomem, nostack, preserves_flags),
        );
        &*place
    }
}

#[cfg(all(target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
core::arch::global_asm!(
    ".pushsection .tbss.tracewell_record_thread_words,\"awT\",%nobits",
    ".balign 8",
    ".globl tracewell_record_thread_words",
    ".hidden tracewell_record_thread_words",
    ".type tracewell_record_thread_words, %object",
    ".size tracewell_record_thread_words, 16",
    "tracewell_record_thread_words:",
    ".zero 16",
    ".popsection",
);

/// On other targets the words are an ordinary thread-local variable. With musl, such a variable is
/// safe in a signal handler, because the loader reserves a library's variables for all threads when
/// it loads the library. The remaining targets use an ordinary variable because we do not know the
/// layout of their loaders' tables.
#[cfg(not(all(target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[inline(always)]
fn words() -> &'static [AtomicUsize; 2] {
    std::thread_local! {
        static WORDS: [AtomicUsize; 2] = const { [const { AtomicUsize::new(0) }; 2] };
    }
    // SAFETY: the variable has no destructor, so it exists as long as the thread. Only this thread
    // uses the reference, and it does so immediately.
    WORDS.with(|words| unsafe { &*ptr::from_ref(words) })
}
