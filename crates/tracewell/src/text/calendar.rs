//! Dates of the Gregorian calendar, in Greenwich time, as C's `asctime` writes them.

use std::fmt;

const SECONDS_OF_DAY: u64 = 86_400;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// 1 January 1970 was a Thursday.
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

/// A day.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Date {
    /// Year, from 1970 on.
    pub year: u64,
    /// 1 to 12.
    pub month: u64,
    /// 1 to 31.
    pub day: u64,
}

impl Date {
    /// The day that is so many days behind 1 January 1970.
    pub fn of_days(days: u64) -> Self {
        // Years begin in March here, so that the day that comes and goes is the last one of a year,
        // and periods of 400 years are equal. See Howard Hinnant, "chrono-Compatible Low-Level Date
        // Algorithms".
        let days = days + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
        let year_of_era = (day_of_era - leap_days) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        Self { year: 400 * era + year_of_era + u64::from(month <= 2), month, day }
    }

    /// Days since 1 January 1970; `None` for what is no day or lies before.
    pub fn days(self) -> Option<u64> {
        let Self { year, month, day } = self;
        if !(1970..=1_000_000).contains(&year)
            || !(1..=12).contains(&month)
            || !(1..=31).contains(&day)
        {
            return None;
        }
        let year = year - u64::from(month <= 2);
        let (era, year_of_era) = (year / 400, year % 400);
        let month_from_march = (month + 9) % 12;
        let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
        let day_of_era = 365 * year_of_era + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let days = (146_097 * era + day_of_era).checked_sub(719_468)?;
        // 31 April comes out as 1 May.
        (Self::of_days(days) == self).then_some(days)
    }
}

/// Seconds since 1970, shown as `Thu Oct 28 13:34:05 1999`.
#[derive(Clone, Copy, Debug)]
pub struct DateAndTime(pub u64);

impl fmt::Display for DateAndTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, of_day) = (self.0 / SECONDS_OF_DAY, self.0 % SECONDS_OF_DAY);
        let Date { year, month, day } = Date::of_days(days);
        let weekday = WEEKDAYS[(days % 7) as usize];
        let month = MONTHS[(month - 1) as usize];
        write!(f, "{weekday} {month} {day:2} {} {year}", TimeOfDay(of_day))
    }
}

/// Seconds of a day, shown as `13:34:05`.
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

    fn shown(seconds: u64) -> String {
        DateAndTime(seconds).to_string()
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(shown(0), "Thu Jan  1 00:00:00 1970");
        assert_eq!(shown(941_117_645), "Thu Oct 28 13:34:05 1999");
        assert_eq!(shown(951_782_400), "Tue Feb 29 00:00:00 2000");
        assert_eq!(shown(4_294_967_295), "Sun Feb  7 06:28:15 2106");
    }

    #[test]
    fn days_go_there_and_back() {
        for days in (0..200_000).step_by(7) {
            assert_eq!(Date::of_days(days).days(), Some(days));
        }
        for (year, month, day) in
            [(2001, 2, 29), (1999, 4, 31), (1969, 12, 31), (2000, 13, 1), (2000, 1, 0)]
        {
            assert_eq!(Date { year, month, day }.days(), None, "{year}-{month}-{day}");
        }
    }
}
