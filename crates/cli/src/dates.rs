//! Arguments for dates and times: the time zone, the times in a selection, and the form of times.

use clap::{Args, ValueEnum};
use tracewell::select::{Bound, MomentError, did_you_mean, nearest};
use tracewell::text::TimeForm;
use tracewell::text::calendar::{Zone, ZoneError};

use crate::outcome::{Failure, warn};

/// The time zone of dates.
#[derive(Debug, Args)]
pub(crate) struct ZoneArgs {
    /// Read and write dates in this time zone, such as Europe/Berlin or +02:00, instead of the
    /// system's
    #[arg(long, value_name = "NAME", conflicts_with = "utc")]
    zone: Option<String>,

    /// Read and write dates in UTC
    #[arg(long)]
    utc: bool,
}

impl ZoneArgs {
    /// Returns the zone.
    pub(crate) fn zone(&self) -> Result<Zone, Failure> {
        match &self.zone {
            _ if self.utc => Ok(Zone::utc()),
            Some(name) => Zone::named(name).map_err(|error| unknown_zone(name, &error)),
            None => Zone::system()
                .map_err(|error| Failure::usage(format!("{error}: use --zone NAME or --utc"))),
        }
    }

    /// Checks the name of a given zone. Warns if no date depends on the zone.
    pub(crate) fn check(&self, has_dates: bool) -> Result<(), Failure> {
        if !self.utc && self.zone.is_none() {
            return Ok(());
        }
        let option = if self.utc { "--utc" } else { "--zone" };
        if !has_dates {
            warn!(
                "{option} has no effect: only dates of --from, --to and --time absolute have a zone"
            );
        }
        self.zone().map(|_| ())
    }
}

fn unknown_zone(name: &str, error: &ZoneError) -> Failure {
    let names = Zone::names();
    let hint = did_you_mean(nearest(name, names.iter().map(String::as_str)));
    Failure::usage(format!("--zone: {error}{hint}"))
}

/// The form of times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum TimeStyle {
    /// Since the first event of the trace
    Relative,
    /// Since the previous event that is shown
    Delta,
    /// The date, in ISO 8601, if the trace contains its date of recording
    Absolute,
}

impl TimeStyle {
    /// Returns the form of times. Only dates use the zone, so a wrong zone is an error only for
    /// dates.
    pub(crate) fn form(self, zone: &ZoneArgs) -> Result<TimeForm, Failure> {
        Ok(match self {
            Self::Relative => TimeForm::Relative,
            Self::Delta => TimeForm::Delta,
            Self::Absolute => TimeForm::Absolute(zone.zone()?),
        })
    }
}

/// A time at which a selection begins or ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Moment {
    /// A time since the first event.
    Since(Bound),
    /// A date, which may depend on the time zone.
    Date(String),
}

/// Parses a time. A date is parsed again after the time zone is known.
pub(crate) fn moment(text: &str) -> Result<Moment, MomentError> {
    match Bound::parse_in(text, &Zone::utc())? {
        Bound::WallClock(_) => Ok(Moment::Date(text.to_owned())),
        since => Ok(Moment::Since(since)),
    }
}

impl Moment {
    /// Returns the time. If it is a date, the date is in this zone. `option` is the name of the
    /// option.
    pub(crate) fn bound(&self, option: &str, zone: &Zone) -> Result<Bound, Failure> {
        match self {
            Self::Since(bound) => Ok(*bound),
            Self::Date(text) => Bound::parse_in(text, zone)
                .map_err(|error| Failure::usage(format!("{option}: {error}"))),
        }
    }
}
