//! A stream as a program holds it: memory, clock, recording, control.

use std::io;
use std::path::Path;
use std::sync::Once;

use tracewell_wire::native::image::{BITMAP, Geometry, ImageHeader, State, at, lane};
use tracewell_wire::native::{
    ClockFacts, ClockKind, EVENT_IDS, EventTypeText, FullPolicy, join, split,
};

use super::control::WAITED_FOR;
use super::event::{EventType, Family, Fields, Tail};
use super::image::Image;
use super::map::Mapping;
use super::sync::{AtomicU64, Ordering};
use super::threads::{self, Level};
use super::writer::Identity;
use super::{DefineError, sys};
use crate::clock::counter;

/// What a new stream is to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamOptions {
    /// What happens when it is full. Default: loop.
    pub policy: FullPolicy,
    /// Lanes: threads that can record at a time, and one more for each whose signal handlers record
    /// as well. Memory is used only for lanes that were. Default: 64.
    pub lanes: u32,
    /// Packets of a lane, at least 2; with one of them being written, the others are what a loop
    /// keeps at least. Default: 16.
    pub packets: u32,
    /// Bytes of a packet, 512 to 1 MiB, a multiple of 8. Default: 64 KiB.
    pub packet_size: u32,
    /// Whether children of a fork record into the stream as well. Default: no.
    pub inherited: bool,
    /// The clock; `None` for the processor's counter where it is a good one, else the monotonic one.
    pub clock: Option<ClockKind>,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self {
            policy: FullPolicy::Loop,
            lanes: 64,
            packets: 16,
            packet_size: 64 * 1024,
            inherited: false,
            clock: None,
        }
    }
}

/// A stream that this process records into.
#[derive(Debug)]
pub struct Stream {
    memory: Mapping,
    geometry: Geometry,
    policy: FullPolicy,
    counter: bool,
    slot: usize,
    generation: u64,
    process: u32,
    inherited: bool,
    /// Ids of which this process knows that they mean in this stream what they mean to it.
    known: [AtomicU64; BITMAP],
}

impl Stream {
    /// A stream in memory of this process and the children of its forks.
    ///
    /// # Errors
    /// Where there is no memory, or a size is beyond its limits.
    pub fn anonymous(options: &StreamOptions) -> io::Result<Self> {
        Self::make(options, Mapping::anonymous)
    }

    /// A stream in a new file, under `/dev/shm` say: other processes can attach, and after a crash
    /// the events are still there.
    ///
    /// # Errors
    /// Where the file is there already or cannot be made, and where a size is beyond its limits.
    pub fn create(path: &Path, options: &StreamOptions) -> io::Result<Self> {
        Self::make(options, |words| Mapping::create(path, words))
    }

    fn make(
        options: &StreamOptions,
        map: impl FnOnce(usize) -> io::Result<Mapping>,
    ) -> io::Result<Self> {
        let invalid = || io::Error::new(io::ErrorKind::InvalidInput, "a size beyond its limits");
        let StreamOptions { policy, lanes, packets, packet_size, .. } = *options;
        let geometry = Geometry { lanes, packets, packet_words: packet_size / 8 };
        let geometry = geometry.checked().filter(|_| packet_size % 8 == 0).ok_or_else(invalid)?;
        let memory = map(geometry.total())?;
        if !memory.reserve(0, geometry.data()) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let header = ImageHeader {
            geometry,
            policy,
            clock: clock_facts(options.clock),
            process: sys::ids().0,
        };
        Image::create(memory.words(), &header).ok_or_else(invalid)?;
        Self::of(memory, &header, options.inherited)
    }

    /// Records into a stream that another process made in a file.
    ///
    /// # Errors
    /// Where the file cannot be opened or is no stream's.
    pub fn open(path: &Path) -> io::Result<Self> {
        let memory = Mapping::open(path)?;
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let (_, header) = Image::open(memory.words()).map_err(invalid)?;
        Self::of(memory, &header, false)
    }

