//! Frames of the usual kind, in a loop that asks one question of each.
//!
//! A frame is usual if its checksum is right, its number follows, its id is known, and its arguments are
//! numbers at fixed places that end where the frame ends. All others (symbols, texts, gaps, damage, and
//! frames so near the end of the window that one cannot look behind them) go the long way
//! round through `frames` and `events`, which gives the same answer for usual ones, too.

use std::hint::select_unpredictable;

use tracewell_wire::rkh::{BLOCK, Cut, Settings, masks};

use super::decoder::RkhDecoder;
use super::escaped;
use super::events::{BATCH, Pending};
use super::frames::Piece;
use super::plan::{FIXED_SLOTS, Plan, Shape, Slot, Step};
use super::row::FIXED_ROW;
use super::scan::{Found, Scan};
use crate::model::Span;

/// How usual frames are read: what may be done faster on some processors.
pub(super) trait Pace: Sized {
    /// Looks at a block: flags and escapes, one bit a byte from the lowest on, and the sum of all its
    /// bytes; `sums` get that of `before` and its bytes up to each one, itself included, modulo 256.
    fn look(&self, block: &[u8; BLOCK], before: u8, sums: &mut [u8; BLOCK]) -> (u64, u64, u8);

    /// The arguments of a usual frame.
    fn arguments(&self, usual: &Usual, frame: &[u8; LOOKED_AT]) -> [u64; FIXED_SLOTS];

    /// Runs [`run`].
    fn usual(piece: &mut Piece<'_>, scan: &mut Scan<'_, Self>) -> Next;
}

/// The pace of every processor.
pub(super) struct AnyProcessor;

impl Pace for AnyProcessor {
    #[inline(always)]
    fn look(&self, block: &[u8; BLOCK], before: u8, sums: &mut [u8; BLOCK]) -> (u64, u64, u8) {
        let (flags, escapes) = masks(block);
        let (words, _) = block.as_chunks::<8>();
        let (sums, _) = sums.as_chunks_mut::<8>();
        let mut total = before;
        for (sums, word) in sums.iter_mut().zip(words) {
            *sums = sums_of(u64::from_le_bytes(*word), total);
            total = sums[7];
        }
        (flags, escapes, total.wrapping_sub(before))
    }

    #[inline(always)]
    fn arguments(&self, usual: &Usual, frame: &[u8; LOOKED_AT]) -> [u64; FIXED_SLOTS] {
        usual.arguments(frame)
    }

    fn usual(piece: &mut Piece<'_>, scan: &mut Scan<'_, Self>) -> Next {
        run(piece, scan)
    }
}

/// The sums of `before` and eight bytes up to each of them.
#[inline(always)]
const fn sums_of(word: u64, before: u8) -> [u8; 8] {
    const EVEN: u64 = 0x00FF_00FF_00FF_00FF;
    const ONES: u64 = 0x0001_0001_0001_0001;
    // Five bytes at most are added up in 16 bits, so that no sum reaches the next.
    let even = (word & EVEN).wrapping_mul(ONES) + before as u64 * ONES;
    let odd = ((word >> 8) & EVEN).wrapping_mul(ONES);
    let up_to_even = even.wrapping_add(odd << 16) & EVEN;
    let up_to_odd = even.wrapping_add(odd) & EVEN;
    (up_to_even | up_to_odd << 8).to_le_bytes()
}

/// Why reading usual frames ended.
pub(super) enum Next {
    /// A frame wants a closer look.
    Unusual(Cut),
    /// The batch wants to be given to the sink.
    Full,
    /// There is no flag any more.
    End,
}

/// What may be looked at of a frame, wherever it ends: four bytes from any place that fits a byte.
pub(super) const LOOKED_AT: usize = 256 + 4;

/// How a usual frame of some id is read. Aligned to what a processor fetches at once.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Usual {
    /// Which byte behind the header goes to each byte of the row's words; the highest bit makes a 0.
    pub(super) spread: [u8; 8 * FIXED_SLOTS],
    /// Whether all arguments lie in the 16 bytes behind the header, so that `spread` may be used.
    pub(super) near: bool,
    /// Bytes of the header.
    pub(super) header: u8,
    /// Bytes of the frame, header and checksum among them; no frame's for ids without usual frames.
    length: u16,
    /// Words of its row.
    words: u8,
    /// Where the active object of a step is: its place from the beginning of the frame and its bits.
    object: (u8, u32),
    step: Kind,
    head: u64,
    /// Places from the beginning of the frame.
    offsets: [u8; FIXED_SLOTS],
    masks: [u32; FIXED_SLOTS],
}

