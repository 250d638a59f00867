//! Parses descriptions of events, such as `Packet len=%u from=%p | Returns %u`. Modules send such
//! descriptions, and description files contain them.
//!
//! The first word is the name. A parameter consists of a word, `=%`, and a conversion. The parser
//! ignores all other words, and the text after `|`, which describes the returned value.

use crate::model::schema::{Argument, ArgumentKind, Details, EventType, Instrumentation};
use crate::model::unique;
use crate::text::shown;

/// Maximum number of parameters of an event.
const MAX_PARAMETERS: usize = 30;

/// A parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Parameter {
    /// Name in `snake_case`.
    pub(super) name: String,
    /// The text after `%`.
    pub(super) conversion: String,
}

/// The description of an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct EventText {
    pub(super) name: String,
    pub(super) parameters: Vec<Parameter>,
}

/// Parses the description of an event, or returns `None` if it has no name.
pub(super) fn event(text: &str) -> Option<EventText> {
    let text = text.split('|').next().unwrap_or_default();
    let mut words = text.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    let name = words.next()?.to_owned();
    let mut parameters: Vec<Parameter> = Vec::new();
    for (word, conversion) in words.filter_map(|word| word.split_once('=')) {
        // In public description files, some conversions begin with `&` instead of `%`, and some
        // with neither.
        let conversion = conversion.trim_start_matches(['%', '&']);
        let end = conversion.find(|c: char| !c.is_alphanumeric() && c != '_');
        let conversion = conversion.get(..end.unwrap_or(conversion.len())).unwrap_or_default();
        if parameters.len() < MAX_PARAMETERS {
            // `values` is the name for parameters without a description.
            let is_used =
                |name: &str| name == "values" || parameters.iter().any(|p| p.name == name);
            let name = unique(&snake_case(word), is_used);
            parameters.push(Parameter { name, conversion: conversion.to_owned() });
        }
    }
    Some(EventText { name, parameters })
}

fn snake_case(word: &str) -> String {
    let mut name = String::new();
    for character in word.chars() {
        // A capital after a small letter begins a new word, as in `NumBytes`.
        if character.is_ascii_uppercase() && name.ends_with(|c: char| c.is_ascii_lowercase()) {
            name.push('_');
        }
        let known = character.is_ascii_alphanumeric();
        name.push(if known { character.to_ascii_lowercase() } else { '_' });
    }
    // In a user's condition, a name that begins with a digit would be read as a number.
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
        name.insert(0, '_');
    }
    name
}

/// A module's name and its events. Each event has a number relative to the module's first id.
pub(super) fn module(text: &str) -> (String, Vec<(u32, EventText)>) {
    let mut parts: Vec<String> = Vec::new();
    for part in text.split(',') {
        let number = part.trim_start().split([' ', '\t']).next().unwrap_or_default();
        match parts.last_mut() {
            // A comma may also separate parameters.
            Some(last) if number.parse::<u32>().is_err() => {
                last.push(' ');
                last.push_str(part);
            }
            _ => parts.push(part.trim_start().to_owned()),
        }
    }
    let mut name = String::new();
    let mut events = Vec::new();
    for part in parts {
        let (number, rest) = part.split_once([' ', '\t']).unwrap_or((&part, ""));
        match number.parse() {
            Ok(number) => events.extend(event(rest).map(|event| (number, event))),
            Err(_) => part.strip_prefix("M=").unwrap_or(&part).trim().clone_into(&mut name),
        }
    }
    (name, events)
}

impl EventText {
    /// Returns the event type for an event of a module.
    pub(super) fn event_type(&self, id: u32, family: &str) -> EventType {
        let argument = |name: &str, kind, encoding: &str| {
            let (name, encoding) = (name.to_owned(), encoding.to_owned());
            Argument { name, kind, encoding, zero: None }
        };
        let parameters = self.parameters.iter().map(|parameter| {
            let (kind, encoding) = match parameter.conversion.as_str() {
                "d" | "i" => (ArgumentKind::Signed, ""),
                "x" | "X" | "b" | "B" => (ArgumentKind::Hex, ""),
                "p" => (ArgumentKind::Address, ""),
                "t" | "T" => (ArgumentKind::Object(Some(super::TASK)), "id"),
                "I" => (ArgumentKind::Object(Some(super::RESOURCE)), "id"),
                "s" => (ArgumentKind::Text, ""),
                "f" | "F" => (ArgumentKind::Float, ""),
                _ => (ArgumentKind::Unsigned, ""),
            };
            argument(&parameter.name, kind, encoding)
        });
        // The list shows parameters that the description does not mention.
        let values = argument("values", ArgumentKind::List, "");
        let name = shown(self.name.as_bytes()).into_owned();
        EventType {
            id,
            label: name.clone(),
            name,
            family: family.to_owned(),
            filter: 0,
            args: parameters.chain([values]).collect(),
            means: None,
            details: Details::default(),
            instrumentation: Instrumentation::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_list_their_events() {
        let text = "M=Net, 0 Link up=%u, 1 Packet len=%u from=%p, to=%p, 2 Flush";
        let (name, events) = module(text);
        assert_eq!(name, "Net");
        let list: Vec<_> = events
            .iter()
            .map(|(number, event)| {
                let names: Vec<_> = event.parameters.iter().map(|p| p.name.as_str()).collect();
                format!("{number} {} {}", event.name, names.join("+"))
            })
            .collect();
        assert_eq!(list, ["0 Link up", "1 Packet len+from+to", "2 Flush "]);
        // The ESP-IDF of 2018 sends names without `M=`.
        assert_eq!(module("heap module").0, "heap module");
    }

    #[test]
    fn parameters_have_unique_names_and_known_conversions() {
        let parsed = event("xTaskCreate pxTaskCode=%p values=%u a=&Bool a=%Enum msec=%u ms | %d");
        let parsed = parsed.unwrap();
        assert_eq!(parsed.name, "xTaskCreate");
        let list: Vec<_> =
            parsed.parameters.iter().map(|p| format!("{}:{}", p.name, p.conversion)).collect();
        assert_eq!(list, ["px_task_code:p", "values_2:u", "a:Bool", "a_2:Enum", "msec:u"]);
        assert_eq!(event("  "), None);
    }
}
