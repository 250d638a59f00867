//! The recorder: start, records, symbols, user events, assertions.

use tracewell_wire::rkh::events::{Event, asks};
use tracewell_wire::rkh::{FLAG, Form, Item, SymbolKind, ids};

use super::frame::Frame;
use super::record::{Open, is_half};
use super::{Buffer, Filters, Options, Outcome, Record, Refusal};
use crate::clock::Clock;

/// What a record is about, for the filters; where it is about nothing they ask nothing.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct About {
    /// The priority of its active object.
    pub priority: Option<u8>,
    /// Its signal.
    pub signal: Option<u32>,
}

impl About {
    /// No active object and no signal.
    pub const NOTHING: Self = Self { priority: None, signal: None };

    /// An active object.
    pub const fn object(priority: u8) -> Self {
        Self { priority: Some(priority), signal: None }
    }

    /// An active object and a signal.
    pub const fn signal(priority: u8, signal: u32) -> Self {
        Self { priority: Some(priority), signal: Some(signal) }
    }
}

/// RKH's trace facility over memory of the caller.
///
/// ```
/// use tracewell_record::rkh::{About, Buffer, Filter, Options, StreamBuffer, Trace};
/// use tracewell_wire::rkh::events::v3_4::SM_TRN;
/// use tracewell_wire::rkh::{Item, SymbolKind};
///
/// let mut memory = [0; 512];
/// let mut ticks = 0;
/// let clock = || { ticks += 1; ticks };
/// let mut trace = Trace::new(Options::default(), StreamBuffer::new(&mut memory), &mut [], clock);
/// trace.open();
/// trace.symbol(SymbolKind::ActiveObject, None, 0x2000_0100, b"blinky");
/// trace.filters().all(Filter::Off);
/// trace.record(&SM_TRN, About::object(0), &[0x2000_0100, 0x0800_4000, 0x0800_4040]);
/// trace.user(3, |record| record.item(Item::Unsigned { value: 7, bytes: 2, width: 5 }));
///
/// let mut sent = 0;
/// trace.buffer().flush(|block| sent += block.len());
/// assert_eq!(sent, 67);
/// ```
#[derive(Debug)]
pub struct Trace<'m, C, B> {
    pub(super) options: Options,
    filters: Filters<'m>,
    pub(super) buffer: B,
    clock: C,
    number: u8,
    pub(super) open: Option<Open>,
}

impl<'m, C: Clock, B: Buffer> Trace<'m, C, B> {
    /// A recorder with all filters clear; [`Trace::open`] starts its stream.
    ///
    /// `signals` is the memory of the filter of signals, one bit each; without that filter it may be
    /// empty.
    pub fn new(options: Options, buffer: B, signals: &'m mut [u8], clock: C) -> Self {
        let filters = Filters::new(options.table, &options.settings, options.filters, signals);
        Self { options, filters, buffer, clock, number: 0, open: None }
    }

    /// Empties the buffer and begins a stream: the flag, number 0, the configuration record
    /// (`rkh_trc_init`, and what `rkh_trc_open` sends). The filters stay as they are.
    pub fn open(&mut self) -> Outcome {
        self.open = None;
        self.number = 0;
        self.buffer.clear();
        self.buffer.begin();
        self.buffer.put(FLAG);
        self.buffer.end();
        match self.configuration() {
            Outcome::Refused(_) => Outcome::Recorded,
            outcome => outcome,
        }
    }

    /// Records the configuration (`RKH_TRC_TCFG`); refused in dialects that have no such record.
    /// Readers forget all symbols there.
    pub fn configuration(&mut self) -> Outcome {
        let configuration = self.options.configuration();
        let (Some(told), Some(event)) = (configuration, self.options.table.configuration) else {
            return Outcome::Refused(Refusal::NotInDialect);
        };
        let mut payload = [0; 13];
        let length = told.write_payload(&mut payload).unwrap_or_default();
        self.give_up();
        let mut frame = Frame::begin(&mut self.buffer);
        self.put_id(&mut frame, event.code);
        if told.form != Form::Thirteen {
            self.put_number_and_stamp(&mut frame);
        }
        frame.bytes(&mut self.buffer, payload.get(..length).unwrap_or_default());
        written(frame.end(&mut self.buffer, self.options.settings.checksum))
    }

    /// Records an event whose arguments are numbers, all of them given, also those that the settings
    /// leave out.
    #[inline]
    pub fn record(&mut self, event: &Event, about: About, arguments: &[u32]) -> Outcome {
        let numbers = |event: &Event| {
            let settings = &self.options.settings;
            event.fields.len() == arguments.len()
                && event.fields.iter().all(|field| {
                    field.field_type.bytes(settings).is_some() && !is_half(field.field_type)
                })
        };
        if !numbers(event) {
            return Outcome::Refused(Refusal::Arguments);
        }
        match self.begin(event, about) {
            Ok(record) => arguments.iter().fold(record, |record, value| record.arg(*value)).end(),
            Err(outcome) => outcome,
        }
    }

