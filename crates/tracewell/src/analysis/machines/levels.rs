//! Determines the fill levels of queues and pools over time.
//!
//! The events of some systems contain the level before a call, and do not show whether the call
//! succeeded. If an event contains the number of free items and the capacity is known, the level is
//! their difference.
//!
//! A receive that finds its queue empty takes no message at that time. It waits for one, or fails.
//! If a message is sent and the level stays the same, the waiting receive took it.

use std::collections::HashSet;

use super::moments::MachineMoments;
use super::named_rows::NamedRows;
use super::sight::{Named, Role, Sight};
use crate::analysis::scheduling::Position;
use crate::model::schema::{ArgumentKind, EventType, Means, Schema};
use crate::model::{Arguments, Meaning, Trace};

/// A queue or a pool.
#[derive(Clone, Debug)]
pub struct Level {
    /// The queue or pool that the figures describe.
    pub object: Named,
    /// The machine or thread to which it belongs.
    pub owner: Option<Named>,
    /// Maximum number of items.
    pub capacity: Option<u64>,
    /// Number of items added: messages sent, blocks released.
    pub put: u64,
    /// Number of items removed: messages received, blocks allocated. Receives that are still
    /// waiting do not count.
    pub taken: u64,
    /// Number of messages that were refused.
    pub refused: u64,
    /// True if `samples` are numbers of free items, because the capacity is unknown.
    pub counts_free: bool,
    /// The last known level.
    pub last: Option<u64>,
    /// The highest known level; `None` if no event shows the level.
    pub most: Option<u64>,
    /// The lowest known level; `None` if no event shows the level.
    pub least: Option<u64>,
    /// The first event that shows the highest level. In a range of the trace, `None` if the range
    /// began with this level.
    pub most_at: Option<Position>,
    /// The first event that shows the lowest level. In a range of the trace, `None` if the range
    /// began with this level.
    pub least_at: Option<Position>,
    /// The low-water mark: the minimum number of free items as counted by the system itself.
    pub least_free: Option<u64>,
    /// Ticks and level of each change. If there are too many changes, each pair of adjacent samples
    /// is reduced to the sample with the higher fill level.
    pub samples: Vec<(u64, u64)>,
    /// Number of receives that found the queue empty and have not got a message.
    unserved: u64,
    /// The level before the latest send, if a receive was waiting for a message at that time. The
    /// next level shows whether the message went to this receive or into the queue.
    sent_at: Option<u64>,
}

/// Maximum number of samples per object. The limit is lower if there are many objects.
const MAX_PER_OBJECT: usize = 1024;

/// Maximum number of samples of all objects together.
const MAX_SAMPLES: usize = 1 << 20;

/// The effect of an event id on the level of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effect {
    object: Role,
    change: Change,
    /// True if the event adds an item (`puts`), removes an item (`takes`), or reports that an item
    /// was refused (`refuses`). If the event of a receive contains the level before the call,
    /// `takes` is false, and [`Level::serve`] counts the receive.
    puts: bool,
    takes: bool,
    refuses: bool,
    /// The arguments that contain the level, the number of free items, and the lowest number of
    /// free items so far.
    used: Option<usize>,
    free: Option<usize>,
    least_free: Option<usize>,
    /// True if `used` is the level before the event.
    shows_before: bool,
    /// True if the object is empty after the event.
    empties: bool,
    /// True if the event can create the object. Only [`Levels::take_sight`] handles such events.
    pub(super) creates: bool,
}

/// The numbers that an event contains: the level, the number of free items, and the lowest number
/// of free items so far.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    used: Option<u64>,
    free: Option<u64>,
    least_free: Option<u64>,
}

/// The change that an event makes to an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change {
    Put,
    /// A message is put into a queue.
    Sent,
    Taken,
    /// A message is taken from a queue.
    Received,
    Refused,
    None,
}

