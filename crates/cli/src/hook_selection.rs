//! The options with which `report` and `trcrpt` select events in the same way as AIX's trcrpt: hook
//! ids, groups of hook ids, processes, dates.

use std::path::{Path, PathBuf};

use clap::Args;
use tracewell::format::aix::SHIPPED_GROUPS;
use tracewell::select::{
    Bound, Group, IdOrName, IdPattern, Selection, did_you_mean, elements, groups, nearest,
};
use tracewell::text::calendar::utc;
use tracewell::text::{shown, shown_path};

use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome, warn};
use crate::output::print;
use crate::small_file;

/// The events to show.
#[derive(Debug, Args)]
pub(crate) struct HookSelection {
    /// Show only these events: hook ids such as 134 or 1*, or a file with a list of hook ids
    #[arg(short = 'd', long = "ids", value_name = "LIST")]
    ids: Vec<String>,

    /// Exclude these events: a list as for --ids
    #[arg(short = 'k', long = "without-ids", value_name = "LIST")]
    without_ids: Vec<String>,

    /// Show only the hook ids of these groups
    #[arg(short = 'D', long = "groups", value_name = "LIST")]
    groups: Vec<String>,

    /// Exclude the hook ids of these groups
    #[arg(short = 'K', long = "without-groups", value_name = "LIST")]
    without_groups: Vec<String>,

    /// List the groups: name, description, hook ids
    #[arg(short = 'G', long)]
    pub(crate) list_groups: bool,

    /// Show only events of these processes: ids or program names
    #[arg(short = 'p', long = "process", value_name = "LIST")]
    processes: Vec<String>,

    /// Skip events before this date, mmddhhmmssyy in UTC
    #[arg(short = 's', long, value_name = "DATE", group = "beginning", value_parser = date)]
    start: Option<Bound>,

    /// Skip events after this date, mmddhhmmssyy in UTC
    #[arg(short = 'e', long, value_name = "DATE", group = "ending", value_parser = date)]
    end: Option<Bound>,
}

/// The elements that a list of events may contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Elements {
    /// Hook ids, as for AIX's trcrpt.
    Hooks,
    /// Hook ids, other ids, and names of events.
    HooksAndNames,
}

impl HookSelection {
    /// Returns true if an option names a group.
    pub(crate) fn names_groups(&self) -> bool {
        !(self.groups.is_empty() && self.without_groups.is_empty())
    }

    /// Returns true if an option other than a date selects events.
    pub(crate) fn is_any(&self) -> bool {
        let lists = [&self.ids, &self.without_ids, &self.processes];
        self.names_groups() || lists.iter().any(|list| !list.is_empty())
    }

    /// Returns true if a date selects events.
    pub(crate) fn has_dates(&self) -> bool {
        self.start.is_some() || self.end.is_some()
    }

    /// If a list in these options names files, adds the files to `inputs`.
    pub(crate) fn add_files(&self, inputs: &mut Inputs) {
        for lists in [&self.ids, &self.without_ids, &self.processes] {
            inputs.add(files_in(lists));
        }
    }

    /// Adds these options to a selection. The groups come from `group_file`, or from the shipped
    /// file.
    pub(crate) fn add_to(
        &self,
        selection: &mut Selection,
        elements: Elements,
        group_file: Option<&Path>,
    ) -> Result<(), Failure> {
        // Read the groups once for -D and -K.
        let groups = known_groups(group_file)?;
        for (ids, names, all) in [
            (&self.ids, &self.groups, &mut selection.ids),
            (&self.without_ids, &self.without_groups, &mut selection.without_ids),
        ] {
            all.extend(events(ids, elements)?);
            all.extend(ids_of_groups(names, &groups)?);
        }
        selection.processes.extend(lists_of(&self.processes)?);
        // --from and --to of the general selection override trcrpt's times.
        selection.from = selection.from.or(self.start);
        selection.to = selection.to.or(self.end);
        Ok(())
    }
}

/// Reads the elements of lists, separated by commas or blanks. If an element is the path of a file,
/// it is replaced with the list in that file.
pub(crate) fn lists_of(lists: &[String]) -> Result<Vec<String>, Failure> {
    let mut all = Vec::new();
    for element in lists.iter().flat_map(|list| elements(list)) {
        let path = Path::new(element);
        if path.is_file() {
            let file = small_file::read_text(path)?;
            all.extend(elements(&file).map(str::to_owned));
        } else {
            all.push(element.to_owned());
        }
    }
    Ok(all)
}

/// Returns the files that these lists refer to.
pub(crate) fn files_in(lists: &[String]) -> Vec<PathBuf> {
    let all = lists.iter().flat_map(|list| elements(list)).map(PathBuf::from);
    all.filter(|path| path.is_file()).collect()
}

fn events(lists: &[String], kind: Elements) -> Result<Vec<IdOrName>, Failure> {
    let event = |element: String| match kind {
        Elements::HooksAndNames => Ok(IdOrName::from(element.as_str())),
        Elements::Hooks => element.parse::<IdPattern>().map(IdOrName::from).map_err(Failure::usage),
    };
    lists_of(lists)?.into_iter().map(event).collect()
}

/// Returns the ids of named groups.
fn ids_of_groups(names: &[String], known: &[Group]) -> Result<Vec<IdOrName>, Failure> {
    let mut all = Vec::new();
    for name in names.iter().flat_map(|names| elements(names)) {
        match known.iter().find(|group| group.name == name) {
            Some(group) => all.extend(group.ids.iter().copied().map(IdOrName::from)),
            None => {
                let near = nearest(name, known.iter().map(|group| group.name.as_str()));
                let hint = did_you_mean(near);
                return Err(Failure::usage(format!("no group '{name}'; -G lists all{hint}")));
            }
        }
    }
    Ok(all)
}

/// Returns the groups of a file, or the shipped groups. Lines with errors are reported and skipped.
fn known_groups(file: Option<&Path>) -> Result<Vec<Group>, Failure> {
    let (name, text) = match file {
        None => ("templates/groups".into(), SHIPPED_GROUPS.to_owned()),
        Some(path) => (shown_path(path).to_string(), small_file::read_text(path)?),
    };
    let (groups, errors) = groups(&text);
    for (line, error) in errors {
        warn!("{name}:{line}: {error}");
    }
    Ok(groups)
}

/// Prints groups, one per line, in the format of a file of groups.
pub(crate) fn print_groups(file: Option<&Path>) -> Result<Outcome, Failure> {
    let mut text = String::new();
    for group in known_groups(file)? {
        let ids: Vec<_> = group.ids.iter().map(ToString::to_string).collect();
        let (name, description) = (shown(&group.name), shown(&group.description));
        text.push_str(&format!("{name}: {description}: {}\n", ids.join(",")));
    }
    Ok(print(&text))
}

/// Parses a date `mmddhhmmssyy`, in UTC.
fn date(text: &str) -> Result<Bound, String> {
    let error = || format!("expected a date mmddhhmmssyy, found '{text}'");
    if text.len() != 12 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(error());
    }
    let part = |at: usize| text[at..at + 2].parse::<i8>().unwrap_or(0);
    let [month, day, hour, minute, second, year] = [0, 2, 4, 6, 8, 10].map(part);
    // As in POSIX, the years 69 to 99 belong to the 20th century.
    let year = if year < 69 { 2000 + i16::from(year) } else { 1900 + i16::from(year) };
    let date = [year, i16::from(month), i16::from(day)];
    utc(date, [hour, minute, second]).map(Bound::WallClock).ok_or_else(error)
}
