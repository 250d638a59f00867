//! Maps the streams that trace this process: a private page followed by the stream's memory.
//!
//! Unsafe: mapped pages become references.
#![allow(unsafe_code)]

use std::os::fd::AsFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use tracewell_record::posix::Pool;
use tracewell_wire::posix::EventSet;
use tracewell_wire::posix::object::{self, ObjectHeader, State};

use crate::clock;
use crate::process::Process;
use crate::registry::{self, Registry};
use crate::sys;

/// A stream that traces this process. Its memory begins one page after this structure.
#[repr(C)]
pub(crate) struct AttachedStream {
    pub(crate) header: ObjectHeader,
    /// Length of the stream's memory in words.
    total: usize,
    /// True if the kernel refuses to run memory barriers in this process for a reader, so that this
    /// process must execute its own fences.
    pub(crate) fences: bool,
    /// A key that differs from those of all other attachments in this process and its parents.
    pub(crate) key: u64,
}

const _: () = assert!(size_of::<AttachedStream>() <= sys::PAGE);

/// Maps the stream in a slot.
pub(super) fn attach(
    registry: &Registry,
    slot: usize,
    nonce: u64,
) -> Option<NonNull<AttachedStream>> {
    static KEY: AtomicU64 = AtomicU64::new(1);
    let reference = registry.reference(slot as u32).ok().filter(|found| found.nonce == nonce)?;
    let (file, header) = registry.object(&reference).ok()?;
    let words = header.geometry.total();
    let page = sys::map_after_page(file.as_fd(), words)?.cast::<AttachedStream>();
    let key = KEY.fetch_add(1, Relaxed);
    let fences = !sys::register_recorder();
    // SAFETY: the page was just mapped and is not shared yet.
    unsafe { page.write(AttachedStream { header, total: words, fences, key }) };
    clock::learn(header.tick);
    if let Some(own) = Process::own() {
        // SAFETY: the page was just mapped, and now contains a valid value.
        registry::enroll(unsafe { page.as_ref() }.words(), own);
    }
    Some(page)
}

/// Replaces a stream's memory with private zeros. A thread that is still recording into it does no
/// harm.
pub(super) fn retire(stream: NonNull<AttachedStream>) {
    // SAFETY: the page contains a valid value and remains mapped.
    let words = unsafe { stream.as_ref() }.total;
    sys::replace_after_page(stream.cast(), words);
}

/// Unmaps a stream because another thread attached it first.
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
    pub(crate) fn words(&self) -> &'static [AtomicU64] {
        let start = ptr::from_ref(self).cast::<u8>();
        // SAFETY: `attach` mapped this many words one page after the `AttachedStream`, and they
        // remain mapped. The geometry is in private memory and was validated.
        unsafe {
            let start = start.add(sys::PAGE).cast();
            std::slice::from_raw_parts(start, self.total)
        }
    }

    /// Returns the stream's packets.
    #[inline(always)]
    pub(crate) fn pool(&self) -> Pool<'static> {
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
