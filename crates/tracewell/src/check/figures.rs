//! The figures to which thresholds can refer, and the values of these figures in a trace.
//!
//! This module defines the names and the units of figures. The caller derives the values from the
//! analyses of the same trace ([`Figures`]).

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};

use crate::select::expression::syntax::Text;
use crate::select::like;
use crate::text::{counted, spoken_time};

/// A kind of figure.
///
/// # Examples
///
/// ```
/// use tracewell::check::Measure;
///
/// assert_eq!(Measure::Response.word(), "response");
/// assert!(Measure::Response.has_statistics() && !Measure::Lost.has_statistics());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Measure {
    /// Time from the release of a job to its completion.
    Response,
    /// Time from the release of a job until the scheduler first chooses the job's task.
    Start,
    /// Time from the event that makes a task ready until the task has the processor.
    Wake,
    /// Execution time of a task for a job.
    Execution,
    /// While a task waits for a mutex, the time for which other tasks run on its behalf.
    Blocking,
    /// Duration of a wait for an object, from the request until the task continues.
    Wait,
    /// Time from lock to unlock of a mutex.
    Held,
    /// Duration of an interrupt, excluding nested interrupts.
    Interrupt,
    /// Time from the post of a message until the message is taken or dispatched.
    Message,
    /// Time from the post of a message to the end of the message's step.
    MessageResponse,
    /// Difference between a release and its expected time, for a given period.
    Jitter,
    /// Time from one mark to another.
    Between,
    /// The share of time in which a task or interrupts ran; with a window, the maximum share in any
    /// window of this length.
    Load,
    /// Maximum use of a stack as a share of its size.
    Stack,
    /// Fill level of a queue or a pool.
    Queue,
    /// Number of requests that waited for a mutex whose owner had a lower priority.
    Inversions,
    /// Number of missed deadlines.
    Missed,
    /// Number of missing events.
    Lost,
}

/// Lengths of the windows for which loads are known, in nanoseconds.
pub const LOAD_WINDOWS: [u64; 3] = [1_000_000, 10_000_000, 100_000_000];

/// The name of the only subject whose load is known in windows.
pub(super) const IN_WINDOWS: &str = "interrupts";

/// The unit of a figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// A time, in ticks or in nanoseconds.
    Time,
    /// A fraction, such as a load or the used part of a stack.
    Share,
    /// A number.
    Count,
}

impl Measure {
    /// All measures, in the order of the guide.
    pub const ALL: [Self; 18] = [
        Self::Response,
        Self::Start,
        Self::Wake,
        Self::Execution,
        Self::Blocking,
        Self::Wait,
        Self::Held,
        Self::Interrupt,
        Self::Message,
        Self::MessageResponse,
        Self::Jitter,
        Self::Between,
        Self::Load,
        Self::Stack,
        Self::Queue,
        Self::Inversions,
        Self::Missed,
        Self::Lost,
    ];

    /// Returns the word that rules use for the measure.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Start => "start",
            Self::Wake => "wake",
            Self::Execution => "execution",
            Self::Blocking => "blocking",
            Self::Wait => "wait",
            Self::Held => "held",
            Self::Interrupt => "interrupt",
            Self::Message => "message",
            Self::MessageResponse => "message_response",
            Self::Jitter => "jitter",
            Self::Between => "between",
            Self::Load => "load",
            Self::Stack => "stack",
            Self::Queue => "queue",
            Self::Inversions => "inversions",
            Self::Missed => "missed",
            Self::Lost => "lost",
        }
    }

    /// Returns the unit of the values of this measure.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Load | Self::Stack => Unit::Share,
            Self::Queue | Self::Inversions | Self::Missed | Self::Lost => Unit::Count,
            _ => Unit::Time,
        }
    }

    /// Returns true if the measure has many values. A threshold must then name a statistic of these
    /// values.
    pub const fn has_statistics(self) -> bool {
        matches!(self.unit(), Unit::Time)
    }

    /// Returns the minimum and the maximum number of names in parentheses.
    pub(super) const fn names(self) -> (usize, usize) {
        match self {
            Self::Lost => (0, 0),
            Self::Inversions | Self::Missed => (0, 1),
            Self::Between => (2, 2),
            Self::Wait | Self::Held | Self::Message | Self::MessageResponse => (1, 2),
            _ => (1, 1),
        }
    }

    /// Returns the statistics that a threshold for this measure can name. Returns an empty list if
    /// the measure has only one value.
    pub(super) const fn statistics(self) -> &'static [Statistic] {
        match self {
            Self::Queue => &[Statistic::Most, Statistic::Least],
            _ if self.has_statistics() => &Statistic::OF_TIMES,
            _ => &[],
        }
    }
}

