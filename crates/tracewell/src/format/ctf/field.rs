//! The arguments of events, before they are in the schema.

use super::classes::{Class, IntegerKind};
use crate::model::schema::ArgumentKind;

/// An argument that is not in the schema yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: ArgumentKind,
    /// The encoding as the schema names it. The encoding determines the number of hexadecimal
    /// digits. Empty for all classes except integers of 8, 16, 32 or 64 bits.
    pub(super) encoding: &'static str,
}

/// Returns the encoding of an argument, as the schema names it.
pub(super) fn encoding(class: &Class) -> &'static str {
    let Class::Integer(integer) = class else { return "" };
    let is_signed = integer.kind == IntegerKind::Signed;
    match (integer.bits, is_signed) {
        (8, false) => "u8",
        (8, true) => "i8",
        (16, false) => "u16",
        (16, true) => "i16",
        (32, false) => "u32",
        (32, true) => "i32",
        (64, false) => "u64",
        (64, true) => "i64",
        _ => "",
    }
}
