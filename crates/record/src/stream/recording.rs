//! Records events into a stream: checks the gate, finds the thread's lane, and writes the record
//! there.
//!
//! All functions in this file can run in a signal handler, even if the handler interrupts the same
//! function. They take no locks, do not allocate, and preserve `errno`.

use tracewell_wire::native::image::{BITMAP, State, at, lane};
use tracewell_wire::native::{EVENT_IDS, FullPolicy, join, split};

use super::control::SLOW_PATH;
use super::event::{EventType, Family, Fields, Tail};
use super::image::Image;
use super::stream::Stream;
use super::sync::Ordering;
use super::sys;
use super::threads::{self, Depth};
use super::writer::Identity;

impl Stream {
    /// Returns true if the stream would now record an event of this type, or would count the event
    /// as lost because the stream is full. [`event!`](crate::event) calls this before it computes
    /// the fields.
    ///
    /// ```
    /// use tracewell_record::stream::{EventType, Family, Stream, StreamOptions};
    ///
    /// const DISK: Family = Family::new(4, "disk");
    /// static READ: EventType<(u64,)> = EventType::new(DISK, "read", &["block"]);
    ///
    /// let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    /// assert!(!stream.wants(&READ));
    /// stream.start();
    /// assert!(stream.wants(&READ));
    /// ```
    #[inline(always)]
    pub fn wants<F: Fields, T: Tail + ?Sized>(&self, event: &EventType<F, T>) -> bool {
        let id = self.id_of(event);
        !matches!(self.admits(event.family().bit(), id, id != 0), Admission::Skip)
    }

    /// Records an event. Never waits, never allocates, and is safe to call from a signal handler.
    ///
    /// The first event of a type defines it in the stream. If the stream is suspended or its filter
    /// suppresses the event, nothing happens. If there is no room for the event, it is counted as
    /// lost.
    ///
    /// ```
    /// use tracewell_record::stream::{EventType, Family, Hex, Stream, StreamOptions};
    ///
    /// const NET: Family = Family::new(3, "net");
    /// static SENT: EventType<(u32, Hex)> = EventType::new(NET, "sent", &["length", "queue"]);
    ///
    /// let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    /// stream.start();
    /// stream.record(&SENT, (1500, Hex(0x7F00)));
    /// assert_eq!(stream.image().status().lanes, 1);
    /// ```
    // The checks are inlined into the caller, so an event that is not recorded costs no function
    // call.
    #[inline(always)]
    pub fn record<F: Fields>(&self, event: &EventType<F>, fields: F) {
        let id = self.id_of(event);
        match self.admits(event.family().bit(), id, id != 0) {
            Admission::Record => self.store_fields(id, fields),
            Admission::Skip => {}
            Admission::Check => self.check_fields(event, fields),
        }
    }

    /// Records an event whose id [`Stream::define_text`] returned: one word per field, then bytes,
    /// padded to a whole word. An event with any other id is counted as lost. Safe to call from a
    /// signal handler, like [`Stream::record`].
    ///
    /// ```
    /// use tracewell_record::stream::{Family, Stream, StreamOptions};
    ///
    /// const JOBS: Family = Family::new(5, "jobs");
    ///
    /// let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    /// stream.start();
    /// let begun = stream.define_text(None, JOBS, "jobs/begun(number:u64)").unwrap();
    /// stream.record_as(begun, JOBS, &[17], &[]);
    /// assert_eq!(stream.image().status().lost_unplaced, 0);
    /// ```
    #[inline]
    pub fn record_as(&self, id: u16, family: Family, fields: &[u64], bytes: &[u8]) {
        // An id beyond the limit could alias a valid id in the bitmaps, and id 0 is never valid.
        let id = if usize::from(id) < EVENT_IDS { id } else { 0 };
        match self.admits(family.bit(), id, self.knows(id)) {
            Admission::Record => self.store_slices(id, fields, bytes),
            Admission::Skip => {}
            Admission::Check => self.check(family, || self.knows(id).then_some(id), fields, bytes),
        }
    }

