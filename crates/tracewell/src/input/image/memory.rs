//! Bytes by address: segments that are put together from records in any order.
//!
//! Not here: how records are written down.

use core::ops::Range;

use super::diagnostic::{Cause, Diagnostics, Place};

/// Gaps may be filled with this many zeros however small the text is: an unused page or two
/// between two parts of a dump.
const LEAST_FILL: u64 = 64 * 1024;

/// Memory as a text describes it: segments in the order of their addresses, none touching the
/// next.
///
/// Gaps are filled with zeros as long as all the zeros together are no more than the text has
/// bytes plus 64 KiB, counted from the lowest address on. A gap that does not fit starts a new
/// segment: two bytes that are 4 GiB apart are two segments of one byte.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct MemoryImage {
    segments: Vec<Segment>,
}

impl MemoryImage {
    /// An image of one segment, or of none where there are no bytes.
    pub(super) fn from_bytes(address: u64, bytes: Vec<u8>) -> Self {
        if bytes.is_empty() {
            return Self::default();
        }
        Self { segments: vec![Segment { address, bytes, filled: Vec::new() }] }
    }

    /// The segments, lowest address first.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The segments themselves, lowest address first.
    pub fn into_segments(self) -> Vec<Segment> {
        self.segments
    }
}

/// Bytes without a gap, from an address on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    address: u64,
    bytes: Vec<u8>,
    filled: Vec<Range<usize>>,
}

impl Segment {
    /// Address of the first byte.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The bytes; never empty.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes themselves.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Address of the byte at an offset into [`Segment::bytes`], to tell people where it was on the
    /// target.
    pub fn address_of(&self, offset: usize) -> u64 {
        self.address.saturating_add(offset as u64)
    }

    /// Offsets of the zeros that stand for bytes the text does not have, in ascending order.
    pub fn filled(&self) -> &[Range<usize>] {
        &self.filled
    }
}

/// Takes records in the order of the text and makes an image of them.
#[derive(Default)]
pub(super) struct Builder {
    /// The data of all runs, in the order of the text.
    data: Vec<u8>,
    runs: Vec<Run>,
}

/// Records that follow each other in the text and in memory.
struct Run {
    address: u64,
    data: Range<usize>,
    first_record: Place,
}

impl Run {
    fn end(&self) -> u64 {
        self.address + self.data.len() as u64
    }
}

/// The address range of a future segment.
struct Span {
    address: u64,
    end: u64,
    filled: Vec<Range<usize>>,
}

impl Builder {
    /// Adds a record's bytes. Addresses have 32 bits, so that no sum of address and length
    /// overflows.
    #[inline]
    pub(super) fn push(&mut self, address: u64, bytes: &[u8], record: Place) {
        if bytes.is_empty() {
            return;
        }
        let start = self.data.len();
        self.data.extend_from_slice(bytes);
        let data = start..self.data.len();
        match self.runs.last_mut() {
            Some(run) if run.end() == address => run.data.end = data.end,
            _ => self.runs.push(Run { address, data, first_record: record }),
        }
    }

    /// Puts the image together; later records win over earlier ones.
    pub(super) fn finish(self, text_length: usize, diagnostics: &mut Diagnostics) -> MemoryImage {
        if let [run] = self.runs.as_slice() {
            return MemoryImage::from_bytes(run.address, self.data);
        }
        let (spans, overlap) = self.spans(LEAST_FILL + text_length as u64);
        let mut segments: Vec<Segment> = spans.into_iter().map(Segment::zeroed).collect();
        if overlap {
            self.copy_comparing(&mut segments, diagnostics);
        } else {
            self.copy(&mut segments);
        }
        MemoryImage { segments }
    }

    /// Where segments have to be, and whether runs overlap anywhere.
    fn spans(&self, mut fill_left: u64) -> (Vec<Span>, bool) {
        let mut by_address: Vec<&Run> = self.runs.iter().collect();
        by_address.sort_by_key(|run| run.address);
        let mut spans: Vec<Span> = Vec::new();
        let mut overlap = false;
        for run in by_address {
            match spans.last_mut() {
                Some(span) if run.address <= span.end => {
                    overlap |= run.address < span.end;
                    span.end = span.end.max(run.end());
                }
                Some(span) if run.address - span.end <= fill_left => {
                    fill_left -= run.address - span.end;
                    span.filled.push(span.offset_of(span.end)..span.offset_of(run.address));
                    span.end = run.end();
                }
                _ => {
                    let (address, end) = (run.address, run.end());
                    spans.push(Span { address, end, filled: Vec::new() });
                }
            }
        }
        (spans, overlap)
    }

    fn copy(&self, segments: &mut [Segment]) {
        for run in &self.runs {
            let (segment, at) = home_of(run, segments);
            segments[segment].bytes[at].copy_from_slice(&self.data[run.data.clone()]);
        }
    }

    fn copy_comparing(&self, segments: &mut [Segment], diagnostics: &mut Diagnostics) {
        let mut written: Vec<Vec<bool>> =
            segments.iter().map(|segment| vec![false; segment.bytes.len()]).collect();
        for run in &self.runs {
            let (segment, at) = home_of(run, segments);
            let old = &mut segments[segment].bytes[at.clone()];
            let was_written = &mut written[segment][at];
            let new = &self.data[run.data.clone()];
            report_conflict(run, old, was_written, new, diagnostics);
            old.copy_from_slice(new);
            was_written.fill(true);
        }
    }
}

fn report_conflict(
    run: &Run,
    old: &[u8],
    was_written: &[bool],
    new: &[u8],
    diagnostics: &mut Diagnostics,
) {
    let mut differing =
        (0..new.len()).filter(|&index| was_written[index] && old[index] != new[index]);
    let Some(first) = differing.next() else { return };
    let count = 1 + differing.count();
    diagnostics.report(Cause::Conflict, run.first_record, || {
        format!(
            "the records from this line on change {count} of the bytes given before: the byte at \
             address 0x{:08X} was {:02X} and becomes {:02X}; the later value is used",
            run.address + first as u64,
            old[first],
            new[first]
        )
    });
}

/// The segment a run belongs to, by index, and its place in it.
fn home_of(run: &Run, segments: &[Segment]) -> (usize, Range<usize>) {
    let index = segments.partition_point(|segment| segment.address <= run.address) - 1;
    let start = (run.address - segments[index].address) as usize;
    (index, start..start + run.data.len())
}

impl Span {
    /// Only for addresses in the span, whose length is bounded by data and zeros in memory.
    fn offset_of(&self, address: u64) -> usize {
        (address - self.address) as usize
    }
}

impl Segment {
    fn zeroed(span: Span) -> Self {
        let bytes = vec![0; span.offset_of(span.end)];
        Self { address: span.address, bytes, filled: span.filled }
    }
}
