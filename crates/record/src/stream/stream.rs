//! The stream as programs use it: creation, clock and control. See `recording` for the recording
//! functions.

use std::io;
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::AtomicU16;

use tracewell_wire::native::image::{BITMAP, Geometry, ImageHeader, State};
use tracewell_wire::native::{ClockFacts, ClockKind, EVENT_IDS, EventTypeText, FullPolicy};

use super::event::{EventType, Family, Fields, Tail};
use super::image::Image;
use super::map::Mapping;
use super::named::at;
use super::sync::{AtomicU64, Ordering};
use super::threads;
use super::{DefineError, sys};
use crate::clock::counter;

/// Name of the environment variable that contains the path of the stream into which a program
/// records.
pub const STREAM_VARIABLE: &str = "TRACEWELL_STREAM";

/// Options for a new stream.
///
/// ```
/// use tracewell_record::stream::{FullPolicy, Stream, StreamOptions};
///
/// let options = StreamOptions { policy: FullPolicy::UntilFull, lanes: 8, ..Default::default() };
/// let stream = Stream::anonymous(&options).unwrap();
/// assert_eq!(stream.image().geometry().lanes, 8);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamOptions {
    /// Policy that applies when the stream is full. Default: loop.
    pub policy: FullPolicy,
    /// Number of lanes. Each recording thread uses one lane. A signal handler uses another lane if
    /// it records an event while its thread is storing one. Unused lanes occupy no memory.
    /// Default: 64.
    pub lanes: u32,
    /// Number of packets per lane, at least 2. With the policy loop, one packet is being written
    /// and the others keep their events. Default: 16.
    pub packets: u32,
    /// Length of a packet in bytes: a multiple of 8 from 512 to 1 MiB. Default: 64 KiB.
    pub packet_size: u32,
    /// True if child processes created by `fork` also record into the stream. Default: false.
    pub inherited: bool,
    /// The clock; `None` selects the processor's counter if it is invariant, otherwise the
    /// monotonic clock. Default: `None`.
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
///
/// ```
/// use tracewell_record::stream::{EventType, Family, Stream, StreamOptions};
///
/// const DISK: Family = Family::new(4, "disk");
/// static READ: EventType<(u64, u32)> = EventType::new(DISK, "read", &["block", "length"]);
///
/// let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
/// stream.start();
/// stream.record(&READ, (17, 4096));
/// stream.stop();
/// stream.record(&READ, (18, 4096)); // not recorded
///
/// let status = stream.image().status();
/// assert_eq!((status.lanes, status.lost), (1, 0));
/// ```
#[derive(Debug)]
pub struct Stream {
    pub(super) memory: Mapping,
    pub(super) geometry: Geometry,
    pub(super) policy: FullPolicy,
    /// True if the clock is the processor's counter.
    pub(super) counter: bool,
    /// Index of the stream in each thread's memory.
    pub(super) slot: usize,
    /// Number of this stream in the process. With this number, a thread detects that a slot was
    /// reused.
    pub(super) generation: u64,
    /// Process that created this value; a child of a fork has another id.
    pub(super) process: u32,
    pub(super) inherited: bool,
    /// True if dropping this value stops the stream, because the stream belongs to one run of one
    /// program.
    pub(super) stops_on_drop: bool,
    /// Ids that `define_text` has returned, for types that are known only at run time: one bit
    /// each.
    pub(super) known: [AtomicU64; BITMAP],
    /// The ids of the program's event types in this stream, indexed by type number; 0 if the type
    /// is not defined here.
    pub(super) ids: [AtomicU16; EVENT_IDS],
}

impl Stream {
    /// Creates a stream in memory that this process shares with the children of its forks.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory, or if a size is out of range.
    pub fn anonymous(options: &StreamOptions) -> io::Result<Self> {
        Self::make(options, Mapping::anonymous)
    }

