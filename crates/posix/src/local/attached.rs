//! Maps the streams that trace this process. Each mapping is a private page followed by the
//! stream's memory.
//!
//! Unsafe: mapped pages become references.
#![allow(unsafe_code)]

use std::os::fd::AsFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicPtr, AtomicU64};

use tracewell_record::posix::Pool;
use tracewell_wire::posix::EventSet;
use tracewell_wire::posix::object::{self, ObjectHeader, State};

use crate::clock;
use crate::process::Process;
use crate::registry::{self, Registry};
use crate::sys::{self, Errno};

/// A stream that traces this process. Its memory begins one page after this structure.
#[repr(C)]
pub(crate) struct AttachedStream {
    pub(crate) header: ObjectHeader,
    /// Length of the stream's memory in words.
    total: usize,
    /// True if the kernel refuses to run memory barriers in this process for a reader, so that this
    /// process must execute its own fences.
    pub(crate) fences: bool,
    /// A key that no other attachment in this process or its parents has.
    pub(crate) key: u64,
    /// 0 until the stream is added to the list [`RETIRED`], then the number of the next check of
    /// threads. The stream is added only once.
    retired: AtomicU64,
    /// The next stream in that list.
    next: AtomicPtr<Self>,
}

/// List of the streams that were detached and are still mapped, because a thread or a signal
/// handler may use them.
static RETIRED: AtomicPtr<AttachedStream> = AtomicPtr::new(ptr::null_mut());

const _: () = assert!(size_of::<AttachedStream>() <= sys::PAGE);

/// Maps the stream in a slot.
///
/// # Errors
/// Returns an error if the slot has another stream by now, or if a file cannot be opened or mapped.
pub(super) fn attach(
    registry: &Registry,
    slot: usize,
    nonce: u64,
) -> Result<NonNull<AttachedStream>, Errno> {
    static KEY: AtomicU64 = AtomicU64::new(1);
    let reference = registry.reference(slot as u32)?;
    if reference.nonce != nonce {
        return Err(libc::ENOENT);
    }
    let (file, header) = registry.object(&reference)?;
    let words = header.geometry.total();
    let mapped = sys::map_after_page(file.as_fd(), words).ok_or(libc::ENOMEM)?;
    let page = mapped.cast::<AttachedStream>();
    let key = KEY.fetch_add(1, Relaxed);
    let fences = !sys::register_recorder();
    let (retired, next) = (AtomicU64::new(0), AtomicPtr::new(ptr::null_mut()));
    // SAFETY: the page was just mapped and is not shared yet.
    unsafe { page.write(AttachedStream { header, total: words, fences, key, retired, next }) };
    clock::learn(header.tick);
    if let Some(own) = Process::own() {
        // SAFETY: the page was just mapped, and now contains a valid value.
        registry::enroll(unsafe { page.as_ref() }.words(), own);
    }
    Ok(page)
}

/// Number of the last check of threads in [`unmap_retired`].
static CHECKS: AtomicU64 = AtomicU64::new(0);

/// Replaces the memory of a detached stream with private zeros. A thread that is still recording
/// into the stream does no harm. [`unmap_retired`] unmaps this memory later.
pub(super) fn retire(stream: NonNull<AttachedStream>) {
    // SAFETY: the page contains a valid value, and remains mapped while the caller holds a `Using`.
    // In the child of a fork, no other thread can unmap it.
    let value = unsafe { stream.as_ref() };
    sys::replace_after_page(stream.cast(), value.total);
    // A fork may copy a process in which another thread, or an interrupted function, has already
    // added the stream.
    if value.retired.swap(CHECKS.load(SeqCst) + 1, AcqRel) == 0 {
        add_retired(stream);
    }
}

/// Adds a stream to the list of retired streams.
fn add_retired(stream: NonNull<AttachedStream>) {
    // SAFETY: the caller has taken the stream out of the list, or it was never in the list, so no
    // other thread unmaps it before the exchange.
    let next = unsafe { &stream.as_ref().next };
    let mut first = RETIRED.load(Relaxed);
    loop {
        next.store(first, Relaxed);
        match RETIRED.compare_exchange(first, stream.as_ptr(), AcqRel, Relaxed) {
            Ok(_) => return,
            Err(other) => first = other,
        }
    }
}

/// Unmaps the retired streams that no thread can use any more. `check` receives the number of this
/// check, and returns the result of [`ThreadState::all_idle_since`].
///
/// If the kernel refuses memory barriers, the streams remain mapped.
///
/// [`ThreadState::all_idle_since`]: crate::thread::ThreadState::all_idle_since
pub(super) fn unmap_retired(check: impl FnOnce(u64) -> u64) {
    let mut left = NonNull::new(RETIRED.swap(ptr::null_mut(), AcqRel));
    if left.is_none() {
        return;
    }
    let number = CHECKS.fetch_add(1, SeqCst) + 1;
    // After the first barrier, a thread that begins to use streams finds no detached stream. A
    // thread that `check` finds idle has finished its earlier accesses before the second barrier.
    let ordered = sys::register_recorder() && sys::order_recorders();
    let idle_since = if ordered { check(number) } else { 0 };
    let ordered = ordered && sys::order_recorders();
    while let Some(stream) = left {
        // SAFETY: the list that was taken contains the only pointers to these streams.
        let value = unsafe { stream.as_ref() };
        left = NonNull::new(value.next.load(Relaxed));
        if ordered && value.retired.load(Relaxed) <= idle_since {
            let words = value.total;
            // SAFETY: as above, and every thread was idle after the stream had been detached.
            unsafe { sys::unmap_after_page(stream.cast(), words) };
        } else {
            add_retired(stream);
        }
    }
}

/// Unmaps a stream that another thread attached first.
pub(super) fn discard(stream: NonNull<AttachedStream>) {
    // SAFETY: `attach` filled the page, and it was never published, so it has no users.
    unsafe {
        let words = stream.as_ref().total;
        sys::unmap_after_page(stream.cast(), words);
    }
}

impl AttachedStream {
    /// Returns the memory of the stream.
    #[inline(always)]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        let start = ptr::from_ref(self).cast::<u8>();
        // SAFETY: `attach` mapped this many words one page after the `AttachedStream`, and they
        // remain mapped as long as the structure. The geometry is in private memory and was
        // validated.
        unsafe {
            let start = start.add(sys::PAGE).cast();
            std::slice::from_raw_parts(start, self.total)
        }
    }

    /// Returns the stream's packets.
    #[inline(always)]
    pub(crate) fn pool(&self) -> Pool<'_> {
        Pool::trusted(self.words(), self.header.geometry, self.header.policy)
    }

    /// Returns the stream's state.
    #[inline(always)]
    pub(crate) fn state(&self) -> State {
        State::of_code(self.words()[object::at::STATE].load(Acquire))
    }

    /// Returns true if the filter suppresses an id, or if the id is too large for any filter.
    #[inline(always)]
    pub(crate) fn leaves_out(&self, id: u32) -> bool {
        EventSet::place(id).is_none_or(|(word, bit)| {
            self.words()[object::at::FILTER + word].load(Acquire) >> bit & 1 == 1
        })
    }
}
