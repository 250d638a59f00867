//! The values of figures for the thresholds of [`crate::check`].

use super::{Measures, Occurrences, Place, Subject};
use crate::analysis::{Distribution, Measure, Quantile};
use crate::check::{
    Figure, Figures, Fraction, Measure as Word, Name, Quantity, Statistic, Value, Worst,
};
use crate::model::{did_you_mean, nearest, some_of};

impl Figures for Measures {
    fn values(&self, figure: &Figure) -> Result<Vec<Value>, String> {
        match figure.measure {
            Word::Load | Word::Stack => self.of_shares(figure),
            Word::Queue => self.of_levels(figure),
            Word::Inversions => {
                let counts = self.inversions.as_ref();
                self.sum(
                    figure,
                    counts.ok_or("the trace has no priorities, so inversions are unknown")?,
                )
            }
            Word::Missed => {
                let counts = self.missed.as_ref();
                self.sum(figure, counts.ok_or("this format does not record missed deadlines")?)
            }
            measure => match time(measure) {
                Some(kind) => self.of_times(figure, kind),
                None => Err(format!("no analysis has '{}'", measure.word())),
            },
        }
    }
}

/// Returns the kind of time to which a word in a rule refers, or `None` if the word does not refer
/// to times.
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
        Word::MessageResponse => Measure::MessageResponse,
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
            Measure::Response => {
                ", which need events for the release and the completion of jobs; wake(TASK), \
                 wait(OBJECT, TASK) and between(MARK, MARK) do not need these events"
            }
            Measure::StartLatency | Measure::Execution | Measure::Jitter => {
                ", which need events for the release and the completion of jobs"
            }
            _ => "",
        };
        // If other subjects have times, the events exist and only the name is wrong.
        let needed = if all.is_empty() { needed } else { "" };
        let what = format!("{} times{needed}", measure.name());
        let found: Vec<_> =
            all.iter().filter(|times| self.is_meant(figure, &times.subject)).collect();
        if found.is_empty() {
            let absent = absent(figure, &what, known);
            return Err(self
                .is_task(figure)
                .map_or_else(|| absent.clone(), |hint| format!("{absent}; {hint}")));
        }
        let statistic = figure.statistic.unwrap_or(Statistic::Max);
        let value = |subject: &Subject, times: &Distribution| {
            let quantity = self.statistic(statistic, times)?;
            let mean = (statistic == Statistic::Mean).then(|| times.sum());
            let exact = mean.map(|sum| Fraction::new(sum, times.count().into()));
            // The worst time is the longest one. A count or a minimum does not depend on it.
            let is_of_worst = !matches!(statistic, Statistic::Count | Statistic::Min);
            let exact_nanoseconds = mean.zip(self.rate).and_then(|(sum, rate)| {
                let (ticks, seconds) = rate.ratio();
                let numerator = sum.checked_mul(u128::from(seconds))?.checked_mul(1_000_000_000)?;
                let denominator = u128::from(times.count()).checked_mul(u128::from(ticks))?;
                Some(Fraction::new(numerator, denominator))
            });
            let longest = times.worst().first().filter(|_| is_of_worst);
            let worst = longest.map(|of| self.worst(of.at.into(), self.in_time(of.value)));
            Some(Value {
                subject: Some(shown(figure, subject)),
                nanoseconds: exact_nanoseconds.map_or_else(
                    || self.nanoseconds(quantity),
                    |exact: Fraction| Some(exact.floor()),
                ),
                exact,
                exact_nanoseconds,
                worst,
                ..Value::of(quantity)
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
            // A figure with one name covers all tasks, so ignore rows that cover only one task.
            (Word::Wait | Word::Held, [name]) => subject.part.is_none() && names(name, subject),
            (_, [name, part]) => names(name, subject) && is_part(part, subject),
            (_, [name]) => names(name, subject),
            _ => true,
        }
    }

    /// Returns an explanation if a figure needs an object and names a task instead.
    fn is_task(&self, figure: &Figure) -> Option<String> {
        let name = match (figure.measure, &figure.names[..]) {
            (Word::Wait | Word::Held, [name, ..]) => name,
            _ => return None,
        };
        let task = self.tasks.iter().find(|task| names(name, task))?;
        let (task, word) = (task.name.escape_debug(), figure.measure.word());
        Some(format!(
            "'{task}' is a task, and {word}() takes an object: {word}(OBJECT), or {word}(OBJECT, {task}) \
             for this task"
        ))
    }

    fn of_shares(&self, figure: &Figure) -> Result<Vec<Value>, String> {
        let all = self.shares.iter().filter(|share| share.measure == figure.measure);
        let all = all.filter(|share| share.window == figure.time);
        let found = all.clone().filter(|share| self.is_meant(figure, &share.subject));
        let values: Vec<_> = found
            .map(|share| {
                let quantity = Quantity::Share(share.millionths);
                let worst = share.at.map(|at| self.worst(at, quantity));
                let subject = Some(share.subject.name.clone());
                Value { subject, worst, ..Value::of(quantity) }
            })
            .collect();
        if !values.is_empty() {
            return Ok(values);
        }
        let what = match (figure.measure, figure.time) {
            (Word::Stack, _) => "use of stacks",
            (_, None) => "load",
            (_, Some(_)) if self.rate.is_none() => {
                return Err("windows need a clock of one known rate: give the rate with -O \
                            rate=TICKS_PER_SECOND"
                    .to_owned());
            }
            (_, Some(_)) => {
                "load in windows of this length; the trace or its selected part may be shorter or \
                 have gaps"
            }
        };
        Err(absent(figure, what, all.map(|share| &share.subject)))
    }

    fn of_levels(&self, figure: &Figure) -> Result<Vec<Value>, String> {
        let found = self.levels.iter().filter(|level| self.is_meant(figure, &level.subject));
        let values = found.filter_map(|level| {
            let (count, at) = match figure.statistic {
                Some(Statistic::Least) => (level.least, level.least_at),
                _ => (level.most, level.most_at),
            };
            let quantity = Quantity::Count(count?);
            let worst = at.map(|at| self.worst(at.into(), quantity));
            let subject = Some(level.subject.name.clone());
            Some(Value { subject, worst, ..Value::of(quantity) })
        });
        let values: Vec<_> = values.collect();
        match values.is_empty() {
            true => Err(absent(figure, "levels", self.levels.iter().map(|level| &level.subject))),
            false => Ok(values),
        }
    }

    /// Adds up the counts of all subjects that match the figure's names. The subject of the result
    /// is the one with the highest count, and its worst case the longest of all.
    fn sum(&self, figure: &Figure, counts: &[Occurrences]) -> Result<Vec<Value>, String> {
        let is_meant =
            |of: &&Occurrences| figure.names.first().is_none_or(|name| names(name, &of.subject));
        let found: Vec<_> = counts.iter().filter(is_meant).collect();
        if found.is_empty() && !figure.names.is_empty() {
            let known = counts.iter().map(|of| &of.subject);
            return Err(absent(figure, figure.measure.word(), known));
        }
        let count = found.iter().map(|of| of.count).sum();
        let most = found.iter().rev().max_by_key(|of| of.count).filter(|of| of.count > 0);
        let longest = found
            .iter()
            .filter_map(|of| of.longest)
            .reduce(|longest, next| if next.ticks > longest.ticks { next } else { longest });
        let worst = longest.map(|of| self.worst(of.at.into(), self.in_time(of.ticks)));
        Ok(vec![Value {
            subject: most.map(|of| of.subject.name.clone()),
            part: most.map(|of| of.count).filter(|part| *part < count),
            worst,
            ..Value::of(Quantity::Count(count))
        }])
    }

    /// Returns a worst case with its place.
    fn worst(&self, Place { seq, ticks }: Place, quantity: Quantity) -> Worst {
        Worst { seq, ticks, time_ns: self.clock.nanoseconds(ticks), quantity }
    }
}

