//! Finds packets in arbitrary bytes. The input is either a memory dump of a target or the bytes
//! received on a line. A dump contains a ring. The bytes of a line may begin within a packet,
//! contain foreign bytes, or have gaps.

use std::sync::Arc;

use tracewell_wire::target::definition::ENTRY;
use tracewell_wire::target::packet::{HEADER, MAX_PACKET, SYNC};
use tracewell_wire::target::ring::{CONTROL, MAGIC};
use tracewell_wire::target::{Control, DEFINITIONS, Definition, Lookup, Packet};

use super::FORMAT;
use super::lanes::{Lanes, Origin};
use super::rings::Ring;
use super::sums::Sums;
use crate::format::kernel::Kernel;
use crate::format::{Confidence, Decoder, Input, OptionError, Progress, ReadError, Settings};
use crate::model::schema::Schema;
use crate::model::{
    Clock, Emitter, Fact, FactForm, Flow, LossCause, PayloadLayout, Processor, Rate, Severity,
    Trace,
};

#[derive(Debug)]
struct TargetDecoder {
    schema: Arc<Schema>,
    rate: Option<Rate>,
    lanes: Lanes,
    kernel: Kernel,
    begun: bool,
    /// Number of bytes at the start of the input that contain neither packets nor a ring.
    passed: usize,
    /// True if the bytes before the current position are not a packet.
    in_noise: bool,
    definitions: u64,
    skipped: u64,
}

/// Creates a decoder with the options of this format.
pub(super) fn new(settings: &Settings) -> Result<Box<dyn Decoder>, OptionError> {
    let rate: Option<Rate> = settings.options.parse("rate")?;
    let mut kernel = Kernel::default();
    kernel.names.rate = rate;
    Ok(Box::new(TargetDecoder {
        schema: FORMAT.with_schemas(super::schema(), settings)?,
        rate,
        lanes: Lanes::default(),
        kernel,
        begun: false,
        passed: 0,
        in_noise: false,
        definitions: 0,
        skipped: 0,
    }))
}

/// Number of bytes at the start of an input that the decoder examines to find its kind.
const EXAMINED: usize = 2 * MAX_PACKET;

/// The kind of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Packets, possibly with other bytes between them.
    Line,
    /// A dump of memory that contains a ring.
    Dump,
    /// The examined bytes show neither a line nor a ring, but a dump can contain a ring after these
    /// bytes.
    Unknown,
    /// More bytes are needed.
    Incomplete,
}

/// Returns the kind of an input, according to its first bytes. A packet at the start indicates a
/// line, and so do two adjacent packets. A control block indicates a dump. Whichever of these comes
/// first determines the kind.
fn kind(start: &[u8], last: bool) -> Kind {
    let complete = last || start.len() >= EXAMINED;
    let start = start.get(..EXAMINED).unwrap_or(start);
    let mut sums = Sums::new(start);
    for (at, byte) in start.iter().enumerate() {
        // In files of other formats, most bytes begin neither a control block nor a packet.
        if *byte != MAGIC[0] && *byte != SYNC[0] {
            continue;
        }
        let rest = start.get(at..).unwrap_or_default();
        if Control::read(rest).is_some() {
            return Kind::Dump;
        }
        let next = match sums.lookup(at) {
            Lookup::Packet(_) if at == 0 => return Kind::Line,
            Lookup::Packet(packet) => Lookup::at(rest.get(packet.len()..).unwrap_or_default()),
            first => first,
        };
        match next {
            Lookup::Packet(_) => return Kind::Line,
            Lookup::Incomplete(_) if !complete => return Kind::Incomplete,
            _ => {}
        }
    }
    if complete { Kind::Unknown } else { Kind::Incomplete }
}

/// Determines the kind by searching the bytes. A line can begin with other bytes, such as messages
/// at start-up. Two packets near each other indicate a line. A single packet does not, because a
/// dump can contain a copy of a packet before its control block. Also returns the number of bytes
/// that the decoder does not need.
fn search(bytes: &[u8]) -> (Kind, usize) {
    let mut packet = None;
    let mut sums = Sums::new(bytes);
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= CONTROL) {
        if Control::read(rest).is_some() {
            return (Kind::Dump, at);
        }
        // Only two packets near each other count as a line.
        packet = packet.filter(|packet| at - packet <= EXAMINED);
        match sums.lookup(at) {
            Lookup::Packet(_) if packet.is_some() => return (Kind::Line, 0),
            Lookup::Packet(_) => packet = Some(at),
            // The packet's end has not arrived yet, so wait for more bytes.
            Lookup::Incomplete(_) => break,
            Lookup::No => {}
        }
        at += 1;
    }
    (Kind::Unknown, packet.unwrap_or(at))
}

