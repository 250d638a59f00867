//! Totals of ticks and of nanoseconds. One interval always fits into 64 bits. The sum of intervals
//! of several cores can exceed 64 bits, and so can the sum of intervals between timestamps that go
//! back.

/// A total that stays at `u64::MAX` once it has reached this value. [`super::range`] contains
/// totals that do not need this limit.
pub(crate) trait Total {
    /// Adds an amount.
    fn charge(&mut self, amount: u64);
}

impl Total for u64 {
    #[inline]
    fn charge(&mut self, amount: u64) {
        *self = self.saturating_add(amount);
    }
}

/// Returns the sum of all amounts, or `u64::MAX` if the sum is larger.
pub(crate) fn total(amounts: impl IntoIterator<Item = u64>) -> u64 {
    amounts.into_iter().fold(0, u64::saturating_add)
}
