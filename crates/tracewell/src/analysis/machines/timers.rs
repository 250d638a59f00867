//! Counts starts, stops and expiries of timers, and measures their intervals.

use super::named_rows::NamedRows;
use super::sight::{Named, Sight};
use crate::analysis::Range;
use crate::model::Meaning;
use crate::model::schema::{EventType, Means};

/// A timer. Observed durations are in ticks of the trace, and requested durations are in ticks of
/// the timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timer {
    /// The timer that the figures describe.
    pub timer: Named,
    /// The machine or thread that it serves.
    pub owner: Option<Named>,
    /// The signal that it sends.
    pub signal: Option<Named>,
    /// Number of starts, including starts of a running timer.
    pub starts: u64,
    /// Number of stops, including stops of a timer that was not running.
    pub stops: u64,
    /// Number of expiries. A periodic timer expires several times per start.
    pub expiries: u64,
    /// The last requested delay.
    pub delay: Option<u64>,
    /// The most recently requested period; 0 for a one-shot timer.
    pub period: Option<u64>,
    /// Time from a start to the following expiry.
    pub first: Range,
    /// Time from one expiry to the next if there is no start between them.
    pub between: Range,
    /// True if the timer is running at the end of the trace; `None` if this is unknown.
    pub running: Option<bool>,
    since: Option<Since>,
}

/// The latest action of a timer, with its time in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Since {
    Start(u64),
    Expiry(u64),
}

/// Returns true if events of this type can be about timers.
pub(super) fn concern(event: &EventType, means: &Means) -> bool {
    match means.meaning {
        Meaning::TimerStart | Meaning::TimerStop | Meaning::TimerExpired => true,
        Meaning::Create => event.details.period.or(means.value).is_some(),
        _ => false,
    }
}

/// All timers, in the order of their first mention.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers(NamedRows<Timer>);

impl Timers {
    /// Handles an event of a type that concerns timers.
    pub(super) fn take(&mut self, sight: &Sight<'_>) {
        let about_timers = match sight.meaning {
            // An object that is created with a signal or a period is a timer.
            Meaning::Create => {
                sight.details().period.is_some()
                    || (sight.value().is_some() && sight.subject().is_none())
            }
            _ => true,
        };
        let Some(timer) = sight.object().filter(|_| about_timers) else { return };
        let (objects, new) = (&sight.event.trace.objects, || Timer::new(timer));
        if let Some(row) = self.0.get(timer, objects, new, |row| &mut row.timer) {
            row.take(sight);
        }
    }

    /// Begins a range: forgets the figures and keeps the timers.
    pub(super) fn restart(&mut self) {
        for timer in self.0.list_mut() {
            (timer.starts, timer.stops, timer.expiries) = (0, 0, 0);
            (timer.first, timer.between) = Default::default();
        }
    }

    pub(super) fn cut(&mut self) {
        self.0.list_mut().iter_mut().for_each(|timer| (timer.since, timer.running) = (None, None));
    }

    pub(super) fn finish(self) -> Vec<Timer> {
        self.0.finish()
    }
}

impl Timer {
    fn new(timer: Named) -> Self {
        Self {
            timer,
            owner: None,
            signal: None,
            starts: 0,
            stops: 0,
            expiries: 0,
            delay: None,
            period: None,
            first: Range::default(),
            between: Range::default(),
            running: None,
            since: None,
        }
    }

    fn take(&mut self, sight: &Sight<'_>) {
        let ticks = sight.ticks();
        // Kernels record 0 for a timer without an owner.
        self.owner = sight.subject().filter(|owner| owner.argument != 0).or(self.owner);
        match sight.meaning {
            Meaning::TimerStart => {
                self.starts += 1;
                self.delay = sight.value().map(|value| value.argument).or(self.delay);
                self.period = sight.number(sight.details().period).or(self.period);
                (self.since, self.running) = (Some(Since::Start(ticks)), Some(true));
            }
            Meaning::TimerStop => {
                self.stops += 1;
                (self.since, self.running) = (None, Some(false));
            }
            Meaning::TimerExpired => self.expire(sight),
            _ => self.create(sight),
        }
    }

    fn expire(&mut self, sight: &Sight<'_>) {
        let ticks = sight.ticks();
        self.expiries += 1;
        self.signal = sight.value().or(self.signal);
        // The first expiry after a start shows the delay. Each further expiry shows the period.
        match self.since.replace(Since::Expiry(ticks)) {
            Some(Since::Start(since)) => self.first.add(ticks.saturating_sub(since)),
            Some(Since::Expiry(since)) => self.between.add(ticks.saturating_sub(since)),
            None => {}
        }
        self.running = self.period.map(|period| period > 0);
        // A one-shot timer stops when it expires. If the period is unknown, the timer may be
        // one-shot or periodic.
        if self.running == Some(false) {
            self.since = None;
        }
    }

    fn create(&mut self, sight: &Sight<'_>) {
        match sight.details().period {
            Some(period) => {
                self.delay = sight.value().map(|value| value.argument);
                self.period = sight.number(Some(period));
            }
            None => self.signal = sight.value(),
        }
    }
}
