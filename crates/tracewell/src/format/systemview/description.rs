//! Converts description files of SystemView (`SYSVIEW_NAME.txt`) to schema files.
//!
//! | line | meaning |
//! |---|---|
//! | `# …` | a comment |
//! | `Option KEY` | a setting of the host program; without effect here |
//! | `NamedType NAME K=V …` | names for numbers |
//! | `TaskState MASK K=V, …` | names for the causes of TASK_STOP_READY |
//! | `ID NAME PARAMETER …` | an event; see `grammar` |
//!
//! If an id has several lines, the last one applies. `K` can be `*`, which stands for all other
//! numbers; such an entry has no effect.

use std::fmt::Write;

use super::grammar::{self, EventText};

/// Returns true if a text is a description file and not a schema file.
///
/// ```
/// use tracewell::format::systemview::description::is_description;
///
/// assert!(is_description("# FreeRTOS\n\n33 vTaskDelete xTaskToDelete=%t\n"));
/// assert!(!is_description("# mine\nformat = \"systemview\"\n"));
/// ```
pub fn is_description(text: &str) -> bool {
    let lines = text.lines().map(str::trim);
    let first = lines.into_iter().find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| {
        let word = line.split([' ', '\t']).next().unwrap_or_default();
        let is_key = ["Option", "NamedType", "TaskState"].contains(&word);
        is_key || (word.parse::<u32>().is_ok() && word.len() < line.len())
    })
}

/// Returns the schema file that corresponds to a description file. `path` is the name of the schema
/// file in messages.
///
/// ```
/// use tracewell::format::systemview::description::to_schema;
/// use tracewell::model::schema::Extension;
///
/// let schema = to_schema("40 Send len=%u to=%t | Returns %u\n", "SYSVIEW_Net.txt")?;
/// let extension = Extension::parse(&schema, "SYSVIEW_Net.txt").unwrap();
/// assert_eq!(extension.format(), "systemview");
///
/// let error = to_schema("40 Send\nSend 41\n", "SYSVIEW_Net.txt").unwrap_err();
/// assert!(error.starts_with("SYSVIEW_Net.txt:2: expected an event id"));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// Returns a message about the first line that has none of the forms in the table of this module.
pub fn to_schema(text: &str, path: &str) -> Result<String, String> {
    let mut out = "format = \"systemview\"\n".to_owned();
    let mut types: Vec<(String, Vec<(u32, String)>)> = Vec::new();
    let mut events: Vec<(u32, EventText)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let (word, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        match word {
            "" | "Option" => {}
            "NamedType" => {
                let rest = rest.trim_start();
                let (name, values) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
                types.push((type_name(name), numbers(values)));
            }
            "TaskState" => {
                let (_, values) = rest.trim_start().split_once([' ', '\t']).unwrap_or_default();
                types.push(("cause".to_owned(), numbers(values)));
            }
            _ => {
                let event = word.parse().ok().zip(grammar::event(rest));
                events.push(event.ok_or_else(|| {
                    let line = index + 1;
                    format!(
                        "{path}:{line}: expected an event id and a name, NamedType, TaskState or \
                         Option, found '{word}'"
                    )
                })?);
            }
        }
    }
    types.sort_by(|a, b| a.0.cmp(&b.0));
    types.dedup_by(|later, first| {
        let is_same = later.0 == first.0;
        if is_same {
            first.1.append(&mut later.1);
        }
        is_same
    });
    for (name, values) in &types {
        let values: Vec<_> =
            values.iter().map(|(number, name)| format!("[{number}, {}]", quoted(name))).collect();
        // Writing to a String does not fail.
        let _ = write!(out, "\n[enum.{}]\nnames = [{}]\n", quoted(name), values.join(", "));
    }
    for (id, event) in &events {
        let parameters = event.parameters.iter().map(|parameter| {
            let kind = kind(&parameter.conversion, &types);
            quoted(&format!("{}{kind}", parameter.name))
        });
        let args: Vec<_> = parameters.chain([quoted("values: list")]).collect();
        let name = quoted(&event.name);
        let _ = write!(
            out,
            "\n[[event]]\nid = {id}\nname = {name}\nlabel = {name}\nargs = [{}]\n",
            args.join(", ")
        );
    }
    Ok(out)
}

/// Returns the kind of an argument with this conversion, in the form in which it follows the
/// argument's name.
fn kind(conversion: &str, types: &[(String, Vec<(u32, String)>)]) -> String {
    let kind = match conversion {
        "d" | "i" => "signed",
        "x" | "X" | "b" | "B" => "hex",
        "p" => "address",
        "t" | "T" => "task as id",
        "I" => "resource as id",
        "s" => "text",
        "f" | "F" => "float",
        name => {
            let name = type_name(name);
            let is_known = types.iter().any(|(known, _)| *known == name);
            return if is_known { format!(": {name}") } else { String::new() };
        }
    };
    format!(": {kind}")
}

/// Returns a table's name with a prefix that distinguishes it from names of other kinds.
fn type_name(name: &str) -> String {
    format!("type {name}")
}

/// Parses text such as `0=no 1="not yet", 2=yes`.
fn numbers(text: &str) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('=') {
        let number = before.trim_matches([' ', '\t', ',']);
        let (name, next) = match after.strip_prefix('"') {
            Some(after) => after.split_once('"').unwrap_or((after, "")),
            None => {
                let end = after.find([' ', '\t', ',']).unwrap_or(after.len());
                after.split_at(end)
            }
        };
        let number = match number.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => number.parse(),
        };
        found.extend(number.ok().map(|number| (number, name.to_owned())));
        rest = next;
    }
    found
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            // Control characters have no meaning in description files.
            character if character.is_control() => out.push(' '),
            character => out.push(character),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::format::systemview::FORMAT;
    use crate::model::schema::{ArgumentKind, Extension};

    #[test]
    fn description_files_become_schemas() {
        let text = "# of the target\nOption ReversePriority\n\
                    NamedType Bool 0=no 1=\"not yet\" *=%u\n\
                    TaskState 0xBF 1=dummy, 2=\"is waiting\", 0x4=Suspended\n\
                    90   kernel_send to=%t, value=%Bool q=%I text=%s | Returns %d # last\n\
                    90 kernel_Send to=%t value=&Bool other=%Unknown\n";
        let schema = to_schema(text, "SYSVIEW_Mine.txt").unwrap();
        let extension = Arc::new(Extension::parse(&schema, "SYSVIEW_Mine.txt").unwrap());
        let schema = FORMAT.extended((FORMAT.schema)(), &[extension]).unwrap();
        let event = schema.event(90);
        let args: Vec<_> = event.args.iter().map(|arg| (arg.name.as_str(), arg.kind)).collect();
        assert_eq!((event.label.as_str(), args.len()), ("kernel_Send", 4));
        assert_eq!(args[0], ("to", ArgumentKind::Object(Some(1))));
        let ArgumentKind::Enum(table) = args[1].1 else { panic!("{args:?}") };
        assert_eq!(schema.enum_name(table, 1), Some("not yet"));
        assert_eq!(args[2], ("other", ArgumentKind::Unsigned));
        let ArgumentKind::Enum(table) = schema.event(7).args[1].kind else { panic!() };
        assert_eq!(schema.enum_name(table, 2), Some("is waiting"));
        assert_eq!(schema.enum_name(table, 4), Some("Suspended"));
    }
}