/// A [`Step`] without its argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Elsewhere,
    Of,
    Ends,
}

/// How usual frames are read, by code.
#[derive(Debug)]
pub(super) struct Usuals(Box<[Usual; 256]>);

const NONE: Usual = Usual {
    spread: [0x80; 8 * FIXED_SLOTS],
    near: false,
    header: 0,
    length: u16::MAX,
    words: 0,
    object: (0, 0),
    step: Kind::Elsewhere,
    head: 0,
    offsets: [0; FIXED_SLOTS],
    masks: [0; FIXED_SLOTS],
};

/// Before the arguments: a one-byte id, a number, a stamp. With other headers no frame is usual.
const NUMBER: usize = 1;
const STAMP: u8 = 2;

impl Usuals {
    pub(super) fn new(plans: &[Option<Plan>], settings: &Settings) -> Self {
        let mut usuals = Box::new([NONE; 256]);
        if settings.id == 1 && settings.sequence && settings.stamp > 0 {
            for ((code, usual), plan) in (0..=u8::MAX).zip(usuals.iter_mut()).zip(plans) {
                let plan = plan.as_ref().filter(|_| !may_configure(code));
                *usual = plan.and_then(|plan| Usual::new(plan, settings)).unwrap_or(NONE);
            }
        }
        Self(usuals)
    }
}

/// Whether some dialect's configuration record begins with this byte.
const fn may_configure(first: u8) -> bool {
    matches!(first, 0xAC | 0xAD | 0xAE | 0x0C | 0x0E)
}

impl Usual {
    fn new(plan: &Plan, settings: &Settings) -> Option<Self> {
        let Shape::Fixed { bytes, count, slots } = &plan.shape else { return None };
        let (step, object) = match plan.step {
            _ if plan.symbol.is_some() => return None,
            Step::Elsewhere => (Kind::Elsewhere, 0),
            Step::Of(object) => (Kind::Of, object),
            Step::Ends(object) => (Kind::Ends, object),
        };
        let header = settings.header();
        let length = header + bytes + usize::from(settings.checksum);
        let header = u8::try_from(header).ok()?;
        let object = slots[usize::from(object) % FIXED_SLOTS];
        Some(Self {
            spread: spread(slots),
            near: *bytes <= 16,
            header,
            length: u16::try_from(length).ok()?,
            words: u8::try_from(1 + count).ok()?,
            object: (header + object.offset, object.mask),
            step,
            head: plan.head,
            offsets: slots.map(|slot| header + slot.offset),
            masks: slots.map(|slot| slot.mask),
        })
    }

    /// The argument that is the active object of a step.
    #[inline(always)]
    fn object(&self, frame: &[u8; LOOKED_AT]) -> u64 {
        let (offset, mask) = self.object;
        u64::from(load(frame, offset) & mask)
    }

    /// All arguments; 0 in slots that are not there.
    #[inline(always)]
    pub(super) fn arguments(&self, frame: &[u8; LOOKED_AT]) -> [u64; FIXED_SLOTS] {
        let mut arguments = [0; FIXED_SLOTS];
        for (slot, argument) in arguments.iter_mut().enumerate() {
            *argument = u64::from(load(frame, self.offsets[slot]) & self.masks[slot]);
        }
        arguments
    }
}

/// Which byte of the arguments each byte of the row's words is.
fn spread(slots: &[Slot; FIXED_SLOTS]) -> [u8; 8 * FIXED_SLOTS] {
    let mut spread = [0x80; 8 * FIXED_SLOTS];
    for (word, slot) in spread.chunks_exact_mut(8).zip(slots) {
        let bytes = slot.mask.count_ones() / 8;
        word.iter_mut().zip(slot.offset..).take(bytes as usize).for_each(|(to, at)| *to = at);
    }
    spread
}

/// Four bytes from a place of a frame.
#[inline(always)]
fn load(frame: &[u8; LOOKED_AT], at: u8) -> u32 {
    let at = usize::from(at);
    u32::from_le_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]])
}

