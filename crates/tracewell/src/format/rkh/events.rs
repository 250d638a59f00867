//! Frames to events: what stands before the arguments, their row, whose step they belong to, and the
//! losses between them.

use tracewell_wire::rkh::{Cut, Settings, ids};

use super::decoder::RkhDecoder;
use super::frames::{Fault, Frame, Piece};
use super::plan::{Plan, Plans, Step};
use super::row::Rows;
use super::symbols::SymbolPlan;
use super::timeline::Order;
use crate::model::{Batch, Columns, Flow, Loss, LossCause, Records, Severity, Span};

/// Events of a batch: few enough that they stay in the cache that is next to the processor.
pub(super) const BATCH: usize = 1024;

/// Added to an id that has no one-byte form: no event's id is so large.
const NO_CODE: u32 = 1 << 16;

/// Events that were not given to the sink yet.
#[derive(Debug)]
pub(super) struct Pending {
    /// All have [`BATCH`] rows, except while the sink looks at them.
    pub(super) columns: Columns,
    pub(super) spans: Vec<Span>,
    pub(super) rows: Rows,
    /// Rows that are in use.
    pub(super) count: usize,
}

impl Default for Pending {
    fn default() -> Self {
        let mut columns = Columns::default();
        columns.resize(BATCH);
        let spans = vec![Span { start: 0, payload: 0, end: 0 }; BATCH];
        Self { columns, spans, rows: Rows::default(), count: 0 }
    }
}

/// What stands before the arguments.
#[derive(Clone, Copy)]
pub(super) struct Header {
    id: u32,
    number: Option<u8>,
    stamp: Option<u32>,
    /// Its bytes.
    length: usize,
}

/// The arguments of a record.
#[derive(Clone, Copy)]
struct Arguments<'a> {
    /// They, and [`SLACK`](super::row::SLACK) bytes more.
    bytes: &'a [u8],
    length: usize,
}

impl Piece<'_> {
    /// A frame that its checksum, if it has one, vouches for. Nothing in it is believed unless it is an
    /// event: one broken frame in 256 adds up to 0.
    #[inline]
    pub(super) fn event(&mut self, frame: Frame<'_>, header: Header) -> Flow {
        let settings = self.state.settings;
        let end = frame.length.checked_sub(usize::from(settings.checksum));
        let Some(length) = end.and_then(|end| end.checked_sub(header.length)) else {
            return self.fault(Fault::Short, frame.cut);
        };
        let bytes = frame.bytes.get(header.length..).unwrap_or_default();
        let arguments = Arguments { bytes, length };
        let code = ids::code(header.id, settings.id, self.state.dialect.has_groups());
        if let Some(number) = header.number {
            let order = self.state.timeline.order(number, header.stamp);
            if order != Order::Next && self.state.check(code, arguments).is_ok() {
                self.out_of_order(order, frame.cut)?;
            }
        }
        let state = &mut *self.state;
        let row = state.pending.rows.end();
        let added = add(&state.plans, &mut state.pending.rows, &state.settings, code, arguments);
        match added {
            Ok(&Plan { step, symbol, .. }) => {
                if let Some(number) = header.number {
                    state.timeline.number(number);
                }
                if let Some(stamp) = header.stamp {
                    state.timeline.stamp(stamp);
                    if !std::mem::replace(&mut state.stamped, true) {
                        self.trace.clock.first_stamp = u64::from(stamp);
                    }
                }
                state.counts.good += 1;
                let id = header.shown(state.base, code);
                self.push(frame.cut, id, row, step);
                match symbol {
                    Some(symbol) => self.name(&symbol, row),
                    None => self.flush_if_full(),
                }
            }
            Err(fault) => self.no_event(fault, frame.cut, header, code),
        }
    }

    /// Adds an event, whose row begins at byte `row`, to the batch.
    #[inline]
    fn push(&mut self, cut: Cut, id: u32, row: usize, step: Step) {
        let state = &mut *self.state;
        let context = match step {
            Step::Elsewhere => state.running.unwrap_or(state.framework),
            Step::Of(slot) | Step::Ends(slot) => {
                let object = state.pending.rows.value(row, slot);
                let context = state.symbols.active_object(self.trace, object);
                state.running = matches!(step, Step::Of(_)).then_some(context);
                context
            }
        };
        // A piece is shorter than 2^32 bytes, and so are the rows of a batch.
        let [start, end, payload] = [cut.start, cut.end, row].map(|at| at as u32);
        let Pending { columns, spans, count, .. } = &mut state.pending;
        columns.ticks[*count] = state.timeline.ticks();
        columns.context[*count] = context;
        columns.id[*count] = id;
        spans[*count] = Span { start, payload, end };
        *count += 1;
    }

    fn flush_if_full(&mut self) -> Flow {
        if self.state.pending.count == BATCH { self.flush() } else { Flow::Continue(()) }
    }

    /// Notes what the last event, whose row begins at byte `row`, says of a name.
    #[cold]
    fn name(&mut self, symbol: &SymbolPlan, row: usize) -> Flow {
        let row = self.state.pending.rows.bytes().get(row..).unwrap_or_default().to_vec();
        // Events before this one keep what their addresses were called then.
        self.flush()?;
        let ticks = self.state.timeline.ticks();
        self.state.symbols.add(self.trace, symbol, &row, ticks);
        Flow::Continue(())
    }

    /// A frame that is no event. With a checksum and the number that follows it is one that this reader does not
    /// understand, shown in its place without arguments; otherwise it is damage.
    #[cold]
    fn no_event(&mut self, fault: Fault, cut: Cut, header: Header, code: Option<u8>) -> Flow {
        let state = &mut *self.state;
        let follows = header.number.is_some_and(|number| state.timeline.unread(number));
        if !state.settings.checksum || !follows {
            return self.fault(fault, cut);
        }
        let id = header.shown(state.base, code);
        let row = state.pending.rows.end();
        state.pending.rows.empty();
        let message = match fault {
            Fault::BadArguments => {
                state.counts.bad_args += 1;
                format!("{}: {}", self.trace.schema.event(id).label, fault.message())
            }
            _ => {
                state.counts.unknown_id += 1;
                format!("event id {id} is unknown in dialect {}", state.dialect)
            }
        };
        let hint = state.hint();
        let offset = self.offset + cut.start as u64;
        self.trace.diagnostics.add(Severity::Warning, offset, format!("{message}{hint}"));
        self.push(cut, id, row, Step::Elsewhere);
        self.flush_if_full()
    }

    #[cold]
    fn out_of_order(&mut self, order: Order, cut: Cut) -> Flow {
        let offset = self.offset + cut.start as u64;
        match order {
            Order::Next => Flow::Continue(()),
            Order::Restarted => {
                self.flush()?;
                self.state.counts.restarts += 1;
                self.state.timeline.restart();
                self.state.running = None;
                let message = "the target has started again: numbers and stamps begin anew";
                self.trace.diagnostics.add(Severity::Note, offset, message);
                Flow::Continue(())
            }
            Order::Gap(missing) => {
                self.state.counts.sequence_gaps += 1;
                self.state.counts.lost_frames += u64::from(missing);
                self.state.running = None;
                if missing == u8::MAX {
                    let message = "a frame has the number of the one before: twice, or 255 lost";
                    self.trace.diagnostics.add(Severity::Warning, offset, message);
                }
                self.lose(Some(u64::from(missing)), LossCause::Missing, cut)
            }
        }
    }

    pub(super) fn lose(&mut self, events: Option<u64>, cause: LossCause, cut: Cut) -> Flow {
        self.lose_at(events, cause, self.offset + cut.start as u64)
    }

    /// Tells a loss at a place of the source.
    pub(super) fn lose_at(&mut self, events: Option<u64>, cause: LossCause, offset: u64) -> Flow {
        self.flush()?;
        let loss = Loss { before: self.trace.events, events, cause, offset };
        self.trace.losses.add(&loss);
        self.sink.loss(self.trace, &loss)
    }

    /// Gives the events at hand to the sink.
    pub(super) fn flush(&mut self) -> Flow {
        let Pending { columns, spans, rows, count } = &mut self.state.pending;
        let count = std::mem::take(count);
        if count == 0 {
            return Flow::Continue(());
        }
        columns.resize(count);
        let spans = spans.get(..count).unwrap_or_default();
        let records = Records::decoded(self.bytes, self.offset, spans, rows.bytes());
        let batch = Batch { first: self.trace.events, columns, records };
        self.trace.events += count as u64;
        self.trace.span = self.state.timeline.ticks();
        let flow = self.sink.events(self.trace, &batch);
        columns.resize(BATCH);
        rows.clear();
        flow
    }
}