impl Effect {
    /// Returns the effect of an event type, or `None` if such events do not affect any object's
    /// [`Level`].
    pub(super) fn of(schema: &Schema, event: &EventType, means: &Means) -> Option<Self> {
        let object = means.object.and_then(|role| event.args.get(role))?;
        let acts_on_object = matches!(object.kind, ArgumentKind::Object(_));
        let details = &event.details;
        let has_levels =
            details.used.or(details.free).or(details.capacity).is_some() || details.empties;
        let change = match means.meaning {
            Meaning::Send | Meaning::SendFirst => Change::Sent,
            Meaning::Free => Change::Put,
            Meaning::Receive => Change::Received,
            Meaning::Allocate => Change::Taken,
            Meaning::Refuse => Change::Refused,
            _ => Change::None,
        };
        // A flush has no number, but it sets the level to 0.
        let flushes = means.meaning == Meaning::Flush;
        if !acts_on_object || !(has_levels || change != Change::None || flushes) {
            return None;
        }
        let shows_before = details.before && details.used.is_some();
        Some(Self {
            object: Role::of(schema, event, means.object)?,
            change,
            puts: matches!(change, Change::Put | Change::Sent),
            takes: change == Change::Taken || (change == Change::Received && !shows_before),
            refuses: change == Change::Refused,
            used: details.used,
            free: details.free,
            least_free: details.least_free,
            shows_before,
            empties: details.empties || flushes,
            // A creation contains the capacity and the owner.
            creates: means.meaning == Meaning::Create,
        })
    }
}

/// The fill levels of all objects, in the order of their first mention.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    rows: NamedRows<Level>,
    /// Number of objects among which [`MAX_SAMPLES`] was divided to compute `samples`.
    shared_by: usize,
    /// Maximum number of samples per object.
    samples: usize,
}

impl Levels {
    /// Handles an event that creates no object.
    #[inline]
    pub(super) fn take(
        &mut self,
        trace: &Trace,
        arguments: &Arguments<'_>,
        row: usize,
        at: Position,
        effect: &Effect,
        moments: &mut impl MachineMoments,
    ) {
        let Some(argument) = arguments.get(row, effect.object.argument) else { return };
        let numbers = Numbers {
            used: effect.used.and_then(|role| arguments.get(row, role)),
            free: effect.free.and_then(|role| arguments.get(row, role)),
            least_free: effect.least_free.and_then(|role| arguments.get(row, role)),
        };
        let samples = self.share_samples();
        let (key, kind, objects) =
            (effect.object.key(argument), effect.object.kind, &trace.objects);
        // Most events refer to an object that has a row. Only a new row needs the object's name.
        let known = self.rows.known(key, kind, at.ticks, objects, |level| &mut level.object);
        let level = match known {
            Some(level) => level,
            None => match self.new_row(trace, effect, argument, at.ticks) {
                Some(level) => level,
                None => return,
            },
        };
        if let Some(now) = level.take(at, effect, &numbers, samples) {
            moments.level(effect.object.named(trace, argument, at.ticks), now, at);
        }
    }

    /// Returns the row of an event's object. Called only if the row is new or the object's name has
    /// to be looked up.
    #[inline(never)]
    fn new_row(
        &mut self,
        trace: &Trace,
        effect: &Effect,
        argument: u64,
        ticks: u64,
    ) -> Option<&mut Level> {
        self.row(trace, effect.object.named(trace, argument, ticks))
    }

    /// Handles any event, including one that can create its object.
    pub(super) fn take_sight(
        &mut self,
        sight: &Sight<'_>,
        effect: &Effect,
        moments: &mut impl MachineMoments,
    ) {
        let Some(object) = sight.object() else { return };
        // Compute the limit first, because it depends on the number of rows before this event.
        let samples = self.share_samples();
        let Some(row) = self.row(sight.event.trace, object) else { return };
        if sight.meaning == Meaning::Create {
            row.capacity = sight.number(sight.details().capacity).or(row.capacity);
            // Kernels record 0 for an object without an owner.
            row.owner = sight.owner().filter(|owner| owner.argument != 0);
        }
        let numbers = Numbers {
            used: sight.number(effect.used),
            free: sight.number(effect.free),
            least_free: sight.number(effect.least_free),
        };
        if let Some(now) = row.take(sight.position(), effect, &numbers, samples) {
            moments.level(object, now, sight.position());
        }
    }

