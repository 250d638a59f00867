//! The streams that trace this process. Its recorders use this module to find them.
//!
//! A private page contains pointers to the process's area and to the attached streams. It also
//! contains the generation that the area had when the streams were last updated. A process without
//! an area watches a page that all such processes of a user share. After a controller has created
//! an area for one of these processes, it changes the shared page's generation. In a child process
//! created by `fork`, the kernel fills the private page with zeros, so the child searches for its
//! own area.
//!
//! Each stream has a private page, followed by its memory. When a stream ends, its memory is
//! replaced with private zeros, because a thread or a signal handler may be recording at any time.
//! The page and the zeros are unmapped when no thread can use them any more. A thread that uses
//! attached streams holds a [`Using`].
//!
//! Threads and handlers may attach concurrently. Each of them maps the stream. An atomic exchange
//! decides which mapping is used, and the other mappings are removed. So no thread waits.
//!
//! `attached` maps streams. `slots` is the set of slots with a stream. `inheritance` finds or
//! creates the area, including the streams and names that this process inherits from its parent.
//!
//! Unsafe: mapped pages become references.
#![allow(unsafe_code)]

mod attached;
mod inheritance;
mod slots;

use std::os::fd::AsFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};

use tracewell_record::posix::Pool;
use tracewell_wire::posix::area::{AREA_WORDS, NAMES_WORDS, SLOTS, at, names};
use tracewell_wire::posix::{FIRST_USER, UNNAMED, USER_EVENT_MAX};

pub(crate) use self::attached::AttachedStream;
use self::inheritance::Found;
pub(crate) use self::inheritance::parents_slots;
use self::slots::SlotSet;
use crate::names::NameFile;
use crate::registry::{self, Registry};
use crate::sys;
use crate::thread::{self, Streams, Using};

/// The substitute for a missing area.
static NO_AREA: [AtomicU64; AREA_WORDS] = [const { AtomicU64::new(0) }; AREA_WORDS];

/// The private page of this process.
#[repr(C)]
pub(crate) struct TracedProcess {
    /// The process id; 0 if the page is new or was wiped.
    process: AtomicU64,
    /// The area or its substitute, [`AREA_WORDS`] words; null before the first search.
    area: AtomicPtr<AtomicU64>,
    /// The area's generation when `streams` was last updated.
    seen: AtomicU64,
    /// The slots with an attached stream. A thread that has found a stream in `streams` inserts the
    /// stream's slot before the thread stores `seen`.
    attached: SlotSet,
    /// User event ids below this limit are known to be defined.
    known: AtomicU64,
    /// The name space, [`NAMES_WORDS`] words; null if there is none.
    names: AtomicPtr<AtomicU64>,
    streams: [AtomicPtr<AttachedStream>; SLOTS],
}

const _: () = assert!(size_of::<TracedProcess>() <= sys::PAGE);

static LOCAL: AtomicPtr<TracedProcess> = AtomicPtr::new(ptr::null_mut());

/// Calls `begin` when the program starts or the library is loaded. `begin` reads the environment,
/// which is not safe in a signal handler.
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
    sys::at_fork(inheritance::before_fork, inheritance::in_child);
}

/// Returns the page, creating it on first use.
fn page() -> Option<&'static TracedProcess> {
    let known = NonNull::new(LOCAL.load(Acquire));
    let page = match known {
        Some(page) => page,
        None => {
            let made = sys::wiped_on_fork(sys::PAGE)?.cast::<TracedProcess>();
            let first = LOCAL.compare_exchange(ptr::null_mut(), made.as_ptr(), AcqRel, Acquire);
            match first {
                Ok(_) => made,
                // If another thread was first, this page remains mapped. It was never accessed, so
                // it uses no memory.
                Err(other) => NonNull::new(other)?,
            }
        }
    };
    // SAFETY: a page of atomics, for which zeros are valid values; it is never unmapped.
    Some(unsafe { page.as_ref() })
}

/// Returns a number that identifies this process. A child process created by `fork` gets a
/// different number.
///
/// ```
/// use tracewell_posix::process_token;
///
/// assert_eq!(process_token(), process_token());
/// assert_ne!(process_token(), 0);
/// ```
pub fn process_token() -> u64 {
    page().map_or_else(|| u64::from(sys::process()), TracedProcess::own_process)
}

