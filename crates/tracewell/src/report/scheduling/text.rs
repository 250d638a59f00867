//! The figures of the scheduler as tables, for people.

use super::{needed, tables};
use crate::analysis::scheduling::{Expected, Figures, Hidden, Sanity, Wanted};
use crate::model::Trace;
use crate::report::figures::{section, unit};
use crate::text::counted;

/// The figures as text.
pub fn text(trace: &Trace, figures: &Figures, wanted: &Wanted) -> String {
    let (events, span) = (counted(trace.events, "event"), counted(trace.span, "tick"));
    let unit = unit(trace);
    let mut lines = vec![
        crate::report::heading(trace),
        match figures.charged_ticks {
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
    let known = trace.span.saturating_sub(figures.gap_ticks);
    of_tasks(&mut lines, trace, figures, known);
    of_the_rest(&mut lines, trace, figures, known);
    if wanted.jobs {
        let rows = figures.jobs.iter().map(|job| tables::job(trace, job));
        section(&mut lines, &tables::EACH_JOB, rows.collect());
    }
    if wanted.waits {
        let rows = figures.waits.iter().map(|wait| tables::wait(trace, wait));
        section(&mut lines, &tables::EACH_WAIT, rows.collect());
    }
    for (from, to, passages) in &figures.passages {
        let rows = passages.iter().map(|passage| tables::passage(trace, from, to, passage));
        section(&mut lines, &tables::PASSAGES, rows.collect());
    }
    lines.push(String::new());
    lines.join("\n")
}

fn of_tasks(lines: &mut Vec<String>, trace: &Trace, figures: &Figures, known: u64) {
    let tasks = figures.tasks.iter();
    let busy = tasks.clone().filter_map(|task| tables::execution(trace, task, known));
    section(lines, &tables::EXECUTION, busy.collect());
    let recorders = tasks.clone().filter_map(|task| tables::recorder(trace, task));
    section(lines, &tables::RECORDERS, recorders.collect());
    let jobs = tasks.clone().filter_map(|task| tables::jobs(trace, task));
    section(lines, &tables::JOBS, jobs.collect());
    let expected = tasks.clone().filter(|task| task.timing.expected != Expected::default());
    section(lines, &tables::TIMING, expected.map(|task| tables::timing(trace, task)).collect());
    let locking = tasks.clone().filter(|task| task.locks.requests > 0);
    let locks = locking.map(|task| tables::locks(trace, task, &task.locks));
    section(lines, &tables::LOCKS, locks.collect());
    let waiting = tasks.filter(|task| task.semaphores.requests > 0);
    let waits = waiting.map(|task| tables::locks(trace, task, &task.semaphores));
    section(lines, &tables::SEMAPHORES, waits.collect());
}

fn of_the_rest(lines: &mut Vec<String>, trace: &Trace, figures: &Figures, known: u64) {
    let resources = figures.resources.iter().map(|resource| tables::resource(trace, resource));
    section(lines, &tables::RESOURCES, resources.collect());
    let sources = &figures.interrupts.sources;
    let rows = sources.iter().map(|source| tables::source(trace, source, known));
    section(lines, &tables::INTERRUPTS, rows.collect());
    let all = [("all".to_owned(), figures.interrupts.most_within)].into_iter();
    let all = all.filter(|_| sources.len() > 1);
    let loads = sources.iter().map(|source| (tables::number(source), source.most_within));
    let loads = loads.chain(all).filter(|(_, most)| most.iter().any(Option::is_some));
    section(lines, &tables::LOADS, loads.map(|(name, most)| tables::loads(name, most)).collect());
    let servers = figures.servers.iter().map(|server| tables::server(trace, server, known));
    section(lines, &tables::SERVERS, servers.collect());
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
