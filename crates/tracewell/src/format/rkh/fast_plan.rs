//! Plans for reading the frames of each id on the fast path, computed when the settings are known.
//!
//! An id has a fast plan only if its arguments are numbers at fixed positions, and if the header
//! consists of a one-byte id, a sequence number and a timestamp.

use tracewell_wire::rkh::Settings;

use super::plan::{FIXED_SLOTS, Plan, Plans, Shape, Step};
use super::simd::{FRAME_WINDOW, Gather, load};

/// Offset of the sequence number in a frame.
pub(super) const NUMBER: usize = 1;

/// Offset of the timestamp in a frame.
pub(super) const STAMP: u8 = 2;

/// The plan for reading a frame. It is aligned to a cache line, because the loop needs the whole
/// plan.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct FastPlan {
    pub(super) gather: Gather,
    /// Length of the frame in bytes, including header and checksum; [`NO_LENGTH`] if frames of this
    /// id take the slow path.
    pub(super) length: u32,
    /// Number of words in the row.
    pub(super) words: u8,
    /// First word of the row.
    pub(super) head: u64,
    /// Offset and mask of the active object of a step.
    object: (u8, u32),
    pub(super) effect: Effect,
}

/// The effect of a record on the active object's step. It is like [`Step`], but without the slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// The record does not change the step.
    None,
    /// The record is part of a step.
    Belongs,
    /// The record ends a step.
    Ends,
}

/// The fast plans, by code.
#[derive(Debug)]
pub(super) struct FastPlans(Box<[FastPlan; 256]>);

/// A length that no frame has, because chunks are shorter.
const NO_LENGTH: u32 = u32::MAX;

const SLOW: FastPlan = FastPlan {
    gather: Gather::NOTHING,
    length: NO_LENGTH,
    words: 0,
    head: 0,
    object: (0, 0),
    effect: Effect::None,
};

impl FastPlans {
    pub(super) fn new(plans: &Plans, settings: &Settings) -> Self {
        let mut fast = Box::new([SLOW; 256]);
        // The loop reads id, number and timestamp at fixed offsets. Frames with other headers take
        // the slow path.
        if settings.id == 1 && settings.sequence && settings.stamp > 0 {
            for (code, fast) in (0..=u8::MAX).zip(fast.iter_mut()) {
                // A configuration record can begin with the same byte as an event. The slow path
                // distinguishes them.
                let plan = plans.get(code).filter(|_| !may_configure(code));
                *fast = plan.and_then(|plan| FastPlan::new(plan, settings)).unwrap_or(SLOW);
            }
        }
        Self(fast)
    }

    #[inline(always)]
    pub(super) fn get(&self, code: u8) -> &FastPlan {
        &self.0[usize::from(code)]
    }
}

/// Returns true if the configuration record of some dialect begins with this byte.
const fn may_configure(first: u8) -> bool {
    matches!(first, 0xAC | 0xAD | 0xAE | 0x0C | 0x0E)
}

impl FastPlan {
    /// Returns `None` for records whose arguments have no fixed positions. These include all
    /// symbols, because a symbol contains a text.
    fn new(plan: &Plan, settings: &Settings) -> Option<Self> {
        let Shape::Fixed { bytes, count, slots } = &plan.shape else { return None };
        let (effect, object) = match plan.step {
            Step::Elsewhere => (Effect::None, 0),
            Step::Of(object) => (Effect::Belongs, object),
            Step::Ends(object) => (Effect::Ends, object),
        };
        let header = settings.header();
        let length = header + bytes + usize::from(settings.checksum);
        let header = u8::try_from(header).ok()?;
        let object = slots[usize::from(object) % FIXED_SLOTS];
        Some(Self {
            gather: Gather::new(header, *bytes, slots),
            length: u32::try_from(length).ok()?,
            words: u8::try_from(1 + count).ok()?,
            head: plan.head,
            object: (header + object.offset, object.mask),
            effect,
        })
    }

    /// Returns the argument that names the active object of a step. If the record is not part of a
    /// step, the result is meaningless.
    #[inline(always)]
    pub(super) fn object(&self, frame: &[u8; FRAME_WINDOW]) -> u64 {
        let (offset, mask) = self.object;
        u64::from(load(frame, offset) & mask)
    }
}

#[cfg(test)]
mod tests {
    use tracewell_wire::rkh::Dialect;

    use super::*;
    use crate::format::rkh::schema;

    /// Events with the first byte of a configuration record exist in some dialects.
    #[test]
    fn a_frame_that_may_be_a_configuration_record_is_slow() {
        use Dialect::{V2_0, V2_0Pre, V2_2, V2_3, V2_4_3, V2_4_4, V2_4_5, V3_4};
        let dialects = [V2_0Pre, V2_0, V2_2, V2_3, V2_4_3, V2_4_4, V2_4_5, V3_4];
        let mut fixed = Vec::new();
        for dialect in dialects {
            let settings = Settings::default();
            let plans = Plans::new(&schema(dialect), 0, dialect, &settings);
            let fast = FastPlans::new(&plans, &settings);
            for code in [0xAC, 0xAD, 0xAE, 0x0C, 0x0E] {
                assert_eq!(fast.get(code).length, NO_LENGTH, "{dialect:?} {code:#X}");
                let plan = plans.get(code).and_then(|plan| FastPlan::new(plan, &settings));
                fixed.extend(plan.map(|_| code));
            }
        }
        assert_eq!(fixed, [0x0C, 0x0E, 0x0C, 0x0E, 0x0C, 0x0E, 0xAC]);
    }

    #[test]
    fn the_active_object_of_a_step_has_as_many_bytes_as_pointers() {
        for (pointer, object) in [(2, 0x2211), (4, 0x4433_2211)] {
            let settings = Settings { pointer, ..Settings::default() };
            let plans = Plans::new(&schema(Dialect::V3_4), 0, Dialect::V3_4, &settings);
            let mut frame = [0; FRAME_WINDOW];
            // SM TRN: the active object, the state and the next state follow the header.
            frame[0] = 0x62;
            let arguments = 0x11_u8..;
            let place = frame[settings.header()..].iter_mut().take(12);
            place.zip(arguments.step_by(0x11)).for_each(|(to, byte)| *to = byte);
            let fast = FastPlans::new(&plans, &settings);
            assert_eq!(fast.get(0x62).effect, Effect::Belongs);
            assert_eq!(fast.get(0x62).object(&frame), object, "{pointer} bytes");
        }
    }
}
