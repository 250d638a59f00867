//! Reads and writes times as dates of ISO 8601 in a time zone. Also writes dates as C's `asctime`
//! does. A time is the number of nanoseconds since 1970.
//!
//! The rules of time zones come from the system's database, or on Windows from a copy in the
//! program. Leap seconds do not exist, as in POSIX.

use std::fmt;

use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use super::{Reservation, ShortText};

const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

/// A time zone.
///
/// ```
/// use tracewell::text::calendar::Zone;
///
/// let berlin = Zone::named("Europe/Berlin")?;
/// let ns = berlin.parse("2026-07-01T12:00:00.5")?;
/// assert_eq!(ns, Zone::utc().parse("2026-07-01T10:00:00.5Z")?);
/// assert_eq!(berlin.date(ns), "2026-07-01T12:00:00.500000000+02:00");
/// assert_eq!(Zone::utc().date(ns), "2026-07-01T10:00:00.500000000Z");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Zone(TimeZone);

/// Error for a time zone that is not known.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ZoneError {
    /// No zone has this name.
    #[error(
        "no time zone '{0}': expected a name such as Europe/Berlin, or a difference such as +02:00"
    )]
    Unknown(String),
    /// The environment variable TZ names no zone.
    #[error("the environment variable TZ names no known time zone")]
    System,
}

impl Zone {
    /// Returns the zone UTC.
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// Returns the system's zone: the zone of the environment variable TZ, or else the configured
    /// zone. If no zone is configured, returns UTC, as C does.
    ///
    /// # Errors
    /// Returns an error if TZ names no known zone.
    pub fn system() -> Result<Self, ZoneError> {
        let is_chosen = std::env::var_os("TZ").is_some_and(|name| !name.is_empty());
        match TimeZone::try_system() {
            Ok(zone) => Ok(Self(zone)),
            Err(_) if is_chosen => Err(ZoneError::System),
            Err(_) => Ok(Self::utc()),
        }
    }

    /// Returns the zone with a name such as `Europe/Berlin`, or with a difference from UTC such as
    /// `+02:00`.
    ///
    /// # Errors
    /// Returns an error if the system does not know the name.
    pub fn named(name: &str) -> Result<Self, ZoneError> {
        let zone = DateTimeParser::new().parse_time_zone(name);
        zone.map(Self).map_err(|_| ZoneError::Unknown(name.to_owned()))
    }

    /// Returns the names of all zones that the system knows.
    pub fn names() -> Vec<String> {
        jiff::tz::db().available().map(|name| name.to_string()).collect()
    }

    /// Returns nanoseconds since 1970 as a date of ISO 8601 with nine decimals and the difference
    /// from UTC, which is `Z` in the zone UTC.
    pub fn date(&self, ns: u64) -> String {
        let (second, rest) = (ns / NANOSECONDS_PER_SECOND, ns % NANOSECONDS_PER_SECOND);
        let (date, difference) = self.parts(second);
        format!("{date}.{rest:09}{difference}")
    }

    /// Returns the number of characters of a date.
    pub fn width(&self) -> usize {
        self.date(0).len()
    }

    /// Returns the date up to the second, and the difference from UTC.
    fn parts(&self, second: u64) -> (String, String) {
        let moment = timestamp(second);
        let offset = self.0.to_offset(moment);
        let date = offset.to_datetime(moment).strftime("%Y-%m-%dT%H:%M:%S").to_string();
        let is_utc = matches!(self.0.iana_name(), Some("UTC" | "Etc/UTC"));
        (date, if is_utc { "Z".to_owned() } else { difference(offset) })
    }

