//! How full queues and pools were.
//!
//! What is counted before a call is what the object held then; whether the call then succeeded is not
//! told. What is counted free is taken from the capacity, where that is known.

use std::collections::HashSet;

use super::Rows;
use super::sight::{Named, Sight};
use crate::model::Meaning;

/// A queue or a pool.
#[derive(Clone, Debug)]
pub struct Level {
    /// Which one.
    pub object: Named,
    /// Whom it belongs to.
    pub owner: Option<Named>,
    /// How much it can hold.
    pub capacity: Option<u64>,
    /// What went in: messages sent, blocks given back.
    pub put: u64,
    /// What came out: messages received, blocks taken.
    pub taken: u64,
    /// Messages that it refused.
    pub refused: u64,
    /// Whether `samples` count what is free in it, because its capacity is not known.
    pub counts_free: bool,
    /// How much it held when it was last told.
    pub last: Option<u64>,
    /// The most that it held.
    pub most: Option<u64>,
    /// The least.
    pub least: Option<u64>,
    /// The least that was ever free in it, as the system itself kept count of it: the low-water mark.
    pub least_free: Option<u64>,
    /// How much it held, and when that changed, in ticks. Of neighbours that are too many the fuller
    /// moment is kept.
    pub samples: Vec<(u64, u64)>,
    is_owner: bool,
}

/// Samples that are kept of an object; fewer where there are many objects.
const MOST_SAMPLES: usize = 1024;

/// Samples of all objects together.
const MAX_SAMPLES: usize = 1 << 20;

/// Follows all objects.
#[derive(Debug, Default)]
pub(super) struct Levels(Rows<Named, Level>);

impl Levels {
    pub(super) fn take(&mut self, sight: &Sight<'_>) {
        let Some(object) = sight.object().filter(|_| sight.acts_on_object()) else { return };
        let details = sight.details();
        let tells = details.used.or(details.free).or(details.capacity).is_some() || details.empties;
        let changes = matches!(
            sight.meaning,
            Meaning::Send
                | Meaning::SendFirst
                | Meaning::Receive
                | Meaning::Allocate
                | Meaning::Free
                | Meaning::Refuse
                | Meaning::Flush
        );
        if !(tells || changes) {
            return;
        }
        let samples = (MAX_SAMPLES / (self.0.list.len() + 1)).min(MOST_SAMPLES);
        let new = || Level { capacity: registered(sight, object), ..Level::new(object) };
        if let Some(level) = self.0.get(object, new) {
            level.object.again(object, sight.trace);
            level.is_owner |= is_owner(sight, object);
            level.take(sight, samples);
        }
    }

    /// The objects. A message to somebody goes into his queue; where the queue itself tells of it, he does
    /// not count as another one.
    pub(super) fn finish(self) -> Vec<Level> {
        let mut levels = self.0.list;
        let owners: HashSet<_> = levels.iter().filter_map(|level| level.owner).collect();
        levels.retain(|level| {
            let told_twice = level.is_owner && owners.contains(&level.object);
            !told_twice && level.put + level.taken + level.refused > 0
        });
        levels
    }
}

/// Returns the capacity of an object by its registered parameters.
fn registered(sight: &Sight<'_>, object: Named) -> Option<u64> {
    let (_, known) = sight.trace.objects.at(object.key, object.ticks, object.kind)?;
    let word = sight.trace.payload.digits() as u64 / 2;
    sight.trace.schema.object_kind(known.kind)?.capacity(&known.parameters, word)
}

/// Whether the object of an event has a queue rather than is one: messages name it as their receiver.
fn is_owner(sight: &Sight<'_>, object: Named) -> bool {
    let message = matches!(sight.meaning, Meaning::Send | Meaning::SendFirst | Meaning::Receive);
    (message && sight.value().is_some()) || sight.subject() == Some(object)
}

impl Level {
    const fn new(object: Named) -> Self {
        Self {
            object,
            owner: None,
            capacity: None,
            put: 0,
            taken: 0,
            refused: 0,
            counts_free: false,
            last: None,
            most: None,
            least: None,
            least_free: None,
            samples: Vec::new(),
            is_owner: false,
        }
    }

    /// Takes an event; so many samples may be kept.
    fn take(&mut self, sight: &Sight<'_>, samples: usize) {
        let details = sight.details();
        match sight.meaning {
            Meaning::Create => {
                self.capacity = sight.number(details.capacity).or(self.capacity);
                self.owner = sight.named(details.owner).filter(|owner| owner.argument != 0);
            }
            Meaning::Send | Meaning::SendFirst | Meaning::Free => self.put += 1,
            Meaning::Receive | Meaning::Allocate => self.taken += 1,
            Meaning::Refuse => self.refused += 1,
            _ => {}
        }
        if let Some(least_free) = sight.number(details.least_free) {
            self.least_free =
                Some(self.least_free.map_or(least_free, |known| known.min(least_free)));
        }
        if let Some(level) = self.level(sight) {
            self.note(sight.ticks(), level, samples);
        }
    }

    fn level(&mut self, sight: &Sight<'_>) -> Option<u64> {
        let details = sight.details();
        if details.empties || sight.meaning == Meaning::Flush {
            return Some(0);
        }
        if let Some(used) = sight.number(details.used) {
            return Some(used);
        }
        let free = sight.number(details.free)?;
        self.counts_free |= self.capacity.is_none();
        Some(if self.counts_free { free } else { self.capacity?.saturating_sub(free) })
    }

    fn note(&mut self, ticks: u64, level: u64, samples: usize) {
        self.most = Some(self.most.map_or(level, |most| most.max(level)));
        self.least = Some(self.least.map_or(level, |least| least.min(level)));
        if self.last.replace(level) == Some(level) {
            return;
        }
        if self.samples.len() >= samples {
            self.thin_out();
        }
        self.samples.push((ticks, level));
    }

    /// Keeps of each two neighbours the one with more in it.
    fn thin_out(&mut self) {
        let (pairs, rest) = self.samples.as_chunks::<2>();
        let fuller = |[a, b]: &[(u64, u64); 2]| if b.1 > a.1 { *b } else { *a };
        self.samples = pairs.iter().map(fuller).chain(rest.iter().copied()).collect();
    }
}
