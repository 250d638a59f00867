//! Schema files of users, which add to the schema of a dialect and override it.
//!
//! The keys are the same as in the schemas in `schemas/`, plus the key `format`. An event needs an
//! id or a name. If a key is missing, the event keeps the value from the dialect's schema for this
//! id.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use toml::Spanned;

use super::file::{Fault, Kind, Names, UserEvent, UserFile};
use super::parse::{arguments, details, position, range_type, roles, typed_argument};
use super::{Argument, ArgumentKind, Details, EventType, Means, Schema, SchemaError, Table, Zero};
use crate::model::values::MAX_SLOTS;
use crate::model::{did_you_mean, folded, nearest};

/// The rules of a dialect for the schema files of users.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// True if the trace itself defines the names of events and assigns ids to them.
    pub names_events: bool,
    /// True if an entry for an event that the trace defines refers to recorded arguments by name.
    /// Otherwise the entry renames the recorded arguments, in order.
    pub names_arguments: bool,
    /// True if a table such as `[enum.signal]` can name numbered objects. The name of the table is
    /// the type of the objects.
    pub names_objects: bool,
    /// Returns a message if the dialect has no such encoding of arguments, or if arguments with
    /// this encoding cannot have this kind. The text of the encoding is empty if the argument has
    /// no encoding.
    pub check_encoding: fn(&str, ArgumentKind) -> Result<(), String>,
    /// Checks an argument without an encoding, in an event that is named by the trace. Returns a
    /// message if the argument needs an encoding. The number is the argument's index among the
    /// arguments without an encoding. The kind is `None` if the file does not specify it.
    pub check_unencoded: fn(usize, Option<ArgumentKind>) -> Result<(), String>,
}

impl Rules {
    /// The rules of a dialect whose event ids are fixed and whose arguments are words.
    pub const WORDS: Self = Self {
        names_events: false,
        names_arguments: false,
        names_objects: false,
        check_encoding: no_encoding,
        check_unencoded: |_, _| Ok(()),
    };
}

fn no_encoding(encoding: &str, _: ArgumentKind) -> Result<(), String> {
    if encoding.is_empty() {
        return Ok(());
    }
    Err(format!("arguments of this format are words; expected no encoding, found 'as {encoding}'"))
}

/// A schema file of a user.
///
/// ```
/// use std::sync::Arc;
///
/// use tracewell::model::schema::{Extension, Rules, Schema};
///
/// let text = r#"
///     format = "threadx"
///     [[event]]
///     id = 4096
///     label = "frame sent"
///     args = ["length", "port: hex"]
/// "#;
/// let extension = Arc::new(Extension::parse(text, "app.toml")?);
/// let mut schema = Schema::clone(&tracewell::format::threadx::schema());
/// schema.extend(&extension, Rules::WORDS)?;
/// assert_eq!(schema.event(4096).label, "frame sent");
/// assert_eq!(schema.event(4096).args[0].name, "length");
/// // The family is still that of all user events of ThreadX.
/// assert_eq!(schema.event(4096).family, "user");
///
/// let error = Extension::parse("format = \"threadx\"\nevnt = []\n", "app.toml").unwrap_err();
/// let expected = "app.toml:2:1: unknown key 'evnt'; did you mean 'event'?";
/// assert!(error.to_string().starts_with(expected));
/// # Ok::<(), tracewell::model::schema::SchemaError>(())
/// ```
#[derive(Debug)]
pub struct Extension {
    path: String,
    text: String,
    file: UserFile,
}

/// The position of an event in an extension.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    extension: Arc<Extension>,
    index: usize,
    /// True if the entry refers to recorded arguments by name.
    names_arguments: bool,
}

impl Extension {
    /// Parses a schema file. `path` is its name in messages.
    ///
    /// # Errors
    /// Returns an error with the first position at which the text is not valid TOML, a key is
    /// unknown or missing, or an event has neither an id nor a name.
    pub fn parse(text: &str, path: &str) -> Result<Self, SchemaError> {
        let file = toml_file::<UserFile>(text);
        let file = file.map_err(|fault| SchemaError::new(path, text, fault))?;
        let extension = Self { path: path.to_owned(), text: text.to_owned(), file };
        for event in &extension.file.event {
            let UserEvent { id, name, .. } = event.get_ref();
            if id.is_none() && name.is_none() {
                let message = "expected a key `id` or `name`, found neither".to_owned();
                return Err(extension.error((event.span().start, message)));
            }
        }
        Ok(extension)
    }

    /// Returns the path of the file, for messages.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the name of the format for which the file is written.
    pub fn format(&self) -> &str {
        self.file.format.get_ref()
    }

