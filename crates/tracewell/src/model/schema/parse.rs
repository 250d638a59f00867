//! Reading a schema file.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;
use toml::Spanned;

use super::{
    Argument, ArgumentKind, Capacity, Details, EventType, Means, ObjectKind, Schema, Table,
    TableId, Zero,
};
use crate::model::Meaning;

/// A schema file cannot be used; says where and why.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct SchemaError {
    file: String,
    line: usize,
    column: usize,
    message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    object: Vec<Kind>,
    #[serde(default, rename = "enum")]
    enums: BTreeMap<String, Names>,
    #[serde(default)]
    flags: BTreeMap<String, Names>,
    #[serde(default)]
    event: Vec<Event>,
    #[serde(default)]
    range: Vec<Range>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    code: u32,
    symbol: String,
    label: String,
    #[serde(default)]
    parameters: Vec<String>,
    #[serde(default)]
    keys: u64,
    #[serde(default)]
    numbered: bool,
    capacity: Option<Spanned<Holds>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Holds {
    bytes: String,
    words: Option<String>,
}

impl Kind {
    fn build(self) -> Result<ObjectKind, Fault> {
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
        Ok(ObjectKind {
            capacity: capacity.transpose()?,
            code: self.code,
            symbol: self.symbol,
            label: self.label,
            parameters: self.parameters,
            keys: self.keys,
            numbered: self.numbered,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    #[serde(default)]
    unit: String,
    names: Vec<(u64, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    id: Spanned<u32>,
    name: String,
    label: String,
    family: String,
    #[serde(default)]
    filter: u32,
    #[serde(default)]
    hides: u32,
    #[serde(default)]
    args: Vec<Spanned<String>>,
    means: Option<Spanned<Roles>>,
    zero: Option<Spanned<StandsFor>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StandsFor {
    #[serde(rename = "in")]
    argument: String,
    is: String,
    note: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    first: u32,
    last: u32,
    name: String,
    label: String,
    family: String,
    #[serde(default)]
    args: Vec<Spanned<String>>,
    #[serde(default)]
    is: Option<Meaning>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Roles {
    is: Meaning,
    subject: Option<String>,
    object: Option<String>,
    next: Option<String>,
    value: Option<String>,
    state: Option<String>,
    period: Option<String>,
    owner: Option<String>,
    capacity: Option<String>,
    least_free: Option<String>,
    used: Option<String>,
    free: Option<String>,
    #[serde(default)]
    before: bool,
    #[serde(default)]
    empties: bool,
}

/// What is wrong, and where in the text.
type Fault = (usize, String);

impl Schema {
    /// Reads a schema; `file` names it in messages.
    ///
    /// # Errors
    /// At the first place where the text is no TOML, a key is unknown or missing, or a name refers
    /// to nothing.
    pub fn parse(text: &str, file: &str) -> Result<Self, SchemaError> {
        let parsed = toml::from_str::<File>(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            (start, error.message().to_owned())
        });
        parsed.and_then(build).map_err(|(at, message)| {
            let before = text.get(..at).unwrap_or(text);
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
            SchemaError { file: file.to_owned(), line, column, message }
        })
    }
}

fn build(file: File) -> Result<Schema, Fault> {
    let mut names = BTreeMap::new();
    let mut tables = Vec::new();
    let enums = file.enums.into_iter().map(|table| (table, false));
    let flags = file.flags.into_iter().map(|table| (table, true));
    for ((name, table), is_flags) in enums.chain(flags) {
        let id = TableId(u16::try_from(tables.len()).unwrap_or(u16::MAX));
        let kind = if is_flags { ArgumentKind::Flags(id) } else { ArgumentKind::Enum(id) };
        names.insert(name, kind);
        let sorted = table.names.is_sorted_by_key(|(number, _)| *number);
        tables.push(Table { names: table.names, unit: table.unit, sorted });
    }
    let kinds: Vec<_> = file.object.into_iter().map(Kind::build).collect::<Result<_, Fault>>()?;
    names.extend(kinds.iter().map(|k| (k.label.clone(), ArgumentKind::Object(Some(k.code)))));
    let mut schema = Schema {
        events: Vec::new(),
        by_id: Vec::new(),
        ranges: Vec::new(),
        unknown: range_type(0, "UNKNOWN".into(), "unknown event".into(), "unknown".into()),
        kinds,
        tables,
        hides: Vec::new(),
    };
    for range in file.range {
        let mut event = range_type(range.first, range.name, range.label, range.family);
        event.args = arguments(&range.args, &names)?;
        event.means = range.is.map(plain);
        schema.ranges.push((range.first..=range.last, event));
    }
    for event in file.event {
        let at = event.id.span().start;
        let id = *event.id.get_ref();
        schema.hides.extend((event.hides != 0).then_some((id, event.hides)));
        if !schema.define(event_type(event, &names)?) {
            return Err((at, format!("event {id} is defined twice or above 65535")));
        }
    }
    Ok(schema)
}

fn range_type(id: u32, name: String, label: String, family: String) -> EventType {
    let (args, details) = (Vec::new(), Details::default());
    EventType { id, name, label, family, filter: 0, args, means: None, details }
}

fn plain(meaning: Meaning) -> Means {
    Means { meaning, subject: None, object: None, next: None, value: None }
}

fn event_type(event: Event, names: &BTreeMap<String, ArgumentKind>) -> Result<EventType, Fault> {
    let mut args = arguments(&event.args, names)?;
    let means = event.means.as_ref().map(|means| roles(means, &args)).transpose()?;
    let details = event.means.as_ref().map(|means| details(means, &args)).transpose()?;
    let details = details.unwrap_or_default();
    if let Some(zero) = &event.zero {
        let at = zero.span().start;
        let zero = zero.get_ref();
        let argument = position(&args, at, &zero.is)?;
        let of = position(&args, at, &zero.argument)?;
        args[of].zero = Some(Zero { argument, note: zero.note.clone() });
    }
    let Event { name, label, family, filter, .. } = event;
    Ok(EventType { id: event.id.into_inner(), name, label, family, filter, args, means, details })
}

/// Arguments from `name: kind`, `name` for a number, `_` for a word without a name; ` as ` and
/// what follows it are the encoding.
fn arguments(
    texts: &[Spanned<String>],
    names: &BTreeMap<String, ArgumentKind>,
) -> Result<Vec<Argument>, Fault> {
    let mut seen = HashSet::new();
    let mut arguments = Vec::new();
    for (position, text) in texts.iter().enumerate() {
        let at = text.span().start;
        let (argument, encoding) =
            text.get_ref().split_once(" as ").unwrap_or((text.get_ref(), ""));
        let (name, kind) = match argument.split_once(':') {
            None => (argument.trim(), None),
            Some((name, kind)) => (name.trim(), Some(kind.trim())),
        };
        let kind = match (name, kind) {
            ("_", None) => ArgumentKind::Unnamed,
            (_, None) => ArgumentKind::Unsigned,
            (_, Some(kind)) => argument_kind(kind, names).ok_or_else(|| {
                let known: Vec<_> = names.keys().map(String::as_str).collect();
                (
                    at,
                    format!(
                        "no kind '{kind}'; beside the built-in ones there are {}",
                        known.join(", ")
                    ),
                )
            })?,
        };
        let name = if name == "_" { format!("arg{}", position + 1) } else { name.to_owned() };
        if !seen.insert(name.clone()) {
            return Err((at, format!("two arguments are called '{name}'")));
        }
        arguments.push(Argument { name, kind, encoding: encoding.trim().to_owned(), zero: None });
    }
    Ok(arguments)
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
        other => *names.get(other)?,
    })
}

fn roles(means: &Spanned<Roles>, args: &[Argument]) -> Result<Means, Fault> {
    let at = means.span().start;
    let role = |role: &Option<String>| optional_position(args, at, role);
    let roles = means.get_ref();
    Ok(Means {
        meaning: roles.is,
        subject: role(&roles.subject)?,
        object: role(&roles.object)?,
        next: role(&roles.next)?,
        value: role(&roles.value)?,
    })
}

fn details(means: &Spanned<Roles>, args: &[Argument]) -> Result<Details, Fault> {
    let at = means.span().start;
    let role = |role: &Option<String>| optional_position(args, at, role);
    let roles = means.get_ref();
    Ok(Details {
        state: role(&roles.state)?,
        period: role(&roles.period)?,
        owner: role(&roles.owner)?,
        capacity: role(&roles.capacity)?,
        least_free: role(&roles.least_free)?,
        used: role(&roles.used)?,
        free: role(&roles.free)?,
        before: roles.before,
        empties: roles.empties,
    })
}

fn optional_position(
    args: &[Argument],
    at: usize,
    name: &Option<String>,
) -> Result<Option<usize>, Fault> {
    name.as_ref().map(|name| position(args, at, name)).transpose()
}

fn position(args: &[Argument], at: usize, name: &str) -> Result<usize, Fault> {
    let found = args.iter().position(|argument| argument.name == name);
    found.ok_or_else(|| (at, format!("no argument is called '{name}'")))
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
            "my.toml:6:14: no kind 'colour'; beside the built-in ones there are "
        );
        assert_eq!(
            error(&format!("{event}args = [\"x\", \"x\"]\n")),
            "my.toml:6:14: two arguments are called 'x'"
        );
        assert_eq!(
            error(&format!("{event}means = {{ is = \"lock\", object = \"m\" }}\n")),
            "my.toml:6:9: no argument is called 'm'"
        );
        assert_eq!(
            error(&format!("{event}{event}")),
            "my.toml:7:6: event 1 is defined twice or above 65535"
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
