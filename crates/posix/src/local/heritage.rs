//! The area of this process: found, made with what it inherits, left behind for children, removed.
//!
//! A child of a fork goes by what its parent had, which it still has mapped; a program that was started in
//! another way by the area of its parent. Both join the name space of their parent if a stream traces them.
//!
//! A process has an area only if it needs one, because it is traced or has names: a child that records once
//! and ends without a word leaves nothing behind.

use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64};

use tracewell_wire::posix::area::{AREA_WORDS, NAMES_WORDS, SLOTS, at, names};

use super::attached::{self, Attached};
use super::{Local, mapped, page};
use crate::clock;
use crate::names::NameFile;
use crate::process::{self, Process};
use crate::registry::Registry;
use crate::sys::{self, Errno};

/// As in `Local`, and still there in the child of a fork: what the parent had.
static LAST_AREA: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());
static LAST_NAMES: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());
static LAST_PROCESS: AtomicU64 = AtomicU64::new(0);
static LAST_STREAMS: [AtomicPtr<Attached>; SLOTS] =
    [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS];
/// Names that there were before the last fork.
static NAMES_BEFORE: AtomicU64 = AtomicU64::new(u64::MAX);

/// The end of a process takes its area with it.
#[used]
#[allow(unsafe_code, reason = "the name of a section of the program")]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;

/// Remembers what a process has for the children of its forks.
pub(super) fn leave(local: &Local) {
    LAST_NAMES.store(local.names.load(Acquire), Release);
    LAST_AREA.store(local.area.load(Acquire), Release);
    LAST_PROCESS.store(local.process.load(Relaxed), Release);
}

/// Remembers a stream that was attached.
pub(super) fn leave_stream(slot: usize, stream: *mut Attached) {
    LAST_STREAMS[slot].store(stream, Release);
}

type Words = &'static [AtomicU64];

/// The page of all processes without an area, once it is mapped. It stays that of the first user.
static ALL: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());

/// What stands for the area of a process.
pub(super) enum Found {
    /// The area, and the name space.
    Own(Words, Option<Words>),
    /// The page of all processes without an area, and the generation in which there was none.
    All(Words, u64),
    /// There is no registry to be had.
    Nothing,
}

/// Whether this is the page of all processes without an area.
pub(super) fn is_page_of_all(area: *mut AtomicU64) -> bool {
    ptr::eq(area, ALL.load(Acquire))
}

/// Finds or makes the area and the name space of this process, and maps them.
pub(super) fn find(make: bool) -> Found {
    let Ok(registry) = Registry::open(sys::user()) else { return Found::Nothing };
    let page = page_of_all(&registry);
    // Before the look for the area: whoever makes one changes it afterwards.
    let seen = page.map_or(0, |page| page[at::GENERATION].load(Acquire));
    let found = Process::own().and_then(|own| own_area(&registry, own, make || page.is_none()));
    match (found, page) {
        (Some((area, names)), _) => Found::Own(area, names),
        (None, Some(page)) => Found::All(page, seen),
        (None, None) => Found::Nothing,
    }
}

fn page_of_all(registry: &Registry) -> Option<Words> {
    if ALL.load(Acquire).is_null() {
        let words = sys::map_for_ever(registry.all().ok()?.as_fd(), AREA_WORDS)?;
        // One that is mapped twice at the same time stays mapped.
        let words = words.as_ptr().cast_mut();
        let _ = ALL.compare_exchange(ptr::null_mut(), words, AcqRel, Relaxed);
    }
    mapped(&ALL, AREA_WORDS)
}

fn own_area(registry: &Registry, own: Process, make: bool) -> Option<(Words, Option<Words>)> {
    let area = match registry.area(own) {
        Ok(area) => {
            complete_names(registry, &area);
            area
        }
        Err(_) => make_area(registry, own, make)?.ok()?,
    };
    let words = sys::map_for_ever(area.as_fd(), AREA_WORDS)?;
    let names = registry.names(words[at::NAMES].load(Acquire)).ok();
    let names = names.and_then(|file| sys::map_for_ever(file.as_fd(), NAMES_WORDS));
    Some((words, names))
}

/// Whether this process is the child of a fork and has nothing of its own yet.
fn is_forked() -> bool {
    let last = LAST_PROCESS.load(Acquire);
    last != 0 && last != u64::from(sys::process())
}

