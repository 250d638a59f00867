//! Parses a schema file.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;
use toml::Spanned;

use super::file::{Event, Fault, File, Holds, Kind, Roles};
use super::plain::Places;
use super::versions::Versions;
use super::{
    Argument, ArgumentKind, Capacity, Case, Details, EventType, Instrumentation, MAX_CASES, Means,
    ObjectKind, Schema, Table, TableId, Zero, plain, versions,
};
use crate::model::Meaning;

/// Error for a schema file that cannot be used. Contains the line and the column of the fault.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct SchemaError {
    file: String,
    line: usize,
    column: usize,
    message: String,
}

impl Kind {
    pub(super) fn build(&self) -> Result<ObjectKind, Fault> {
        let position = |at: usize, name: &str| {
            let found = self.parameters.iter().position(|parameter| parameter == name);
            found.ok_or_else(|| (at, format!("no parameter named '{name}'")))
        };
        let capacity = self.capacity.as_ref().map(|capacity| {
            let at = capacity.span().start;
            let Holds { bytes, words } = capacity.get_ref();
            let words = words.as_ref().map(|name| position(at, name)).transpose()?;
            Ok(Capacity { bytes: position(at, bytes)?, words })
        });
        let process = self.process.as_ref();
        let process = process.map(|name| position(name.span().start, name.get_ref()));
        Ok(ObjectKind {
            capacity: capacity.transpose()?,
            process: process.transpose()?,
            code: self.code,
            symbol: self.symbol.clone(),
            label: self.label.clone(),
            parameters: self.parameters.clone(),
            keys: self.keys,
            numbered: self.numbered,
        })
    }
}

impl Schema {
    /// Parses a schema. `file` is its name in messages.
    ///
    /// # Errors
    /// Returns an error with the first position at which the text is not valid TOML, a key is
    /// unknown or missing, or a name is undefined.
    pub fn parse(text: &str, file: &str) -> Result<Self, SchemaError> {
        Self::parse_version(text, file, None)
    }

    /// Reads the entries of one version from a schema for several versions. If `version` is `None`,
    /// reads the last version.
    ///
    /// # Errors
    /// Returns the errors of [`Schema::parse`], and an error if the file does not list the version.
    pub fn parse_version(
        text: &str,
        file: &str,
        version: Option<&str>,
    ) -> Result<Self, SchemaError> {
        let parsed = toml::from_str::<File>(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            (start, error.message().to_owned())
        });
        let selected =
            parsed.and_then(|mut file| versions::select(&mut file, version).map(|_| file));
        selected.and_then(build).map_err(|fault| SchemaError::new(file, text, fault))
    }

    /// Returns the kinds of arguments that this schema adds to the built-in kinds, by name.
    pub(super) fn kinds_by_name(&self) -> BTreeMap<String, ArgumentKind> {
        let tables = (0..).map(TableId).zip(&self.tables);
        let tables = tables.map(|(id, table)| {
            let kind =
                if table.is_flags { ArgumentKind::Flags(id) } else { ArgumentKind::Enum(id) };
            (table.name.clone(), kind)
        });
        // Kinds of arguments refer to types of objects by label. Labels and tables share one name
        // space.
        let object = |kind: &ObjectKind| ArgumentKind::Object(Some(kind.code));
        tables.chain(self.kinds.iter().map(|kind| (kind.label.clone(), object(kind)))).collect()
    }
}

impl SchemaError {
    /// Returns an error at an offset of a file's text.
    pub(super) fn new(file: &str, text: &str, (at, message): Fault) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        Self { file: file.to_owned(), line, column, message }
    }
}

/// The text of events that are parsed when they are needed.
#[derive(Clone, Debug)]
pub(super) struct Source {
    text: &'static str,
    versions: Versions,
    /// The names of kinds of arguments in this text.
    kinds: BTreeMap<String, ArgumentKind>,
    /// The result of the first search: the meanings that it looked for, and one value per event.
    /// The value is true if the event contains one of these meanings. The result is kept, because
    /// each trace of a format requires the same search.
    found: OnceLock<(Vec<Meaning>, Arc<[bool]>)>,
}

