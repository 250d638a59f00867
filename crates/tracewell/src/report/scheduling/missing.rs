//! Explains why options have no effect, by listing the events that the trace would have to contain.

use crate::analysis::scheduling::{Figures, Mark, Wanted};
use crate::model::{Meaning, Trace};
use crate::text::spoken_time;

/// An option without effect.
#[derive(Debug)]
pub(super) struct Missing {
    pub(super) option: String,
    pub(super) why: String,
}

/// Returns the options of `wanted` that have no effect.
pub(super) fn missing(trace: &Trace, figures: &Figures, wanted: &Wanted) -> Vec<Missing> {
    let mut found = Vec::new();
    let mut add = |option: &str, why: &str| {
        found.push(Missing { option: option.to_owned(), why: why.to_owned() });
    };
    let has = |meaning| trace.schema.has_meaning(meaning);
    let releases = has(Meaning::Activate) || has(Meaning::Release);
    if wanted.jobs && figures.jobs.is_empty() {
        add("--jobs", if releases { "no job was released and completed" } else { NO_RELEASES });
    }
    if wanted.expected.values().any(|expected| expected.period.is_some()) && !releases {
        add("--period", NO_RELEASES);
    }
    let deadlines = wanted.expected.iter();
    let deadlines = deadlines.filter_map(|(task, expected)| Some((task, expected.deadline?)));
    // Show the rule for the first task in alphabetical order.
    if let Some((task, deadline)) = deadlines.min().filter(|_| !releases) {
        let within = spoken_time(deadline);
        let rule = format!(
            "whenever START(@context = \"{task}\") then END(@context = \"{task}\") within {within}"
        );
        let check = format!(
            "tracewell check tests deadlines between two events, with rules such as: {rule}"
        );
        add("--deadline", &format!("{NO_RELEASES}; {check}"));
    }
    // If the format never records releases, this was already reported above.
    for (name, option) in without_releases(trace, figures, wanted).filter(|_| releases) {
        add(&format!("{option} {name}"), "no release of this task is recorded");
    }
    let requests = has(Meaning::Lock) || has(Meaning::Wait);
    if wanted.waits && figures.waits.is_empty() {
        add("--waits", if requests { "no request had to wait" } else { NO_REQUESTS });
    }
    if wanted.budgets && figures.servers.is_empty() {
        add("--budgets", "this trace records no servers");
    }
    if wanted.holes && !(has(Meaning::Hides) || has(Meaning::TraceStop)) {
        add("--holes", "traces of this format record neither filters nor stops of tracing");
    }
    for (from, to, passages) in &figures.passages {
        if passages.is_empty() {
            let option = format!("--ipoints {},{}", shown(from), shown(to));
            add(&option, "no task recorded the first of these marks and then the second");
        }
    }
    found
}

const NO_RELEASES: &str = "traces of this format do not record when jobs are released";
const NO_REQUESTS: &str = "traces of this format do not record requests for mutexes and semaphores";

/// Returns each task that has no releases although the user specified its period or deadline.
fn without_releases<'a>(
    trace: &'a Trace,
    figures: &'a Figures,
    wanted: &'a Wanted,
) -> impl Iterator<Item = (&'a str, &'static str)> {
    let released = |task: &&crate::analysis::scheduling::Task| {
        task.jobs.as_ref().is_some_and(|jobs| jobs.activations > 0)
    };
    figures.tasks.iter().filter(move |task| !released(task)).filter_map(|task| {
        let context = trace.contexts.get(task.context)?;
        let by_name = wanted.expected.get_key_value(&context.name);
        let (name, expected) =
            by_name.or_else(|| wanted.expected.get_key_value(&context.key_text))?;
        let option = if expected.period.is_some() { "--period" } else { "--deadline" };
        Some((name.as_str(), option))
    })
}

/// Returns a mark as the user typed it.
pub(super) fn shown(mark: &Mark) -> String {
    match mark {
        Mark::Number(number) => number.to_string(),
        Mark::Label(label) => label.clone(),
    }
}