    /// Stores a record whose number of fields is known only at run time.
    ///
    /// For one to five fields without bytes, the compiler generates separate code for each number
    /// of fields. It unrolls the loops over the fields, which saves 40 % of the instructions.
    #[inline(always)]
    fn store_slices(&self, id: u16, fields: &[u64], bytes: &[u8]) {
        match *fields {
            [a] if bytes.is_empty() => self.store_array(id, [a]),
            [a, b] if bytes.is_empty() => self.store_array(id, [a, b]),
            [a, b, c] if bytes.is_empty() => self.store_array(id, [a, b, c]),
            [a, b, c, d] if bytes.is_empty() => self.store_array(id, [a, b, c, d]),
            [a, b, c, d, e] if bytes.is_empty() => self.store_array(id, [a, b, c, d, e]),
            _ => self.store_any(id, fields, bytes),
        }
    }

    #[inline(never)]
    fn store_array<const N: usize>(&self, id: u16, fields: [u64; N]) {
        self.store(id, fields, &[]);
    }

    #[inline(never)]
    fn store_any(&self, id: u16, fields: &[u64], bytes: &[u8]) {
        self.store(id, fields, bytes);
    }

    #[inline(never)]
    fn store_fields<F: Fields>(&self, id: u16, fields: F) {
        self.store(id, fields.words(), &[]);
    }

    #[cold]
    #[inline(never)]
    fn check_fields<F: Fields>(&self, event: &EventType<F>, fields: F) {
        self.check(event.family(), || self.known_id(event), fields.words().as_ref(), &[]);
    }

