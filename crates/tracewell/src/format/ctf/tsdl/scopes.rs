//! Names of types. Each file, block, structure and variant is a scope of type names. The names that
//! outer scopes have declared so far are visible in an inner scope, which may hide them.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::format::ctf::declared::fault::{Fault, fault};
use crate::format::ctf::declared::types::Type;

/// The open scopes, the outermost first.
pub(super) struct Scopes {
    scopes: Vec<HashMap<String, Type, RandomState>>,
}

/// Returns the key of a type's name: its words separated by spaces, and its stars. The names of
/// structures begin with the keyword `struct`, so they differ from names of aliases.
pub(super) fn key(words: &[&str], stars: usize) -> String {
    let mut key = words.join(" ");
    key.extend(std::iter::repeat_n(" *", stars));
    key
}

impl Scopes {
    /// Creates the scope of the file.
    pub(crate) fn new() -> Self {
        Self { scopes: vec![HashMap::default()] }
    }

    /// Opens a scope.
    pub(crate) fn open(&mut self) {
        self.scopes.push(HashMap::default());
    }

    /// Closes the innermost scope.
    pub(crate) fn close(&mut self) {
        self.scopes.pop();
    }

    /// Declares a name in the innermost scope.
    ///
    /// # Errors
    /// Returns an error at `at` if the scope already has the name.
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

    /// Returns the type that has this name in the innermost scope that declares the name.
    pub(crate) fn find(&self, key: &str) -> Option<&Type> {
        self.scopes.iter().rev().find_map(|scope| scope.get(key))
    }
}
