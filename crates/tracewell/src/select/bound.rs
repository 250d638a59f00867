//! Points of time as people type them.

use std::str::FromStr;

/// A point of time as typed: `12345` ticks, or `1.5s`, `20ms`, `7us`, `300ns`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Ticks since the first event.
    Ticks(u64),
    /// Nanoseconds since the first event; needs a clock of known rate.
    Nanoseconds(u64),
    /// Nanoseconds since 1970; needs a trace that knows when it was recorded. Not typed this way.
    WallClock(u64),
}

/// A text is not a point of time.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected ticks such as 12345 or a time such as 1.5s, 20ms, 7us, 300ns, found '{found}'")]
pub struct BoundError {
    found: String,
}

impl FromStr for Bound {
    type Err = BoundError;

    fn from_str(text: &str) -> Result<Self, BoundError> {
        let error = || BoundError { found: text.to_owned() };
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

/// A decimal number times a power of ten, exactly.
fn scaled(number: &str, power: usize) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.len() > power || whole.is_empty() {
        return None;
    }
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
        assert_eq!(read("1.5s"), Some(Bound::Nanoseconds(1_500_000_000)));
        assert_eq!(read("20 ms"), Some(Bound::Nanoseconds(20_000_000)));
        assert_eq!(read("300ns"), Some(Bound::Nanoseconds(300)));
        for bad in ["", "s", "1.5ns", "-1", "1e3us", "99999999999s", "1,5s"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
