//! The figures of the scheduler as tables, for people.

use std::collections::BTreeSet;

use super::missing::{Missing, missing};
use super::{needed, tables};
use crate::analysis::scheduling::{Expected, Figures, Hidden, Sanity, Task, Wanted};
use crate::model::Trace;
use crate::report::figures::{section, table, unit};
use crate::text::counted;

/// The figures as text.
pub fn text(trace: &Trace, figures: &Figures, wanted: &Wanted) -> String {
    let (events, span) = (counted(trace.events, "event"), counted(trace.span, "tick"));
    let unit = unit(trace);
    let mut lines = vec![
        crate::report::heading(trace),
        match figures.charged_ticks {
            Some(charged) if figures.cores.len() > 1 => {
                let cores = figures.cores.len();
                let all = trace.span.saturating_mul(cores as u64);
                format!(
                    "{events} in {span} on {cores} cores, {charged} of their {all} ticks charged; \
                     times in {unit}"
                )
            }
            Some(charged) => format!("{events}, {charged} of {span} charged; times in {unit}"),
            None => format!("{events} in {span}; times in {unit}"),
        },
    ];
    lines.extend(needed(trace).map(|needed| {
        format!(
            "execution is not known: events say who recorded them, not when tasks get and lose the \
             processor (that needs {needed})"
        )
    }));
    if figures.gaps > 0 {
        let (places, ticks) = (counted(figures.gaps, "place"), counted(figures.gap_ticks, "tick"));
        lines.push(format!(
            "events are missing in {places}, {ticks} in all: what happened there is in no figure"
        ));
    }
    for Hidden { id, from, until } in &figures.hidden {
        let filter = &trace.schema.event(*id).label;
        lines.push(format!("not recorded from tick {from} to {until}: {filter}"));
    }
    lines.extend(doubts(trace, figures.sanity));
    let shown = missing(trace, figures, wanted).into_iter();
    lines.extend(shown.map(|Missing { option, why }| format!("{option} shows nothing: {why}")));
    let known = trace.span.saturating_sub(figures.gap_ticks);
    of_tasks(&mut lines, trace, figures, known);
    of_the_rest(&mut lines, trace, figures, known);
    lines.push(String::new());
    let mut text = lines.join("\n");
    let jobs = figures.jobs.iter().map(|job| tables::job(trace, job));
    table(&mut text, &tables::EACH_JOB, jobs);
    left_out(&mut text, figures.more_jobs, "job");
    let waits = figures.waits.iter().map(|wait| tables::wait(trace, wait));
    table(&mut text, &tables::EACH_WAIT, waits);
    left_out(&mut text, figures.more_waits, "wait");
    for (from, to, passages) in &figures.passages {
        let rows = passages.iter().map(|passage| tables::passage(trace, from, to, passage));
        table(&mut text, &tables::PASSAGES, rows);
    }
    text
}

/// Says how many rows were not kept.
fn left_out(text: &mut String, more: u64, what: &str) {
    if more > 0 {
        text.push_str(&format!("and {} more, which are not listed\n", counted(more, what)));
    }
}

