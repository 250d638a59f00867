//! Limits of metadata. They bound the time and memory that reading a text can take.

/// Maximum length of metadata in bytes.
pub const MAX_LEN: usize = 64 << 20;

/// Maximum number of fields in all scopes of a trace together. A structure is counted each time it
/// is used. This is also the maximum number of parts of the syntax tree.
pub const MAX_FIELDS: u64 = 1 << 20;

/// Maximum depth of nested types, of parentheses and of JSON values.
pub const MAX_DEPTH: u32 = 64;

/// Maximum alignment in bits.
pub const MAX_ALIGNMENT: u32 = 1 << 16;

/// Maximum number of labelled ranges of one class.
pub const MAX_MAPPINGS: usize = 1 << 16;

/// Maximum number of warnings that are kept. The others are counted.
pub const MAX_WARNINGS: usize = 100;

/// Returns an alignment if it is a power of two within the limit.
pub(crate) fn checked_alignment(alignment: u64) -> Option<u32> {
    let alignment = u32::try_from(alignment).ok()?;
    (alignment.is_power_of_two() && alignment <= MAX_ALIGNMENT).then_some(alignment)
}