    /// Converts a date of ISO 8601 to nanoseconds since 1970. Examples are `2026-03-02`,
    /// `2026-03-02 09:00` and `2026-03-02T09:00:00.5+01:00`. A date without a difference from UTC
    /// and without a zone in brackets is a date in this zone.
    ///
    /// # Errors
    /// Returns an error if the text is not such a date, if the zone's clocks never showed the date
    /// or showed it twice, or if the date is before 1970 or after July 2554.
    pub fn parse(&self, text: &str) -> Result<u64, DateError> {
        let no_date = || DateError::NotADate { found: text.to_owned() };
        let pieces = DateTimeParser::new().parse_pieces(text).map_err(|_| no_date())?;
        let zone = pieces.to_time_zone().map_err(|_| no_date())?;
        let moment = match (pieces.to_numeric_offset(), zone) {
            // The text contains a zone and a difference from UTC, which may contradict each other.
            // The parser for dates with a zone reports such a contradiction.
            (Some(_), Some(_)) => text.parse::<jiff::Zoned>().map_err(|_| no_date())?.timestamp(),
            (Some(offset), None) => {
                let date = pieces.date().to_datetime(pieces.time().unwrap_or_default());
                offset.to_timestamp(date).map_err(|_| no_date())?
            }
            (None, zone) => {
                let date = pieces.date().to_datetime(pieces.time().unwrap_or_default());
                zone.map_or_else(|| self.clone(), Self).moment(date, text)?
            }
        };
        u64::try_from(moment.as_nanosecond())
            .map_err(|_| DateError::OutOfRange { found: text.to_owned() })
    }

    /// Returns the moment at which this zone's clocks show a date.
    fn moment(&self, date: DateTime, text: &str) -> Result<Timestamp, DateError> {
        let found = text.to_owned();
        let zone = || self.0.iana_name().unwrap_or("the system's time zone").to_owned();
        match self.0.to_ambiguous_timestamp(date).offset() {
            AmbiguousOffset::Unambiguous { offset } => {
                offset.to_timestamp(date).map_err(|_| DateError::OutOfRange { found })
            }
            AmbiguousOffset::Gap { .. } => Err(DateError::Skipped { found, zone: zone() }),
            AmbiguousOffset::Fold { before, after } => Err(DateError::Twice {
                found,
                zone: zone(),
                differences: [difference(before), difference(after)],
            }),
        }
    }
}

/// Returns a difference from UTC, such as `+02:00`. The difference is rounded to minutes. Before
/// 1973, the differences of a few zones also had seconds.
fn difference(offset: jiff::tz::Offset) -> String {
    let seconds = offset.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = (seconds.unsigned_abs() + 30) / 60;
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

/// Converts seconds since 1970 to a moment; the maximum is the last second of the year 9999.
fn timestamp(seconds: u64) -> Timestamp {
    let seconds = i64::try_from(seconds).ok();
    seconds.and_then(|seconds| Timestamp::from_second(seconds).ok()).unwrap_or(Timestamp::MAX)
}

/// Error for text that is not a date, or that does not stand for exactly one moment.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DateError {
    /// The text is not a date of ISO 8601.
    #[error("expected a date such as 2026-03-02T09:00:00.5+01:00, found '{found}'")]
    NotADate {
        /// The text.
        found: String,
    },
    /// The date, in nanoseconds since 1970, does not fit in 64 bits.
    #[error("expected a date from 1970 to 2554, found '{found}'")]
    OutOfRange {
        /// The text.
        found: String,
    },
    /// The clocks of the zone were put forward past this date.
    #[error("{found} does not exist in {zone}, where clocks were put forward: give another time")]
    Skipped {
        /// The text.
        found: String,
        /// Name of the zone.
        zone: String,
    },
    /// The clocks of the zone were put back, so this date occurred twice.
    #[error(
        "{found} occurred twice in {zone}: add {} for the first or {} for the second",
        differences[0],
        differences[1]
    )]
    Twice {
        /// The text.
        found: String,
        /// Name of the zone.
        zone: String,
        /// The differences from UTC before and after the clocks were put back.
        differences: [String; 2],
    },
}

