//! Options of a report, given by `-O` as `name=value` pairs separated by commas.

use std::str::FromStr;

use crate::model::Trace;

/// The form of times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Timestamp {
    /// 0: seconds since the first event, with nine decimals, and milliseconds since the previous
    /// event.
    #[default]
    Elapsed,
    /// 1: seconds since the first event, with six decimals.
    Short,
    /// 2: microseconds since the first event.
    Microseconds,
    /// 3: times are not shown.
    None,
    /// 4: time of day with nine decimals.
    WallClock,
}

/// The columns of a report and their forms. The default is the same as in trcrpt.
///
/// ```
/// use tracewell::report::trcrpt::{Options, Timestamp};
///
/// let options: Options = "pid=on,timestamp=2".parse()?;
/// assert!(options.pid && options.timestamp == Timestamp::Microseconds);
/// assert!("pid=maybe".parse::<Options>().is_err());
/// # Ok::<(), tracewell::report::trcrpt::OptionError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Adds the column PROCESS NAME.
    pub exec: bool,
    /// Adds the column PID.
    pub pid: bool,
    /// Adds the column TID.
    pub tid: bool,
    /// Adds the column SYSTEM CALL.
    pub svc: bool,
    /// Adds the column CPU.
    pub cpu: bool,
    /// Adds the column ID, which shows the hook id.
    pub ids: bool,
    /// The columns of times.
    pub timestamp: Timestamp,
    /// Puts times on a second line.
    pub two_lines: bool,
    /// Shows counts instead of events.
    pub history: bool,
    /// Number of lines after which the column names are repeated; 0 for never.
    pub page_size: usize,
    /// Shows the number of processors in the heading.
    pub reported_cpus: bool,
    /// Earliest time, in nanoseconds since the first event.
    pub start_ns: Option<u64>,
    /// Latest time, in nanoseconds since the first event.
    pub end_ns: Option<u64>,
    /// Path of a template file.
    pub template: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            exec: false,
            pid: false,
            tid: false,
            svc: false,
            cpu: false,
            ids: true,
            timestamp: Timestamp::Elapsed,
            two_lines: false,
            history: false,
            page_size: 0,
            reported_cpus: true,
            start_ns: None,
            end_ns: None,
            template: None,
        }
    }
}

/// Error for an option that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OptionError {
    /// There is no option with this name.
    #[error(
        "no option '{0}'; there are exec, pid, tid, svc, cpuid, ids, timestamp, 2line, hist, \
         pagesize, reportedcpus, starttime, endtime, tmplt"
    )]
    Unknown(String),
    /// The option takes a different kind of value.
    #[error("option {name}: expected {expected}, found '{found}'")]
    Value {
        /// Name of the option.
        name: String,
        /// The values that it takes.
        expected: &'static str,
        /// The value that was given.
        found: String,
    },
}

/// Error for showing the time of day of a trace without a wall clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "timestamp=4 shows the time of day, and this trace has no wall clock; timestamp=0 shows the time since the first event"
)]
pub struct NoWallClock;

/// Maximum number of lines per page.
const MAX_PAGE_SIZE: usize = 500;

impl Options {
    /// Checks that a trace contains a wall clock if these options show the time of day.
    ///
    /// # Errors
    /// Returns an error if the options show the time of day and the trace has no wall clock.
    pub fn check(&self, trace: &Trace) -> Result<(), NoWallClock> {
        match trace.wall_clock {
            None if self.timestamp == Timestamp::WallClock => Err(NoWallClock),
            _ => Ok(()),
        }
    }

    /// Sets an option. Returns false if there is no option with this name.
    ///
    /// # Errors
    /// Returns an error if the option has no such value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<bool, OptionError> {
        let error = |expected| OptionError::Value {
            name: name.to_owned(),
            expected,
            found: value.to_owned(),
        };
        let flag = || match value {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(error("on or off")),
        };
        match name {
            "exec" => self.exec = flag()?,
            "pid" => self.pid = flag()?,
            "tid" => self.tid = flag()?,
            "svc" => self.svc = flag()?,
            "cpuid" => self.cpu = flag()?,
            "ids" => self.ids = flag()?,
            "2line" => self.two_lines = flag()?,
            "hist" => self.history = flag()?,
            "reportedcpus" => self.reported_cpus = flag()?,
            "timestamp" => {
                self.timestamp = match value {
                    "0" => Timestamp::Elapsed,
                    "1" => Timestamp::Short,
                    "2" => Timestamp::Microseconds,
                    "3" => Timestamp::None,
                    "4" => Timestamp::WallClock,
                    _ => return Err(error("0, 1, 2, 3 or 4")),
                }
            }
            "pagesize" => {
                let size = value.parse().ok().filter(|size| *size <= MAX_PAGE_SIZE);
                self.page_size = size.ok_or_else(|| error("0 to 500 lines"))?;
            }
            "starttime" => {
                self.start_ns = Some(seconds(value).ok_or_else(|| error("seconds such as 1.5"))?);
            }
            "endtime" => {
                self.end_ns = Some(seconds(value).ok_or_else(|| error("seconds such as 1.5"))?);
            }
            "tmplt" | "tmpl" => self.template = Some(value.to_owned()),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl FromStr for Options {
    type Err = OptionError;

    /// Parses options separated by commas.
    fn from_str(text: &str) -> Result<Self, OptionError> {
        let mut options = Self::default();
        for option in text.split(',').filter(|option| !option.is_empty()) {
            let unknown = || OptionError::Unknown(option.to_owned());
            let (name, value) = option.split_once('=').ok_or_else(unknown)?;
            if !options.set(name.trim(), value.trim())? {
                return Err(unknown());
            }
        }
        Ok(options)
    }
}

/// Returns seconds with up to nine decimals as nanoseconds.
fn seconds(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || fraction.len() > 9 || !digits(whole) || !digits(fraction) {
        return None;
    }
    // Use digits and not a floating-point number, which could be rounded.
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_trcrpt_reads_them() {
        let options: Options =
            "exec=on,pid=on,timestamp=4,endtime=1.5,pagesize=50".parse().unwrap();
        assert!(options.exec && options.pid && options.ids && !options.tid);
        assert_eq!((options.timestamp, options.page_size), (Timestamp::WallClock, 50));
        assert_eq!(options.end_ns, Some(1_500_000_000));
        for bad in ["exec", "exec=yes", "nothing=on", "timestamp=5", "pagesize=501", "endtime=1,5"]
        {
            assert!(bad.parse::<Options>().is_err(), "{bad}");
        }
    }
}
