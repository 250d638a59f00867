//! Names of types: each file, block, structure and variant is a scope. An inner scope sees the
//! names that outer ones have declared so far, and may hide them.

use std::collections::HashMap;

use crate::format::ctf::declared::fault::{Fault, fault};
use crate::format::ctf::declared::types::Type;

/// The scopes around a place, the outermost first.
pub(super) struct Scopes {
    scopes: Vec<HashMap<String, Type>>,
}

/// Returns the key of a type's name. The words of a name have spaces in between, so names of
/// structures, which begin with `struct`, do not meet names of aliases.
pub(super) fn key(words: &[&str], stars: usize) -> String {
    let mut key = words.join(" ");
    key.extend(std::iter::repeat_n(" *", stars));
    key
}

impl Scopes {
    /// Creates the scope of the file.
    pub(crate) fn new() -> Self {
        Self { scopes: vec![HashMap::new()] }
    }

    /// Opens a scope.
    pub(crate) fn open(&mut self) {
        self.scopes.push(HashMap::new());
    }

    /// Closes the innermost scope.
    pub(crate) fn close(&mut self) {
        self.scopes.pop();
    }

    /// Declares a name in the innermost scope.
    ///
    /// # Errors
    /// Returns an error at `at` if this scope has the name.
    pub(crate) fn declare(&mut self, at: u32, key: String, class: Type) -> Result<(), Fault> {
        if let Some(scope) = self.scopes.last_mut() {
            if scope.contains_key(&key) {
                let message = format!("expected a new name of a type, found '{key}' again");
                return Err(fault(at, message));
            }
            scope.insert(key, class);
        }
        Ok(())
    }

    /// Returns the type with a name in the innermost scope that has it.
    pub(crate) fn find(&self, key: &str) -> Option<&Type> {
        self.scopes.iter().rev().find_map(|scope| scope.get(key))
    }
}
