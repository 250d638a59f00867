//! Where records lie in an input: files and bare images of records, chunk images with their
//! headers, captures of datagrams.

use std::ops::Range;

use tracewell_wire::shark::{
    AreaRecords, ChunkError, ChunkHeader, DatagramHeader, Frame, Record, SenderStart, ids,
};

use crate::format::Confidence;
use crate::model::{Diagnostics, LossCause, Severity};
use crate::text::{counted, missing, times};

/// What an input is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Records, one after the other, with or without empty slots between.
    Records,
    /// A chunk's memory from its descriptor on.
    Chunk,
    /// A capture of datagrams.
    Capture,
}

impl Kind {
    pub(super) const NAMES: [(&'static str, Self); 3] =
        [("records", Self::Records), ("chunk", Self::Chunk), ("capture", Self::Capture)];
}

/// Records that lie side by side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Area {
    /// Their bytes within the input: whole slots.
    pub(super) bytes: Range<usize>,
    /// Whether the area goes on where the one before ended, as the packets of a chunk do.
    pub(super) continues: bool,
    /// Whether it is the emergency area of the area before: of a ring it has older records.
    pub(super) emergency: bool,
    /// What is missing before it, with the number of records where that is known.
    pub(super) missing: Option<Missing>,
}

/// Records that are missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Missing {
    pub(super) events: Option<u64>,
    pub(super) cause: LossCause,
}

/// The areas of an input, and what is missing behind the last of them.
#[derive(Debug, Default)]
pub(super) struct Areas {
    pub(super) list: Vec<Area>,
    pub(super) missing: Vec<(usize, Missing)>,
    /// Records of compressed chunks, which lie behind the input as far as areas are concerned.
    pub(super) unpacked: Vec<u8>,
}

/// Bytes of records that compressed ones may make, however few they are, and times the input's bytes where it
/// has more: what somebody made up to fill the memory is no chunk.
const UNPACKED_AT_LEAST: usize = 16 << 20;
const UNPACKED_TIMES: usize = 64;

/// Expands what LZ4 compressed.
fn expand(stored: &[u8], place: &mut [u8]) -> Option<usize> {
    lz4_flex::block::decompress_into(stored, place).ok()
}

impl Areas {
    /// Adds the records of a compressed chunk, whose packed ones lie at `packed`.
    fn unpack(&mut self, input: &[u8], packed: Range<usize>, remarks: &mut Diagnostics) {
        let area = input.get(packed.clone()).unwrap_or_default();
        let most = UNPACKED_AT_LEAST.max(input.len().saturating_mul(UNPACKED_TIMES));
        let (mut start, mut missing) = (self.unpacked.len(), None);
        for record in AreaRecords::new(area, Some(expand)) {
            let (at, message) = match record {
                Ok(record) if self.unpacked.len() < most => {
                    self.unpacked.extend(record.to_bytes());
                    continue;
                }
                Ok(_) => (packed.start, "compressed records are too many to be a chunk's"),
                Err(damage) => {
                    (packed.start + damage.at, "expected a packed record, found other bytes")
                }
            };
            remarks.add(Severity::Damage, at as u64, message);
            self.add_unpacked(input.len(), &mut start, &mut missing);
            missing = Some(Missing { events: None, cause: LossCause::Damaged });
            if self.unpacked.len() >= most {
                break;
            }
        }
        self.add_unpacked(input.len(), &mut start, &mut missing);
        let end = input.len() + self.unpacked.len();
        self.missing.extend(missing.map(|missing| (end, missing)));
    }

    /// Adds what was unpacked from `start` on, if anything was.
    fn add_unpacked(&mut self, input: usize, start: &mut usize, missing: &mut Option<Missing>) {
        let end = self.unpacked.len();
        if *start < end {
            let bytes = input + *start..input + end;
            let missing = missing.take();
            self.list.push(Area { bytes, continues: false, emergency: false, missing });
            *start = end;
        }
    }

    /// Adds a normal area of so many bytes, and the emergency area behind it, if that begins with a slot.
    fn add_both(&mut self, bytes: Range<usize>, normal: usize, remarks: &mut Diagnostics) {
        if normal >= bytes.len() || !normal.is_multiple_of(Record::SIZE) {
            return self.add(bytes, remarks);
        }
        let end = bytes.start + normal;
        self.add(bytes.start..end, remarks);
        self.add(end..bytes.end, remarks);
        if let Some(last) = self.list.last_mut() {
            last.emergency = true;
        }
    }

