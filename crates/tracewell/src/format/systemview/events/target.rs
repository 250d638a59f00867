//! Events that describe the target: its clock, its texts, and the names of tasks, resources,
//! modules and interrupts.

use tracewell_wire::systemview::ids;
use tracewell_wire::systemview::packet::Parameters;

use super::{Events, Place};
use crate::format::systemview::names::Numbers;
use crate::model::{Emitter, Fact, FactForm, Flow, Rate, Severity, Trace};
use crate::text::shown;

impl Events {
    /// Handles an event that describes the target.
    #[cold]
    pub(super) fn description(
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
                let events = self.tables.new_events(first, &String::from_utf8_lossy(text));
                if !events.is_empty() {
                    out.flush()?;
                    self.tables.add_events(out.trace, events);
                }
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
        // A later INIT replaces the facts of an earlier one.
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
                let message = format!("expected the clock rate {known} as before, found {rate}");
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

    pub(super) fn name(&mut self, numbers: Numbers, number: u32, name: &[u8], trace: &mut Trace) {
        if self.names.set(trace, numbers, number, name) {
            let name = shown(name).into_owned();
            let entry = std::iter::once((u64::from(number), name));
            self.tables.name_numbers(trace, numbers, entry);
        }
    }
}
