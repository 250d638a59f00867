//! Recognises structures without bits. An event that consists of such structures would repeat
//! without end, because it does not advance the position.

use std::sync::Arc;

use crate::format::ctf::declared::types::{LengthType, StructureType, Type};

/// Returns true if none of the structures contains bits.
pub(super) fn are_empty(structures: &[Option<Arc<StructureType>>]) -> bool {
    structures.iter().flatten().all(|structure| is_empty_structure(structure))
}

/// Returns true if no member of a structure contains bits.
fn is_empty_structure(structure: &StructureType) -> bool {
    structure.members.iter().all(|member| is_empty(&member.class))
}

/// Returns true if a type contains no bits, whatever the values of other fields are.
fn is_empty(class: &Type) -> bool {
    match class {
        Type::Structure(structure) => is_empty_structure(structure),
        Type::Array(array) => {
            matches!(array.length, LengthType::Fixed(0)) || is_empty(&array.element)
        }
        Type::Choice(choice) => choice.options.iter().all(|option| is_empty(&option.class)),
        Type::SizedText { length, .. } | Type::Blob { length, .. } => {
            matches!(length, LengthType::Fixed(0))
        }
        Type::Integer(_) | Type::Float(_) | Type::Text(_) | Type::Unsupported(_) => false,
    }
}
