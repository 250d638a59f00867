//! Reads the files of a stream. Opens packets one after the other, compares each with the index of
//! its file, and skips packets that were read before. Continues when files grow or are replaced.
//!
//! `reader` finds the files of a stream, and [`packets`] reads the header and context of a packet.

use super::gaps::{Gap, GapKind, Previous};
use super::{Lateness, Next, Stream};
use crate::format::ctf::clocks::Timing;
use crate::format::ctf::index::{Index, Place};
use crate::format::ctf::layout::Layout;
use crate::format::ctf::packets::{self, Packet};
use crate::format::ctf::position::Bits;
use crate::format::ctf::program::NO_VALUE;

/// A part of a stream: the packets in one file.
#[derive(Clone, Copy, Debug)]
pub(in crate::format::ctf) struct Part<'a> {
    /// Index of the file.
    pub(in crate::format::ctf) file: usize,
    pub(in crate::format::ctf) bytes: &'a [u8],
    /// Index of the layout.
    pub(in crate::format::ctf) layout: usize,
    /// The value of the clock at the beginning of the first packet, if known.
    pub(in crate::format::ctf) begin: Option<u64>,
    /// Offset of the first packet, in bytes.
    pub(in crate::format::ctf) start: usize,
    /// The packets that the file should contain, if there is an index.
    pub(in crate::format::ctf) index: Option<Index<'a>>,
}

/// The way to read a stream whose files grow. The default is the way to read complete files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::format::ctf) struct Growing {
    /// True if the files can still grow.
    pub(in crate::format::ctf) grows: bool,
    /// The stamp of the last delivered event. Events with an earlier stamp are late. It is 0 if no
    /// event can be late.
    pub(in crate::format::ctf) delivered: u64,
    /// Up to this stamp, other streams do not wait for this stream.
    pub(in crate::format::ctf) assumed: u64,
}

