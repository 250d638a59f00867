//! The tables that describe the trace itself: `losses`, `contexts`, `objects` and `traces`.

use serde_json::{Map, Value};
use tracewell::model::{Batch, FactForm, Flow, Loss, Severity, Sink, Trace};

use crate::error::Error;
use crate::output::Rows;
use crate::source::Source;
use crate::values::Cell::{self, Flag, Float, Null, Number, Text};

pub(crate) fn losses(source: &Source, rows: &mut Rows<'_>) -> Result<(), Error> {
    source.read_without_names(&mut Losses(rows))
}

/// A sink that makes a row for each loss.
struct Losses<'a, 'b>(&'a mut Rows<'b>);

impl Sink for Losses<'_, '_> {
    fn events(&mut self, _: &Trace, _: &Batch<'_>) -> Flow {
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, loss: &Loss) -> Flow {
        let Loss { before, events, cause, offset } = *loss;
        self.0.push(&[Number(before), events.into(), Text(cause.as_str()), Number(offset)])
    }
}

pub(crate) fn contexts(source: &Source, rows: &mut Rows<'_>) {
    let _ = source.trace().contexts.iter().try_for_each(|(_, context)| {
        rows.push(&[
            Number(context.key),
            Text(&context.key_text),
            Text(&context.name),
            Text(context.kind.as_str()),
        ])
    });
}

pub(crate) fn objects(source: &Source, rows: &mut Rows<'_>) {
    let schema = &source.trace().schema;
    let _ = source.trace().objects.iter().try_for_each(|(_, object)| {
        let kind = schema.object_kind(object.kind);
        let names = kind.map_or(&[][..], |kind| &kind.parameters);
        let parameters = names.iter().zip(&object.parameters);
        let parameters = parameters.map(|(name, value)| (name.clone(), Value::from(*value)));
        let parameters = Value::Object(parameters.collect()).to_string();
        rows.push(&[
            Number(object.key),
            kind.map(|kind| kind.label.as_str()).into(),
            Text(&object.label),
            object.priority.map(u64::from).into(),
            object.lifetime.from.into(),
            object.lifetime.until.into(),
            object.alive.map_or(Null, Flag),
            Text(&parameters),
        ])
    });
}

pub(crate) fn traces(source: &Source, rows: &mut Rows<'_>) -> Result<(), Error> {
    let trace = source.trace();
    let hash = source.hash()?;
    let mut bytes = 0;
    for path in source.files() {
        let data = path.metadata();
        bytes += data.map_err(|error| Error::Io { path: path.clone(), source: error })?.len();
    }
    let rate = trace.clock.rate.map(|rate| {
        let (ticks, seconds) = rate.ratio();
        ticks as f64 / seconds as f64
    });
    let damages = trace.diagnostics.iter().filter(|found| found.severity == Severity::Damage);
    let (facts, labels) = (facts(trace), labels(source));
    let cells: [Cell<'_>; _] = [
        Text(&hash),
        Text(&source.path().to_string_lossy()),
        Text(trace.format),
        Number(bytes),
        Number(trace.events),
        Number(trace.span),
        rows.time_ns(trace.span),
        rate.map_or(Null, Float),
        trace.wall_clock_ns(0).into(),
        Number(trace.cpus.into()),
        Number(trace.contexts.len() as u64),
        Number(trace.objects.len() as u64),
        trace.losses.events().into(),
        Number(trace.losses.iter().map(|(_, count)| count.gaps).sum()),
        Number(damages.count() as u64),
        Text(&facts),
        Text(&labels),
    ];
    let _ = rows.push(&cells);
    Ok(())
}

/// Returns the properties and texts of the source as a JSON object.
fn facts(trace: &Trace) -> String {
    let facts = trace.facts.iter().map(|fact| {
        let value = match fact.form {
            FactForm::Text(text) => Value::from(text),
            FactForm::Decimal | FactForm::Hexadecimal => Value::from(fact.value),
        };
        (fact.name.to_owned(), value)
    });
    let texts = trace.texts.iter();
    let texts = texts.map(|(name, text)| ((*name).to_owned(), Value::from(text.as_str())));
    Value::Object(facts.chain(texts).collect::<Map<_, _>>()).to_string()
}

fn labels(source: &Source) -> String {
    let labels = source.labels().iter();
    let labels = labels.map(|(name, value)| (name.clone(), Value::from(value.as_str())));
    Value::Object(labels.collect::<Map<_, _>>()).to_string()
}
