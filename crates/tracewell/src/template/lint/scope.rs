//! Checks the names in a file: assigned macros, functions, templates.

use std::collections::{HashMap, HashSet};

use crate::source::Finding;
use crate::template::compile::{OBJECT, action, builtin, each_definition};
use crate::template::syntax::{Body, File, Function, Item, ItemKind, Key};
use crate::text::counted;

/// The names that a file defines.
#[derive(Debug, Default)]
pub(super) struct Scope<'a> {
    assigned: HashSet<&'a str>,
    functions: HashMap<&'a str, &'a Function>,
    again: Vec<&'a Function>,
    templates: HashSet<u16>,
}

impl<'a> Scope<'a> {
    pub(super) fn of(file: &'a File) -> Self {
        let mut scope = Self::default();
        for stanza in &file.stanzas {
            if let Key::Id(id) = stanza.key {
                scope.templates.insert(id);
            }
            scope.assignments(&stanza.body);
            each_definition(&stanza.body, &mut |function| {
                // Parameters are also macros. If this function calls other functions, those
                // functions can also use its parameters.
                scope.assigned.extend(function.parameters.iter().map(String::as_str));
                scope.assignments(&function.body);
                if scope.functions.insert(&function.name, function).is_some() {
                    scope.again.push(function);
                }
            });
        }
        scope
    }

    fn assignments(&mut self, items: &'a [Item]) {
        for item in items {
            match &item.kind {
                ItemKind::Assign(assignments) => {
                    self.assigned.extend(assignments.iter().map(|a| a.name.as_str()));
                }
                ItemKind::Loop(_, body) => self.assignments(body),
                ItemKind::Switch(switch) => {
                    for case in &switch.cases {
                        if let Body::Block(items) = &case.body {
                            self.assignments(items);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Warns about functions that are defined more than once.
    pub(super) fn definitions(&self, findings: &mut Vec<Finding>) {
        for function in &self.again {
            let message = format!(
                "{} is already defined above; the last definition is used everywhere",
                function.name
            );
            findings.push(Finding::warning(function.span, message));
        }
    }

    pub(super) fn is_assigned(&self, name: &str) -> bool {
        self.assigned.contains(name)
    }

    /// Returns a warning if a macro without a value is used as a value.
    pub(super) fn value_fault(&self, name: &str) -> Option<String> {
        if self.is_assigned(name) || builtin(name).is_some() {
            return None;
        }
        if action(name).is_some() {
            return Some(format!("${name} is an action and has no value: it is 0 here"));
        }
        if Key::from_digits(name).is_some() {
            return Some(format!(
                "${name} calls template {name} only if it stands alone; here it is 0"
            ));
        }
        Some(format!("${name} is neither built in nor assigned in this file: it is 0"))
    }

    /// Returns a warning if a macro that is printed has no value.
    pub(super) fn print_fault(&self, name: &str) -> Option<String> {
        match Key::from_digits(name) {
            Some(id) if !self.is_assigned(name) && builtin(name).is_none() => {
                let message =
                    || format!("${name} calls template {name}, which is not in this file");
                (!self.templates.contains(&id)).then(message)
            }
            _ if action(name).is_some() => None,
            _ => self.value_fault(name),
        }
    }

    /// Returns a warning if a call does not match the definition of its function.
    pub(super) fn call_fault(&self, name: &str, arguments: usize) -> Option<String> {
        let expected = match self.functions.get(name) {
            Some(function) => function.parameters.len(),
            // A file may define its own OBJECT function, which then hides the built-in function.
            None if name == OBJECT => 1,
            None => return Some(format!("no function {name} is defined in this file")),
        };
        (expected != arguments).then(|| {
            format!("{name} expects {}, found {arguments}", counted(expected as u64, "argument"))
        })
    }
}