    /// Returns an error about the name of the format.
    pub fn format_error(&self, message: String) -> SchemaError {
        self.error((self.file.format.span().start, message))
    }

    /// Returns the events of this file whose ids did not occur in the trace. Each event is returned
    /// as text with its id or name.
    pub fn unseen(&self, schema: &Schema, seen: impl Fn(u32) -> bool) -> Vec<String> {
        let named = |name: &str| -> Vec<u32> {
            let is = |event: &&EventType| event.is_named(name);
            schema.events().filter(is).map(|event| event.id).collect()
        };
        let entries = self.file.event.iter().map(Spanned::get_ref);
        let unseen = entries.filter_map(|event| {
            let name = event.name.as_ref().map(Spanned::get_ref);
            let Some(id) = event.id.as_ref().map(|id| *id.get_ref()) else {
                let name = name?;
                let is_seen = named(name).into_iter().any(&seen);
                return (!is_seen).then(|| name.clone());
            };
            // The ids of a second dialect in the same trace are shifted, but the names of its
            // events stay the same.
            let of_same_name = || named(&schema.event(id).name).into_iter().any(&seen);
            let is_seen = seen(id) || (schema.defines(id) && of_same_name());
            let label = event.label.as_ref().or(name);
            let label = label.map_or(String::new(), |label| format!(" ({label})"));
            (!is_seen).then(|| format!("{id}{label}"))
        });
        unseen.collect()
    }

    fn error(&self, fault: Fault) -> SchemaError {
        SchemaError::new(&self.path, &self.text, fault)
    }
}

impl EventType {
    /// Returns true if this is the name of the event, or its family and name, such as `net/sent`.
    fn is_named(&self, name: &str) -> bool {
        let rest = name.strip_prefix(self.family.as_str()).and_then(|rest| rest.strip_prefix('/'));
        name == self.name || rest == Some(self.name.as_str())
    }
}

impl Schema {
    /// Adds the entries of a user's file to this schema. Entries of the file replace entries of the
    /// schema.
    ///
    /// # Errors
    /// Returns an error with the position of an entry that does not fit this schema, for example
    /// because it names an unknown event, kind or argument.
    pub fn extend(&mut self, extension: &Arc<Extension>, rules: Rules) -> Result<(), SchemaError> {
        self.add_entries(extension, rules).map_err(|fault| extension.error(fault))
    }

    /// Stores the error for a user's file that does not fit this schema.
    pub(crate) fn add_fault(&mut self, error: SchemaError) {
        self.faults.push(error);
    }

    /// Returns the errors in users' files that were found while the trace was read.
    pub fn faults(&self) -> &[SchemaError] {
        &self.faults
    }

    fn add_entries(&mut self, extension: &Arc<Extension>, rules: Rules) -> Result<(), Fault> {
        let file = &extension.file;
        for kind in &file.object {
            self.replace_kind(kind)?;
        }
        let enums = file.enums.iter().map(|table| (table, false));
        let flags = file.flags.iter().map(|table| (table, true));
        for ((name, table), is_flags) in enums.chain(flags) {
            self.extend_table(name, table, is_flags);
        }
        let names = self.kinds_by_name();
        for (index, range) in file.range.iter().enumerate() {
            let range = range.get_ref();
            let name = range.name.get_ref().clone();
            let family = range.family.clone();
            let mut event = range_type(range.first, name, range.label.clone(), family);
            event.args = arguments(&range.args, &names)?;
            check_encodings(&event.args, range.name.span().start, rules)?;
            event.means = range.is.map(Means::of);
            // If several ranges contain an id, the first of them applies.
            self.ranges.insert(index, (range.first..=range.last, event));
        }
        for (index, event) in file.event.iter().enumerate() {
            self.add_entry(extension, index, event.get_ref(), rules)?;
        }
        Ok(())
    }

