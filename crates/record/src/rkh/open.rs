//! State that the trace keeps while a record is open.

use tracewell_wire::rkh::{Field, FieldType};

use super::Refusal;
use super::frame::Frame;

/// The state of a record between two write calls.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) frame: Frame,
    /// The arguments that have not been written yet.
    pub(super) fields: &'static [Field],
    /// The first error. If there is one, the record is aborted when it ends.
    pub(super) fault: Option<Refusal>,
}

impl Open {
    /// Removes and returns the next field.
    pub(super) fn next(&mut self) -> Option<Field> {
        let (field, rest) = self.fields.split_first()?;
        self.fields = rest;
        Some(*field)
    }

    /// Returns true if every argument was written.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.fields, [] | [Field { field_type: FieldType::Items | FieldType::Rest, .. }])
    }
}

/// Returns true for fields of configuration records, which are not written as single arguments.
pub(super) const fn is_half(field: FieldType) -> bool {
    matches!(field, FieldType::HighHalf | FieldType::LowHalf | FieldType::Number)
}
