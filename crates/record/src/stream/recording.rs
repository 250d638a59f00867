//! Recording into a stream: from the look at the gate to the thread's lane.
//!
//! Everything here may run in a signal handler, and in one that interrupts the same function of the
//! same thread: no lock, no allocation, and errno stays as it was.

use tracewell_wire::native::image::{BITMAP, State, at, lane};
use tracewell_wire::native::{EVENT_IDS, FullPolicy, join, split};

use super::control::WAITED_FOR;
use super::event::{EventType, Family, Fields, Tail};
use super::image::Image;
use super::stream::Stream;
use super::sync::Ordering;
use super::sys;
use super::threads::{self, Level};
use super::writer::Identity;

impl Stream {
    /// Whether there is anything to be done for an event of this type now: it is recorded, or the
    /// stream is full and counts it. [`event!`](crate::event) asks before it computes fields.
    #[inline(always)]
    pub fn wants<F: Fields, T: Tail + ?Sized>(&self, event: &EventType<F, T>) -> bool {
        let id = self.id_of(event);
        !matches!(self.admits(event.family().bit(), id, id != 0), Admission::No)
    }

    /// Records an event. Never waits, never allocates, may be called by a signal handler.
    // What decides that nothing is recorded is compiled into the caller, the rest is called.
    #[inline(always)]
    pub fn record<F: Fields>(&self, event: &EventType<F>, fields: F) {
        let id = self.id_of(event);
        match self.admits(event.family().bit(), id, id != 0) {
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
        match self.admits(family.bit(), id, self.knows(id)) {
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
        let id = self.id_of(event);
        match self.admits(event.family().bit(), id, id != 0) {
            Admission::Yes => self.store(id, &words[..=count], bytes),
            Admission::No => {}
            Admission::Ask => {
                self.ask(event.family(), || self.known_id(event), &words[..=count], bytes);
            }
        }
    }

    #[inline(always)]
    fn admits(&self, family: u64, id: u16, known: bool) -> Admission {
        let image = self.image();
        let gate = image.word(at::GATE).load(Ordering::Relaxed);
        if gate & (family | WAITED_FOR) != 0 {
            return if gate & WAITED_FOR == 0 { Admission::No } else { Admission::Ask };
        }
        let (index, bit) = (usize::from(id) / 64 % BITMAP, id % 64);
        if image.word(at::FILTER + index).load(Ordering::Relaxed) >> bit & 1 != 0 && id != 0 {
            return Admission::No;
        }
        if known { Admission::Yes } else { Admission::Ask }
    }

    /// The id of an event type in this stream; 0 if it was not defined here.
    #[inline(always)]
    fn id_of<F: Fields, T: Tail + ?Sized>(&self, event: &EventType<F, T>) -> u16 {
        self.ids[event.number().get()].load(Ordering::Relaxed)
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
        match self.id_of(event) {
            0 => self.define(event).ok(),
            id => Some(id),
        }
    }

    /// Finds a lane for the calling thread at this depth.
    #[cold]
    #[inline(never)]
    fn place(&self, level: &Level) -> bool {
        if level.generation.get() == self.generation | threads::LEFT {
            level.writer.begin_again(&self.image());
            level.generation.set(self.generation);
            return true;
        }
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

/// What the gate and the filter say of an event.
enum Admission {
    Yes,
    No,
    Ask,
}

/// Records an event; its fields are computed only if the stream wants it.
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
