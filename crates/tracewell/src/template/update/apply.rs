//! Applies an update to a template file, and builds the update that undoes it.

use std::fmt;
use std::ops::Range;

use super::{FIRST_LINE, Record, as_addition};
use crate::source::Source;
use crate::template::parser::parse;
use crate::template::syntax::{Key, Version};

/// Ids below this one are reserved for AIX trace itself.
const FIRST_FREE: u16 = 0x0100;

/// The result of one record of an update.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// The template was added.
    Added(u16, Version),
    /// The template replaced an existing one. The first version is that of the new template, the
    /// second that of the old one.
    Replaced(u16, Version, Version),
    /// The template was deleted.
    Deleted(u16, Version),
    /// The existing template has a later version and was kept.
    Kept(u16, Version, Version),
    /// There is no such template to delete.
    Absent(u16),
    /// The id is reserved for AIX trace itself.
    Refused(u16),
}

impl Change {
    /// Returns true if the file was changed as requested. Otherwise the caller should warn.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Added(..) | Self::Replaced(..) | Self::Deleted(..))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = |id: &u16| Key::Id(*id);
        match self {
            Self::Added(id, version) => write!(f, "{} {version} added", key(id)),
            Self::Replaced(id, new, old) => write!(f, "{} {new} replaces {old}", key(id)),
            Self::Deleted(id, old) => write!(f, "{} {old} deleted", key(id)),
            Self::Kept(id, new, old) => {
                write!(f, "{} {new} not installed: {old} is later (-o overrides)", key(id))
            }
            Self::Absent(id) => write!(f, "{} not deleted: no such template", key(id)),
            Self::Refused(id) => {
                write!(f, "{} not changed: reserved for trace itself (-o overrides)", key(id))
            }
        }
    }
}

/// A changed template file.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The whole text of the file after the changes.
    pub text: String,
    /// An update file that undoes the changes. It must be applied with `force`.
    pub undo: String,
    /// The result of each record.
    pub changes: Vec<Change>,
}

/// Applies the records of an update file in order. If `force` is true, a record can also replace a
/// later version and change a template with a reserved id. To undo an update, `force` must be true.
///
/// # Examples
///
/// ```
/// use tracewell::template::Source;
/// use tracewell::template::update::{apply, read};
///
/// let update = Source::new("u.trc", "* /etc/trcfmt\n+ 0AA 1.1 \"new\"\n");
/// let records = read(&update).expect("a valid update");
/// let applied = apply(&Source::new("my.fmt", "0AA 1.0 \"old\"\n"), &records, false);
/// assert_eq!(applied.text, "0AA 1.1 \"new\"\n");
/// assert_eq!(applied.undo, "* /etc/trcfmt\n+ 0AA 1.0 \"old\"\n");
/// ```
pub fn apply(templates: &Source, records: &[Record], force: bool) -> Applied {
    let mut list = Templates::of(templates);
    let (mut changes, mut undo) = (Vec::new(), Vec::new());
    for record in records {
        let id = match record {
            Record::Delete { id } => *id,
            Record::Add { stanza, .. } => match stanza.key {
                Key::Id(id) => id,
                Key::Name(_) => continue,
            },
        };
        if id < FIRST_FREE && !force {
            changes.push(Change::Refused(id));
            continue;
        }
        // The last template of an id is in effect, so compare with it.
        let there = list.last_of(id).map(|at| list.version_and_text(at));
        let change = match record {
            Record::Delete { .. } => match there {
                None => Change::Absent(id),
                Some((version, text)) => {
                    undo.push(as_addition(&text));
                    // Delete all templates of the id, because otherwise an older one would come
                    // into effect.
                    list.delete(id);
                    Change::Deleted(id, version)
                }
            },
            Record::Add { stanza, text } => match there {
                None => {
                    undo.push(format!("- {}\n", Key::Id(id)));
                    list.add(id, stanza.version, text);
                    Change::Added(id, stanza.version)
                }
                Some((version, _)) if version > stanza.version && !force => {
                    Change::Kept(id, stanza.version, version)
                }
                Some((version, old)) => {
                    undo.push(as_addition(&old));
                    list.replace(id, stanza.version, text);
                    Change::Replaced(id, stanza.version, version)
                }
            },
        };
        changes.push(change);
    }
    // The undo file begins with the latest change.
    let undo = undo.iter().rev().map(String::as_str);
    let undo = std::iter::once(FIRST_LINE).chain(std::iter::once("\n")).chain(undo).collect();
    Applied { text: list.text(), undo, changes }
}

/// Returns the templates of these ids as an update file, and the ids that have no template.
///
/// # Examples
///
/// ```
/// use tracewell::template::Source;
/// use tracewell::template::update::extract;
///
/// let templates = Source::new("my.fmt", "0AA 1.0 \"a\"\n0AB 1.0 \"b\"\n");
/// let (update, absent) = extract(&templates, &[0x0AB0, 0x0AC0]);
/// assert_eq!(update, "* /etc/trcfmt\n+ 0AB 1.0 \"b\"\n");
/// assert_eq!(absent, [0x0AC0]);
/// ```
pub fn extract(templates: &Source, ids: &[u16]) -> (String, Vec<u16>) {
    let list = Templates::of(templates);
    let mut text = format!("{FIRST_LINE}\n");
    let mut absent = Vec::new();
    for id in ids {
        match list.last_of(*id) {
            Some(at) => text.push_str(&as_addition(&list.version_and_text(at).1)),
            None => absent.push(*id),
        }
    }
    (text, absent)
}

/// A template file as a list of parts. The parts between templates are never changed.
struct Templates {
    sections: Vec<Section>,
}

struct Section {
    text: String,
    template: Option<(u16, Version)>,
}

