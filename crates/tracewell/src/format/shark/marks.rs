//! What stands out in a group of records: for each kind a set, one bit a record.
//!
//! Most records change nothing about who runs, and which ones do cannot be foreseen. So the hot loop
//! asks no record what it is: it collects sets for a group, and asks those. A word of [`KINDS`] has a
//! byte for each kind; shifting words over one another collects eight records in the eight bits of
//! every byte. What is fine is marked rather than what is not: one operation less for each record.

use super::effects::{EFFECTS, Effect};

/// Records of a group: one for each bit of a set.
pub(super) const GROUP: usize = 64;

/// Records that are collected in a word.
pub(super) const WORD: usize = 8;

/// Kinds of records: which byte of a word is theirs.
const ENTERS: u32 = 0;
const EXITS: u32 = 1;
const CONTINUES: u32 = 2;
const CHOOSES: u32 = 3;
const LOADS: u32 = 4;
const CLOSELY: u32 = 5;
/// The first parameter names no task, or one that was met before.
const FIRST_FINE: u32 = 6;
/// The same for the second one, which is fine where it names the same task.
const SECOND_FINE: u32 = 7;

/// The kinds of a code.
pub(super) const KINDS: [u64; 256] = {
    let mut kinds = [0; 256];
    let mut code = 0;
    while code < 256 {
        let fine = of(FIRST_FINE) | of(SECOND_FINE);
        kinds[code] = match EFFECTS[code] {
            Effect::None => fine,
            Effect::Mention => of(SECOND_FINE),
            Effect::Load => of(LOADS) | of(SECOND_FINE),
            Effect::Schedule => of(CHOOSES),
            Effect::Inherit => 0,
            Effect::Enter => of(ENTERS) | fine,
            Effect::Exit => of(EXITS) | fine,
            Effect::ExitTo => of(EXITS) | of(CONTINUES) | of(SECOND_FINE),
            Effect::Named | Effect::Ended | Effect::Start | Effect::Manual => of(CLOSELY) | fine,
        };
        code += 1;
    }
    kinds
};

/// The word of a kind.
const fn of(kind: u32) -> u64 {
    0x80 << (8 * kind)
}

/// What a record's first parameter is where it names a task that was met before.
pub(super) const MET: u64 = of(FIRST_FINE);

/// What a record's second parameter is where it names the same task as the first.
pub(super) const ALIKE: u64 = of(SECOND_FINE);

/// Sets of a group's records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// An interrupt begins.
    pub(super) enters: u64,
    /// An interrupt ends.
    pub(super) exits: u64,
    /// Of these: it names who continues.
    pub(super) continues: u64,
    /// The scheduler chose.
    pub(super) chooses: u64,
    /// A context was loaded.
    pub(super) loads: u64,
    /// The record brings something new, so that it has to be looked at.
    pub(super) closely: u64,
}

impl Marks {
    /// Those of as many records collected in words.
    #[inline(always)]
    pub(super) fn of(words: [u64; GROUP / WORD], records: usize) -> Self {
        let [enters, exits, continues, chooses, loads, closely, first, second] = transposed(words);
        let closely = closely | (!(first & second) & below(records));
        Self { enters, exits, continues, chooses, loads, closely }
    }
}

/// Bytes as a square, rows and columns exchanged: of ever smaller squares in it, those beside the
/// diagonal change places.
#[inline(always)]
fn transposed(mut rows: [u64; 8]) -> [u64; 8] {
    let squares =
        [(4, 0x0000_0000_FFFF_FFFF), (2, 0x0000_FFFF_0000_FFFF), (1, 0x00FF_00FF_00FF_00FF)];
    for (side, columns) in squares {
        for upper in (0..8).filter(|row| row & side == 0) {
            let lower = upper + side;
            let differ = ((rows[upper] >> (8 * side)) ^ rows[lower]) & columns;
            rows[upper] ^= differ << (8 * side);
            rows[lower] ^= differ;
        }
    }
    rows
}

/// The set of the records `from..to`.
#[inline(always)]
pub(super) fn range(from: usize, to: usize) -> u64 {
    below(to) & !below(from)
}

/// The set of the records before one.
#[inline(always)]
pub(super) fn below(record: usize) -> u64 {
    1_u64.unbounded_shl(record as u32).wrapping_sub(1)
}

/// For each record whether the number of members up to it, itself included, is odd.
#[inline(always)]
pub(super) fn parity(mut set: u64) -> u64 {
    for distance in [1, 2, 4, 8, 16, 32] {
        set ^= set << distance;
    }
    set
}

/// The last member of a set.
#[inline(always)]
pub(super) fn last(set: u64) -> Option<usize> {
    set.checked_ilog2().map(|last| last as usize)
}

/// The members of a set, in order.
#[inline(always)]
pub(super) fn members(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_counted_and_cut() {
        assert_eq!((range(0, 64), range(3, 5), range(7, 7)), (u64::MAX, 0b11000, 0));
        assert_eq!(parity(0b1001_0100), !0b0111 << 4 | 0b1100);
        assert_eq!(members(0b1001_0100).collect::<Vec<_>>(), [2, 4, 7]);
        assert_eq!((last(0b1001_0100), last(0)), (Some(7), None));
    }

    #[test]
    fn bytes_change_rows_for_columns() {
        let row = |row: u64| {
            u64::from_le_bytes(std::array::from_fn(|column| 10 * row as u8 + column as u8))
        };
        let column =
            |column| u64::from_le_bytes(std::array::from_fn(|row| 10 * row as u8 + column));
        assert_eq!(
            transposed(std::array::from_fn(|index| row(index as u64))),
            std::array::from_fn(|index| column(index as u8))
        );
    }

    #[test]
    fn words_become_sets() {
        let mut words = [0; GROUP / WORD];
        let kinds = [
            (0, of(ENTERS) | of(FIRST_FINE) | of(SECOND_FINE)),
            (9, of(CHOOSES) | of(SECOND_FINE)),
            (63, of(EXITS)),
        ];
        for (index, kinds) in kinds {
            words[index / WORD] |= kinds >> (WORD - 1 - index % WORD);
        }
        let marks = Marks::of(words, 10);
        assert_eq!((marks.enters, marks.exits), (1, 1 << 63));
        assert_eq!((marks.chooses, marks.closely, marks.loads), (1 << 9, 0x3FE, 0));
    }
}
