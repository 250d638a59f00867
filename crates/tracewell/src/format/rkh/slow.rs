//! The slow path. Decodes any frame, and classifies frames that are not events.
//!
//! A frame passes through three functions of [`Chunk`]: `frame` (configuration record and
//! checksum), `event` (sequence number and arguments) and `push`. If one of these functions rejects
//! a frame with a correct checksum and sequence number, the frame counts as an unknown event. Any
//! other rejected frame counts as damage.

use tracewell_wire::rkh::{Configuration, Cut, Form, Settings, checksum, ids};

use super::chunk::{Chunk, Fault, Frame};
use super::plan::{Plan, Step};
use super::row::Rows;
use super::state::{State, Tables};
use super::symbols::SymbolPlan;
use super::timeline::Order;
use crate::model::{Flow, LossCause, Severity};

/// Number that is added to an id that has no one-byte form. It is larger than the id of any event.
const NO_CODE: u32 = 1 << 16;

/// The part of a frame before the arguments.
#[derive(Clone, Copy)]
struct Header {
    id: u32,
    number: Option<u8>,
    stamp: Option<u32>,
    /// Length of the header in bytes.
    length: usize,
}

/// The arguments of a record.
#[derive(Clone, Copy)]
struct Arguments<'a> {
    /// The arguments, followed by [`SLACK`](super::row::SLACK) meaningless bytes.
    bytes: &'a [u8],
    length: usize,
}

impl Chunk<'_, '_> {
    /// Decodes one frame, which may be a configuration record, an event, or damage.
    #[inline]
    pub(super) fn frame(&mut self, frame: Frame<'_>) -> Flow {
        if let Some(configuration) = Configuration::recognise(frame.whole())
            // Damaged bytes can look like a configuration record. Only a trusted record changes how
            // the following frames are decoded.
            && self.state.trusts(&configuration)
        {
            self.configure(&configuration, self.offset + frame.cut.start as u64)?;
            // Configuration records of this form have neither a sequence number nor a timestamp.
            if configuration.form == Form::Thirteen {
                let header = Header::bare(&self.state.settings, frame.bytes);
                return self.event(frame, header);
            }
        }
        if self.state.unsettled {
            return self.unsettled(frame.cut);
        }
        if self.state.settings.checksum && !checksum::holds(frame.whole()) {
            return self.fault(Fault::BadChecksum, frame.cut);
        }
        let header = Header::read(&self.state.settings, frame.bytes);
        self.event(frame, header)
    }

    /// Handles a frame while the settings are unknown. The loss of all these frames is reported
    /// once, at the first one.
    #[cold]
    fn unsettled(&mut self, cut: Cut) -> Flow {
        self.state.counts.unsettled += 1;
        match self.state.counts.unsettled {
            1 => self.lose(None, LossCause::Damaged, cut),
            _ => Flow::Continue(()),
        }
    }

    /// Decodes a frame whose checksum, if it has one, is valid.
    ///
    /// Of 256 damaged frames, about one has a valid checksum by chance. So the state changes only
    /// if the frame is also an event.
    #[inline]
    fn event(&mut self, frame: Frame<'_>, header: Header) -> Flow {
        let settings = self.state.settings;
        let end = frame.length.checked_sub(usize::from(settings.checksum));
        let Some(length) = end.and_then(|end| end.checked_sub(header.length)) else {
            return self.fault(Fault::Short, frame.cut);
        };
        let bytes = frame.bytes.get(header.length..).unwrap_or_default();
        let arguments = Arguments { bytes, length };
        let code = ids::code(header.id, settings.id, self.state.dialect.has_groups());
        let order = self.state.timeline.order(header.number, header.stamp);
        // Report the loss before this frame's event is added, but only if the arguments show that
        // the frame is an event.
        if order != Order::Next && self.state.check(code, arguments).is_ok() {
            self.out_of_order(order, frame.cut)?;
        }
        let state = &mut *self.state;
        let row = state.pending.rows.end();
        let tables = state.tables.as_deref();
        // Write the row before the timeline stores the number and the timestamp, because a frame
        // with invalid arguments must not change the timeline.
        match add(tables, &mut state.pending.rows, &state.settings, code, arguments) {
            Ok(&Plan { step, symbol, .. }) => {
                if let Some(number) = header.number {
                    state.timeline.number(number);
                }
                if let Some(stamp) = header.stamp
                    && state.timeline.stamp(stamp)
                {
                    // Ticks count from the first timestamp.
                    self.out.trace.clock.first_stamp = u64::from(stamp);
                }
                state.counts.good += 1;
                let id = header.shown_id(state.base, code);
                self.push(frame.cut, id, row, step);
                match symbol {
                    Some(symbol) => self.name(&symbol, row),
                    None => self.flush_if_full(),
                }
            }
            Err(fault) => self.no_event(fault, frame.cut, header, code),
        }
    }

    /// Stores the name of an object. The name comes from the newest event, whose row begins at byte
    /// `row`.
    #[cold]
    fn name(&mut self, symbol: &SymbolPlan, row: usize) -> Flow {
        let row = self.state.pending.rows.bytes().get(row..).unwrap_or_default().to_vec();
        // Earlier events keep the names that were valid when they were recorded.
        self.flush()?;
        let ticks = self.state.timeline.ticks();
        self.state.symbols.add(self.out.trace, symbol, &row, ticks);
        Flow::Continue(())
    }

