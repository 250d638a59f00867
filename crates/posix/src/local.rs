//! What a process knows of those who trace it.
//!
//! A page says whether the process's area was found, which generation of it was seen, and which streams
//! are attached. A process that has no area looks at the page that all such processes of a user share: its
//! generation changes when a controller has made an area for one of them. The kernel gives the child of a fork that page as zeros, so that it looks for itself.
//! Each stream has a private page with its memory behind; both stay mapped as long as the process lives,
//! because a thread or a signal handler may be in the middle of a record at any time. When a
//! stream ends its memory is replaced by private zeros.
//!
//! Any number of threads and handlers may attach at once: each maps for itself, one exchange decides whose
//! mapping counts, and the others take theirs back. So nobody waits.
//!
//! `attached` maps streams, `heritage` finds or makes the area, for a process that was forked or started too.
//!
//! The module holds `unsafe` code because pointers to pages that were mapped become references.
#![allow(unsafe_code)]

mod attached;
mod heritage;

use std::os::fd::AsFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};

use tracewell_wire::posix::area::{AREA_WORDS, NAMES_WORDS, SLOTS, at, names};
use tracewell_wire::posix::{FIRST_USER, UNNAMED, USER_EVENT_MAX};

pub(crate) use self::attached::Attached;
use self::heritage::Found;
pub(crate) use self::heritage::parents_slots;
use crate::names::NameFile;
use crate::registry::{self, Registry};
use crate::sys;

/// The words of an area that are looked at, for a process that has none.
static NO_AREA: [AtomicU64; AREA_WORDS] = [const { AtomicU64::new(0) }; AREA_WORDS];

/// The page of this process.
#[repr(C)]
pub(crate) struct Local {
    /// The process, or 0: the page is new or was wiped.
    process: AtomicU64,
    /// The area, or what stands for one, [`AREA_WORDS`] words; null for not looked for.
    area: AtomicPtr<AtomicU64>,
    /// The generation of the area that `streams` shows.
    seen: AtomicU64,
    /// A bit for each stream that is attached.
    attached: AtomicU64,
    /// Ids below this are known to be given out.
    known: AtomicU64,
    /// The name space, [`NAMES_WORDS`] words; null for none.
    names: AtomicPtr<AtomicU64>,
    streams: [AtomicPtr<Attached>; SLOTS],
}

const _: () = assert!(size_of::<Local>() <= sys::PAGE);

static LOCAL: AtomicPtr<Local> = AtomicPtr::new(ptr::null_mut());

/// Runs when the program starts or the library is loaded, so that no signal handler has to.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

extern "C" fn begin() {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    if BEGUN.swap(true, AcqRel) {
        return;
    }
    registry::choose();
    page();
    sys::at_fork(heritage::before_fork, heritage::in_child);
}

/// The page, which is made at first use.
fn page() -> Option<&'static Local> {
    let known = NonNull::new(LOCAL.load(Acquire));
    let page = match known {
        Some(page) => page,
        None => {
            let made = sys::wiped_on_fork(sys::PAGE)?.cast::<Local>();
            let first = LOCAL.compare_exchange(ptr::null_mut(), made.as_ptr(), AcqRel, Acquire);
            match first {
                Ok(_) => made,
                // The page of somebody who lost is left alone: it was never touched.
                Err(other) => NonNull::new(other)?,
            }
        }
    };
    // SAFETY: a page of atomics, for which zeros are values; it is never unmapped.
    Some(unsafe { page.as_ref() })
}

/// A number that is this process's and not its parent's; it changes with every fork.
pub fn process_token() -> u64 {
    page().map_or_else(|| u64::from(sys::process()), Local::own_process)
}

impl Local {
    fn own_process(&self) -> u64 {
        match self.process.load(Relaxed) {
            0 => {
                let own = u64::from(sys::process());
                self.process.store(own, Relaxed);
                own
            }
            own => own,
        }
    }