    fn of(memory: Mapping, header: &ImageHeader, inherited: bool) -> io::Result<Self> {
        static FORGET: Once = Once::new();
        FORGET.call_once(|| sys::at_fork_in_child(threads::forget));
        let slot = threads::take_slot()
            .ok_or_else(|| io::Error::other("a process has at most 16 streams"))?;
        Ok(Self {
            memory,
            geometry: header.geometry,
            policy: header.policy,
            counter: header.clock.kind == ClockKind::Counter,
            slot,
            generation: threads::next_generation(),
            process: sys::ids().0,
            inherited,
            known: std::array::from_fn(|_| AtomicU64::new(0)),
        })
    }

    /// The stream's memory, for control and for readers.
    #[inline]
    pub fn image(&self) -> Image<'_> {
        Image::known(self.memory.words(), self.geometry, self.policy)
    }

    /// Whether the file of the stream still has its size. Who cuts it off makes every process that
    /// goes on using it end with SIGBUS; a careful reader asks now and then.
    pub fn is_whole(&self) -> bool {
        self.memory.is_whole()
    }

    /// Starts recording.
    pub fn start(&self) {
        self.image().set_state(State::Running);
    }

    /// Stops recording. Events that begin after the return are not recorded.
    pub fn stop(&self) {
        self.image().set_state(State::Suspended);
    }

    /// Sets which events are not recorded: a bit an id.
    pub fn set_filter(&self, filter: &[u64; BITMAP]) {
        self.image().set_filter(filter);
    }

    /// The present stamp of the stream's clock.
    #[inline]
    pub fn stamp(&self) -> u64 {
        if self.counter { counter::read() } else { sys::monotonic() }
    }

    /// Defines an event type, so that its first event need not.
    ///
    /// # Errors
    /// Where there is no room for it, or its id has another meaning in this stream.
    pub fn define<F: Fields, T: Tail + ?Sized>(
        &self,
        event: &EventType<F, T>,
    ) -> Result<u16, DefineError> {
        let id = event.define(&self.image())?;
        self.know(id);
        Ok(id)
    }

    /// Defines an event type that is known only now, by its text
    /// ([`EventTypeText`](tracewell_wire::native::EventTypeText)): under this id, or the next free one.
    ///
    /// # Errors
    /// Where the text is no event type's or too long, the id has another meaning in this stream, or
    /// all ids are taken.
    pub fn define_text(
        &self,
        id: Option<u16>,
        family: Family,
        text: &str,
    ) -> Result<u16, DefineError> {
        EventTypeText::parse(text).map_err(|_| DefineError::NoEventType)?;
        let (image, family, text) = (self.image(), family.number(), text.as_bytes());
        let id = match id {
            None => image.define(family, text)?,
            Some(id) => image.define_as(id, family, text).map(|()| id)?,
        };
        self.know(id);
        Ok(id)
    }

    fn know(&self, id: u16) {
        // Relaxed: the bit says only that nothing is left to be done for the id.
        self.known[usize::from(id) / 64 % BITMAP].fetch_or(1 << (id % 64), Ordering::Relaxed);
    }

    /// Whether an event of this type would be recorded now, as far as filters say.
    #[inline]
    pub fn is_enabled<F: Fields, T: Tail + ?Sized>(&self, event: &EventType<F, T>) -> bool {
        let image = self.image();
        let gate = image.word(at::GATE).load(Ordering::Relaxed);
        gate & event.family().bit() == 0 && !image.is_filtered(event.id())
    }

    /// Records an event. Never waits, never allocates, may be called by a signal handler.
    // What decides that nothing is recorded is compiled into the caller, the rest is called.
    #[inline(always)]
    pub fn record<F: Fields>(&self, event: &EventType<F>, fields: F) {
        let id = event.id();
        match self.admits(event.family().bit(), id) {
            Admission::Yes => self.store_fields(id, fields),
            Admission::No => {}
            Admission::Ask => self.ask_fields(event, fields),
        }
    }

    /// Records an event of a type that [`Stream::define_text`] gave this id: fields of a word each,
    /// then bytes, filled up to a whole word. An event of another id is counted as lost. As
    /// [`Stream::record`], it may be called by a signal handler.
    #[inline(never)]
    pub fn record_as(&self, id: u16, family: Family, fields: &[u64], bytes: &[u8]) {
        // What lies beyond the ids would be taken for one of them; 0 is never known.
        let id = if usize::from(id) < EVENT_IDS { id } else { 0 };
        match self.admits(family.bit(), id) {
            Admission::Yes => self.store(id, fields, bytes),
            Admission::No => {}
            Admission::Ask => self.ask(family, || self.knows(id).then_some(id), fields, bytes),
        }
    }

    #[inline(never)]
    fn store_fields<F: Fields>(&self, id: u16, fields: F) {
        self.store(id, fields.words(), &[]);
    }

    #[cold]
    #[inline(never)]
    fn ask_fields<F: Fields>(&self, event: &EventType<F>, fields: F) {
        self.ask(event.family(), || self.known_id(event), fields.words().as_ref(), &[]);
    }

    /// Records an event with text or bytes behind its fields. A record that is too long for a packet
    /// is lost, and counted.
    #[inline(never)]
    pub fn record_with<F: Fields, T: Tail + ?Sized>(
        &self,
        event: &EventType<F, T>,
        fields: F,
        tail: &T::Value,
    ) {
        let bytes = tail.as_ref();
        let mut words = [0; 9];
        let fields = fields.words();
        let fields = fields.as_ref();
        let count = fields.len().min(8);
        words[..count].copy_from_slice(&fields[..count]);
        words[count] = bytes.len() as u64;
        let id = event.id();
        match self.admits(event.family().bit(), id) {
            Admission::Yes => self.store(id, &words[..=count], bytes),
            Admission::No => {}
            Admission::Ask => {
                self.ask(event.family(), || self.known_id(event), &words[..=count], bytes);
            }
        }
    }

    #[inline(always)]
    fn admits(&self, family: u64, id: u16) -> Admission {
        let image = self.image();
        let gate = image.word(at::GATE).load(Ordering::Relaxed);
        if gate & (family | WAITED_FOR) != 0 {
            return if gate & WAITED_FOR == 0 { Admission::No } else { Admission::Ask };
        }
        let (index, bit) = (usize::from(id) / 64 % BITMAP, id % 64);
        if image.word(at::FILTER + index).load(Ordering::Relaxed) >> bit & 1 != 0 && id != 0 {
            return Admission::No;
        }
        if self.knows(id) { Admission::Yes } else { Admission::Ask }
    }

    #[inline]
    fn knows(&self, id: u16) -> bool {
        self.known[usize::from(id) / 64 % BITMAP].load(Ordering::Relaxed) >> (id % 64) & 1 != 0
    }

    #[inline(always)]
    fn store(&self, id: u16, fields: impl AsRef<[u64]>, bytes: &[u8]) {
        let stored = threads::with_writer(self.slot, |level| {
            if level.generation.get() != self.generation && !self.place(level) {
                return;
            }
            let pushed = level.writer.push(&self.image(), id, self.stamp(), fields.as_ref(), bytes);
            if pushed.is_err() && self.policy == FullPolicy::UntilFull {
                self.image().suspend_full();
            }
        });
        if stored.is_none() {
            self.image().count(at::LOST_UNPLACED);
        }
    }

    /// The rare cases: a suspended stream, a type that was not defined, somebody who waits.
    /// `id` gives the event's id if it has a meaning in this stream.
    fn ask(&self, family: Family, id: impl FnOnce() -> Option<u16>, fields: &[u64], bytes: &[u8]) {
        let image = self.image();
        match image.state() {
            State::Suspended => return,
            State::Full => return image.count(at::LOST_SUSPENDED),
            State::Running => {}
        }
        if image.family_filter() & family.bit() != 0 {
            return;
        }
        let Some(id) = id() else { return image.count(at::LOST_UNPLACED) };
        if image.is_filtered(id) {
            return;
        }
        self.store(id, fields, bytes);
        if image.word(at::WAITERS).swap(0, Ordering::SeqCst) > 0 {
            image.make_gate();
            sys::wake(image.word(at::WAKE));
        }
    }

    /// The id of an event type, which is defined now if it was not.
    fn known_id<F: Fields, T: Tail + ?Sized>(&self, event: &EventType<F, T>) -> Option<u16> {
        let id = event.id();
        if self.knows(id) { Some(id) } else { self.define(event).ok() }
    }

    /// Finds a lane for the calling thread at this depth.
    #[cold]
    #[inline(never)]
    fn place(&self, level: &Level) -> bool {
        let (process, thread) = sys::ids();
        if process != self.process && !self.inherited {
            // The child of a fork, to which the stream does not belong.
            return false;
        }
        // Where there was none, look again only now and then.
        if level.missed.replace(self.generation) != self.generation {
            level.misses.set(0);
        }
        let misses = level.misses.get();
        let image = self.image();
        if misses.is_multiple_of(256)
            && let Some(lane) = self.claim(&image, join(process, thread))
        {
            let identity = Identity { process, thread, name: sys::thread_name() };
            level.writer.take(&image, lane, identity);
            level.generation.set(self.generation);
            level.misses.set(0);
            return true;
        }
        level.misses.set(misses.wrapping_add(1));
        image.count(at::LOST_UNPLACED);
        false
    }

    fn claim(&self, image: &Image<'_>, owner: u64) -> Option<usize> {
        let lanes = 0..self.geometry.lanes as usize;
        let free = lanes.clone().find(|lane| self.take(image, *lane, 0, owner));
        free.or_else(|| lanes.into_iter().find(|lane| self.take_over(image, *lane, owner)))
    }

    fn take_over(&self, image: &Image<'_>, lane: usize, owner: u64) -> bool {
        let before = image.head(lane, lane::OWNER).load(Ordering::Relaxed);
        let (process, thread) = split(before);
        !sys::lives(process, thread) && self.take(image, lane, before, owner)
    }

    fn take(&self, image: &Image<'_>, lane: usize, before: u64, owner: u64) -> bool {
        let word = image.head(lane, lane::OWNER);
        // Acquire: what the owner before stored is there for the new one.
        let taken = word.compare_exchange(before, owner, Ordering::Acquire, Ordering::Relaxed);
        if taken.is_err() {
            return false;
        }
        if self.memory.reserve(self.geometry.lane(lane), self.geometry.lane_words() as usize) {
            return true;
        }
        word.store(before, Ordering::Release);
        false
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        threads::free_slot(self.slot);
    }
}

/// What the gate and the filter say of an event.
enum Admission {
    Yes,
    No,
    Ask,
}

fn clock_facts(wanted: Option<ClockKind>) -> ClockFacts {
    let counter = match wanted {
        None => counter::is_invariant(),
        Some(kind) => kind == ClockKind::Counter,
    };
    let (origin_realtime, origin_monotonic) = (sys::realtime(), sys::monotonic());
    if counter {
        let origin = counter::read();
        let (kind, ticks_per_second) = (ClockKind::Counter, counter::ticks_per_second());
        ClockFacts { kind, ticks_per_second, origin, origin_realtime, origin_monotonic }
    } else {
        let (kind, ticks_per_second) = (ClockKind::Monotonic, 1_000_000_000);
        let origin = origin_monotonic;
        ClockFacts { kind, ticks_per_second, origin, origin_realtime, origin_monotonic }
    }
}
