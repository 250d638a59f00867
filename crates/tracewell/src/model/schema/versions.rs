//! Selects the entries for one version from a schema file that covers several versions of a system.
//!
//! The file lists its `versions`, oldest first. Events and ranges can contain the keys `since` and
//! `until`, and arguments can end with ` since V` or ` until V`. `ids` lists an event's numbers by
//! version. [`select`] keeps only the entries of one version. After that, the file looks like a
//! file without versions.

use std::collections::HashSet;

use toml::Spanned;

use super::file::{Event, Fault, File, Head, Range, Roles};

/// Removes all entries from `file` that do not exist in `version`. The default is the last version.
/// Returns the selected version.
///
/// # Errors
/// Returns an error if `version`, or a version that the file uses, is missing from the file's list
/// `versions`.
pub(super) fn select(file: &mut File, version: Option<&str>) -> Result<Versions, Fault> {
    let versions = Versions::new(file, version)?;
    file.event = std::mem::take(&mut file.event)
        .into_iter()
        .filter_map(|event| versions.event(event).transpose())
        .collect::<Result<_, Fault>>()?;
    file.range = std::mem::take(&mut file.range)
        .into_iter()
        .filter_map(|range| versions.range(range).transpose())
        .collect::<Result<_, Fault>>()?;
    if versions.are_listed() {
        // Other versions may have other ids, so the entries of the file may not be in the order of
        // their ids.
        file.event.sort_by_key(|event| event.id.as_ref().map(|id| *id.get_ref()));
    }
    Ok(versions)
}

/// The versions of a file, and the position of the chosen one.
#[derive(Clone, Debug)]
pub(super) struct Versions {
    names: Vec<String>,
    chosen: usize,
    /// The prefix of all event names in this version.
    prefix: String,
}

impl Versions {
    fn new(file: &File, version: Option<&str>) -> Result<Self, Fault> {
        let names = file.versions.clone();
        let chosen = names.len().saturating_sub(1);
        let mut versions = Self { names, chosen, prefix: String::new() };
        if let Some(version) = version {
            versions.chosen = versions.position(0, version)?;
        }
        // Each prefix has a version. It applies from this version on, until the next prefix
        // applies.
        let prefix = versions.latest(0, &file.prefixes)?;
        Ok(Self { prefix: prefix.cloned().unwrap_or_default(), ..versions })
    }

    /// Returns true if the file lists versions.
    pub(super) fn are_listed(&self) -> bool {
        !self.names.is_empty()
    }

    fn position(&self, at: usize, version: &str) -> Result<usize, Fault> {
        let found = self.names.iter().position(|name| name == version);
        found.ok_or_else(|| (at, format!("no version named '{version}' in `versions`")))
    }

    /// Returns true if the chosen version is between `since` and `until`, inclusive.
    fn has(
        &self,
        at: usize,
        since: Option<&String>,
        until: Option<&String>,
    ) -> Result<bool, Fault> {
        let bound = |version: &String| self.position(at, version);
        let (since, until) = (since.map(bound).transpose()?, until.map(bound).transpose()?);
        Ok(since.is_none_or(|since| since <= self.chosen)
            && until.is_none_or(|until| self.chosen <= until))
    }

