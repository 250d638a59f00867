//! The figures of the scheduler as tables.

use std::collections::BTreeSet;

use super::missing::{Missing, missing};
use super::{load, needed, tables};
use crate::analysis::scheduling::{Expected, Figures, Hidden, Sanity, Wanted};
use crate::format::shark::RecordCounts;
use crate::model::Trace;
use crate::report::Layout;
use crate::report::sections::Section;
use crate::report::table::table;
use crate::text::counted;
use crate::text::style::{LOSS, styled};

/// Returns the lines that precede all tables, followed by the figures of `sections`.
///
/// ```
/// use tracewell::analysis::scheduling::{Scheduling, Wanted};
/// use tracewell::report::Layout;
/// use tracewell::report::analyses::Section;
/// use tracewell::report::scheduling::text;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let wanted = Wanted::default();
/// let mut scheduling = Scheduling::new(wanted.clone());
/// let trace = tracewell::open(path)?.read(&mut scheduling)?;
/// let figures = scheduling.figures(&trace);
/// let text = text(&trace, &figures, &wanted, &Section::ALL, Layout::default());
/// assert!(text.contains("CONTEXT") || text.contains("TASK"));
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
pub fn text(
    trace: &Trace,
    figures: &Figures,
    wanted: &Wanted,
    sections: &[Section],
    layout: Layout,
) -> String {
    let mut text = head(trace, figures, wanted, layout);
    let all = Section::ALL.into_iter().filter(|section| sections.contains(section));
    all.for_each(|section| put_section(&mut text, trace, figures, section, layout));
    lists(&mut text, trace, figures, layout);
    text
}

