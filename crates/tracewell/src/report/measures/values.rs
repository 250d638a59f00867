//! The values of figures for the thresholds of [`crate::check`].

use super::{Measures, Subject};
use crate::analysis::{Distribution, Measure, Quantile};
use crate::check::{Figure, Figures, Measure as Word, Name, Quantity, Statistic, Value, Worst};
use crate::model::{did_you_mean, nearest};

impl Figures for Measures {
    fn values(&self, figure: &Figure) -> Result<Vec<Value>, String> {
        match figure.measure {
            Word::Load | Word::Stack => self.of_shares(figure),
            Word::Queue => self.of_levels(figure),
            Word::Inversions => {
                let counts = self.inversions.as_ref();
                sum(figure, counts.ok_or("the trace has no priorities, so inversions are unknown")?)
            }
            Word::Missed => {
                let counts = self.missed.as_ref();
                sum(figure, counts.ok_or("this format does not record missed deadlines")?)
            }
            measure => match time(measure) {
                Some(kind) => self.of_times(figure, kind),
                None => Err(format!("no analysis has '{}'", measure.word())),
            },
        }
    }
}

/// Returns the kind of times for a measure in rules, or `None` if the measure is not a time.
const fn time(word: Word) -> Option<Measure> {
    Some(match word {
        Word::Response => Measure::Response,
        Word::Start => Measure::StartLatency,
        Word::Wake => Measure::WakeUp,
        Word::Execution => Measure::Execution,
        Word::Blocking => Measure::Blocking,
        Word::Wait => Measure::Wait,
        Word::Held => Measure::Hold,
        Word::Interrupt => Measure::Interrupt,
        Word::Message => Measure::MessageWait,
        Word::Jitter => Measure::Jitter,
        Word::Between => Measure::Passage,
        Word::Load | Word::Stack | Word::Queue => return None,
        Word::Inversions | Word::Missed | Word::Lost => return None,
    })
}

impl Measures {
    fn of_times(&self, figure: &Figure, measure: Measure) -> Result<Vec<Value>, String> {
        let all: Vec<_> = self.times.iter().filter(|times| times.measure == measure).collect();
        let known = all.iter().map(|times| &times.subject);
        let needed = match measure {
            Measure::Response | Measure::StartLatency | Measure::Execution | Measure::Jitter => {
                ", which need events for the release and the completion of jobs"
            }
            _ => "",
        };
        let needed = if all.is_empty() { needed } else { "" };
        let what = format!("{} times{needed}", measure.name());
        let found: Vec<_> =
            all.iter().filter(|times| self.is_meant(figure, &times.subject)).collect();
        if found.is_empty() {
            return Err(absent(figure, &what, known));
        }
        let statistic = figure.statistic.unwrap_or(Statistic::Max);
        let value = |subject: &Subject, times: &Distribution| {
            let quantity = self.statistic(statistic, times)?;
            let is_of_worst = !matches!(statistic, Statistic::Count | Statistic::Min);
            let worst = times.worst().first().filter(|_| is_of_worst).map(|worst| Worst {
                seq: Some(worst.at.seq),
                ticks: worst.at.ticks,
                time_ns: self.clock.nanoseconds(worst.at.ticks),
                quantity: self.in_time(worst.value),
            });
            Some(Value {
                subject: Some(subject.name.clone()),
                nanoseconds: self.nanoseconds(quantity),
                quantity,
                worst,
            })
        };
        Ok(found.iter().filter_map(|times| value(&times.subject, &times.times)).collect())
    }

    fn statistic(&self, statistic: Statistic, times: &Distribution) -> Option<Quantity> {
        let ticks = match statistic {
            Statistic::Count => return Some(Quantity::Count(times.count())),
            Statistic::Min => times.min(),
            Statistic::Mean => times.mean(),
            Statistic::P50 => times.quantile(Quantile::P50),
            Statistic::P90 => times.quantile(Quantile::P90),
            Statistic::P99 => times.quantile(Quantile::P99),
            Statistic::P999 => times.quantile(Quantile::P99_9),
            Statistic::Max => times.max(),
            Statistic::Deviation => times.standard_deviation().map(|ticks| ticks.round() as u64),
            Statistic::Most | Statistic::Least => None,
        };
        ticks.map(Quantity::Ticks)
    }

    fn nanoseconds(&self, quantity: Quantity) -> Option<u64> {
        match quantity {
            Quantity::Ticks(ticks) => self.rate.map(|rate| rate.nanoseconds(ticks)),
            _ => None,
        }
    }