fn of_tasks(lines: &mut Vec<String>, trace: &Trace, figures: &Figures, known: u64) {
    let tasks = figures.tasks.iter();
    let of_all = of_all_cores(figures, known);
    let busy = tasks.clone().filter_map(|task| tables::execution(trace, task, of_all));
    section(lines, &tables::EXECUTION, busy.collect());
    let cores = figures.cores.iter().map(|core| tables::core(trace, core, known));
    section(lines, &tables::CORES, cores.collect());
    let on_cores = figures.execution_by_core.iter();
    let on_cores = on_cores.map(|row| tables::on_core(trace, *row, known));
    section(lines, &tables::ON_CORES, on_cores.collect());
    let recorders = tasks.clone().filter_map(|task| tables::recorder(trace, task));
    section(lines, &tables::RECORDERS, recorders.collect());
    let jobs = tasks.clone().filter_map(|task| tables::jobs(trace, task));
    section(lines, &tables::JOBS, jobs.collect());
    let expected = tasks.clone().filter(|task| task.timing.expected != Expected::default());
    section(lines, &tables::TIMING, expected.map(|task| tables::timing(trace, task)).collect());
    let locking = tasks.clone().filter(|task| task.locks.requests > 0);
    let locks = locking.map(|task| tables::locks(trace, figures.cores.len(), task, &task.locks));
    section(lines, &tables::LOCKS, locks.collect());
    let kinds: BTreeSet<_> = tasks.flat_map(|task| &task.waits).map(|(kind, _)| *kind).collect();
    for kind in kinds {
        let mut heading = tables::LOCKS;
        let first = tables::waits_of(trace, kind);
        heading[0] = &first;
        section(lines, &heading, waits(trace, figures, kind));
    }
}

/// The rows of tasks that waited for a kind of objects.
fn waits(trace: &Trace, figures: &Figures, kind: Option<u32>) -> Vec<[String; 8]> {
    let row = |task: &Task| {
        let (_, locks) = task.waits.iter().find(|(known, _)| *known == kind)?;
        Some(tables::locks(trace, figures.cores.len(), task, locks))
    };
    figures.tasks.iter().filter_map(row).collect()
}

/// Ticks of all cores together, of which so many of each are known.
fn of_all_cores(figures: &Figures, known: u64) -> u64 {
    known.saturating_mul(figures.cores.len().max(1) as u64)
}

fn of_the_rest(lines: &mut Vec<String>, trace: &Trace, figures: &Figures, known: u64) {
    let resources = figures.resources.iter();
    let resources = resources.map(|resource| tables::resource(trace, figures, resource));
    section(lines, &tables::RESOURCES, resources.collect());
    let sources = &figures.interrupts.sources;
    let of_all = of_all_cores(figures, known);
    let rows = sources.iter().map(|source| tables::source(trace, source, of_all));
    section(lines, &tables::INTERRUPTS, rows.collect());
    let all = [("all".to_owned(), figures.interrupts.most_within)].into_iter();
    let all = all.filter(|_| sources.len() > 1);
    let loads = sources.iter().map(|source| (tables::number(source), source.most_within));
    let loads = loads.chain(all).filter(|(_, most)| most.iter().any(Option::is_some));
    section(lines, &tables::LOADS, loads.map(|(name, most)| tables::loads(name, most)).collect());
    let servers = figures.servers.iter().map(|server| tables::server(trace, server, known));
    section(lines, &tables::SERVERS, servers.collect());
    let stacks = figures.stacks.iter().map(|stack| tables::stack(trace, stack));
    section(lines, &tables::STACKS, stacks.collect());
}

/// What does not fit together, a line each.
fn doubts(trace: &Trace, sanity: Sanity) -> Vec<String> {
    let counts = [
        (trace.fact("descents").unwrap_or(0), "stamps that go back in memory order"),
        (
            trace.fact("fast_records").unwrap_or(0),
            "records of the fast path, without second parameter",
        ),
        (sanity.unmatched_brackets, "interrupts without beginning or end"),
        (sanity.disagreeing_loads, "loads of another context than the one that was chosen"),
        (sanity.unknown_events, "events that are not known"),
        (sanity.backward_steps, "steps back of the clock"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts = counts.map(|(count, what)| format!("check: {what}: {count}"));
    let lost = trace.losses.iter().map(|(cause, count)| {
        let places = counted(count.gaps, "place");
        let what = match (count.events, count.unknown) {
            (0, 0) => counted(count.gaps, "record"),
            (events, 0) => format!("{}, in {places}", counted(events, "event")),
            _ => format!("an unknown number of events, in {places}"),
        };
        format!("check: {}: {what}", cause.as_str())
    });
    counts.chain(lost).collect()
}