    /// Adds a row of slots; what is left behind the last whole one is a cut record.
    fn add(&mut self, bytes: Range<usize>, remarks: &mut Diagnostics) {
        let rest = bytes.len() % Record::SIZE;
        let end = bytes.end - rest;
        let bytes = bytes.start..end;
        self.list.push(Area { bytes, continues: false, emergency: false, missing: None });
        if rest > 0 {
            let message = format!("expected a record of {} bytes, found {rest}", Record::SIZE);
            remarks.add(Severity::Damage, end as u64, message);
            self.missing.push((end, Missing { events: Some(1), cause: LossCause::Truncated }));
        }
    }
}

/// Records that are looked at to recognise a file that says nothing of itself.
const LOOKED_AT: usize = 256;

/// What the first bytes of an input look like, and how sure that is.
pub(super) fn recognise(start: &[u8]) -> Option<(Kind, Confidence)> {
    if ChunkHeader::read(start).is_ok() {
        return Some((Kind::Chunk, Confidence::Certain));
    }
    if let Some(confidence) = capture(start) {
        return Some((Kind::Capture, confidence));
    }
    records(start).then_some((Kind::Records, Confidence::Possible))
}

fn capture(start: &[u8]) -> Option<Confidence> {
    let mut rest = start;
    while let Some(frame) = Frame::read(rest) {
        if frame.datagram.starts_with(&DatagramHeader::ID) {
            return Some(Confidence::Certain);
        }
        if !frame.datagram.is_empty() {
            return None;
        }
        rest = frame.rest;
    }
    None
}

/// Whether bytes look like records: known codes, no bits where there are none, stamps that go back
/// no more often than two laps of a ring make them.
fn records(start: &[u8]) -> bool {
    let (slots, _) = start.as_chunks();
    let used = slots.iter().map(Record::from_bytes).filter(|record| !record.is_empty());
    let (mut seen, mut descents, mut before) = (0, 0, 0);
    for record in used.take(LOOKED_AT) {
        let known = ids::NEXT_CHUNK != record.code()
            && crate::model::schema::Schema::shark().defines(u32::from(record.code()));
        if !known || record.unexpected_code_bits() != 0 || record.tsc == 0 {
            return false;
        }
        descents += usize::from(record.tsc < before);
        before = record.tsc;
        seen += 1;
    }
    // A file of a single record has to be believed; empty slots alone do not say whose they are.
    seen > 0 && descents <= 2
}

/// Finds the areas of the part `part` of an input of this kind.
pub(super) fn areas(
    kind: Kind,
    input: &[u8],
    part: Range<usize>,
    areas: &mut Areas,
    remarks: &mut Diagnostics,
) {
    match kind {
        Kind::Records => areas.add(part, remarks),
        Kind::Chunk => chunks(input, part, areas, remarks),
        Kind::Capture => Capture::default().read(input, part, areas, remarks),
    }
}

/// Chunk images, one after the other.
fn chunks(input: &[u8], part: Range<usize>, areas: &mut Areas, remarks: &mut Diagnostics) {
    let mut at = part.start;
    while at < part.end {
        let bytes = input.get(at..part.end).unwrap_or_default();
        let header = match ChunkHeader::read(bytes) {
            Ok(header) => header,
            Err(ChunkError::NotAChunk { .. }) if at > part.start => {
                // What a debugger saved behind the areas the header speaks of.
                areas.add(at..part.end, remarks);
                return;
            }
            Err(error) => {
                remarks.add(Severity::Damage, at as u64, error.to_string());
                return;
            }
        };
        let first = at + ChunkHeader::SIZE;
        let here = part.end - first;
        let area = usize::try_from(header.area()).unwrap_or(usize::MAX);
        // Recorders write whole slots, counted from the start of the normal area. Fewer bytes behind the last one
        // hold no record: the sizes are no multiple of a slot's, or the area is cut off, a loss that is told below.
        let held = area.min(here);
        let readable = held - held % Record::SIZE;
        if header.is_compressed() {
            areas.unpack(input, first..first + held, remarks);
        } else {
            areas.add_both(first..first + readable, header.size as usize, remarks);
        }
        if area > here {
            let message = format!("the chunk has {area} bytes for records, found {here}");
            remarks.add(Severity::Damage, first as u64, message);
            let missing = Missing { events: None, cause: LossCause::Truncated };
            areas.missing.push((part.end, missing));
        }
        at = first + held;
    }
}