/// Writes dates. Consecutive dates are usually within the same second, so the text up to the second
/// is cached.
#[derive(Debug)]
pub(crate) struct Dates {
    zone: Zone,
    /// The second to which the texts `start` and `end` belong.
    second: Option<u64>,
    /// The date up to the second, and a point.
    start: ShortText,
    /// The difference from UTC.
    end: ShortText,
}

impl Dates {
    /// Number of bytes to reserve for a date.
    pub(crate) const ROOM: usize = 3 * Reservation::NUMBER;

    pub(crate) fn new(zone: Zone) -> Self {
        Self { zone, second: None, start: ShortText::EMPTY, end: ShortText::EMPTY }
    }

    /// Appends nanoseconds since 1970 as [`Zone::date`] writes them.
    pub(crate) fn put<'a>(&mut self, room: Reservation<'a>, ns: u64) -> Reservation<'a> {
        let (second, rest) = (ns / NANOSECONDS_PER_SECOND, ns % NANOSECONDS_PER_SECOND);
        // Most events are in the same second as the previous event, so the texts of that second are
        // kept.
        if self.second != Some(second) {
            let (date, difference) = self.zone.parts(second);
            let short = |text: String| ShortText::new(&text).unwrap_or(ShortText::EMPTY);
            (self.start, self.end) = (short(date + "."), short(difference));
            self.second = Some(second);
        }
        room.short(&self.start).nine(rest).short(&self.end)
    }
}

/// Converts a date and time in UTC to nanoseconds since 1970. Returns `None` if there is no such
/// date or if it is before 1970. Second 60, which is a leap second, counts as the first second of
/// the next minute.
///
/// ```
/// use tracewell::text::calendar::utc;
///
/// assert_eq!(utc([2000, 2, 29], [0, 0, 1]), Some(951_782_401_000_000_000));
/// assert_eq!(utc([2001, 2, 29], [0, 0, 1]), None);
/// ```
pub fn utc([year, month, day]: [i16; 3], [hour, minute, second]: [i8; 3]) -> Option<u64> {
    let [month, day] = [month, day].map(|number| i8::try_from(number).unwrap_or(0));
    // The library rejects second 60, so begin with 59 and add the rest later.
    let date = DateTime::new(year, month, day, hour, minute, second.min(59), 0).ok()?;
    let leap = match second {
        ..=59 => SignedDuration::ZERO,
        60 => SignedDuration::from_secs(1),
        _ => return None,
    };
    let moment = jiff::tz::Offset::UTC.to_timestamp(date.checked_add(leap).ok()?).ok()?;
    u64::try_from(moment.as_nanosecond()).ok()
}

/// Seconds since 1970, displayed as `Thu Oct 28 13:34:05 1999`, in UTC.
///
/// ```
/// use tracewell::text::calendar::DateAndTime;
///
/// assert_eq!(DateAndTime(941_117_645).to_string(), "Thu Oct 28 13:34:05 1999");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DateAndTime(pub u64);

impl fmt::Display for DateAndTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = jiff::tz::Offset::UTC.to_datetime(timestamp(self.0));
        write!(f, "{}", date.strftime("%a %b %e %H:%M:%S %Y"))
    }
}

