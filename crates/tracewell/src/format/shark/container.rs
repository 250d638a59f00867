//! Finds the areas of records in an input. An input is a file of records, a memory image of records
//! without a header, a chunk image with a header, or a capture of datagrams.

use std::ops::Range;

use tracewell_wire::shark::{
    AreaRecords, ChunkError, ChunkHeader, DatagramHeader, Frame, Record, SenderStart, ids,
};

use crate::format::Confidence;
use crate::model::{Diagnostics, LossCause, Severity};
use crate::text::{counted, missing, times};

/// The kind of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Consecutive records, possibly with empty slots between them.
    Records,
    /// The memory of a chunk, beginning with its descriptor.
    Chunk,
    /// A capture of datagrams.
    Capture,
}

impl Kind {
    pub(super) const NAMES: [(&'static str, Self); 3] =
        [("records", Self::Records), ("chunk", Self::Chunk), ("capture", Self::Capture)];
}

/// An area of adjacent records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Area {
    /// The bytes of the records in the input. They are whole slots.
    pub(super) bytes: Range<usize>,
    /// True if the area continues the previous one, as consecutive packets of one chunk do.
    pub(super) continues: bool,
    /// True if this is the emergency area of a chunk. The previous area is then the normal area of
    /// the same chunk. If the normal area is a ring, the records in the emergency area are older
    /// than those in the ring.
    pub(super) emergency: bool,
    /// The records that are missing before this area.
    pub(super) missing: Option<Missing>,
}

/// Missing records: their number, if it is known, and the cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Missing {
    pub(super) events: Option<u64>,
    pub(super) cause: LossCause,
}

/// The areas of an input. `missing` contains the gaps that no area describes, with their offsets.
#[derive(Debug, Default)]
pub(super) struct Areas {
    pub(super) list: Vec<Area>,
    pub(super) missing: Vec<(usize, Missing)>,
    /// Records of compressed chunks. Areas refer to these bytes by offset, as if the bytes followed
    /// the input.
    pub(super) unpacked: Vec<u8>,
}

/// Decompressed records occupy at most 16 MiB or 64 times the size of the input, whichever is
/// larger. This limit prevents a malicious file from filling the memory.
const MIN_UNPACKED: usize = 16 << 20;
const UNPACKED_TIMES: usize = 64;

/// Decompresses LZ4 data. Returns the number of bytes written to `place`, or `None` if the data is
/// damaged.
fn expand(stored: &[u8], place: &mut [u8]) -> Option<usize> {
    lz4_flex::block::decompress_into(stored, place).ok()
}

impl Areas {
    /// Adds the records of a compressed chunk. `packed` is the range of its compressed bytes.
    fn unpack(&mut self, input: &[u8], packed: Range<usize>, diagnostics: &mut Diagnostics) {
        let area = input.get(packed.clone()).unwrap_or_default();
        let most = MIN_UNPACKED.max(input.len().saturating_mul(UNPACKED_TIMES));
        let (mut start, mut missing) = (self.unpacked.len(), None);
        for record in AreaRecords::new(area, Some(expand)) {
            let (at, message) = match record {
                Ok(record) if self.unpacked.len() < most => {
                    self.unpacked.extend(record.to_bytes());
                    continue;
                }
                Ok(_) => (packed.start, "more compressed records than a chunk can hold"),
                Err(damage) => {
                    (packed.start + damage.at, "expected a packed record, found other bytes")
                }
            };
            diagnostics.add(Severity::Damage, at as u64, message);
            // Keep the records that were decompressed before the damage, as a separate area.
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

    /// Adds an area for the part of `unpacked` that begins at `start`, unless this part is empty.
    fn add_unpacked(&mut self, input: usize, start: &mut usize, missing: &mut Option<Missing>) {
        let end = self.unpacked.len();
        if *start < end {
            let bytes = input + *start..input + end;
            let missing = missing.take();
            self.list.push(Area { bytes, continues: false, emergency: false, missing });
            *start = end;
        }
    }

    /// Adds the normal area of a chunk, which has `normal` bytes, and then the emergency area. If
    /// the normal area ends within a slot, adds all bytes as one area.
    fn add_both(&mut self, bytes: Range<usize>, normal: usize, diagnostics: &mut Diagnostics) {
        // If the normal area ends within a slot, the position of the emergency area is unknown.
        if normal >= bytes.len() || !normal.is_multiple_of(Record::SIZE) {
            return self.add(bytes, diagnostics);
        }
        let end = bytes.start + normal;
        self.add(bytes.start..end, diagnostics);
        self.add(end..bytes.end, diagnostics);
        if let Some(last) = self.list.last_mut() {
            last.emergency = true;
        }
    }

    /// Adds adjacent slots. Bytes after the last whole slot are a truncated record.
    fn add(&mut self, bytes: Range<usize>, diagnostics: &mut Diagnostics) {
        let rest = bytes.len() % Record::SIZE;
        let end = bytes.end - rest;
        let bytes = bytes.start..end;
        self.list.push(Area { bytes, continues: false, emergency: false, missing: None });
        if rest > 0 {
            let message = format!("expected a record of {} bytes, found {rest}", Record::SIZE);
            diagnostics.add(Severity::Damage, end as u64, message);
            self.missing.push((end, Missing { events: Some(1), cause: LossCause::Truncated }));
        }
    }
}

/// Number of records examined to recognise a file without a header.
const LOOKED_AT: usize = 256;

/// Returns the probable kind of an input with these first bytes, and the confidence.
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
        // An empty datagram means a chunk without records. Any other content belongs to a different
        // protocol.
        if !frame.datagram.is_empty() {
            return None;
        }
        rest = frame.rest;
    }
    None
}

