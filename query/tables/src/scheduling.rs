//! The tables `jobs` and `waits`.

use tracewell::analysis::scheduling::{Figures, Scheduling, Wanted};
use tracewell::model::{Flow, Trace};
use tracewell::report::scheduling::resource_name;

use crate::error::Error;
use crate::output::Rows;
use crate::source::Source;
use crate::table::Table;
use crate::tracks::name_of;
use crate::values::Cell::{Flag, Number};

pub(crate) fn read(source: &Source, table: Table, rows: &mut Rows<'_>) -> Result<(), Error> {
    let is_jobs = table == Table::Jobs;
    let wanted = Wanted { jobs: is_jobs, waits: !is_jobs, ..Wanted::default() };
    let mut scheduling = Scheduling::new(wanted);
    let trace = source.read_all(&mut scheduling)?;
    let figures = scheduling.figures(&trace);
    rows.leave_out(figures.more_jobs + figures.more_waits);
    // A break means that the receiver needs no more rows.
    let _ = if is_jobs { jobs(&trace, &figures, rows) } else { waits(&trace, &figures, rows) };
    Ok(())
}

fn jobs(trace: &Trace, figures: &Figures, rows: &mut Rows<'_>) -> Flow {
    figures.jobs.iter().try_for_each(|job| {
        let parts = job.parts.as_ref();
        rows.push(&[
            trace.contexts.get(job.context).map(|context| context.key).into(),
            name_of(trace, job.context).into(),
            Number(job.number),
            Number(job.release),
            rows.time_ns(job.release),
            job.start.into(),
            Number(job.completion),
            Number(job.response()),
            rows.duration_ns(job.release, job.completion),
            Number(job.execution),
            parts.map(|parts| parts.blocking).into(),
            parts.map(|parts| parts.interference()).into(),
            parts.map(|parts| parts.interrupts).into(),
            Number(job.preemptions),
            Flag(job.missed.is_some()),
        ])
    })
}

fn waits(trace: &Trace, figures: &Figures, rows: &mut Rows<'_>) -> Flow {
    figures.waits.iter().try_for_each(|wait| {
        let name = wait.key.and_then(|key| resource_name(trace, key, wait.kind, wait.from));
        rows.push(&[
            trace.contexts.get(wait.context).map(|context| context.key).into(),
            name_of(trace, wait.context).into(),
            wait.key.into(),
            name.as_deref().into(),
            Flag(wait.is_mutex),
            wait.owner.and_then(|owner| name_of(trace, owner)).into(),
            Number(wait.event),
            Number(wait.from),
            rows.time_ns(wait.from),
            Number(wait.until),
            Number(wait.ticks()),
            rows.duration_ns(wait.from, wait.until),
            wait.inverted.or(wait.inverted_by_priority).into(),
        ])
    })
}