impl TracedProcess {
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

    /// Returns the page, after attaching all streams that trace this process now.
    /// Async-signal-safe.
    #[inline(always)]
    pub(crate) fn current() -> Option<&'static Self> {
        // SAFETY: the pointer is null or points to a page of atomics that is never unmapped.
        let local = unsafe { LOCAL.load(Acquire).as_ref() };
        if let Some(local) = local
            && let Some(generation) = local.generation()
            // Acquire: pairs with the release store in `attach_all`, which follows the insertions.
            && generation == local.seen.load(Acquire)
        {
            return Some(local);
        }
        sys::keeping_errno(Self::catch_up)
    }

    /// Returns the generation of the area, if there is one.
    #[inline(always)]
    fn generation(&self) -> Option<u64> {
        let area = NonNull::new(self.area.load(Acquire))?;
        // SAFETY: an area has `AREA_WORDS` words and is never unmapped once it is stored here.
        Some(unsafe { area.add(at::GENERATION).as_ref() }.load(Acquire))
    }

    #[cold]
    #[inline(never)]
    fn catch_up() -> Option<&'static Self> {
        let local = page()?;
        local.own_process();
        if local.has_area() || local.find_area(false) {
            local.update();
        }
        Some(local)
    }

    /// Returns the page with an area of this process, creating the area if necessary.
    fn with_area() -> Option<&'static Self> {
        let local = page()?;
        local.own_process();
        if local.has_area() || local.find_area(true) {
            local.update();
            return Some(local);
        }
        None
    }

    /// Returns true if the area belongs to this process alone.
    fn has_area(&self) -> bool {
        is_own_area(self.area.load(Acquire))
    }

    fn area(&self) -> &'static [AtomicU64] {
        mapped(&self.area, AREA_WORDS).unwrap_or(&NO_AREA)
    }

    /// Returns this process's token.
    #[inline(always)]
    pub(crate) fn process(&self) -> u64 {
        self.process.load(Relaxed)
    }

    /// Returns one bit per attached stream.
    #[inline(always)]
    pub(crate) fn attached(&self) -> u64 {
        self.attached.bits()
    }

    /// Returns the stream in a slot, if one is attached.
    #[inline(always)]
    pub(crate) fn stream<'a>(&self, slot: usize, using: &'a Using) -> Option<&'a AttachedStream> {
        Self::stream_at(self.streams.get(slot)?.load(Acquire), using)
    }

    /// Returns the stream to which a pointer from `streams` refers.
    #[inline(always)]
    fn stream_at(place: *mut AttachedStream, _: &Using) -> Option<&AttachedStream> {
        // SAFETY: the pointer is null or points to a page that `attach` filled before it was stored
        // in `streams`. A `Using` that was created before it was loaded keeps the page mapped.
        unsafe { place.as_ref() }
    }

    /// Returns true if the id of a user event was defined. Async-signal-safe.
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

    /// Finds the area of this process, if it has one. Creates an area if the process inherits
    /// streams or if `make` is true. Returns true if there is an area; otherwise no stream traces
    /// the process.
    fn find_area(&self, make: bool) -> bool {
        let before = self.area.load(Acquire);
        let (area, names, seen) = match inheritance::find(make) {
            Found::Own(area, names) => (area, names, None),
            Found::All(page, seen) => (page, None, Some(seen)),
            Found::Nothing => (&NO_AREA[..], None, Some(0)),
            // Nothing is stored, so the next event searches again.
            Found::Later => return self.has_area(),
        };
        if let Some(names) = names {
            // Store the name space first: a thread that sees the area then also sees the names.
            let names = names.as_ptr().cast_mut();
            let _ = self.names.compare_exchange(ptr::null_mut(), names, AcqRel, Relaxed);
        }
        let start = area.as_ptr().cast_mut();
        let mut first = self.area.compare_exchange(before, start, AcqRel, Acquire);
        if let Some(seen) = seen {
            if first.is_ok() {
                self.seen.store(seen, Relaxed);
            }
            return self.has_area();
        }
        // Another thread that searched before the area existed may have stored what it found.
        while let Err(other) = first
            && !is_own_area(other)
        {
            first = self.area.compare_exchange(other, start, AcqRel, Acquire);
        }
        inheritance::leave(self);
        true
    }

    /// Attaches and detaches streams, and unmaps those that no thread uses any more.
    fn update(&self) {
        let updated = thread::with_depth(self, |thread, using, _, depth| {
            self.attach_all(using);
            attached::unmap_retired(|check| thread.all_idle_since(check, depth));
        });
        if updated.is_none() {
            thread::without_depth(|using| self.attach_all(using));
        }
    }

    /// Attaches and detaches streams, so that the streams match the area. Ends early if the process
    /// has too many open files.
    fn attach_all(&self, using: &Using) {
        let area = self.area();
        let generation = area[at::GENERATION].load(Acquire);
        let mut registry = None;
        for slot in 0..SLOTS {
            let before = self.streams[slot].load(Acquire);
            let known = Self::stream_at(before, using).map_or(0, |stream| stream.header.nonce);
            // Read the area after the pointer. The thread that attached a stream has found it in
            // the area. In the other order, a stream that another thread attaches in the meantime
            // would seem to be no longer in the area, and this thread would detach it.
            let nonce = area[at::SLOTS + slot].load(Acquire);
            if nonce == 0 && known == 0 {
                continue;
            }
            let registry = match registry.get_or_insert_with(|| Registry::open(sys::user())) {
                Ok(registry) => Some(&*registry),
                // `seen` is not stored, so the next event tries again.
                Err(error) if sys::lacks_descriptors(*error) => return,
                Err(_) => None,
            };
            // The registry may no longer contain an attached stream: any process that sweeps the
            // registry removes the streams of dead controllers.
            let announced = |registry: &Registry| {
                let found = registry.reference(slot as u32);
                found.map_or_else(sys::lacks_descriptors, |reference| reference.nonce == nonce)
            };
            if known == nonce && registry.is_none_or(announced) {
                // The thread that attached the stream may not have inserted the slot yet. If this
                // code runs in a signal handler, the handler may have interrupted that thread.
                self.attached.insert(slot);
                continue;
            }
            let after = match (nonce, registry) {
                _ if known == nonce => None,
                (0, _) | (_, None) => None,
                (nonce, Some(registry)) => match attached::attach(registry, slot, nonce) {
                    Err(error) if sys::lacks_descriptors(error) => return,
                    attached => attached.ok(),
                },
            };
            self.exchange(slot, before, after);
        }
        self.seen.store(generation, Release);
    }

    fn exchange(
        &self,
        slot: usize,
        before: *mut AttachedStream,
        after: Option<NonNull<AttachedStream>>,
    ) {
        let place = after.map_or(ptr::null_mut(), NonNull::as_ptr);
        // Several threads may exchange this slot at the same time. Only one of them succeeds.
        let changed = self.streams[slot].compare_exchange(before, place, SeqCst, Relaxed).is_ok();
        if changed {
            inheritance::leave_stream(slot, &self.streams[slot]);
            // Another thread may have inserted a stream since the exchange, so look again.
            if place.is_null() {
                let is_empty = || self.streams[slot].load(SeqCst).is_null();
                self.attached.remove_if(slot, is_empty);
            } else {
                self.attached.insert(slot);
            }
            // A thread or a handler may be using the old stream, so its memory is released later.
            if let Some(before) = NonNull::new(before) {
                attached::retire(before);
            }
        } else if let Some(after) = after {
            // No other thread has seen this stream, so its memory is released now.
            attached::discard(after);
        }
    }
}

