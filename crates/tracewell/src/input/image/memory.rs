//! Builds memory images, which are segments of bytes, from records in any order.
//!
//! The other files in this folder decode the records.

use core::ops::Range;

use super::diagnostic::{Place, report};
use crate::model::{Diagnostics, Severity};

/// Number of zeros that may always be used to fill gaps, even in a small text. This number is
/// enough for a few unused pages between two parts of a dump.
const MIN_FILL: u64 = 64 * 1024;

/// The memory that a text describes: segments in ascending order of their addresses, with gaps
/// between them.
///
/// Zeros fill the gaps, lowest address first. Their total number is at most the length of the text
/// plus 64 KiB. A gap that would exceed this limit ends the segment, and the bytes after the gap
/// begin a new segment. For example, two bytes that are 4 GiB apart become two segments of one
/// byte.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct MemoryImage {
    segments: Vec<Segment>,
}

impl MemoryImage {
    /// Returns an image of one segment, or an empty image if there are no bytes.
    pub(super) fn from_bytes(address: u64, bytes: Vec<u8>) -> Self {
        if bytes.is_empty() {
            return Self::default();
        }
        Self { segments: vec![Segment { address, bytes, filled: Vec::new() }] }
    }

    /// Returns the segments, lowest address first.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the segments by value, lowest address first.
    pub fn into_segments(self) -> Vec<Segment> {
        self.segments
    }
}

/// Contiguous bytes that begin at an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    address: u64,
    bytes: Vec<u8>,
    filled: Vec<Range<usize>>,
}

impl Segment {
    /// Returns the address of the first byte.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Returns the bytes. There is at least one.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes by value.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the target address of the byte at this offset in [`Segment::bytes`].
    pub fn address_of(&self, offset: usize) -> u64 {
        self.address.saturating_add(offset as u64)
    }

    /// Returns the offsets of the zeros that fill gaps between the text's addresses, in ascending
    /// order.
    pub fn filled(&self) -> &[Range<usize>] {
        &self.filled
    }
}

