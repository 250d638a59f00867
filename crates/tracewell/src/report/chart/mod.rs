//! A chart of tracks as text: a row for each core, context, lock, state machine, queue and server,
//! and a column for each interval of time.
//!
//! | file | content |
//! |---|---|
//! | `columns` | the time of each state in each column |
//! | `machines` | the rows of state machines, and of levels |
//! | `servers` | the rows of servers |
//! | `symbols` | the characters for states, and the legend |
//! | `axis` | times above the chart, and their unit |
//!
//! The chart depends only on the trace and the options, never on the terminal.

mod axis;
mod columns;
mod machines;
mod servers;
mod symbols;

use std::collections::{BTreeSet, HashSet};
use std::iter;
use std::ops::Range;

use super::scheduling::resource_label;
use crate::analysis::machines::Named;
use crate::analysis::tracks::{
    Gap, LevelTrack, LockTrack, Occupant, Row, ServerTrack, State, Tracks,
};
use crate::model::{ContextId, Trace};
use crate::select::{Selection, SelectionError, is_context};
use crate::text::calendar::Zone;
use crate::text::{counted, shown, times};
use axis::Axis;
use columns::{Columns, Scale};
use machines::Explained;
use symbols::{Activity, Legend, Symbols};

/// Content and form of a chart.
#[derive(Clone, Debug)]
pub struct ChartOptions {
    /// Maximum width of a line in characters, at least [`MIN_WIDTH`].
    pub width: usize,
    /// True if only ASCII characters are used.
    pub ascii: bool,
    /// Selects the time (`from`, `to`), the contexts, and the cores (`cpus`). If cores are
    /// selected, only contexts that ran on them are shown. A chart ignores all other fields of the
    /// selection.
    pub selection: Selection,
    /// The zone of dates on the time axis; `None` for times since the first event.
    pub dates: Option<Zone>,
}

/// Minimum width of a chart in characters. It leaves room for short names and some columns of time.
pub const MIN_WIDTH: usize = 40;

/// Maximum number of gaps that are listed below the chart. The others are counted.
const MAX_GAPS: usize = 8;

impl Default for ChartOptions {
    fn default() -> Self {
        Self { width: 100, ascii: false, selection: Selection::default(), dates: None }
    }
}

/// Returns the chart of a trace.
///
/// ```
/// use tracewell::analysis::tracks::TrackBuilder;
/// use tracewell::input::{Input, Settings};
/// use tracewell::report::chart::{ChartOptions, chart};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx").as_ref();
/// let mut builder = TrackBuilder::default();
/// let trace = Input::open(path, Settings::default())?.read(&mut builder)?;
/// let text = chart(&trace, &builder.finish(&trace), &ChartOptions::default())?;
/// assert!(text.lines().all(|line| line.chars().count() <= 100));
/// assert!(text.contains("core 0"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error in three cases: the selection has times, but the clock has no known rate; dates
/// are selected or shown, but the trace has no wall clock; the selection has processors, but the
/// tracks have no cores.
pub fn chart(
    trace: &Trace,
    tracks: &Tracks,
    options: &ChartOptions,
) -> Result<String, SelectionError> {
    options.selection.check(trace)?;
    if options.dates.is_some() {
        trace.check_dates()?;
    }
    if tracks.cores.is_empty() && !options.selection.cpus.is_empty() {
        return Err(SelectionError::NoCores);
    }
    Ok(Chart::new(trace, tracks, options).text())
}

/// Words that follow the name of an object and specify which of its properties a row shows.
const WAITS: &str = " waits";
const STATE: &str = " state";
const STEPS: &str = " steps";
const LEVEL: &str = " level";
const SPANS: &str = " spans";
const BUDGET: &str = " budget";
const USED: &str = " used";

/// Maximum number of rows of spans for each thread. Deeper spans have no row.
const MAX_SPAN_DEPTH: usize = 4;

/// A row of a chart.
struct Drawn {
    name: String,
    /// The words after the name, such as [`WAITS`]. Can be empty.
    part: &'static str,
    cells: String,
}