fn names(name: &Name, subject: &Subject) -> bool {
    is_named(name, &subject.name, subject.key.as_ref())
}

fn is_part(name: &Name, subject: &Subject) -> bool {
    subject.part.as_ref().is_some_and(|part| is_named(name, &part.name, part.key.as_ref()))
}

fn is_named(name: &Name, known: &str, key: Option<&String>) -> bool {
    name.matches(known) || key.is_some_and(|key| name.matches(key))
}

/// Returns a subject as text. Adds the subject's part if the figure also names a part.
fn shown(figure: &Figure, subject: &Subject) -> String {
    match &subject.part {
        Some(part) if figure.names.len() > 1 => format!("{}, {}", subject.name, part.name),
        _ => subject.name.clone(),
    }
}

/// Returns a message that the trace lacks a figure, with the names for which the trace has this
/// figure.
fn absent<'a>(
    figure: &Figure,
    what: &str,
    known: impl Iterator<Item = &'a Subject> + Clone,
) -> String {
    let Some(name) = figure.names.first().filter(|_| known.clone().next().is_some()) else {
        return format!("the trace shows no {what}");
    };
    let is_subject = known.clone().any(|subject| names(name, subject));
    let (name, mut others): (_, Vec<_>) = match figure.names.get(1).filter(|_| is_subject) {
        // The first name belongs to a known subject, so the unknown name is that of the part.
        Some(part) => {
            let of_subject = known.filter(|subject| names(name, subject));
            (part, of_subject.filter_map(|of| Some(of.part.as_ref()?.name.as_str())).collect())
        }
        None => (name, known.map(|subject| subject.name.as_str()).collect()),
    };
    others.sort_unstable();
    others.dedup();
    let hint = match nearest(name.as_str(), others.iter().copied()) {
        Some(meant) => did_you_mean(Some(meant)),
        None if others.is_empty() => String::new(),
        None => format!("; it shows those of {}", some_of(others.into_iter())),
    };
    format!("the trace shows no {what} of '{}'{hint}", name.as_str().escape_debug())
}