    /// Creates a stream in a new file, preferably under `/dev/shm`. Other processes can attach to
    /// it, and the events survive a crash.
    ///
    /// # Errors
    /// Returns an error that names the file if it already exists or cannot be created, or if a size
    /// is out of range. [`Stream::create_or_rotate`] accepts a file that an ended process left.
    ///
    /// ```
    /// use tracewell_record::stream::{Stream, StreamOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("demo.stream");
    /// let stream = Stream::create(&path, &StreamOptions::default())?;
    /// let other = Stream::open(&path)?;
    /// stream.start();
    /// assert_eq!(other.image().state(), stream.image().state());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn create(path: &Path, options: &StreamOptions) -> io::Result<Self> {
        Self::create_as(path, path, options)
    }

    /// Creates a stream in the new file `file`. Errors name `path`.
    pub(super) fn create_as(file: &Path, path: &Path, options: &StreamOptions) -> io::Result<Self> {
        // Check the sizes first, because an error about a size does not name the file.
        geometry(options)?;
        Self::make(options, |words| Mapping::create(file, words)).map_err(|error| at(path, error))
    }

    fn make(
        options: &StreamOptions,
        map: impl FnOnce(usize) -> io::Result<Mapping>,
    ) -> io::Result<Self> {
        let geometry = geometry(options)?;
        let memory = map(geometry.total())?;
        // Without reserved blocks, a full disk would end the program at a later store.
        if !memory.reserve(0, geometry.data()) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let header = ImageHeader {
            geometry,
            policy: options.policy,
            clock: clock_facts(options.clock),
            process: sys::ids().0,
        };
        Image::create(memory.words(), &header).ok_or_else(out_of_range)?;
        Self::of(memory, &header, options.inherited)
    }

    /// Opens a stream that another process created in a file, to record into it.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be opened or contains no stream.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::open_file(path).map_err(|error| at(path, error))
    }

    fn open_file(path: &Path) -> io::Result<Self> {
        let memory = Mapping::open(path)?;
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let (_, header) = Image::open(memory.words()).map_err(invalid)?;
        Self::of(memory, &header, false)
    }

    /// Opens the stream whose path is in the environment variable [`STREAM_VARIABLE`], which
    /// `tracewell record` sets for the program that it runs. Returns `None` if the variable is not
    /// set. This is not an error: the program runs without being recorded.
    ///
    /// The variable is ignored if the program has more privileges than its caller (`AT_SECURE`:
    /// set-user-ID and similar).
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Stream::open`].
    pub fn from_environment() -> io::Result<Option<Self>> {
        let named = std::env::var_os(STREAM_VARIABLE);
        let named = named.filter(|name| !name.is_empty() && !sys::is_privileged_program());
        named.map(|name| Self::open(Path::new(&name))).transpose()
    }

    /// Reserves one of the process's slots for the stream in `memory`. The caller has checked the
    /// stream's header.
    fn of(memory: Mapping, header: &ImageHeader, inherited: bool) -> io::Result<Self> {
        // A child process must not record into the lanes of its parent.
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
            stops_on_drop: false,
            known: std::array::from_fn(|_| AtomicU64::new(0)),
            ids: [const { AtomicU16::new(0) }; EVENT_IDS],
        })
    }

    /// Returns the stream's memory, for controlling and reading it.
    #[inline]
    pub fn image(&self) -> Image<'_> {
        Image::trusted(self.memory.words(), self.geometry, self.policy)
    }

    /// Returns true if the stream's file still has its full size. If a process truncates the file,
    /// every process that continues to use it ends with SIGBUS, so a careful reader checks
    /// regularly.
    pub fn is_whole(&self) -> bool {
        self.memory.is_whole()
    }

    /// Starts recording. A new stream is suspended.
    pub fn start(&self) {
        self.image().set_state(State::Running);
    }

    /// Stops recording. Events that begin after this function returns are not recorded.
    pub fn stop(&self) {
        self.image().set_state(State::Suspended);
    }

    /// Sets the filter: event ids whose bit is set are not recorded.
    pub fn set_filter(&self, filter: &[u64; BITMAP]) {
        self.image().set_filter(filter);
    }

    /// Returns the current timestamp of the stream's clock.
    #[inline]
    pub fn stamp(&self) -> u64 {
        if self.counter { counter::read() } else { sys::monotonic() }
    }

    /// Defines an event type and returns its id in this stream. Calling this is optional: the first
    /// event of a type also defines it.
    ///
    /// # Errors
    /// Returns an error if the stream has no free id, or if the process already has 2047 event
    /// types.
    pub fn define<F: Fields, T: Tail + ?Sized>(
        &self,
        event: &EventType<F, T>,
    ) -> Result<u16, DefineError> {
        let number = event.number().get_or_assign().ok_or(DefineError::NoIdLeft)?;
        let id = event.define(&self.image())?;
        // Relaxed: a thread learns nothing from the id except that it need not define the type
        // again.
        self.ids[number].store(id, Ordering::Relaxed);
        Ok(id)
    }

    /// Defines an event type that is known only at run time, given as a string ([`EventTypeText`]).
    /// The type gets the given id, or the next free id.
    ///
    /// # Errors
    /// Returns an error if the string is too long or is not a valid event type, if the id already
    /// has a different event type in this stream, or if all ids are in use.
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
        self.mark_known(id);
        Ok(id)
    }

    fn mark_known(&self, id: u16) {
        // Relaxed: a thread that sees the bit only learns that it need not check the id again.
        self.known[usize::from(id) / 64 % BITMAP].fetch_or(1 << (id % 64), Ordering::Relaxed);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // During a panic, the stream stays unchanged, like the stream of a killed process. A forked
        // child does not stop the stream of its parent.
        let ends = self.stops_on_drop && !std::thread::panicking();
        // An access to a truncated file would end the process with SIGBUS.
        if ends && self.process == sys::ids().0 && self.is_whole() {
            self.image().stop_if_running();
        }
        threads::free_slot(self.slot);
    }
}

/// Returns the sizes of a stream with these options.
fn geometry(options: &StreamOptions) -> io::Result<Geometry> {
    let StreamOptions { lanes, packets, packet_size, .. } = *options;
    let geometry = Geometry { lanes, packets, packet_words: packet_size / 8 };
    geometry.checked().filter(|_| packet_size % 8 == 0).ok_or_else(out_of_range)
}

fn out_of_range() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "stream size out of range")
}

fn clock_facts(wanted: Option<ClockKind>) -> ClockFacts {
    let counter = match wanted {
        None => counter::is_invariant(),
        Some(kind) => kind == ClockKind::Counter,
    };
    // Read the clocks immediately before the counter, because the three times form one origin.
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