/// The parts of a chart before they are joined.
struct Chart<'a> {
    trace: &'a Trace,
    tracks: &'a Tracks,
    options: &'a ChartOptions,
    ticks: Range<u64>,
    /// The columns of time.
    scale: Scale,
    symbols: Symbols,
    legend: Legend,
    rows: Vec<Drawn>,
    /// Explanations of the rows of machines and levels.
    explanations: Vec<String>,
    /// Width of the names in characters.
    names: usize,
    contexts: Vec<ContextId>,
}

impl<'a> Chart<'a> {
    fn new(trace: &'a Trace, tracks: &'a Tracks, options: &'a ChartOptions) -> Self {
        let width = options.width.max(MIN_WIDTH);
        // `span` is the last tick. The chart includes it.
        let end = tracks.span.saturating_add(1);
        let from =
            options.selection.from.map_or(0, |bound| axis::ticks(trace, bound, end)).min(end - 1);
        let to = options
            .selection
            .to
            .map_or(end, |bound| axis::ticks(trace, bound, end).saturating_add(1));
        let contexts = shown_contexts(trace, tracks, &options.selection);
        let mut names: Vec<_> =
            contexts.iter().map(|id| format!("a {}", name(trace, *id))).collect();
        if has_all_rows(&options.selection) {
            let Tracks { locks, machines, levels, servers, .. } = tracks;
            names.extend(locks.iter().map(|lock| lock_name(trace, lock) + WAITS));
            names.extend(machines.iter().map(|track| shown_name(trace, &track.machine) + STATE));
            let label = |track: &LevelTrack| shown(&track.label(trace)).into_owned();
            names.extend(levels.iter().map(|track| label(track) + LEVEL));
            names.extend(servers.iter().map(|track| server_name(trace, track) + part_of(track)));
        }
        let spans = tracks.spans.iter().filter(|track| contexts.contains(&track.context));
        names.extend(spans.map(|track| name(trace, track.context) + SPANS));
        let longest = names.iter().map(|name| name.chars().count()).max();
        // Names get at most a quarter of the width, but at least 12 characters.
        let names = longest.unwrap_or(0).clamp(12, (width / 4).max(12));
        // The chart shows at least one tick, because a scale needs a length.
        let ticks = from..to.clamp(from + 1, end);
        Self {
            trace,
            tracks,
            options,
            scale: Scale::new(ticks.clone(), width - names - 1),
            ticks,
            symbols: Symbols::new(options.ascii),
            legend: Legend::default(),
            rows: Vec::new(),
            explanations: Vec::new(),
            names,
            contexts,
        }
    }

    fn text(mut self) -> String {
        let dates = self.options.dates.as_ref();
        let axis = Axis::new(self.trace, &self.ticks, self.scale.count, dates);
        let mut lines = self.folded(&axis.summary(self.tracks.span));
        lines.push(String::new());
        lines.extend(axis.lines(self.names + 1, self.options.ascii));
        if self.options.selection.contexts.is_empty() {
            self.cores();
        }
        self.states();
        self.marks();
        self.spans();
        if has_all_rows(&self.options.selection) {
            self.locks();
            self.machines();
            self.levels();
            self.servers();
        }
        self.gaps();
        for Drawn { name, part, cells } in &self.rows {
            let name = symbols::truncated(name, self.names - part.len()) + part;
            let line = format!("{name:<width$} {cells}", width = self.names);
            lines.push(line.trim_end().to_owned());
        }
        lines.extend(self.legend.lines(&self.symbols, self.width()));
        lines.append(&mut self.explanations);
        lines.extend(self.listed_gaps(&axis));
        if self.tracks.left_out > 0 {
            let left_out = counted(self.tracks.left_out, "change");
            lines.push(format!("{left_out} left out: the trace has too many for one chart"));
        }
        lines.join("\n") + "\n"
    }

    /// Returns a sentence as one line, or as two lines if it is wider than the chart. The second
    /// line begins after the first comma.
    fn folded(&self, sentence: &str) -> Vec<String> {
        match sentence.split_once(", ") {
            Some((first, second)) if sentence.chars().count() > self.width() => {
                vec![format!("{first},"), second.to_owned()]
            }
            _ => vec![sentence.to_owned()],
        }
    }