impl Source {
    pub(super) const fn new(
        text: &'static str,
        versions: Versions,
        kinds: BTreeMap<String, ArgumentKind>,
    ) -> Self {
        Self { text, versions, kinds, found: OnceLock::new() }
    }

    /// Returns one value per range of lines: true if the range contains one of these meanings. In a
    /// text, a meaning is a word in quotes.
    pub(super) fn contain<'l>(
        &self,
        lines: impl Iterator<Item = &'l Range<usize>>,
        meanings: &[Meaning],
    ) -> Arc<[bool]> {
        if let Some((_, found)) = self.found.get().filter(|(known, _)| known == meanings) {
            return Arc::clone(found);
        }
        let words = meanings.iter().filter_map(|of| serde_json::to_string(of).ok());
        let places = Places::of(self.text, &words.collect::<Vec<_>>());
        let found: Arc<[bool]> = lines.map(|lines| places.are_in(lines)).collect();
        // If other meanings are already stored, they stay.
        let _ = self.found.set((meanings.to_vec(), Arc::clone(&found)));
        found
    }

    /// Parses an event.
    ///
    /// # Panics
    /// Panics if the text is invalid: see [`Schema::built_in`].
    pub(super) fn event(&self, lines: &Range<usize>) -> EventType {
        let text = self.text.get(lines.clone()).unwrap_or_default();
        let parse = || {
            let event = plain::section::<Event>(text).ok()?;
            let event = self.versions.event(event).ok()??;
            event_type(*event.id.as_ref()?.get_ref(), event, &self.kinds).ok()
        };
        parse().unwrap_or_else(|| unreachable!("expected a valid event, found:\n{text}"))
    }
}

pub(super) fn build(file: File) -> Result<Schema, Fault> {
    let mut tables = Vec::new();
    let enums = file.enums.into_iter().map(|table| (table, false));
    let flags = file.flags.into_iter().map(|table| (table, true));
    for ((name, table), is_flags) in enums.chain(flags) {
        tables.push(Table::new(name, is_flags, table));
    }
    let kinds: Vec<_> = file.object.iter().map(Kind::build).collect::<Result<_, Fault>>()?;
    let mut schema = Schema {
        entries: Default::default(),
        ranges: Vec::new(),
        unknown: range_type(0, "UNKNOWN".into(), "unknown event".into(), "unknown".into()),
        kinds,
        tables,
        hides: Vec::new(),
        hooks: file.hooks,
        has_call_sites: false,
        by_name: BTreeMap::new(),
        faults: Vec::new(),
    };
    // Add arguments only after all tables and types of objects, because arguments refer to these by
    // name.
    let names = schema.kinds_by_name();
    for range in file.range {
        let name = range.name.into_inner();
        let mut event = range_type(range.first, name, range.label, range.family);
        event.args = arguments(&range.args, &names)?;
        event.means = range.is.map(Means::of);
        schema.ranges.push((range.first..=range.last, event));
    }
    for event in file.event {
        let Some(id) = &event.id else {
            return Err((event.name.span().start, "missing field `id`".to_owned()));
        };
        let (at, id) = (id.span().start, *id.get_ref());
        schema.hides.extend((event.hides != 0).then_some((id, event.hides)));
        if !schema.define(event_type(id, event, &names)?) {
            return Err((at, format!("event {id} is defined twice, or its id is above 65535")));
        }
    }
    Ok(schema)
}

pub(super) fn range_type(id: u32, name: String, label: String, family: String) -> EventType {
    let (args, details) = (Vec::new(), Details::default());
    let instrumentation = Instrumentation::default();
    EventType { id, name, label, family, filter: 0, args, means: None, details, instrumentation }
}

fn event_type(
    id: u32,
    event: Event,
    names: &BTreeMap<String, ArgumentKind>,
) -> Result<EventType, Fault> {
    let mut args = arguments(&event.args, names)?;
    let means = event.means.as_ref().map(|means| roles(means, &args)).transpose()?;
    let details = event.means.as_ref().map(|means| details(means, &args)).transpose()?;
    let mut details = details.unwrap_or_default();
    if let Some(name) = &event.context {
        details.context = Some(position(&args, name.span().start, name.get_ref())?);
    }
    if let Some(zero) = &event.zero {
        let at = zero.span().start;
        let zero = zero.get_ref();
        let argument = position(&args, at, &zero.is)?;
        let of = position(&args, at, &zero.argument)?;
        args[of].zero = Some(Zero { argument, note: zero.note.clone() });
    }
    let Event { name, label, family, filter, .. } = event;
    let name = name.into_inner();
    let instrumentation = Instrumentation::default();
    Ok(EventType { id, name, label, family, filter, args, means, details, instrumentation })
}

