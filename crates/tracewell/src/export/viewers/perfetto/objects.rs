//! Tracks of mutexes, state machines, queues, pools, semaphores and servers.

use std::io;

use super::super::timeline::Timeline;
use super::layout::{Act, Layout, Place, at, name};
use super::slices::{self, Change, Label};
use crate::report::scheduling::{kind_of, resource_label};

impl<'a> Layout<'a, '_> {
    /// Adds the holders of mutexes.
    pub(super) fn locks(&mut self) -> io::Result<()> {
        let Timeline { trace, tracks, .. } = self.timeline;
        let mut held = tracks.locks.iter().filter(|lock| !lock.holder.changes().is_empty());
        let Some(first) = held.next() else { return Ok(()) };
        let mut group = self.group("Mutexes", "the context that holds each mutex")?;
        for lock in std::iter::once(first).chain(held) {
            let kind = kind_of(trace, lock.is_mutex, lock.kind);
            let title = format!("{kind} {}", resource_label(trace, lock.key, lock.kind));
            let track = self.member(&mut group, &title)?;
            self.slices(Place::Track(track), &lock.holder, |holder| {
                holder.context().map(|holder| Label::new("mutex", name(trace, holder)))
            });
        }
        Ok(())
    }

    /// Adds the current state of each machine, and its steps.
    pub(super) fn machines(&mut self) -> io::Result<()> {
        let timeline = self.timeline;
        let Timeline { trace, tracks, .. } = timeline;
        if tracks.machines.is_empty() {
            return Ok(());
        }
        let mut group = self.group("State machines", "the state of each machine, and its steps")?;
        for machine in &tracks.machines {
            let name = machine.machine.label(trace);
            let track = self.member(&mut group, &name)?;
            self.slices(Place::Track(track), &machine.row, move |state| {
                let state = machine.states.get(state? as usize)?;
                Some(Label::new("machine state", state.label(trace)))
            });
            let steps = Place::Track(self.member(&mut group, &format!("{name} steps"))?);
            self.merge.add(machine.steps.iter().flat_map(move |step| {
                let ended = step.until.and_then(|until| timeline.within(step.from, Some(until)));
                let label = Label::new("step", "step");
                let begin = ended.map(|(from, _)| (from, Act::On(steps, Change::Begin(label))));
                let end = ended.map(|(_, until)| (until, Act::On(steps, Change::End)));
                // A slice without an end would reach to the end of the trace, so use an instant.
                let label = Label::new("step", "step, end not recorded");
                let alone = step.until.is_none() && timeline.contains(step.from);
                let alone =
                    alone.then_some((step.from, Act::On(steps, Change::Instant(label, None))));
                begin.into_iter().chain(end).chain(alone)
            }));
        }
        Ok(())
    }

    /// Adds the levels of queues, pools and semaphores.
    pub(super) fn levels(&mut self) -> io::Result<()> {
        let timeline = self.timeline;
        if timeline.tracks.levels.is_empty() {
            return Ok(());
        }
        let mut group = self.group("Levels", "items in queues, pools and semaphores")?;
        for level in &timeline.tracks.levels {
            let name = level.label(&timeline.trace);
            let unit = if level.counts_free { "free items" } else { "items" };
            let track = self.descriptors.counter(&mut self.packets, &mut group, &name, unit)?;
            // Perfetto cannot represent an unknown count. The track of losses shows where events
            // are missing.
            let known = timeline.changes(&level.row).filter_map(|(at, level)| Some((at, level?)));
            self.merge.add(known.map(move |(at, level)| {
                (at, Act::On(Place::Track(track), slices::unsigned(level)))
            }));
        }
        Ok(())
    }

    /// Adds the used budget of each server, and the times in which the server has no budget.
    pub(super) fn budgets(&mut self) -> io::Result<()> {
        let timeline = self.timeline;
        let clock = &timeline.trace.clock;
        let servers = &timeline.tracks.figures.servers;
        if servers.is_empty() {
            return Ok(());
        }
        let mut group = self.group("Servers", "used budget of each server")?;
        let unit = if clock.rate.is_some() { "ns" } else { "ticks" };
        for server in servers {
            let name = resource_label(&timeline.trace, server.key, None);
            let track = self.descriptors.counter(&mut self.packets, &mut group, &name, unit)?;
            let points = server.used.iter().map(|used| (at(used.ticks), used.used));
            let points = points.filter(|(at, _)| timeline.contains(*at));
            self.merge.add(points.filter_map(move |(at, used)| {
                let used = used?;
                // The conversion accepts only unsigned ticks, so convert the size and restore the
                // sign.
                let size = used.unsigned_abs();
                let size = clock.nanoseconds(size).unwrap_or(size).cast_signed();
                let used = if used < 0 { -size } else { size };
                Some((at, Act::On(Place::Track(track), Change::Count(used))))
            }));
            let without = self.member(&mut group, &format!("{name} without budget"))?;
            let without = Place::Track(without);
            let spans = server.without.iter();
            let spans =
                spans.filter_map(|(from, until)| timeline.within(at(*from), Some(at(*until))));
            self.merge.add(spans.flat_map(move |(from, until)| {
                let begin = Change::Begin(Label::new("budget", "budget exhausted"));
                [(from, Act::On(without, begin)), (until, Act::On(without, Change::End))]
            }));
        }
        Ok(())
    }
}
