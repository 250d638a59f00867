//! Divides a trace into slices of equal duration, and adds up amounts per slice. So a figure with
//! one value per trace also has a distribution, which shows how much it varies within a run.
//!
//! The duration of a slice is a power of two in ticks. It doubles when the trace becomes longer
//! than [`MAX_SLICES`] slices. So two traces can be divided into slices of the same duration.

use std::collections::BTreeMap;

use crate::analysis::scheduling::{Moments, Position};
use crate::analysis::total::{Total, total};
use crate::model::schema::Schema;
use crate::model::{ContextId, Loss, OnBehalf, Running};

/// Maximum number of slices. A trace of at least `MAX_SLICES` ticks has more than `MAX_SLICES / 2`
/// slices.
pub(super) const MAX_SLICES: usize = 128;

/// Maximum number of keys. A trace of a real system has fewer event types and contexts.
const MAX_KEYS: usize = 1 << 12;

/// Amounts per key and slice.
#[derive(Clone, Debug)]
pub(super) struct Slices<K> {
    /// Duration of a slice in ticks.
    pub(super) width: u64,
    amounts: BTreeMap<K, Vec<u64>>,
    /// Number of amounts that were not stored, because there are too many keys.
    pub(super) more: u64,
}

impl<K> Default for Slices<K> {
    fn default() -> Self {
        Self { width: 1, amounts: BTreeMap::new(), more: 0 }
    }
}

impl<K: Ord> Slices<K> {
    /// Adds an amount at a tick.
    pub(super) fn add(&mut self, key: K, tick: u64, amount: u64) {
        while tick / self.width >= MAX_SLICES as u64 {
            self.double();
        }
        if self.amounts.len() >= MAX_KEYS && !self.amounts.contains_key(&key) {
            self.more += 1;
            return;
        }
        let index = (tick / self.width) as usize;
        let slices = self.amounts.entry(key).or_default();
        if slices.len() <= index {
            slices.resize(index + 1, 0);
        }
        slices[index].charge(amount);
    }

    /// Adds the ticks of an interval to the slices that it overlaps.
    pub(super) fn add_interval(&mut self, key: K, from: u64, until: u64)
    where
        K: Copy,
    {
        // Determine the final width first. Otherwise, the loop below would divide a long interval
        // into many parts of the old width.
        while until / self.width >= MAX_SLICES as u64 {
            self.double();
        }
        let mut at = from;
        while at < until {
            let end = (at / self.width + 1).saturating_mul(self.width).min(until);
            self.add(key, at, end - at);
            at = end;
        }
    }

    /// Doubles the duration of a slice.
    pub(super) fn double(&mut self) {
        self.width *= 2;
        for slices in self.amounts.values_mut() {
            *slices = slices.chunks(2).map(|pair| total(pair.iter().copied())).collect();
        }
    }

    /// Renames the keys. If several keys get the same name, adds their amounts.
    pub(super) fn renamed<N: Ord>(self, name: impl Fn(&K) -> N) -> Slices<N> {
        let mut amounts: BTreeMap<N, Vec<u64>> = BTreeMap::new();
        for (key, slices) in self.amounts {
            let sums = amounts.entry(name(&key)).or_default();
            sums.resize(sums.len().max(slices.len()), 0);
            sums.iter_mut().zip(slices).for_each(|(sum, amount)| sum.charge(amount));
        }
        Slices { width: self.width, amounts, more: self.more }
    }

    /// Returns the keys in ascending order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &K> {
        self.amounts.keys()
    }

    /// Returns the amounts in each slice that is completely within a range of ticks.
    pub(super) fn within(&self, from: u64, until: u64) -> BTreeMap<&K, Vec<u64>> {
        let (first, end) = (from.div_ceil(self.width) as usize, (until / self.width) as usize);
        let of_key = |slices: &Vec<u64>| {
            (first..end).map(|index| slices.get(index).copied().unwrap_or(0)).collect()
        };
        self.amounts.iter().map(|(key, slices)| (key, of_key(slices))).collect()
    }
}

/// The execution of contexts per slice.
#[derive(Clone, Debug, Default)]
pub(super) struct Executed {
    pub(super) slices: Slices<ContextId>,
    /// The context that each core runs outside of interrupts, and the tick at which this context
    /// began to run.
    cores: Vec<Option<(ContextId, u64)>>,
}

impl Executed {
    /// Ends all intervals. `until` is the end of the trace in ticks.
    pub(super) fn finish(&mut self, until: u64) {
        for (context, since) in std::mem::take(&mut self.cores).into_iter().flatten() {
            self.slices.add_interval(context, since, until);
        }
    }
}

impl Moments for Executed {
    type Facts = ();

    fn facts(_: &Schema, _: u32) {}

    fn runs(
        &mut self,
        cpu: u16,
        _: &Running<OnBehalf>,
        now: &Running<OnBehalf>,
        _: bool,
        at: Position,
    ) {
        let cpu = usize::from(cpu);
        if cpu >= self.cores.len() {
            self.cores.resize(cpu + 1, None);
        }
        // An interrupt does not count as execution of the task that it interrupts.
        let context = now.task().filter(|_| !now.in_interrupt());
        let next = context.map(|context| (context, at.ticks));
        if let Some((context, since)) = std::mem::replace(&mut self.cores[cpu], next) {
            self.slices.add_interval(context, since, at.ticks);
        }
    }

    fn gap(&mut self, from: Position, _: Option<&Loss>) {
        self.finish(from.ticks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_double_and_keep_their_sums() {
        let mut slices = Slices::default();
        slices.add_interval('a', 3, 100);
        slices.add('b', 127, 1);
        assert_eq!(slices.width, 1);
        slices.add_interval('a', 100, 1001);
        assert_eq!(slices.width, 8);
        let within = slices.within(0, 1001);
        assert_eq!((within[&'a'].len(), within[&'a'][0], within[&'a'][1]), (125, 5, 8));
        assert_eq!(within[&'a'].iter().sum::<u64>(), 997);
        assert_eq!(within[&'b'][15], 1);
        assert_eq!(slices.within(9, 31)[&'a'], [8]);
    }
}
