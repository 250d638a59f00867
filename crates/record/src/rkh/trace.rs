//! The recorder's state, and the code for the start of a stream and for the head and the end of
//! each record.
//!
//! Other files contain the calls that begin records (`calls.rs`) and the code for arguments
//! (`record.rs`).

use tracewell_wire::rkh::{FLAG, Field, Form, ids};

use super::frame::Frame;
use super::open::Open;
use super::{Buffer, Filters, Options, Outcome, Refusal};
use crate::clock::Clock;

/// RKH's trace facility, in the caller's memory.
///
/// ```
/// use tracewell_record::rkh::{About, Buffer, Filter, Options, StreamBuffer, Trace};
/// use tracewell_wire::rkh::events::V3_4;
/// use tracewell_wire::rkh::{Item, SymbolKind};
///
/// let mut memory = [0; 512];
/// let mut ticks = 0;
/// let clock = || { ticks += 1; ticks };
/// let mut trace = Trace::new(Options::default(), StreamBuffer::new(&mut memory), &mut [], clock);
/// trace.open();
/// trace.symbol(SymbolKind::ActiveObject, None, 0x2000_0100, b"blinky");
/// trace.filters().all(Filter::Off);
/// trace.record(&V3_4::SM_TRN, About::object(0), &[0x2000_0100, 0x0800_4000, 0x0800_4040]);
/// trace.user(3, |record| record.item(Item::Unsigned { value: 7, bytes: 2, width: 5 }));
///
/// let mut sent = 0;
/// trace.buffer().flush(|block| sent += block.len());
/// assert_eq!(sent, 67);
/// ```
#[derive(Debug)]
pub struct Trace<'m, C, B> {
    pub(super) options: Options,
    pub(super) filters: Filters<'m>,
    pub(super) buffer: B,
    clock: C,
    number: u8,
    pub(super) open: Option<Open>,
}

impl<'m, C: Clock, B: Buffer> Trace<'m, C, B> {
    /// Creates a recorder with all filter bits clear; [`Trace::open`] starts its stream.
    ///
    /// `signals` is the memory for the signal filter, one bit per signal; if that filter is not
    /// compiled in, it may be empty.
    pub fn new(options: Options, buffer: B, signals: &'m mut [u8], clock: C) -> Self {
        let filters = Filters::new(options.table, &options.settings, options.filters, signals);
        Self { options, filters, buffer, clock, number: 0, open: None }
    }

    /// Empties the buffer and starts a stream with the flag and the configuration record, from
    /// sequence number 0 (`rkh_trc_init`, followed by the records of `rkh_trc_open`). The filters
    /// do not change.
    pub fn open(&mut self) -> Outcome {
        self.open = None;
        self.number = 0;
        self.buffer.clear();
        self.buffer.begin();
        self.buffer.put(FLAG);
        self.buffer.end();
        match self.configuration() {
            // A dialect without a configuration record begins with the flag alone.
            Outcome::Refused(_) => Outcome::Recorded,
            outcome => outcome,
        }
    }

    /// Records the configuration (`RKH_TRC_TCFG`). If the dialect has no configuration record, the
    /// call is refused. Decoders forget all names at this record.
    pub fn configuration(&mut self) -> Outcome {
        let configuration = self.options.configuration();
        let (Some(announced), Some(event)) = (configuration, self.options.table.configuration)
        else {
            return Outcome::Refused(Refusal::NotInDialect);
        };
        let mut payload = [0; 13];
        let length = announced.write_payload(&mut payload).unwrap_or_default();
        // Without this, an open record would continue after this frame.
        self.abort();
        let mut frame = Frame::begin(&mut self.buffer);
        self.put_id(&mut frame, event.code);
        // A configuration record of 13 bytes has neither a sequence number nor a timestamp.
        if announced.form != Form::Thirteen {
            self.put_number_and_stamp(&mut frame);
        }
        frame.bytes(&mut self.buffer, payload.get(..length).unwrap_or_default());
        written(frame.end(&mut self.buffer, self.options.settings.checksum))
    }

    /// Returns the filters, to change them.
    pub fn filters(&mut self) -> &mut Filters<'m> {
        &mut self.filters
    }

    /// Returns the buffer, from which the link removes bytes.
    pub fn buffer(&mut self) -> &mut B {
        &mut self.buffer
    }

    /// Returns the options that the trace was created with.
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the clock, including any data that the caller keeps in it.
    pub fn clock(&mut self) -> &mut C {
        &mut self.clock
    }

    /// Aborts the open record, if there is one, and begins another.
    pub(super) fn start(&mut self, code: u8, fields: &'static [Field]) {
        self.abort();
        let mut frame = Frame::begin(&mut self.buffer);
        self.put_id(&mut frame, code);
        self.put_number_and_stamp(&mut frame);
        self.open = Some(Open { frame, fields, fault: None });
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
            // The high bits of the clock are discarded.
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

    /// Aborts the open record, if there is one.
    pub(super) fn abort(&mut self) {
        if self.open.take().is_some() {
            self.buffer.abort();
        }
    }
}

const fn written(whole: bool) -> Outcome {
    if whole { Outcome::Recorded } else { Outcome::Dropped }
}