/// Makes the area of this process, with what it inherits; `None` if it needs none.
fn make_area(registry: &Registry, own: Process, make: bool) -> Option<Result<OwnedFd, Errno>> {
    let (slots, shared) = match mapped(&LAST_AREA, AREA_WORDS).filter(|_| is_forked()) {
        Some(area) => {
            let slot = |number: usize| area[at::SLOTS + number].load(Acquire);
            (inherited(registry, slot, None), area[at::NAMES].load(Acquire))
        }
        None => parents_slots(registry, own),
    };
    if slots.iter().any(|nonce| *nonce != 0) && registry.names(shared).is_ok() {
        return Some(registry.make_area(own, shared, &slots));
    }
    make.then(|| {
        let (nonce, file) = registry.make_names()?;
        copy_names(NameFile(file.as_fd()));
        registry.make_area(own, nonce, &[0; SLOTS])
    })
}

/// What a program that was started without a fork of ours inherits: streams of its parent that are older
/// than it is.
pub(crate) fn parents_slots(registry: &Registry, process: Process) -> ([u64; SLOTS], u64) {
    let nothing = ([0; SLOTS], 0);
    let Some(parent) = process.parent() else { return nothing };
    let Ok(area) = registry.area(parent) else { return nothing };
    let mut words = [0; at::SLOTS + SLOTS];
    if sys::read_words(area.as_fd(), 0, &mut words) != words.len() {
        return nothing;
    }
    let slots = inherited(registry, |number| words[at::SLOTS + number], Some(process));
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
    let (since_boot, ticks) = sys::since_boot();
    let age = since_boot.saturating_sub(process.start * (1_000_000_000 / ticks));
    // A tick of tolerance: the start is rounded down to one.
    created < sys::realtime().saturating_sub(age) + 1_000_000_000 / ticks
}

/// Copies the names that the parent had before the fork, if this is the child of one.
fn copy_names(to: NameFile<'_>) {
    if let Some(words) = mapped(&LAST_NAMES, NAMES_WORDS).filter(|_| is_forked()) {
        // The mapping: the parent may have ended, and its file with it.
        let count = NAMES_BEFORE.load(Relaxed).min(words[names::COUNT].load(Acquire));
        let _ = to.complete(words, count as usize);
    }
}

/// The same where a controller made the area and could not know them.
fn complete_names(registry: &Registry, area: &OwnedFd) {
    let mut nonce = [0];
    sys::read_words(area.as_fd(), at::NAMES, &mut nonce);
    if let Ok(file) = registry.names(nonce[0]) {
        copy_names(NameFile(file.as_fd()));
    }
}

pub(super) extern "C" fn before_fork() {
    // A stream may trace this process since it called last: its children inherit that.
    let _ = Local::current();
    // A child that has nothing of its own hands on what it got.
    if LAST_PROCESS.load(Acquire) == u64::from(sys::process()) {
        let names = mapped(&LAST_NAMES, NAMES_WORDS);
        let count = names.map_or(0, |words| words[names::COUNT].load(Acquire));
        NAMES_BEFORE.store(count, Relaxed);
    }
}

/// In the child of a fork: what a handler was about to store goes nowhere, and the child is a member of
/// what it inherits from now on.
pub(super) extern "C" fn in_child() {
    sys::keeping_errno(|| {
        let Some(local) = page() else { return };
        clock::after_fork();
        process::after_fork();
        local.forget();
        for stream in &LAST_STREAMS {
            if let Some(stream) = NonNull::new(stream.swap(ptr::null_mut(), AcqRel)) {
                attached::retire(stream);
            }
        }
        if LAST_PROCESS.load(Acquire) != 0 && has_heritage() {
            Local::current();
        }
    });
}

/// Whether there was a stream in the parent's area at all.
fn has_heritage() -> bool {
    mapped(&LAST_AREA, AREA_WORDS).is_some_and(|area| {
        area[at::SLOTS..at::SLOTS + SLOTS].iter().any(|slot| slot.load(Relaxed) != 0)
    })
}

extern "C" fn end() {
    let Some(local) = page() else { return };
    let own = Process::own();
    let shown = local.process.load(Relaxed) == u64::from(sys::process());
    let (Some(own), true, true) = (own, shown, local.has_area()) else { return };
    let Ok(registry) = Registry::open(sys::user()) else { return };
    registry.remove_area(own);
    let slots = &local.area()[at::SLOTS..at::SLOTS + SLOTS];
    let traced = slots.iter().any(|slot| slot.load(Relaxed) != 0);
    if let (Some(words), false) = (mapped(&local.names, NAMES_WORDS), traced) {
        registry.remove_names(words[names::NONCE].load(Relaxed));
    }
}