    fn width(&self) -> usize {
        self.options.width.max(MIN_WIDTH)
    }

    fn grid(&self) -> Columns {
        Columns::new(self.scale.clone())
    }

    fn cores(&mut self) {
        for (number, row) in shown_cores(self.tracks, &self.options.selection) {
            let mut grid = self.grid();
            for span in row.spans(self.ticks.clone(), self.tracks.span) {
                let activity = match span.state {
                    Occupant::Task { .. } => Activity::Running,
                    Occupant::Interrupt { .. } => Activity::Interrupted,
                    Occupant::Idle => Activity::Idle,
                    Occupant::Unknown => Activity::Unknown,
                };
                grid.add(span.from.ticks..span.end, activity);
            }
            self.push(format!("core {number}"), "", &grid, None);
        }
    }

    fn states(&mut self) {
        for (index, context) in self.contexts.clone().into_iter().enumerate() {
            let Some(row) = self.tracks.context(context) else { continue };
            let mut grid = self.grid();
            for span in row.spans(self.ticks.clone(), self.tracks.span) {
                grid.add(span.from.ticks..span.end, activity(span.state));
            }
            for job in self.tracks.jobs.iter().filter(|job| job.context == context) {
                job.missed.into_iter().for_each(|missed| grid.mark(missed.ticks));
            }
            let name = format!("{} {}", symbols::letter(index), name(self.trace, context));
            self.push(name, "", &grid, Some(Activity::Missed));
        }
    }

    /// If no context has states, adds a row for each context with events.
    fn marks(&mut self) {
        let shows_states = self.tracks.contexts().next().is_some();
        if shows_states {
            return;
        }
        let mut grids: Vec<_> = self.contexts.iter().map(|_| self.grid()).collect();
        let index_of: std::collections::HashMap<_, _> =
            self.contexts.iter().enumerate().map(|(index, id)| (*id, index)).collect();
        for mark in &self.tracks.marks {
            if let Some(index) = index_of.get(&mark.context) {
                grids[*index].mark(mark.at.ticks);
            }
        }
        // All rows have the same scale, so that they can be compared.
        let most = grids.iter().map(Columns::most_marks).max().unwrap_or(0);
        self.legend.events(most);
        for (context, grid) in self.contexts.clone().into_iter().zip(grids) {
            let cells = grid.densities(most, &self.symbols);
            self.rows.push(Drawn { name: name(self.trace, context), part: "", cells });
        }
    }

    /// Adds the spans of the shown threads, and explains their digits once below the legend.
    fn spans(&mut self) {
        let (mut names, mut used) = (Vec::new(), BTreeSet::new());
        for track in self.tracks.spans.iter().filter(|track| track.depth < MAX_SPAN_DEPTH) {
            if !self.contexts.contains(&track.context) {
                continue;
            }
            let end = self.tracks.span;
            let row = machines::spans(self.trace, track, &self.scale, end, &mut names);
            let Some(Explained { cells, entries }) = row else { continue };
            // The names of deeper rows would repeat the name of the thread.
            let name = match track.depth {
                0 => name(self.trace, track.context),
                _ => String::new(),
            };
            let part = if track.depth == 0 { SPANS } else { "" };
            self.rows.push(Drawn { name, part, cells });
            used.extend(entries);
        }
        if let Some(first) = used.pop_first() {
            self.legend.spans();
            let entries = iter::once(format!("spans: {first}")).chain(used).collect();
            self.explanations.extend(symbols::wrapped(entries, self.width()));
        }
    }

