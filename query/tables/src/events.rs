//! The table `events`. The sink makes only the values of wanted columns. `slices` makes them on
//! several threads.

use tracewell::model::schema::Means;
use tracewell::model::{
    Batch, ContextDetail, Event, Flow, Meaning, Sink, SinkError, Slices, Stop, Trace,
};
use tracewell::text::{Describer, PerEvent, TextBuffer};

use crate::arguments::ArgumentReader;
use crate::column::Kind;
use crate::columns::EVENTS;
use crate::output::Output;
use crate::request::Request;
use crate::source::Known;
use crate::values::{Cell, Values, Words};

/// A sink that makes the rows of the table.
pub(crate) struct Events<'a> {
    pub(crate) maker: RowMaker<'a>,
    pub(crate) output: Output<'a>,
    /// The row makers that the other threads use.
    pub(crate) others: Vec<RowMaker<'a>>,
}

/// Makes the values of rows on one thread.
pub(crate) struct RowMaker<'a> {
    /// `None` during the first reading.
    known: Option<&'a Known>,
    pub(crate) request: &'a Request,
    /// Position of each wanted column in the table, and its type.
    pub(crate) columns: Vec<(usize, Kind)>,
    pub(crate) arguments: ArgumentReader,
    words: EventWords,
    /// The wanted rows of a batch.
    rows: Vec<usize>,
}

/// The dictionary indices of event names, meanings and context names, and the state that makes the
/// column `text`.
#[derive(Debug, Default)]
pub(crate) struct EventWords {
    names: PerEvent<i32>,
    meanings: PerEvent<MeaningOf>,
    /// Index of the name of each context.
    contexts: Vec<i32>,
    describer: Describer,
    text: TextBuffer,
}

/// The meaning of an event id.
#[derive(Debug)]
enum MeaningOf {
    /// Index of the word for the meaning; `None` for events without a meaning.
    Always(Option<i32>),
    /// The word depends on the value of an argument.
    ByValue,
}

impl<'a> Events<'a> {
    pub(crate) const fn new(maker: RowMaker<'a>, output: Output<'a>) -> Self {
        Self { maker, output, others: Vec::new() }
    }

    /// Returns a break if no event after these ticks is wanted.
    pub(crate) fn flow_after(&self, ticks: Option<u64>) -> Flow {
        let RowMaker { known, request, .. } = &self.maker;
        let last = ticks.and_then(|ticks| i64::try_from(ticks).ok());
        let is_past = last.is_some_and(|last| last > *request.ticks.end());
        match known.is_some_and(|known| known.ordered) && is_past {
            true => Flow::Break(Stop::Complete),
            false => Flow::Continue(()),
        }
    }
}

impl Sink for Events<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        let Self { maker, output, .. } = self;
        let room = usize::try_from(output.room()).unwrap_or(usize::MAX);
        let rows = maker.append(trace, batch, &mut output.values, (output.rows, room));
        if rows > 0 {
            output.rows += rows;
            output.advance()?;
        }
        self.flow_after(batch.columns.ticks.last().copied())
    }

    fn takes_slices(&self, _: &Trace) -> bool {
        self.gains_from_threads()
    }

    fn slices(&mut self, trace: &Trace, slices: &dyn Slices) -> Flow {
        self.read_slices(trace, slices)
    }

    fn finish(&mut self, _: &Trace) -> Result<(), SinkError> {
        self.output.flush().map_err(SinkError::not_possible)
    }
}

impl<'a> RowMaker<'a> {
    /// Creates a maker of these columns. Without `known`, they must need no names.
    pub(crate) fn new(
        known: Option<&'a Known>,
        request: &'a Request,
        columns: Vec<(usize, Kind)>,
    ) -> Self {
        let (mut arguments, words, rows) =
            (ArgumentReader::default(), EventWords::default(), Vec::new());
        for (position, (column, _)) in columns.iter().enumerate() {
            let argument = known.zip(column.checked_sub(EVENTS.len()));
            if let Some(column) = argument.and_then(|(known, at)| known.arguments.list.get(at)) {
                arguments.want(column, position);
            }
        }
        Self { known, request, columns, arguments, words, rows }
    }

    /// Returns a [`RowMaker`] of the same rows for another thread.
    pub(crate) fn for_another_thread(&self) -> Self {
        Self {
            columns: self.columns.clone(),
            arguments: self.arguments.for_another_thread(),
            words: EventWords::default(),
            rows: Vec::new(),
            ..*self
        }
    }

    /// Appends the wanted rows of a batch, at most `room` of them, to values that already have
    /// `before` rows. Returns the number of appended rows.
    pub(crate) fn append(
        &mut self,
        trace: &Trace,
        batch: &Batch<'_>,
        values: &mut [Values],
        (before, room): (usize, usize),
    ) -> usize {
        self.choose_rows(batch, room);
        if !self.rows.is_empty() {
            self.append_chosen(trace, batch, values, before);
        }
        self.rows.len()
    }

    fn choose_rows(&mut self, batch: &Batch<'_>, room: usize) {
        self.rows.clear();
        if self.request.takes_all() {
            return self.rows.extend(0..batch.len().min(room));
        }
        let (ticks, ids) = (&batch.columns.ticks, &batch.columns.id);
        let takes =
            |row: &usize| self.request.takes_ticks(ticks[*row]) && self.request.takes_id(ids[*row]);
        self.rows.extend((0..batch.len()).filter(takes).take(room));
    }

