//! Converts packets to events with arguments and contexts, and handles the losses that packets
//! report. `short` adds the most frequent events, `target` handles what packets report about the
//! target, and `arguments` reads the parameters of the other events.

mod arguments;
mod short;
mod target;

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;
use tracewell_wire::systemview::{Packet, TextOrder, ids};

use super::cores::Cores;
use super::kernels::Kernel;
use super::names::Names;
use super::row::Row;
use super::stream::Known;
use super::tables::{Tables, shown_id};
use crate::model::{Emitter, Flow, LossCause, NewEvent, Rate, Severity, Trace};

/// One turn: the number of ticks after which a target's counter wraps.
const TURN: u64 = 1 << 32;

/// The position of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) ticks: u64,
    pub(super) cpu: u16,
    pub(super) offset: u64,
    pub(super) order: TextOrder,
}

/// The facts that a user specifies.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    pub(super) rate: Option<Rate>,
    pub(super) base: Option<u32>,
    pub(super) shift: Option<u32>,
    /// The operating system; `Some(None)` if the user specified that no description of its events
    /// applies.
    pub(super) kernel: Option<Option<Kernel>>,
}

/// The state of packet decoding.
#[derive(Debug)]
pub(super) struct Events {
    pub(super) cores: Cores,
    given: Given,
    names: Names,
    tables: Tables,
    base: u32,
    shift: u32,
    row: Row,
    /// The types of series, by the number of the series.
    series: HashMap<u32, u32, RandomState>,
    /// The latest time from the system, in microseconds, and the ticks at that time.
    time: Option<(u64, u64)>,
    /// True if the events of the operating system have been looked up.
    kernel_chosen: bool,
    /// True if the decoder has already reported a parameter without a description.
    undescribed: bool,
}

impl Known for Events {
    fn task(&self, id: u32) -> bool {
        self.names.may_be_task(self.address(id))
    }
}

impl Events {
    pub(super) fn new(given: Given, tables: Tables) -> Self {
        Self {
            base: given.base.unwrap_or(0),
            shift: given.shift.unwrap_or(0),
            kernel_chosen: given.kernel.is_some(),
            cores: Cores::default(),
            names: Names::default(),
            row: Row::default(),
            series: HashMap::default(),
            time: None,
            undescribed: false,
            given,
            tables,
        }
    }

    /// Returns the address of the object with this identifier. To get the identifier, the recorder
    /// subtracts the base from the address and removes the lowest bits.
    #[inline]
    fn address(&self, id: u32) -> u64 {
        short::address(id, self.base, self.shift)
    }

    /// Returns the number of ticks by which the system's time is ahead of the counter. The result
    /// is a multiple of the counter's period. The target sent no packets during these periods.
    /// Returns 0 if there were no such periods.
    pub(super) fn missing_ticks(
        &mut self,
        packet: &Packet<'_>,
        at: Place,
        trace: &mut Trace,
    ) -> u64 {
        let mut parameters = packet.parameters(at.order);
        let (Some(low), Some(high)) = (parameters.number(), parameters.number()) else { return 0 };
        let us = u64::from(low) | u64::from(high) << 32;
        let before = self.time.replace((us, at.ticks));
        let kernel = self.tables.kernel().or_else(|| kernel(trace));
        let is_time = kernel.is_none_or(Kernel::sends_microseconds);
        let (Some((us_before, ticks_before)), Some(rate)) = (before, trace.clock.rate) else {
            return 0;
        };
        let Some(passed) = us.checked_sub(us_before).filter(|_| is_time) else { return 0 };
        let (ticks, seconds) = rate.ratio();
        let expected = u128::from(passed) * u128::from(ticks) / (u128::from(seconds) * 1_000_000);
        let counted = u128::from(at.ticks.saturating_sub(ticks_before));
        let ahead = expected.saturating_sub(counted);
        let turns = (ahead + u128::from(TURN / 2)) / u128::from(TURN);
        // The system's time is less precise than the counter, but its error is a small fraction of
        // the time in which the counter wraps once.
        let difference = ahead.abs_diff(turns * u128::from(TURN));
        if turns == 0 || difference > u128::from(TURN / 8) {
            return 0;
        }
        let Some(missing) = u64::try_from(turns).ok().and_then(|turns| turns.checked_mul(TURN))
        else {
            return 0;
        };
        let ticks = at.ticks.saturating_add(missing);
        self.time = Some((us, ticks));
        let message = format!(
            "the system's time shows that the counter wrapped {turns} times without a packet"
        );
        trace.diagnostics.add(Severity::Note, at.offset, message);
        missing
    }