/// Returns the lines before all tables: clock, events, time, missing events, contradictions.
pub(in crate::report) fn head(
    trace: &Trace,
    figures: &Figures,
    wanted: &Wanted,
    layout: Layout,
) -> String {
    let ticks = figures.span.end.saturating_sub(figures.span.start);
    let (events, span) = (counted(figures.events, "event"), counted(ticks, "tick"));
    let mut lines = vec![
        crate::report::heading(trace),
        match figures.charged_ticks {
            Some(charged) if figures.cores.len() > 1 => {
                let cores = figures.cores.len();
                let all = counted(ticks.saturating_mul(cores as u64), "tick");
                format!(
                    "{events} in {span} on {cores} cores; tasks and interrupts executed for \
                     {charged} of their {all}"
                )
            }
            Some(charged) => {
                let charged = counted(charged, "tick");
                format!("{events} in {span}; tasks and interrupts executed for {charged}")
            }
            None => format!("{events} in {span}"),
        },
    ];
    lines.extend(needed(trace).map(|needed| {
        format!(
            "execution is unknown: events say who recorded them, not when tasks get and lose the \
             processor (that needs {needed})"
        )
    }));
    if figures.gaps > 0 {
        let (places, ticks) = (counted(figures.gaps, "place"), counted(figures.gap_ticks, "tick"));
        let missing = format!(
            "events are missing in {places}, {ticks} in all: no figure covers what happened there"
        );
        lines.push(styled(&missing, LOSS, layout.color));
    }
    lines.extend(hidden(trace, figures));
    lines.extend(contradictions(trace, figures.sanity, layout));
    let ineffective = missing(trace, figures, wanted).into_iter();
    lines.extend(
        ineffective.map(|Missing { option, why }| format!("{option} has no effect: {why}")),
    );
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Returns a line for each interval that was not recorded, at most [`MAX_HIDDEN`] lines.
fn hidden(trace: &Trace, figures: &Figures) -> Vec<String> {
    let listed = figures.hidden.iter().take(MAX_HIDDEN).map(|Hidden { id, from, until }| {
        let filter = &trace.schema.event(*id).label;
        format!("not recorded from tick {from} to {until}: {filter}")
    });
    let mut lines: Vec<_> = listed.collect();
    let more = figures.hidden.len().saturating_sub(MAX_HIDDEN);
    if more > 0 {
        lines.push(format!(
            "not recorded in {} (--json lists them)",
            counted(more as u64, "more time")
        ));
    }
    lines
}

/// Maximum number of lines about intervals that were not recorded.
const MAX_HIDDEN: usize = 5;

/// Appends the tables of a section, if it is about the scheduler.
fn put_section(
    text: &mut String,
    trace: &Trace,
    figures: &Figures,
    section: Section,
    layout: Layout,
) {
    // Percentages refer to the time outside of gaps.
    let ticks = figures.span.end.saturating_sub(figures.span.start);
    let known = ticks.saturating_sub(figures.gap_ticks);
    match section {
        Section::Tasks => tasks(text, trace, figures, usize::MAX, layout),
        Section::Cores => {
            table(text, layout, &load::CORES, figures.cores.iter().map(load::core));
            let rows = load::on_cores(trace, figures);
            table(text, layout, &load::ON_CORES, rows.iter().cloned());
        }
        Section::Jobs => jobs(text, trace, figures, layout),
        Section::Locks => locks(text, trace, figures, layout),
        Section::Interrupts => interrupts(text, trace, figures, known, layout),
        Section::Servers => {
            let rows = figures.servers.iter().map(|server| tables::server(trace, server, known));
            table(text, layout, &tables::SERVERS, rows);
        }
        Section::Stacks => {
            let rows = figures.stacks.iter().map(|stack| tables::stack(trace, stack));
            table(text, layout, &tables::STACKS, rows);
        }
        Section::Spans
        | Section::Distributions
        | Section::Machines
        | Section::Messages
        | Section::Queues
        | Section::Timers => {}
    }
}

/// Appends the table of tasks. The tasks after the first `most` share a row.
pub(in crate::report) fn tasks(
    text: &mut String,
    trace: &Trace,
    figures: &Figures,
    most: usize,
    layout: Layout,
) {
    let rows = load::tasks(trace, figures, most);
    table(text, layout, &load::TASKS, rows.iter().cloned());
    let mut recorders: Vec<_> =
        figures.tasks.iter().filter(|task| task.execution.is_none()).collect();
    recorders.sort_by_key(|task| std::cmp::Reverse(task.seen.events));
    let rows = recorders.iter().take(most).map(|task| tables::recorder(trace, task));
    table(text, layout, &tables::RECORDERS, rows);
    left_out(text, recorders.len().saturating_sub(most) as u64, "task", Some(Section::Tasks));
}

fn jobs(text: &mut String, trace: &Trace, figures: &Figures, layout: Layout) {
    let tasks = figures.tasks.iter();
    let rows = tasks.clone().filter_map(|task| tables::jobs(trace, task));
    table(text, layout, &tables::JOBS, rows);
    let expected = tasks.filter(|task| task.timing.expected != Expected::default());
    table(text, layout, &tables::TIMING, expected.map(|task| tables::timing(trace, task)));
}

fn locks(text: &mut String, trace: &Trace, figures: &Figures, layout: Layout) {
    let (tasks, cores) = (figures.tasks.iter(), figures.cores.len());
    let locking = tasks.clone().filter(|task| task.locks.requests > 0);
    let rows = locking.map(|task| tables::locks(trace, cores, task, &task.locks));
    table(text, layout, &tables::LOCKS, rows);
    let kinds: BTreeSet<_> =
        tasks.clone().flat_map(|task| &task.waits).map(|(kind, _)| *kind).collect();
    for kind in kinds {
        let mut heading = tables::LOCKS;
        let first = tables::waits_of(trace, kind);
        // A table of waits has the same columns as the table of mutexes. The heading of its first
        // column contains the kind of object.
        heading[0] = &first;
        let rows = tasks.clone().filter_map(|task| {
            let (_, waits) = task.waits.iter().find(|(known, _)| *known == kind)?;
            Some(tables::locks(trace, cores, task, waits))
        });
        table(text, layout, &heading, rows);
    }
    let resources = figures.resources.iter();
    let rows = resources.map(|resource| tables::resource(trace, figures, resource));
    table(text, layout, &tables::RESOURCES, rows);
}

fn interrupts(text: &mut String, trace: &Trace, figures: &Figures, known: u64, layout: Layout) {
    let sources = &figures.interrupts.sources;
    // Shares of interrupts refer to the time of all cores together.
    let of_all = known.saturating_mul(figures.cores.len().max(1) as u64);
    let rows = sources.iter().map(|source| tables::source(trace, source, of_all));
    table(text, layout, &tables::INTERRUPTS, rows);
    let all = [("all".to_owned(), figures.interrupts.most_within)].into_iter();
    // With a single source, a row "all" would repeat that source's row.
    let all = all.filter(|_| sources.len() > 1);
    let loads =
        sources.iter().map(|source| (tables::source_name(source.number), source.most_within));
    let loads = loads.chain(all).filter(|(_, most)| most.iter().any(Option::is_some));
    table(text, layout, &tables::LOADS, loads.map(|(name, most)| tables::loads(name, most)));
}

/// Appends the lists that options request: jobs, waits, times between marks.
pub(in crate::report) fn lists(
    text: &mut String,
    trace: &Trace,
    figures: &Figures,
    layout: Layout,
) {
    let jobs = figures.jobs.iter().map(|job| tables::job(trace, job));
    table(text, layout, &tables::EACH_JOB, jobs);
    left_out(text, figures.more_jobs, "job", None);
    let waits = figures.waits.iter().map(|wait| tables::wait(trace, wait));
    table(text, layout, &tables::EACH_WAIT, waits);
    left_out(text, figures.more_waits, "wait", None);
    for (from, to, passages) in &figures.passages {
        let rows = passages.iter().map(|passage| tables::passage(trace, from, to, passage));
        table(text, layout, &tables::PASSAGES, rows);
    }
}

/// Appends the number of rows that the table leaves out, and the name of the section that contains
/// them.
pub(in crate::report) fn left_out(
    text: &mut String,
    more: u64,
    what: &str,
    section: Option<Section>,
) {
    if more > 0 {
        let more = counted(more, what);
        let show = section.map(|section| format!(" (--show {})", section.name()));
        let show = show.unwrap_or_default();
        text.push_str(&format!("and {more} more, which are not listed{show}\n"));
    }
}

/// Returns the contradictions in the trace, one line each.
fn contradictions(trace: &Trace, sanity: Sanity, layout: Layout) -> Vec<String> {
    let (fast, descents) =
        RecordCounts::of(trace).map_or((0, 0), |records| (records.fast, records.descents));
    let counts = [
        (descents, "timestamps that decrease in memory order"),
        (fast, "records of the fast path, without second parameter"),
        (sanity.unmatched_brackets, "interrupts whose begin or end is missing"),
        (sanity.disagreeing_loads, "context loads that contradict the scheduler's choice"),
        (sanity.unknown_events, "unknown events"),
        (sanity.backward_steps, "backward steps of the clock"),
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
        styled(&format!("check: {}: {what}", cause.as_str()), LOSS, layout.color)
    });
    counts.chain(lost).collect()
}
