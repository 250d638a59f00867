//! Which records pass while the target runs: four tables of bits.
//!
//! | table | a bit for each | asked by |
//! |---|---|---|
//! | groups | group of events | every record but symbols, configuration, unit tests and a few more ([`asks`]) |
//! | events | event, eight of a group in a byte, each group from a byte of its own on | the same |
//! | objects | priority of an active object | records about an active object |
//! | signals | signal | records about a signal; the two reserved signals pass |
//!
//! A record passes if all tables that it asks let it. From 2.4.4 on a set bit lets records through and
//! a clear one holds them back; until 2.4.3 it is the other way round. Either way all bits are clear
//! when the target starts, so that the newer versions record nothing that can be filtered until the
//! program opens filters, assertions among it, and the older ones everything.
//!
//! The verbs are the framework's: a filter that is *on* holds back, one that is *off* lets through.
//! What the verbs of the older versions did to the bit of a group is taken to be what the newer do.
//!
//! Known faults of the framework are not here: numbers past the end of a table change nothing, and no
//! event stands for all of them.

use tracewell_wire::rkh::events::{Event, Table, asks};
use tracewell_wire::rkh::{Dialect, Settings};

use super::{About, FilterKinds};

/// A filter's state, in the framework's words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filter {
    /// Records are held back.
    On,
    /// Records pass.
    Off,
}

/// Signals that pass whatever their filter: the completion signal, and "any".
///
/// Counted down from the largest number that a signal can have.
pub const RESERVED_SIGNALS: u32 = 2;

/// Bytes of all groups' events in the largest dialect.
const EVENT_BYTES: usize = 33;

/// The four tables.
#[derive(Debug)]
pub struct Filters<'m> {
    table: &'static Table,
    kinds: FilterKinds,
    /// Whether a set bit lets records through.
    set_passes: bool,
    largest_signal: u32,
    groups: u8,
    /// Where each group's events begin.
    starts: [u8; 8],
    events: [u8; EVENT_BYTES],
    objects: [u8; 8],
    signals: &'m mut [u8],
}

impl<'m> Filters<'m> {
    /// All bits clear. There are as many signals as `signals` has bits.
    pub(super) fn new(
        table: &'static Table,
        settings: &Settings,
        kinds: FilterKinds,
        signals: &'m mut [u8],
    ) -> Self {
        signals.fill(0);
        let mut starts = [0; 8];
        let mut next = 0;
        for (start, group) in starts.iter_mut().zip(table.groups) {
            *start = next;
            next += group.events.div_ceil(8);
        }
        Self {
            table,
            kinds,
            set_passes: table.dialect >= Dialect::V2_4_4,
            largest_signal: u32::MAX >> (32 - 8 * u32::from(settings.signal.clamp(1, 4))),
            groups: 0,
            starts,
            events: [0; EVENT_BYTES],
            objects: [0; 8],
            signals,
        }
    }

    /// Whether a record passes.
    #[inline]
    pub fn pass(&self, code: u8, asked: u8, about: About) -> bool {
        if !self.kinds.events || asked & asks::EVENT == 0 {
            return true;
        }
        let Some((group, number)) = self.table.place(code) else { return false };
        let event = self.event_bit(group, number);
        let object = about.priority.filter(|_| self.kinds.objects && asked & asks::OBJECT != 0);
        let signal = about.signal.filter(|_| self.kinds.signals && asked & asks::SIGNAL != 0);
        self.open(self.groups >> group & 1 != 0)
            && self.open(bit(&self.events, event))
            && object.is_none_or(|priority| self.open(bit(&self.objects, usize::from(priority))))
            && signal.is_none_or(|signal| self.signal_passes(signal))
    }

    fn signal_passes(&self, signal: u32) -> bool {
        let signal = signal & self.largest_signal;
        let reserved = self.largest_signal - signal < RESERVED_SIGNALS;
        reserved || usize::try_from(signal).is_ok_and(|signal| self.open(bit(self.signals, signal)))
    }

    #[inline]
    const fn open(&self, set: bool) -> bool {
        set == self.set_passes
    }

    /// What a bit becomes.
    const fn set(&self, filter: Filter) -> bool {
        matches!(filter, Filter::Off) == self.set_passes
    }

    const fn byte(&self, filter: Filter) -> u8 {
        if self.set(filter) { 0xFF } else { 0 }
    }

    fn event_bit(&self, group: u8, number: u8) -> usize {
        let start = self.starts.get(usize::from(group)).copied().unwrap_or(u8::MAX);
        8 * usize::from(start) + usize::from(number)
    }

