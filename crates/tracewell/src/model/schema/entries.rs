//! The entries of a schema for event ids.
//!
//! The schemas of the program have up to 650 entries, but most traces use only a few of them. So
//! the entries of these schemas stay text until they are needed: at first, only their ids are read.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::file::{Event, File};
use super::parse::Source;
use super::{EventType, Schema, parse, plain, versions};
use crate::model::Meaning;

/// Entries in the order of their definitions. Each id has at most one entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    list: Vec<Entry>,
    /// Index in `list`, plus one, by id.
    by_id: Vec<u16>,
    /// The text of the entries that have not been parsed.
    source: Option<Arc<Source>>,
}

#[derive(Clone, Debug)]
struct Entry {
    id: u32,
    /// The lines of the entry in the source; empty if the entry was added in parsed form.
    lines: Range<usize>,
    event: OnceLock<Box<EventType>>,
}

impl Entries {
    /// Returns entries that are parsed from their lines in the source when they are needed.
    pub(super) fn of_source(
        source: Source,
        entries: impl Iterator<Item = (u32, Range<usize>)>,
    ) -> Option<Self> {
        let mut all = Self { source: Some(Arc::new(source)), ..Self::default() };
        for (id, lines) in entries {
            if !all.add(Entry { id, lines, event: OnceLock::new() }) {
                return None;
            }
        }
        Some(all)
    }

    /// Adds an entry. Returns false if the id already has an entry or is above 65535.
    pub(super) fn push(&mut self, event: EventType) -> bool {
        self.add(Entry { id: event.id, lines: 0..0, event: Box::new(event).into() })
    }

    fn add(&mut self, entry: Entry) -> bool {
        let id = entry.id as usize;
        if self.has(entry.id) || id > usize::from(u16::MAX) {
            return false;
        }
        if id >= self.by_id.len() {
            self.by_id.resize(id + 1, 0);
        }
        // The position fits, because there are fewer entries than ids.
        let Ok(position) = u16::try_from(self.list.len() + 1) else { return false };
        self.by_id[id] = position;
        self.list.push(entry);
        true
    }

    /// Replaces the entry that has the same id, if there is one.
    pub(super) fn replace(&mut self, event: EventType) {
        if let Some(known) = self.list.iter_mut().find(|known| known.id == event.id) {
            known.event = Box::new(event).into();
        }
    }

    #[inline]
    fn position(&self, id: u32) -> Option<usize> {
        usize::from(*self.by_id.get(id as usize)?).checked_sub(1)
    }

    /// Returns true if an id has an entry.
    pub(super) fn has(&self, id: u32) -> bool {
        self.position(id).is_some()
    }

    /// Returns the entry of an id.
    #[inline]
    pub(super) fn get(&self, id: u32) -> Option<&EventType> {
        let entry = self.list.get(self.position(id)?)?;
        Some(entry.event.get().map_or_else(|| self.parsed(entry), Box::as_ref))
    }

    /// Returns all entries.
    pub(super) fn iter(
        &self,
    ) -> impl ExactSizeIterator<Item = &EventType> + DoubleEndedIterator + Clone {
        self.list.iter().map(|entry| self.parsed(entry))
    }

    /// Returns the ids of all entries that can have one of these meanings. The result can contain
    /// other ids, because the entries are not parsed.
    pub(super) fn that_may_mean<'s>(
        &'s self,
        meanings: &[Meaning],
    ) -> impl Iterator<Item = u32> + use<'s> {
        let meanings = meanings.to_vec();
        // Entries without text follow the entries of the source.
        let of_source = self.list.iter().map(|entry| &entry.lines).take_while(|it| !it.is_empty());
        let in_text = self.source.as_ref().map(|source| source.contain(of_source, &meanings));
        let may = move |(place, entry): &(usize, &Entry)| match (entry.event.get(), &in_text) {
            (Some(event), _) => {
                event.means.as_ref().is_some_and(|is| meanings.iter().any(|of| is.can_be(*of)))
            }
            (None, Some(in_text)) => in_text.get(*place).is_none_or(|found| *found),
            (None, None) => true,
        };
        self.list.iter().enumerate().filter(may).map(|(_, entry)| entry.id)
    }

    #[cold]
    fn parsed<'e>(&'e self, entry: &'e Entry) -> &'e EventType {
        let parse = || match &self.source {
            Some(source) => Box::new(source.event(&entry.lines)),
            None => unreachable!("an entry without text was added in parsed form"),
        };
        entry.event.get_or_init(parse)
    }
}

/// Parses a schema except for its events, and finds the lines of each event. Returns `None` if the
/// schema has an error, or if it is not in the part of TOML that [`plain`] reads.
pub(super) fn quickly(text: &'static str, version: Option<&str>) -> Option<Schema> {
    let (mut file, sections) = plain::read_without::<File>(text, "event").ok()?;
    let versions = versions::select(&mut file, version).ok()?;
    let mut schema = parse::build(file).ok()?;
    let mut entries = Vec::with_capacity(sections.len());
    for lines in sections {
        let head = plain::head(text.get(lines.clone())?, versions.are_listed()).ok()?;
        if let Some(id) = versions.id(&head).ok()? {
            entries.push((id, lines));
        }
    }
    // The ids of an event differ between versions, so the order in the file may differ, too.
    if versions.are_listed() {
        entries.sort_by_key(|(id, _)| *id);
    }
    // Few events have the key `hides`, so parse only the lines of these events.
    let hiding = plain::Places::of(text, &["hides"]);
    for (id, lines) in entries.iter().filter(|(_, lines)| hiding.are_in(lines)) {
        let hides = plain::section::<Event>(text.get(lines.clone())?).ok()?.hides;
        schema.hides.extend((hides != 0).then_some((*id, hides)));
    }
    let kinds = schema.kinds_by_name();
    schema.entries = Entries::of_source(Source::new(text, versions, kinds), entries.into_iter())?;
    Some(schema)
}
