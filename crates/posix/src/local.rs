//! What a process knows of those who trace it.
//!
//! A page says whether the process's area was found, which generation of it was seen, and which streams
//! are attached. The kernel gives the child of a fork that page as zeros, so that it looks for itself.
//! Each stream has a private page with its memory behind; both stay mapped as long as the process lives,
//! because a thread or a signal handler may be in the middle of a record at any time. When a
//! stream ends its memory is replaced by private zeros.
//!
//! Any number of threads and handlers may attach at once: each maps for itself, one exchange decides whose
//! mapping counts, and the others take theirs back. So nobody waits.
//!
//! The module holds `unsafe` code because pointers to pages that were mapped become references.
#![allow(unsafe_code)]

use std::os::fd::AsFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use tracewell_record::posix::Pool;
use tracewell_wire::posix::area::{AREA_WORDS, NAMES_WORDS, SLOTS, at, names};
use tracewell_wire::posix::object::{self, ObjectHeader, State};
use tracewell_wire::posix::{EventSet, FIRST_USER, UNNAMED, USER_EVENT_MAX};

use crate::clock;
use crate::names::NameFile;
use crate::process::Process;
use crate::registry::{self, Registry};
use crate::sys;

/// The words of an area that are looked at, for a process that has none.
static NO_AREA: [AtomicU64; AREA_WORDS] = [const { AtomicU64::new(0) }; AREA_WORDS];

/// The page of this process.
#[repr(C)]
pub(crate) struct Local {
    /// The process, or 0: the page is new or was wiped.
    process: AtomicU64,
    /// The area, [`AREA_WORDS`] words; null for not looked for.
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

/// A stream that traces this process; its memory begins a page behind.
#[repr(C)]
pub(crate) struct Attached {
    pub(crate) header: ObjectHeader,
    /// No other attachment in this process and its parents has this number.
    pub(crate) key: u64,
}

const _: () = assert!(size_of::<Attached>() <= sys::PAGE && size_of::<Local>() <= sys::PAGE);

static LOCAL: AtomicPtr<Local> = AtomicPtr::new(ptr::null_mut());
/// As in `Local`, and still there in the child of a fork: what the parent had.
static LAST_AREA: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());
static LAST_NAMES: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());
static LAST_PROCESS: AtomicU64 = AtomicU64::new(0);
static LAST_STREAMS: [AtomicPtr<Attached>; SLOTS] =
    [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS];
/// Names that there were before the last fork.
static NAMES_BEFORE: AtomicU64 = AtomicU64::new(u64::MAX);

/// Runs when the program starts or the library is loaded, so that no signal handler has to.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

/// The end of a process takes its area with it.
#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;

extern "C" fn begin() {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    if BEGUN.swap(true, AcqRel) {
        return;
    }
    registry::choose();
    page();
    sys::at_fork(before_fork, in_child);
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
        if local.area.load(Acquire).is_null() {
            local.find_area();
        }
        local.attach_all();
        Some(local)
    }

    fn area(&self) -> &'static [AtomicU64] {
        let area = self.area.load(Acquire);
        if area.is_null() {
            return &NO_AREA;
        }
        // SAFETY: as in `generation`.
        unsafe { std::slice::from_raw_parts(area, AREA_WORDS) }
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
        let Some(words) = name_words(&self.names) else { return false };
        let count = words[names::COUNT].load(Acquire).min(USER_EVENT_MAX as u64);
        let known = u64::from(FIRST_USER) + count;
        self.known.store(known, Relaxed);
        u64::from(id) < known
    }

    /// Finds or makes the area of this process; without one nobody traces it.
    fn find_area(&self) {
        let found = Process::own().and_then(|own| own_area(own).ok());
        let (area, names) = match found {
            Some(found) => found,
            None => (&NO_AREA[..], None),
        };
        let names = names.map_or(ptr::null_mut(), |words| words.as_ptr().cast_mut());
        // The name space first: who sees the area sees it.
        let _ = self.names.compare_exchange(ptr::null_mut(), names, AcqRel, Relaxed);
        let start = area.as_ptr().cast_mut();
        let _ = self.area.compare_exchange(ptr::null_mut(), start, AcqRel, Relaxed);
        LAST_NAMES.store(self.names.load(Acquire), Release);
        LAST_AREA.store(self.area.load(Acquire), Release);
        LAST_PROCESS.store(self.process.load(Relaxed), Release);
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
            if present.map_or(0, |stream| stream.header.nonce) == nonce {
                continue;
            }
            let registry = registry.get_or_insert_with(|| Registry::open(sys::user()).ok());
            let after = match (nonce, registry) {
                (0, _) | (_, None) => None,
                (nonce, Some(registry)) => attach(registry, slot, nonce),
            };
            self.exchange(slot, before, after);
        }
        self.seen.store(generation, Relaxed);
    }

    fn exchange(&self, slot: usize, before: *mut Attached, after: Option<NonNull<Attached>>) {
        let place = after.map_or(ptr::null_mut(), NonNull::as_ptr);
        let changed = self.streams[slot].compare_exchange(before, place, AcqRel, Relaxed).is_ok();
        if changed {
            LAST_STREAMS[slot].store(place, Release);
            if place.is_null() {
                self.attached.fetch_and(!(1 << slot), Relaxed);
            } else {
                self.attached.fetch_or(1 << slot, Relaxed);
            }
            if let Some(before) = NonNull::new(before) {
                retire(before);
            }
        } else if let Some(after) = after {
            // SAFETY: the page was filled by `attach`, and as it was never put anywhere, nobody
            // uses it.
            unsafe {
                let words = after.as_ref().header.geometry.total();
                sys::unmap_behind_page(after.cast(), words);
            }
        }
    }
}

