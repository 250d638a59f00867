//! When timers started, stopped, ran out.

use super::Rows;
use super::sight::{Named, Sight};
use crate::analysis::Range;
use crate::model::Meaning;

/// A timer. Durations that were seen are in ticks of the trace, those that were asked for in ticks of
/// the timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timer {
    /// Which one.
    pub timer: Named,
    /// Whom it serves.
    pub owner: Option<Named>,
    /// The message that it makes.
    pub signal: Option<Named>,
    /// How often it was started.
    pub starts: u64,
    /// How often it was stopped.
    pub stops: u64,
    /// How often it ran out.
    pub expiries: u64,
    /// The delay that was asked for last.
    pub delay: Option<u64>,
    /// The period that was asked for last; 0 for once.
    pub period: Option<u64>,
    /// From a start to the expiry that followed.
    pub first: Range,
    /// From one expiry to the next without a start between.
    pub between: Range,
    /// Whether it is running at the end, as far as it is known.
    pub running: Option<bool>,
    since: Option<Since>,
}

/// What a timer did last, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Since {
    Start(u64),
    Expiry(u64),
}

/// Follows all timers.
#[derive(Debug, Default)]
pub(super) struct Timers(Rows<Named, Timer>);

impl Timers {
    pub(super) fn take(&mut self, sight: &Sight<'_>) {
        let about_timers = match sight.meaning {
            Meaning::TimerStart | Meaning::TimerStop | Meaning::TimerExpired => true,
            // What is set up with a signal or a period is a timer.
            Meaning::Create => {
                sight.details().period.is_some()
                    || (sight.value().is_some() && sight.subject().is_none())
            }
            _ => false,
        };
        let Some(timer) = sight.object().filter(|_| about_timers) else { return };
        if let Some(row) = self.0.get(timer, || Timer::new(timer)) {
            row.timer.again(timer, sight.trace);
            row.take(sight);
        }
    }

    pub(super) fn cut(&mut self) {
        self.0.list.iter_mut().for_each(|timer| (timer.since, timer.running) = (None, None));
    }

    pub(super) fn finish(self) -> Vec<Timer> {
        self.0.list
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
        match self.since.replace(Since::Expiry(ticks)) {
            Some(Since::Start(since)) => self.first.add(ticks.saturating_sub(since)),
            Some(Since::Expiry(since)) => self.between.add(ticks.saturating_sub(since)),
            None => {}
        }
        self.running = self.period.map(|period| period > 0);
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