/// Returns true if bytes look like records: known codes, no unexpected bits, and timestamps that
/// decrease at most twice, as in a ring with an emergency area.
fn records(start: &[u8]) -> bool {
    let (slots, _) = start.as_chunks();
    let used = slots.iter().map(Record::from_bytes).filter(|record| !record.is_empty());
    let (mut seen, mut descents, mut before) = (0, 0, 0);
    for record in used.take(LOOKED_AT) {
        if record.unexpected_code_bits() != 0 || record.tsc == 0 {
            return false;
        }
        // Check the schema last, because its first use parses the schema. This takes longer than
        // reading a small file of another format.
        if record.code() == ids::NEXT_CHUNK || !super::schema().defines(u32::from(record.code())) {
            return false;
        }
        // Timestamps decrease once in a ring, and once more at its emergency area.
        descents += usize::from(record.tsc < before);
        before = record.tsc;
        seen += 1;
    }
    // One record is enough to recognise the format. Empty slots alone are not enough, because files
    // of every format may contain zeros.
    seen > 0 && descents <= 2
}

/// Finds the areas in the range `part` of an input of this kind.
pub(super) fn areas(
    kind: Kind,
    input: &[u8],
    part: Range<usize>,
    areas: &mut Areas,
    diagnostics: &mut Diagnostics,
) {
    match kind {
        Kind::Records => areas.add(part, diagnostics),
        Kind::Chunk => chunks(input, part, areas, diagnostics),
        Kind::Capture => Capture::default().read(input, part, areas, diagnostics),
    }
}

/// Finds the areas of consecutive chunk images.
fn chunks(input: &[u8], part: Range<usize>, areas: &mut Areas, diagnostics: &mut Diagnostics) {
    let mut at = part.start;
    while at < part.end {
        let bytes = input.get(at..part.end).unwrap_or_default();
        let header = match ChunkHeader::read(bytes) {
            Ok(header) => header,
            Err(ChunkError::NotAChunk { .. }) if at > part.start => {
                // A debugger may save bytes after the areas that the header describes.
                areas.add(at..part.end, diagnostics);
                return;
            }
            Err(error) => {
                diagnostics.add(Severity::Damage, at as u64, error.to_string());
                return;
            }
        };
        let first = at + ChunkHeader::SIZE;
        let here = part.end - first;
        let area = usize::try_from(header.area()).unwrap_or(usize::MAX);
        // The slots follow each other from the start of the normal area, and recorders write only
        // whole slots. A remainder that is shorter than a slot contains no record. It exists if the
        // sizes in the header are not multiples of a slot's size, or if the area is truncated. The
        // code below reports a truncated area.
        let held = area.min(here);
        let readable = held - held % Record::SIZE;
        if header.is_compressed() {
            areas.unpack(input, first..first + held, diagnostics);
        } else {
            areas.add_both(first..first + readable, header.size as usize, diagnostics);
        }
        if area > here {
            let message = format!("the chunk has {area} bytes for records, found {here}");
            diagnostics.add(Severity::Damage, first as u64, message);
            let missing = Missing { events: None, cause: LossCause::Truncated };
            areas.missing.push((part.end, missing));
        }
        at = first + held;
    }
}

