//! Reads one stream: its packets in sequence, and the events in these packets. `files` opens the
//! packets, and `gaps` handles what is missing.
//!
//! [`Stream::advance`] reads only the header of the next event, because the header contains the
//! time by which streams are merged. [`Stream::body`] reads the rest of the event.

mod files;
mod gaps;

use std::collections::{HashSet, VecDeque};

use foldhash::fast::RandomState;

pub(super) use self::files::{Growing, Part};
use self::gaps::Previous;
pub(super) use self::gaps::{Gap, GapKind};
use super::clocks::Timing;
use super::index::Place;
use super::layout::{EventLayout, Layout, StreamLayout};
use super::packets::Packet;
use super::position::{Bits, Fault};
use super::program::{Nothing, Output, State};

/// If a stamp is smaller than the previous one by at most this number of cycles, the events are out
/// of order. A larger difference is a wrap or a reset. At 1 GHz, this number of cycles lasts 1 ms.
/// In Zephyr, an interrupt can occur while an event is recorded. The event of the interrupt is then
/// written before the other event.
const MAX_REORDERED: u64 = 1_000_000;

/// Number of cycles after which a stamp of 32 bits wraps.
const WRAP: u64 = 1 << 32;

/// The kind of the next element of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// An event. Its header was read.
    Event,
    /// A gap. The caller takes it with [`Stream::take_gap`].
    Gap,
    /// The recording of the stream ended, according to its last packet.
    Stop,
    /// There is no next element until the files grow.
    Wait,
    /// There is no next element, because the stream has ended.
    End,
}

/// The state of the check whether events of a growing trace are late.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Lateness {
    /// The events of the packet are not late.
    #[default]
    OnTime,
    /// The next event that is read decides it.
    Unknown,
    /// The events of the packet are late, so [`Stream::timing`] returns later stamps.
    Late,
}

/// A stream.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    parts: Vec<Part<'a>>,
    part: usize,
    /// Offset of the next packet in its file.
    at: usize,
    pub(super) packet: Option<Packet<'a>>,
    /// The processor of the latest packet, if the packet names it.
    pub(super) cpu: Option<u16>,
    /// True if the stream has had the element [`Next::Stop`].
    has_stopped: bool,
    /// Index of the layout of the current packet.
    pub(super) layout: usize,
    /// Index of the stream class of the current packet.
    pub(super) class: usize,
    /// Number of packets opened so far.
    pub(super) packets: u64,
    pub(super) bits: Bits<'a>,
    pub(super) state: State,
    pub(super) timing: Timing,
    /// Index of the next event's class.
    pub(super) event: usize,
    /// Position of the next event, in bits.
    pub(super) event_at: u64,
    /// Value of the clock at the next event.
    pub(super) time: u64,
    /// Timestamp of the beginning of the current packet. Events of the packet can be earlier,
    /// because old versions of barectf record this timestamp too late.
    begin: u64,
    /// Position of the current event in its packet, to detect events that occupy no bits.
    moved: Option<u64>,
    previous: Option<Previous>,
    /// The UUID of the current packet, if it differs from that of the metadata.
    other_trace: Option<[u8; 16]>,
    gaps: VecDeque<Gap>,
    pub(super) next: Next,
    /// Number of cycles to add to stamps, to compensate for backward steps of the clock.
    shift: u64,
    /// True if an interrupt recorded the previous event.
    after_interrupt: bool,
    growing: Growing,
    lateness: Lateness,
    /// The packet that continues when the files have grown.
    held: Option<Packet<'a>>,
    /// True if the next packet is not complete yet.
    is_incomplete: bool,
    /// Place of the next packet in the index of its file; `None` if the index is not used.
    entry: Option<Place>,
    /// Packets that later files may repeat. If the next file is known, these packets do not begin
    /// before it.
    repeatable: HashSet<Previous, RandomState>,
}

impl<'a> Stream<'a> {
    pub(super) fn new(parts: Vec<Part<'a>>) -> Self {
        let at = parts.first().map_or(0, |part| part.start);
        Self {
            parts,
            part: 0,
            at,
            packet: None,
            cpu: None,
            has_stopped: false,
            layout: 0,
            class: 0,
            packets: 0,
            bits: Bits { bytes: &[], at: 0, end: 0 },
            state: State::default(),
            timing: Timing::default(),
            event: 0,
            event_at: 0,
            time: 0,
            begin: 0,
            moved: None,
            previous: None,
            other_trace: None,
            gaps: VecDeque::new(),
            next: Next::End,
            shift: 0,
            after_interrupt: false,
            growing: Growing::default(),
            lateness: Lateness::default(),
            held: None,
            is_incomplete: false,
            entry: Some(Place::Number(0)),
            repeatable: HashSet::default(),
        }
    }

    /// Returns the stamp of the next element. A gap is not earlier than the beginning of its
    /// packet.
    #[inline]
    pub(super) fn stamp(&self) -> u64 {
        match self.next {
            Next::Event => self.timing.stamp(self.time),
            _ => self.least(),
        }
    }

    /// Reads the header of the next event, or finds the next gap. Sets [`Stream::next`].
    #[inline]
    pub(super) fn advance(&mut self, layouts: &[Layout], timing: impl Fn(usize, usize) -> Timing) {
        self.next = if self.gaps.is_empty() && self.begin_event(layouts) {
            Next::Event
        } else {
            self.find_next(layouts, &timing)
        };
        if self.lateness == Lateness::Unknown && self.next == Next::Event {
            self.check_late(timing(self.layout, self.class));
        }
    }

