//! A set of event types (`trace_event_set_t`): a mark, 64 bits of system types, then those of users.

use super::{FIRST_USER, LAST_USER, SYSTEM_NAMES, UNNAMED};

/// What an initialised set begins with.
const MARK: u64 = u64::from_le_bytes(*b"TWPXset1");

/// Words of the user types: one bit for the unnamed one, one for each named one.
const USER_WORDS: usize = (LAST_USER - UNNAMED) as usize / 64 + 1;

/// A set of event types. As a filter it says what is *not* recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct EventSet {
    mark: u64,
    system: u64,
    user: [u64; USER_WORDS],
}

/// What a set is filled with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fill {
    /// System types of this implementation that belong to no process. There are none.
    WithoutProcess,
    /// All system types.
    System,
    /// All types, those that were not defined yet included.
    All,
}

impl EventSet {
    /// Words of a set without its mark: what a filter in shared memory has.
    pub const WORDS: usize = 1 + USER_WORDS;
    /// Bytes of a set as data of an event.
    pub const BYTES: usize = size_of::<Self>();

    /// The empty set.
    pub const EMPTY: Self = Self { mark: MARK, system: 0, user: [0; USER_WORDS] };

    /// A filled set.
    pub fn filled(fill: Fill) -> Self {
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

    /// Whether the set was initialised; memory of C may hold anything.
    pub const fn is_marked(&self) -> bool {
        self.mark == MARK
    }

    /// Whether a set may hold this id.
    pub const fn is_possible(id: u32) -> bool {
        matches!(id, 1..=LAST_USER)
    }

    /// Word (as in [`EventSet::words`]) and bit of an id; `None` where no set may hold it.
    #[inline]
    pub const fn place(id: u32) -> Option<(usize, u32)> {
        if Self::is_possible(id) { Some((id as usize / 64, id % 64)) } else { None }
    }

    /// Adds an id; `None` where no set may hold it.
    pub fn add(&mut self, id: u32) -> Option<()> {
        let (word, bit) = Self::place(id)?;
        *self.word_mut(word)? |= 1 << bit;
        Some(())
    }

    /// Removes an id; `None` where no set may hold it.
    pub fn remove(&mut self, id: u32) -> Option<()> {
        let (word, bit) = Self::place(id)?;
        *self.word_mut(word)? &= !(1 << bit);
        Some(())
    }

    /// Whether it holds an id; `None` where no set may.
    pub fn contains(&self, id: u32) -> Option<bool> {
        let (word, bit) = Self::place(id)?;
        Some(self.words().get(word)? >> bit & 1 == 1)
    }

    /// Both together.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.with(other, |own, others| own | others)
    }

    /// This one without the other's members.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.with(other, |own, others| own & !others)
    }

    fn with(&self, other: &Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        let (own, others) = (self.words(), other.words());
        Self::of_words(core::array::from_fn(|index| combine(own[index], others[index])))
    }

    /// The bits, id `n` in word `n / 64`.
    pub fn words(&self) -> [u64; Self::WORDS] {
        core::array::from_fn(|index| match index {
            0 => self.system,
            index => self.user[index - 1],
        })
    }

    /// From bits.
    pub fn of_words(words: [u64; Self::WORDS]) -> Self {
        Self { mark: MARK, system: words[0], user: core::array::from_fn(|at| words[1 + at]) }
    }

    /// As data of an event: in memory order.
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
