//! Tables of the load. They show how the cores spent their time, for each core and for all cores
//! together. The shares of a whole add up to 100 %.

use super::tables::{key_text, name};
use crate::analysis::scheduling::{CoreTime, Figures, Task};
use crate::analysis::total::total;
use crate::model::Trace;
use crate::report::figures::{duration, shares};
use crate::report::table::Cell;

pub(in crate::report) const TASKS: [&str; 9] = [
    "TASK",
    "CONTEXT",
    "TIME",
    "%",
    "FOR OTHERS",
    "DISPATCHES",
    "PREEMPTED",
    "THROTTLED",
    "MISSES",
];

/// Returns a row for each task whose execution is known, highest load first, and rows for
/// interrupts, idle and unknown time. Tasks after the first `most` share one row.
pub(in crate::report) fn tasks(trace: &Trace, figures: &Figures, most: usize) -> Vec<[Cell; 9]> {
    let ran = |task: &Task| task.execution.map_or(0, |execution| execution.ticks);
    let mut tasks: Vec<_> = figures.tasks.iter().filter(|task| task.execution.is_some()).collect();
    if tasks.is_empty() {
        return Vec::new();
    }
    tasks.sort_by_key(|task| std::cmp::Reverse(ran(task)));
    // If only one task is left over, it gets its own row instead of a shared row.
    let listed = if tasks.len().saturating_sub(1) > most { most } else { tasks.len() };
    let others = tasks.split_off(listed);
    let of_others = total(others.iter().map(|task| ran(task)));
    let sum = |part: fn(&CoreTime) -> u64| total(figures.cores.iter().map(part));
    let mut rest = vec![
        ("interrupts".to_owned(), sum(|core| core.interrupts)),
        ("idle".to_owned(), sum(|core| core.idle)),
        ("unknown".to_owned(), sum(|core| core.unknown)),
    ];
    if !others.is_empty() {
        rest.insert(0, (format!("{} other tasks", others.len()), of_others));
    }
    let parts = tasks.iter().map(|task| ran(task)).chain(rest.iter().map(|(_, ticks)| *ticks));
    let shares = shares(&parts.collect::<Vec<_>>());
    let (of_tasks, of_rest) = shares.split_at(tasks.len());
    let tasks = tasks.iter().zip(of_tasks).map(|(task, share)| of_task(trace, task, share.clone()));
    let rest = rest.into_iter().zip(of_rest).map(|((what, ticks), share)| {
        let mut row = [const { Cell::Unknown }; 9];
        (row[0], row[2], row[3]) = (what.into(), duration(trace, ticks), share.clone());
        row
    });
    tasks.chain(rest).collect()
}

fn of_task(trace: &Trace, task: &Task, share: Cell) -> [Cell; 9] {
    let (execution, lost) =
        (task.execution.unwrap_or_default(), task.preemptions.unwrap_or_default());
    [
        name(trace, task.context),
        key_text(trace, task.context),
        duration(trace, execution.ticks),
        share,
        Cell::rare(duration(trace, execution.for_other_ticks)),
        execution.dispatches.into(),
        lost.count.into(),
        Cell::rare(lost.throttled),
        task.jobs.as_ref().map(|jobs| jobs.deadline_misses).into(),
    ]
}

pub(in crate::report) const CORES: [&str; 5] =
    ["CORE", "TASKS %", "INTERRUPTS %", "IDLE %", "UNKNOWN %"];

/// Returns the row of a core: how it spent its time.
pub(in crate::report) fn core(core: &CoreTime) -> [Cell; 5] {
    let shares = shares(&[core.tasks, core.interrupts, core.idle, core.unknown]);
    let mut row = [const { Cell::Unknown }; 5];
    row[0] = core.core.to_string().into();
    row[1..].clone_from_slice(&shares);
    row
}

pub(super) const ON_CORES: [&str; 5] = ["LOAD OF", "CONTEXT", "CORE", "TIME", "%"];

/// Returns the rows of each core: one for each task, highest load first, then interrupts, idle time
/// and unknown time. Returns no rows for a single core, because [`tasks`] returns the same rows.
pub(super) fn on_cores(trace: &Trace, figures: &Figures) -> Vec<[Cell; 5]> {
    if figures.execution_by_core.is_empty() {
        return Vec::new();
    }
    figures.cores.iter().flat_map(|core| on_core(trace, figures, core)).collect()
}

fn on_core(trace: &Trace, figures: &Figures, core: &CoreTime) -> Vec<[Cell; 5]> {
    let tasks = figures.execution_by_core.iter().filter(|(_, on, _)| *on == core.core);
    let mut tasks: Vec<_> = tasks.collect();
    tasks.sort_by_key(|(.., ticks)| std::cmp::Reverse(*ticks));
    let tasks = tasks.into_iter();
    let tasks = tasks.map(|(task, _, ticks)| (name(trace, *task), key_text(trace, *task), *ticks));
    let rest = [("interrupts", core.interrupts), ("idle", core.idle), ("unknown", core.unknown)];
    let rest = rest.into_iter().map(|(what, ticks)| (what.into(), Cell::Unknown, ticks));
    let rows: Vec<_> = tasks.chain(rest).collect();
    let shares = shares(&rows.iter().map(|(.., ticks)| *ticks).collect::<Vec<_>>());
    let rows = rows.into_iter().zip(shares);
    rows.map(|((what, key, ticks), share)| {
        [what, key, core.core.to_string().into(), duration(trace, ticks), share]
    })
    .collect()
}
