//! What compiles and is probably not meant so.

mod scope;
mod switches;
mod walk;

use std::collections::HashMap;

use super::syntax::{File, Key, Stanza};
use crate::source::Finding;
use scope::Scope;

/// Looks for what is probably wrong in a file that compiles.
pub fn lint(file: &File) -> Vec<Finding> {
    let scope = Scope::of(file);
    let mut findings = Vec::new();
    keys(file, &mut findings);
    scope.definitions(&mut findings);
    for stanza in file.stanzas.iter().filter(|stanza| stanza.valid) {
        walk::Walk::new(&scope, stanza, &mut findings).stanza();
    }
    findings.sort_by_key(|finding| finding.span.start);
    findings
}

/// Ids of AIX trace itself end here.
const FIRST_FREE: u16 = 0x0100;

/// Stanzas for the same event, and for events that are not a user's to format.
fn keys(file: &File, findings: &mut Vec<Finding>) {
    let mut seen: HashMap<&Key, &Stanza> = HashMap::new();
    for stanza in &file.stanzas {
        let Stanza { key, key_span, .. } = stanza;
        if seen.insert(key, stanza).is_some() {
            let message =
                format!("{key} has a template above already; this one, the last, is used");
            findings.push(Finding::warning(*key_span, message));
        }
        // Stanzas without a hook id were told already.
        let reserved = matches!(key, Key::Id(id) if *id < FIRST_FREE && stanza.valid);
        if reserved && !is_stand_in(key) {
            let message = format!("{key} belongs to trace itself; reports rely on its template");
            findings.push(Finding::warning(*key_span, message));
        }
    }
}

/// Templates 001 to 00A, that stand in where an event has none or tell of the trace, are there to be
/// written.
fn is_stand_in(key: &Key) -> bool {
    matches!(key, Key::Id(0x0010..=0x00A0))
}
