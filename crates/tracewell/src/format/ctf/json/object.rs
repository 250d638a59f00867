//! JSON objects whose properties are checked.

use std::collections::HashSet;

use super::value::{Kind, Value};
use crate::format::ctf::declared::fault::{Fault, Log, fault};

/// An object.
#[derive(Clone, Copy)]
pub(super) struct Object<'v> {
    /// Offset in the metadata.
    pub(super) at: u32,
    properties: &'v [(String, Value)],
}

/// Properties that any object may have if it describes a part of a trace.
const COMMON: [&str; 4] = ["type", "attributes", "extensions", "user-attributes"];

/// Properties that exist only in the draft of CTF 2.
const DRAFT: [&str; 2] = ["user-attributes", "default-clock-class-name"];

impl<'v> Object<'v> {
    /// Returns a value as an object without repeated properties.
    ///
    /// # Errors
    /// Returns an error if the value is not an object, or if a property occurs twice.
    pub(super) fn of(value: &'v Value) -> Result<Self, Fault> {
        let Kind::Object(properties) = &value.kind else { return Err(value.expected("an object")) };
        let mut names = HashSet::new();
        for (name, value) in properties {
            if !names.insert(&**name) {
                let message = format!("expected each property once, found '{name}' again");
                return Err(fault(value.at, message));
            }
        }
        Ok(Self { at: value.at, properties })
    }

    /// Returns a value as an object that describes a part of a trace. Warns about each property
    /// that is neither in one of the lists `known` nor common to all objects.
    ///
    /// # Errors
    /// Returns an error if the value is not an object, or has wrong attributes or any extension.
    pub(super) fn part(value: &'v Value, known: &[&[&str]], log: &mut Log) -> Result<Self, Fault> {
        let object = Self::of(value)?;
        object.warn_unknown(known, log);
        for name in ["attributes", "user-attributes"] {
            object.get(name).map(Self::of).transpose()?;
        }
        if let Some(value) = DRAFT.iter().find_map(|name| object.get(name)) {
            log.warn_draft(value.at);
        }
        let extensions = object.get("extensions").map(Self::of).transpose()?;
        if let Some((name, value)) = extensions.and_then(|object| object.properties.first()) {
            let message = format!("expected no extension, found '{name}', which is unknown");
            return Err(fault(value.at, message));
        }
        Ok(object)
    }

    /// Adds a warning for each property that is in none of the lists.
    pub(super) fn warn_unknown(&self, known: &[&[&str]], log: &mut Log) {
        for (name, value) in self.properties {
            let is_known = known.iter().any(|names| names.contains(&&**name));
            if !is_known && !COMMON.contains(&&**name) {
                log.warn(value.at, || format!("unknown property '{name}', ignored"));
            }
        }
    }

    /// Returns all properties, in the order of the text.
    pub(super) fn properties(&self) -> &'v [(String, Value)] {
        self.properties
    }

    /// Returns a property, or `None` if the object lacks it.
    pub(super) fn get(&self, name: &str) -> Option<&'v Value> {
        self.properties.iter().find(|(property, _)| property == name).map(|(_, value)| value)
    }

    /// Returns a property that must exist.
    pub(super) fn need(&self, name: &str) -> Result<&'v Value, Fault> {
        self.get(name)
            .ok_or_else(|| fault(self.at, format!("expected the property '{name}', found none")))
    }

    /// Returns a string, if it exists.
    pub(super) fn text(&self, name: &str) -> Result<Option<&'v str>, Fault> {
        self.get(name).map(Value::text).transpose()
    }

    /// Returns an unsigned number, or the default.
    pub(super) fn unsigned_or(&self, name: &str, default: u64) -> Result<u64, Fault> {
        self.get(name).map_or(Ok(default), Value::unsigned)
    }
}