/// The packets of a capture, by number.
#[derive(Debug, Default)]
struct Capture {
    packets: Vec<Packet>,
    start: SenderStart,
    restarts: u32,
    zero_lengths: u64,
}

#[derive(Debug)]
struct Packet {
    /// Number of restarts of the sender before this packet, and the packet's sequence number.
    place: (u32, u32),
    bytes: Range<usize>,
}

impl Packet {
    fn records(&self) -> usize {
        self.bytes.len() / Record::SIZE
    }

    /// Returns true if another packet of the same chunk may follow.
    fn is_full(&self) -> bool {
        self.records() >= DatagramHeader::MAX_EVENTS as usize
    }
}

impl Capture {
    fn read(
        mut self,
        input: &[u8],
        part: Range<usize>,
        areas: &mut Areas,
        diagnostics: &mut Diagnostics,
    ) {
        let mut at = part.start;
        while let Some(frame) = Frame::read(input.get(at..part.end).unwrap_or_default()) {
            let first = at + Frame::PREFIX;
            at = part.end - frame.rest.len();
            self.datagram(&frame, first, areas, diagnostics);
        }
        if at < part.end {
            let message = format!("expected a length of 4 bytes, found {}", part.end - at);
            diagnostics.add(Severity::Damage, at as u64, message);
        }
        self.remark(diagnostics);
        // The sort is stable, so the first of two packets with the same number is kept.
        self.packets.sort_by_key(|packet| packet.place);
        let before = self.packets.len();
        self.packets.dedup_by_key(|packet| packet.place);
        if self.packets.len() < before {
            let duplicates = (before - self.packets.len()) as u64;
            let message = format!("{} arrived twice", counted(duplicates, "packet"));
            diagnostics.add(Severity::Note, None, message);
        }
        self.deliver(areas, diagnostics);
    }

    fn datagram(
        &mut self,
        frame: &Frame<'_>,
        first: usize,
        areas: &mut Areas,
        diagnostics: &mut Diagnostics,
    ) {
        match DatagramHeader::read(frame.datagram) {
            // A sender transmits a chunk without records as a datagram of length 0.
            _ if frame.datagram.is_empty() && frame.whole => self.zero_lengths += 1,
            Ok((header, records)) => {
                let start = first + DatagramHeader::SIZE;
                let bytes = start..start + records.len();
                self.restarts += u32::from(self.start.restarts(&header, frame.datagram));
                self.packets.push(Packet { place: (self.restarts, header.number), bytes });
            }
            Err(error) => {
                diagnostics.add(Severity::Damage, first as u64, format!("datagram: {error}"));
                if !frame.whole {
                    let missing = Missing { events: None, cause: LossCause::Truncated };
                    areas.missing.push((first, missing));
                }
            }
        }
    }

    fn remark(&self, diagnostics: &mut Diagnostics) {
        if self.zero_lengths > 0 {
            let datagrams = counted(self.zero_lengths, "datagram");
            let message = format!("{datagrams} of chunks without records");
            diagnostics.add(Severity::Note, None, message);
        }
        if self.restarts > 0 {
            let message = format!("the sender restarted {}", times(self.restarts.into()));
            diagnostics.add(Severity::Note, None, message);
        }
    }

    fn deliver(self, areas: &mut Areas, diagnostics: &mut Diagnostics) {
        let mut before: Option<((u32, u32), bool)> = None;
        for packet in self.packets {
            let (sender, number) = packet.place;
            // Do not compare the numbers of different runs of the sender.
            before = before.filter(|((same, _), _)| *same == sender);
            let lost = before.map_or(0, |((_, last), _)| number - last - 1);
            let missing = (lost > 0).then(|| {
                let most = u64::from(lost) * u64::from(DatagramHeader::MAX_EVENTS);
                let message = format!(
                    "{} before number {number}: at most {most} records",
                    missing(lost.into(), "packet"),
                );
                diagnostics.add(Severity::Damage, packet.bytes.start as u64, message);
                Missing { events: Some(most), cause: LossCause::Missing }
            });
            // If a packet is not full, it is the last packet of its chunk.
            let continues = missing.is_none() && before.is_some_and(|(_, full)| full);
            before = Some((packet.place, packet.is_full()));
            areas.list.push(Area { bytes: packet.bytes, continues, emergency: false, missing });
        }
    }
}
