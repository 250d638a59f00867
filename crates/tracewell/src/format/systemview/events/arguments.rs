//! Adds the arguments of samples, texts, heaps, series, and all events that a schema describes.

use tracewell_wire::systemview::Packet;
use tracewell_wire::systemview::ids::extended;
use tracewell_wire::systemview::packet::Parameters;

use super::{Events, Place};
use crate::format::systemview::names::Numbers;
use crate::format::systemview::print;
use crate::format::systemview::tables::{Field, shown_id};
use crate::model::{Emitter, Severity, Trace};

/// Maximum number of series whose types are stored.
const MAX_SERIES: usize = 1 << 16;

impl Events {
    pub(super) fn sample(&mut self, parameters: Parameters<'_>) {
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

    pub(super) fn print(&mut self, parameters: Parameters<'_>) {
        let mut parameters = parameters;
        let text = parameters.text().unwrap_or_default();
        let options = parameters.number().unwrap_or(0);
        let count = parameters.number().unwrap_or(0) as usize;
        let list = parameters.rest;
        // A damaged count can be too large. Each argument has at least one byte, so the number of
        // bytes is the limit.
        let arguments: Vec<_> =
            std::iter::from_fn(|| parameters.number()).take(count.min(list.len())).collect();
        if count == 0 {
            self.row.bytes(text);
        } else {
            let formatted = print::format(&String::from_utf8_lossy(text), &arguments);
            self.row.bytes(formatted.as_bytes());
        }
        // The low two bits are the level: log, warning or error.
        self.row.number(options & 3);
        if count == 0 {
            self.row.optional(None::<u64>);
        } else {
            self.row.bytes(text);
        }
        self.row.list(if count == 0 { &[] } else { list });
    }

    pub(super) fn extended(&mut self, parameters: Parameters<'_>, out: &mut Emitter<'_>) {
        // If the second id is unknown, the row shows all parameters, including the id itself.
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
        // The scale is a floating-point number of 32 bits.
        let scale = parameters.number().map(|bits| f64::from(f32::from_bits(bits)).to_bits());
        self.row.optional(scale);
        match parameters.text() {
            Some(unit) => self.row.bytes(unit),
            None => self.row.optional(None::<u64>),
        }
    }

    /// Adds the arguments of an event that a schema describes.
    pub(super) fn described(&mut self, packet: &Packet<'_>, at: Place, out: &mut Emitter<'_>) {
        let id = shown_id(packet, at.order);
        let plan = self.tables.take_plan(&out.trace.schema, id);
        self.arguments(&plan, packet, at, out);
        self.tables.return_plan(id, plan);
    }

    /// Adds the arguments of a packet according to a plan.
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
            let message = format!(
                "event {id} has more parameters than its description; the additional ones are not shown"
            );
            out.trace.diagnostics.add(Severity::Warning, at.offset, message);
        }
    }

    /// Adds the parameters according to a plan. Returns false if they do not fit.
    fn planned(&mut self, plan: &[Field], parameters: &mut Parameters<'_>, trace: &Trace) -> bool {
        for field in plan.iter() {
            // The list contains all remaining parameters, so the arguments after it are absent.
            if *field == Field::Rest {
                self.row.list(parameters.rest);
                parameters.rest = &[];
                continue;
            }
            // Older targets send fewer parameters than the description has.
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
    /// by addresses. If `shrunk` is true, an identifier is more likely. Returns the less likely key
    /// only if it belongs to a known object and the more likely key does not.
    fn object(&self, number: u32, shrunk: bool, trace: &Trace) -> u64 {
        let readings = [self.address(number), u64::from(number)];
        let [first, second] = if shrunk { readings } else { [readings[1], readings[0]] };
        let is_known = |key| !trace.objects.with_key(key).is_empty();
        if !is_known(first) && is_known(second) { second } else { first }
    }
}
