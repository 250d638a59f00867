//! A set of event types (`trace_event_set_t`): a magic word, 64 bits for system types, and bits for
//! user types.

use super::{FIRST_USER, LAST_USER, SYSTEM_NAMES, UNNAMED};

/// First word of an initialised set.
const MARK: u64 = u64::from_le_bytes(*b"TWPXset1");

/// Number of words for the bits of the user types: one bit for the unnamed type, and one for each
/// named type.
const USER_WORDS: usize = (LAST_USER - UNNAMED) as usize / 64 + 1;

/// A set of event types. A set that is used as a filter holds the types that are *not* recorded.
///
/// ```
/// use tracewell_wire::posix::{EventSet, FIRST_USER, Fill, START};
///
/// let mut filter = EventSet::filled(Fill::System);
/// filter.add(FIRST_USER).unwrap();
/// filter.remove(START).unwrap();
/// assert_eq!(filter.contains(FIRST_USER), Some(true));
/// assert_eq!(filter.contains(START), Some(false));
/// assert_eq!(EventSet::of_words(filter.words()), filter);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct EventSet {
    mark: u64,
    system: u64,
    user: [u64; USER_WORDS],
}

/// The initial content of a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fill {
    /// System types that are independent of any process. This implementation has none.
    WithoutProcess,
    /// All types that the system defines.
    System,
    /// All types, including types that are not defined yet.
    All,
}

impl EventSet {
    /// Length in words without the magic word. A filter in shared memory has this length.
    pub const WORDS: usize = 1 + USER_WORDS;
    /// Length in bytes of a set that an event contains.
    pub const BYTES: usize = size_of::<Self>();

    /// The empty set, which contains neither system events nor user events.
    pub const EMPTY: Self = Self { mark: MARK, system: 0, user: [0; USER_WORDS] };

    /// Returns a set with this content.
    pub fn filled(fill: Fill) -> Self {
        // The ids of system types start at 1. No type has id 0.
        let system = ((1 << SYSTEM_NAMES.len()) - 1) << 1;
        let mut set = Self::EMPTY;
        if fill != Fill::WithoutProcess {
            set.system = system;
        }
        if fill == Fill::All {
            (UNNAMED..=LAST_USER).for_each(|id| {
                set.add(id);
            });
        }
        set
    }

    /// Returns true if the set was initialised. C programs can pass uninitialised memory.
    pub const fn is_marked(&self) -> bool {
        self.mark == MARK
    }

    /// Returns true if a set can contain this id.
    pub const fn is_possible(id: u32) -> bool {
        matches!(id, 1..=LAST_USER)
    }

    /// Returns the index of the word in [`EventSet::words`] that holds the bit of an id, and the
    /// number of the bit. Returns `None` if no set can contain the id.
    #[inline]
    pub const fn place(id: u32) -> Option<(usize, u32)> {
        if Self::is_possible(id) { Some((id as usize / 64, id % 64)) } else { None }
    }

    /// Adds an id. Returns `None` if no set can hold it.
    pub fn add(&mut self, id: u32) -> Option<()> {
        let (word, bit) = Self::place(id)?;
        *self.word_mut(word)? |= 1 << bit;
        Some(())
    }

    /// Removes an id. Returns `None` if no set can hold it.
    pub fn remove(&mut self, id: u32) -> Option<()> {
        let (word, bit) = Self::place(id)?;
        *self.word_mut(word)? &= !(1 << bit);
        Some(())
    }

    /// Returns true if the set contains an id, or `None` if no set can hold it.
    pub fn contains(&self, id: u32) -> Option<bool> {
        let (word, bit) = Self::place(id)?;
        Some(self.words().get(word)? >> bit & 1 == 1)
    }

    /// Returns the union: all ids that at least one of the two sets contains.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.with(other, |own, others| own | others)
    }

    /// Returns the difference: all ids of this set that the other set does not contain.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.with(other, |own, others| own & !others)
    }

    fn with(&self, other: &Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        let (own, others) = (self.words(), other.words());
        Self::of_words(core::array::from_fn(|index| combine(own[index], others[index])))
    }

    /// Returns the bits. Word `n / 64` holds the bit of id `n`.
    pub fn words(&self) -> [u64; Self::WORDS] {
        core::array::from_fn(|index| match index {
            // All system ids are below 64.
            0 => self.system,
            index => self.user[index - 1],
        })
    }

    /// Creates a set from its bits.
    pub fn of_words(words: [u64; Self::WORDS]) -> Self {
        Self { mark: MARK, system: words[0], user: core::array::from_fn(|at| words[1 + at]) }
    }

    /// Encodes the set as data of an event: the magic word, then the bits.
    pub fn bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let words = core::iter::once(MARK).chain(self.words());
        for (to, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *to = word.to_le_bytes();
        }
        bytes
    }

    fn word_mut(&mut self, word: usize) -> Option<&mut u64> {
        match word.checked_sub(1) {
            None => Some(&mut self.system),
            Some(word) => self.user.get_mut(word),
        }
    }
}

const _: () = assert!(EventSet::BYTES == 152 && FIRST_USER == UNNAMED + 1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_added_and_nothing_else() {
        for id in [1, 8, 63, 64, 65, 127, 128, LAST_USER] {
            let mut set = EventSet::EMPTY;
            assert_eq!(set.add(id), Some(()));
            let held = (1..=LAST_USER).filter(|id| set.contains(*id) == Some(true));
            assert!(held.eq([id]), "{id}");
            assert_eq!(EventSet::of_words(set.words()), set);
            assert_eq!(set.remove(id), Some(()));
            assert_eq!(set, EventSet::EMPTY);
        }
        let mut set = EventSet::EMPTY;
        assert_eq!([0, LAST_USER + 1, u32::MAX].map(|id| set.add(id)), [None; 3]);
    }

    #[test]
    fn fills_are_what_they_say() {
        assert_eq!(EventSet::filled(Fill::WithoutProcess), EventSet::EMPTY);
        let (system, all) = (EventSet::filled(Fill::System), EventSet::filled(Fill::All));
        for id in 1..=LAST_USER {
            assert_eq!(system.contains(id), Some(id <= 8), "{id}");
            assert_eq!(all.contains(id), Some(id <= 8 || id >= 64), "{id}");
        }
        assert_eq!(all.difference(&system).union(&system), all);
    }
}