/// Recognises a ring or a packet.
pub(super) fn recognise(start: &[u8]) -> Option<Confidence> {
    let found = match kind(start, true) {
        Kind::Line | Kind::Dump => true,
        Kind::Unknown | Kind::Incomplete => Ring::find(start).is_some(),
    };
    found.then_some(Confidence::Certain)
}

impl Decoder for TargetDecoder {
    fn trace(&self) -> Trace {
        let payload = PayloadLayout::Values { digits: 8 };
        let trace =
            Trace::new(FORMAT.name, self.schema.clone(), payload, Clock::of_64_bits(self.rate));
        Trace { processor: Processor::Switches, ..trace }
    }

    fn decode_to(
        &mut self,
        input: Input<'_>,
        out: &mut Emitter<'_>,
    ) -> Result<Progress, ReadError> {
        if !self.begun {
            let mut found = match self.passed {
                0 => kind(input.bytes, input.last),
                _ => Kind::Unknown,
            };
            let mut consumed = 0;
            if found == Kind::Unknown && !input.last {
                (found, consumed) = search(input.bytes);
            }
            match found {
                Kind::Line => {}
                Kind::Dump | Kind::Unknown if input.last => {
                    if let Some(ring) = Ring::find(input.bytes) {
                        self.dump(ring, &input, out);
                        return Ok(Progress::Done);
                    }
                }
                Kind::Dump | Kind::Unknown | Kind::Incomplete => {
                    self.passed += consumed;
                    let wanted = input.bytes.len() - consumed + 1;
                    return Ok(Progress::More { consumed, wanted });
                }
            }
            self.begun = true;
            if self.passed > 0 {
                self.noise(input.offset - self.passed as u64, self.passed, false, out);
            }
        }
        let progress = self.line(&input, out).continue_value().unwrap_or(Progress::Done);
        self.facts("line", out.trace);
        // If the sink stopped, `Reading` has stored the reason.
        let _ = out.flush();
        Ok(progress)
    }
}

impl TargetDecoder {
    /// Decodes the packets of a line.
    fn line(&mut self, input: &Input<'_>, out: &mut Emitter<'_>) -> Flow<Progress> {
        let mut at = 0;
        let mut sums = Sums::new(input.bytes);
        loop {
            let rest = input.bytes.get(at..).unwrap_or_default();
            let skip = sync(rest, input.last);
            if skip > 0 {
                // The last byte may be the first of the two sync bytes of a truncated packet.
                let is_cut = rest == &SYNC[..1];
                self.noise(input.offset + at as u64, skip, is_cut, out);
                at += skip;
                continue;
            }
            if rest.is_empty() {
                break;
            }
            // Except in noise, a packet almost always directly follows the previous one, so stored
            // checksums of prefixes would save no time.
            let found = if self.in_noise { sums.lookup(at) } else { Lookup::at(rest) };
            match found {
                Lookup::Packet(packet) => {
                    self.packet(&packet, input.offset + at as u64, Origin::Line, out)?;
                    at += packet.len();
                }
                Lookup::Incomplete(wanted) if !input.last => {
                    return Flow::Continue(Progress::More { consumed: at, wanted });
                }
                Lookup::Incomplete(_) => {
                    // The packet's length extends past the end of the input. Either the reader
                    // stopped receiving within this packet, or the length is damaged and other
                    // packets follow.
                    let is_packet = |next: usize| {
                        let rest = rest.get(next..).unwrap_or_default();
                        matches!(Lookup::at(rest), Lookup::Packet(_))
                    };
                    let is_cut = !(1..rest.len()).any(is_packet);
                    let bytes = if is_cut { rest.len() } else { 1 };
                    self.noise(input.offset + at as u64, bytes, is_cut, out);
                    at += bytes;
                }
                Lookup::No => {
                    self.noise(input.offset + at as u64, 1, false, out);
                    at += 1;
                }
            }
        }
        if !input.last {
            return Flow::Continue(Progress::More { consumed: at, wanted: HEADER });
        }
        self.lanes.finish(&mut self.kernel, out)?;
        Flow::Continue(Progress::Done)
    }

