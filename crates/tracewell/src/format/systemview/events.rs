//! Converts packets to events with arguments and contexts, and handles the names and the losses
//! that packets report.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;
use tracewell_wire::systemview::ids::{self, SHAPES, extended};
use tracewell_wire::systemview::packet::Parameters;
use tracewell_wire::systemview::{Packet, ShortPacket, TextOrder};

use super::cores::Cores;
use super::kernels::Kernel;
use super::names::{Names, Numbers};
use super::print;
use super::row::{self, Row};
use super::stream::Known;
use super::tables::{Field, Tables, shown_id};
use crate::model::{Emitter, Fact, FactForm, Flow, LossCause, NewEvent, Rate, Severity, Trace};
use crate::text::shown;

/// One turn: the number of ticks after which a target's counter wraps.
const TURN: u64 = 1 << 32;

/// Maximum number of series whose types are stored.
const MAX_SERIES: usize = 1 << 16;

/// The events whose arguments are at most two numbers and whose handling is short: bit `i` is set
/// for the event with id `i`.
pub(super) const SHORT: u32 = {
    let (mut short, mut id) = (1 << ids::TASK_STOP_READY, 0);
    while id < SHAPES.len() {
        let is_short = SHAPES[id].numbers < 2 && !SHAPES[id].text;
        short |= (is_short as u32) << id;
        id += 1;
    }
    short & !(1 << ids::OVERFLOW)
};

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
    /// The operating system; `Some(None)` if there is no description of its events.
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

    /// Returns the address of an identifier. To get the identifier, the recorder removes the lowest
    /// bits of the address.
    #[inline]
    fn address(&self, id: u32) -> u64 {
        u64::from(self.base.wrapping_add(id.checked_shl(self.shift).unwrap_or(0)))
    }

    /// Returns the number of ticks by which the time of the system is ahead of the counter. These
    /// are whole turns of the counter without a packet. Returns 0 if there were no such turns.
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
        // a turn.
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
        let is_short = packet.id < u32::BITS && SHORT >> packet.id & 1 == 1;
        if is_short {
            let mut parameters = packet.parameters(at.order);
            let numbers = (parameters.number(), parameters.number());
            self.short(packet.id, numbers, at, out);
        } else {
            self.row.clear();
            self.long(packet, at, out)?;
            self.row.write(&mut out.buffer.payloads);
        }
        let id = shown_id(packet, at.order);
        let context = self.cores.context(packet.id, at.cpu, out.trace);
        let event = NewEvent { cpu: at.cpu, ..NewEvent::new(ticks, context, id) };
        out.decoded(event, record)
    }

    /// Adds the event of a short packet. Its event is one of [`SHORT`].
    #[inline]
    pub(super) fn add_short(
        &mut self,
        packet: &ShortPacket,
        at: Place,
        out: &mut Emitter<'_>,
    ) -> Flow {
        let ticks = out.ticks(at.ticks);
        let at = Place { ticks, ..at };
        self.short(packet.id, (packet.first(), packet.second()), at, out);
        let context = self.cores.context(packet.id, at.cpu, out.trace);
        let event = NewEvent { cpu: at.cpu, ..NewEvent::new(ticks, context, packet.id) };
        out.decoded(event, at.offset..at.offset + packet.length as u64)
    }

    /// Handles an event of [`SHORT`] with these parameters. These are the most frequent events.
    #[inline(always)]
    fn short(
        &mut self,
        id: u32,
        (number, second): (Option<u32>, Option<u32>),
        at: Place,
        out: &mut Emitter<'_>,
    ) {
        let value = match id {
            ids::TASK_START_EXEC
            | ids::TASK_START_READY
            | ids::TASK_STOP_READY
            | ids::TASK_CREATE
            | ids::TIMER_ENTER => self.address(number.unwrap_or(0)),
            _ => u64::from(number.unwrap_or(0)),
        };
        self.effect(id, value, at, out);
        let payloads = &mut out.buffer.payloads;
        match (number, second) {
            (None, _) => row::put(payloads, []),
            (Some(_), None) => row::put(payloads, [value]),
            (Some(_), Some(second)) => row::put(payloads, [value, u64::from(second)]),
        }
    }

    /// Updates the running contexts.
    #[inline(always)]
    fn effect(&mut self, id: u32, value: u64, at: Place, out: &mut Emitter<'_>) {
        let core = self.cores.at(at.cpu);
        match id {
            ids::TASK_START_EXEC => {
                let task = self.names.task(out.trace, value);
                core.runs(task);
            }
            ids::TASK_START_READY | ids::TASK_STOP_READY => {
                self.names.task(out.trace, value);
            }
            ids::ISR_ENTER => {
                let interrupt = self.names.interrupt(out.trace, value as u32);
                core.enter(interrupt);
            }
            ids::IDLE => core.runs(self.names.idle(out.trace, at.cpu)),
            ids::TASK_STOP_EXEC => core.stops(Names::scheduler(out.trace)),
            ids::TRACE_STOP => self.cores.forget(),
            _ => {}
        }
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
                self.choose_kernel(at, out);
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
                    self.choose_kernel(at, out);
                }
                self.described(packet, at, out);
            }
        }
        Flow::Continue(())
    }

    /// Handles an event that describes the target.
    #[cold]
    fn description(
        &mut self,
        id: u32,
        parameters: Parameters<'_>,
        at: Place,
        out: &mut Emitter<'_>,
    ) -> Flow {
        let mut parameters = parameters;
        let mut number = || parameters.number().unwrap_or(0);
        match id {
            ids::TASK_INFO => {
                let (task, priority) = (self.address(number()), number());
                let name = parameters.text().unwrap_or_default();
                self.names.describe(task, priority, name, at.ticks, out)?;
                self.row.number(task);
                self.row.number(priority);
                self.row.bytes(name);
            }
            ids::STACK_INFO => {
                let (task, base, size, usage) =
                    (self.address(number()), number(), number(), number());
                // Zephyr swaps base and size when it reports a single thread.
                let (base, size) = if base < size { (size, base) } else { (base, size) };
                self.names.stack(out.trace, task, base, size);
                self.row.number(task);
                [base, size, usage].into_iter().for_each(|value| self.row.number(value));
            }
            ids::INIT => {
                let facts = [number(), number(), number(), number()];
                self.init(facts, at, out);
                facts.into_iter().for_each(|value| self.row.number(value));
            }
            ids::MODULEDESC => {
                let (module, first) = (number(), number());
                let text = parameters.text().unwrap_or_default();
                self.tables.add_module(out.trace, first, &String::from_utf8_lossy(text));
                self.row.number(module);
                self.row.number(first);
                self.row.bytes(text);
            }
            ids::NAME_RESOURCE => {
                let resource = self.address(number());
                let name = parameters.text().unwrap_or_default();
                self.names.resource(out.trace, resource, name);
                self.row.number(resource);
                self.row.bytes(name);
            }
            ids::TASK_TERMINATE => {
                let task = self.address(number());
                self.names.task(out.trace, task);
                self.names.end(out.trace, task, at.ticks);
                self.row.number(task);
            }
            ids::SYSDESC => {
                let text = parameters.text().unwrap_or_default();
                self.target(&String::from_utf8_lossy(text), out.trace);
                self.row.bytes(text);
            }
            _ => self.row.number(number()),
        }
        Flow::Continue(())
    }

    fn init(&mut self, facts: [u32; 4], at: Place, out: &mut Emitter<'_>) {
        let [frequency, _, base, shift] = facts;
        self.base = self.given.base.unwrap_or(base);
        self.shift = self.given.shift.unwrap_or(shift).min(31);
        let names = ["sys_freq", "cpu_freq", "ram_base", "id_shift"];
        let trace = &mut *out.trace;
        trace.facts.retain(|fact| !names.contains(&fact.name));
        trace.facts.extend(names.into_iter().zip(facts).map(|(name, value)| {
            let form = if name == "ram_base" { FactForm::Hexadecimal } else { FactForm::Decimal };
            Fact { name, value: u64::from(value), form }
        }));
        let rate = Rate::new(u64::from(frequency), 1).filter(|_| self.given.rate.is_none());
        match (trace.clock.rate, rate) {
            (None, rate) => trace.clock.rate = rate,
            (Some(known), Some(rate)) if known != rate && trace.clock.changes.is_empty() => {
                trace.clock.change_rate(at.ticks, rate);
                let message = format!("expected the rate {known} of the clock again, found {rate}");
                trace.diagnostics.add(Severity::Warning, at.offset, message);
            }
            _ => {}
        }
    }

    /// Reads a text of the form `N=mill,O=FreeRTOS,I#15=SysTick`.
    fn target(&mut self, text: &str, trace: &mut Trace) {
        for (key, value) in text.split(',').filter_map(|part| part.split_once('=')) {
            let name = match key.trim() {
                "N" => "application",
                "D" => "device",
                "C" => "core",
                "O" => "system",
                key => {
                    let number = key.strip_prefix("I#").and_then(|number| number.parse().ok());
                    if let Some(number) = number {
                        self.name(Numbers::Interrupts, number, value.as_bytes(), trace);
                    }
                    continue;
                }
            };
            let value = shown(value.trim().as_bytes()).into_owned();
            match trace.texts.iter_mut().find(|(known, _)| *known == name) {
                // The streams of several cores differ only in this text.
                Some(_) if name == "core" => {}
                Some((_, known)) => *known = value,
                None => trace.texts.push((name, value)),
            }
        }
    }

    fn name(&mut self, numbers: Numbers, number: u32, name: &[u8], trace: &mut Trace) {
        if self.names.set(trace, numbers, number, name) {
            let name = shown(name).into_owned();
            let entry = std::iter::once((u64::from(number), name));
            self.tables.name_numbers(trace, numbers, entry);
        }
    }

    /// Looks up the events of the operating system when the first one occurs. Until then, the
    /// target may still describe itself.
    #[inline]
    fn choose_kernel(&mut self, at: Place, out: &mut Emitter<'_>) {
        if !self.kernel_chosen {
            self.look_up_kernel(at, out.trace);
        }
    }

    #[cold]
    fn look_up_kernel(&mut self, at: Place, trace: &mut Trace) {
        self.kernel_chosen = true;
        let Some(kernel) = kernel(trace) else {
            let message = "no table for the events of the operating system: they have no names; \
                           use -O kernel=NAME or --schema FILE";
            return trace.diagnostics.add(Severity::Note, at.offset, message);
        };
        self.tables.use_kernel(trace, kernel, &self.names);
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
        // The lost events may have changed the running task and interrupt.
        core.forget();
        self.row.number(count);
        out.loss(lost, LossCause::BufferFull, at.offset)
    }

    fn sample(&mut self, parameters: Parameters<'_>) {
        let mut parameters = parameters;
        let (series, value) = (parameters.number().unwrap_or(0), parameters.number().unwrap_or(0));
        let value = match self.series.get(&series) {
            Some(0) => f64::from(value),
            Some(1) => f64::from(value.cast_signed()),
            _ => f64::from(f32::from_bits(value)),
        };
        self.row.number(series);
        self.row.number(value.to_bits());
    }

    fn print(&mut self, parameters: Parameters<'_>) {
        let mut parameters = parameters;
        let text = parameters.text().unwrap_or_default();
        let options = parameters.number().unwrap_or(0);
        let count = parameters.number().unwrap_or(0) as usize;
        let list = parameters.rest;
        let arguments: Vec<_> =
            std::iter::from_fn(|| parameters.number()).take(count.min(list.len())).collect();
        if count == 0 {
            self.row.bytes(text);
        } else {
            let formatted = print::format(&String::from_utf8_lossy(text), &arguments);
            self.row.bytes(formatted.as_bytes());
        }
        self.row.number(options & 3);
        if count == 0 {
            self.row.optional(None::<u64>);
        } else {
            self.row.bytes(text);
        }
        self.row.list(if count == 0 { &[] } else { list });
    }

    fn extended(&mut self, parameters: Parameters<'_>, out: &mut Emitter<'_>) {
        let all = parameters.rest;
        let mut parameters = parameters;
        let id = parameters.number().unwrap_or(0);
        let mut number = || parameters.number().unwrap_or(0);
        let size = |shift: u32, size: u32| u64::from(size) << shift;
        match id {
            extended::MARK => self.row.number(number()),
            extended::NAME_MARKER => {
                let marker = number();
                let name = parameters.text().unwrap_or_default();
                self.name(Numbers::Markers, marker, name, out.trace);
                self.row.number(marker);
                self.row.bytes(name);
            }
            extended::HEAP_DEFINE => {
                let (heap, base) = (self.address(number()), self.address(number()));
                self.row.number(heap);
                self.row.number(base);
                self.row.number(size(self.shift, number()));
                self.row.number(number());
            }
            extended::HEAP_ALLOC | extended::HEAP_ALLOC_EX | extended::HEAP_FREE => {
                let (heap, block) = (self.address(number()), self.address(number()));
                self.row.number(heap);
                self.row.number(block);
                if id != extended::HEAP_FREE {
                    self.row.number(size(self.shift, number()));
                }
                if id == extended::HEAP_ALLOC_EX {
                    self.row.number(number());
                }
            }
            extended::REGISTER_DATA => self.series(parameters, out),
            _ => self.row.list(all),
        }
    }

    fn series(&mut self, parameters: Parameters<'_>, out: &mut Emitter<'_>) {
        let mut parameters = parameters;
        let series = parameters.number().unwrap_or(0);
        let name = parameters.text().unwrap_or_default();
        self.name(Numbers::Series, series, name, out.trace);
        self.row.number(series);
        self.row.bytes(name);
        let kind = parameters.number();
        if self.series.len() < MAX_SERIES {
            self.series.insert(series, kind.unwrap_or(0));
        }
        self.row.optional(kind);
        for _ in 0..3 {
            self.row.optional(parameters.number());
        }
        let scale = parameters.number().map(|bits| f64::from(f32::from_bits(bits)).to_bits());
        self.row.optional(scale);
        match parameters.text() {
            Some(unit) => self.row.bytes(unit),
            None => self.row.optional(None::<u64>),
        }
    }

    /// Adds the arguments of an event that a schema describes.
    fn described(&mut self, packet: &Packet<'_>, at: Place, out: &mut Emitter<'_>) {
        let id = shown_id(packet, at.order);
        let plan = self.tables.take_plan(&out.trace.schema, id);
        self.arguments(&plan, packet, at, out);
        self.tables.return_plan(id, plan);
    }

    /// Adds the arguments of a plan.
    fn arguments(&mut self, plan: &[Field], packet: &Packet<'_>, at: Place, out: &mut Emitter<'_>) {
        let mut parameters = packet.parameters(at.order);
        if !self.planned(plan, &mut parameters, out.trace) {
            // The description does not fit, so all parameters are shown as numbers.
            self.row.clear();
            for field in plan.iter() {
                match field {
                    Field::Rest => self.row.list(packet.payload),
                    _ => self.row.optional(None::<u64>),
                }
            }
            parameters.rest = &[];
        }
        let rest = !parameters.rest.is_empty() && !plan.contains(&Field::Rest);
        if rest && !std::mem::replace(&mut self.undescribed, true) {
            let id = packet.id;
            let message =
                format!("event {id} has more parameters than its description, which are not shown");
            out.trace.diagnostics.add(Severity::Warning, at.offset, message);
        }
    }

    /// Adds the parameters according to a plan. Returns false if they do not fit.
    fn planned(&mut self, plan: &[Field], parameters: &mut Parameters<'_>, trace: &Trace) -> bool {
        for field in plan.iter() {
            if *field == Field::Rest {
                self.row.list(parameters.rest);
                parameters.rest = &[];
                continue;
            }
            if parameters.rest.is_empty() {
                self.row.optional(None::<u64>);
                continue;
            }
            if *field == Field::Text {
                let Some(text) = parameters.text() else { return false };
                self.row.bytes(text);
                continue;
            }
            let Some(number) = parameters.number() else { return false };
            self.row.number(match field {
                Field::Shrunk => self.address(number),
                Field::Object { shrunk } => self.object(number, *shrunk, trace),
                Field::Float => f64::from(f32::from_bits(number)).to_bits(),
                _ => u64::from(number),
            });
        }
        true
    }

    /// Returns the key of an object. Systems record some objects by identifiers and other objects
    /// by addresses. `shrunk` says which form is more likely. The other form applies if it is the
    /// key of a known object and the more likely form is not.
    fn object(&self, number: u32, shrunk: bool, trace: &Trace) -> u64 {
        let readings = [self.address(number), u64::from(number)];
        let [first, second] = if shrunk { readings } else { [readings[1], readings[0]] };
        let is_known = |key| !trace.objects.with_key(key).is_empty();
        if !is_known(first) && is_known(second) { second } else { first }
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

    /// Begins the life of a task before the task's event is added.
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
