//! Keeps a controller alive if a file that it maps is truncated: words after the new end become
//! zeros that only the controller sees, and the mapping reports the truncation.
//!
//! If the process accesses a word after the new end, the system raises SIGBUS, which would end the
//! process. If the word belongs to a guarded mapping, the handler in this file replaces the missing
//! pages with pages of zeros. It passes every other SIGBUS to the previous handler. A process
//! without a guarded mapping does not install the handler.
//!
//! Unsafe: signal handlers are foreign functions.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use super::PAGE;

/// A guarded mapping. Drop it before the mapping itself.
#[derive(Debug)]
pub(super) struct Guard(&'static Slot);

#[derive(Debug)]
struct Slot {
    /// Address of the first byte; 0 if the slot is free.
    start: AtomicUsize,
    /// Address after the last page; 0 if the slot guards no mapping.
    end: AtomicUsize,
    was_cut: AtomicBool,
}

/// Number of mappings that can be guarded at the same time: twice the maximum number of streams of
/// a user.
const MAX_MAPPINGS: usize = 128;

static SLOTS: [Slot; MAX_MAPPINGS] = [const {
    Slot { start: AtomicUsize::new(0), end: AtomicUsize::new(0), was_cut: AtomicBool::new(false) }
}; MAX_MAPPINGS];

/// The previous handler; `None` if the system refused to install [`handle`].
static BEFORE: OnceLock<Option<libc::sigaction>> = OnceLock::new();

impl Guard {
    /// Guards mapped bytes. Returns `None` if [`MAX_MAPPINGS`] mappings are guarded, or if the
    /// system refuses to install the handler.
    pub(super) fn new(start: usize, bytes: usize) -> Option<Self> {
        BEFORE.get_or_init(install).as_ref()?;
        // Acquire: pairs with the release store that freed the slot.
        let take = |slot: &&Slot| slot.start.compare_exchange(0, start, Acquire, Relaxed).is_ok();
        let slot = SLOTS.iter().find(take)?;
        slot.was_cut.store(false, Relaxed);
        // Release: a handler that sees the end also sees the start.
        slot.end.store(start + bytes.next_multiple_of(PAGE), Release);
        Some(Self(slot))
    }

    /// Returns true if the process accessed a word that is no longer in the file.
    pub(super) fn was_cut(&self) -> bool {
        self.0.was_cut.load(Relaxed)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Clear the end first: the handler then finds no address in this slot, so the slot can be
        // reused safely.
        self.0.end.store(0, Relaxed);
        self.0.start.store(0, Release);
    }
}

fn install() -> Option<libc::sigaction> {
    // SAFETY: all-zero bytes are a valid `sigaction`: no handler, no flags, an empty mask.
    let (mut own, mut before): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
    own.sa_sigaction = handle as *const () as usize;
    own.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: `handle` has the signature that SA_SIGINFO requires and calls only async-signal-safe
    // functions; both pointers refer to local variables.
    let result = unsafe { libc::sigaction(libc::SIGBUS, &raw const own, &raw mut before) };
    (result == 0).then_some(before)
}

extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // As long as the previous handler is unknown, no mapping is guarded. After this return, the
    // processor executes the failed instruction again.
    let Some(Some(before)) = BEFORE.get() else { return };
    // SAFETY: with SA_SIGINFO the system passes a valid pointer, and the information about a SIGBUS
    // contains an address.
    let address = unsafe { (*info).si_addr() }.addr();
    let is_guarded = |slot: &&Slot| {
        let end = slot.end.load(Acquire);
        (slot.start.load(Relaxed)..end).contains(&address)
    };
    match SLOTS.iter().find(is_guarded) {
        Some(slot) if put_zeros(address, slot.end.load(Relaxed)) => {
            slot.was_cut.store(true, Relaxed);
        }
        _ => pass_on(before, signal, info, context),
    }
}

/// Maps private zeros from the page of an address up to `end`. Returns false if the system refuses.
fn put_zeros(address: usize, end: usize) -> bool {
    let start = address - address % PAGE;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: the pages up to `end` are still mapped, because a guarded mapping frees its slot
    // before it unmaps its pages. They contain only atomic words, for which any value is valid. No
    // data is lost, because these pages are after the end of the file. `mmap` may be called in a
    // signal handler.
    let zeros = unsafe {
        libc::mmap(ptr::with_exposed_provenance_mut(start), end - start, access, flags, -1, 0)
    };
    zeros != libc::MAP_FAILED
}

/// Calls the previous handler of the signal.
fn pass_on(
    before: &libc::sigaction,
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    match before.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: as in `install`. The instruction that failed is executed again and ends the
            // process.
            unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: the system used this address as a handler with this signature.
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: as above, without SA_SIGINFO.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;
    use std::sync::atomic::Ordering::Relaxed;

    use super::super::Mapping;

    const WORDS: usize = 4096;

    fn truncate_while_mapped(guarded: bool) {
        let file = tempfile::tempfile().unwrap();
        file.set_len(8 * WORDS as u64).unwrap();
        let new = if guarded { Mapping::guarded } else { Mapping::new };
        let mapping = new(file.as_fd(), WORDS).unwrap();
        let words = mapping.words();
        words.iter().for_each(|word| word.store(7, Relaxed));
        assert!(!mapping.was_cut());
        file.set_len(8 * WORDS as u64 / 2).unwrap();
        assert_eq!(words[WORDS / 2 - 1].load(Relaxed), 7);
        assert!(!mapping.was_cut());
        assert_eq!(words[WORDS - 1].load(Relaxed), 0);
        assert!(mapping.was_cut());
        words[WORDS - 1].store(8, Relaxed);
        assert_eq!((words[WORDS - 1].load(Relaxed), words[WORDS / 2 - 1].load(Relaxed)), (8, 7));
    }

    /// Runs in a separate process, because SIGBUS may end the process.
    #[test]
    fn a_guarded_mapping_survives_a_truncation_and_another_one_does_not() {
        const ROLE: &str = "TRACEWELL_TEST_GUARDED";
        if let Ok(role) = std::env::var(ROLE) {
            return truncate_while_mapped(role == "yes");
        }
        let run = |role: &str| {
            let name = "a_guarded_mapping_survives_a_truncation_and_another_one_does_not";
            let mut test = Command::new(std::env::current_exe().unwrap());
            test.args([&format!("sys::guard::tests::{name}"), "--exact"]).env(ROLE, role);
            test.output().unwrap().status
        };
        assert!(run("yes").success());
        assert_eq!(run("no").signal(), Some(libc::SIGBUS));
    }
}
