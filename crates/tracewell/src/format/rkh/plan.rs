//! Determines the position of each argument in the records of each event, for given settings.
//!
//! The schema defines types and conditions, and the settings define sizes. As soon as the settings
//! are known, this module makes the plans for all ids. After that, the decoder needs only the plan
//! of an id to decode a record with this id.

use tracewell_wire::rkh::{Dialect, Field, FieldType, Settings, ids};

use super::symbols::SymbolPlan;
use crate::model::Meaning;
use crate::model::schema::{EventType, Schema};
use crate::model::values::{self, MAX_SLOTS};

/// The effect of a record on the context of the following events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// The record is outside of steps, or the schema does not specify to which step it belongs.
    Elsewhere,
    /// The record is part of a step of the active object in this slot.
    Of(u8),
    /// The record ends a step of the active object in this slot.
    Ends(u8),
}

/// Maximum number of a record's arguments, if all arguments have fixed positions. The fast path
/// also reads unused slots, so the processor need not predict the end of a loop.
pub(super) const FIXED_SLOTS: usize = 8;

/// Maximum total length of a record's arguments in bytes, if all arguments have fixed positions.
pub(super) const FIXED_BYTES: usize = 32;

/// A number at a fixed position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Slot {
    /// Offset from the first argument, below [`FIXED_BYTES`].
    pub(super) offset: u8,
    /// Mask of the bytes of the number; 0 for an absent argument.
    pub(super) mask: u32,
}

/// The plan for reading the arguments of an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Plan {
    /// First word of the row: a bit for each argument that is present, and the total number of
    /// arguments.
    pub(super) head: u64,
    pub(super) shape: Shape,
    pub(super) step: Step,
    pub(super) symbol: Option<SymbolPlan>,
}

/// The layout of a record's arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// At most [`FIXED_SLOTS`] numbers in at most [`FIXED_BYTES`] bytes.
    Fixed {
        /// Total length in bytes.
        bytes: usize,
        /// Number of arguments, absent ones included.
        count: usize,
        /// Positions of the arguments; the remaining slots are empty.
        slots: [Slot; FIXED_SLOTS],
    },
    /// Arguments that must be read one after the other; an absent one is `None`.
    Sequence(Vec<Option<FieldType>>),
}

/// The plans of all events of a dialect, by code. The plans are valid only for the settings from
/// which they were computed.
#[derive(Debug)]
pub(super) struct Plans {
    plans: Vec<Option<Plan>>,
}

impl Plans {
    /// Creates the plans. The id of an event is its code plus `base`.
    pub(super) fn new(schema: &Schema, base: u32, dialect: Dialect, settings: &Settings) -> Self {
        let known = |code: u32| {
            let event = schema.event(base + code);
            // All codes that have no event share the entry for unknown ids.
            (event.family != "unknown").then(|| plan(schema, event, dialect, settings)).flatten()
        };
        Self { plans: (0..256).map(known).collect() }
    }

    #[inline]
    pub(super) fn get(&self, code: u8) -> Option<&Plan> {
        self.plans.get(usize::from(code))?.as_ref()
    }
}

/// Returns a plan, or `None` if the schema does not specify the types of the arguments.
fn plan(schema: &Schema, event: &EventType, dialect: Dialect, settings: &Settings) -> Option<Plan> {
    let fields: Option<Vec<Field>> =
        event.args.iter().map(|argument| argument.encoding.parse().ok()).collect();
    let fields = fields.filter(|fields| fields.len() <= MAX_SLOTS)?;
    let types: Vec<_> = fields
        .iter()
        .map(|field| field.condition.holds(settings).then_some(field.field_type))
        .collect();
    // Arguments that these settings omit still occupy a slot, so the slot of an argument does not
    // depend on the settings.
    let present = types.iter().enumerate();
    let present = present.fold(0, |bits, (index, t)| bits | u32::from(t.is_some()) << index);
    Some(Plan {
        head: values::head(present, types.len() as u32),
        shape: fixed(&types, settings).unwrap_or(Shape::Sequence(types)),
        step: step(event),
        symbol: SymbolPlan::of(schema, event, dialect),
    })
}

/// Returns the fixed layout of the arguments. Returns `None` if the positions of the arguments
/// vary, or if there are too many arguments.
fn fixed(types: &[Option<FieldType>], settings: &Settings) -> Option<Shape> {
    let (mut bytes, mut slots) = (0_u8, [Slot::default(); FIXED_SLOTS]);
    for (slot, field) in slots.iter_mut().zip(types) {
        let Some(field) = field else { continue };
        // A field of type `HighHalf` or `LowHalf` is half a byte, and a `Number` is not in the
        // record.
        let size = match field {
            FieldType::HighHalf | FieldType::LowHalf | FieldType::Number => return None,
            _ => field.bytes(settings)?,
        };
        *slot = Slot { offset: bytes, mask: u32::MAX >> (32 - 8 * u32::from(size)) };
        bytes += size;
    }
    let bytes = usize::from(bytes);
    let fits = types.len() <= FIXED_SLOTS && bytes <= FIXED_BYTES;
    fits.then_some(Shape::Fixed { bytes, count: types.len(), slots })
}

/// Returns the effect of an event, which follows from the event's context and meaning in the
/// schema.
fn step(event: &EventType) -> Step {
    let context = event.details.context.and_then(|index| u8::try_from(index).ok());
    match (context, event.means.map(|means| means.meaning)) {
        (None, _) => Step::Elsewhere,
        (Some(ao), Some(Meaning::Complete | Meaning::Unhandled)) => Step::Ends(ao),
        (Some(ao), _) => Step::Of(ao),
    }
}

/// Returns the number that the event with this code has within its group.
pub(super) fn number(code: u8) -> u64 {
    u64::from(ids::number(code))
}
