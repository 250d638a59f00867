//! Reads one stream: its packets in sequence, and the events in these packets.
//!
//! [`Stream::advance`] reads only the header of the next event, because the header contains the
//! time by which streams are merged. [`Stream::body`] reads the rest of the event.

use std::collections::{HashSet, VecDeque};

use foldhash::fast::RandomState;

use super::bits::ones;
use super::clocks::Timing;
use super::index::Index;
use super::layout::{EventLayout, Layout};
use super::packets::{self, Packet};
use super::position::{Bits, Fault, FaultKind};
use super::program::{NO_VALUE, Nothing, Output, State};

/// If a stamp is smaller than the previous one by at most this number of cycles, the events are out
/// of order. A larger difference is a wrap or a reset. At 1 GHz, this number of cycles lasts 1 ms.
/// In Zephyr, an interrupt can write its event before the event that it interrupted.
const MAX_REORDERED: u64 = 1_000_000;

/// Number of cycles after which a stamp of 32 bits wraps.
const WRAP: u64 = 1 << 32;

/// A part of a stream: the packets in one file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    /// Index of the file.
    pub(super) file: usize,
    pub(super) bytes: &'a [u8],
    /// Index of the layout.
    pub(super) layout: usize,
    /// The value of the clock at the beginning of the first packet, if known.
    pub(super) begin: Option<u64>,
    /// Offset of the first packet, in bytes.
    pub(super) start: usize,
    /// The packets that the file should contain, if there is an index.
    pub(super) index: Option<Index<'a>>,
}

/// A gap, or another irregularity, before an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Gap {
    pub(super) kind: GapKind,
    /// The values of the clock before and after the missing events, if known.
    pub(super) between: Option<(u64, u64)>,
    /// Offset in the file, in bytes.
    pub(super) offset: u64,
}

/// The kind of a gap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum GapKind {
    /// The recorder discarded events and counted them. `count` is `None` if the stream does not
    /// begin with its first packet. In the first packet, `first` is the recorder's count; in other
    /// packets it is 0.
    Events { count: Option<u64>, first: u64 },
    /// This number of packets is missing.
    Packets(u64),
    /// Bytes that cannot be read, with the reason.
    Damage(String),
    /// Zeros after the last event of a memory image.
    Padding(u64),
    /// The clock went back by this number of cycles.
    Backwards(u64),
    /// The next packet has the UUID of another trace.
    OtherTrace([u8; 16]),
    /// The next packet was written after later events of other streams had been delivered. The
    /// times of its events are increased by this number of cycles.
    Late(u64),
    /// The index lists this number of packets after the end of the file.
    Listed(u64),
    /// The index file disagrees with a packet, and is not used any more. The value is the
    /// difference.
    Index(String),
}

/// The kind of the next element of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// An event. Its header was read.
    Event,
    /// A gap. The caller takes it with [`Stream::take_gap`].
    Gap,
    /// There is no next element until the files grow.
    Wait,
    /// There is no next element, because the stream has ended.
    End,
}

/// The facts about the previous packet that are needed to find gaps and repeated packets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Previous {
    begin: Option<u64>,
    end: Option<u64>,
    discarded: Option<(u64, u8)>,
    number: Option<(u64, u8)>,
    size: usize,
}

/// A stream.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    parts: Vec<Part<'a>>,
    part: usize,
    /// Offset of the next packet in its file.
    at: usize,
    pub(super) packet: Option<Packet<'a>>,
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
    /// Position of the current event in its packet, to detect events without bits.
    moved: Option<u64>,
    previous: Option<Previous>,
    /// The UUID of the current packet, if it differs from that of the metadata.
    other_trace: Option<[u8; 16]>,
    gaps: VecDeque<Gap>,
    pub(super) next: Next,
    /// Number of cycles to add to stamps, to compensate for steps back of the clock.
    shift: u64,
    /// True if an interrupt recorded the previous event.
    after_interrupt: bool,
    /// The way to read files that still grow; `None` if the files are complete.
    growing: Option<Growing>,
    /// The packet that continues when the files have grown.
    held: Option<Packet<'a>>,
    /// True if the next packet is not complete yet.
    is_incomplete: bool,
    /// Number of the next packet in the index of its file; `None` if the index is not used.
    entry: Option<usize>,
    /// The packets that may occur again in the next files because they begin after the beginning of
    /// the next file.
    repeatable: HashSet<Previous, RandomState>,
}