impl Streams for TracedProcess {
    fn pool<'a>(&self, slot: usize, key: u64, using: &'a Using) -> Option<Pool<'a>> {
        let stream = self.stream(slot, using).filter(|stream| stream.key == key);
        stream.map(AttachedStream::pool)
    }
}

/// Returns true if an area belongs to this process alone.
fn is_own_area(area: *mut AtomicU64) -> bool {
    !area.is_null() && !ptr::eq(area, NO_AREA.as_ptr()) && !inheritance::is_page_of_all(area)
}

/// Returns the mapped words that a pointer refers to, unless it is null.
///
/// `words` must be `AREA_WORDS` for a pointer to an area and `NAMES_WORDS` for a pointer to a name
/// space.
fn mapped(place: &AtomicPtr<AtomicU64>, words: usize) -> Option<&'static [AtomicU64]> {
    let start = NonNull::new(place.load(Acquire))?;
    // SAFETY: every pointer stored there was mapped with that many words and is never unmapped.
    Some(unsafe { std::slice::from_raw_parts(start.as_ptr(), words) })
}

/// Ensures that this process has an area.
pub(crate) fn prepare() {
    begin();
    TracedProcess::with_area();
}

/// Returns the id of an event type in this process, defining the type first if its name is new.
pub(crate) fn define(name: &[u8]) -> Result<u32, sys::Errno> {
    begin();
    let registry = Registry::open(sys::user())?;
    let local = TracedProcess::with_area().ok_or(libc::ENOMEM)?;
    registry.sweep_sometimes();
    let nonce = local.area()[at::NAMES].load(Acquire);
    let file = registry.names(nonce)?;
    NameFile(file.as_fd()).define(name)
}