    /// Handles a frame that is not an event.
    ///
    /// A frame with a valid checksum and the expected sequence number is an unknown event, which is
    /// shown without arguments. Any other frame is damage.
    #[cold]
    fn no_event(&mut self, fault: Fault, cut: Cut, header: Header, code: Option<u8>) -> Flow {
        let state = &mut *self.state;
        let follows = header.number.is_some_and(|number| state.timeline.skip(number));
        // Without a checksum, even noise can have the expected number, so count the frame as
        // damage.
        if !state.settings.checksum || !follows {
            return self.fault(fault, cut);
        }
        let id = header.shown_id(state.base, code);
        // Without a row, the payload is empty, so the event has no arguments.
        let row = state.pending.rows.end();
        let message = match fault {
            Fault::BadArguments => {
                state.counts.bad_args += 1;
                format!("{}: {}", self.out.trace.schema.event(id).label, fault.message())
            }
            _ => {
                state.counts.unknown_id += 1;
                format!("event id {id} is unknown in dialect {}", state.dialect)
            }
        };
        let hint = state.hint();
        let offset = self.offset + cut.start as u64;
        self.out.trace.diagnostics.add(Severity::Warning, offset, format!("{message}{hint}"));
        self.push(cut, id, row, Step::Elsewhere);
        self.flush_if_full()
    }

    /// Reports a gap in the sequence numbers before an event, or a restart of the target.
    #[cold]
    fn out_of_order(&mut self, order: Order, cut: Cut) -> Flow {
        let offset = self.offset + cut.start as u64;
        let missing = match order {
            Order::Next => 0,
            Order::Restarted(missing) => {
                self.flush()?;
                self.state.counts.restarts += 1;
                self.state.timeline.restart();
                self.state.running = None;
                let message = "target restarted: sequence numbers and timestamps start over";
                self.out.trace.diagnostics.add(Severity::Note, offset, message);
                missing
            }
            Order::Gap(missing) => {
                if missing == u8::MAX {
                    let message = "repeated sequence number: a duplicate frame, or 255 lost";
                    self.out.trace.diagnostics.add(Severity::Warning, offset, message);
                }
                missing
            }
        };
        if missing == 0 {
            return Flow::Continue(());
        }
        self.state.counts.sequence_gaps += 1;
        self.state.counts.lost_frames += u64::from(missing);
        // The missing events may include the end of the step.
        self.state.running = None;
        self.lose(Some(u64::from(missing)), LossCause::Missing, cut)
    }
}

impl State {
    /// Checks that a record's arguments end where the record ends.
    fn check(&mut self, code: Option<u8>, arguments: Arguments<'_>) -> Result<(), Fault> {
        let rows = &mut self.pending.rows;
        let row = rows.end();
        add(self.tables.as_deref(), rows, &self.settings, code, arguments)?;
        rows.truncate(row);
        Ok(())
    }
}

/// Adds the row of a record, and returns the plan of the record's event.
#[inline]
fn add<'a>(
    tables: Option<&'a Tables>,
    rows: &mut Rows,
    settings: &Settings,
    code: Option<u8>,
    arguments: Arguments<'_>,
) -> Result<&'a Plan, Fault> {
    let known = code.and_then(|code| Some((code, tables?.plans.get(code)?)));
    let Some((code, plan)) = known else { return Err(Fault::UnknownId) };
    let Arguments { bytes, length } = arguments;
    if rows.add(plan, code, settings, bytes, length) { Ok(plan) } else { Err(Fault::BadArguments) }
}

impl Header {
    /// Returns the id as users see it.
    #[inline]
    fn shown_id(&self, base: u32, code: Option<u8>) -> u32 {
        match code {
            Some(code) => base + u32::from(code),
            None => self.id.saturating_add(NO_CODE),
        }
    }

    #[inline]
    fn read(settings: &Settings, bytes: &[u8]) -> Self {
        let mut header = Self::bare(settings, bytes);
        if settings.sequence {
            header.number = bytes.get(header.length).copied();
            header.length += 1;
        }
        if settings.stamp > 0 {
            header.stamp = Some(number(bytes, header.length, settings.stamp));
            header.length += usize::from(settings.stamp);
        }
        header
    }

    /// Reads a header that is only an id.
    #[inline]
    fn bare(settings: &Settings, bytes: &[u8]) -> Self {
        let id = number(bytes, 0, settings.id);
        Self { id, number: None, stamp: None, length: usize::from(settings.id) }
    }
}

/// Returns the little-endian number of 1, 2 or 4 bytes at an offset. Returns 0 if `bytes` ends less
/// than four bytes after the offset.
#[inline]
fn number(bytes: &[u8], at: usize, size: u8) -> u32 {
    let word = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
    let word = word.map_or(0, |bytes| u32::from_le_bytes(*bytes));
    match size {
        1 => word & 0xFF,
        2 => word & 0xFFFF,
        _ => word,
    }
}