    /// Checks that at least one argument uses each table of `of`, because the names of an unused
    /// table would never appear. Add this file to the schema first. An argument in any of the
    /// `files` can use the table.
    ///
    /// # Errors
    /// Returns an error with the position of the first unused table.
    pub(crate) fn check_tables<'e>(
        &self,
        of: &Extension,
        files: impl Iterator<Item = &'e Arc<Extension>> + Clone,
        rules: Rules,
    ) -> Result<(), SchemaError> {
        let kinds = self.kinds_by_name();
        // The trace may define the events of some entries later, and some files may not have been
        // added yet, so look at the entries as well.
        let ranges = files.clone().flat_map(|file| &file.file.range);
        let of_ranges = ranges.flat_map(|range| &range.get_ref().args);
        let entries = files.flat_map(|file| &file.file.event);
        let texts =
            entries.flat_map(|event| event.get_ref().args.iter().flatten()).chain(of_ranges);
        let of_entries = texts.filter_map(|text| typed_argument(text, &kinds).ok()?.given_kind());
        let events = self.events().chain(self.ranges());
        let of_events = events.flat_map(|event| &event.args).map(|argument| argument.kind);
        let used: Vec<ArgumentKind> = of_entries.chain(of_events).collect();
        let UserFile { enums, flags, .. } = &of.file;
        for (word, name) in
            enums.keys().map(|name| ("enum", name)).chain(flags.keys().map(|name| ("flags", name)))
        {
            let is_numbered = |code: &u32| self.object_kind(*code).is_some_and(|k| k.numbered);
            let message = match kinds.get(name) {
                Some(ArgumentKind::Object(Some(code)))
                    if rules.names_objects && word == "enum" && is_numbered(code) =>
                {
                    continue;
                }
                Some(ArgumentKind::Object(_)) => format!(
                    "'{name}' is a type of objects that the trace names; choose another name"
                ),
                Some(kind) if used.contains(kind) => continue,
                _ => format!(
                    "no argument uses the table '{name}'; \
                     write its name as a kind, as in \"value: {name}\""
                ),
            };
            let at = of.text.find(&format!("[{word}.{name}"));
            return Err(of.error((at.unwrap_or(0), message)));
        }
        Ok(())
    }

    fn add_entry(
        &mut self,
        extension: &Arc<Extension>,
        index: usize,
        event: &UserEvent,
        rules: Rules,
    ) -> Result<(), Fault> {
        if let Some(id) = &event.id {
            return self.replace(*id.get_ref(), id.span().start, event, rules);
        }
        let Some(name) = &event.name else { return Ok(()) };
        let wanted = folded(name.get_ref());
        let is = |known: &&EventType| {
            // Labels are short forms of names, such as `SM DCH` for `RKH_TE_SM_DCH`.
            let has_label = !rules.names_events && folded(&known.label) == wanted;
            known.is_named(name.get_ref()) || has_label
        };
        let known: Vec<_> = self.events().filter(is).map(|known| known.id).collect();
        if known.is_empty() && !rules.names_events {
            let names = self.events().map(|event| event.name.as_str());
            let meant = did_you_mean(nearest(name.get_ref(), names));
            let message = format!(
                "no event named '{}'{meant}; an event that is not in the schema needs an `id`",
                name.get_ref()
            );
            return Err((name.span().start, message));
        }
        if known.is_empty() {
            // The trace will define the event later, so for now check only what does not depend on
            // the event itself.
            let kinds = self.kinds_by_name();
            let mut unencoded = 0;
            for text in event.args.iter().flatten() {
                let argument = typed_argument(text, &kinds)?;
                let checked = match argument.encoding {
                    "" => (rules.check_unencoded)(unencoded, argument.given_kind()),
                    encoding => (rules.check_encoding)(encoding, argument.kind()),
                };
                unencoded += usize::from(argument.encoding.is_empty());
                checked.map_err(|message| (text.span().start, message))?;
            }
            let names_arguments = rules.names_arguments;
            let entry = Entry { extension: extension.clone(), index, names_arguments };
            self.by_name.entry(name.get_ref().clone()).or_default().push(entry);
            return Ok(());
        }
        known.into_iter().try_for_each(|id| self.replace(id, name.span().start, event, rules))
    }

    /// Changes the entry of an id: the keys in `event` replace the keys of the entry. If the id has
    /// no entry of its own, adds one, based on the entry that applied to the id before.
    fn replace(
        &mut self,
        id: u32,
        at: usize,
        event: &UserEvent,
        rules: Rules,
    ) -> Result<(), Fault> {
        let mut base = self.event(id).clone();
        base.id = id;
        if !self.defines(id) && event.name.is_none() && event.label.is_none() {
            return Err((at, format!("event {id} is new; expected a `name` or a `label`")));
        }
        if base.family == "unknown" {
            base.family = "user".to_owned();
        }
        if !self.defines(id) {
            // The name and the label of a range belong to all its ids.
            let name = event.name.as_ref().map(|name| name.get_ref());
            let either = name.or(event.label.as_ref()).cloned().unwrap_or_default();
            (base.name, base.label) = (either.clone(), either);
        }
        let replaced = self.merged(base, event, Given::All)?;
        check_encodings(&replaced.args, at, rules)?;
        if self.defines(id) {
            self.entries.replace(replaced);
            return Ok(());
        }
        match self.define(replaced) {
            true => Ok(()),
            false => Err((at, format!("expected an id up to 65535, found {id}"))),
        }
    }

    /// Applies users' entries to an event that the trace defines, and returns the event. The
    /// event's name selects the entries.
    pub(super) fn extended_by_name(&mut self, event: EventType) -> EventType {
        let qualified = format!("{}/{}", event.family, event.name);
        // The entry with the family is more specific, so it applies last.
        let entries = [&event.name, &qualified].map(|name| self.by_name.get(name).cloned());
        let mut event = event;
        for entry in entries.into_iter().flatten().flatten() {
            let Some(user) = entry.extension.file.event.get(entry.index) else { continue };
            let given = if entry.names_arguments { Given::Named } else { Given::First };
            match self.merged(event.clone(), user.get_ref(), given) {
                Ok(merged) => event = merged,
                Err(fault) => self.faults.push(entry.extension.error(fault)),
            }
        }
        event
    }

    /// Returns an event. If a built-in file has an entry for the event's name, first applies this
    /// entry. The recorded event may lack some of the arguments in the entry. In the file, a name
    /// that ends with `*` stands for all names that begin like this and have no entry of their own.
    pub(crate) fn described(&self, event: EventType) -> EventType {
        let is_prefix = |name: &str| {
            name.strip_suffix('*').is_some_and(|prefix| event.name.starts_with(prefix))
        };
        let own = self.by_name.get(&event.name);
        let of_prefix = || self.by_name.iter().rfind(|(name, _)| is_prefix(name));
        let entries = own.or_else(|| of_prefix().map(|(_, entries)| entries));
        let name = event.name.clone();
        let described = entries.into_iter().flatten();
        let described = described.fold(event, |event, entry| {
            let Some(known) = entry.extension.file.event.get(entry.index) else { return event };
            let has = |name: &str| event.args.iter().any(|argument| argument.name == name);
            let mut known = known.get_ref().clone();
            if let Some(texts) = &mut known.args {
                texts.retain(|text| has(text.get_ref().split(':').next().unwrap_or("").trim()));
            }
            if let Some(means) = &mut known.means {
                means.get_mut().keep(has);
            }
            match self.merged(event.clone(), &known, Given::Named) {
                Ok(merged) => merged,
                // The file is part of this program, and a test parses it.
                Err(_) => event,
            }
        });
        EventType { name, ..described }
    }

    /// Returns `base`, changed by the keys that `event` gives.
    fn merged(&self, base: EventType, event: &UserEvent, given: Given) -> Result<EventType, Fault> {
        let mut merged = base;
        // A name that differs only in its case, or that is the label, does not rename the event.
        if let Some(name) = &event.name
            && !merged.is_named(name.get_ref())
            && folded(&merged.label) != folded(name.get_ref())
        {
            merged.name = name.get_ref().clone();
        }
        if let Some(label) = &event.label {
            merged.label = label.clone();
        }
        if let Some(family) = &event.family {
            merged.family = family.clone();
        }
        merged.filter = event.filter.unwrap_or(merged.filter);
        // The list of arguments stays as it is. The entry only changes kinds.
        if let (Some(texts), Given::Named) = (&event.args, given) {
            let kinds = self.kinds_by_name();
            for text in texts {
                let typed = typed_argument(text, &kinds)?;
                let index = position(&merged.args, text.span().start, typed.name)?;
                let argument = &mut merged.args[index];
                argument.kind = typed.given_kind().unwrap_or(argument.kind);
            }
        } else if let Some(texts) = &event.args {
            let kinds = self.kinds_by_name();
            let mut args = arguments(texts, &kinds)?;
            if given == Given::First {
                let typed = texts.iter().map(|text| typed_argument(text, &kinds));
                let typed = typed.map(|typed| typed.map(|typed| typed.given_kind()));
                complete(&mut args, typed.collect::<Result<_, Fault>>()?, &merged.args);
            }
            if args.len() > MAX_SLOTS {
                let at = texts.first().map_or(0, |text| text.span().start);
                let found = args.len();
                let message = format!("expected at most {MAX_SLOTS} arguments, found {found}");
                return Err((at, message));
            }
            merged.args = args;
            // Roles are indices of arguments, so they do not apply to the new list.
            forget_roles(&mut merged);
        }
        let args = &mut merged.args;
        if let Some(means) = &event.means {
            merged.means = Some(roles(means, args)?);
            // `means` replaces all details except the context, which has a key of its own.
            let context = merged.details.context;
            merged.details = Details { context, ..details(means, args)? };
        }
        if let Some(name) = &event.context {
            let argument = position(args, name.span().start, name.get_ref())?;
            merged.details.context = Some(argument);
        }
        if let Some(zero) = &event.zero {
            let (at, zero) = (zero.span().start, zero.get_ref());
            let argument = position(args, at, &zero.is)?;
            let of = position(args, at, &zero.argument)?;
            args[of].zero = Some(Zero { argument, note: zero.note.clone() });
        }
        Ok(merged)
    }

    fn replace_kind(&mut self, kind: &Kind) -> Result<(), Fault> {
        let kind = kind.build()?;
        match self.kinds.iter_mut().find(|known| known.code == kind.code) {
            Some(known) => *known = kind,
            None => self.kinds.push(kind),
        }
        Ok(())
    }

    fn extend_table(&mut self, name: &str, table: &Names, is_flags: bool) {
        let same = |known: &&mut Table| known.name == name && known.is_flags == is_flags;
        let Some(known) = self.tables.iter_mut().find(same) else {
            self.tables.push(Table::new(name.to_owned(), is_flags, table.clone()));
            return;
        };
        known.add_names(table.names.iter().cloned());
        if !table.unit.is_empty() {
            known.unit = table.unit.clone();
        }
    }
}