/// A statistic of many values.
///
/// # Examples
///
/// ```
/// use tracewell::check::Statistic;
///
/// assert_eq!(Statistic::P999.word(), ".p99.9");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Statistic {
    /// Number of values.
    Count,
    /// The smallest value.
    Min,
    /// The mean.
    Mean,
    /// The median.
    P50,
    /// The value that 90 % of the values do not exceed.
    P90,
    /// The value that 99 % of the values do not exceed.
    P99,
    /// The value that 99.9 % of the values do not exceed.
    P999,
    /// The largest value.
    Max,
    /// The standard deviation.
    Deviation,
    /// The largest level.
    Most,
    /// The smallest level.
    Least,
}

impl Statistic {
    /// The statistics of times.
    pub const OF_TIMES: [Self; 9] = [
        Self::Count,
        Self::Min,
        Self::Mean,
        Self::P50,
        Self::P90,
        Self::P99,
        Self::P999,
        Self::Max,
        Self::Deviation,
    ];

    /// Returns the word that rules use for the statistic; it begins with a point.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Count => ".count",
            Self::Min => ".min",
            Self::Mean => ".mean",
            Self::P50 => ".p50",
            Self::P90 => ".p90",
            Self::P99 => ".p99",
            Self::P999 => ".p99.9",
            Self::Max => ".max",
            Self::Deviation => ".sd",
            Self::Most => ".most",
            Self::Least => ".least",
        }
    }
}

/// A name in a threshold: `"log file"` literally, or `log*` with wildcards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name(pub(super) Text);

impl Name {
    /// Returns true if a name in the trace matches.
    pub fn matches(&self, name: &str) -> bool {
        match &self.0 {
            Text::Exactly(written) => written == name,
            Text::Like(pattern) => like(pattern, name),
        }
    }

    /// Returns the name as it appears in the rule, without quotation marks.
    pub fn as_str(&self) -> &str {
        let (Text::Exactly(written) | Text::Like(written)) = &self.0;
        written
    }
}

/// A figure, as specified in a threshold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Figure {
    /// The kind of figure.
    pub measure: Measure,
    /// The names of tasks, objects or marks, as many as the measure needs. A wait or a hold may
    /// have a second name, the task; a message may have a second name, the signal.
    pub names: Vec<Name>,
    /// The statistic of the values; `None` if the measure has one value.
    pub statistic: Option<Statistic>,
    /// The period of [`Measure::Jitter`], or the window of [`Measure::Load`], in nanoseconds.
    pub time: Option<u64>,
}

impl Figure {
    /// Returns the unit of the figure. The unit of the statistic `.count` is always
    /// [`Unit::Count`].
    pub const fn unit(&self) -> Unit {
        match self.statistic {
            Some(Statistic::Count) => Unit::Count,
            _ => self.measure.unit(),
        }
    }
}

/// Writes the figure in the syntax of rules. Equal figures have the same text, so baselines use the
/// text as the key.
impl Display for Figure {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let names = self.names.iter().map(|name| match &name.0 {
            Text::Exactly(name) => format!("\"{}\"", name.escape_debug()),
            Text::Like(name) => name.clone(),
        });
        let is_window = self.measure == Measure::Load;
        let period = self.time.filter(|_| !is_window).map(spoken_time);
        let names: Vec<_> = names.chain(period).collect();
        out.write_str(self.measure.word())?;
        if !names.is_empty() {
            write!(out, "({})", names.join(", "))?;
        }
        out.write_str(self.statistic.map_or("", Statistic::word))?;
        match self.time.filter(|_| is_window) {
            Some(window) => write!(out, " in {}", spoken_time(window)),
            None => Ok(()),
        }
    }
}

/// An amount with its unit.
///
/// # Examples
///
/// ```
/// use tracewell::check::Quantity;
///
/// assert_eq!(Quantity::Nanoseconds(1_500_000).to_string(), "1.5 ms");
/// assert_eq!(Quantity::Share(300_000).to_string(), "30 %");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// Ticks of the trace's clock.
    Ticks(u64),
    /// Nanoseconds.
    Nanoseconds(u64),
    /// Millionths of a whole.
    Share(u64),
    /// A number.
    Count(u64),
}

impl Quantity {
    /// Returns the number without its unit.
    pub const fn amount(self) -> u64 {
        let (Self::Ticks(amount)
        | Self::Nanoseconds(amount)
        | Self::Share(amount)
        | Self::Count(amount)) = self;
        amount
    }

    /// Returns an amount of the same unit with its fraction as text. Times of a microsecond or more
    /// are written without a fraction of a nanosecond, unless the fraction distinguishes them from
    /// `limit`.
    pub(super) fn with_fraction(self, exact: Fraction, limit: u64) -> String {
        match self {
            _ if exact.is_whole() => self.to_string(),
            Self::Ticks(_) => format!("{exact} ticks"),
            Self::Nanoseconds(ns) if ns < 1000 || ns == limit => format!("{exact} ns"),
            _ => self.to_string(),
        }
    }

