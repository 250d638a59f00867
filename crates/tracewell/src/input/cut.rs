//! Files that are cut while they are mapped: what a reader touches behind their new end reads as zeros, and the
//! mapping says so afterwards.
//!
//! The system answers such a touch with SIGBUS, which would end the process without a word. The handler here puts pages
//! of zeros in the place of those that are gone, if they belong to a mapping that is guarded. It leaves every other SIGBUS
//! to whoever handled it before.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A guarded mapping; dropped before the mapping is.
#[derive(Debug)]
pub(super) struct Guard(&'static Slot);

#[derive(Debug)]
struct Slot {
    /// Address of the first byte; 0 if the slot is free.
    start: AtomicUsize,
    /// Address behind the last byte; 0 while nothing is guarded.
    end: AtomicUsize,
    was_cut: AtomicBool,
}

/// Mappings that can be guarded at a time.
const MAX_MAPPINGS: usize = 64;

static SLOTS: [Slot; MAX_MAPPINGS] = [const {
    Slot { start: AtomicUsize::new(0), end: AtomicUsize::new(0), was_cut: AtomicBool::new(false) }
}; MAX_MAPPINGS];

/// What handled the signal before, and the size of a page.
static BEFORE: OnceLock<(libc::sigaction, usize)> = OnceLock::new();

impl Guard {
    /// Guards a mapping; `None` if there are too many, or the system refuses.
    pub(super) fn new(bytes: &[u8]) -> Option<Self> {
        install()?;
        let start = bytes.as_ptr().addr();
        // Acquire: pairs with the release store that freed the slot.
        let take = |slot: &&Slot| {
            slot.start.compare_exchange(0, start, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        let slot = SLOTS.iter().find(take)?;
        slot.was_cut.store(false, Ordering::Relaxed);
        // Release: a handler that sees the end sees the start.
        slot.end.store(start + bytes.len(), Ordering::Release);
        Some(Self(slot))
    }

    /// Returns true if something was read that is no longer in the file.
    pub(super) fn was_cut(&self) -> bool {
        self.0.was_cut.load(Ordering::Relaxed)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
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
        // SAFETY: `handle` has the signature that SA_SIGINFO asks for, it calls only what may be called in a
        // handler, and both pointers lead to values of this frame.
        let result = unsafe { libc::sigaction(libc::SIGBUS, &raw const ours, &raw mut before) };
        // SAFETY: the call has no preconditions.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        FAILED.store(result != 0 || page <= 0, Ordering::Relaxed);
        (before, usize::try_from(page).unwrap_or(0))
    });
    (!FAILED.load(Ordering::Relaxed)).then_some(())
}

extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // Set before the signal can come for a mapping of ours; until then it goes where it went before.
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
        // SAFETY: the pages from here to the end of the mapping are ours: the slot is free before it is unmapped.
        // They are behind the end of the file, so that nothing could be read there; now they are zeros,
        // which are valid bytes. The call may be made in a handler.
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

/// Does what was done with the signal before.
fn pass_on(
    before: &libc::sigaction,
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    match before.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: as in `install`. The instruction that failed is tried again, and ends the process.
            unsafe {
                let default: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, &raw const default, ptr::null_mut());
            }
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: the system had this address as a handler of this signature.
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: the same without SA_SIGINFO.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}