impl RkhDecoder {
    /// What to try if frames are not understood, said once.
    pub(super) fn hint(&mut self) -> &'static str {
        match std::mem::replace(&mut self.warned, true) {
            true => "",
            false => "; is another dialect or are other sizes right? (-O dialect=, -O sig=, ...)",
        }
    }

    /// Whether a record is what its id says.
    fn check(&mut self, code: Option<u8>, arguments: Arguments<'_>) -> Result<(), Fault> {
        let rows = &mut self.pending.rows;
        let row = rows.end();
        add(&self.plans, rows, &self.settings, code, arguments)?;
        rows.truncate(row);
        Ok(())
    }
}

/// Adds the row of a record; which plan it followed.
#[inline]
fn add<'a>(
    plans: &'a Option<Plans>,
    rows: &mut Rows,
    settings: &Settings,
    code: Option<u8>,
    arguments: Arguments<'_>,
) -> Result<&'a Plan, Fault> {
    let plans = plans.as_ref();
    let Some((code, plan)) = code.and_then(|code| Some((code, plans?.get(code)?))) else {
        return Err(Fault::UnknownId);
    };
    let Arguments { bytes, length } = arguments;
    if rows.add(plan, code, settings, bytes, length) { Ok(plan) } else { Err(Fault::BadArguments) }
}

impl Header {
    /// The id that is shown.
    #[inline]
    fn shown(&self, base: u32, code: Option<u8>) -> u32 {
        match code {
            Some(code) => base + u32::from(code),
            None => self.id.saturating_add(NO_CODE),
        }
    }

    #[inline]
    pub(super) fn read(settings: &Settings, bytes: &[u8]) -> Self {
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

    /// An id alone.
    #[inline]
    pub(super) fn bare(settings: &Settings, bytes: &[u8]) -> Self {
        let id = number(bytes, 0, settings.id);
        Self { id, number: None, stamp: None, length: usize::from(settings.id) }
    }
}

/// The little-endian number of 1, 2 or 4 bytes at a place; 0 where there is none.
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