/// Maps the stream of a slot.
fn attach(registry: &Registry, slot: usize, nonce: u64) -> Option<NonNull<Attached>> {
    static KEY: AtomicU64 = AtomicU64::new(1);
    let reference = registry.reference(slot as u32).ok().filter(|found| found.nonce == nonce)?;
    let (file, header) = registry.object(&reference).ok()?;
    let words = header.geometry.total();
    let page = sys::map_behind_page(file.as_fd(), words)?.cast::<Attached>();
    let key = KEY.fetch_add(1, Relaxed);
    // SAFETY: a page that was just mapped and that nobody else knows.
    unsafe { page.write(Attached { header, key }) };
    clock::learn(header.tick);
    sys::register_recorder();
    if let Some(own) = Process::own() {
        // SAFETY: as above, and now it holds a value.
        registry::enroll(unsafe { page.as_ref() }.words(), own);
    }
    Some(page)
}

fn retire(stream: NonNull<Attached>) {
    // SAFETY: the page holds a value and stays mapped.
    let words = unsafe { stream.as_ref() }.header.geometry.total();
    sys::replace_behind_page(stream.cast(), words);
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
            std::slice::from_raw_parts(start, self.header.geometry.total())
        }
    }

    /// Its packets.
    #[inline(always)]
    pub(crate) fn pool(&self) -> Option<Pool<'static>> {
        Pool::new(self.words(), self.header.geometry, self.header.policy)
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

fn name_words(place: &AtomicPtr<AtomicU64>) -> Option<&'static [AtomicU64]> {
    let start = NonNull::new(place.load(Acquire))?;
    // SAFETY: a name space has `NAMES_WORDS` words and is never unmapped once it stands somewhere.
    Some(unsafe { std::slice::from_raw_parts(start.as_ptr(), NAMES_WORDS) })
}

type Words = &'static [AtomicU64];

/// Finds or makes the area and the name space of this process, and maps them.
fn own_area(own: Process) -> Result<(Words, Option<Words>), sys::Errno> {
    let registry = Registry::open(sys::user())?;
    let area = match registry.area(own) {
        Ok(area) => area,
        Err(_) => make_area(&registry, own)?,
    };
    let words = sys::map_for_ever(area.as_fd(), AREA_WORDS).ok_or(libc::ENOMEM)?;
    let names = registry.names(words[at::NAMES].load(Acquire)).ok();
    let names = names.and_then(|file| sys::map_for_ever(file.as_fd(), NAMES_WORDS));
    Ok((words, names))
}

/// Makes the area of this process, with what it inherits.
fn make_area(registry: &Registry, own: Process) -> Result<std::os::fd::OwnedFd, sys::Errno> {
    let last = LAST_PROCESS.load(Acquire);
    let forked = last != 0 && last != u64::from(own.id);
    let (slots, shared) = if forked {
        // SAFETY: null, or the area of the process that forked, which is still mapped here.
        let area = unsafe { LAST_AREA.load(Acquire).as_ref() };
        let slot = |number| {
            let area = area.map_or(NO_AREA.as_ptr(), ptr::from_ref);
            // SAFETY: an area has `AREA_WORDS` words.
            unsafe { &*area.add(at::SLOTS + number) }.load(Acquire)
        };
        let names = area.map_or(0, |area| {
            // SAFETY: as above.
            unsafe { &*ptr::from_ref(area).add(at::NAMES) }.load(Acquire)
        });
        (inherited(registry, slot, None), names)
    } else {
        parents_slots(registry, own)
    };
    if slots.iter().any(|nonce| *nonce != 0) && registry.names(shared).is_ok() {
        return registry.make_area(own, shared, &slots);
    }
    let (nonce, file) = registry.make_names()?;
    if forked {
        copy_names(NameFile(file.as_fd()));
    }
    registry.make_area(own, nonce, &[0; SLOTS])
}