    /// Adds the event of a packet. `record` is the range of the packet's bytes in the input.
    #[inline]
    pub(super) fn add(
        &mut self,
        packet: &Packet<'_>,
        at: Place,
        record: Range<u64>,
        out: &mut Emitter<'_>,
    ) -> Flow {
        let ticks = out.ticks(at.ticks);
        let at = Place { ticks, ..at };
        // `EVENTS` has one bit per id.
        let is_short = packet.id < u32::BITS && short::EVENTS >> packet.id & 1 == 1;
        if is_short {
            let mut parameters = packet.parameters(at.order);
            let numbers = (parameters.number(), parameters.number());
            let value = short::value(packet.id, numbers.0, self.base, self.shift);
            let core = self.cores.at(at.cpu);
            short::effect(core, &mut self.names, (packet.id, value), at.cpu, out.trace);
            // The recording can start again later, with other tasks running.
            if packet.id == ids::TRACE_STOP {
                self.cores.forget();
            }
            short::put(&mut out.buffer.payloads, value, numbers);
        } else {
            self.row.clear();
            self.long(packet, at, out)?;
            self.row.write(&mut out.buffer.payloads);
        }
        let id = shown_id(packet, at.order);
        let context = self.cores.at(at.cpu).context(packet.id, out.trace);
        let event = NewEvent { cpu: at.cpu, ..NewEvent::new(ticks, context, id) };
        out.decoded(event, record)
    }

    /// Handles an event that has several arguments or a text.
    fn long(&mut self, packet: &Packet<'_>, at: Place, out: &mut Emitter<'_>) -> Flow {
        let mut parameters = packet.parameters(at.order);
        match packet.id {
            ids::OVERFLOW => return self.overflow(parameters.number().unwrap_or(0), at, out),
            ids::SYSTIME_US => {
                let halves =
                    [parameters.number(), parameters.number()].map(Option::unwrap_or_default);
                self.row.number(u64::from(halves[0]) | u64::from(halves[1]) << 32);
            }
            ids::DATA_SAMPLE => self.sample(parameters),
            ids::EXTENDED => self.extended(parameters, out),
            ids::PRINT_FORMATTED => self.print(parameters),
            ids::END_CALL => {
                // The target may describe its operating system at any time before the first event
                // of that operating system. So the decoder chooses the table of this system when
                // such an event occurs.
                self.choose_kernel(at, out)?;
                self.row.number(parameters.number().unwrap_or(0));
                self.row.optional(parameters.number());
            }
            ids::TASK_INFO
            | ids::STACK_INFO
            | ids::INIT
            | ids::SYSDESC
            | ids::MODULEDESC
            | ids::NAME_RESOURCE
            | ids::NUMMODULES
            | ids::TASK_TERMINATE => return self.description(packet.id, parameters, at, out),
            id => {
                if id < ids::FIRST_MODULE {
                    self.choose_kernel(at, out)?;
                }
                self.described(packet, at, out);
            }
        }
        Flow::Continue(())
    }

    /// Looks up the events of the operating system when the first one occurs. Until then, the
    /// target may still describe itself.
    #[inline]
    fn choose_kernel(&mut self, at: Place, out: &mut Emitter<'_>) -> Flow {
        match self.kernel_chosen {
            true => Flow::Continue(()),
            false => self.look_up_kernel(at, out),
        }
    }

    #[cold]
    fn look_up_kernel(&mut self, at: Place, out: &mut Emitter<'_>) -> Flow {
        self.kernel_chosen = true;
        let Some(kernel) = kernel(out.trace) else {
            let message = "no table for the events of the operating system: they have no names; \
                           use -O kernel=NAME or --schema FILE";
            out.trace.diagnostics.add(Severity::Note, at.offset, message);
            return Flow::Continue(());
        };
        self.tables.use_kernel(kernel, &self.names, out)
    }

    /// Reports the events that were lost before an overflow packet.
    #[cold]
    fn overflow(&mut self, count: u32, at: Place, out: &mut Emitter<'_>) -> Flow {
        let core = self.cores.at(at.cpu);
        let before = core.drops.replace(count);
        let lost = match before {
            // The recorder's count omits the first event of each loss.
            Some(before) if before <= count => Some(u64::from(count - before) + 1),
            _ if core.joined => None,
            _ => Some(u64::from(count) + 1),
        };
        core.joined = false;
        // The lost events may have started another task or interrupt.
        core.forget();
        self.row.number(count);
        out.loss(lost, LossCause::BufferFull, at.offset)
    }

    /// Handles skipped bytes: after them, the running contexts are unknown.
    pub(super) fn skipped(&mut self, cpu: Option<u16>, joined: bool) {
        match cpu {
            Some(cpu) => {
                let core = self.cores.at(cpu);
                core.forget();
                core.joined |= joined;
            }
            None => self.cores.forget(),
        }
    }

    /// Handles the packet that creates a task: begins the task's life. The caller then adds the
    /// event of this packet.
    pub(super) fn creates(
        &mut self,
        packet: &Packet<'_>,
        at: Place,
        out: &mut Emitter<'_>,
    ) -> Flow {
        let address = self.address(packet.parameters(at.order).number().unwrap_or(0));
        let ticks = out.ticks(at.ticks);
        self.names.create(address, ticks, out)?;
        self.names.task(out.trace, address);
        Flow::Continue(())
    }
}

/// Returns the operating system that the texts of a trace describe.
fn kernel(trace: &Trace) -> Option<Kernel> {
    Kernel::described(trace.text("system"), trace.text("device"), trace.text("core"))
}
