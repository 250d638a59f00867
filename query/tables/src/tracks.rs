//! The tables of the timeline's tracks: `spans`, `marks`, `counters` and `arrows`.

use tracewell::analysis::tracks::{
    ArrowKind, Holder, Occupant, Position, Row, Span, State, TrackBuilder, Tracks,
};
use tracewell::model::{ContextId, Flow, Trace};
use tracewell::report::scheduling::resource_name;

use crate::error::Error;
use crate::output::Rows;
use crate::source::Source;
use crate::table::Table;
use crate::values::Cell::{self, Flag, Null, Number, Text};

pub(crate) fn read(source: &Source, table: Table, rows: &mut Rows<'_>) -> Result<(), Error> {
    let mut builder = TrackBuilder::default();
    let trace = source.read_all(&mut builder)?;
    let tracks = builder.finish(&trace);
    rows.leave_out(tracks.left_out);
    // A break means that the receiver needs no more rows.
    let _ = match table {
        Table::Spans => spans(&trace, &tracks, rows),
        Table::Marks => marks(&trace, &tracks, rows),
        Table::Counters => counters(&trace, &tracks, rows),
        _ => arrows(&trace, &tracks, rows),
    };
    Ok(())
}

/// Returns the name of a context.
pub(crate) fn name_of(trace: &Trace, context: ContextId) -> Option<&str> {
    trace.contexts.get(context).map(|context| context.name.as_str())
}

/// Returns the name of a resource at the time `ticks`, or its key if the name is unknown.
fn resource(trace: &Trace, key: u64, kind: Option<u32>, ticks: u64) -> String {
    let name = resource_name(trace, key, kind, ticks);
    name.map_or_else(|| format!("{key:#x}"), |name| name.into_owned())
}

fn spans(trace: &Trace, tracks: &Tracks, rows: &mut Rows<'_>) -> Flow {
    for (number, row) in (0_u64..).zip(&tracks.cores) {
        let core = ("core", format!("core {number}"), Some(number));
        track(rows, &core, row, tracks.span, |span| occupant(trace, span.state))?;
    }
    for (context, row) in tracks.contexts() {
        let Some(context) = trace.contexts.get(context) else { continue };
        let subject = ("context", context.name.clone(), Some(context.key));
        track(rows, &subject, row, tracks.span, |span| {
            let detail = match span.state {
                State::Running(of) => {
                    let other = of.get().and_then(|of| trace.contexts.get(of));
                    let other = other.filter(|other| other.key != context.key);
                    other.map(|other| other.name.clone())
                }
                state => tracks.reason(state).and_then(|reason| {
                    Some(resource(trace, reason.key?, reason.kind, span.from.ticks))
                }),
            };
            (span.state.name().to_owned(), detail)
        })?;
    }
    for lock in tracks.locks.iter().filter(|lock| lock.is_mutex) {
        let name = resource(trace, lock.key, lock.kind, trace.span);
        let subject = ("mutex", name, Some(lock.key));
        track(rows, &subject, &lock.holder, tracks.span, |span| {
            let state = match span.state {
                Holder::Unknown => "unknown",
                Holder::Free => "free",
                Holder::Context(_) => "held",
            };
            let holder = span.state.context().and_then(|holder| name_of(trace, holder));
            (state.to_owned(), holder.map(str::to_owned))
        })?;
    }
    for machine in &tracks.machines {
        let subject = ("machine", machine.machine.label(trace), Some(machine.machine.key));
        track(rows, &subject, &machine.row, tracks.span, |span| {
            let state = span.state.and_then(|state| machine.states.get(state as usize));
            (state.map_or_else(|| "unknown".to_owned(), |state| state.label(trace)), None)
        })?;
        let subject = ("step", subject.1, subject.2);
        for step in &machine.steps {
            let end = step.until.map_or(tracks.span, |until| until.ticks);
            let span = Span { from: step.from, until: step.until, end, state: () };
            push_span(rows, &subject, &span, ("step", None))?;
        }
    }
    Flow::Continue(())
}

