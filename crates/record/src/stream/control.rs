//! Controls a running stream: start, stop, filters, event types.
//!
//! Recording threads check the *gate*, a word with one bit per family, and then the bit of the
//! event id in the filter. The gate is computed from the state, the family filter and a word that
//! is 1 if readers wait. A thread that changes one of these recomputes the gate, and repeats the
//! computation until its inputs no longer change. As a result, the controller that stores the gate
//! last has seen every change, regardless of the number of controllers and processes. This requires
//! a single total order of all these accesses, hence `SeqCst`. Recording threads use relaxed loads.
//! A change applies to an event if the program ensures that the event begins after the change.

use tracewell_wire::native::image::{BITMAP, State, TYPE_TEXT, TYPE_WORDS, at};
use tracewell_wire::native::{EVENT_IDS, FAMILIES};

use super::image::Image;
use super::slot::Slot;
use super::sync::Ordering::SeqCst;

/// The bit of the gate that selects the slow path. It is set while a reader waits for events, or
/// while the stream is full and must count lost events.
pub(super) const SLOW_PATH: u64 = 1 << FAMILIES;

/// Lowest id that is assigned automatically. Lower ids are assigned only on request.
pub const FIRST_FREE_ID: u16 = 64;

/// Error for an event type that cannot be defined in a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DefineError {
    /// The type's string is longer than a slot.
    TooLong,
    /// All ids are in use.
    NoIdLeft,
    /// The id already has a different event type in this stream.
    Conflict,
    /// The string is not a valid event type.
    NoEventType,
}

impl core::fmt::Display for DefineError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::TooLong => write!(f, "expected an event type of at most {TYPE_TEXT} bytes"),
            Self::NoIdLeft => write!(f, "all {EVENT_IDS} event ids of the stream are in use"),
            Self::Conflict => {
                f.write_str("the id already has a different event type in this stream")
            }
            Self::NoEventType => {
                f.write_str("expected an event type like family/name(field:kind,...)")
            }
        }
    }
}

impl core::error::Error for DefineError {}