    fn append_chosen(
        &mut self,
        trace: &Trace,
        batch: &Batch<'_>,
        values: &mut [Values],
        before: usize,
    ) {
        let Self { columns, words, rows, known, arguments, .. } = self;
        for (values, (column, _)) in values.iter_mut().zip(columns.iter()) {
            append_column(values, *column, (trace, *known), batch, rows, words);
        }
        arguments.append(trace, batch, rows, (values, before));
    }
}

/// Returns the word that schema files use for a meaning.
fn word(meaning: Meaning) -> String {
    let word = serde_json::to_value(meaning).ok();
    word.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Appends the values of a column that contains no arguments of events.
fn append_column(
    values: &mut Values,
    column: usize,
    (trace, known): (&Trace, Option<&Known>),
    batch: &Batch<'_>,
    rows: &[usize],
    words: &mut EventWords,
) {
    let columns = batch.columns;
    let name = EVENTS.get(column).map_or("", |column| column.name);
    match (name, values) {
        ("seq", Values::U64(to)) => to.extend(rows.iter().map(|row| batch.first + *row as u64)),
        ("ticks", Values::I64(to)) => {
            to.extend_options(rows.iter().map(|row| columns.ticks[*row].try_into().ok()));
        }
        ("time_ns", Values::I64(to)) => {
            let time = |row: &usize| trace.clock.nanoseconds(columns.ticks[*row])?.try_into().ok();
            to.extend_options(rows.iter().map(time));
        }
        ("time", Values::Date(to)) if trace.wall_clock.is_none() => to.push_nulls(rows.len()),
        ("time", Values::Date(to)) => {
            let date = |row: &usize| trace.wall_clock_ns(columns.ticks[*row])?.try_into().ok();
            to.extend_options(rows.iter().map(date));
        }
        ("cpu", Values::U16(to)) => to.extend(rows.iter().map(|row| columns.cpu[*row])),
        ("context", Values::U64(to)) => {
            let key = |row: &usize| trace.contexts.get(columns.context[*row]).map(|c| c.key);
            to.extend_options(rows.iter().map(key));
        }
        ("context_name", Values::Word(to)) => {
            // The names of all contexts are already final, so their indices never change.
            let known = known.into_iter().flat_map(|known| known.trace.contexts.iter());
            let new = known.skip(words.contexts.len());
            words.contexts.extend(new.map(|(_, context)| to.index(&context.name)));
            let index = |row: &usize| words.contexts.get(columns.context[*row].index()).copied();
            to.keys.extend_options(rows.iter().map(index));
        }
        ("priority", Values::U16(to)) => {
            to.extend_options(rows.iter().map(|row| columns.priority[*row].get()));
        }
        ("preemption_threshold", Values::U16(to)) => {
            to.extend_options(details(trace, batch, rows, |detail| match detail {
                ContextDetail::PreemptionThreshold(value) => Some(value),
                ContextDetail::Interrupted(_) => None,
            }));
        }
        ("interrupted", Values::U64(to)) => {
            to.extend_options(details(trace, batch, rows, |detail| match detail {
                ContextDetail::Interrupted(thread) => Some(thread),
                ContextDetail::PreemptionThreshold(_) => None,
            }));
        }
        ("id", Values::U32(to)) => to.extend(rows.iter().map(|row| columns.id[*row])),
        ("name", Values::Word(to)) => {
            let Words { keys, dictionary } = to;
            keys.extend(rows.iter().map(|row| {
                let id = columns.id[*row];
                *words.names.get(id, || dictionary.index(&trace.schema.event(id).name))
            }));
        }
        ("meaning", Values::Word(to)) => {
            let Words { keys, dictionary } = to;
            keys.extend_options(rows.iter().map(|row| {
                let id = columns.id[*row];
                let means = || match trace.schema.event(id).means {
                    Some(Means { cases: [Some(_), ..], .. }) => MeaningOf::ByValue,
                    means => {
                        let word = means.map(|means| dictionary.index(&word(means.meaning)));
                        MeaningOf::Always(word)
                    }
                };
                match words.meanings.get(id, means) {
                    MeaningOf::Always(index) => *index,
                    MeaningOf::ByValue => {
                        let row = batch.event(*row)?;
                        let means = Event::new(trace, &row).means()?;
                        Some(dictionary.index(&word(means.meaning)))
                    }
                }
            }));
        }
        ("text", to) => {
            for row in rows {
                let Some(row) = batch.event(*row) else { continue };
                words.text.truncate(0);
                words.describer.put(&mut words.text, Event::new(trace, &row));
                to.push(Cell::Text(&words.text.as_text()));
            }
        }
        _ => {}
    }
}

/// Returns a value for each row that comes from the detail of its record.
fn details<T>(
    trace: &Trace,
    batch: &Batch<'_>,
    rows: &[usize],
    value: impl Fn(ContextDetail) -> Option<T>,
) -> impl Iterator<Item = Option<T>> {
    rows.iter().map(move |row| {
        let details = trace.details.as_ref()?;
        value(details.detail(batch.records.record(*row))?)
    })
}