    /// The page, with all streams attached that trace this process now. For signal handlers.
    #[inline(always)]
    pub(crate) fn current() -> Option<&'static Self> {
        // SAFETY: null, or a page of atomics that is never unmapped.
        let local = unsafe { LOCAL.load(Acquire).as_ref() };
        if let Some(local) = local
            && let Some(generation) = local.generation()
            && generation == local.seen.load(Relaxed)
        {
            return Some(local);
        }
        sys::keeping_errno(Self::catch_up)
    }

    /// The generation of the area, if there is one.
    #[inline(always)]
    fn generation(&self) -> Option<u64> {
        let area = NonNull::new(self.area.load(Acquire))?;
        // SAFETY: an area has `AREA_WORDS` words and is never unmapped once it stands here.
        Some(unsafe { area.add(at::GENERATION).as_ref() }.load(Acquire))
    }

    #[cold]
    #[inline(never)]
    fn catch_up() -> Option<&'static Self> {
        let local = page()?;
        local.own_process();
        if local.has_area() || local.find_area(false) {
            local.attach_all();
        }
        Some(local)
    }

    /// The page, with an area of this process, which is made where it is not there.
    fn with_area() -> Option<&'static Self> {
        let local = page()?;
        local.own_process();
        if local.has_area() || local.find_area(true) {
            local.attach_all();
            return Some(local);
        }
        None
    }

    /// Whether the area is this process's own.
    fn has_area(&self) -> bool {
        let area = self.area.load(Acquire);
        !area.is_null() && !ptr::eq(area, NO_AREA.as_ptr()) && !heritage::is_page_of_all(area)
    }

    fn area(&self) -> &'static [AtomicU64] {
        mapped(&self.area, AREA_WORDS).unwrap_or(&NO_AREA)
    }

    /// This process.
    #[inline(always)]
    pub(crate) fn process(&self) -> u64 {
        self.process.load(Relaxed)
    }

    /// A bit for each stream that is attached.
    #[inline(always)]
    pub(crate) fn attached(&self) -> u64 {
        self.attached.load(Relaxed)
    }

    /// The stream of a slot.
    #[inline(always)]
    pub(crate) fn stream(&self, slot: usize) -> Option<&'static Attached> {
        // SAFETY: null, or a page that `attach` filled before it stood here; it is never unmapped.
        unsafe { self.streams.get(slot)?.load(Acquire).as_ref() }
    }

    /// Whether an id of a user event was given out. For signal handlers.
    #[inline]
    pub(crate) fn knows(&self, id: u32) -> bool {
        if id == UNNAMED {
            return true;
        }
        id >= FIRST_USER && (u64::from(id) < self.known.load(Relaxed) || self.learns(id))
    }

    #[cold]
    fn learns(&self, id: u32) -> bool {
        let Some(words) = mapped(&self.names, NAMES_WORDS) else { return false };
        let count = words[names::COUNT].load(Acquire).min(USER_EVENT_MAX as u64);
        let known = u64::from(FIRST_USER) + count;
        self.known.store(known, Relaxed);
        u64::from(id) < known
    }

    /// Finds the area of this process, and makes one if it inherits streams or `make` says so. Returns true
    /// if there is one; otherwise nobody traces it.
    fn find_area(&self, make: bool) -> bool {
        let before = self.area.load(Acquire);
        let (area, names, seen) = match heritage::find(make) {
            Found::Own(area, names) => (area, names, None),
            Found::All(page, seen) => (page, None, Some(seen)),
            Found::Nothing => (&NO_AREA[..], None, Some(0)),
        };
        if let Some(names) = names {
            // The name space first: who sees the area sees it.
            let names = names.as_ptr().cast_mut();
            let _ = self.names.compare_exchange(ptr::null_mut(), names, AcqRel, Relaxed);
        }
        let start = area.as_ptr().cast_mut();
        let first = self.area.compare_exchange(before, start, AcqRel, Acquire);
        if let Some(seen) = seen {
            if first.is_ok() {
                self.seen.store(seen, Relaxed);
            }
            return self.has_area();
        }
        heritage::leave(self);
        true
    }

    /// Brings the streams up to the area's generation.
    fn attach_all(&self) {
        let area = self.area();
        let generation = area[at::GENERATION].load(Acquire);
        let mut registry = None;
        for slot in 0..SLOTS {
            let nonce = area[at::SLOTS + slot].load(Acquire);
            let present = self.stream(slot);
            let before = self.streams[slot].load(Acquire);
            let known = present.map_or(0, |stream| stream.header.nonce);
            if nonce == 0 && known == 0 {
                continue;
            }
            let registry = registry.get_or_insert_with(|| Registry::open(sys::user()).ok());
            // A stream whose controller died is announced no more, once somebody has swept.
            let announced = |registry: &Registry| {
                let found = registry.reference(slot as u32);
                found.is_ok_and(|reference| reference.nonce == nonce)
            };
            if known == nonce && registry.as_ref().is_none_or(announced) {
                continue;
            }
            let after = match (nonce, registry) {
                _ if known == nonce => None,
                (0, _) | (_, None) => None,
                (nonce, Some(registry)) => attached::attach(registry, slot, nonce),
            };
            self.exchange(slot, before, after);
        }
        self.seen.store(generation, Relaxed);
    }

    fn exchange(&self, slot: usize, before: *mut Attached, after: Option<NonNull<Attached>>) {
        let place = after.map_or(ptr::null_mut(), NonNull::as_ptr);
        let changed = self.streams[slot].compare_exchange(before, place, AcqRel, Relaxed).is_ok();
        if changed {
            heritage::leave_stream(slot, place);
            if place.is_null() {
                self.attached.fetch_and(!(1 << slot), Relaxed);
            } else {
                self.attached.fetch_or(1 << slot, Relaxed);
            }
            if let Some(before) = NonNull::new(before) {
                attached::retire(before);
            }
        } else if let Some(after) = after {
            attached::discard(after);
        }
    }
}

/// The words that were mapped where a pointer points, if it does.
///
/// Pointers to areas stand for `AREA_WORDS` words, pointers to name spaces for `NAMES_WORDS`.
fn mapped(place: &AtomicPtr<AtomicU64>, words: usize) -> Option<&'static [AtomicU64]> {
    let start = NonNull::new(place.load(Acquire))?;
    // SAFETY: what stands in such a place was mapped with so many words and is never unmapped.
    Some(unsafe { std::slice::from_raw_parts(start.as_ptr(), words) })
}

/// Sees to it that this process has its area.
pub(crate) fn prepare() {
    begin();
    Local::with_area();
}

/// The id of an event type in this process, a new one if its name is not known.
pub(crate) fn define(name: &[u8]) -> Result<u32, sys::Errno> {
    begin();
    let registry = Registry::open(sys::user())?;
    let local = Local::with_area().ok_or(libc::ENOMEM)?;
    registry.sweep_sometimes();
    let nonce = local.area()[at::NAMES].load(Acquire);
    let file = registry.names(nonce)?;
    NameFile(file.as_fd()).define(name)
}

impl Local {
    /// Forgets the parent's streams, where the kernel did not wipe the page.
    fn forget(&self) {
        self.process.store(0, Relaxed);
        self.area.store(ptr::null_mut(), Relaxed);
        self.names.store(ptr::null_mut(), Relaxed);
        for word in [&self.seen, &self.attached, &self.known] {
            word.store(0, Relaxed);
        }
        for stream in &self.streams {
            stream.store(ptr::null_mut(), Relaxed);
        }
    }
}