    /// Returns the word for the unit in documents: `ticks`, `ns`, `ppm` or `count`.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Ticks(_) => "ticks",
            Self::Nanoseconds(_) => "ns",
            Self::Share(_) => "ppm",
            Self::Count(_) => "count",
        }
    }
}

impl Display for Quantity {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Ticks(ticks) => out.write_str(&counted(ticks, "tick")),
            Self::Nanoseconds(ns) => out.write_str(&spoken_time(ns)),
            Self::Share(millionths) => {
                let fraction = format!("{:04}", millionths % 10_000);
                let fraction = fraction.trim_end_matches('0');
                let point = if fraction.is_empty() { "" } else { "." };
                write!(out, "{}{point}{fraction} %", millionths / 10_000)
            }
            Self::Count(count) => write!(out, "{count}"),
        }
    }
}

/// A number that need not be whole, such as a mean.
///
/// # Examples
///
/// ```
/// use tracewell::check::Fraction;
///
/// let mean = Fraction::new(2_710, 100);
/// assert_eq!((mean.floor(), mean.as_f64()), (27, 27.1));
/// assert_eq!(mean.to_string(), "27.1");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fraction {
    numerator: u128,
    denominator: u128,
}

impl Fraction {
    /// Creates a fraction. A denominator of 0 counts as 1.
    pub const fn new(numerator: u128, denominator: u128) -> Self {
        let denominator = if denominator == 0 { 1 } else { denominator };
        Self { numerator, denominator }
    }

    pub(super) fn whole(number: u64) -> Self {
        Self::new(number.into(), 1)
    }

    /// Returns the number, rounded down, or `u64::MAX` if it exceeds 64 bits.
    pub fn floor(self) -> u64 {
        u64::try_from(self.numerator / self.denominator).unwrap_or(u64::MAX)
    }

    /// Returns the nearest floating-point number.
    pub fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// Compares two numbers exactly, unless a product exceeds 128 bits.
    pub(super) fn compare(self, other: Self) -> Ordering {
        let products = self.numerator.checked_mul(other.denominator);
        match products.zip(other.numerator.checked_mul(self.denominator)) {
            Some((one, other)) => one.cmp(&other),
            None => self.as_f64().total_cmp(&other.as_f64()),
        }
    }

    /// Returns the distance from a number.
    pub(super) fn distance(self, from: u64) -> Self {
        let from = u128::from(from).saturating_mul(self.denominator);
        Self { numerator: self.numerator.abs_diff(from), ..self }
    }

    fn is_whole(self) -> bool {
        self.numerator.is_multiple_of(self.denominator)
    }
}

/// Writes the number with at most three decimals.
impl Display for Fraction {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let rest = (self.numerator % self.denominator) as f64 / self.denominator as f64;
        // Round down, so that the fraction never becomes 1.
        let decimals = format!("{:03}", (rest * 1000.0) as u64);
        let decimals = decimals.trim_end_matches('0');
        let point = if decimals.is_empty() { "" } else { "." };
        write!(out, "{}{point}{decimals}", self.numerator / self.denominator)
    }
}

/// The value of a figure in a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    /// The task or object with this value; `None` if the figure has no subject. If the value is the
    /// sum of several tasks or objects, the one that contributes most.
    pub subject: Option<String>,
    /// The part of the subject, if the value is the sum of several tasks or objects.
    pub part: Option<u64>,
    /// The value, rounded down. Times are in ticks.
    pub quantity: Quantity,
    /// The value in nanoseconds, rounded down, if it is a time; `None` for other values, and if the
    /// clock's rate is unknown or changes.
    pub nanoseconds: Option<u64>,
    /// The exact value in ticks, if the value is a mean.
    pub exact: Option<Fraction>,
    /// Like `exact`, in nanoseconds.
    pub exact_nanoseconds: Option<Fraction>,
    /// The worst single value and its position, if the analysis stores them.
    pub worst: Option<Worst>,
}

impl Value {
    /// Returns a value without a subject, a time in nanoseconds and a worst single value.
    pub const fn of(quantity: Quantity) -> Self {
        Self {
            subject: None,
            part: None,
            quantity,
            nanoseconds: None,
            exact: None,
            exact_nanoseconds: None,
            worst: None,
        }
    }
}

/// The worst single value of a figure, and its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Worst {
    /// Number of the event that shows the value, if the analysis stores it.
    pub seq: Option<u64>,
    /// Ticks of this event since the first event.
    pub ticks: u64,
    /// Nanoseconds since the first event, if the clock's rate is known.
    pub time_ns: Option<u64>,
    /// The single value, with its unit.
    pub quantity: Quantity,
}

/// The figures of a trace.
pub trait Figures {
    /// Returns the values of a figure: one for each task or object whose name matches.
    ///
    /// # Errors
    /// Returns the reason if the trace does not have this figure. The threshold is then undecided.
    fn values(&self, figure: &Figure) -> Result<Vec<Value>, String>;
}
