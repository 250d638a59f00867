//! Tracks of a Perfetto trace: their numbers and their descriptors.
//!
//! | number | track |
//! |---|---|
//! | 1 | the process that contains all threads |
//! | 2^32 + context | a context |
//! | 2^33 + event id | the values of an event |
//! | others below 2^32 | groups and their members, in order |

use std::io;

use super::kernel::thread;
use super::packets::Packets;
use super::proto::Message;
use crate::model::{Context, ContextId, ContextKind, Trace};

/// Field of `TracePacket`.
const TRACK: u32 = 60;
const PROCESS_TREE: u32 = 122;

/// Fields of `TrackDescriptor`.
mod field {
    pub(super) const UUID: u32 = 1;
    pub(super) const NAME: u32 = 2;
    pub(super) const PROCESS: u32 = 3;
    pub(super) const THREAD: u32 = 4;
    pub(super) const PARENT: u32 = 5;
    pub(super) const COUNTER: u32 = 8;
    pub(super) const CHILD_ORDER: u32 = 11;
    pub(super) const RANK: u32 = 12;
    pub(super) const DESCRIPTION: u32 = 14;
    pub(super) const MERGING: u32 = 15;
}

/// Children are in the order of their ranks.
const BY_RANK: u64 = 3;
/// Tracks with equal names are not merged.
const SEPARATE: u64 = 2;

/// The only process, and its track.
const PROCESS: u64 = 1;

/// Returns the track of a context.
pub(super) fn of_context(context: ContextId) -> u64 {
    (1 << 32) + u64::from(context.0)
}

/// Returns the track that shows the values of an event.
pub(super) fn of_values(id: u32) -> u64 {
    (1 << 33) + u64::from(id)
}

/// Describes tracks.
pub(super) struct Descriptors {
    last: u64,
    /// True for each context that has been described.
    contexts: Vec<bool>,
}

/// A group of tracks.
#[derive(Clone, Copy)]
pub(super) struct Group {
    track: u64,
    members: u64,
}

impl Descriptors {
    /// Describes the process.
    pub(super) fn new(packets: &mut Packets<'_>, name: &str) -> io::Result<Self> {
        packets.write(None, |message, _| {
            message.message(TRACK, |track| {
                track.number(field::UUID, PROCESS);
                track.message(field::PROCESS, |process| {
                    process.number(1, PROCESS);
                    process.text(6, name);
                });
            });
        })?;
        Ok(Self { last: PROCESS, contexts: Vec::new() })
    }

    /// Describes the threads of all contexts with states, and their process.
    pub(super) fn process_tree<'t>(
        packets: &mut Packets<'_>,
        name: &str,
        threads: impl Iterator<Item = (ContextId, &'t Context)>,
    ) -> io::Result<()> {
        packets.write(None, |message, _| {
            message.message(PROCESS_TREE, |tree| {
                tree.message(1, |process| {
                    process.number(1, PROCESS);
                    process.text(3, name);
                });
                for (id, context) in threads {
                    tree.message(2, |entry| {
                        entry.number(1, thread(id));
                        entry.number(2, PROCESS);
                        entry.text(3, &context.name);
                    });
                }
            });
        })
    }

    /// Describes the track of a context if it has no description yet. A context is described as a
    /// thread of the process if it has states or is a thread.
    pub(super) fn context(
        &mut self,
        packets: &mut Packets<'_>,
        trace: &Trace,
        id: ContextId,
        has_states: bool,
    ) -> io::Result<()> {
        if id.index() >= self.contexts.len() {
            self.contexts.resize(id.index() + 1, false);
        }
        if std::mem::replace(&mut self.contexts[id.index()], true) {
            return Ok(());
        }
        let context = trace.contexts.get(id);
        let name = context.map_or("?", |context| context.name.as_str());
        let is_thread = context.is_some_and(|context| context.kind == ContextKind::Thread);
        packets.write(None, |message, _| {
            message.message(TRACK, |track| {
                track.number(field::UUID, of_context(id));
                if has_states || is_thread {
                    track.message(field::THREAD, |fields| {
                        fields.number(1, PROCESS);
                        fields.number(2, thread(id));
                        fields.text(5, name);
                    });
                } else {
                    track.text(field::NAME, name);
                    // By default, Perfetto merges tracks that have the same name.
                    track.number(field::MERGING, SEPARATE);
                }
            });
        })
    }

    /// Describes the next group. `description` explains its members.
    pub(super) fn group(
        &mut self,
        packets: &mut Packets<'_>,
        name: &str,
        description: &str,
    ) -> io::Result<Group> {
        self.last += 1;
        // Groups get their numbers in order, so the number is also the rank.
        let (track, rank) = (self.last, self.last);
        packets.write(None, |message, _| {
            message.message(TRACK, |descriptor| {
                descriptor.number(field::UUID, track);
                descriptor.text(field::NAME, name);
                descriptor.text(field::DESCRIPTION, description);
                descriptor.number(field::CHILD_ORDER, BY_RANK);
                descriptor.number(field::RANK, rank);
                descriptor.number(field::MERGING, SEPARATE);
            });
        })?;
        Ok(Group { track, members: 0 })
    }

    /// Describes the next member of a group. Returns its track.
    pub(super) fn member(
        &mut self,
        packets: &mut Packets<'_>,
        group: &mut Group,
        name: &str,
    ) -> io::Result<u64> {
        self.last += 1;
        Self::describe(packets, self.last, group, name, |_| ())?;
        Ok(self.last)
    }

    /// Describes a counter as the next member of a group. Returns its track.
    pub(super) fn counter(
        &mut self,
        packets: &mut Packets<'_>,
        group: &mut Group,
        name: &str,
        unit: &str,
    ) -> io::Result<u64> {
        self.last += 1;
        Self::counts(packets, self.last, group, name, unit)?;
        Ok(self.last)
    }

    /// Describes a counter with a given number as the next member of a group.
    pub(super) fn counts(
        packets: &mut Packets<'_>,
        track: u64,
        group: &mut Group,
        name: &str,
        unit: &str,
    ) -> io::Result<()> {
        Self::describe(packets, track, group, name, |descriptor| {
            descriptor.message(field::COUNTER, |counter| counter.text(6, unit));
        })
    }

    fn describe(
        packets: &mut Packets<'_>,
        uuid: u64,
        group: &mut Group,
        name: &str,
        more: impl FnOnce(&mut Message),
    ) -> io::Result<()> {
        group.members += 1;
        let Group { track: parent, members: rank } = *group;
        packets.write(None, |message, _| {
            message.message(TRACK, |track| {
                track.number(field::UUID, uuid);
                track.text(field::NAME, name);
                track.number(field::PARENT, parent);
                track.number(field::RANK, rank);
                track.number(field::MERGING, SEPARATE);
                more(track);
            });
        })
    }
}