    /// Returns the maximum number of samples per object. All objects share one budget, so a trace
    /// with many objects does not need more memory.
    #[inline]
    fn share_samples(&mut self) -> usize {
        let sharing = self.rows.len() + 1;
        if self.shared_by != sharing {
            (self.shared_by, self.samples) = (sharing, (MAX_SAMPLES / sharing).min(MAX_PER_OBJECT));
        }
        self.samples
    }

    fn row(&mut self, trace: &Trace, object: Named) -> Option<&mut Level> {
        let new = || Level { capacity: registered(trace, object), ..Level::new(object) };
        self.rows.get(object, &trace.objects, new, |level| &mut level.object)
    }

    /// Begins a range at `from`: forgets the figures and keeps the levels.
    pub(super) fn restart(&mut self, from: u64) {
        for level in self.rows.list_mut() {
            // Count the message that a waiting receive may have taken before the range.
            level.end();
            (level.put, level.taken, level.refused) = (0, 0, 0);
            (level.most, level.least, level.least_free) = (level.last, level.last, None);
            (level.most_at, level.least_at) = (None, None);
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
        // If the queue has its own row, each message was counted twice, so omit the machine.
        let owners: HashSet<_> = levels.iter().filter_map(|level| level.owner).collect();
        levels.retain(|level| {
            !owners.contains(&level.object) && level.put + level.taken + level.refused > 0
        });
        levels
    }
}

/// Returns the capacity of an object according to its registered parameters.
fn registered(trace: &Trace, object: Named) -> Option<u64> {
    let (_, known) = trace.objects.at(object.key, object.ticks, object.kind)?;
    // Registered sizes are in words. Two hexadecimal digits of a word are one byte.
    let word = trace.payload.digits() as u64 / 2;
    trace.schema.object_kind(known.kind)?.capacity(&known.parameters, word)
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
            most_at: None,
            least_at: None,
            least_free: None,
            samples: Vec::new(),
            unserved: 0,
            sent_at: None,
        }
    }

    /// Handles an event with this effect. Returns the level if the event contains it. Stores at
    /// most `samples` samples.
    #[inline(always)]
    fn take(
        &mut self,
        at: Position,
        effect: &Effect,
        numbers: &Numbers,
        samples: usize,
    ) -> Option<u64> {
        self.put += u64::from(effect.puts);
        self.taken += u64::from(effect.takes);
        self.refused += u64::from(effect.refuses);
        let Numbers { used, free, least_free } = *numbers;
        if let Some(least_free) = least_free {
            self.least_free =
                Some(self.least_free.map_or(least_free, |known| known.min(least_free)));
        }
        let level = if effect.empties { 0 } else { self.level(used, free)? };
        self.serve(effect, level);
        self.note(at, level, samples);
        Some(level)
    }

    /// Counts the message that a receive call took. `level` is the level of the event.
    #[inline(always)]
    fn serve(&mut self, effect: &Effect, level: u64) {
        if !effect.shows_before {
            return;
        }
        // The level did not increase after the last send, so a waiting receive took the message.
        if self.sent_at.take() == Some(level) && self.unserved > 0 {
            (self.taken, self.unserved) = (self.taken + 1, self.unserved - 1);
        }
        match effect.change {
            // The receive found the queue empty, so it waits or fails.
            Change::Received if level == 0 => self.unserved += 1,
            Change::Received => self.taken += 1,
            Change::Sent if self.unserved > 0 => self.sent_at = Some(level),
            _ => {}
        }
    }

    /// Counts the last sent message if a receive waited for it.
    fn end(&mut self) {
        if self.sent_at.take().is_some() {
            (self.taken, self.unserved) = (self.taken + 1, self.unserved.saturating_sub(1));
        }
    }

    /// Handles missing events. The waiting receives may have got their messages in the meantime.
    fn cut(&mut self) {
        (self.unserved, self.sent_at) = (0, None);
    }

    #[inline(always)]
    fn level(&mut self, used: Option<u64>, free: Option<u64>) -> Option<u64> {
        if used.is_some() {
            return used;
        }
        let free = free?;
        // If an event contains only the number of free items, and the capacity is unknown, this
        // sample and all later samples count free items. A curve that mixes used and free items
        // would be wrong.
        self.counts_free |= self.capacity.is_none();
        Some(if self.counts_free { free } else { self.capacity?.saturating_sub(free) })
    }

    #[inline]
    fn note(&mut self, at: Position, level: u64, samples: usize) {
        if self.most.is_none_or(|most| level > most) {
            (self.most, self.most_at) = (Some(level), Some(at));
        }
        if self.least.is_none_or(|least| level < least) {
            (self.least, self.least_at) = (Some(level), Some(at));
        }
        if self.last.replace(level) == Some(level) {
            return;
        }
        if self.samples.len() >= samples {
            self.thin_out();
        }
        self.samples.push((at.ticks, level));
    }

    /// From each pair of adjacent samples, keeps the one with the higher fill level.
    fn thin_out(&mut self) {
        let (pairs, rest) = self.samples.as_chunks::<2>();
        let fuller = |[a, b]: &[(u64, u64); 2]| if b.1 > a.1 { *b } else { *a };
        self.samples = pairs.iter().map(fuller).chain(rest.iter().copied()).collect();
    }
}