/// Seconds since midnight, displayed as `13:34:05`.
#[derive(Clone, Copy, Debug)]
pub struct TimeOfDay(pub u64);

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0;
        write!(f, "{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::TextBuffer;

    fn shown(seconds: u64) -> String {
        DateAndTime(seconds).to_string()
    }

    /// Returns a zone that is defined by its rules, so that the tests need no database.
    fn berlin() -> Zone {
        Zone::named("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(shown(0), "Thu Jan  1 00:00:00 1970");
        assert_eq!(shown(941_117_645), "Thu Oct 28 13:34:05 1999");
        assert_eq!(shown(951_782_400), "Tue Feb 29 00:00:00 2000");
        assert_eq!(shown(4_294_967_295), "Sun Feb  7 06:28:15 2106");
    }

    #[test]
    fn dates_that_do_not_exist_are_refused() {
        for date in [[2001, 2, 29], [1999, 4, 31], [1969, 12, 31], [2000, 13, 1], [2000, 1, 0]] {
            assert_eq!(utc(date, [0; 3]), None, "{date:?}");
        }
        assert_eq!(utc([2016, 12, 31], [23, 59, 60]), utc([2017, 1, 1], [0; 3]));
        assert_eq!(utc([2016, 12, 31], [23, 59, 61]), None);
    }

    #[test]
    fn a_date_is_written_to_the_nanosecond_and_parsed_back() {
        let ends = [0, 1, 999_999_999, 1_772_442_000_123_456_789, u64::MAX];
        // Test one nanosecond before each change of the clocks, the change itself, and one hour
        // later. The clocks are put forward at the first change and back at the second.
        let changes = [1_774_746_000, 1_792_890_000].map(|second| second * 1_000_000_000_u64);
        let around = changes.into_iter().flat_map(|ns| [ns - 1, ns, ns + 3_600_000_000_000]);
        for zone in [Zone::utc(), berlin(), Zone::named("-03:30").unwrap()] {
            let mut dates = Dates::new(zone.clone());
            for ns in ends.into_iter().chain(around.clone()) {
                let date = zone.date(ns);
                assert_eq!(Zone::utc().parse(&date), Ok(ns), "{date}");
                assert_eq!(date.len(), zone.width());
                let mut out = TextBuffer::default();
                dates.put(out.room(Dates::ROOM), ns).done();
                assert_eq!(out.as_text(), date);
            }
        }
        assert_eq!(Zone::utc().date(u64::MAX), "2554-07-21T23:34:33.709551615Z");
        assert_eq!(berlin().date(1_774_746_000_000_000_000), "2026-03-29T03:00:00.000000000+02:00");
        assert_eq!(berlin().date(1_774_745_999_999_999_999), "2026-03-29T01:59:59.999999999+01:00");
    }

    #[test]
    fn a_date_without_zone_is_local() {
        let parsed = |text: &str| berlin().parse(text).ok();
        let morning = utc([2026, 3, 2], [8, 0, 0]);
        for text in [
            "2026-03-02T09:00",
            "2026-03-02 09:00:00.000000000",
            "2026-03-02T09:00+01:00",
            "2026-03-02T08:00Z",
            "2026-03-02T13:30+05:30",
            "2026-03-02T08:00[+00:00]",
        ] {
            assert_eq!(parsed(text), morning, "{text}");
        }
        assert_eq!(parsed("2026-03-02"), utc([2026, 3, 1], [23, 0, 0]));
    }

    #[test]
    fn a_date_that_is_not_one_moment_is_refused() {
        let error = |text: &str| berlin().parse(text).unwrap_err();
        assert!(matches!(error("2026-03-29T02:30"), DateError::Skipped { .. }));
        let DateError::Twice { differences, .. } = error("2026-10-25T02:30") else { panic!() };
        assert_eq!(differences, ["+02:00", "+01:00"]);
        assert!(berlin().parse("2026-10-25T02:30+02:00").is_ok());
        for text in ["1969-12-31T23:59:59Z", "2555-01-01", "9999-12-31T23:59:59-23:00"] {
            let error = error(text);
            assert!(!matches!(error, DateError::Twice { .. } | DateError::Skipped { .. }));
        }
        for text in [
            "",
            "soon",
            "09:00",
            "2026-13-01",
            "2026-02-30",
            "2026-03-02T25:00",
            "2026-03-02T09:00:00.0000000001Z",
            "2026-03-02T09:00+01:00[+02:00]",
        ] {
            assert!(matches!(error(text), DateError::NotADate { .. }), "{text}");
        }
    }

    #[test]
    fn an_unknown_zone_is_refused() {
        for name in ["Europe/Nowhere", "", "../../etc/passwd", "+25:00:00:00"] {
            assert_eq!(Zone::named(name), Err(ZoneError::Unknown(name.to_owned())), "{name}");
        }
    }
}