/// Packets of a capture, by number.
#[derive(Debug, Default)]
struct Capture {
    packets: Vec<Packet>,
    start: SenderStart,
    restarts: u32,
    zero_lengths: u64,
    refused: u64,
}

#[derive(Debug)]
struct Packet {
    /// How often the sender had begun again before, and its number.
    place: (u32, u32),
    bytes: Range<usize>,
}

impl Packet {
    fn records(&self) -> usize {
        self.bytes.len() / Record::SIZE
    }

    /// Whether another packet of the same chunk may follow.
    fn is_full(&self) -> bool {
        self.records() >= DatagramHeader::MOST_EVENTS as usize
    }
}

impl Capture {
    fn read(
        mut self,
        input: &[u8],
        part: Range<usize>,
        areas: &mut Areas,
        remarks: &mut Diagnostics,
    ) {
        let mut at = part.start;
        while let Some(frame) = Frame::read(input.get(at..part.end).unwrap_or_default()) {
            let first = at + Frame::PREFIX;
            at = part.end - frame.rest.len();
            self.datagram(&frame, first, areas, remarks);
        }
        if at < part.end {
            let message = format!("expected a length of 4 bytes, found {}", part.end - at);
            remarks.add(Severity::Damage, at as u64, message);
        }
        self.remark(remarks);
        // Sorted stably: of two packets of a number the one that came first stays.
        self.packets.sort_by_key(|packet| packet.place);
        let before = self.packets.len();
        self.packets.dedup_by_key(|packet| packet.place);
        if self.packets.len() < before {
            let twice = (before - self.packets.len()) as u64;
            let message = format!("{} came twice", counted(twice, "packet"));
            remarks.add(Severity::Note, None, message);
        }
        self.deliver(areas, remarks);
    }

    fn datagram(
        &mut self,
        frame: &Frame<'_>,
        first: usize,
        areas: &mut Areas,
        remarks: &mut Diagnostics,
    ) {
        match DatagramHeader::read(frame.datagram) {
            _ if frame.datagram.is_empty() && frame.whole => self.zero_lengths += 1,
            Ok((header, records)) => {
                let start = first + DatagramHeader::SIZE;
                let bytes = start..start + records.len();
                self.restarts += u32::from(self.start.begins_anew(&header, frame.datagram));
                self.packets.push(Packet { place: (self.restarts, header.number), bytes });
            }
            Err(error) => {
                self.refused += 1;
                remarks.add(Severity::Damage, first as u64, format!("datagram: {error}"));
                if !frame.whole {
                    let missing = Missing { events: None, cause: LossCause::Truncated };
                    areas.missing.push((first, missing));
                }
            }
        }
    }

    fn remark(&self, remarks: &mut Diagnostics) {
        if self.zero_lengths > 0 {
            let datagrams = counted(self.zero_lengths, "datagram");
            let message = format!("{datagrams} of chunks without records");
            remarks.add(Severity::Note, None, message);
        }
        if self.restarts > 0 {
            let message = format!("the sender began again {}", times(self.restarts.into()));
            remarks.add(Severity::Note, None, message);
        }
    }

    fn deliver(self, areas: &mut Areas, remarks: &mut Diagnostics) {
        let mut before: Option<((u32, u32), bool)> = None;
        for packet in self.packets {
            let (sender, number) = packet.place;
            before = before.filter(|((same, _), _)| *same == sender);
            let lost = before.map_or(0, |((_, last), _)| number - last - 1);
            let missing = (lost > 0).then(|| {
                let most = u64::from(lost) * u64::from(DatagramHeader::MOST_EVENTS);
                let message = format!(
                    "{} before number {number}: {most} records, fewer if one of them was a chunk's last",
                    missing(lost.into(), "packet"),
                );
                remarks.add(Severity::Damage, packet.bytes.start as u64, message);
                Missing { events: Some(most), cause: LossCause::Missing }
            });
            // A packet that is not full is its chunk's last one.
            let continues = missing.is_none() && before.is_some_and(|(_, full)| full);
            before = Some((packet.place, packet.is_full()));
            areas.list.push(Area { bytes: packet.bytes, continues, emergency: false, missing });
        }
    }
}
