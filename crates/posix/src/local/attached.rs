//! Streams that trace this process: a private page with the stream's memory behind it.
//!
//! The module holds `unsafe` code because pages that were mapped become references.
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

/// A stream that traces this process; its memory begins a page behind.
#[repr(C)]
pub(crate) struct Attached {
    pub(crate) header: ObjectHeader,
    /// Words of its memory.
    total: usize,
    /// The kernel refuses to let others have a barrier in this process, so that it has its own.
    pub(crate) fences: bool,
    /// No other attachment in this process and its parents has this number.
    pub(crate) key: u64,
}

const _: () = assert!(size_of::<Attached>() <= sys::PAGE);

/// Maps the stream of a slot.
pub(super) fn attach(registry: &Registry, slot: usize, nonce: u64) -> Option<NonNull<Attached>> {
    static KEY: AtomicU64 = AtomicU64::new(1);
    let reference = registry.reference(slot as u32).ok().filter(|found| found.nonce == nonce)?;
    let (file, header) = registry.object(&reference).ok()?;
    let words = header.geometry.total();
    let page = sys::map_behind_page(file.as_fd(), words)?.cast::<Attached>();
    let key = KEY.fetch_add(1, Relaxed);
    let fences = !sys::register_recorder();
    // SAFETY: a page that was just mapped and that nobody else knows.
    unsafe { page.write(Attached { header, total: words, fences, key }) };
    clock::learn(header.tick);
    if let Some(own) = Process::own() {
        // SAFETY: as above, and now it holds a value.
        registry::enroll(unsafe { page.as_ref() }.words(), own);
    }
    Some(page)
}

/// Puts private zeros in the place of a stream's memory: who is in the middle of a record harms nobody.
pub(super) fn retire(stream: NonNull<Attached>) {
    // SAFETY: the page holds a value and stays mapped.
    let words = unsafe { stream.as_ref() }.total;
    sys::replace_behind_page(stream.cast(), words);
}

/// Takes back a stream that was mapped and that nobody has seen.
pub(super) fn discard(stream: NonNull<Attached>) {
    // SAFETY: the page was filled by `attach`, and as it was never put anywhere, nobody uses it.
    unsafe {
        let words = stream.as_ref().total;
        sys::unmap_behind_page(stream.cast(), words);
    }
}

impl Attached {
    /// The memory of the stream.
    #[inline(always)]
    pub(crate) fn words(&self) -> &'static [AtomicU64] {
        let start = ptr::from_ref(self).cast::<u8>();
        // SAFETY: `attach` mapped so many words a page behind every `Attached`, and they stay mapped;
        // the geometry is in private memory and was judged.
        unsafe {
            let start = start.add(sys::PAGE).cast();
            std::slice::from_raw_parts(start, self.total)
        }
    }

    /// Its packets.
    #[inline(always)]
    pub(crate) fn pool(&self) -> Pool<'static> {
        Pool::known(self.words(), self.header.geometry, self.header.policy)
    }

    /// Whether it records.
    #[inline(always)]
    pub(crate) fn state(&self) -> State {
        State::of_code(self.words()[object::at::STATE].load(Acquire))
    }

    /// Whether its filter leaves an id out; ids that no filter has are out.
    #[inline(always)]
    pub(crate) fn leaves_out(&self, id: u32) -> bool {
        EventSet::place(id).is_none_or(|(word, bit)| {
            self.words()[object::at::FILTER + word].load(Acquire) >> bit & 1 == 1
        })
    }
}