/// The relation between the arguments of an entry and the arguments of the event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    /// The entry lists all arguments.
    All,
    /// The entry lists the first arguments. If it gives no kind for an argument, the argument keeps
    /// the kind it had.
    First,
    /// The entry refers to some recorded arguments by name. If it gives no kind for an argument,
    /// the argument keeps the kind it had.
    Named,
}

/// Completes the arguments that a user gives to an event of a program. `kinds` contains, for each
/// argument in `args`, the kind that the schema file gives. An argument with an encoding is a part
/// of the data that the program recorded. These arguments precede the program's arguments. The
/// other arguments replace the program's arguments, in order. If the file gives no kind, the
/// argument keeps the kind it had.
fn complete(args: &mut Vec<Argument>, kinds: Vec<Option<ArgumentKind>>, recorded: &[Argument]) {
    let is_part = |argument: &Argument| !argument.encoding.is_empty();
    let renamed = args.iter_mut().zip(kinds).filter(|(argument, _)| !is_part(argument));
    let mut count = 0;
    for ((argument, kind), old) in renamed.zip(recorded) {
        argument.kind = kind.unwrap_or(old.kind);
        count += 1;
    }
    args.sort_by_key(|argument| !is_part(argument));
    for old in recorded.iter().skip(count) {
        let mut old = old.clone();
        // The names of an event's arguments must differ.
        while args.iter().any(|argument| argument.name == old.name) {
            old.name.push('_');
        }
        args.push(old);
    }
}

