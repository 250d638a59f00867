//! What compiles and is probably not meant so.

mod scope;
mod switches;
mod walk;

use std::collections::HashMap;

use super::syntax::{File, Key, Stanza};
use crate::source::Finding;
use scope::Scope;

/// Whose events templates are for: the ids of AIX's have rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum System {
    /// Hooks of AIX.
    Aix,
    /// Events of any other system.
    Other,
}

impl System {
    /// What a file looks like: ids of three digits are AIX's, and AIX has no names. A file with neither is
    /// taken for AIX's.
    pub fn of(file: &File) -> Self {
        let keys = || file.stanzas.iter().map(|stanza| (&stanza.key, &stanza.key_text));
        let has_hooks = keys().any(|(key, text)| matches!(key, Key::Id(_)) && text.len() == 3);
        let has_names = keys().any(|(key, _)| matches!(key, Key::Name(_)));
        if has_names && !has_hooks { Self::Other } else { Self::Aix }
    }
}

/// Looks for what is probably wrong in a file that compiles.
pub fn lint(file: &File, system: System) -> Vec<Finding> {
    let scope = Scope::of(file);
    let mut findings = Vec::new();
    keys(file, &mut findings);
    for stanza in file.stanzas.iter().filter(|stanza| stanza.valid) {
        let doubt = match system {
            System::Aix => doubt_of_hook(stanza),
            System::Other => doubt_of_id(stanza),
        };
        findings.extend(doubt.map(|message| Finding::warning(stanza.key_span, message)));
    }
    scope.definitions(&mut findings);
    for stanza in file.stanzas.iter().filter(|stanza| stanza.valid) {
        walk::Walk::new(&scope, stanza, &mut findings).stanza();
    }
    findings.sort_by_key(|finding| finding.span.start);
    findings
}

/// Ids of AIX trace itself end here.
const FIRST_FREE: u16 = 0x0100;
/// From here on AIX has ids of four digits.
const FIRST_LONG: u16 = 0x1000;

/// Stanzas for the same event.
fn keys(file: &File, findings: &mut Vec<Finding>) {
    let mut seen: HashMap<&Key, &Stanza> = HashMap::new();
    for stanza in &file.stanzas {
        let Stanza { key, key_span, .. } = stanza;
        if seen.insert(key, stanza).is_some() {
            let message =
                format!("{key} has a template above already; this one, the last, is used");
            findings.push(Finding::warning(*key_span, message));
        }
    }
}

/// What is wrong with the id of an AIX hook: it is not a user's to format, or there can be no such one.
fn doubt_of_hook(stanza: &Stanza) -> Option<String> {
    let Stanza { key, key_text, .. } = stanza;
    let Key::Id(id) = *key else { return None };
    if key_text.len() == 4 && id < FIRST_LONG && id & 0xF != 0 {
        return Some(format!(
            "no AIX event has the id {key_text}: below 1000 the fourth digit is 0 there; --for \
             tells which other system's it is"
        ));
    }
    let reserved = id < FIRST_FREE && !is_stand_in(key);
    reserved.then(|| format!("{key} belongs to trace itself; reports rely on its template"))
}

/// What is wrong with the id of another system's event: three digits are an AIX hook's.
fn doubt_of_id(stanza: &Stanza) -> Option<String> {
    let Stanza { key: Key::Id(id), key_text, .. } = stanza else { return None };
    (key_text.len() == 3).then(|| {
        format!("{key_text} is {id:04X}: three digits are an AIX hook's, other events have four")
    })
}

/// Templates 001 to 00A, that stand in where an event has none or tell of the trace, are there to be
/// written.
fn is_stand_in(key: &Key) -> bool {
    matches!(key, Key::Id(0x0010..=0x00A0))
}