/// What a program that was started without a fork of ours inherits: streams of its parent that are older
/// than it is.
fn parents_slots(registry: &Registry, own: Process) -> ([u64; SLOTS], u64) {
    let nothing = ([0; SLOTS], 0);
    let Some(parent) = Process::find(sys::parent()) else { return nothing };
    let Ok(area) = registry.area(parent) else { return nothing };
    let mut words = [0; at::SLOTS + SLOTS];
    if sys::read_words(area.as_fd(), 0, &mut words) != words.len() {
        return nothing;
    }
    let slots = inherited(registry, |number| words[at::SLOTS + number], Some(own));
    (slots, words[at::NAMES])
}

/// Of some slots those whose streams trace children; with a child only those older than it.
fn inherited(
    registry: &Registry,
    slot: impl Fn(usize) -> u64,
    child: Option<Process>,
) -> [u64; SLOTS] {
    let mut slots = [0; SLOTS];
    for (number, to) in slots.iter_mut().enumerate() {
        let nonce = slot(number);
        let stream = || {
            let reference = registry.reference(number as u32).ok()?;
            let header = registry.object(&reference).ok()?.1;
            let older = child.is_none_or(|child| is_older(header.created, child));
            (header.nonce == nonce && header.inherited && older).then_some(nonce)
        };
        if nonce != 0 {
            *to = stream().unwrap_or(0);
        }
    }
    slots
}

/// Whether a time is before the start of a process.
fn is_older(created: u64, process: Process) -> bool {
    let mut boot = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the calls store one `timespec`, and take a number.
    let ticks = unsafe {
        libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut boot);
        libc::sysconf(libc::_SC_CLK_TCK).max(1) as u64
    };
    let since_boot = boot.tv_sec as u64 * 1_000_000_000 + boot.tv_nsec as u64;
    let age = since_boot.saturating_sub(process.start * (1_000_000_000 / ticks));
    // A tick of tolerance: the start is rounded down to one.
    created < sys::realtime().saturating_sub(age) + 1_000_000_000 / ticks
}

/// Copies the names that the parent had before the fork.
fn copy_names(to: NameFile<'_>) {
    let Some(words) = name_words(&LAST_NAMES) else { return };
    let nonce = words[names::NONCE].load(Relaxed);
    let Ok(registry) = Registry::open(sys::user()) else { return };
    let Ok(file) = registry.names(nonce) else { return };
    let count = NAMES_BEFORE.load(Relaxed).min(USER_EVENT_MAX as u64);
    let _ = to.copy_from(NameFile(file.as_fd()), count as usize);
}

/// Sees to it that this process has its area.
pub(crate) fn prepare() {
    begin();
    Local::current();
}

/// The id of an event type in this process, a new one if its name is not known.
pub(crate) fn define(name: &[u8]) -> Result<u32, sys::Errno> {
    begin();
    let local = Local::current().ok_or(libc::ENOMEM)?;
    let nonce = local.area()[at::NAMES].load(Acquire);
    let registry = Registry::open(sys::user())?;
    let file = registry.names(nonce)?;
    NameFile(file.as_fd()).define(name)
}

extern "C" fn before_fork() {
    let count = name_words(&LAST_NAMES).map_or(0, |words| words[names::COUNT].load(Acquire));
    NAMES_BEFORE.store(count, Relaxed);
}

/// In the child of a fork: what a handler was about to store goes nowhere, and the child is a member of
/// what it inherits from now on.
extern "C" fn in_child() {
    sys::keeping_errno(|| {
        let Some(local) = page() else { return };
        clock::after_fork();
        local.forget();
        for stream in &LAST_STREAMS {
            if let Some(stream) = NonNull::new(stream.swap(ptr::null_mut(), AcqRel)) {
                retire(stream);
            }
        }
        if !LAST_AREA.load(Acquire).is_null() && LAST_PROCESS.load(Acquire) != 0 && has_heritage() {
            Local::current();
        }
    });
}

/// Whether there was a stream in the parent's area at all.
fn has_heritage() -> bool {
    let Some(area) = NonNull::new(LAST_AREA.load(Acquire)) else { return false };
    (0..SLOTS).any(|slot| {
        // SAFETY: an area has `AREA_WORDS` words and stays mapped.
        unsafe { area.add(at::SLOTS + slot).as_ref() }.load(Relaxed) != 0
    })
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
            stream.store(ptr::null_mut(), Ordering::Relaxed);
        }
    }
}

extern "C" fn end() {
    let Some(local) = page() else { return };
    let own = Process::own();
    let shown = local.process.load(Relaxed) == u64::from(sys::process());
    let (Some(own), true, Some(_)) = (own, shown, local.generation()) else { return };
    let Ok(registry) = Registry::open(sys::user()) else { return };
    registry.remove_area(own);
    let slots = &local.area()[at::SLOTS..at::SLOTS + SLOTS];
    let traced = slots.iter().any(|slot| slot.load(Relaxed) != 0);
    if let (Some(words), false) = (name_words(&local.names), traced) {
        registry.remove_names(words[names::NONCE].load(Relaxed));
    }
}
