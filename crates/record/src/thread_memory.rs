//! Memory of each thread, for recorders that signal handlers call.
//!
//! A library that is loaded while the program runs gets its thread-local variables from `malloc`, at their first
//! use in each thread; a handler that interrupted `malloc` would wait for itself. So a thread has only a word
//! among the variables that the loader reserves for each thread (the model *initial exec*), and the word
//! points to a block of pages from the kernel. A thread that has ended leaves its block to a later one, so that
//! there are no more blocks than threads at a time, and some.
//!
//! Nothing here allocates, waits or takes a lock. What a thread asks of the kernel it asks once: who it is,
//! which of some blocks belong to threads that have ended, and pages if none does.
//!
//! The module holds `unsafe` code because the word is reached by an instruction, the kernel by foreign
//! functions, and pages that were mapped become references.
#![allow(unsafe_code)]

use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// A type of which memory full of zeros is a value.
///
/// # Safety
/// * It is, and the type has no more alignment than a page.
pub unsafe trait Zeroed: 'static {
    /// Makes the value of a thread that has ended that of another one.
    fn begin_again(&self);
}

/// Who uses memory of threads: each user has a word in each thread.
#[derive(Clone, Copy, Debug)]
pub enum User {
    /// Our own streams.
    Streams = 0,
    /// POSIX trace streams.
    Posix = 1,
}

/// A value for each thread.
#[derive(Debug)]
pub struct ThreadMemory<T: Zeroed> {
    user: User,
    /// The block that was made last.
    blocks: AtomicPtr<Block<T>>,
    /// Where the next thread begins to look for a block.
    from: AtomicUsize,
    value: PhantomData<fn() -> T>,
}

#[repr(C)]
struct Block<T> {
    /// Process (low half) and thread; 0 for nobody; with [`TAKING`] while it changes hands.
    thread: AtomicU64,
    /// The block that was made before.
    before: AtomicPtr<Self>,
    value: T,
}

/// Blocks that a thread looks at before it makes one, each by a system call at most.
const INQUIRIES: usize = 16;
const TAKING: u64 = 1 << 63;

impl<T: Zeroed> ThreadMemory<T> {
    /// No thread has a value yet.
    pub const fn new(user: User) -> Self {
        let (blocks, from) = (AtomicPtr::new(ptr::null_mut()), AtomicUsize::new(0));
        Self { user, blocks, from, value: PhantomData }
    }