/// Removes the roles of arguments that an event no longer has. The other roles keep their argument
/// indices, because the arguments keep their positions in records.
fn forget_roles(event: &mut EventType) {
    let count = event.args.len();
    let drop = |role: &mut Option<usize>| _ = role.take_if(|index| *index >= count);
    if let Some(Means { subject, object, next, value, .. }) = &mut event.means {
        [subject, object, next, value].into_iter().for_each(drop);
    }
    let Details { context, state, period, owner, capacity, least_free, used, free, holds, .. } =
        &mut event.details;
    let roles = [context, state, period, owner, capacity, least_free, used, free, holds];
    roles.into_iter().for_each(drop);
}

fn check_encodings(args: &[Argument], at: usize, rules: Rules) -> Result<(), Fault> {
    let check = |argument: &Argument| {
        (rules.check_encoding)(&argument.encoding, argument.kind)
            .map_err(|message| (at, format!("argument '{}': {message}", argument.name)))
    };
    args.iter().try_for_each(check)
}

/// Parses a file. The message about an unknown key suggests the most similar one.
fn toml_file<F: DeserializeOwned>(text: &str) -> Result<F, Fault> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        (at, suggested(error.message()).unwrap_or_else(|| error.message().to_owned()))
    })
}

/// Adds a suggestion to serde's message about an unknown word. This message lists the known words:
/// "unknown field `lable`, expected one of `id`, `label`".
fn suggested(message: &str) -> Option<String> {
    let (what, rest) = match message.strip_prefix("unknown field ") {
        Some(rest) => ("key", rest),
        None => ("word", message.strip_prefix("unknown variant ")?),
    };
    // The words are between backquotes, so every second part of the message is a word.
    let words: Vec<_> = rest.split('`').skip(1).step_by(2).collect();
    let (unknown, known) = words.split_first()?;
    let meant = did_you_mean(nearest(unknown, known.iter().copied()));
    Some(format!("unknown {what} '{unknown}'{meant}; expected one of {}", known.join(", ")))
}
