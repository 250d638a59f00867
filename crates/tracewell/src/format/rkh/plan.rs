//! Where each argument of each event lies in a record, under the settings of the moment.
//!
//! The schema says types and conditions, the settings their sizes. A plan is made for every id when
//! the settings are known, so that a record costs no question that settings could have answered.

use tracewell_wire::rkh::{Dialect, Field, FieldType, Settings, ids};

use super::symbols::SymbolPlan;
use super::usual::Usuals;
use crate::model::Meaning;
use crate::model::schema::{EventType, Schema};
use crate::model::values::{self, MOST_SLOTS};

/// What a record does to whom the following events belong to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Nothing.
    Elsewhere,
    /// It is part of the active object's step; the argument is in this slot.
    Of(u8),
    /// It ends the step of the active object in this slot.
    Ends(u8),
}

/// The most arguments of a record whose places are fixed, so that all can be read without a loop
/// whose end a processor would have to guess.
pub(super) const FIXED_SLOTS: usize = 8;

/// The most bytes of such arguments.
pub(super) const FIXED_BYTES: usize = 32;

/// A number at a fixed place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Slot {
    /// Below [`FIXED_BYTES`].
    pub(super) offset: u8,
    /// 0 for an argument that is not there.
    pub(super) mask: u32,
}

/// How the arguments of an event are read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Plan {
    /// The first word of every row: which arguments are there, and how many could be.
    pub(super) head: u64,
    pub(super) shape: Shape,
    pub(super) step: Step,
    pub(super) symbol: Option<SymbolPlan>,
}

/// Whether the arguments lie at fixed places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// At most [`FIXED_SLOTS`] numbers in at most [`FIXED_BYTES`] bytes.
    Fixed {
        /// Bytes in all.
        bytes: usize,
        /// Arguments that could be there.
        count: usize,
        /// Their places; slots behind them are empty.
        slots: [Slot; FIXED_SLOTS],
    },
    /// One after the other; `None` for those that are not there.
    Sequence(Vec<Option<FieldType>>),
}

/// The plans of all events of a dialect under some settings, by code.
#[derive(Debug)]
pub(super) struct Plans {
    plans: Vec<Option<Plan>>,
    /// The same for frames of the usual kind.
    pub(super) usual: Usuals,
}

impl Plans {
    /// The plans of the events whose ids are their codes and `base`.
    pub(super) fn new(schema: &Schema, base: u32, dialect: Dialect, settings: &Settings) -> Self {
        let known = |code: u32| {
            let event = schema.event(base + code);
            // The entry of unknown ids belongs to no range.
            (event.family != "unknown").then(|| plan(schema, event, dialect, settings)).flatten()
        };
        let plans: Vec<_> = (0..256).map(known).collect();
        let usual = Usuals::new(&plans, settings);
        Self { plans, usual }
    }

    #[inline]
    pub(super) fn get(&self, code: u8) -> Option<&Plan> {
        self.plans.get(usize::from(code))?.as_ref()
    }
}

/// A plan, or `None` where the schema does not say how the arguments lie in a record.
fn plan(schema: &Schema, event: &EventType, dialect: Dialect, settings: &Settings) -> Option<Plan> {
    let fields: Option<Vec<Field>> =
        event.args.iter().map(|argument| argument.encoding.parse().ok()).collect();
    let fields = fields.filter(|fields| fields.len() <= MOST_SLOTS)?;
    let types: Vec<_> = fields
        .iter()
        .map(|field| field.condition.holds(settings).then_some(field.field_type))
        .collect();
    let present = types.iter().enumerate();
    let present = present.fold(0, |bits, (index, t)| bits | u32::from(t.is_some()) << index);
    Some(Plan {
        head: values::head(present, types.len() as u32),
        shape: fixed(&types, settings).unwrap_or(Shape::Sequence(types)),
        step: step(event),
        symbol: SymbolPlan::of(schema, event, dialect),
    })
}

fn fixed(types: &[Option<FieldType>], settings: &Settings) -> Option<Shape> {
    let (mut bytes, mut slots) = (0_u8, [Slot::default(); FIXED_SLOTS]);
    for (slot, field) in slots.iter_mut().zip(types) {
        let Some(field) = field else { continue };
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

fn step(event: &EventType) -> Step {
    let position = event.args.iter().position(|argument| argument.name == "ao");
    let Some(ao) = position.and_then(|index| u8::try_from(index).ok()) else {
        return Step::Elsewhere;
    };
    match event.means.map(|means| means.meaning) {
        Some(Meaning::Complete | Meaning::Unhandled) => Step::Ends(ao),
        Some(Meaning::Dispatch) => Step::Of(ao),
        Some(Meaning::Receive) if event.family == "SMA" => Step::Of(ao),
        _ if event.family == "SM" => Step::Of(ao),
        _ => Step::Elsewhere,
    }
}

/// The number in its group that a record's code has.
pub(super) fn number(code: u8) -> u64 {
    u64::from(ids::number(code))
}