/// Builds an image from records in the order of the text.
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
    /// Adds the bytes of a record. Addresses have 32 bits, so address plus length cannot overflow.
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

    /// Returns the image. Later records overwrite earlier records.
    pub(super) fn finish(self, text_length: usize, diagnostics: &mut Diagnostics) -> MemoryImage {
        // Most images are contiguous and need no copy and no search.
        if let [run] = self.runs.as_slice() {
            return MemoryImage::from_bytes(run.address, self.data);
        }
        let (spans, overlap) = self.spans(MIN_FILL + text_length as u64);
        let mut segments: Vec<Segment> = spans.into_iter().map(Segment::zeroed).collect();
        if overlap {
            self.copy_comparing(&mut segments, diagnostics);
        } else {
            self.copy(&mut segments);
        }
        MemoryImage { segments }
    }

    /// Returns the address ranges of the segments, and true if runs overlap.
    fn spans(&self, mut fill_left: u64) -> (Vec<Span>, bool) {
        let mut by_address: Vec<&Run> = self.runs.iter().collect();
        // A stable sort keeps runs at the same address in the order of the text.
        by_address.sort_by_key(|run| run.address);
        let mut spans: Vec<Span> = Vec::new();
        let mut overlap = false;
        for run in by_address {
            match spans.last_mut() {
                Some(span) if run.address <= span.end => {
                    overlap |= run.address < span.end;
                    span.end = span.end.max(run.end());
                }
                // Small gaps are common, because linkers align sections. The budget limits the
                // memory that a hostile text can occupy.
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
            // `written` marks the bytes that earlier records set. The other bytes are zeros that
            // fill gaps, so a new record never conflicts with them.
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
    report(diagnostics, Severity::Warning, run.first_record, || {
        format!(
            "the records from this line on change {count} of the bytes given before: the byte at \
             address 0x{:08X} was {:02X} and becomes {:02X}; the later value is used",
            run.address + first as u64,
            old[first],
            new[first]
        )
    });
}

/// Returns the index of the segment that contains a run, and the range of the run within this
/// segment.
fn home_of(run: &Run, segments: &[Segment]) -> (usize, Range<usize>) {
    let index = segments.partition_point(|segment| segment.address <= run.address) - 1;
    let start = (run.address - segments[index].address) as usize;
    (index, start..start + run.data.len())
}

impl Span {
    /// Returns the offset of an address, which must be within the span. All bytes of a span will be
    /// in memory, so the offset fits `usize`.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn build(records: &[(u64, &[u8])], text_length: usize) -> (MemoryImage, Vec<String>) {
        let mut builder = Builder::default();
        let mut diagnostics = Diagnostics::default();
        for (index, (address, bytes)) in records.iter().enumerate() {
            let line = index as u64 + 1;
            builder.push(*address, bytes, Place { line, column: 1 });
        }
        let image = builder.finish(text_length, &mut diagnostics);
        (image, diagnostics.iter().map(|fault| fault.message.clone()).collect())
    }

    fn segment(address: u64, bytes: &[u8]) -> Segment {
        Segment { address, bytes: bytes.to_vec(), filled: Vec::new() }
    }

    #[test]
    fn small_gaps_are_filled_and_remembered() {
        let (image, faults) = build(&[(14, b"cd"), (10, b"ab")], 0);
        let filled = std::iter::once(2..4).collect();
        let expected = Segment { address: 10, bytes: b"ab\0\0cd".to_vec(), filled };
        assert_eq!((image.segments(), faults.len()), (&[expected][..], 0));
        assert_eq!(image.segments()[0].address_of(4), 14);
    }

    #[test]
    fn bytes_far_apart_stay_apart() {
        let (image, _) = build(&[(0xFFFF_FFFF, b"b"), (0, b"a")], 100);
        assert_eq!(image.segments(), [segment(0, b"a"), segment(0xFFFF_FFFF, b"b")]);
    }

    #[test]
    fn all_filling_together_is_bounded_by_the_length_of_the_text() {
        let text_length = 1000;
        let limit = MIN_FILL + text_length as u64;
        let (image, _) = build(&[(0, b"a"), (limit + 1, b"b")], text_length);
        assert_eq!(image.segments().len(), 1);
        let (image, _) = build(&[(0, b"a"), (limit + 2, b"b")], text_length);
        assert_eq!(image.segments().len(), 2);
        let half = limit / 2;
        let records = [(0, &b"a"[..]), (half, b"b"), (2 * half, b"c"), (3 * half, b"d")];
        let (image, _) = build(&records, text_length);
        let lengths: Vec<usize> = image.segments().iter().map(|s| s.bytes().len()).collect();
        assert_eq!(lengths, [2 * half as usize + 1, 1]);
    }

    #[test]
    fn the_later_of_two_records_wins_and_a_difference_is_reported() {
        let (image, faults) = build(&[(0, b"abcd"), (0x10, b"efgh"), (2, b"cxyz")], 0);
        assert_eq!(image.segments()[0].bytes()[..8], *b"abcxyz\0\0");
        assert_eq!(
            faults,
            ["line 3, column 1: the records from this line on change 1 of the bytes given \
              before: the byte at address 0x00000003 was 64 and becomes 78; the later value is used"]
        );
    }

    #[test]
    fn the_same_bytes_twice_are_no_fault() {
        let (image, faults) = build(&[(0, b"abcd"), (0, b"ab"), (1, b"bc")], 0);
        assert_eq!((image.segments(), faults.len()), (&[segment(0, b"abcd")][..], 0));
    }

    #[test]
    fn a_zero_given_in_a_text_differs_from_a_filled_one() {
        let (_, faults) = build(&[(0, b"a"), (4, b"b"), (2, b"x")], 0);
        assert_eq!(faults.len(), 0, "a gap that is filled later is no conflict");
        let (_, faults) = build(&[(0, b"a\0"), (4, b"b"), (1, b"x")], 0);
        assert_eq!(faults.len(), 1);
    }

    #[test]
    fn no_records_are_no_segments() {
        assert_eq!(build(&[(7, b"")], 0).0.segments(), []);
    }
}
