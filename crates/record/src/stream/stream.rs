//! A stream as a program holds it: making one, its clock, control. `recording` records into it.

use std::io;
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::AtomicU16;

use tracewell_wire::native::image::{BITMAP, Geometry, ImageHeader, State};
use tracewell_wire::native::{ClockFacts, ClockKind, EVENT_IDS, EventTypeText, FullPolicy};

use super::event::{EventType, Family, Fields, Tail};
use super::image::Image;
use super::map::Mapping;
use super::sync::{AtomicU64, Ordering};
use super::threads;
use super::{DefineError, sys};
use crate::clock::counter;

/// The environment variable that names the file of the stream to record into.
pub const STREAM_VARIABLE: &str = "TRACEWELL_STREAM";

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
    pub(super) memory: Mapping,
    pub(super) geometry: Geometry,
    pub(super) policy: FullPolicy,
    pub(super) counter: bool,
    pub(super) slot: usize,
    pub(super) generation: u64,
    pub(super) process: u32,
    pub(super) inherited: bool,
    /// Ids that `define_text` has returned, for types that are known only at run time.
    pub(super) known: [AtomicU64; BITMAP],
    /// The id here of each event type of the program, by its number; 0 if it was not defined here.
    pub(super) ids: [AtomicU16; EVENT_IDS],
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

    /// Records into the stream whose file the environment names: the one that `tracewell record` made
    /// and started. `None` where nobody records, which is no error: a program then goes on without.
    ///
    /// The variable is [`STREAM_VARIABLE`]. A program that has more rights than its caller (`AT_SECURE`: set-user-ID
    /// and the like) does not look at it.
    ///
    /// # Errors
    /// As [`Stream::open`].
    pub fn from_environment() -> io::Result<Option<Self>> {
        let named = std::env::var_os(STREAM_VARIABLE);
        let named = named.filter(|name| !name.is_empty() && !sys::is_privileged_program());
        named.map(|name| Self::open(Path::new(&name))).transpose()
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
            ids: [const { AtomicU16::new(0) }; EVENT_IDS],
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

    /// Defines an event type, so that its first event need not; returns its id in this stream.
    ///
    /// # Errors
    /// Where there is no room for it, in the stream or among the 2047 event types of a process.
    pub fn define<F: Fields, T: Tail + ?Sized>(
        &self,
        event: &EventType<F, T>,
    ) -> Result<u16, DefineError> {
        let number = event.number().settle().ok_or(DefineError::NoIdLeft)?;
        let id = event.define(&self.image())?;
        // Relaxed: the id says only that nothing is left to be done for the type.
        self.ids[number].store(id, Ordering::Relaxed);
        Ok(id)
    }

    /// Defines an event type that is known only now, by its text
    /// ([`EventTypeText`]): under this id, or the next free one.
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
}

impl Drop for Stream {
    fn drop(&mut self) {
        threads::free_slot(self.slot);
    }
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
