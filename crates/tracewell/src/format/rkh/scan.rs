//! Where frames end, and their sums: a stretch of the window at a time.
//!
//! First all flags of a stretch are noted, eight of each block whether there are so many or not; then
//! the frames are given out one after the other. A processor foresees both: how many flags a block has
//! is no branch. The sum of a frame is the difference of two sums up to flags, so that no frame is added
//! up for itself.
//!
//! `tracewell_wire::rkh::Cutter` gives the same frames with less room.

use tracewell_wire::rkh::{BLOCK, Cut, FLAG};

use super::usual::Pace;

/// Blocks of a stretch.
const BLOCKS: usize = 16;

/// Flags that are noted of a block at least.
const AT_ONCE: usize = 8;

/// Gives the frames of some bytes, from a place where a frame begins.
pub(super) struct Scan<'a, P> {
    pace: P,
    bytes: &'a [u8],
    place: Place,
    /// First byte of the stretch, and the first one behind it.
    stretch: (usize, usize),
    /// The sum of all bytes before the end of the stretch.
    total: u8,
    /// Flags of the stretch by their places in it, and how many there are.
    flags: [u16; BLOCKS * BLOCK + AT_ONCE],
    count: usize,
    /// Up to each byte of the stretch.
    sums: [[u8; BLOCK]; BLOCKS],
    escapes: [u64; BLOCKS],
    /// The first escape from the place on; the end of the stretch if there is none before it.
    escape: usize,
}

/// How far frames were given out. Who takes many keeps it where a processor has it at hand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// First byte after the last flag that was given out.
    start: usize,
    /// The sum of all bytes before `start`.
    sum: u8,
    /// Flags of the stretch that were given out.
    next: usize,
}

/// A frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) cut: Cut,
    /// The sum of its bytes as they lie: 0 for a whole frame with a checksum and without an escape.
    pub(super) sum: u8,
}

impl<'a, P: Pace> Scan<'a, P> {
    pub(super) fn new(bytes: &'a [u8], pace: P) -> Self {
        Self {
            pace,
            bytes,
            place: Place::default(),
            stretch: (0, 0),
            total: 0,
            flags: [0; BLOCKS * BLOCK + AT_ONCE],
            count: 0,
            sums: [[0; BLOCK]; BLOCKS],
            escapes: [0; BLOCKS],
            escape: 0,
        }
    }

    pub(super) const fn pace(&self) -> &P {
        &self.pace
    }

    /// First byte after the last flag that was seen.
    pub(super) const fn rest(&self) -> usize {
        self.place.start
    }

    pub(super) const fn place(&self) -> Place {
        self.place
    }

    /// Goes on from a place where [`Self::after`] came to.
    pub(super) const fn go_on(&mut self, place: Place) {
        self.place = place;
    }

    /// Leaves out what stands before the next flag; false where there is no flag any more.
    pub(super) fn skip_to_flag(&mut self) -> bool {
        self.next().is_some()
    }

