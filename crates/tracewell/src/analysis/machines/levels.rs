//! Determines the fill levels of queues and pools over time.
//!
//! Events contain the level before a call. They do not show whether the call succeeded. If an event
//! contains the number of free items and the capacity is known, the level is their difference.
//!
//! A receive that finds its queue empty takes no message at that time. It waits for one, or fails.
//! If a message is sent and the level stays the same, the waiting receive took it.

use std::collections::HashSet;

use super::moments::MachineMoments;
use super::named_rows::NamedRows;
use super::sight::{Named, Sight};
use crate::model::Meaning;
use crate::model::schema::{ArgumentKind, EventType, Means};

/// A queue or a pool.
#[derive(Clone, Debug)]
pub struct Level {
    /// The queue or pool that the figures describe.
    pub object: Named,
    /// The machine or thread to which it belongs.
    pub owner: Option<Named>,
    /// Maximum number of items.
    pub capacity: Option<u64>,
    /// Items added: messages sent, blocks released.
    pub put: u64,
    /// Items removed: messages received, blocks allocated. Contains no receive that still waits.
    pub taken: u64,
    /// Messages that were refused.
    pub refused: u64,
    /// True if `samples` are numbers of free items, because the capacity is unknown.
    pub counts_free: bool,
    /// The last known level.
    pub last: Option<u64>,
    /// The highest level in an event; `None` if no event shows the level.
    pub most: Option<u64>,
    /// The lowest level in an event; `None` if no event shows the level.
    pub least: Option<u64>,
    /// The low-water mark: the minimum number of free items as counted by the system itself.
    pub least_free: Option<u64>,
    /// Ticks and level of each change. If there are too many changes, each pair of adjacent samples
    /// is reduced to the sample with the higher fill level.
    pub samples: Vec<(u64, u64)>,
    is_owner: bool,
    /// Number of receives that found the queue empty and have not got a message.
    unserved: u64,
    /// The level before the latest send, if a receive was unserved. The next level shows whether
    /// the message went to this receive or into the queue.
    sent_at: Option<u64>,
}

/// Maximum number of samples per object. The limit is lower if there are many objects.
const MAX_PER_OBJECT: usize = 1024;

/// Maximum number of samples of all objects together.
const MAX_SAMPLES: usize = 1 << 20;

/// Returns true if events of this type add or remove items of an object, or contain its level.
pub(super) fn concern(event: &EventType, means: &Means) -> bool {
    let object = means.object.and_then(|role| event.args.get(role));
    let acts_on_object = object.is_some_and(|o| matches!(o.kind, ArgumentKind::Object(_)));
    let details = &event.details;
    let has_levels =
        details.used.or(details.free).or(details.capacity).is_some() || details.empties;
    let changes = matches!(
        means.meaning,
        Meaning::Send
            | Meaning::SendFirst
            | Meaning::Receive
            | Meaning::Allocate
            | Meaning::Free
            | Meaning::Refuse
            | Meaning::Flush
    );
    acts_on_object && (has_levels || changes)
}

/// The fill levels of all objects, in the order of their first mention.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    rows: NamedRows<Level>,
    /// Number of rows for which `samples` was computed.
    shared_by: usize,
    /// Maximum number of samples per object.
    samples: usize,
}

impl Levels {
    /// Handles an event of a type that concerns levels.
    pub(super) fn take(&mut self, sight: &Sight<'_>, moments: &mut impl MachineMoments) {
        let Some(object) = sight.object() else { return };
        // All objects share one budget, so a trace with many objects does not need more memory.
        let sharing = self.rows.len() + 1;
        if self.shared_by != sharing {
            (self.shared_by, self.samples) = (sharing, (MAX_SAMPLES / sharing).min(MAX_PER_OBJECT));
        }
        let new = || Level { capacity: registered(sight, object), ..Level::new(object) };
        let objects = &sight.event.trace.objects;
        if let Some(level) = self.rows.get(object, objects, new, |level| &mut level.object) {
            level.is_owner = level.is_owner || is_owner(sight, object);
            if let Some(now) = level.take(sight, self.samples) {
                moments.level(object, now, sight.position());
            }
        }
    }