impl<'a> Stream<'a> {
    /// Converts the stream so that it reads from other copies of its files. `part` is the index of
    /// the current file. Up to the current position, the bytes of all files must be the same as
    /// before.
    pub(in crate::format::ctf) fn onto<'b>(
        mut self,
        parts: Vec<Part<'b>>,
        part: usize,
        growing: Growing,
    ) -> Stream<'b> {
        if self.held.is_some() && self.lateness == Lateness::Late && self.next == Next::Event {
            // The event is late, or follows a late event, but was not delivered yet. A packet that
            // grows can be long, so read the event again: it may be on time by itself.
            self.bits.at = self.event_at;
            self.forget_lateness();
            self.next = Next::Wait;
        }
        let file: &'b [u8] = parts.get(part).map_or(&[], |part| part.bytes);
        let held = self.held.map(|packet| packet.within(file));
        let packet = self.packet.map(|packet| packet.within(file)).or(held);
        let at = match held.filter(|packet| !packet.has_size()) {
            Some(packet) => packet.offset as usize + packet.size,
            None => self.at,
        };
        let bits = packet.map_or(Bits { bytes: &[], at: 0, end: 0 }, |packet| Bits {
            bytes: packet.bytes,
            at: self.bits.at,
            end: packet.end,
        });
        let lateness = match held {
            Some(_) => growing.lateness(),
            None => self.lateness,
        };
        Stream {
            parts,
            part,
            at,
            packet,
            cpu: self.cpu,
            has_stopped: self.has_stopped,
            layout: self.layout,
            class: self.class,
            packets: self.packets,
            bits,
            state: self.state,
            timing: self.timing,
            event: self.event,
            event_at: self.event_at,
            time: self.time,
            begin: self.begin,
            moved: None,
            previous: self.previous,
            other_trace: self.other_trace,
            gaps: self.gaps,
            next: self.next,
            shift: self.shift,
            after_interrupt: self.after_interrupt,
            growing,
            lateness,
            held: held.filter(|packet| !packet.has_size()),
            is_incomplete: false,
            entry: self.entry,
            repeatable: self.repeatable,
        }
    }

    /// Sets the way in which the stream reads growing files.
    pub(in crate::format::ctf) fn of_growing_files(self, growing: Growing) -> Self {
        Self { growing, ..self }
    }

    /// Returns the stream without the bytes of its files.
    pub(in crate::format::ctf) fn detached(self) -> Stream<'static> {
        let growing = self.growing;
        self.onto(Vec::new(), 0, growing)
    }

    /// Returns true if any part of the stream was read.
    pub(in crate::format::ctf) fn has_begun(&self) -> bool {
        self.packets > 0 || self.part > 0 || self.at > 0
    }

    /// Sets [`Growing::assumed`].
    pub(in crate::format::ctf) fn assume(&mut self, stamp: u64) {
        self.growing.assumed = stamp;
    }

    /// Continues with another file, from its start, because the current file is gone.
    pub(in crate::format::ctf) fn leave_file(&mut self) {
        (self.at, self.packet, self.held, self.entry) = (0, None, None, Some(Place::Number(0)));
    }

    /// Returns the stamp at the end of the last complete packet in the files, without reading the
    /// packet's events.
    pub(in crate::format::ctf) fn newest(
        &self,
        layouts: &[Layout],
        timing: impl Fn(usize, usize) -> Timing,
    ) -> u64 {
        let (mut state, mut at) = (self.state.clone(), self.at);
        // Do not count the increase of late stamps.
        let own = (self.packets > 0).then(|| timing(self.layout, self.class));
        let mut newest = own.map_or(0, |own| own.stamp(self.time.max(self.begin)));
        for (later, part) in self.parts.iter().skip(self.part).enumerate() {
            at = if later > 0 { part.start } else { at };
            let Some(layout) = layouts.get(part.layout) else { break };
            state.registers.resize(layout.registers, NO_VALUE);
            while let Some(rest) = part.bytes.get(at..).filter(|rest| !rest.is_empty()) {
                let Ok(packet) = packets::read(layout, rest, at as u64, &mut state) else { break };
                let end = packet.numbers.end.or(packet.numbers.begin);
                let stamp = end.map(|end| timing(part.layout, packet.class).stamp(end));
                newest = newest.max(stamp.unwrap_or(0));
                at += packet.size;
            }
        }
        newest
    }

    /// Returns the part that contains the next event, or `None` if the files do not contain this
    /// part.
    pub(in crate::format::ctf) fn present_part(&self) -> Option<Part<'a>> {
        self.parts.get(self.part).copied()
    }

    /// Returns the part that contains the next event, or the last part at the end of the stream.
    pub(in crate::format::ctf) fn part(&self) -> Option<Part<'a>> {
        self.present_part().or(self.parts.last().copied())
    }

    /// Returns the stamp of the next element, which is not an event. If the files do not contain
    /// the element yet, returns a lower bound.
    #[cold]
    pub(super) fn least(&self) -> u64 {
        let after_begin = self.time.max(self.begin);
        let (value, assumed) = match self.next {
            Next::Gap => (after_begin, 0),
            Next::Wait => {
                let is_between = self.held.or(self.packet).is_none();
                let end = self.previous.and_then(|previous| previous.end);
                let end = end.filter(|_| is_between).unwrap_or(0);
                (after_begin.max(end), self.growing.assumed)
            }
            Next::Event | Next::Stop | Next::End => (self.time, 0),
        };
        // After late events, the clock can be before the stamps that were delivered.
        self.timing.stamp(value).max(assumed).max(self.growing.delivered)
    }

    /// Returns true if the files must grow before there can be a next element.
    pub(super) fn waits(&self) -> bool {
        let is_last = self.part + 1 >= self.parts.len();
        let is_read = self.parts.get(self.part).is_none_or(|part| self.at >= part.bytes.len());
        self.growing.grows && (self.held.is_some() || self.is_incomplete || (is_last && is_read))
    }

    /// Opens the next packet. Returns false at the end of the stream.
    #[cold]
    pub(super) fn open(
        &mut self,
        layouts: &[Layout],
        timing: &impl Fn(usize, usize) -> Timing,
    ) -> bool {
        let Some(part) = self.parts.get(self.part).copied() else { return false };
        let rest = part.bytes.get(self.at..).unwrap_or_default();
        let layout = layouts.get(part.layout).filter(|_| !rest.is_empty());
        let Some(layout) = layout else {
            self.miss_listed(&part);
            self.part += 1;
            self.at = self.parts.get(self.part).map_or(0, |part| part.start);
            self.entry = Some(Place::Number(0));
            let begin = self.parts.get(self.part).and_then(|part| part.begin);
            self.repeatable.retain(|packet| packet.begin >= begin);
            return self.part < self.parts.len();
        };
        if self.state.registers.len() != layout.registers {
            self.state.registers = vec![NO_VALUE; layout.registers];
        }
        let before = self.state.clock;
        match packets::read(layout, rest, self.at as u64, &mut self.state) {
            Ok(packet) => {
                self.compare_with_index(&part, &packet);
                self.at += packet.bytes.len();
                let previous = Previous {
                    begin: packet.numbers.begin,
                    end: packet.numbers.end,
                    discarded: packet.numbers.discarded,
                    number: packet.numbers.number,
                    size: packet.bytes.len(),
                };
                if self.is_repeated(previous) {
                    self.state.clock = before;
                    return true;
                }
                self.timing = timing(part.layout, packet.class);
                if packet.numbers.begin.is_none() {
                    self.state.clock = before;
                }
                if let Some(uuid) = packet.other_trace.filter(|_| self.other_trace.is_none()) {
                    let (kind, offset) = (GapKind::OtherTrace(uuid), packet.offset);
                    self.gaps.push_back(Gap { kind, between: None, offset });
                }
                self.other_trace = packet.other_trace;
                self.gaps_before(&packet);
                self.previous = Some(previous);
                self.packets += 1;
                (self.layout, self.class) = (part.layout, packet.class);
                self.moved = None;
                self.bits = Bits { bytes: packet.bytes, at: packet.body, end: packet.end };
                self.event_at = packet.body;
                if let Some(begin) = packet.numbers.begin {
                    self.shift = 0;
                    self.begin = begin;
                }
                self.lateness = self.growing.lateness();
                self.cpu = packet.numbers.cpu.map(|_| packet.processor);
                self.packet = Some(packet);
                // A packet that does not state its size grows with its file.
                let grows = self.growing.grows && self.part + 1 >= self.parts.len();
                self.held = self.packet.filter(|packet| grows && !packet.has_size());
            }
            Err(fault)
                if fault.is_incomplete
                    && self.growing.grows
                    && self.part + 1 >= self.parts.len() =>
            {
                self.state.clock = before;
                self.is_incomplete = true;
            }
            Err(_) if rest.iter().all(|byte| *byte == 0) => self.at = part.bytes.len(),
            Err(fault) => {
                self.state.clock = before;
                let offset = self.at as u64;
                let kind = GapKind::Damage(fault.message);
                self.gaps.push_back(Gap { kind, between: None, offset });
                self.at += self
                    .next_listed(&part)
                    .or_else(|| packets::find(layout, rest))
                    .filter(|length| *length <= rest.len())
                    .unwrap_or(rest.len());
                self.entry = self.entry.map(|_| Place::From(self.at as u64));
            }
        }
        true
    }

    /// Compares a packet with the index of its file. If the index disagrees, it is not used any
    /// more.
    pub(super) fn compare_with_index(&mut self, part: &Part<'_>, packet: &Packet<'_>) {
        let Some(place) = self.entry else { return };
        let listed = part.index.and_then(|index| {
            let number = index.number(place);
            Some((number, index.get(number)?))
        });
        self.entry = match (listed, place) {
            // Recorders write an entry of the index after its packet. The index file itself can
            // also appear after packets.
            (None, Place::Number(number)) => Some(Place::Number(number + 1)),
            (None, Place::From(_)) => Some(Place::From(packet.offset + 1)),
            (Some((number, entry)), _) => match entry.difference(packet) {
                None => Some(Place::Number(number + 1)),
                Some(difference) => {
                    let (kind, offset) = (GapKind::Index(difference), packet.offset);
                    self.gaps.push_back(Gap { kind, between: None, offset });
                    None
                }
            },
        };
    }

    /// After a packet that cannot be read, returns the number of bytes to the next packet in the
    /// index.
    pub(super) fn next_listed(&self, part: &Part<'_>) -> Option<usize> {
        let (index, _) = part.index.zip(self.entry)?;
        let entry = index.get(index.first_from(self.at as u64 + 1))?;
        Some(usize::try_from(entry.offset).ok()? - self.at)
    }

    /// Adds a gap if the index lists packets after the end of the file.
    pub(super) fn miss_listed(&mut self, part: &Part<'_>) {
        let listed = part.index.zip(self.entry);
        let missing =
            listed.map_or(0, |(index, place)| index.len().saturating_sub(index.number(place)));
        if missing > 0 {
            let (kind, offset) = (GapKind::Listed(missing as u64), self.at as u64);
            self.gaps.push_back(Gap { kind, between: None, offset });
            // Forget the number of the previous packet, so that the same gap is not reported again.
            self.previous = self.previous.map(|previous| Previous { number: None, ..previous });
        }
    }

    /// Returns true if a packet was read before. Snapshots contain packets of earlier snapshots.
    /// Stores the packet if it was not read before and the next file may repeat it.
    pub(super) fn is_repeated(&mut self, packet: Previous) -> bool {
        if packet.number.is_none() {
            return false;
        }
        if self.previous == Some(packet) || self.repeatable.contains(&packet) {
            return true;
        }
        let is_repeatable = match self.parts.get(self.part + 1) {
            Some(next) => packet.begin >= next.begin,
            None => self.growing.grows,
        };
        if is_repeatable {
            self.repeatable.insert(packet);
        }
        false
    }

    /// Increases the stamps of a packet's events if the next event is late, and reports it at the
    /// event. `timing` is the conversion to the stamps of events that are not late.
    #[cold]
    pub(super) fn check_late(&mut self, timing: Timing) {
        let behind = self.growing.delivered.saturating_sub(timing.stamp(self.time));
        self.timing = timing.later(behind);
        self.lateness = Lateness::OnTime;
        if behind > 0 {
            self.lateness = Lateness::Late;
            self.gap(GapKind::Late(behind), None, self.event_at);
        }
    }

    /// Removes the report that the next event is late. The next reading of the event's header
    /// decides again whether the event is late.
    #[cold]
    pub(super) fn forget_lateness(&mut self) {
        self.gaps.retain(|gap| !matches!(gap.kind, GapKind::Late(_)));
    }

    /// Ends the increase of stamps after a late packet. The next packet may also be late: compared
    /// with the events of this packet, whose stamps were increased.
    #[cold]
    pub(super) fn end_late(&mut self, timing: Timing) {
        let delivered = &mut self.growing.delivered;
        *delivered = self.timing.stamp(self.time).max(*delivered);
        self.timing = timing;
        self.lateness = Lateness::OnTime;
    }
}

impl Growing {
    /// Returns the state before the first event that is read from a packet.
    const fn lateness(&self) -> Lateness {
        match self.delivered {
            0 => Lateness::OnTime,
            _ => Lateness::Unknown,
        }
    }
}