impl Image<'_> {
    /// Returns the state of the stream.
    #[inline]
    pub fn state(&self) -> State {
        State::of_code(self.word(at::STATE).load(SeqCst))
    }

    /// Starts or stops recording. Returns the previous state.
    pub fn set_state(&self, state: State) -> State {
        let before = self.word(at::STATE).swap(state.code(), SeqCst);
        self.make_gate();
        State::of_code(before)
    }

    /// Stops recording if the stream is running. A full stream stays in the state `Full`, so that
    /// readers see the reason why it stopped.
    pub fn stop_if_running(&self) {
        let (running, suspended) = (State::Running.code(), State::Suspended.code());
        let _ = self.word(at::STATE).compare_exchange(running, suspended, SeqCst, SeqCst);
        self.make_gate();
    }

    /// Stops recording because the stream is full. A thread calls this if its writer found no room
    /// and the policy is until-full. Wait-free.
    pub fn suspend_full(&self) {
        let (running, full) = (State::Running.code(), State::Full.code());
        let _ = self.word(at::STATE).compare_exchange(running, full, SeqCst, SeqCst);
        if self.state() == State::Full {
            // A controller that is computing the gate at this moment can open it again; the next
            // event then closes it again.
            self.word(at::GATE).store(u64::MAX, SeqCst);
        }
    }

    /// Returns the families that are not recorded, one bit each.
    #[inline]
    pub fn family_filter(&self) -> u64 {
        self.word(at::FAMILIES).load(SeqCst)
    }

    /// Sets the families that are not recorded. Applies to events that begin after this function
    /// returns.
    pub fn set_family_filter(&self, families: u64) {
        self.word(at::FAMILIES).store(families & !SLOW_PATH, SeqCst);
        self.make_gate();
    }

    /// Computes the gate from its inputs and stores it.
    pub(super) fn make_gate(&self) {
        let sources = || [at::STATE, at::FAMILIES, at::WAITERS].map(|i| self.word(i).load(SeqCst));
        let mut seen = sources();
        loop {
            let [state, families, waiters] = seen;
            let waited = if waiters == 0 { 0 } else { SLOW_PATH };
            let gate = match State::of_code(state) {
                State::Running => families | waited,
                State::Suspended => !SLOW_PATH,
                // Every event must take the slow path, to be counted.
                State::Full => u64::MAX,
            };
            self.word(at::GATE).store(gate, SeqCst);
            // If an input changed after it was read, compute the gate again.
            let now = sources();
            if now == seen {
                return;
            }
            seen = now;
        }
    }

    /// Returns true if the filter suppresses an event id.
    pub fn is_filtered(&self, id: u16) -> bool {
        self.bit(at::FILTER, id)
    }

    /// Adds an event id to the filter or removes it from the filter. The filter suppresses the ids
    /// that it contains. Applies to events that begin after this function returns.
    pub fn set_filtered(&self, id: u16, filtered: bool) {
        if usize::from(id) < EVENT_IDS {
            self.set_bit(at::FILTER, id, filtered);
        }
    }

    /// Sets the filter for all ids: an id whose bit is set is not recorded.
    pub fn set_filter(&self, filter: &[u64; BITMAP]) {
        for (index, bits) in filter.iter().enumerate() {
            self.word(at::FILTER + index).store(*bits, SeqCst);
        }
    }

    /// Returns the filter for all ids: an id whose bit is set is not recorded.
    pub fn filter(&self) -> [u64; BITMAP] {
        core::array::from_fn(|index| self.word(at::FILTER + index).load(SeqCst))
    }

    fn bit(&self, bitmap: usize, id: u16) -> bool {
        let id = usize::from(id);
        id < EVENT_IDS && self.word(bitmap + id / 64).load(SeqCst) >> (id % 64) & 1 == 1
    }

    fn set_bit(&self, bitmap: usize, id: u16, set: bool) {
        let word = self.word(bitmap + usize::from(id) / 64);
        let bit = 1 << (id % 64);
        if set {
            word.fetch_or(bit, SeqCst)
        } else {
            word.fetch_and(!bit, SeqCst)
        };
    }

    /// Defines an event type under the id it already has in this stream, or under the first free
    /// id. All threads that define the same string get the same id, even if they do so at the same
    /// time, and even if one of them stops halfway. Takes no lock, allocates nothing and never
    /// waits, so it is safe to call from a signal handler.
    ///
    /// # Errors
    /// Returns an error if no id is free, or if the string is too long, empty, or contains a NUL.
    pub fn define(&self, family: u16, text: &[u8]) -> Result<u16, DefineError> {
        for id in FIRST_FREE_ID..EVENT_IDS as u16 {
            match self.define_as(id, family, text) {
                Err(DefineError::Conflict) => {}
                result => return result.map(|()| id),
            }
        }
        Err(DefineError::NoIdLeft)
    }

    /// Defines an event type under the given id.
    ///
    /// # Errors
    /// Returns an error if the id is out of range or already has a different event type in this
    /// stream, or if the string is too long, empty, or contains a NUL.
    pub fn define_as(&self, id: u16, family: u16, text: &[u8]) -> Result<(), DefineError> {
        if text.len() > TYPE_TEXT {
            return Err(DefineError::TooLong);
        }
        if text.is_empty() || text.contains(&0) {
            return Err(DefineError::NoEventType);
        }
        if id == 0 || usize::from(id) >= EVENT_IDS {
            return Err(DefineError::NoIdLeft);
        }
        if !self.slot(id).define(family, text) {
            return Err(DefineError::Conflict);
        }
        // The thread that defined the type may have stopped before it set the bit. Set the bit
        // here, because a log describes only types whose bit is set.
        if !self.bit(at::DEFINED, id) {
            self.set_bit(at::DEFINED, id, true);
        }
        Ok(())
    }

    /// Copies the string of an event type, and returns the family and the length of the string in
    /// bytes. Returns `None` if the id has no event type.
    pub fn event_type(&self, id: u16, text: &mut [u8; TYPE_TEXT]) -> Option<(u16, usize)> {
        if usize::from(id) >= EVENT_IDS {
            return None;
        }
        self.slot(id).read(text)
    }

    fn slot(&self, id: u16) -> Slot<'_> {
        let first = self.geometry().types() + usize::from(id) * TYPE_WORDS;
        Slot(self.words(first..first + TYPE_WORDS))
    }
}