/// Parses arguments: `name: kind`, `name` for a number, `_` for a word without a name. The encoding
/// follows ` as `.
pub(super) fn arguments(
    texts: &[Spanned<String>],
    names: &BTreeMap<String, ArgumentKind>,
) -> Result<Vec<Argument>, Fault> {
    let mut seen = HashSet::with_capacity_and_hasher(texts.len(), RandomState::default());
    let mut arguments = Vec::with_capacity(texts.len());
    for (position, text) in texts.iter().enumerate() {
        let typed = typed_argument(text, names)?;
        let name = match typed.name {
            "_" => Cow::Owned(format!("arg{}", position + 1)),
            name => Cow::Borrowed(name),
        };
        if !seen.insert(name.clone()) {
            let message = format!("two arguments have the name '{name}'");
            return Err((text.span().start, message));
        }
        let encoding = typed.encoding.to_owned();
        let (name, kind) = (name.into_owned(), typed.kind());
        arguments.push(Argument { name, kind, encoding, zero: None });
    }
    Ok(arguments)
}

/// The parts of an argument's text.
pub(super) struct TypedArgument<'t> {
    /// The name, or `_`.
    pub(super) name: &'t str,
    /// The kind after the colon, if there is one.
    kind: Option<ArgumentKind>,
    /// The text after ` as `, or nothing.
    pub(super) encoding: &'t str,
}

impl TypedArgument<'_> {
    /// Returns the kind that the text gives, or the usual kind of the encoding.
    pub(super) fn kind(&self) -> ArgumentKind {
        self.given_kind().unwrap_or(match self.encoding {
            "i8" | "i16" | "i32" | "i64" => ArgumentKind::Signed,
            "f32" | "f64" => ArgumentKind::Float,
            encoding if encoding.starts_with("char[") => ArgumentKind::Text,
            _ => ArgumentKind::Unsigned,
        })
    }

    /// Returns the kind that the text gives, or `None` if it gives none.
    pub(super) fn given_kind(&self) -> Option<ArgumentKind> {
        if self.name == "_" { Some(ArgumentKind::Unnamed) } else { self.kind }
    }
}

/// Parses the text of one argument.
pub(super) fn typed_argument<'t>(
    text: &'t Spanned<String>,
    names: &BTreeMap<String, ArgumentKind>,
) -> Result<TypedArgument<'t>, Fault> {
    let (argument, encoding) = split_encoding(text.get_ref());
    let (name, kind) = match argument.split_once(':') {
        None => (argument.trim(), None),
        Some((name, kind)) => (name.trim(), Some(kind.trim())),
    };
    let kind = kind.map(|kind| {
        argument_kind(kind, names).ok_or_else(|| {
            let known: Vec<_> = names.keys().map(String::as_str).collect();
            let known = known.join(", ");
            let message =
                format!("unknown kind '{kind}'; expected a built-in kind or one of {known}");
            (text.span().start, message)
        })
    });
    Ok(TypedArgument { name, kind: kind.transpose()?, encoding: encoding.trim() })
}

/// Splits an argument's text at the first ` as `. Does not use the general string search, because
/// its preparation takes longer than searching a short text.
fn split_encoding(text: &str) -> (&str, &str) {
    let at = text.as_bytes().windows(4).position(|four| four == b" as ");
    let parts = at.and_then(|at| Some((text.get(..at)?, text.get(at + b" as ".len()..)?)));
    parts.unwrap_or((text, ""))
}

