//! Filters that suppress records while the target runs: four bit tables.
//!
//! | table | one bit per | applies to |
//! |---|---|---|
//! | groups | group of events | most records (see [`asks::EVENT`]), but not symbols or unit tests |
//! | events | event; each group starts at a byte boundary | the same records |
//! | objects | priority of an active object | records about an active object |
//! | signals | signal | records about a signal; the two reserved signals always pass |
//!
//! A record passes if it passes every table that applies to it. From version 2.4.4 on, a set bit
//! passes records and a clear bit suppresses them; up to 2.4.3, the meanings are reversed. All bits
//! are clear when the target starts. As a result, newer versions record no event that has a filter,
//! not even assertions, until the program opens filters. Older versions record all events.
//!
//! The names are the framework's: a filter that is *on* suppresses records, and a filter that is
//! *off* passes them. We assume that the same calls change the filters of groups in older and in
//! newer versions.
//!
//! The filters do not reproduce two bugs of the framework. Here, a number beyond the end of a table
//! changes nothing, and the filter for `UT_SUCCESS` affects no other event.

use tracewell_wire::rkh::events::{Event, Table, asks};
use tracewell_wire::rkh::{Dialect, Settings};

use super::FilterKinds;

/// The subject of a record. Filters select records by subject. For example, the signal filter
/// applies only to records about a signal.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct About {
    /// Priority of the active object.
    pub priority: Option<u8>,
    /// Number of the signal.
    pub signal: Option<u32>,
}

impl About {
    /// A subject with neither active object nor signal.
    pub const NOTHING: Self = Self { priority: None, signal: None };

    /// Returns a subject with an active object and without a signal.
    pub const fn object(priority: u8) -> Self {
        Self { priority: Some(priority), signal: None }
    }

    /// Returns a subject with an active object and a signal.
    pub const fn signal(priority: u8, signal: u32) -> Self {
        Self { priority: Some(priority), signal: Some(signal) }
    }
}

/// The state of a filter, in the framework's terminology.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filter {
    /// Records are suppressed.
    On,
    /// Records pass the filter.
    Off,
}

/// Number of signals that always pass: the completion signal and the signal "any".
///
/// These are the two largest signal numbers.
pub const RESERVED_SIGNALS: u32 = 2;

/// Number of bytes in the event table of the dialect with the most events.
const EVENT_BYTES: usize = 33;

/// The four tables of filters.
///
/// ```
/// use tracewell_record::rkh::{About, Filter, Options, Outcome, StreamBuffer, Trace};
/// use tracewell_wire::rkh::events::V3_4;
///
/// let mut memory = [0; 256];
/// let mut trace = Trace::new(Options::default(), StreamBuffer::new(&mut memory), &mut [], || 0);
/// let enter = |trace: &mut Trace<_, _>| trace.record(&V3_4::FWK_EN, About::NOTHING, &[]);
/// assert_eq!(enter(&mut trace), Outcome::Filtered);
/// trace.filters().event(&V3_4::FWK_EN, Filter::Off);
/// assert_eq!(enter(&mut trace), Outcome::Recorded);
/// ```
#[derive(Debug)]
pub struct Filters<'m> {
    table: &'static Table,
    kinds: FilterKinds,
    /// True if a set bit passes records.
    set_passes: bool,
    largest_signal: u32,
    groups: u8,
    /// Index of the first byte of each group in `events`.
    starts: [u8; 8],
    events: [u8; EVENT_BYTES],
    objects: [u8; 8],
    signals: &'m mut [u8],
}

impl<'m> Filters<'m> {
    /// Creates tables with all bits clear. `signals` is the signal table, with one bit for each
    /// signal that can be filtered.
    pub(super) fn new(
        table: &'static Table,
        settings: &Settings,
        kinds: FilterKinds,
        signals: &'m mut [u8],
    ) -> Self {
        signals.fill(0);
        let mut starts = [0; 8];
        let mut next = 0;
        // As in the framework, the events of each group begin at a byte boundary.
        for (start, group) in starts.iter_mut().zip(table.groups) {
            *start = next;
            next += group.events.div_ceil(8);
        }
        Self {
            table,
            kinds,
            set_passes: table.dialect >= Dialect::V2_4_4,
            // A signal has 1 to 4 bytes. The clamp keeps the shift below 32 bits.
            largest_signal: u32::MAX >> (32 - 8 * u32::from(settings.signal.clamp(1, 4))),
            groups: 0,
            starts,
            events: [0; EVENT_BYTES],
            objects: [0; 8],
            signals,
        }
    }

    /// Returns true if a record passes. `asked` contains bits of [`asks`].
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

    /// Returns the bit value that represents a filter state.
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