/// Returns the state of a core, and what runs on it.
fn occupant(trace: &Trace, occupant: Occupant) -> (String, Option<String>) {
    let (state, detail) = match occupant {
        Occupant::Unknown => ("unknown", None),
        Occupant::Idle => ("idle", None),
        Occupant::Task { runs, .. } => ("task", name_of(trace, runs).map(str::to_owned)),
        Occupant::Interrupt { number, .. } => {
            ("interrupt", number.map(|number| number.to_string()))
        }
    };
    (state.to_owned(), detail)
}

/// The track of a row: its kind, its name and its key.
type Subject = (&'static str, String, Option<u64>);

fn track<S: Copy + PartialEq>(
    rows: &mut Rows<'_>,
    subject: &Subject,
    row: &Row<S>,
    end: u64,
    words: impl Fn(&Span<S>) -> (String, Option<String>),
) -> Flow {
    row.spans(0..u64::MAX, end).try_for_each(|span| {
        let (state, detail) = words(&span);
        push_span(rows, subject, &span, (&state, detail.as_deref()))
    })
}

fn push_span<S>(
    rows: &mut Rows<'_>,
    (track, subject, key): &Subject,
    span: &Span<S>,
    (state, detail): (&str, Option<&str>),
) -> Flow {
    let from = span.from;
    rows.push(&[
        Text(track),
        Text(subject),
        (*key).into(),
        Number(from.seq),
        Number(from.ticks),
        rows.time_ns(from.ticks),
        span.until.map(|until| until.seq).into(),
        Number(span.end),
        Number(span.end.saturating_sub(from.ticks)),
        rows.duration_ns(from.ticks, span.end),
        Text(state),
        detail.into(),
    ])
}

fn marks(trace: &Trace, tracks: &Tracks, rows: &mut Rows<'_>) -> Flow {
    tracks.marks.iter().try_for_each(|mark| {
        let context = trace.contexts.get(mark.context);
        rows.push(&[
            Number(mark.at.seq),
            Number(mark.at.ticks),
            rows.time_ns(mark.at.ticks),
            context.map(|context| context.key).into(),
            context.map(|context| context.name.as_str()).into(),
            Number(mark.id.into()),
            Text(&trace.schema.event(mark.id).name),
        ])
    })
}

fn counters(trace: &Trace, tracks: &Tracks, rows: &mut Rows<'_>) -> Flow {
    tracks.levels.iter().try_for_each(|level| {
        let subject = level.label(trace);
        level.row.changes().iter().try_for_each(|change| {
            rows.push(&[
                Text(&subject),
                Number(level.object.key),
                Number(change.at.seq),
                Number(change.at.ticks),
                rows.time_ns(change.at.ticks),
                change.state.into(),
                Flag(level.counts_free),
            ])
        })
    })
}

fn arrows(trace: &Trace, tracks: &Tracks, rows: &mut Rows<'_>) -> Flow {
    let position = |at: Position| [Number(at.seq), Number(at.ticks)];
    tracks.arrows.iter().try_for_each(|arrow| {
        let kind = match arrow.kind {
            ArrowKind::WakeUp => "wake-up",
            ArrowKind::WaitsFor => "waits for",
            ArrowKind::Message => "message",
        };
        let [from_seq, from_ticks] = position(arrow.from);
        let [to_seq, to_ticks] = position(arrow.to);
        let from_name: Cell<'_> =
            arrow.from_context.map_or(Null, |context| name_of(trace, context).into());
        rows.push(&[
            Text(kind),
            from_seq,
            from_ticks,
            rows.time_ns(arrow.from.ticks),
            from_name,
            to_seq,
            to_ticks,
            name_of(trace, arrow.to_context).into(),
            Number(arrow.to.ticks.saturating_sub(arrow.from.ticks)),
            rows.duration_ns(arrow.from.ticks, arrow.to.ticks),
        ])
    })
}