/// The way to read a stream whose files still grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Growing {
    /// The stamp up to which all events have been delivered. Packets that begin earlier are late.
    pub(super) delivered: u64,
    /// The stamp up to which other streams do not wait for this stream.
    pub(super) assumed: u64,
}

impl<'a> Stream<'a> {
    pub(super) fn new(parts: Vec<Part<'a>>) -> Self {
        let at = parts.first().map_or(0, |part| part.start);
        Self {
            parts,
            part: 0,
            at,
            packet: None,
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
            growing: None,
            held: None,
            is_incomplete: false,
            entry: Some(0),
            repeatable: HashSet::default(),
        }
    }

    /// Returns the stream, which from now on reads from other copies of its files. `part` is the
    /// index of the current file. Up to the current position, the bytes of all files must be the
    /// same as before.
    pub(super) fn onto<'b>(
        self,
        parts: Vec<Part<'b>>,
        part: usize,
        growing: Option<Growing>,
    ) -> Stream<'b> {
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
        Stream {
            parts,
            part,
            at,
            packet,
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
            held: held.filter(|packet| !packet.has_size()),
            is_incomplete: false,
            entry: self.entry,
            repeatable: self.repeatable,
        }
    }

    /// Returns the stream, which from now on reads its files in this way.
    pub(super) fn of_growing_files(self, growing: Option<Growing>) -> Self {
        Self { growing, ..self }
    }

    /// Returns the stream without the bytes of its files.
    pub(super) fn detached(self) -> Stream<'static> {
        let growing = self.growing;
        self.onto(Vec::new(), 0, growing)
    }

    /// Returns true if any part of the stream was read.
    pub(super) fn has_begun(&self) -> bool {
        self.packets > 0 || self.part > 0 || self.at > 0
    }

    /// Sets the stamp up to which other streams do not wait for this stream.
    pub(super) fn assume(&mut self, stamp: u64) {
        if let Some(growing) = &mut self.growing {
            growing.assumed = stamp;
        }
    }

    /// Continues with another file, from its start, because the current file is gone.
    pub(super) fn leave_file(&mut self) {
        (self.at, self.packet, self.held, self.entry) = (0, None, None, Some(0));
    }

    /// Returns the stamp at the end of the last complete packet in the files, without reading the
    /// packet's events.
    pub(super) fn newest(
        &self,
        layouts: &[Layout],
        timing: impl Fn(usize, usize) -> Timing,
    ) -> u64 {
        let (mut state, mut at) = (self.state.clone(), self.at);
        let mut newest = self.timing.stamp(self.time.max(self.begin));
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

    /// Returns the part that contains the next event, or the last part at the end of the stream.
    pub(super) fn part(&self) -> Option<Part<'a>> {
        self.parts.get(self.part).or(self.parts.last()).copied()
    }

    /// Returns the stamp of the next element. A gap is not earlier than the beginning of its
    /// packet.
    #[inline]
    pub(super) fn stamp(&self) -> u64 {
        match self.next {
            Next::Gap => self.timing.stamp(self.time.max(self.begin)),
            Next::Wait => self.least(),
            _ => self.timing.stamp(self.time),
        }
    }

    /// Returns a lower bound for the stamp of the next element, which the files do not contain yet.
    #[cold]
    fn least(&self) -> u64 {
        let end = match self.held.or(self.packet) {
            Some(_) => None,
            None => self.previous.and_then(|previous| previous.end),
        };
        let stamp = self.timing.stamp(self.time.max(self.begin).max(end.unwrap_or(0)));
        stamp.max(self.growing.map_or(0, |growing| growing.assumed))
    }

    /// Returns true if there can be a next element only after the files have grown.
    fn waits(&self) -> bool {
        let is_last = self.part + 1 >= self.parts.len();
        let is_read = self.parts.get(self.part).is_none_or(|part| self.at >= part.bytes.len());
        self.growing.is_some()
            && (self.held.is_some() || self.is_incomplete || (is_last && is_read))
    }

    /// Removes the next element, which is a gap.
    pub(super) fn take_gap(&mut self) -> Option<Gap> {
        self.gaps.pop_front()
    }

    /// Reads the header of the next event, or finds the next gap. Sets [`Stream::next`].
    #[inline]
    pub(super) fn advance(&mut self, layouts: &[Layout], timing: impl Fn(usize, usize) -> Timing) {
        self.next = if self.gaps.is_empty() && self.begin_event(layouts) {
            Next::Event
        } else {
            self.find_next(layouts, timing)
        };
    }

    /// Opens packets until there is an event or a gap.
    #[cold]
    fn find_next(&mut self, layouts: &[Layout], timing: impl Fn(usize, usize) -> Timing) -> Next {
        loop {
            if !self.gaps.is_empty() {
                return Next::Gap;
            }
            if self.packet.is_none() {
                if self.waits() {
                    return Next::Wait;
                }
                if !self.open(layouts, &timing) && self.gaps.is_empty() {
                    return Next::End;
                }
            }
            if self.gaps.is_empty() && self.begin_event(layouts) {
                return Next::Event;
            }
        }
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
            self.lose("found an event without bits, which would never end".to_owned());
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

    /// Handles a stamp of 32 bits that seems to have wrapped but is merely out of order.
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

    /// Drops the rest of the packet after an event that cannot be read. The stream then has a gap.
    #[cold]
    pub(super) fn lose_body(&mut self, fault: Fault) {
        if !self.holds(Some(fault.kind)) {
            self.lose(format!("expected an event, {fault}"));
        }
    }

    /// Keeps the packet at the current event, if the files can grow and may then contain the whole
    /// event. If there is no fault, the metadata does not contain the event.
    #[cold]
    fn holds(&mut self, fault: Option<FaultKind>) -> bool {
        let Some(packet) = self.packet.filter(|_| self.growing.is_some()) else { return false };
        let is_last = self.part + 1 >= self.parts.len();
        let can_grow = match fault {
            None => true,
            Some(FaultKind::Beyond | FaultKind::Unterminated) => is_last && !packet.has_size(),
            Some(_) => false,
        };
        if can_grow {
            self.bits.at = self.event_at;
            (self.held, self.packet) = (Some(packet), None);
        }
        can_grow
    }

    /// Drops the rest of the packet, in which no event begins. It can be padding. `fault` is the
    /// fault in the event's header, or `None` if the event is merely unknown.
    #[cold]
    fn lose_event(&mut self, fault: Option<FaultKind>, message: String) {
        if self.holds(fault) {
            return;
        }
        let Some(packet) = self.packet.filter(|_| self.is_padding()) else {
            return self.lose(message);
        };
        let bytes = packet.bytes.len() as u64 - self.event_at / 8;
        self.gap(GapKind::Padding(bytes), None, self.event_at);
        self.packet = None;
    }

    /// Drops the rest of the packet.
    #[cold]
    fn lose(&mut self, message: String) {
        self.gap(GapKind::Damage(message), None, self.event_at);
        self.packet = None;
    }

    /// Returns true if packets have no size field and the rest of the packet consists of zeros.
    #[cold]
    fn is_padding(&self) -> bool {
        let Some(packet) = self.packet else { return false };
        let rest = packet.bytes.get((self.event_at / 8) as usize..).unwrap_or_default();
        !packet.has_size() && rest.iter().all(|byte| *byte == 0)
    }

    /// Adds a gap at a position in the current packet.
    fn gap(&mut self, kind: GapKind, between: Option<(u64, u64)>, at: u64) {
        let offset = self.packet.map_or(self.at as u64, |packet| packet.offset + at / 8);
        self.gaps.push_back(Gap { kind, between, offset });
    }

    /// Opens the next packet. Returns false at the end of the stream.
    #[cold]
    fn open(&mut self, layouts: &[Layout], timing: &impl Fn(usize, usize) -> Timing) -> bool {
        let Some(part) = self.parts.get(self.part).copied() else { return false };
        let rest = part.bytes.get(self.at..).unwrap_or_default();
        let layout = layouts.get(part.layout).filter(|_| !rest.is_empty());
        let Some(layout) = layout else {
            self.miss_listed(&part);
            self.part += 1;
            self.at = self.parts.get(self.part).map_or(0, |part| part.start);
            self.entry = Some(0);
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
                    self.move_late(begin, packet.offset);
                }
                self.packet = Some(packet);
                // A packet that does not state its size grows with its file.
                let grows = self.growing.is_some() && self.part + 1 >= self.parts.len();
                self.held = self.packet.filter(|packet| grows && !packet.has_size());
            }
            Err(fault)
                if fault.is_incomplete
                    && self.growing.is_some()
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
            }
        }
        true
    }

    /// Compares a packet with the index of its file. If the index disagrees, it is not used any
    /// more.
    fn compare_with_index(&mut self, part: &Part<'_>, packet: &Packet<'_>) {
        let Some((index, number)) = part.index.zip(self.entry) else { return };
        match index.get(number).map(|entry| entry.difference(packet)) {
            // Recorders write the index after the packet.
            None | Some(None) => self.entry = Some(number + 1),
            Some(Some(difference)) => {
                self.entry = None;
                let (kind, offset) = (GapKind::Index(difference), packet.offset);
                self.gaps.push_back(Gap { kind, between: None, offset });
            }
        }
    }

    /// After a packet that cannot be read, returns the number of bytes to the next packet in the
    /// index.
    fn next_listed(&mut self, part: &Part<'_>) -> Option<usize> {
        let (index, _) = part.index.zip(self.entry)?;
        let number = index.first_from(self.at as u64 + 1);
        let offset = usize::try_from(index.get(number)?.offset).ok()?;
        self.entry = Some(number);
        Some(offset - self.at)
    }

    /// Adds a gap if the index lists packets after the end of the file.
    fn miss_listed(&mut self, part: &Part<'_>) {
        let listed = part.index.zip(self.entry);
        let missing = listed.map_or(0, |(index, number)| index.len().saturating_sub(number));
        if missing > 0 {
            let (kind, offset) = (GapKind::Listed(missing as u64), self.at as u64);
            self.gaps.push_back(Gap { kind, between: None, offset });
            // Forget the number of the previous packet, so that the same gap is not reported again.
            self.previous = self.previous.map(|previous| Previous { number: None, ..previous });
        }
    }

    /// Returns true if a packet was read before. Snapshots contain packets of earlier snapshots. If
    /// the packet was not read and the next file can contain it again, stores the packet.
    fn is_repeated(&mut self, packet: Previous) -> bool {
        if packet.number.is_none() {
            return false;
        }
        if self.previous == Some(packet) || self.repeatable.contains(&packet) {
            return true;
        }
        let is_repeatable = match self.parts.get(self.part + 1) {
            Some(next) => packet.begin >= next.begin,
            None => self.growing.is_some(),
        };
        if is_repeatable {
            self.repeatable.insert(packet);
        }
        false
    }

    /// Shifts the times of a packet's events if the packet begins before events that were already
    /// delivered.
    fn move_late(&mut self, begin: u64, offset: u64) {
        let Some(growing) = self.growing else { return };
        let behind = growing.delivered.saturating_sub(self.timing.stamp(begin));
        let cycles = self.timing.cycles(behind);
        if cycles > 0 {
            self.shift = cycles;
            self.begin = begin.saturating_add(cycles);
            self.gaps.push_back(Gap { kind: GapKind::Late(cycles), between: None, offset });
        }
    }

    /// Finds the events and packets that are missing before a packet.
    fn gaps_before(&mut self, packet: &Packet<'a>) {
        let numbers = packet.numbers;
        let offset = packet.offset;
        let end = numbers.end.or(numbers.begin);
        let previous_end = self.previous.and_then(|previous| previous.end.or(previous.begin));
        let first_number = numbers.number.is_none_or(|(number, _)| number == 0);
        if let Some((count, bits)) = numbers.discarded {
            let known = self.previous.and_then(|previous| previous.discarded);
            let missing = known.map(|(before, _)| count.wrapping_sub(before) & ones(bits));
            let (lost, first) = match (missing, count) {
                (Some(missing), _) => (Some(missing), 0),
                (None, count) if first_number => (Some(count), count),
                (None, count) => (None, count),
            };
            if missing.unwrap_or(count) > 0 {
                let from = if first > 0 { numbers.begin } else { previous_end.or(numbers.begin) };
                let between = from.zip(end);
                let kind = GapKind::Events { count: lost, first };
                self.gaps.push_back(Gap { kind, between, offset });
            }
        }
        if let Some((number, bits)) = numbers.number
            && let Some((before, _)) = self.previous.and_then(|previous| previous.number)
        {
            let missing = number.wrapping_sub(before).wrapping_sub(1) & ones(bits);
            if missing > 0 && missing < ones(bits) / 2 {
                let between = previous_end.zip(numbers.begin);
                self.gaps.push_back(Gap { kind: GapKind::Packets(missing), between, offset });
            }
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
