//! What is said to a stream while it runs: start, stop, filters, event types.
//!
//! Recording threads look at the *gate*, a word with a bit for each family, and at the event's bit of
//! the filter. The gate is made from state, family filter and waiters. Whoever changes one of those
//! makes it again and looks whether its sources are still what they were; so of any number of
//! controllers, in any number of processes, the last one to store saw every change. That needs one
//! order of all these accesses, hence `SeqCst`. Recording threads read relaxed: an event that begins
//! after the change *happened before* it, by whatever the program uses to tell, sees it.

use tracewell_wire::native::image::{BITMAP, State, TYPE_TEXT, TYPE_WORDS, at};
use tracewell_wire::native::{EVENT_IDS, FAMILIES};

use super::image::Image;
use super::slot::Slot;
use super::sync::Ordering::SeqCst;

/// The bit of the gate that says that more is to be done than to record: somebody waits for events,
/// or the stream is full and counts them.
pub(super) const WAITED_FOR: u64 = 1 << FAMILIES;

/// Ids below this are given only to those who ask for them by number.
pub const FIRST_FREE_ID: u16 = 64;

/// An event type has no place in a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DefineError {
    /// Its text has more bytes than a slot.
    TooLong,
    /// All ids are taken.
    NoIdLeft,
    /// Its id means something else in this stream.
    Conflict,
    /// Its text is no event type's.
    NoEventType,
}

impl core::fmt::Display for DefineError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::TooLong => write!(f, "an event type has at most {TYPE_TEXT} bytes"),
            Self::NoIdLeft => write!(f, "a stream has at most {EVENT_IDS} event types"),
            Self::Conflict => f.write_str("the id means another event in this stream"),
            Self::NoEventType => f.write_str("expected family/name(field:kind,...)"),
        }
    }
}

impl core::error::Error for DefineError {}

impl Image<'_> {
    /// Whether the stream records.
    #[inline]
    pub fn state(&self) -> State {
        State::of_code(self.word(at::STATE).load(SeqCst))
    }

    /// Starts or stops recording. Returns what it did before.
    pub fn set_state(&self, state: State) -> State {
        let before = self.word(at::STATE).swap(state.code(), SeqCst);
        self.make_gate();
        State::of_code(before)
    }

    /// Stops recording because there is no room, as the policy until-full wants it of a thread whose
    /// writer said so. Wait-free.
    pub fn suspend_full(&self) {
        let (running, full) = (State::Running.code(), State::Full.code());
        let _ = self.word(at::STATE).compare_exchange(running, full, SeqCst, SeqCst);
        if self.state() == State::Full {
            // A controller that makes the gate at this moment may open it once more; the next
            // event then closes it again.
            self.word(at::GATE).store(u64::MAX, SeqCst);
        }
    }

    /// Families that are not recorded, a bit each.
    #[inline]
    pub fn family_filter(&self) -> u64 {
        self.word(at::FAMILIES).load(SeqCst)
    }

    /// Sets which families are not recorded. Holds for events that begin after the return.
    pub fn set_family_filter(&self, families: u64) {
        self.word(at::FAMILIES).store(families & !WAITED_FOR, SeqCst);
        self.make_gate();
    }

    pub(super) fn make_gate(&self) {
        let sources = || [at::STATE, at::FAMILIES, at::WAITERS].map(|i| self.word(i).load(SeqCst));
        let mut seen = sources();
        loop {
            let [state, families, waiters] = seen;
            let waited = if waiters == 0 { 0 } else { WAITED_FOR };
            let gate = match State::of_code(state) {
                State::Running => families | waited,
                State::Suspended => !WAITED_FOR,
                // Events are to be counted, so they have to ask.
                State::Full => u64::MAX,
            };
            self.word(at::GATE).store(gate, SeqCst);
            let now = sources();
            if now == seen {
                return;
            }
            seen = now;
        }
    }

    /// Whether the filter stops an event id.
    pub fn is_filtered(&self, id: u16) -> bool {
        self.bit(at::FILTER, id)
    }

    /// Sets whether an event id is recorded. Holds for events that begin after the return.
    pub fn set_filtered(&self, id: u16, filtered: bool) {
        if usize::from(id) < EVENT_IDS {
            self.set_bit(at::FILTER, id, filtered);
        }
    }

    /// Sets the filter of all ids: a set bit is not recorded.
    pub fn set_filter(&self, filter: &[u64; BITMAP]) {
        for (index, bits) in filter.iter().enumerate() {
            self.word(at::FILTER + index).store(*bits, SeqCst);
        }
    }

    /// The filter of all ids: a set bit is not recorded.
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

    /// Gives an event type an id: the one it has here already, or the first free one. All who define the
    /// same text get the same id, whenever they do and whatever becomes of one of them. Needs no lock
    /// and no memory and waits for nobody, so that a signal handler may do it.
    ///
    /// # Errors
    /// Where there is no room, and where the text is too long, empty, or has a NUL.
    pub fn define(&self, family: u16, text: &[u8]) -> Result<u16, DefineError> {
        for id in FIRST_FREE_ID..EVENT_IDS as u16 {
            match self.define_as(id, family, text) {
                Err(DefineError::Conflict) => {}
                result => return result.map(|()| id),
            }
        }
        Err(DefineError::NoIdLeft)
    }

    /// Gives an event type this id.
    ///
    /// # Errors
    /// Where the id means something else here, and where the text is too long, empty, or has a NUL.
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
        if !self.slot(id).give(family, text) {
            return Err(DefineError::Conflict);
        }
        // Whoever defined the type may have stopped before it said so, and a log must describe an event's type.
        if !self.bit(at::DEFINED, id) {
            self.set_bit(at::DEFINED, id, true);
        }
        Ok(())
    }

    /// Copies the text of an event type; its family and how long it is. `None` where the id has
    /// none.
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