    /// Begins a record of any event of the dialect (`RKH_TRC_BEGIN`): the arguments follow, one by one.
    ///
    /// # Errors
    /// What became of it, where it is not recorded.
    #[inline]
    pub fn begin(&mut self, event: &Event, about: About) -> Result<Record<'_, 'm, C, B>, Outcome> {
        let table = self.options.table;
        let Some(known) = table.event(event.code).filter(|known| *known == event) else {
            return Err(Outcome::Refused(Refusal::NotInDialect));
        };
        let asked = known.asks;
        let always = table.symbols.iter().any(|(_, symbol)| symbol.code == event.code);
        if !always && !self.options.compiled.has(event.code, table) {
            return Err(Outcome::NotCompiled);
        }
        if !self.filters.pass(event.code, asked, about) {
            return Err(Outcome::Filtered);
        }
        Ok(self.start(event.code, known.fields))
    }

    /// Begins the record of a user event (`RKH_TRC_USR_BEGIN`), by its number from 0 on.
    ///
    /// # Errors
    /// What became of it, where it is not recorded.
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
        Ok(self.start(code, core::slice::from_ref(&table.user)))
    }

    /// Records a user event; `write` adds its items and is called only where it passes.
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

    /// Records a user event of these items.
    pub fn user_items(&mut self, index: u8, items: &[Item<'_>]) -> Outcome {
        match self.begin_user(index) {
            Ok(record) => items.iter().fold(record, |record, item| record.item(*item)).end(),
            Err(outcome) => outcome,
        }
    }

    /// Names something: an address, or a number (`RKH_TR_FWK_...`). No filter is asked.
    ///
    /// `owner` is the active object of a state; for other kinds it is left out. Send the bytes
    /// before the buffer is full: the framework flushes after each symbol.
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
        // An owner, a key and a name, or a key and a name.
        let record = if event.fields.len() > 2 { record.arg(owner.unwrap_or(0)) } else { record };
        record.arg(key).text(name).end()
    }

    /// Records a failed assertion (`RKH_TR_FWK_ASSERT`): the module's name without `.c`, and the line.
    ///
    /// The filters of group and event are asked: with all of them clear, as they are at the start
    /// from 2.4.4 on, an assertion is silent. Send the bytes before the program stops.
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

    /// The record that was left open with [`Record::pause`].
    pub fn resume(&mut self) -> Option<Record<'_, 'm, C, B>> {
        self.open.is_some().then_some(Record { trace: self })
    }

    /// What passes; see [`Filters`].
    pub fn filters(&mut self) -> &mut Filters<'m> {
        &mut self.filters
    }

    /// The buffer, to take bytes out.
    pub fn buffer(&mut self) -> &mut B {
        &mut self.buffer
    }

    /// The options it was made with.
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// The clock, and what else the caller keeps with it.
    pub fn clock(&mut self) -> &mut C {
        &mut self.clock
    }

    fn start(
        &mut self,
        code: u8,
        fields: &'static [tracewell_wire::rkh::Field],
    ) -> Record<'_, 'm, C, B> {
        self.give_up();
        let mut frame = Frame::begin(&mut self.buffer);
        self.put_id(&mut frame, code);
        self.put_number_and_stamp(&mut frame);
        self.open = Some(Open { frame, fields, fault: None });
        Record { trace: self }
    }

    fn put_id(&mut self, frame: &mut Frame, code: u8) {
        let width = self.options.settings.id;
        let id = ids::id(code, width, self.options.table.dialect.has_groups());
        frame.number(&mut self.buffer, id, width);
    }

    fn put_number_and_stamp(&mut self, frame: &mut Frame) {
        let settings = &self.options.settings;
        if settings.sequence {
            frame.byte(&mut self.buffer, self.number);
            self.number = self.number.wrapping_add(1);
        }
        if settings.stamp > 0 {
            // Bits above those of the stamp are cut off.
            let ticks = self.clock.ticks() as u32;
            frame.number(&mut self.buffer, ticks, settings.stamp);
        }
    }

    pub(super) fn finish(&mut self) -> Outcome {
        match self.open.take() {
            None => Outcome::Refused(Refusal::Arguments),
            Some(open) if open.fault.is_none() && open.is_complete() => {
                written(open.frame.end(&mut self.buffer, self.options.settings.checksum))
            }
            Some(open) => {
                self.buffer.abort();
                Outcome::Refused(open.fault.unwrap_or(Refusal::Arguments))
            }
        }
    }

    /// Gives up the record that is open, if there is one.
    pub(super) fn give_up(&mut self) {
        if self.open.take().is_some() {
            self.buffer.abort();
        }
    }
}

const fn written(whole: bool) -> Outcome {
    if whole { Outcome::Recorded } else { Outcome::Dropped }
}