impl TracedProcess {
    /// On kernels that do not wipe the page, discards the parent's streams.
    fn forget(&self) {
        self.process.store(0, Relaxed);
        self.area.store(ptr::null_mut(), Relaxed);
        self.names.store(ptr::null_mut(), Relaxed);
        self.seen.store(0, Relaxed);
        self.known.store(0, Relaxed);
        self.attached.clear();
        for stream in &self.streams {
            stream.store(ptr::null_mut(), Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Attributes, Controller, record};

    /// Runs in a separate process, because it changes what all recorders of the process see.
    #[test]
    fn a_handler_that_interrupts_the_attaching_of_a_stream_loses_no_event() {
        const ROLE: &str = "TRACEWELL_TEST_INTERRUPTED_ATTACHING";
        if std::env::var_os(ROLE).is_none() {
            let name = "a_handler_that_interrupts_the_attaching_of_a_stream_loses_no_event";
            let mut test = std::process::Command::new(std::env::current_exe().unwrap());
            test.args([&format!("local::tests::{name}"), "--exact"]).env(ROLE, "yes");
            assert!(test.output().unwrap().status.success());
            return;
        }
        let controller = Controller::create(0, &Attributes::default()).unwrap();
        controller.stream().start();
        record(UNNAMED, b"attaches the stream", false, 0);
        // A handler finds this state if it interrupts a thread that has mapped and stored the
        // stream, but has not inserted the stream's slot yet.
        let local = page().unwrap();
        local.attached.clear();
        local.seen.store(0, Relaxed);
        record(UNNAMED, b"in the handler", false, 0);

        let events = std::iter::from_fn(|| controller.try_next().unwrap());
        let texts: Vec<_> =
            events.filter(|(event, _)| event.id == UNNAMED).map(|(_, data)| data).collect();
        assert_eq!(texts, [&b"attaches the stream"[..], b"in the handler"]);
    }

    /// Runs in separate processes, because a process searches for its area only once.
    #[test]
    fn a_thread_that_finds_no_area_does_not_hide_the_area_that_another_thread_makes() {
        const ROLE: &str = "TRACEWELL_TEST_TWO_SEARCHES";
        if std::env::var_os(ROLE).is_none() {
            let name =
                "a_thread_that_finds_no_area_does_not_hide_the_area_that_another_thread_makes";
            for _ in 0..50 {
                let mut test = std::process::Command::new(std::env::current_exe().unwrap());
                test.args([&format!("local::tests::{name}"), "--exact"]).env(ROLE, "yes");
                assert!(test.output().unwrap().status.success());
            }
            return;
        }
        let both = std::sync::Barrier::new(2);
        let controller = std::thread::scope(|scope| {
            scope.spawn(|| {
                both.wait();
                TracedProcess::current();
            });
            both.wait();
            Controller::create(0, &Attributes::default()).unwrap()
        });
        controller.stream().start();
        record(UNNAMED, b"recorded", false, 0);
        let events = std::iter::from_fn(|| controller.try_next().unwrap());
        assert_eq!(events.filter(|(event, _)| event.id == UNNAMED).count(), 1);
    }
}