    fn locks(&mut self) {
        for lock in &self.tracks.locks {
            let held = lock.holder.spans(self.ticks.clone(), self.tracks.span);
            let held: Vec<_> = held.filter(|span| span.state.context().is_some()).collect();
            let mut waiting = self.grid();
            for wait in &lock.waits {
                let until = wait.until.map_or(self.tracks.span, |until| until.ticks);
                waiting.add(wait.from.ticks..until, Activity::Blocked);
            }
            let name = lock_name(self.trace, lock);
            if !held.is_empty() {
                let mut holders = vec![self.symbols.free(); self.scale.count];
                for span in held {
                    let context = span.state.context();
                    // A holder without a row of its own has no letter.
                    let index = self.contexts.iter().position(|id| Some(*id) == context);
                    let letter = index.map_or('*', symbols::letter);
                    let columns = self.scale.columns_of(span.from.ticks..span.end);
                    // If several holders share a column, the last one is shown.
                    holders[columns].iter_mut().for_each(|cell| *cell = letter);
                }
                self.legend.holders();
                let cells = holders.into_iter().collect();
                self.rows.push(Drawn { name: name.clone(), part: "", cells });
            }
            if waiting.has(Activity::Blocked) {
                self.push(name, WAITS, &waiting, None);
            }
        }
    }

    fn machines(&mut self) {
        for track in &self.tracks.machines {
            let name = shown_name(self.trace, &track.machine);
            let span = self.tracks.span;
            let states = machines::states(self.trace, track, &self.scale, span, &self.symbols);
            if let Some(states) = states {
                self.legend.machines();
                self.explained(&name, STATE, states);
            }
            if let Some(steps) = machines::steps(&track.steps, &self.scale) {
                self.push(name, STEPS, &steps, None);
            }
        }
    }

    fn levels(&mut self) {
        for track in &self.tracks.levels {
            let levels = machines::levels(track, &self.scale, self.tracks.span, &self.symbols);
            if let Some(levels) = levels {
                self.legend.levels();
                let name = shown(&track.label(self.trace)).into_owned();
                self.explained(&name, LEVEL, levels);
            }
        }
    }

    fn servers(&mut self) {
        for track in &self.tracks.servers {
            let (trace, end) = (self.trace, self.tracks.span);
            let row = servers::budget(trace, track, &self.scale, end, &self.symbols);
            if let Some(row) = row {
                match track.size {
                    Some(_) => self.legend.budgets(),
                    None => self.legend.levels(),
                }
                self.explained(&server_name(trace, track), part_of(track), row);
            }
        }
    }

    /// Adds a row, and explains it below the legend.
    fn explained(&mut self, name: &str, part: &'static str, row: Explained) {
        let Explained { cells, mut entries } = row;
        if let Some(first) = entries.first_mut() {
            *first = format!("{name}{part}: {first}");
        }
        self.explanations.extend(symbols::wrapped(entries, self.width()));
        self.rows.push(Drawn { name: name.to_owned(), part, cells });
    }

    fn gaps(&mut self) {
        let mut grid = self.grid();
        for gap in self.gaps_in_range() {
            let until = gap.until.map_or(gap.from.ticks, |until| until.ticks);
            grid.add(gap.from.ticks..until.max(gap.from.ticks + 1), Activity::Lost);
        }
        if grid.has(Activity::Lost) {
            self.push("lost".to_owned(), "", &grid, None);
        }
    }

    fn gaps_in_range(&self) -> impl Iterator<Item = &'a Gap> + use<'a> {
        let ticks = self.ticks.clone();
        self.tracks.gaps.iter().filter(move |gap| {
            let until = gap.until.map_or(u64::MAX, |until| until.ticks);
            gap.from.ticks < ticks.end && until >= ticks.start
        })
    }

    fn listed_gaps(&self, axis: &Axis) -> Vec<String> {
        let after = |gap: &Gap| format!("lost after {}", axis.time(gap.from.ticks));
        let line = |gap: &Gap| {
            let missing = match (gap.events, gap.cause) {
                (Some(0), _) => return format!("{}: a damaged record", after(gap)),
                (Some(events), _) => counted(events, "missing event"),
                (None, Some(_)) => "missing events, number unknown".to_owned(),
                (None, None) => "recording was off".to_owned(),
            };
            let cause = gap.cause.map_or(String::new(), |cause| format!(" ({})", cause.as_str()));
            format!("{}: {missing}{cause}", after(gap))
        };
        let mut lines: Vec<(String, u64)> = Vec::new();
        let mut more = 0;
        for text in self.gaps_in_range().map(line) {
            let is_full = lines.len() == MAX_GAPS;
            match lines.last_mut() {
                // Count a repeated line even if the list is full.
                Some((last, count)) if *last == text => *count += 1,
                _ if is_full => more += 1,
                _ => lines.push((text, 1)),
            }
        }
        let counted_line = |(text, count): (String, u64)| match count {
            1 => text,
            count => format!("{text}, {}", times(count)),
        };
        let mut lines: Vec<_> = lines.into_iter().map(counted_line).collect();
        if more > 0 {
            lines.push(format!("and {} more", counted(more, "gap")));
        }
        lines
    }