    /// Reads the header of the next event, if it has the usual form and no gap precedes it.
    /// Otherwise, returns false and changes nothing; the caller must then call
    /// [`Stream::advance`]. `class` is the class of the stream.
    #[inline(always)]
    pub(super) fn advance_quickly(&mut self, class: &StreamLayout) -> bool {
        let Some(header) = &class.quick_header else { return false };
        if self.packet.is_none() || !self.gaps.is_empty() || self.after_interrupt {
            return false;
        }
        let Some(read) = header.read(&self.bits, &mut self.state) else { return false };
        let Some(event) = class.event(read.id.unwrap_or(class.default_event)) else { return false };
        let time = read.clock.wrapping_add(self.shift);
        if time < self.time {
            return false;
        }
        self.event_at = self.bits.at;
        self.bits.at = read.after;
        (self.event, self.state.clock, self.time) = (event, read.clock, time);
        true
    }

    /// Opens packets until there is an event or a gap.
    #[cold]
    fn find_next(&mut self, layouts: &[Layout], timing: &impl Fn(usize, usize) -> Timing) -> Next {
        loop {
            if !self.gaps.is_empty() {
                return Next::Gap;
            }
            if self.packet.is_none() {
                if self.lateness == Lateness::Late {
                    self.end_late(timing(self.layout, self.class));
                }
                if self.waits() {
                    return Next::Wait;
                }
                if !self.open(layouts, timing) && self.gaps.is_empty() {
                    return if self.stop() { Next::Stop } else { Next::End };
                }
            }
            if self.gaps.is_empty() && self.begin_event(layouts) {
                return Next::Event;
            }
        }
    }

    /// Sets the time of the element [`Next::Stop`], after the last packet. Returns false if the
    /// stream had this element before, or if it is unknown when the recording ended.
    fn stop(&mut self) -> bool {
        let end = self.previous.and_then(|previous| previous.end);
        let Some(end) = end.filter(|_| !self.growing.grows && !self.has_stopped) else {
            return false;
        };
        self.has_stopped = true;
        self.time = self.time.max(end);
        true
    }

    /// Reads the header of the next event of the packet. Returns false if there is none.
    #[inline]
    fn begin_event(&mut self, layouts: &[Layout]) -> bool {
        if self.packet.is_none() {
            return false;
        }
        let layout = layouts.get(self.layout);
        let class = layout.and_then(|layout| layout.streams.get(self.class));
        let Some(class) = class.filter(|_| self.bits.at < self.bits.end) else {
            self.packet = None;
            return false;
        };
        self.event_at = self.bits.at;
        if self.moved == Some(self.bits.at) {
            self.lose("found an event without bits, which would repeat without end".to_owned());
            return false;
        }
        self.moved = Some(self.bits.at);
        let before = self.state.clock;
        self.state.event = class.default_event;
        self.state.is_timed = false;
        let read = match &class.fixed_header {
            Some(header) => header.read(&mut self.bits, &mut self.state),
            None => class.event_header.run(&mut self.bits, &mut self.state, &mut Nothing),
        };
        if let Err(fault) = read {
            self.lose_event(Some(fault.kind), format!("expected an event, {fault}"));
            return false;
        }
        let Some(event) = class.event(self.state.event) else {
            let id = self.state.event;
            self.lose_event(None, format!("expected an event of the metadata, found id {id}"));
            return false;
        };
        self.event = event;
        if self.state.is_timed {
            self.set_time(before);
        }
        true
    }

    /// Sets the time of the next event from the value of the clock.
    #[inline]
    fn set_time(&mut self, before: u64) {
        let time = self.state.clock.wrapping_add(self.shift);
        match time.checked_sub(self.time) {
            Some(step) if self.after_interrupt && step > WRAP - MAX_REORDERED && step < WRAP => {
                self.reordered(before, WRAP - step);
            }
            Some(_) => self.time = time,
            None => self.went_back(time),
        }
    }

    /// Handles a stamp of 32 bits that may have wrapped but is probably out of order.
    #[cold]
    fn reordered(&mut self, before: u64, back: u64) {
        // If packets have times, a smaller stamp is a real wrap.
        if self.packet.is_some_and(|packet| packet.numbers.begin.is_some()) {
            self.time = self.state.clock.wrapping_add(self.shift);
            return;
        }
        self.state.clock = before;
        self.gap(GapKind::Backwards(back), None, self.event_at);
    }

    /// Handles a stamp that is smaller than the previous one. The event keeps the previous time.
    #[cold]
    fn went_back(&mut self, time: u64) {
        let back = self.time - time;
        if back > MAX_REORDERED {
            self.shift = self.shift.wrapping_add(back);
        }
        self.gap(GapKind::Backwards(back), None, self.event_at);
    }

    /// Reads the rest of the next event, after its header.
    ///
    /// # Errors
    /// Returns an error if the event cannot be read. The caller must then call
    /// [`Stream::lose_body`].
    #[inline]
    pub(super) fn body(&mut self, event: &EventLayout, out: &mut impl Output) -> Result<(), Fault> {
        match &event.programs {
            Ok(programs) => {
                for program in programs {
                    program.run(&mut self.bits, &mut self.state, out)?;
                }
                Ok(())
            }
            Err(fault) => Err(*fault),
        }
    }

    /// Stores whether an interrupt recorded the current event. An interrupt's event can precede an
    /// event with an earlier stamp, if the interrupt occurred while the other event was being
    /// recorded.
    #[inline]
    pub(super) fn note_interrupt(&mut self, is_interrupt: bool) {
        self.after_interrupt = is_interrupt;
    }
}