    /// Begins a range at `from`: forgets the figures and keeps the levels.
    pub(super) fn restart(&mut self, from: u64) {
        for level in self.rows.list_mut() {
            // A message that a receive took before the range does not belong to the range.
            level.end();
            (level.put, level.taken, level.refused) = (0, 0, 0);
            (level.most, level.least, level.least_free) = (level.last, level.last, None);
            level.samples.clear();
            level.samples.extend(level.last.map(|last| (from, last)));
        }
    }

    /// Handles missing events or a restart.
    pub(super) fn cut(&mut self) {
        self.rows.list_mut().iter_mut().for_each(Level::cut);
    }

    /// Returns the objects. A machine is listed as a queue because messages enter its queue. If
    /// that queue has events of its own, only the queue is listed, not the machine.
    pub(super) fn finish(self) -> Vec<Level> {
        let mut levels = self.rows.finish();
        levels.iter_mut().for_each(Level::end);
        // A message was counted both for the machine and for its queue, so omit the machine.
        let owners: HashSet<_> = levels.iter().filter_map(|level| level.owner).collect();
        levels.retain(|level| {
            let listed_twice = level.is_owner && owners.contains(&level.object);
            !listed_twice && level.put + level.taken + level.refused > 0
        });
        levels
    }
}

/// Returns the capacity of an object according to its registered parameters.
fn registered(sight: &Sight<'_>, object: Named) -> Option<u64> {
    let (_, known) = sight.event.trace.objects.at(object.key, object.ticks, object.kind)?;
    // Registered sizes are in words. A word has half as many bytes as hexadecimal digits.
    let word = sight.event.trace.payload.digits() as u64 / 2;
    sight.event.trace.schema.object_kind(known.kind)?.capacity(&known.parameters, word)
}

/// Returns true if the object of an event is the receiver of messages. Such an object has a queue,
/// but is not a queue itself.
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
            unserved: 0,
            sent_at: None,
        }
    }

    /// Handles an event. Returns the level if the event contains it. Stores at most `samples`
    /// samples.
    fn take(&mut self, sight: &Sight<'_>, samples: usize) -> Option<u64> {
        let details = sight.details();
        match sight.meaning {
            Meaning::Create => {
                self.capacity = sight.number(details.capacity).or(self.capacity);
                // Kernels record 0 for an object without an owner.
                self.owner = sight.owner().filter(|owner| owner.argument != 0);
            }
            Meaning::Send | Meaning::SendFirst | Meaning::Free => self.put += 1,
            Meaning::Receive if details.before && details.used.is_some() => {}
            Meaning::Receive | Meaning::Allocate => self.taken += 1,
            Meaning::Refuse => self.refused += 1,
            _ => {}
        }
        if let Some(least_free) = sight.number(details.least_free) {
            self.least_free =
                Some(self.least_free.map_or(least_free, |known| known.min(least_free)));
        }
        let level = self.level(sight)?;
        self.serve(sight, level);
        self.note(sight.ticks(), level, samples);
        Some(level)
    }

    /// Counts the message that a receive took. `level` is the level of the event.
    fn serve(&mut self, sight: &Sight<'_>, level: u64) {
        let details = sight.details();
        if !details.before || details.used.is_none() {
            return;
        }
        if self.sent_at.take() == Some(level) && self.unserved > 0 {
            (self.taken, self.unserved) = (self.taken + 1, self.unserved - 1);
        }
        match sight.meaning {
            Meaning::Receive if level == 0 => self.unserved += 1,
            Meaning::Receive => self.taken += 1,
            Meaning::Send | Meaning::SendFirst if self.unserved > 0 => self.sent_at = Some(level),
            _ => {}
        }
    }

    /// Counts the last sent message if a receive waited for it.
    fn end(&mut self) {
        if self.sent_at.take().is_some() {
            (self.taken, self.unserved) = (self.taken + 1, self.unserved.saturating_sub(1));
        }
    }

    /// Handles missing events, which may have served the receives.
    fn cut(&mut self) {
        (self.unserved, self.sent_at) = (0, None);
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
        // If the capacity is unknown when an event contains a number of free items, this sample and
        // all later samples are numbers of free items. A curve that mixes used and free items would
        // be wrong.
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

    /// From each pair of adjacent samples, keeps the one with the higher fill level.
    fn thin_out(&mut self) {
        let (pairs, rest) = self.samples.as_chunks::<2>();
        let fuller = |[a, b]: &[(u64, u64); 2]| if b.1 > a.1 { *b } else { *a };
        self.samples = pairs.iter().map(fuller).chain(rest.iter().copied()).collect();
    }
}