    /// The calling thread's value; `None` if there is no memory. For signal handlers.
    #[inline(always)]
    pub fn get(&self) -> Option<&T> {
        let word = word(self.user);
        // SAFETY: null, or a block that `find` put there, which stays mapped.
        match unsafe { ptr::with_exposed_provenance::<Block<T>>(word).as_ref() } {
            Some(block) => Some(&block.value),
            None => self.find(),
        }
    }

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
        // A signal handler may have been here meanwhile.
        match word.compare_exchange(0, place, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Some(&block.value),
            Err(other) if other == place => Some(&block.value),
            Err(_) => {
                block.thread.store(0, Ordering::Release);
                self.get()
            }
        }
    }

    /// Takes over the block of a thread of this process that has ended.
    fn take_over(&self, own: u64) -> Option<&Block<T>> {
        let count = self.iter().count();
        let from = self.from.fetch_add(INQUIRIES, Ordering::Relaxed) % count.max(1);
        let turned = self.iter().skip(from).chain(self.iter().take(from));
        for block in turned.take(INQUIRIES) {
            let before = block.thread.load(Ordering::Relaxed);
            if before != 0 && !has_ended(before, own) {
                continue;
            }
            let taking = own | TAKING;
            // Acquire: pairs with the release store of who left it.
            let taken =
                block.thread.compare_exchange(before, taking, Ordering::Acquire, Ordering::Relaxed);
            if taken.is_ok() {
                block.value.begin_again();
                block.thread.store(own, Ordering::Relaxed);
                return Some(block);
            }
        }
        None
    }

    fn make(&self, own: u64) -> Option<&Block<T>> {
        let block = pages(size_of::<Block<T>>())?.cast::<Block<T>>();
        // SAFETY: pages of zeros of that size, which stay mapped; the two other fields are atomics, of
        // which zeros are values, and so is `T` (the trait's promise).
        let block = unsafe { block.as_ref() };
        block.thread.store(own, Ordering::Relaxed);
        let mut last = self.blocks.load(Ordering::Relaxed);
        loop {
            block.before.store(last, Ordering::Relaxed);
            let new = ptr::from_ref(block).cast_mut();
            // Release: who finds the block sees what it is.
            let linked =
                self.blocks.compare_exchange(last, new, Ordering::Release, Ordering::Relaxed);
            match linked {
                Ok(_) => return Some(block),
                Err(other) => last = other,
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Block<T>> {
        let block = |place: *mut Block<T>| {
            // SAFETY: null, or a block that `make` linked, which stays mapped.
            NonNull::new(place).map(|place| unsafe { place.as_ref() })
        };
        let first = block(self.blocks.load(Ordering::Acquire));
        core::iter::successors(first, move |last: &&Block<T>| {
            block(last.before.load(Ordering::Relaxed))
        })
    }
}

/// The calling thread: process (low half) and thread.
fn caller() -> u64 {
    // SAFETY: neither call has arguments or touches memory.
    let (process, thread) = unsafe { (libc::getpid(), libc::syscall(libc::SYS_gettid)) };
    u64::from(process as u32) | (thread as u64) << 32
}

/// Returns true if a thread of this process has ended. Blocks that were another process's, before a fork, are
/// left alone: the thread that forked goes on using one.
fn has_ended(thread: u64, own: u64) -> bool {
    if thread == own {
        return true;
    }
    if thread as u32 != own as u32 || thread & TAKING != 0 {
        return false;
    }
    // SAFETY: signal 0 is not delivered; the call only looks; errno's place is there as long as the thread is.
    unsafe {
        let saved = *libc::__errno_location();
        let result = libc::syscall(libc::SYS_tgkill, thread as u32, (thread >> 32) as u32, 0);
        let ended = result != 0 && *libc::__errno_location() == libc::ESRCH;
        *libc::__errno_location() = saved;
        ended
    }
}

/// Private zeros.
fn pages(bytes: usize) -> Option<NonNull<u8>> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: the kernel chooses a free place; errno's place is there as long as the thread is.
    unsafe {
        let saved = *libc::__errno_location();
        let start = libc::mmap(ptr::null_mut(), bytes, access, kind, -1, 0);
        *libc::__errno_location() = saved;
        if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
    }
}

/// What the word of a user is in the calling thread.
#[cfg(all(target_env = "gnu", target_arch = "x86_64"))]
#[inline(always)]
fn word(user: User) -> usize {
    let word: usize;
    // SAFETY: reads a word of the variable in this thread.
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

/// The words of the calling thread, a user each.
#[cfg(all(target_env = "gnu", target_arch = "x86_64"))]
#[inline(always)]
fn words() -> &'static [AtomicUsize; 2] {
    let place: *const [AtomicUsize; 2];
    // SAFETY: the sum of the thread's base and the variable's offset is the variable's address in this thread; the
    // reference is used at once, by this thread. The words are zeros at first, and atomics have no other need.
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
    // SAFETY: as on x86-64.
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

/// Elsewhere the words are an ordinary variable: the loader's tables are not known, or (musl) it reserves the
/// variables of a library for each thread when it loads it.
#[cfg(not(all(target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[inline(always)]
fn words() -> &'static [AtomicUsize; 2] {
    std::thread_local! {
        static WORDS: [AtomicUsize; 2] = const { [const { AtomicUsize::new(0) }; 2] };
    }
    // SAFETY: the variable has no destructor, so that it is there as long as the thread; the reference is used at
    // once, by this thread.
    WORDS.with(|words| unsafe { &*ptr::from_ref(words) })
}