    fn push(&mut self, name: String, part: &'static str, grid: &Columns, marks: Option<Activity>) {
        let cells = grid.cells(&self.symbols, &mut self.legend, marks);
        self.rows.push(Drawn { name, part, cells });
    }
}

/// Returns true unless the user selected contexts or cores.
fn has_all_rows(selection: &Selection) -> bool {
    selection.contexts.is_empty() && selection.cpus.is_empty()
}

/// Returns the cores to show, with their numbers.
fn shown_cores<'a>(
    tracks: &'a Tracks,
    selection: &'a Selection,
) -> impl Iterator<Item = (usize, &'a Row<Occupant>)> {
    let contains =
        |number: usize| u16::try_from(number).is_ok_and(|number| selection.cpus.contains(number));
    let shows = move |number| selection.cpus.is_empty() || contains(number);
    tracks.cores.iter().enumerate().filter(move |(number, _)| shows(*number))
}

/// Returns the contexts that ran on the shown cores.
fn contexts_on_cores(tracks: &Tracks, selection: &Selection) -> HashSet<ContextId> {
    let changes = shown_cores(tracks, selection).flat_map(|(_, row)| row.changes());
    let runs = changes.filter_map(|change| match change.state {
        Occupant::Task { runs, .. } => Some(runs),
        _ => None,
    });
    runs.collect()
}

/// Returns the contexts to show: those with states, or those with marks if no context has states.
fn shown_contexts(trace: &Trace, tracks: &Tracks, selection: &Selection) -> Vec<ContextId> {
    let patterns = &selection.contexts;
    let mut shown: Vec<_> = tracks.contexts().map(|(id, _)| id).collect();
    if shown.is_empty() {
        shown = tracks.marks.iter().map(|mark| mark.context).collect();
        shown.sort_unstable();
        shown.dedup();
    }
    let on_cores = match selection.cpus.is_empty() {
        true => None,
        false => Some(contexts_on_cores(tracks, selection)),
    };
    shown.retain(|id| {
        if on_cores.as_ref().is_some_and(|contexts| !contexts.contains(id)) {
            return false;
        }
        let Some(context) = trace.contexts.get(*id) else { return false };
        patterns.is_empty() || patterns.iter().any(|pattern| is_context(pattern, context))
    });
    shown
}

fn name(trace: &Trace, context: ContextId) -> String {
    let name = trace.contexts.get(context).map_or("?", |context| context.name.as_str());
    shown(name).into_owned()
}

fn lock_name(trace: &Trace, lock: &LockTrack) -> String {
    shown(&resource_label(trace, lock.key, lock.kind)).into_owned()
}

fn server_name(trace: &Trace, server: &ServerTrack) -> String {
    shown(&resource_label(trace, server.key, None)).into_owned()
}

/// Returns the word for what the row of a server shows. If the size of the budget is unknown, the
/// row shows the used part.
const fn part_of(server: &ServerTrack) -> &'static str {
    match server.size {
        Some(_) => BUDGET,
        None => USED,
    }
}

fn shown_name(trace: &Trace, named: &Named) -> String {
    shown(&named.label(trace)).into_owned()
}

fn activity(state: State) -> Activity {
    match state {
        State::Unknown => Activity::Unknown,
        State::Running(_) => Activity::Running,
        State::Interrupted => Activity::Interrupted,
        State::Preempted | State::Ready => Activity::Ready,
        State::Blocked(_) => Activity::Blocked,
        State::Sleeping => Activity::Sleeping,
        State::Done => Activity::Done,
        State::Off => Activity::Off,
        State::Deleted => Activity::Deleted,
    }
}
