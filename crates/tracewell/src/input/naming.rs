//! Applies the files with which users name events and addresses. Reports the files and entries that
//! have no effect.

use std::sync::Arc;

use super::Settings;
use crate::format::Format;
use crate::model::schema::{ArgumentKind, Extension};
use crate::model::{Batch, Event, EventIds, Severity, SymbolTable, Trace};

/// Maximum number of events that one note lists.
const MAX_LISTED: usize = 10;

/// The files in which a user named events and addresses. Also records if the trace uses these
/// names.
#[derive(Default)]
pub(super) struct UserNames {
    files: Vec<Arc<Extension>>,
    /// The ids that occurred, if ids are collected.
    ids: Option<EventIds>,
    symbols: Option<Arc<SymbolTable>>,
    /// True if an argument of an event was an address within a symbol.
    has_symbol: bool,
}

impl UserNames {
    /// Returns the names for this format, or `None` if the user gave none. Adds a diagnostic for
    /// each schema file of another format: a warning if no schema file is for this format,
    /// otherwise a note.
    pub(super) fn new(format: &Format, settings: &Settings, trace: &mut Trace) -> Option<Self> {
        let is_ours = |file: &&Arc<Extension>| file.format() == format.name;
        let mut files = settings.all_schemas(format.name);
        files.retain(|file| is_ours(&file));
        // A user may give files for several formats, to name all systems of a project at once.
        let severity = if files.is_empty() { Severity::Warning } else { Severity::Note };
        for file in settings.schemas.iter().filter(|file| !is_ours(file)) {
            let (path, of) = (file.path(), file.format());
            let message = format!(
                "{path} has no effect: it is for format {of}, and this trace has format {}",
                format.name
            );
            trace.diagnostics.add(severity, None, message);
        }
        let symbols = settings.symbols.clone();
        let ids = (!files.is_empty()).then(EventIds::default);
        let is_any = !files.is_empty() || symbols.is_some();
        is_any.then_some(Self { files, ids, symbols, has_symbol: false })
    }

    /// Stores the ids of all following events.
    pub(super) fn note_ids(&mut self) {
        self.ids.get_or_insert_default();
    }

    /// Stores the ids of these events. Sets `has_symbol` if an argument of these events is an
    /// address within a symbol.
    pub(super) fn note(&mut self, trace: &Trace, batch: &Batch<'_>) {
        if let Some(ids) = &mut self.ids {
            batch.events().for_each(|event| ids.insert(event.id));
        }
        if self.symbols.is_some() && !self.has_symbol {
            self.has_symbol = batch.events().any(|row| has_symbol(Event::new(trace, &row)));
        }
    }

    /// Adds notes about events that never occurred, and warnings about entries that do not fit the
    /// trace. Stores in the trace which ids occurred.
    pub(super) fn report(self, trace: &mut Trace) {
        let seen = |id| self.ids.as_ref().is_some_and(|ids| ids.contains(id));
        if let Some(symbols) = self.symbols.as_deref() {
            report_symbols(symbols, self.has_symbol, trace);
        }
        for fault in trace.schema.faults() {
            trace.diagnostics.add(Severity::Warning, None, fault.to_string());
        }
        for file in &self.files {
            let unseen = file.unseen(&trace.schema, seen);
            if unseen.is_empty() {
                continue;
            }
            let more = unseen.len().saturating_sub(MAX_LISTED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let listed = unseen[..unseen.len().min(MAX_LISTED)].join(", ");
            let message = format!("{}: these events never occurred: {listed}{more}", file.path());
            trace.diagnostics.add(Severity::Note, None, message);
        }
        trace.ids = self.ids;
    }
}

/// Returns true if an argument of an event is an address within a symbol.
fn has_symbol(event: Event<'_>) -> bool {
    event.kind().args.iter().enumerate().any(|(index, argument)| {
        let Some(value) = event.argument(index) else { return false };
        let symbol = match argument.kind {
            ArgumentKind::Object(kind) => event.trace.object_symbol(kind, value),
            ArgumentKind::Address => event.trace.symbol(value),
            _ => None,
        };
        symbol.is_some()
    })
}

/// Adds a warning if no address of the trace has a symbol, and another one if lines of the source
/// are missing.
fn report_symbols(symbols: &SymbolTable, has_symbol: bool, trace: &mut Trace) {
    let program = symbols.program();
    if let Some(damage) = &symbols.lines().damage {
        let message = format!("{}: lines of the source are missing: {damage}", program.path);
        trace.diagnostics.add(Severity::Warning, None, message);
    }
    let digits = trace.payload.digits();
    let named = |key: u64| symbols.find_in(key, digits).is_some();
    // This searches all contexts and objects, but only if no event had a symbol.
    let is_used = has_symbol
        || trace.contexts.iter().any(|(_, context)| named(context.key))
        || trace.objects.iter().any(|(_, object)| named(object.key));
    // A trace without events has no addresses, so it cannot show that the program is the wrong one.
    if is_used || trace.events == 0 {
        return;
    }
    let why = if program.bits > 4 * digits {
        let (program, trace) = (program.bits, 4 * digits);
        format!("its addresses have {program} bits, and those of this trace {trace}")
    } else if program.is_movable {
        "no address of this trace is in its symbols: the system loaded it at another address"
            .to_owned()
    } else {
        "no address of this trace is in its symbols: did another program record the trace?"
            .to_owned()
    };
    let message = format!("{} has no effect: {why}", program.path);
    trace.diagnostics.add(Severity::Warning, None, message);
}