    /// Sets the bit of a group (`RKH_FILTER_ON_GROUP`, `RKH_FILTER_OFF_GROUP`). Returns false if
    /// the dialect has no such group.
    pub fn group(&mut self, group: u8, filter: Filter) -> bool {
        let known = usize::from(group) < self.table.groups.len();
        if known {
            let bit = 1 << group;
            self.groups = if self.set(filter) { self.groups | bit } else { self.groups & !bit };
        }
        known
    }

    /// Sets the bits of all groups but not the bits of events (`RKH_TRC_ALL_GROUPS`).
    pub fn all_groups(&mut self, filter: Filter) {
        self.groups = self.byte(filter);
    }

    /// Sets the bits of a group and of all its events (`RKH_FILTER_ON_GROUP_ALL_EVENTS`,
    /// `RKH_FILTER_OFF_GROUP_ALL_EVENTS`). Returns false if the dialect has no such group.
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

    /// Sets the bit of an event. If the filter of the event is switched off, the filter of its
    /// group is switched off, too (`RKH_FILTER_ON_EVENT`, `RKH_FILTER_OFF_EVENT`). Returns false if
    /// the dialect has no such event.
    pub fn event(&mut self, event: &Event, filter: Filter) -> bool {
        self.code(event.code, filter)
    }

    /// Sets the bit of an event given by its code, which may be the code of a user event: see
    /// [`Self::event`].
    pub fn code(&mut self, code: u8, filter: Filter) -> bool {
        let Some((group, number)) = self.table.place(code) else { return false };
        let (event, set) = (self.event_bit(group, number), self.set(filter));
        // An event passes only if its group passes, too. Suppressing an event leaves the group as
        // it is.
        if filter == Filter::Off {
            self.group(group, filter);
        }
        put(&mut self.events, event, set)
    }

    /// Sets the bits of all groups and all events (`RKH_TRC_ALL_EVENTS`).
    pub fn all_events(&mut self, filter: Filter) {
        self.all_groups(filter);
        let value = self.byte(filter);
        self.events.fill(value);
    }

    /// Sets the bit of the active object that has the given priority (`RKH_FILTER_ON_SMA`,
    /// `RKH_FILTER_OFF_SMA`). Returns false for a priority above 63.
    pub fn object(&mut self, priority: u8, filter: Filter) -> bool {
        let set = self.set(filter);
        put(&mut self.objects, usize::from(priority), set)
    }

    /// Sets the bits of all active objects.
    pub fn all_objects(&mut self, filter: Filter) {
        let value = self.byte(filter);
        self.objects.fill(value);
    }

    /// Sets the bit of a signal (`RKH_FILTER_ON_SIGNAL`, `RKH_FILTER_OFF_SIGNAL`). Returns false
    /// for a signal beyond the end of the table. Such a signal is treated as if its bit were clear.
    pub fn signal(&mut self, signal: u32, filter: Filter) -> bool {
        let set = self.set(filter);
        usize::try_from(signal).is_ok_and(|signal| put(self.signals, signal, set))
    }

    /// Sets the bits of all signals.
    pub fn all_signals(&mut self, filter: Filter) {
        let value = self.byte(filter);
        self.signals.fill(value);
    }

    /// Sets the bits of all four tables.
    pub fn all(&mut self, filter: Filter) {
        self.all_events(filter);
        self.all_objects(filter);
        self.all_signals(filter);
    }

    /// Returns the group table, with bit 0 for group 0.
    pub const fn group_table(&self) -> u8 {
        self.groups
    }

    /// Returns the event table. In versions 3.x, the table has 17 bytes.
    pub fn event_table(&self) -> &[u8] {
        let bytes = self.table.groups.iter().map(|group| usize::from(group.events.div_ceil(8)));
        self.events.get(..bytes.sum()).unwrap_or(&self.events)
    }

    /// Returns the index of each group's first byte in [`Filters::event_table`].
    pub fn group_map(&self) -> &[u8] {
        self.starts.get(..self.table.groups.len()).unwrap_or(&self.starts)
    }

    /// Returns the table of active objects, with bit 0 for priority 0.
    pub const fn object_table(&self) -> &[u8; 8] {
        &self.objects
    }

    /// Returns the signal table, with bit 0 for signal 0.
    pub const fn signal_table(&self) -> &[u8] {
        self.signals
    }
}

/// Returns the bit at index `at`, or false if the table ends before this index.
#[inline]
fn bit(table: &[u8], at: usize) -> bool {
    table.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 != 0)
}

/// Changes the bit at index `at`. Returns false if the table ends before this index.
fn put(table: &mut [u8], at: usize, set: bool) -> bool {
    let Some(byte) = table.get_mut(at / 8) else { return false };
    let mask = 1 << (at % 8);
    *byte = if set { *byte | mask } else { *byte & !mask };
    true
}
