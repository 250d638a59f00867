//! Finds parts of templates that compile but are probably mistakes.

mod scope;
mod switches;
mod walk;

use std::collections::HashMap;

use super::syntax::{File, Key, Stanza};
use crate::source::Finding;
use scope::Scope;

/// The system that a template file is for. Only AIX has rules for event ids.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum System {
    /// AIX, whose events are hooks.
    Aix,
    /// Any other system. The rules for AIX's hook ids do not apply.
    Other,
}

impl System {
    /// Guesses the system of a file. A file is for another system if it contains event names but no
    /// id of three digits. Only AIX has ids of three digits.
    pub fn of(file: &File) -> Self {
        let keys = || file.stanzas.iter().map(|stanza| (&stanza.key, &stanza.key_text));
        let has_hooks = keys().any(|(key, text)| matches!(key, Key::Id(_)) && text.len() == 3);
        let has_names = keys().any(|(key, _)| matches!(key, Key::Name(_)));
        if has_names && !has_hooks { Self::Other } else { Self::Aix }
    }
}

/// Returns warnings about a file that compiles.
///
/// # Examples
///
/// ```
/// use tracewell::template::{Source, System, lint, parse};
///
/// let source = Source::new("my.fmt", "0AA 1.0 X1, 01 \"one\", 01 \"again\"");
/// let (file, errors) = parse(&source);
/// assert!(errors.is_empty());
/// let warnings = lint(&file, System::Aix);
/// assert!(warnings[0].message.starts_with("this case is never reached"));
/// ```
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
        walk::Walk::new(&scope, (stanza, system), &mut findings).stanza();
    }
    // Each check above examines the whole file, so sort the warnings by position in the text.
    findings.sort_by_key(|finding| finding.span.start);
    findings
}

/// First id after the ids of AIX trace itself.
const FIRST_FREE: u16 = 0x0100;
/// First id for which AIX uses four digits.
const FIRST_LONG: u16 = 0x1000;

/// Warns about several stanzas for the same event.
fn keys(file: &File, findings: &mut Vec<Finding>) {
    let mut seen: HashMap<&Key, &Stanza> = HashMap::new();
    for stanza in &file.stanzas {
        let Stanza { key, key_span, .. } = stanza;
        if seen.insert(key, stanza).is_some() {
            let message = format!(
                "{key} already has a template above; this one is used, because it is the last"
            );
            findings.push(Finding::warning(*key_span, message));
        }
    }
}

/// Returns a warning if an id is reserved by AIX trace itself, or if no hook can have it.
fn doubt_of_hook(stanza: &Stanza) -> Option<String> {
    let Stanza { key, key_text, .. } = stanza;
    let Key::Id(id) = *key else { return None };
    // An id below 1000 (hexadecimal) consists of three digits and a 0, as in a 32-bit hook word.
    if key_text.len() == 4 && id < FIRST_LONG && id & 0xF != 0 {
        return Some(format!(
            "no AIX event has the id {key_text}: below 1000 the fourth digit is 0; use --for if \
             the file is for another system"
        ));
    }
    let reserved = id < FIRST_FREE && !is_stand_in(key);
    reserved.then(|| format!("{key} is reserved for trace itself; reports rely on its template"))
}

/// Returns a warning if the id of another system's event has three digits. Only hooks of AIX have
/// such ids.
fn doubt_of_id(stanza: &Stanza) -> Option<String> {
    let Stanza { key: Key::Id(id), key_text, .. } = stanza else { return None };
    (key_text.len() == 3).then(|| {
        format!(
            "{key_text} is {id:04X}: only AIX hooks have three digits, write four for other events"
        )
    })
}

/// Returns true for the templates 001 to 00A, which users may write. Some of them replace missing
/// templates, others describe the trace.
fn is_stand_in(key: &Key) -> bool {
    matches!(key, Key::Id(0x0010..=0x00A0))
}