    /// Handles bytes that are not a packet. Reports adjacent bytes only once. `is_cut` is true if
    /// the bytes are the beginning of a packet at the end of the input.
    fn noise(&mut self, offset: u64, bytes: usize, is_cut: bool, out: &mut Emitter<'_>) {
        self.skipped += bytes as u64;
        if std::mem::replace(&mut self.in_noise, true) {
            return;
        }
        self.lanes.skipped(offset, is_cut, out);
    }

    fn packet(
        &mut self,
        packet: &Packet<'_>,
        offset: u64,
        origin: Origin,
        out: &mut Emitter<'_>,
    ) -> Flow {
        self.in_noise = false;
        if packet.header.core == DEFINITIONS {
            for entry in packet.payload.chunks_exact(ENTRY).filter_map(Definition::read) {
                self.define(&entry, out)?;
            }
            return Flow::Continue(());
        }
        self.lanes.add(packet, offset, origin, &mut self.kernel, out)
    }

    fn define(&mut self, entry: &Definition, out: &mut Emitter<'_>) -> Flow {
        if !self.kernel.names.has(entry) {
            self.definitions += 1;
            out.flush()?;
            self.kernel.names.define(entry, out.trace);
        }
        Flow::Continue(())
    }

    /// Decodes the ring in a dump.
    fn dump(&mut self, ring: Ring<'_>, input: &Input<'_>, out: &mut Emitter<'_>) {
        // If the sink stopped, `Reading` has stored the reason.
        let _ = self.ring(ring, input, out).is_continue() && out.flush().is_continue();
        let wanted = ring.control.len();
        if ring.bytes.len() < wanted {
            let end = input.offset + input.bytes.len() as u64;
            let found = ring.bytes.len();
            let message = format!("expected {wanted} bytes of a ring, found {found}");
            out.trace.diagnostics.add(Severity::Damage, end, message);
        }
        self.facts("ring", out.trace);
        out.trace.facts.extend([
            decimal("ring_offset", input.offset + ring.at as u64),
            decimal("slot_bytes", u64::from(ring.control.slot)),
            decimal("slots", u64::from(ring.control.slots)),
            decimal("definitions_dropped", u64::from(ring.control.dropped)),
        ]);
    }

    fn ring(&mut self, ring: Ring<'_>, input: &Input<'_>, out: &mut Emitter<'_>) -> Flow {
        let start = input.offset + ring.at as u64;
        for entry in ring.definitions() {
            self.define(&entry, out)?;
        }
        let (packets, others) = ring.packets();
        for (at, packet) in packets {
            self.packet(&packet, start + at as u64, Origin::Ring, out)?;
        }
        self.lanes.finish(&mut self.kernel, out)?;
        if others > 0 {
            let message = format!("{others} slots contain no packet with a valid checksum");
            // The numbers of later packets show how many events a damaged packet contained. The
            // newest packets may be damaged too, and no packet follows them, so the total is
            // unknown.
            return out.damage(message, (None, LossCause::Damaged), start);
        }
        Flow::Continue(())
    }

    fn facts(&self, container: &'static str, trace: &mut Trace) {
        let counts = self.kernel.counts;
        let container = Fact { name: "container", value: 0, form: FactForm::Text(container) };
        trace.facts = vec![
            container,
            decimal("packets", self.lanes.packets),
            decimal("packets_out_of_order", self.lanes.out_of_order),
            decimal("skipped_bytes", self.skipped),
            decimal("definitions", self.definitions),
            decimal("ready_again", counts.ready_again),
            decimal("unmatched_interrupt_exits", counts.unmatched_exits),
            decimal("unknown_events", counts.unknown_events),
            decimal("undescribed_arguments", counts.undescribed_arguments),
        ];
    }
}

const fn decimal(name: &'static str, value: u64) -> Fact {
    Fact { name, value, form: FactForm::Decimal }
}

/// Returns the number of bytes before the next possible start of a packet.
fn sync(bytes: &[u8], last: bool) -> usize {
    match bytes.windows(SYNC.len()).position(|two| *two == SYNC) {
        Some(at) => at,
        // The last byte may be the first of the two sync bytes.
        None if !last && bytes.ends_with(&SYNC[..1]) => bytes.len() - 1,
        None => bytes.len(),
    }
}
