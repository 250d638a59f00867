//! The families of the levels of `tracing`.

use tracewell_record::stream::Family;
use tracewell_wire::native::LEVEL_FAMILIES;
use tracing_core::Level;

use crate::FIRST_FAMILY;

/// The family of each level, from error to trace.
const LEVELS: [Family; 5] = [
    Family::new(FIRST_FAMILY + 1, LEVEL_FAMILIES[0]),
    Family::new(FIRST_FAMILY + 2, LEVEL_FAMILIES[1]),
    Family::new(FIRST_FAMILY + 3, LEVEL_FAMILIES[2]),
    Family::new(FIRST_FAMILY + 4, LEVEL_FAMILIES[3]),
    Family::new(FIRST_FAMILY + 5, LEVEL_FAMILIES[4]),
];

/// Returns the family of the events of a level.
#[inline]
pub(crate) fn level_family(level: Level) -> Family {
    match level {
        Level::ERROR => LEVELS[0],
        Level::WARN => LEVELS[1],
        Level::INFO => LEVELS[2],
        Level::DEBUG => LEVELS[3],
        _ => LEVELS[4],
    }
}