#[cfg(test)]
mod tests {
    use tracewell_wire::rkh::Dialect;

    use super::*;
    use crate::format::{rkh, threadx};

    /// If a send does not change the level, a receive call that was waiting has taken the message.
    #[test]
    fn a_message_is_taken_only_if_a_receive_is_there() {
        let schema = threadx::schema();
        let effect = |name: &str| {
            let event = schema.events().find(|event| event.label == name).unwrap();
            Effect::of(&schema, event, &event.means.unwrap()).unwrap()
        };
        let [send, receive] = ["tx_queue_send", "tx_queue_receive"].map(effect);
        for (events, put, taken) in [
            (&[(&send, 0)][..], 1, 0),
            (&[(&send, 0), (&receive, 1)], 1, 1),
            (&[(&receive, 0)], 0, 0),
            (&[(&receive, 0), (&send, 0)], 1, 1),
            (&[(&receive, 0), (&send, 0), (&send, 0)], 2, 1),
        ] {
            let mut level =
                Level::new(Named { argument: 1, key: 1, kind: None, ticks: 0, renamed: 0 });
            for (ticks, (effect, used)) in (0..).zip(events) {
                let numbers = Numbers { used: Some(*used), free: None, least_free: None };
                let at = Position { ticks, seq: ticks };
                assert_eq!(level.take(at, effect, &numbers, 8), Some(*used));
            }
            level.end();
            assert_eq!((level.put, level.taken), (put, taken));
        }
    }
    #[test]
    fn the_creation_of_an_object_is_handled_with_its_capacity_and_owner() {
        for schema in [threadx::schema(), rkh::schema(Dialect::V3_4)] {
            let creations = schema.events().filter_map(|event| {
                let means = event.means.filter(|means| means.meaning == Meaning::Create)?;
                Effect::of(&schema, event, &means)
            });
            let creates: Vec<_> = creations.map(|effect| effect.creates).collect();
            assert!(!creates.is_empty() && creates.iter().all(|creates| *creates), "{creates:?}");
        }
    }
}
