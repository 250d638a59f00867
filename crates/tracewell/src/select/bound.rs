//! Parses times that users type.

use std::str::FromStr;

use crate::model::Trace;
use crate::text::calendar::{DateError, Zone};
use crate::text::{counted, spoken_time};

/// A time that a user typed, such as `12345` or `tick:12345` (ticks), `1.5s`, `20ms`, `7us` or
/// `300ns`, or a date ([`Bound::parse_in`]).
///
/// ```
/// use tracewell::select::Bound;
///
/// assert_eq!("12345".parse(), Ok(Bound::Ticks(12_345)));
/// assert_eq!("1.5ms".parse(), Ok(Bound::Nanoseconds(1_500_000)));
/// assert!("soon".parse::<Bound>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Ticks since the first event.
    Ticks(u64),
    /// Nanoseconds since the first event. Requires a clock of known rate.
    Nanoseconds(u64),
    /// Nanoseconds since 1970. Requires a trace with a wall clock.
    WallClock(u64),
}

impl Bound {
    /// Parses a time or a date. If a date in the form of ISO 8601 contains no difference from UTC,
    /// it is a local time in `zone`.
    ///
    /// ```
    /// use tracewell::select::Bound;
    /// use tracewell::text::calendar::Zone;
    ///
    /// let utc = Zone::utc();
    /// let date = Bound::parse_in("1970-01-01T00:00:01", &utc);
    /// assert_eq!(date, Ok(Bound::WallClock(1_000_000_000)));
    /// assert_eq!(Bound::parse_in("20ms", &utc), Ok(Bound::Nanoseconds(20_000_000)));
    /// ```
    ///
    /// # Errors
    /// Returns an error if the text is neither a time nor a date, or if the date does not stand for
    /// exactly one moment.
    pub fn parse_in(text: &str, zone: &Zone) -> Result<Self, MomentError> {
        if let Ok(time) = text.parse() {
            return Ok(time);
        }
        zone.parse(text).map(Self::WallClock).map_err(|error| match error {
            DateError::NotADate { found } => MomentError::Neither { found },
            error => MomentError::Date(error),
        })
    }

    /// Returns true if this time is earlier than another time of the same trace. The trace must
    /// contain the clock that each of the times needs.
    pub(super) fn precedes(self, trace: &Trace, other: Self) -> bool {
        match (self, other) {
            (Self::Ticks(time), Self::Ticks(other))
            | (Self::Nanoseconds(time), Self::Nanoseconds(other))
            | (Self::WallClock(time), Self::WallClock(other)) => time < other,
            (Self::WallClock(_), _) | (_, Self::WallClock(_)) => {
                let of_both = self.date(trace).zip(other.date(trace));
                of_both.is_some_and(|(time, other)| time < other)
            }
            // A tick has a time, but not every time has a tick.
            (Self::Ticks(ticks), Self::Nanoseconds(ns)) => {
                trace.clock.nanoseconds(ticks).is_some_and(|time| time < ns)
            }
            (Self::Nanoseconds(ns), Self::Ticks(ticks)) => {
                trace.clock.nanoseconds(ticks).is_some_and(|other| ns < other)
            }
        }
    }

    /// Returns the nanoseconds since 1970 of this time.
    fn date(self, trace: &Trace) -> Option<u64> {
        match self {
            Self::Ticks(ticks) => trace.wall_clock_ns(ticks),
            Self::Nanoseconds(ns) => trace.wall_clock_ns(0)?.checked_add(ns),
            Self::WallClock(ns) => Some(ns),
        }
    }

    /// Returns the time as text for messages.
    pub(crate) fn spoken(self) -> String {
        match self {
            Self::Ticks(ticks) => counted(ticks, "tick"),
            Self::Nanoseconds(ns) => spoken_time(ns),
            Self::WallClock(ns) => Zone::utc().date(ns),
        }
    }

    /// Returns true if this time is earlier than `tick`.
    #[inline]
    pub(crate) fn is_before(self, trace: &Trace, tick: u64) -> bool {
        match self {
            Self::Ticks(ticks) => tick > ticks,
            Self::Nanoseconds(ns) => trace.clock.nanoseconds(tick) > Some(ns),
            Self::WallClock(ns) => trace.wall_clock_ns(tick) > Some(ns),
        }
    }

    /// Returns true if this time is later than `tick`.
    #[inline]
    pub(crate) fn is_after(self, trace: &Trace, tick: u64) -> bool {
        match self {
            Self::Ticks(ticks) => tick < ticks,
            Self::Nanoseconds(ns) => trace.clock.nanoseconds(tick) < Some(ns),
            Self::WallClock(ns) => trace.wall_clock_ns(tick) < Some(ns),
        }
    }
}

/// Error for text that is not a valid time.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected ticks such as 12345 or a time such as 1.5s, 20ms, 7us, 300ns, found '{found}'")]
pub struct BoundError {
    found: String,
}

/// Error for text that is neither a valid time nor a valid date.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MomentError {
    /// The text is neither a time nor a date.
    #[error(
        "expected ticks such as 12345, a time such as 1.5s, 20ms, 7us, 300ns, or a date such as \
         2026-03-02T09:00:00.5Z, found '{found}'"
    )]
    Neither {
        /// The text.
        found: String,
    },
    /// The date does not stand for exactly one moment.
    #[error(transparent)]
    Date(#[from] DateError),
}

impl FromStr for Bound {
    type Err = BoundError;

    fn from_str(text: &str) -> Result<Self, BoundError> {
        let error = || BoundError { found: text.to_owned() };
        if let Some(ticks) = text.strip_prefix("tick:") {
            return ticks.parse().map(Self::Ticks).map_err(|_| error());
        }
        let units = [("ns", 0), ("us", 3), ("ms", 6), ("s", 9)];
        let unit = units.iter().find_map(|(unit, power)| Some((text.strip_suffix(unit)?, *power)));
        match unit {
            None => text.parse().map(Self::Ticks).map_err(|_| error()),
            Some((number, power)) => {
                scaled(number.trim_end(), power).map(Self::Nanoseconds).ok_or_else(error)
            }
        }
    }
}

/// Returns the product of a decimal number and a power of ten, if the product is an integer.
pub(super) fn scaled(number: &str, power: usize) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.len() > power || whole.is_empty() {
        return None;
    }
    // Moving the decimal point in the string is exact. A floating-point number would be rounded.
    let digits = format!("{whole}{fraction:0<power$}");
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_exactly() {
        let read = |text: &str| text.parse::<Bound>().ok();
        assert_eq!(read("12345"), Some(Bound::Ticks(12_345)));
        assert_eq!(read("tick:12345"), Some(Bound::Ticks(12_345)));
        assert_eq!(read("1.5s"), Some(Bound::Nanoseconds(1_500_000_000)));
        assert_eq!(read("20 ms"), Some(Bound::Nanoseconds(20_000_000)));
        assert_eq!(read("300ns"), Some(Bound::Nanoseconds(300)));
        for bad in ["", "s", "tick:", "tick:1ms", "1.5ns", "-1", "1e3us", "99999999999s", "1,5s"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
