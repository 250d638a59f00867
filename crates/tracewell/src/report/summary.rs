//! The summary of all figures on one screen, for a first overview. The modules `scheduling` and
//! `machines` print all figures.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::Layout;
use super::figures::{duration, moment, optional, spoken};
use super::machines::{self, level_row};
use super::scheduling::tables::{STACKS, context_name, name, stack, waited_for};
use super::scheduling::text::{head, left_out, lists, tasks};
use super::scheduling::{load, resource_name};
use super::sections::Section;
use super::spans;
use super::table::{Cell, table};
use crate::analysis::machines::{Figures as MachineFigures, Level, Machine};
use crate::analysis::scheduling::{Figures, Resource, Stack, Waited, Wanted};
use crate::analysis::spans::AllSpans;
use crate::model::Trace;

/// Maximum number of tasks and cores with separate rows.
const MAX_TASKS: usize = 8;
/// Maximum number of rows of the other tables.
const MAX_ROWS: usize = 5;
/// Minimum number of stacks and of queues that are shown, if the trace has that many.
const FULLEST: usize = 3;
/// A stack is nearly full if more than this percentage of it is used.
const NEARLY_FULL: u64 = 70;

/// Returns the summary, the lists that `wanted` requests, and a line about the other figures.
pub(super) fn text(
    trace: &Trace,
    figures: &Figures,
    machines: &MachineFigures,
    all_spans: &AllSpans,
    wanted: &Wanted,
    layout: Layout,
) -> String {
    let mut text = head(trace, figures, wanted, layout);
    let cores = figures.cores.iter().take(MAX_TASKS);
    table(&mut text, layout, &load::CORES, cores.map(load::core));
    left_out(
        &mut text,
        figures.cores.len().saturating_sub(MAX_TASKS) as u64,
        "core",
        Some(Section::Cores),
    );
    tasks(&mut text, trace, figures, MAX_TASKS, layout);
    let waits = figures.longest_waits.iter().take(MAX_ROWS);
    table(&mut text, layout, &WAITS, waits.map(|wait| wait_row(trace, wait)));
    let (stacks, more) = fullest_stacks(figures);
    table(&mut text, layout, &STACKS, stacks.iter().map(|used| stack(trace, used)));
    left_out(&mut text, more, "stack", Some(Section::Stacks));
    let mut busiest: Vec<_> = machines.machines.iter().collect();
    busiest.sort_by_key(|machine| Reverse(machine.steps));
    let rows = busiest.iter().take(MAX_ROWS).map(|machine| machine_row(trace, machine));
    table(&mut text, layout, &MACHINES, rows);
    let more = busiest.len().saturating_sub(MAX_ROWS) as u64;
    left_out(&mut text, more, "state machine", Some(Section::Machines));
    let (queues, more) = busiest_queues(machines);
    table(&mut text, layout, &machines::LEVELS, queues.iter().map(|level| level_row(trace, level)));
    left_out(&mut text, more, "queue", Some(Section::Queues));
    spans::put(&mut text, trace, all_spans, MAX_ROWS, layout);
    let inversions = [inversions(trace, figures), unbounded_inversions(trace, figures)];
    let findings = inversions.into_iter().chain([misses(trace, figures)]);
    for (index, finding) in findings.flatten().enumerate() {
        text.push_str(if index == 0 { "\n" } else { "" });
        text.push_str(&format!("{finding}\n"));
    }
    lists(&mut text, trace, figures, layout);
    text.push_str(&other_sections(figures, machines, all_spans));
    text
}

const WAITS: [&str; 7] = ["LONGEST WAIT OF", "FOR", "OWNER", "EVENT", "AT", "DURATION", "INVERTED"];

fn wait_row(trace: &Trace, wait: &Waited) -> [Cell; 7] {
    let inverted = wait.inverted.or(wait.inverted_by_priority);
    [
        name(trace, wait.context),
        waited_for(trace, wait).into(),
        wait.owner.map(|owner| name(trace, owner)).into(),
        wait.event.into(),
        moment(trace, wait.from),
        duration(trace, wait.ticks()),
        Cell::rare(inverted.map(|ticks| duration(trace, ticks))),
    ]
}

/// Returns the fullest stacks, and the number of other stacks. These are the stacks that are nearly
/// full, but at least [`FULLEST`] and at most [`MAX_TASKS`] stacks.
fn fullest_stacks(figures: &Figures) -> (Vec<&Stack>, u64) {
    let share = |stack: &Stack| {
        let used = u128::from(stack.used.unwrap_or(0));
        (used * 10_000).checked_div(u128::from(stack.size.unwrap_or(0))).unwrap_or(0)
    };
    let mut stacks: Vec<_> = figures.stacks.iter().filter(|stack| stack.at.is_some()).collect();
    stacks.sort_by_key(|stack| Reverse(share(stack)));
    let nearly_full = |stack: &&&Stack| share(stack) > u128::from(NEARLY_FULL) * 100;
    let count = stacks.iter().take_while(nearly_full).count();
    stacks.truncate(count.clamp(FULLEST, MAX_TASKS));
    let others = figures.stacks.len() - stacks.len();
    (stacks, others as u64)
}