fn argument_kind(kind: &str, names: &BTreeMap<String, ArgumentKind>) -> Option<ArgumentKind> {
    Some(match kind {
        "unsigned" => ArgumentKind::Unsigned,
        "signed" => ArgumentKind::Signed,
        "hex" => ArgumentKind::Hex,
        "address" => ArgumentKind::Address,
        "object" => ArgumentKind::Object(None),
        "ipv4" => ArgumentKind::Ipv4,
        "text" => ArgumentKind::Text,
        "bytes" => ArgumentKind::Bytes,
        "list" => ArgumentKind::List,
        "float" => ArgumentKind::Float,
        other => *names.get(other)?,
    })
}

pub(super) fn roles(means: &Spanned<Roles>, args: &[Argument]) -> Result<Means, Fault> {
    let at = means.span().start;
    let role = |role: &Option<String>| optional_position(args, at, role);
    let roles = means.get_ref();
    if roles.cases.len() > MAX_CASES {
        let message = format!("expected at most {MAX_CASES} cases, found {}", roles.cases.len());
        return Err((at, message));
    }
    if roles.value.is_none() && (roles.offset != 0 || !roles.cases.is_empty()) {
        return Err((at, "`offset` and `cases` need a `value`".to_owned()));
    }
    let mut cases = [None; MAX_CASES];
    for (case, text) in cases.iter_mut().zip(&roles.cases) {
        *case = Some(Case { bits: text.bits, meaning: text.is });
    }
    Ok(Means {
        meaning: roles.is,
        subject: role(&roles.subject)?,
        object: role(&roles.object)?,
        next: role(&roles.next)?,
        value: role(&roles.value)?,
        offset: roles.offset,
        cases,
    })
}

pub(super) fn details(means: &Spanned<Roles>, args: &[Argument]) -> Result<Details, Fault> {
    let at = means.span().start;
    let role = |role: &Option<String>| optional_position(args, at, role);
    let roles = means.get_ref();
    Ok(Details {
        context: None,
        state: role(&roles.state)?,
        period: role(&roles.period)?,
        owner: role(&roles.owner)?,
        capacity: role(&roles.capacity)?,
        least_free: role(&roles.least_free)?,
        used: role(&roles.used)?,
        free: role(&roles.free)?,
        holds: role(&roles.holds)?,
        before: roles.before,
        empties: roles.empties,
        waits_in: roles.waits_in.as_ref().map(String::len),
    })
}

fn optional_position(
    args: &[Argument],
    at: usize,
    name: &Option<String>,
) -> Result<Option<usize>, Fault> {
    name.as_ref().map(|name| position(args, at, name)).transpose()
}

pub(super) fn position(args: &[Argument], at: usize, name: &str) -> Result<usize, Fault> {
    let found = args.iter().position(|argument| argument.name == name);
    found.ok_or_else(|| (at, format!("no argument named '{name}'")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Schema::parse(text, "my.toml").unwrap_err().to_string()
    }

    #[test]
    fn an_error_names_file_line_and_column() {
        let event = "[[event]]\nid = 1\nname = \"A\"\nlabel = \"a\"\nfamily = \"f\"\n";
        assert_eq!(
            error(&format!("{event}args = [\"x\", \"y: colour\"]\n")),
            "my.toml:6:14: unknown kind 'colour'; expected a built-in kind or one of "
        );
        assert_eq!(
            error(&format!("{event}args = [\"x\", \"x\"]\n")),
            "my.toml:6:14: two arguments have the name 'x'"
        );
        assert_eq!(
            error(&format!("{event}means = {{ is = \"lock\", object = \"m\" }}\n")),
            "my.toml:6:9: no argument named 'm'"
        );
        assert_eq!(
            error(&format!("{event}{event}")),
            "my.toml:7:6: event 1 is defined twice, or its id is above 65535"
        );
        assert!(
            error("event = 3").starts_with("my.toml:1:9: invalid type"),
            "{}",
            error("event = 3")
        );
    }

    #[test]
    fn ids_without_an_entry_fall_to_their_range_or_are_unknown() {
        let text =
            "[[range]]\nfirst = 10\nlast = 20\nname = \"R\"\nlabel = \"r\"\nfamily = \"f\"\n";
        let schema = Schema::parse(text, "my.toml").unwrap();
        assert_eq!(schema.event(15).name, "R");
        assert_eq!(schema.event(9).name, "UNKNOWN");
        assert_eq!(schema.event(u32::MAX).name, "UNKNOWN");
    }
}
