//! Keeps a process alive if a file that it maps is truncated. The process then reads zeros after
//! the new end, and the mapping reports the truncation.
//!
//! Without this module, reading a byte after the new end would raise SIGBUS and end the process
//! without a message. This module's signal handler replaces the missing pages of a guarded mapping
//! with zeros. It passes every other SIGBUS to the handler that was installed before.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A guarded mapping. Drop it before the mapping itself.
#[derive(Debug)]
pub(super) struct Guard(&'static Slot);

#[derive(Debug)]
struct Slot {
    /// Address of the first byte; 0 if the slot is free.
    start: AtomicUsize,
    /// Address after the last byte; 0 if the slot guards no mapping.
    end: AtomicUsize,
    was_cut: AtomicBool,
}

/// Number of mappings that can be guarded at the same time.
const MAX_MAPPINGS: usize = 4096;

static SLOTS: [Slot; MAX_MAPPINGS] = [const {
    Slot { start: AtomicUsize::new(0), end: AtomicUsize::new(0), was_cut: AtomicBool::new(false) }
}; MAX_MAPPINGS];

/// The previous handler of the signal, and the page size in bytes.
static BEFORE: OnceLock<(libc::sigaction, usize)> = OnceLock::new();

impl Guard {
    /// Guards a mapping. Returns `None` if there are too many guarded mappings, or if the signal
    /// handler cannot be installed.
    pub(super) fn new(bytes: &[u8]) -> Option<Self> {
        install()?;
        let start = bytes.as_ptr().addr();
        // Acquire pairs with the release store that freed the slot.
        let take = |slot: &&Slot| {
            slot.start.compare_exchange(0, start, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        let slot = SLOTS.iter().find(take)?;
        slot.was_cut.store(false, Ordering::Relaxed);
        // Release, so that a handler that sees the end also sees the start.
        slot.end.store(start + bytes.len(), Ordering::Release);
        Some(Self(slot))
    }

    /// Returns true if the process read bytes that are no longer in the file.
    pub(super) fn was_cut(&self) -> bool {
        self.0.was_cut.load(Ordering::Relaxed)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Clear the end first. If the end is 0, the handler finds no address in this slot, so the
        // slot can be reused safely.
        self.0.end.store(0, Ordering::Relaxed);
        self.0.start.store(0, Ordering::Release);
    }
}

fn install() -> Option<()> {
    static FAILED: AtomicBool = AtomicBool::new(false);
    BEFORE.get_or_init(|| {
        // SAFETY: all-zero bytes are a valid `sigaction`: no handler, no flags, an empty mask.
        let mut ours: libc::sigaction = unsafe { std::mem::zeroed() };
        ours.sa_sigaction = handle as *const () as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: as above.
        let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: `handle` has the signature that SA_SIGINFO requires and calls only
        // async-signal-safe functions; both pointers refer to local variables of this function.
        let result = unsafe { libc::sigaction(libc::SIGBUS, &raw const ours, &raw mut before) };
        // SAFETY: the call has no preconditions.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        FAILED.store(result != 0 || page <= 0, Ordering::Relaxed);
        (before, usize::try_from(page).unwrap_or(0))
    });
    (!FAILED.load(Ordering::Relaxed)).then_some(())
}

extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // `BEFORE` is set before a mapping is guarded; until then every signal goes to the previous
    // handler.
    let Some((before, page)) = BEFORE.get() else { return };
    // SAFETY: with SA_SIGINFO the system passes a valid pointer, and SIGBUS has an address.
    let address = unsafe { (*info).si_addr() }.addr();
    let is_ours = |slot: &&Slot| {
        let end = slot.end.load(Ordering::Acquire);
        (slot.start.load(Ordering::Relaxed)..end).contains(&address)
    };
    if let Some(slot) = SLOTS.iter().find(is_ours) {
        let from = address - address % page;
        let length = slot.end.load(Ordering::Relaxed).next_multiple_of(*page) - from;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: the pages from here to the end of the mapping are still mapped, because a guard
        // frees its slot before its pages are unmapped. These pages are after the end of the file,
        // so they have no content at present. After the call they contain zeros, which are valid
        // bytes. It is safe to call `mmap` from a signal handler.
        let zeros = unsafe {
            libc::mmap(
                ptr::with_exposed_provenance_mut(from),
                length,
                libc::PROT_READ,
                flags,
                -1,
                0,
            )
        };
        if zeros != libc::MAP_FAILED {
            slot.was_cut.store(true, Ordering::Relaxed);
            return;
        }
    }
    pass_on(before, signal, info, context);
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
            unsafe {
                let default: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, &raw const default, ptr::null_mut());
            }
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: `sigaction` returned this address and the flag SA_SIGINFO, so the handler has
            // this signature.
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: `sigaction` returned this address without SA_SIGINFO, so the handler takes
            // only the signal's number.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}