    /// Returns the value of the last pair whose version is not later than the chosen version.
    fn latest<'v, T>(&self, at: usize, pairs: &'v [(String, T)]) -> Result<Option<&'v T>, Fault> {
        let mut latest = None;
        for (version, value) in pairs {
            if self.position(at, version)? <= self.chosen {
                latest = Some(value);
            }
        }
        Ok(latest)
    }

    /// Returns the id of an event in the chosen version. Returns `None` if the event does not exist
    /// in this version. `head` contains the keys `id`, `ids`, `since` and `until` of the event.
    ///
    /// # Errors
    /// Returns an error if a version is not listed, or if the event has no id.
    pub(super) fn id(&self, head: &Head) -> Result<Option<u32>, Fault> {
        if !self.has(0, head.since.as_ref(), head.until.as_ref())? {
            return Ok(None);
        }
        match (&head.ids, head.id) {
            (Some(ids), _) => Ok(self.latest(0, ids)?.copied()),
            (None, Some(id)) => Ok(Some(id)),
            (None, None) => Err((0, "missing field `id`".to_owned())),
        }
    }

    /// Returns an event as it is in the chosen version, or `None` if that version has no such
    /// event.
    pub(super) fn event(&self, mut event: Event) -> Result<Option<Event>, Fault> {
        let at = event.name.span().start;
        if let Some(ids) = &event.ids {
            let span = ids.span();
            let Some(id) = self.latest(span.start, ids.get_ref())? else { return Ok(None) };
            event.id = Some(Spanned::new(span, *id));
        }
        if !self.has(at, event.since.as_ref(), event.until.as_ref())? {
            return Ok(None);
        }
        event.name.get_mut().insert_str(0, &self.prefix);
        let absent = self.keep_arguments(&mut event.args)?;
        if let Some(means) = &mut event.means {
            drop_roles(means.get_mut(), &absent);
        }
        Ok(Some(event))
    }

    fn range(&self, mut range: Range) -> Result<Option<Range>, Fault> {
        let at = range.name.span().start;
        if !self.has(at, range.since.as_ref(), range.until.as_ref())? {
            return Ok(None);
        }
        range.name.get_mut().insert_str(0, &self.prefix);
        self.keep_arguments(&mut range.args)?;
        Ok(Some(range))
    }

    /// Keeps only the arguments of the chosen version, and removes the version bounds from them.
    /// Returns the names of arguments that exist only in other versions.
    fn keep_arguments(&self, args: &mut Vec<Spanned<String>>) -> Result<HashSet<String>, Fault> {
        // If the file has no versions, an argument has no bounds, and ` since ` is part of its
        // text.
        if !self.are_listed() {
            return Ok(HashSet::new());
        }
        let (mut kept, mut absent) = (Vec::new(), HashSet::new());
        for argument in args.drain(..) {
            let span = argument.span();
            let (text, until) = bound(argument.get_ref(), " until ");
            let (text, since) = bound(text, " since ");
            let (text, has) =
                (text.to_owned(), self.has(span.start, since.as_ref(), until.as_ref())?);
            match has {
                true => kept.push(Spanned::new(span, text)),
                false => _ = absent.insert(name(&text).to_owned()),
            }
        }
        // If the type of an argument changed between versions, the file lists the argument twice,
        // with the same name. The chosen version has one of the two, so the name is not absent.
        kept.iter().for_each(|argument| _ = absent.remove(name(argument.get_ref())));
        *args = kept;
        Ok(absent)
    }
}

/// Splits ` since V` or ` until V` from the end of an argument.
fn bound<'t>(text: &'t str, word: &str) -> (&'t str, Option<String>) {
    match text.rsplit_once(word) {
        Some((text, version)) => (text, Some(version.to_owned())),
        None => (text, None),
    }
}

fn name(argument: &str) -> &str {
    argument.split([':', ' ']).next().unwrap_or(argument)
}

fn drop_roles(roles: &mut Roles, absent: &HashSet<String>) {
    for role in roles.arguments_mut() {
        role.take_if(|name| absent.contains(name));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Schema;

    const TEXT: &str = r#"
versions = ["1", "2", "3"]
prefixes = [["1", "OLD_"], ["3", "NEW_"]]
[[event]]
ids = [["1", 7], ["2", 4]]
name = "A"
label = "a"
family = "f"
args = ["x", "y as u8 since 2 until 2", "y: hex since 3"]
means = { is = "mark", value = "y" }
[[event]]
id = 5
since = "3"
name = "B"
label = "b"
family = "f"
"#;

    fn version(version: &str) -> Schema {
        Schema::parse_version(TEXT, "my.toml", Some(version)).unwrap()
    }

    #[test]
    fn each_version_has_its_own_events_numbers_and_names() {
        let names = |schema: &Schema| -> Vec<(u32, String)> {
            schema.events().map(|event| (event.id, event.name.clone())).collect()
        };
        assert_eq!(names(&version("1")), [(7, "OLD_A".to_owned())]);
        assert_eq!(names(&version("2")), [(4, "OLD_A".to_owned())]);
        assert_eq!(names(&version("3")), [(4, "NEW_A".to_owned()), (5, "NEW_B".to_owned())]);
        let last = Schema::parse(TEXT, "my.toml").unwrap();
        assert_eq!(names(&last), names(&version("3")));
    }

    #[test]
    fn a_role_is_absent_where_its_argument_is() {
        let (first, second) = (version("1"), version("2"));
        assert_eq!(first.event(7).args.len(), 1);
        assert_eq!(first.event(7).means.unwrap().value, None);
        assert_eq!(second.event(4).args[1].encoding, "u8");
        assert_eq!(second.event(4).means.unwrap().value, Some(1));
        assert_eq!(version("3").event(4).args[1].encoding, "");
    }

    #[test]
    fn an_unlisted_version_is_an_error() {
        let error = Schema::parse_version(TEXT, "my.toml", Some("4")).unwrap_err();
        assert_eq!(error.to_string(), "my.toml:1:1: no version named '4' in `versions`");
        let text = TEXT.replace("until 2", "until 9");
        let error = Schema::parse(&text, "my.toml").unwrap_err();
        assert_eq!(error.to_string(), "my.toml:9:14: no version named '9' in `versions`");
    }
}