    /// Records an event with text or bytes after its fields. A record that is too long for a packet
    /// is counted as lost.
    ///
    /// ```
    /// use tracewell_record::stream::{EventType, Family, Stream, StreamOptions};
    ///
    /// const DISK: Family = Family::new(4, "disk");
    /// static FAILED: EventType<(i32,), str> = EventType::new(DISK, "failed", &["code", "reason"]);
    ///
    /// let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    /// stream.start();
    /// stream.record_with(&FAILED, (-5,), "input/output error");
    /// ```
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
        let id = self.id_of(event);
        match self.admits(event.family().bit(), id, id != 0) {
            Admission::Record => self.store(id, &words[..=count], bytes),
            Admission::Skip => {}
            Admission::Check => {
                self.check(event.family(), || self.known_id(event), &words[..=count], bytes);
            }
        }
    }

    /// Checks the gate and the filter: two relaxed loads in the common case.
    #[inline(always)]
    fn admits(&self, family: u64, id: u16, known: bool) -> Admission {
        let image = self.image();
        let gate = image.word(at::GATE).load(Ordering::Relaxed);
        if gate & (family | SLOW_PATH) != 0 {
            // Either the family is stopped, or the gate requires the slow path.
            return if gate & SLOW_PATH == 0 { Admission::Skip } else { Admission::Check };
        }
        let (index, bit) = (usize::from(id) / 64 % BITMAP, id % 64);
        if image.word(at::FILTER + index).load(Ordering::Relaxed) >> bit & 1 != 0 && id != 0 {
            return Admission::Skip;
        }
        if known { Admission::Record } else { Admission::Check }
    }

    /// Returns the id of an event type in this stream, or 0 if it is not defined here.
    #[inline(always)]
    fn id_of<F: Fields, T: Tail + ?Sized>(&self, event: &EventType<F, T>) -> u16 {
        self.ids[event.number().get()].load(Ordering::Relaxed)
    }

    /// Returns true if `define_text` returned this id.
    #[inline]
    fn knows(&self, id: u16) -> bool {
        self.known[usize::from(id) / 64 % BITMAP].load(Ordering::Relaxed) >> (id % 64) & 1 != 0
    }

    /// Stores a record in the lane of the calling thread.
    #[inline(always)]
    fn store(&self, id: u16, fields: impl AsRef<[u64]>, bytes: &[u8]) {
        let stored = threads::with_writer(self.slot, |depth| {
            // The thread has no lane in this stream yet; the slot may still hold a writer for an
            // earlier stream.
            if depth.generation.get() != self.generation && !self.place(depth) {
                return;
            }
            let pushed = depth.writer.push(&self.image(), id, self.stamp(), fields.as_ref(), bytes);
            if pushed.is_err() && self.policy == FullPolicy::UntilFull {
                self.image().suspend_full();
            }
        });
        if stored.is_none() {
            self.image().count(at::LOST_UNPLACED);
        }
    }

    /// Handles the rare cases: a suspended stream, a type that is not defined yet, a waiting
    /// reader. `id` returns the id of the event in this stream, or `None` if it has none.
    fn check(
        &self,
        family: Family,
        id: impl FnOnce() -> Option<u16>,
        fields: &[u64],
        bytes: &[u8],
    ) {
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
        // The first thread to reset the word wakes all readers; the other threads avoid the system
        // call.
        if image.word(at::WAITERS).swap(0, Ordering::SeqCst) > 0 {
            image.make_gate();
            sys::wake(image.word(at::WAKE));
        }
    }

    /// Returns the id of an event type, defining the type first if necessary.
    fn known_id<F: Fields, T: Tail + ?Sized>(&self, event: &EventType<F, T>) -> Option<u16> {
        match self.id_of(event) {
            0 => self.define(event).ok(),
            id => Some(id),
        }
    }

    /// Finds a lane for the calling thread at this depth. Returns false and counts the event as
    /// lost if no lane is free.
    #[cold]
    #[inline(never)]
    fn place(&self, depth: &Depth) -> bool {
        if depth.generation.get() == self.generation | threads::ABANDONED {
            depth.writer.take_again(&self.image());
            depth.generation.set(self.generation);
            return true;
        }
        let (process, thread) = sys::ids();
        if process != self.process && !self.inherited {
            // In a child of a fork, the stream still belongs to the parent.
            return false;
        }
        // Searching all lanes is slow, so after a failure only every 256th event searches again.
        if depth.missed.replace(self.generation) != self.generation {
            depth.misses.set(0);
        }
        let misses = depth.misses.get();
        let image = self.image();
        if misses.is_multiple_of(256)
            && let Some(lane) = self.claim(&image, join(process, thread))
        {
            let identity = Identity { process, thread, name: sys::thread_name() };
            depth.writer.take(&image, lane, identity);
            depth.generation.set(self.generation);
            depth.misses.set(0);
            return true;
        }
        depth.misses.set(misses.wrapping_add(1));
        image.count(at::LOST_UNPLACED);
        false
    }

    /// Takes a free lane, or else the lane of a thread that has ended.
    fn claim(&self, image: &Image<'_>, owner: u64) -> Option<usize> {
        let lanes = 0..self.geometry.lanes as usize;
        let free = lanes.clone().find(|lane| self.take(image, *lane, 0, owner));
        free.or_else(|| lanes.into_iter().find(|lane| self.take_over(image, *lane, owner)))
    }

    fn take_over(&self, image: &Image<'_>, lane: usize, owner: u64) -> bool {
        let before = image.head(lane, lane::OWNER).load(Ordering::Relaxed);
        let (process, thread) = split(before);
        !sys::is_alive(process, thread) && self.take(image, lane, before, owner)
    }

    /// Changes the owner of a lane from `before` to `owner`. Returns false if another thread was
    /// faster, or if there is no memory for the lane.
    fn take(&self, image: &Image<'_>, lane: usize, before: u64, owner: u64) -> bool {
        let word = image.head(lane, lane::OWNER);
        // Acquire: the new owner sees everything that the previous owner stored.
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

/// Result of checking the gate and the filter for an event.
enum Admission {
    /// Record the event.
    Record,
    /// Do not record the event.
    Skip,
    /// Take the slow path, which checks everything.
    Check,
}

/// Records an event. Computes the event's fields only if the stream would record or count the
/// event.
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tracewell_record::event;
/// use tracewell_record::stream::{EventType, Family, Stream, StreamOptions};
///
/// const DISK: Family = Family::new(4, "disk");
/// static QUEUED: EventType<(u64, usize)> = EventType::new(DISK, "queued", &["block", "waiting"]);
///
/// let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
/// stream.start();
/// let queue = [3, 5, 8];
/// event!(stream, QUEUED, 8, queue.iter().count());
/// # }
/// ```
#[macro_export]
macro_rules! event {
    ($stream:expr, $event:expr $(, $field:expr)* $(,)?) => {{
        let (stream, event) = (&$stream, &$event);
        if stream.wants(event) {
            stream.record(event, ($($field,)*));
        }
    }};
}
