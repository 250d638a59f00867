//! Finds, creates and removes the area of this process, including inherited streams and names. Also
//! saves the content of the area for child processes.
//!
//! A child process created by `fork` inherits the streams in its parent's area, which is still
//! mapped in the child. A program that was started in another way reads its parent's area from the
//! registry. Processes of both kinds join the parent's name space if a stream traces them.
//!
//! A process has an area only if it is traced or has names. So an untraced child process that
//! records an event and ends without calling `exit` leaves no files of its own.

use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicPtr, AtomicU64};

use tracewell_wire::posix::area::{AREA_WORDS, NAMES_WORDS, SLOTS, at, names};

use super::attached::{self, AttachedStream};
use super::{TracedProcess, mapped, page};
use crate::clock;
use crate::names::NameFile;
use crate::process::{self, Process};
use crate::registry::Registry;
use crate::sys::{self, Errno};

/// Copies of the fields of `TracedProcess` that a child process needs. The kernel does not wipe the
/// copies in the child of a fork, so the child finds its parent's values here.
static LAST_AREA: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());
static LAST_NAMES: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());
static LAST_PROCESS: AtomicU64 = AtomicU64::new(0);
static LAST_STREAMS: [AtomicPtr<AttachedStream>; SLOTS] =
    [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS];
/// Number of names before the last fork.
static NAMES_BEFORE: AtomicU64 = AtomicU64::new(u64::MAX);

/// Removes the area when the process exits.
#[used]
#[allow(unsafe_code, reason = "`link_section` is an unsafe attribute")]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;

/// Saves the values of this process for child processes created by `fork`.
pub(super) fn leave(local: &TracedProcess) {
    LAST_NAMES.store(local.names.load(Acquire), Release);
    LAST_AREA.store(local.area.load(Acquire), Release);
    LAST_PROCESS.store(local.process.load(Relaxed), Release);
}

/// For child processes created by `fork`, saves the stream that is attached in a slot.
///
/// Saves again if another thread has changed the slot in the meantime, so that no detached stream
/// remains saved.
pub(super) fn leave_stream(slot: usize, attached: &AtomicPtr<AttachedStream>) {
    let mut stream = attached.load(SeqCst);
    loop {
        LAST_STREAMS[slot].store(stream, SeqCst);
        let now = attached.load(SeqCst);
        if now == stream {
            return;
        }
        stream = now;
    }
}

type Words = &'static [AtomicU64];

/// The page that all processes without an area share; null until this page is mapped. The page
/// belongs to the effective user of the process at the time of mapping. The process keeps this page
/// even if it changes its user id later.
static ALL: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());

/// A process's area, or its substitute.
pub(super) enum Found {
    /// The process's own area and its name space.
    Own(Words, Option<Words>),
    /// The page that all processes without an area share, and the generation of this page before
    /// the search for the area.
    All(Words, u64),
    /// The registry does not exist.
    Nothing,
    /// The process has too many open files at this time.
    Later,
}

/// Returns true if `area` is the page that all processes without an area share.
pub(super) fn is_page_of_all(area: *mut AtomicU64) -> bool {
    ptr::eq(area, ALL.load(Acquire))
}

/// Finds or creates the area and the name space of this process, and maps them.
pub(super) fn find(make: bool) -> Found {
    let failed = |error| if sys::lacks_descriptors(error) { Found::Later } else { Found::Nothing };
    let registry = match Registry::open(sys::user()) {
        Ok(registry) => registry,
        Err(error) => return failed(error),
    };
    let page = page_of_all(&registry);
    // Read the generation before the search: if a controller creates the area after the search, the
    // generation changes.
    let seen = page.map_or(0, |page| page[at::GENERATION].load(Acquire));
    let own = Process::own().ok_or(libc::ESRCH);
    let found = own.and_then(|own| own_area(&registry, own, make || page.is_err()));
    match (found, page) {
        (Ok((area, names)), _) => Found::Own(area, names),
        (Err(error), _) if sys::lacks_descriptors(error) => Found::Later,
        (Err(_), Ok(page)) => Found::All(page, seen),
        (Err(_), Err(error)) => failed(error),
    }
}

fn page_of_all(registry: &Registry) -> Result<Words, Errno> {
    if ALL.load(Acquire).is_null() {
        let file = registry.all()?;
        let words = sys::map_for_ever(file.as_fd(), AREA_WORDS).ok_or(libc::ENOMEM)?;
        // If two threads map the page at the same time, the second mapping is never used.
        let words = words.as_ptr().cast_mut();
        let _ = ALL.compare_exchange(ptr::null_mut(), words, AcqRel, Relaxed);
    }
    mapped(&ALL, AREA_WORDS).ok_or(libc::ENOMEM)
}

