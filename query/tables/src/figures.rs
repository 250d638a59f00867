//! The table `figures`: the figures that rules can limit, and the durations of the spans that
//! programs record.

use tracewell::analysis::spans::Spans;
use tracewell::analysis::{Distribution, Measure, Quantile};
use tracewell::check;
use tracewell::model::{Batch, Flow, Loss, Rate, Sink, Trace};
use tracewell::report::measures::{Measuring, Subject};

use crate::error::Error;
use crate::output::Rows;
use crate::source::Source;
use crate::values::Cell::{self, Float, Null, Text};

pub(crate) fn read(source: &Source, rows: &mut Rows<'_>) -> Result<(), Error> {
    let mut sinks =
        Both { measuring: Measuring::new([]), spans: Spans::default().with_distributions() };
    let trace = source.read_all(&mut sinks)?;
    let measures = sinks.measuring.measures(&trace);
    let mut to = FigureRows { rows, rate: measures.rate };
    // A break means that the receiver needs no more rows.
    let _ = (|| {
        for times in &measures.times {
            to.times(
                times.measure,
                (&times.subject.name, times.subject.key.as_deref()),
                &times.times,
            )?;
        }
        for span in &sinks.spans.figures().names {
            let Some(times) = &span.distribution else { continue };
            to.times(Measure::Span, (&format!("{}: {}", span.target, span.name), None), times)?;
        }
        for share in &measures.shares {
            let value = share.millionths as f64 / 1e6;
            let statistic = match share.window {
                None => "mean".to_owned(),
                Some(ns) => format!("max in {} ms", ns / 1_000_000),
            };
            to.push(share.measure.word(), &share.subject, &statistic, (value, "share"))?;
        }
        for level in &measures.levels {
            for (statistic, value) in [("most", level.most), ("least", level.least)] {
                let Some(value) = value else { continue };
                let word = check::Measure::Queue.word();
                to.push(word, &level.subject, statistic, (value as f64, "count"))?;
            }
        }
        let counts = [
            (check::Measure::Inversions, &measures.inversions),
            (check::Measure::Missed, &measures.missed),
        ];
        for (measure, counts) in counts {
            for of in counts.iter().flatten() {
                to.push(measure.word(), &of.subject, "count", (of.count as f64, "count"))?;
            }
        }
        Flow::Continue(())
    })();
    Ok(())
}

/// A sink that derives all figures in one reading.
struct Both {
    measuring: Measuring,
    spans: Spans,
}

impl Sink for Both {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.measuring.events(trace, batch)?;
        self.spans.events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.measuring.loss(trace, loss)?;
        self.spans.loss(trace, loss)
    }
}

/// The rows, and the rate of the clock if the clock has only one rate.
struct FigureRows<'a, 'b> {
    rows: &'a mut Rows<'b>,
    rate: Option<Rate>,
}

impl FigureRows<'_, '_> {
    /// Appends the statistics of times.
    fn times(
        &mut self,
        measure: Measure,
        (subject, key): (&str, Option<&str>),
        times: &Distribution,
    ) -> Flow {
        let quantile = |quantile| times.quantile(quantile);
        let ticks = [
            ("min", times.min()),
            ("mean", times.mean()),
            ("p50", quantile(Quantile::P50)),
            ("p90", quantile(Quantile::P90)),
            ("p99", quantile(Quantile::P99)),
            ("p99.9", quantile(Quantile::P99_9)),
            ("max", times.max()),
        ];
        let count = (times.count() as f64, "count");
        self.row([Text(measure.name()), Text(subject), key.into(), Text("count")], count)?;
        let deviation = times.standard_deviation().map(|ticks| ("deviation", ticks));
        let ticks = ticks.into_iter().filter_map(|(name, ticks)| Some((name, ticks? as f64)));
        for (statistic, ticks) in ticks.chain(deviation) {
            let head = [Text(measure.name()), Text(subject), key.into(), Text(statistic)];
            self.row(head, (ticks, "ticks"))?;
        }
        Flow::Continue(())
    }

    fn push(
        &mut self,
        measure: &str,
        subject: &Subject,
        statistic: &str,
        value: (f64, &str),
    ) -> Flow {
        let (name, key) = (Text(&subject.name), subject.key.as_deref().into());
        self.row([Text(measure), name, key, Text(statistic)], value)
    }

    fn row(&mut self, head: [Cell<'_>; 4], (value, unit): (f64, &str)) -> Flow {
        let [measure, subject, key, statistic] = head;
        let rate = self.rate.filter(|_| unit == "ticks");
        let ns = rate.map_or(Null, |rate| {
            let (ticks, seconds) = rate.ratio();
            Float(value * 1e9 * seconds as f64 / ticks as f64)
        });
        self.rows.push(&[measure, subject, key, statistic, Float(value), Text(unit), ns])
    }
}