/// The loop. Inlined where it is made for a processor.
#[inline(always)]
pub(super) fn run<P: Pace>(piece: &mut Piece<'_>, scan: &mut Scan<'_, P>) -> Next {
    let bytes = piece.bytes;
    let RkhDecoder {
        plans,
        settings,
        timeline,
        symbols,
        counts,
        framework,
        running,
        base,
        pending,
        ..
    } = &mut *piece.state;
    let (Some(plans), Some((mut number, mut stamp))) = (plans.as_ref(), timeline.steady()) else {
        return scan.next().map_or(Next::End, |found| Next::Unusual(found.cut));
    };
    let Pending { columns, spans, rows, count } = pending;
    let (ticks_column, contexts, ids, spans) = (
        columns.ticks.first_chunk_mut::<BATCH>(),
        columns.context.first_chunk_mut::<BATCH>(),
        columns.id.first_chunk_mut::<BATCH>(),
        spans.first_chunk_mut::<BATCH>(),
    );
    let (Some(ticks_column), Some(contexts), Some(ids), Some(spans)) =
        (ticks_column, contexts, ids, spans)
    else {
        return scan.next().map_or(Next::End, |found| Next::Unusual(found.cut));
    };
    let stamps = u32::MAX >> (32 - 8 * u32::from(settings.stamp.clamp(1, 4)));
    let sums = if settings.checksum { u8::MAX } else { 0 };
    let (mut ticks, mut at, first) = (timeline.ticks(), *count, *count);
    let between = *framework;
    let mut now = running.unwrap_or(between);
    let (words, mut row) = rows.room(BATCH - at);
    let mut scratch = [0; LOOKED_AT];
    let mut place = scan.place();
    let next = loop {
        let Some((Found { cut, mut sum }, later)) = scan.after(place) else { break Next::End };
        place = later;
        let mut length = cut.end - cut.start;
        let mut frame = bytes.get(cut.start..).and_then(|bytes| bytes.first_chunk::<LOOKED_AT>());
        if cut.escaped {
            let Some(plain) = escaped::plain(frame, length, &mut scratch) else {
                break Next::Unusual(cut);
            };
            (length, sum, frame) = (plain.length, plain.sum, Some(&scratch));
        }
        let room = words.get_mut(row..).and_then(|words| words.first_chunk_mut());
        let (Some(frame), Some([head, room @ ..])): (_, Option<&mut [[u8; 8]; FIXED_ROW]>) =
            (frame, room)
        else {
            break Next::Unusual(cut);
        };
        let usual = &plans.usual.0[usize::from(frame[0])];
        let follows = frame[NUMBER].wrapping_sub(number);
        let wrong = (sum & sums) | (follows ^ 1);
        if wrong != 0 || length != usize::from(usual.length) {
            break Next::Unusual(cut);
        }
        *head = usual.head.to_le_bytes();
        *room = scan.pace().arguments(usual, frame).map(u64::to_le_bytes);
        let (known, object) = symbols.seen(usual.object(frame));
        let of_step = usual.step != Kind::Elsewhere;
        if of_step & !known {
            break Next::Unusual(cut);
        }
        // No branches: what a record does to the step changes from one to the next.
        let context = select_unpredictable(of_step, object, now);
        now = select_unpredictable(usual.step == Kind::Ends, between, context);
        number = frame[NUMBER];
        let later = load(frame, STAMP) & stamps;
        ticks = ticks.saturating_add(u64::from(later.wrapping_sub(stamp) & stamps));
        stamp = later;
        ticks_column[at] = ticks;
        contexts[at] = context;
        ids[at] = *base + u32::from(frame[0]);
        // A piece is shorter than 2^32 bytes, and so are the rows of a batch.
        let [start, end, payload] = [cut.start, cut.end, 8 * row].map(|at| at as u32);
        spans[at] = Span { start, payload, end };
        row += usize::from(usual.words);
        at += 1;
        if at == BATCH {
            break Next::Full;
        }
    };
    scan.go_on(place);
    rows.fill_to(row);
    timeline.went_on(number, stamp, ticks);
    counts.good += (at - first) as u64;
    // Within a step the object is running, between steps nobody is.
    *running = (now != between).then_some(now);
    *count = at;
    next
}