    /// A group's own bit (`RKH_FILTER_ON_GROUP`, `RKH_FILTER_OFF_GROUP`). False where the dialect has
    /// no such group.
    pub fn group(&mut self, group: u8, filter: Filter) -> bool {
        let known = usize::from(group) < self.table.groups.len();
        if known {
            let bit = 1 << group;
            self.groups = if self.set(filter) { self.groups | bit } else { self.groups & !bit };
        }
        known
    }

    /// The bits of all groups; those of events stay (`RKH_TRC_ALL_GROUPS`).
    pub fn all_groups(&mut self, filter: Filter) {
        self.groups = self.byte(filter);
    }

    /// A group's bit and those of all its events (`RKH_FILTER_ON_GROUP_ALL_EVENTS`,
    /// `RKH_FILTER_OFF_GROUP_ALL_EVENTS`). False where the dialect has no such group.
    pub fn group_all_events(&mut self, group: u8, filter: Filter) -> bool {
        if !self.group(group, filter) {
            return false;
        }
        let events = self.table.groups.get(usize::from(group)).map_or(0, |group| group.events);
        let start = self.event_bit(group, 0) / 8;
        let value = self.byte(filter);
        let bytes = self.events.get_mut(start..start + usize::from(events.div_ceil(8)));
        bytes.unwrap_or_default().fill(value);
        true
    }

    /// An event's bit; switching its filter off opens its group as well (`RKH_FILTER_ON_EVENT`,
    /// `RKH_FILTER_OFF_EVENT`).
    pub fn event(&mut self, event: &Event, filter: Filter) -> bool {
        self.code(event.code, filter)
    }

    /// The same for a code, user events among them. False where the dialect has no such event.
    pub fn code(&mut self, code: u8, filter: Filter) -> bool {
        let Some((group, number)) = self.table.place(code) else { return false };
        let (place, set) = (self.event_bit(group, number), self.set(filter));
        if filter == Filter::Off {
            self.group(group, filter);
        }
        put(&mut self.events, place, set)
    }

    /// All groups and all events (`RKH_TRC_ALL_EVENTS`).
    pub fn all_events(&mut self, filter: Filter) {
        self.all_groups(filter);
        let value = self.byte(filter);
        self.events.fill(value);
    }

    /// An active object, by its priority below 64 (`RKH_FILTER_ON_SMA`, `RKH_FILTER_OFF_SMA`).
    /// False for one past the table.
    pub fn object(&mut self, priority: u8, filter: Filter) -> bool {
        let set = self.set(filter);
        put(&mut self.objects, usize::from(priority), set)
    }

    /// All active objects.
    pub fn all_objects(&mut self, filter: Filter) {
        let value = self.byte(filter);
        self.objects.fill(value);
    }

    /// A signal (`RKH_FILTER_ON_SIGNAL`, `RKH_FILTER_OFF_SIGNAL`). False for one past the table; such a
    /// signal counts as one whose bit is clear.
    pub fn signal(&mut self, signal: u32, filter: Filter) -> bool {
        let set = self.set(filter);
        usize::try_from(signal).is_ok_and(|signal| put(self.signals, signal, set))
    }

    /// All signals.
    pub fn all_signals(&mut self, filter: Filter) {
        let value = self.byte(filter);
        self.signals.fill(value);
    }

    /// All four tables.
    pub fn all(&mut self, filter: Filter) {
        self.all_events(filter);
        self.all_objects(filter);
        self.all_signals(filter);
    }

    /// The table of groups, bit 0 for group 0.
    pub const fn group_table(&self) -> u8 {
        self.groups
    }

    /// The table of events: 17 bytes in 3.x.
    pub fn event_table(&self) -> &[u8] {
        let bytes = self.table.groups.iter().map(|group| usize::from(group.events.div_ceil(8)));
        self.events.get(..bytes.sum()).unwrap_or(&self.events)
    }

    /// Where each group's events begin in [`Filters::event_table`].
    pub fn group_map(&self) -> &[u8] {
        self.starts.get(..self.table.groups.len()).unwrap_or(&self.starts)
    }

    /// The table of active objects.
    pub const fn object_table(&self) -> &[u8; 8] {
        &self.objects
    }

    /// The table of signals.
    pub const fn signal_table(&self) -> &[u8] {
        self.signals
    }
}

/// A bit of a table; clear past its end.
#[inline]
fn bit(table: &[u8], at: usize) -> bool {
    table.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 != 0)
}

fn put(table: &mut [u8], at: usize, set: bool) -> bool {
    let Some(byte) = table.get_mut(at / 8) else { return false };
    let mask = 1 << (at % 8);
    *byte = if set { *byte | mask } else { *byte & !mask };
    true
}