/// Returns the queues that refused the most requests, and the number of other queues. If fewer than
/// [`FULLEST`] queues refused requests, adds the busiest other queues.
fn busiest_queues(machines: &MachineFigures) -> (Vec<&Level>, u64) {
    let mut levels: Vec<_> = machines.levels.iter().collect();
    levels.sort_by_key(|level| (Reverse(level.refused), Reverse(level.put)));
    let count = levels.iter().take_while(|level| level.refused > 0).count();
    levels.truncate(count.clamp(FULLEST, MAX_ROWS));
    let others = machines.levels.len() - levels.len();
    (levels, others as u64)
}

const MACHINES: [&str; 6] = ["STATE MACHINE", "IN STATE", "STEPS", "STEP MEAN", "MAX", "NOT TAKEN"];

fn machine_row(trace: &Trace, machine: &Machine) -> [Cell; 6] {
    let step = machine.step;
    [
        machine.name.label(trace).into(),
        machines::label(trace, machine.state).into(),
        machine.steps.into(),
        optional(trace, step, step.mean()),
        optional(trace, step, step.max),
        Cell::rare(machine.unhandled.iter().map(|unhandled| unhandled.count).sum::<u64>()),
    ]
}

/// Returns a line about waits for owners with a lower priority, if the trace shows them.
fn inversions(trace: &Trace, figures: &Figures) -> Option<String> {
    let count = |resource: &Resource| resource.figures.inversions;
    inverted("priority inversions", trace, figures, count, |_| String::new())
}

/// Returns a line about waits in which other tasks with a lower priority ran, if the trace shows
/// them. The owner's priority does not matter for them, so they can be more than the inversions.
fn unbounded_inversions(trace: &Trace, figures: &Figures) -> Option<String> {
    let count = |resource: &Resource| resource.figures.inverted.count;
    inverted("unbounded inversions", trace, figures, count, |resource| {
        format!(" (up to {})", spoken(trace, resource.figures.inverted.max))
    })
}

/// Returns a line with a count of each resource, the largest first.
fn inverted(
    what: &str,
    trace: &Trace,
    figures: &Figures,
    count: impl Fn(&Resource) -> u64,
    remark: impl Fn(&Resource) -> String,
) -> Option<String> {
    let mut resources: Vec<_> =
        figures.resources.iter().filter(|resource| count(resource) > 0).collect();
    resources.sort_by_key(|resource| Reverse(count(resource)));
    let of_each = resources.iter().take(MAX_ROWS).map(|resource| {
        let name = resource_name(trace, resource.key, resource.kind, resource.last_ticks);
        let name = name.map_or_else(|| format!("0x{:08X}", resource.key), Cow::into_owned);
        format!("{name} {}{}", count(resource), remark(resource))
    });
    listed(what, of_each.collect(), resources.len())
}

/// Returns a line about missed deadlines, if there are any.
fn misses(trace: &Trace, figures: &Figures) -> Option<String> {
    let missed = figures.tasks.iter().filter_map(|task| {
        let late = task.timing.expected.deadline.map(|_| task.timing.late);
        let count = late.or(task.jobs.as_ref().map(|jobs| jobs.deadline_misses))?;
        (count > 0).then(|| (context_name(trace, task.context), count))
    });
    let mut missed: Vec<_> = missed.collect();
    missed.sort_by_key(|(_, count)| Reverse(*count));
    let of_each = missed.iter().take(MAX_ROWS).map(|(name, count)| format!("{name} {count}"));
    listed("missed deadlines", of_each.collect(), missed.len())
}

/// Returns a line with the first findings, and the number of findings that the line leaves out.
fn listed(what: &str, mut findings: Vec<String>, all: usize) -> Option<String> {
    let more = all.saturating_sub(findings.len());
    findings.extend((more > 0).then(|| format!("{more} more")));
    (!findings.is_empty()).then(|| format!("{what}: {}", findings.join(", ")))
}

/// Returns the last line, which names the options that show more.
fn other_sections(figures: &Figures, machines: &MachineFigures, spans: &AllSpans) -> String {
    let sections = Section::ALL.into_iter();
    let sections = sections.filter(|section| section.has_figures(figures, machines, spans));
    let names: Vec<_> = sections.map(Section::name).collect();
    if names.is_empty() {
        return "\nno figures: the trace has no events of scheduling or state machines\n"
            .to_owned();
    }
    let mut line = format!("\nmore: --show {} or --show all", names.join(","));
    if Section::Jobs.has_figures(figures, machines, spans) && figures.jobs.is_empty() {
        line.push_str("; --jobs lists each job");
    }
    if Section::Locks.has_figures(figures, machines, spans) && figures.waits.is_empty() {
        line.push_str("; --waits lists each wait");
    }
    line + "\n"
}
