//! Writes an entry as a row of values: hook data or sub-hook, data words, variable data.

use tracewell_wire::aix::Entry;

use crate::model::values;

/// Number of slots in a row: hook data, five words, variable data.
const SLOTS: u32 = 7;
const DATA: u32 = 6;

/// Appends the row of an entry.
pub(super) fn write(entry: &Entry<'_>, rows: &mut Vec<u8>) {
    let generic = entry.is_generic();
    let words = entry.word_count().min(5) as u32;
    // A 32-bit generic hook word contains the length of the data instead of hook data.
    let has_hook_data = !(generic && entry.env().word_bytes() == 4);
    let present = u32::from(has_hook_data) | ((1 << words) - 1) << 1 | u32::from(generic) << DATA;
    rows.extend(values::head(present, SLOTS).to_le_bytes());
    rows.extend(u64::from(entry.hook_data()).to_le_bytes());
    for number in 1..=5 {
        rows.extend(entry.word(number).unwrap_or(0).to_le_bytes());
    }
    let data = entry.variable_data();
    let start = values::HEAD as u32 + 8 * SLOTS;
    // An entry is at most 64 KiB long.
    rows.extend(values::place(start, data.len() as u32).to_le_bytes());
    rows.extend(data);
}
