//! The recorder's calls that begin records: events, symbols, user events, assertions.

use tracewell_wire::rkh::events::{Event, Role, asks};
use tracewell_wire::rkh::{Item, SymbolKind};

use super::open::is_half;
use super::{About, Buffer, Outcome, Record, Refusal, Trace};
use crate::clock::Clock;

impl<'m, C: Clock, B: Buffer> Trace<'m, C, B> {
    /// Records an event whose arguments are numbers. Pass all of them, including those that the
    /// settings omit.
    #[inline]
    pub fn record(&mut self, event: &Event, about: About, arguments: &[u32]) -> Outcome {
        let numbers = |event: &Event| {
            let settings = &self.options.settings;
            event.fields.len() == arguments.len()
                && event.fields.iter().all(|field| {
                    field.field_type.bytes(settings).is_some() && !is_half(field.field_type)
                })
        };
        // Check all arguments before `begin`, so that no part of a refused record is written.
        if !numbers(event) {
            return Outcome::Refused(Refusal::Arguments);
        }
        match self.begin(event, about) {
            Ok(record) => arguments.iter().fold(record, |record, value| record.arg(*value)).end(),
            Err(outcome) => outcome,
        }
    }

    /// Begins a record of any event of the dialect (`RKH_TRC_BEGIN`). The arguments are written one
    /// by one to the returned record.
    ///
    /// # Errors
    /// Returns the [`Outcome`] if the event is not recorded.
    #[inline]
    pub fn begin(&mut self, event: &Event, about: About) -> Result<Record<'_, 'm, C, B>, Outcome> {
        let table = self.options.table;
        let Some(known) = table.event(event.code).filter(|known| *known == event) else {
            return Err(Outcome::Refused(Refusal::NotInDialect));
        };
        let asked = known.asks;
        // Symbol records are always compiled into the framework.
        let always = matches!(known.role, Role::Names(_));
        if !always && !self.options.compiled.has(event.code, table) {
            return Err(Outcome::NotCompiled);
        }
        if !self.filters.pass(event.code, asked, about) {
            return Err(Outcome::Filtered);
        }
        self.start(event.code, known.fields);
        Ok(Record { trace: self })
    }

    /// Begins the record of user event number `index`, counted from 0 (`RKH_TRC_USR_BEGIN`).
    ///
    /// # Errors
    /// Returns the [`Outcome`] if the event is not recorded.
    pub fn begin_user(&mut self, index: u8) -> Result<Record<'_, 'm, C, B>, Outcome> {
        let table = self.options.table;
        let Some(code) = table.user_code(index) else {
            return Err(Outcome::Refused(Refusal::NotInDialect));
        };
        if !self.options.compiled.has(code, table) {
            return Err(Outcome::NotCompiled);
        }
        if !self.filters.pass(code, asks::EVENT, About::NOTHING) {
            return Err(Outcome::Filtered);
        }
        self.start(code, core::slice::from_ref(&table.user));
        Ok(Record { trace: self })
    }

    /// Records a user event. `write` adds its items, and is called only if the event passes the
    /// filters.
    pub fn user(
        &mut self,
        index: u8,
        write: impl for<'t> FnOnce(Record<'t, 'm, C, B>) -> Record<'t, 'm, C, B>,
    ) -> Outcome {
        match self.begin_user(index) {
            Ok(record) => write(record).end(),
            Err(outcome) => outcome,
        }
    }

    /// Records a user event with the given items.
    pub fn user_items(&mut self, index: u8, items: &[Item<'_>]) -> Outcome {
        match self.begin_user(index) {
            Ok(record) => items.iter().fold(record, |record, item| record.item(*item)).end(),
            Err(outcome) => outcome,
        }
    }

    /// Assigns a name to an address or a number (`RKH_TR_FWK_...`). Filters are not applied.
    ///
    /// `owner` is the active object that a state belongs to; other kinds of symbols ignore it. The
    /// caller must send the bytes before the buffer is full. (The framework flushes its buffer
    /// after each symbol.)
    pub fn symbol(
        &mut self,
        kind: SymbolKind,
        owner: Option<u32>,
        key: u32,
        name: &[u8],
    ) -> Outcome {
        let Some(event) = self.options.table.symbol(kind) else {
            return Outcome::Refused(Refusal::NotInDialect);
        };
        if name.contains(&0) {
            return Outcome::Refused(Refusal::Text);
        }
        let record = match self.begin(event, About::NOTHING) {
            Ok(record) => record,
            Err(outcome) => return outcome,
        };
        // The fields are an owner, a key and a name, or only a key and a name.
        let record = if event.fields.len() > 2 { record.arg(owner.unwrap_or(0)) } else { record };
        record.arg(key).text(name).end()
    }

    /// Records a failed assertion (`RKH_TR_FWK_ASSERT`): its line, and the name of its module
    /// without `.c`.
    ///
    /// From 2.4.4 on, the group and event filters also apply to assertions: assertions are
    /// suppressed until the program opens the filters. Send the bytes before the program stops.
    pub fn assertion(&mut self, module: &[u8], line: u16) -> Outcome {
        let Some(event) = self.options.table.assertion else {
            return Outcome::Refused(Refusal::NotInDialect);
        };
        if module.contains(&0) {
            return Outcome::Refused(Refusal::Text);
        }
        match self.begin(event, About::NOTHING) {
            Ok(record) => record.text(module).arg(u32::from(line)).end(),
            Err(outcome) => outcome,
        }
    }

    /// Returns the record that [`Record::pause`] left open, if any.
    pub fn resume(&mut self) -> Option<Record<'_, 'm, C, B>> {
        self.open.is_some().then_some(Record { trace: self })
    }
}