    /// Converts a number of ticks to nanoseconds if the rate of the clock is known.
    fn in_time(&self, ticks: u64) -> Quantity {
        self.nanoseconds(Quantity::Ticks(ticks))
            .map_or(Quantity::Ticks(ticks), Quantity::Nanoseconds)
    }

    /// Returns true if the names of a figure match a subject.
    fn is_meant(&self, figure: &Figure, subject: &Subject) -> bool {
        match (figure.measure, &figure.names[..]) {
            (Word::Between, [from, to]) => {
                let marks = subject.marks.as_ref();
                marks.is_some_and(|marks| (&*marks.0, &*marks.1) == (from.as_str(), to.as_str()))
            }
            (Word::Jitter, [task]) => {
                // The analysis uses one period per task. If thresholds specify different periods
                // for a task, only the thresholds with the first period have values.
                let is_period = |(of, period): &(String, u64)| {
                    of == task.as_str() && Some(*period) == figure.time
                };
                names(task, subject) && self.periods.iter().any(is_period)
            }
            (_, [name]) => names(name, subject),
            _ => true,
        }
    }

    fn of_shares(&self, figure: &Figure) -> Result<Vec<Value>, String> {
        let all = self.shares.iter().filter(|share| share.measure == figure.measure);
        let all = all.filter(|share| share.window == figure.time);
        let found = all.clone().filter(|share| self.is_meant(figure, &share.subject));
        let values: Vec<_> = found
            .map(|share| {
                let quantity = Quantity::Share(share.millionths);
                let worst = share.at.map(|ticks| Worst {
                    seq: None,
                    ticks,
                    time_ns: self.clock.nanoseconds(ticks),
                    quantity,
                });
                let subject = Some(share.subject.name.clone());
                Value { subject, quantity, nanoseconds: None, worst }
            })
            .collect();
        if !values.is_empty() {
            return Ok(values);
        }
        let what = match (figure.measure, figure.time) {
            (Word::Stack, _) => "use of stacks",
            (_, None) => "load",
            (_, Some(_)) => {
                "load in windows of this length (windows are 1 ms, 10 ms and 100 ms, of interrupts)"
            }
        };
        Err(absent(figure, what, all.map(|share| &share.subject)))
    }

    fn of_levels(&self, figure: &Figure) -> Result<Vec<Value>, String> {
        let found = self.levels.iter().filter(|level| self.is_meant(figure, &level.subject));
        let values = found.filter_map(|level| {
            let count = match figure.statistic {
                Some(Statistic::Least) => level.least,
                _ => level.most,
            };
            let subject = Some(level.subject.name.clone());
            Some(Value {
                subject,
                quantity: Quantity::Count(count?),
                nanoseconds: None,
                worst: None,
            })
        });
        let values: Vec<_> = values.collect();
        match values.is_empty() {
            true => Err(absent(figure, "levels", self.levels.iter().map(|level| &level.subject))),
            false => Ok(values),
        }
    }
}

/// Adds up the counts of all subjects that match the figure's names.
fn sum(figure: &Figure, counts: &[(Subject, u64)]) -> Result<Vec<Value>, String> {
    let is_meant = |subject: &Subject| figure.names.first().is_none_or(|name| names(name, subject));
    let found: Vec<_> = counts.iter().filter(|(subject, _)| is_meant(subject)).collect();
    if found.is_empty() && !figure.names.is_empty() {
        return Err(absent(
            figure,
            figure.measure.word(),
            counts.iter().map(|(subject, _)| subject),
        ));
    }
    let count = found.iter().map(|(_, count)| count).sum();
    let worst = found.iter().max_by_key(|(_, count)| *count).filter(|(_, count)| *count > 0);
    let subject = worst.map(|(subject, _)| subject.name.clone());
    Ok(vec![Value { subject, quantity: Quantity::Count(count), nanoseconds: None, worst: None }])
}

fn names(name: &Name, subject: &Subject) -> bool {
    name.matches(&subject.name) || subject.key.as_ref().is_some_and(|key| name.matches(key))
}

/// Returns the reason why a trace does not have a figure.
fn absent<'a>(
    figure: &Figure,
    what: &str,
    known: impl Iterator<Item = &'a Subject> + Clone,
) -> String {
    let Some(name) = figure.names.first().filter(|_| known.clone().next().is_some()) else {
        return format!("the trace shows no {what}");
    };
    let names: Vec<_> = known.map(|subject| subject.name.as_str()).collect();
    let meant = did_you_mean(nearest(name.as_str(), names));
    format!("the trace shows no {what} of '{}'{meant}", name.as_str().escape_debug())
}