impl Templates {
    fn of(source: &Source) -> Self {
        let (file, _) = parse(source);
        let slice = |range: Range<usize>| source.text.get(range).unwrap_or_default().to_owned();
        let mut sections = Vec::new();
        let mut at = 0;
        for stanza in &file.stanzas {
            let range = stanza.span.range();
            sections.push(Section { text: slice(at..range.start), template: None });
            // A stanza with an invalid heading has no id, but its text remains in the file.
            let id = Key::from_digits(&stanza.key_text);
            let template = id.map(|id| (id, stanza.version));
            at = range.end;
            sections.push(Section { text: slice(range), template });
        }
        sections.push(Section { text: slice(at..source.text.len()), template: None });
        Self { sections }
    }

    /// Returns the index of the template that is in effect for an id.
    fn last_of(&self, id: u16) -> Option<usize> {
        self.sections
            .iter()
            .rposition(|section| section.template.is_some_and(|(other, _)| other == id))
    }

    fn version_and_text(&self, at: usize) -> (Version, String) {
        let section = &self.sections[at];
        (section.template.map(|(_, version)| version).unwrap_or_default(), section.text.clone())
    }

    fn delete(&mut self, id: u16) {
        while let Some(at) = self.last_of(id) {
            self.sections.remove(at);
            self.end_line_of(at);
        }
    }

    /// Removes the line end after a deleted template.
    fn end_line_of(&mut self, at: usize) {
        if let Some(later) = self.sections.get_mut(at)
            && let Some(end) = later.text.find('\n')
        {
            later.text.drain(..=end);
        }
    }

    fn add(&mut self, id: u16, version: Version, text: &str) {
        let ends = self.sections.iter().rev().find(|section| !section.text.is_empty());
        // The file may end without a line end.
        if ends.is_some_and(|section| !section.text.ends_with('\n')) {
            self.sections.push(Section { text: "\n".to_owned(), template: None });
        }
        self.sections.push(Section { text: text.to_owned(), template: Some((id, version)) });
        self.sections.push(Section { text: "\n".to_owned(), template: None });
    }

    fn replace(&mut self, id: u16, version: Version, text: &str) {
        if let Some(at) = self.last_of(id) {
            self.sections[at] = Section { text: text.to_owned(), template: Some((id, version)) };
        }
    }

    fn text(&self) -> String {
        self.sections.iter().map(|section| section.text.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    const FILE: &str = "# ours\n0AA 1.0 \"a\"\n0AB 2.0 \"b\" \\\n  X2\n\n0AC 1.0 \"c\"\n";

    fn applied(file: &str, update: &str, force: bool) -> Applied {
        let records = read(&Source::new("u.trc", format!("{FIRST_LINE}\n{update}"))).unwrap();
        apply(&Source::new("trcfmt", file), &records, force)
    }

    #[test]
    fn an_update_adds_replaces_and_deletes_and_can_be_undone() {
        let update = "+ 0AB 2.0 \"new\" \\\n X4\n- 0AC 1.0 gone\n+ 0AD 1.0 \"d\"\n";
        let done = applied(FILE, update, false);
        assert_eq!(done.text, "# ours\n0AA 1.0 \"a\"\n0AB 2.0 \"new\" \\\n X4\n\n0AD 1.0 \"d\"\n");
        let changes: Vec<_> = done.changes.iter().map(ToString::to_string).collect();
        assert_eq!(changes, ["0AB 2.0 replaces 2.0", "0AC 1.0 deleted", "0AD 1.0 added"]);
        let undo = "* /etc/trcfmt\n- 0AD\n+ 0AC 1.0 \"c\"\n+ 0AB 2.0 \"b\" \\\n  X2\n";
        assert_eq!(done.undo, undo);
        let back = apply(
            &Source::new("trcfmt", &*done.text),
            &read(&Source::new("u.undo.trc", &*done.undo)).unwrap(),
            true,
        );
        assert_eq!(back.text, FILE);
    }

    #[test]
    fn an_older_version_is_taken_only_when_forced() {
        let update = "+ 0AB 1.9 \"old\"\n";
        let kept = applied(FILE, update, false);
        assert_eq!((kept.text.as_str(), kept.undo.as_str()), (FILE, "* /etc/trcfmt\n"));
        assert!(!kept.changes[0].is_done());
        assert!(applied(FILE, update, true).text.contains("0AB 1.9 \"old\"\n"));
        // 1.10 is later than 1.9.
        assert!(applied("0AA 1.9 \"a\"", "+ 0AA 1.10 \"b\"", false).changes[0].is_done());
    }

    #[test]
    fn templates_of_trace_itself_are_refused() {
        let done = applied(FILE, "+ 001 1.0 \"TRACE ON\"\n- 00A\n- 0FF\n", false);
        assert_eq!(done.text, FILE);
        let expected = [Change::Refused(0x10), Change::Refused(0xA0), Change::Absent(0xFF0)];
        assert_eq!(done.changes, expected);
    }

    #[test]
    fn all_mistakes_are_reported() {
        let update = "* /etc/other\n+ 0AA 1.0 X99\n- zz\n? 0AB\n";
        let findings = read(&Source::new("u.trc", update)).unwrap_err();
        let places: Vec<_> = findings.iter().map(|finding| finding.span.start).collect();
        assert_eq!(places, [0, 23, 29, 32], "{findings:?}");
    }

    #[test]
    fn templates_can_be_taken_out() {
        let (text, absent) = extract(&Source::new("trcfmt", FILE), &[0xAB0, 0x123]);
        assert_eq!(text, "* /etc/trcfmt\n+ 0AB 2.0 \"b\" \\\n  X2\n");
        assert_eq!(absent, [0x123]);
    }
}