    /// The bytes up to the next flag; there may be none.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Found> {
        let (found, place) = self.after(self.place)?;
        self.place = place;
        Some(found)
    }

    /// The bytes from the last place to the next flag, and the place behind it.
    #[inline(always)]
    pub(super) fn after(&mut self, mut place: Place) -> Option<(Found, Place)> {
        while place.next >= self.count {
            if self.stretch.1 >= self.bytes.len() {
                return None;
            }
            self.look(place.start);
            place.next = 0;
        }
        let flag = usize::from(self.flags[place.next % (BLOCKS * BLOCK)]) % (BLOCKS * BLOCK);
        let through_flag = self.sums.as_flattened()[flag];
        let end = self.stretch.0 + flag;
        let cut = Cut { start: place.start, end, escaped: self.escape < end };
        let sum = through_flag.wrapping_sub(FLAG).wrapping_sub(place.sum);
        if cut.escaped {
            self.find_escape(end + 1);
        }
        let place = Place { start: end + 1, sum: through_flag, next: place.next + 1 };
        Some((Found { cut, sum }, place))
    }

    /// Goes on to the next stretch; `start` is the first byte that was not given out.
    #[inline(always)]
    fn look(&mut self, start: usize) {
        let first = self.stretch.1;
        let rest = self.bytes.get(first..).unwrap_or_default();
        let (mut count, mut total, mut length) = (0, self.total, 0);
        let blocks = self.sums.iter_mut().zip(&mut self.escapes);
        for (index, (sums, escapes)) in blocks.enumerate() {
            let Some(left) = rest.get(length..).filter(|left| !left.is_empty()) else {
                *escapes = 0;
                continue;
            };
            let padded;
            let block = match left.first_chunk() {
                Some(block) => block,
                None => {
                    padded = last_block(left);
                    &padded
                }
            };
            let (flags, found, sum) = self.pace.look(block, total, sums);
            *escapes = found;
            note(flags, index * BLOCK, &mut self.flags, &mut count);
            total = total.wrapping_add(sum);
            length += left.len().min(BLOCK);
        }
        (self.stretch, self.total) = ((first, first + length), total);
        self.count = count;
        if self.escape >= first {
            self.find_escape(start);
        }
    }

    /// Looks for the first escape of the stretch from `start` on.
    #[cold]
    #[inline(never)]
    fn find_escape(&mut self, start: usize) {
        let (first, end) = self.stretch;
        let from = start.max(first) - first;
        self.escape = end;
        for (index, escapes) in self.escapes.iter().enumerate().skip(from / BLOCK) {
            let before = if index == from / BLOCK { (1 << (from % BLOCK)) - 1 } else { 0 };
            let escapes = escapes & !before;
            if escapes != 0 {
                self.escape = first + index * BLOCK + escapes.trailing_zeros() as usize;
                return;
            }
        }
    }
}

/// Notes the flags of a block.
#[inline(always)]
fn note(
    mut flags: u64,
    block: usize,
    places: &mut [u16; BLOCKS * BLOCK + AT_ONCE],
    count: &mut usize,
) {
    let end = *count + flags.count_ones() as usize;
    while *count < end {
        // Places behind the last flag are written, too, and noted over later.
        let Some(room) = places.get_mut(*count..).and_then(|places| places.first_chunk_mut())
        else {
            break;
        };
        let room: &mut [u16; AT_ONCE] = room;
        for place in room {
            *place = (block as u32 + flags.trailing_zeros()) as u16;
            flags &= flags.wrapping_sub(1);
        }
        *count += AT_ONCE;
    }
    *count = end;
}

/// What is left of the bytes, as if zeros followed: neither a flag nor an escape, and nothing to add.
#[cold]
fn last_block(left: &[u8]) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    for (to, from) in block.iter_mut().zip(left) {
        *to = *from;
    }
    block
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tracewell_wire::rkh::{Cutter, checksum};

    use super::*;
    use crate::format::rkh::usual::AnyProcessor;

    fn frames(bytes: &[u8], pace: impl Pace) -> (Vec<Cut>, usize) {
        let mut scan = Scan::new(bytes, pace);
        let mut cuts = Vec::new();
        while let Some(Found { cut, sum }) = scan.next() {
            assert_eq!(sum, checksum::sum(&bytes[cut.start..cut.end]));
            if cut.start < cut.end {
                cuts.push(cut);
            }
        }
        (cuts, scan.rest())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn frames_and_sums_are_those_of_the_cutter(
            bytes in prop::collection::vec(prop_oneof![
                8 => any::<u8>(), 1 => Just(0x7E), 1 => Just(0x7D)], 0..3000),
            dense in prop::collection::vec(prop_oneof![Just(0x7E), Just(0x7D), Just(1)], 0..1500),
        ) {
            let bytes = [bytes, dense].concat();
            let mut cutter = Cutter::new(&bytes);
            let cuts: Vec<_> = cutter.by_ref().collect();
            let expected = (cuts, cutter.rest());
            prop_assert_eq!(&frames(&bytes, AnyProcessor), &expected);
            #[cfg(target_arch = "x86_64")]
            if let Some(pace) = crate::format::rkh::avx2::Avx2::detect() {
                prop_assert_eq!(&frames(&bytes, pace), &expected);
            }
        }
    }
}