fn own_area(
    registry: &Registry,
    own: Process,
    make: bool,
) -> Result<(Words, Option<Words>), Errno> {
    let area = match registry.area(own) {
        Ok(area) => {
            complete_names(registry, &area);
            area
        }
        Err(error) if sys::lacks_descriptors(error) => return Err(error),
        Err(_) => make_area(registry, own, make).ok_or(libc::ENOENT)??,
    };
    // Open both files before either is mapped. A mapping is never removed, so a failure to open the
    // second file must not leave one.
    let mut nonce = [0];
    sys::read_words(area.as_fd(), at::NAMES, &mut nonce);
    let names = match registry.names(nonce[0]) {
        Err(error) if sys::lacks_descriptors(error) => return Err(error),
        names => names.ok(),
    };
    let words = sys::map_for_ever(area.as_fd(), AREA_WORDS).ok_or(libc::ENOMEM)?;
    let names = names.and_then(|file| sys::map_for_ever(file.as_fd(), NAMES_WORDS));
    Ok((words, names))
}

/// Returns true if this process was created by `fork` and has no area of its own yet.
fn is_forked() -> bool {
    let last = LAST_PROCESS.load(Acquire);
    last != 0 && last != u64::from(sys::process())
}

/// Creates the area of this process including inherited streams and names. Returns `None` if the
/// process needs no area.
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

/// Returns the slots and the name space that a process inherits from its parent's area in the
/// registry. It inherits the streams that trace children and are older than the process.
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

/// Keeps the slots whose streams trace children. If `child` is given, also requires that the
/// streams are older than that process.
fn inherited(
    registry: &Registry,
    slot: impl Fn(usize) -> u64,
    child: Option<Process>,
) -> [u64; SLOTS] {
    let mut slots = [0; SLOTS];
    for (number, to) in slots.iter_mut().enumerate() {
        // The stream of a slot may have ended, and a new stream may have the same number. The new
        // stream has another nonce.
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

/// Returns true if a time is before the start time of a process.
fn is_older(created: u64, process: Process) -> bool {
    let (since_boot, ticks) = sys::since_boot();
    let age = since_boot.saturating_sub(process.start * (1_000_000_000 / ticks));
    // One tick of tolerance, because the start time is rounded down.
    created < sys::realtime().saturating_sub(age) + 1_000_000_000 / ticks
}

/// In a child process created by `fork`, copies the names that the parent had defined before the
/// fork.
fn copy_names(to: NameFile<'_>) {
    if let Some(words) = mapped(&LAST_NAMES, NAMES_WORDS).filter(|_| is_forked()) {
        // Read from the mapping, because the parent may have exited and removed its file.
        let count = NAMES_BEFORE.load(Relaxed).min(words[names::COUNT].load(Acquire));
        let _ = to.complete(words, count as usize);
    }
}

/// Adds the parent's names to an area that a controller created without them.
fn complete_names(registry: &Registry, area: &OwnedFd) {
    let mut nonce = [0];
    sys::read_words(area.as_fd(), at::NAMES, &mut nonce);
    if let Ok(file) = registry.names(nonce[0]) {
        copy_names(NameFile(file.as_fd()));
    }
}

pub(super) extern "C" fn before_fork() {
    // Attach every stream that has begun to trace this process, so that the child inherits it, too.
    let _ = TracedProcess::current();
    // A child process without its own area passes on the streams and names that it inherited.
    if LAST_PROCESS.load(Acquire) == u64::from(sys::process()) {
        let names = mapped(&LAST_NAMES, NAMES_WORDS);
        let count = names.map_or(0, |words| words[names::COUNT].load(Acquire));
        NAMES_BEFORE.store(count, Relaxed);
    }
}

/// Runs in the child process after a fork. Redirects the records of an interrupted handler to
/// private memory, and registers the child with the streams that it inherits.
pub(super) extern "C" fn in_child() {
    sys::keeping_errno(|| {
        let Some(local) = page() else { return };
        // This state still describes the parent, so reset it before the child records.
        clock::after_fork();
        process::after_fork();
        local.forget();
        for stream in &LAST_STREAMS {
            if let Some(stream) = NonNull::new(stream.swap(ptr::null_mut(), AcqRel)) {
                attached::retire(stream);
            }
        }
        if LAST_PROCESS.load(Acquire) != 0 && inherits_streams() {
            TracedProcess::current();
        }
    });
}

/// Returns true if the parent's area contained any stream.
fn inherits_streams() -> bool {
    mapped(&LAST_AREA, AREA_WORDS).is_some_and(|area| {
        area[at::SLOTS..at::SLOTS + SLOTS].iter().any(|slot| slot.load(Relaxed) != 0)
    })
}

extern "C" fn end() {
    let Some(local) = page() else { return };
    // In a child that has not recorded yet, the page does not describe the child.
    let shown = local.process.load(Relaxed) == u64::from(sys::process());
    if !shown || !local.has_area() {
        return;
    }
    let Some(own) = Process::own() else { return };
    let Ok(registry) = Registry::open(sys::user()) else { return };
    registry.remove_area(own);
    let slots = &local.area()[at::SLOTS..at::SLOTS + SLOTS];
    // Keep the names if this process is traced: a controller may still read records that contain
    // the ids of these names.
    let traced = slots.iter().any(|slot| slot.load(Relaxed) != 0);
    if let (Some(words), false) = (mapped(&local.names, NAMES_WORDS), traced) {
        registry.remove_names(words[names::NONCE].load(Relaxed));
    }
}
