//! Writes the line of any event, part by part. `kept_lines` writes the lines of most events faster.

use std::io::Write;

use super::escape::{escape_from, put_text};
use super::keys::Absent;
use super::plan::{argument_plan, context_plan, event_plan};
use super::values::{self, Prefix, put_key};
use super::{EventFormat, EventWriter};
use crate::model::{ContextDetail, Event};
use crate::text::{Literal, Reservation, TextBuffer};

impl<W: Write> EventWriter<W> {
    /// Writes all parts of the line up to the last named argument. Reserves the buffer once.
    pub(super) fn values(&mut self, event: Event<'_>) {
        let Event { trace, row } = event;
        let format = self.format;
        // Contexts may get their names while the trace is being read. Rebuild only the parts of
        // contexts that changed.
        trace.contexts.update(&mut self.contexts, &mut self.seen_contexts, |id, _| {
            context_plan(format, trace, id)
        });
        let Some(context) = self.contexts.get(row.context.index()) else { return };
        let plan = self.events.get(row.id, || event_plan(format, trace, row.id));
        let keys = &self.keys;
        let out = self.lines.buffer();
        let time = trace.clock.nanoseconds(row.ticks);
        let mut room = out
            .room(keys.room + context.text.len() + plan.room)
            .literal(&keys.seq)
            .decimal(row.seq)
            .literal(&keys.ticks);
        room = self.ticks.put(room, row.ticks);
        room = match time {
            Some(time) => self.time.put(room.literal(&keys.time_ns), time),
            None => absent(room, &keys.time_ns, keys.absent),
        };
        if self.form.is_some() {
            room.done();
            self.times.put_field(out, (format, &keys.time, keys.absent), event);
            room = out.room(keys.room + context.text.len() + plan.room);
        }
        room = room.literal(&keys.cpu).decimal(u64::from(row.cpu)).literal(&context.text);
        room = match row.priority.get() {
            Some(priority) => room.literal(&keys.priority).decimal(u64::from(priority)),
            None => absent(room, &keys.priority, keys.absent),
        };
        room = room.literal(&plan.head);
        // Strings, lists and negative numbers need escapes and more room than was reserved.
        if plan.more_than_digits {
            room.done();
            values::put(out, format, event, &plan.args);
            return put_detail(out, format, &self.details, event);
        }
        let mut first = true;
        let digits = trace.payload.digits();
        for (index, prefix) in plan.args.iter().enumerate() {
            let Some(value) = trace.payload.argument(row.payload, index) else { continue };
            // The first argument that is present has no separator. Arguments before it may be
            // absent.
            let separated = index == 0 || !first;
            let text = &prefix.text;
            room = if separated { room.literal(text) } else { room.literal(&text.tail(1)) };
            room = if prefix.is_key {
                put_key(room, format, value, digits)
            } else {
                room.decimal(value)
            };
            first = false;
        }
        room.done();
        // Also show words that the schema does not describe, so that no recorded data is omitted.
        for index in plan.args.len()..trace.payload.arguments(row.payload) {
            let value = trace.payload.argument(row.payload, index).unwrap_or(0);
            out.literal(&argument_plan(format, index, None, false).text);
            out.decimal(value);
        }
        put_detail(out, format, &self.details, event);
    }

    pub(super) fn text(&mut self, event: Event<'_>) {
        if self.decoded {
            self.decoded_arguments(event);
        }
        let out = self.lines.buffer();
        out.literal(&self.keys.text);
        let start = out.len();
        self.describer.put(out, event);
        escape_from(self.format, out, start);
        match event.kind().instrumentation.span {
            Some(_) => put_span(out, self.format, event),
            None => out.literal(&self.keys.end),
        }
    }

    fn decoded_arguments(&mut self, event: Event<'_>) {
        let out = self.lines.buffer();
        out.text(br#"},"args_text":{"#);
        let first = out.len();
        for (index, argument) in event.kind().args.iter().enumerate() {
            let before = out.len();
            if before > first {
                out.byte(b',');
            }
            out.byte(b'"');
            put_text(self.format, out, argument.name.as_bytes());
            out.text(br#"":""#);
            let start = out.len();
            if !self.describer.put_value(out, event, index) {
                out.truncate(before);
                continue;
            }
            escape_from(self.format, out, start);
            out.byte(b'"');
        }
    }
}

/// Appends a property of the context as a further argument. In records with such a property, other
/// arguments always precede it.
#[inline]
pub(super) fn put_detail(
    out: &mut TextBuffer,
    format: EventFormat,
    [threshold, interrupted]: &[Prefix; 2],
    event: Event<'_>,
) {
    let Some(recorded) = &event.trace.details else { return };
    let (name, value) = match recorded.detail(event.row.record) {
        None => return,
        Some(ContextDetail::PreemptionThreshold(value)) => (threshold, u64::from(value)),
        Some(ContextDetail::Interrupted(thread)) => (interrupted, thread),
    };
    let room = out.room(name.text.len() + Reservation::NUMBER + 1).literal(&name.text);
    if !name.is_key {
        return room.decimal(value).done();
    }
    put_key(room, format, value, event.trace.payload.digits()).done();
}

/// Appends the end of a JSON line, after the value of `text`. The end contains the target if a
/// bridge passed on the event from another logger, and the span if the event has one.
fn put_span(out: &mut TextBuffer, format: EventFormat, event: Event<'_>) {
    let site = event.kind().instrumentation.site.as_ref();
    let forwarded = site.is_some_and(|site| site.forwarded.is_some());
    if let Some(target) = event.target().filter(|_| forwarded) {
        out.text(br#"","target":""#);
        put_text(format, out, target.as_bytes());
    }
    match event.span().map(|number| event.span_name(number)) {
        None => out.text(br#""}"#),
        Some(None) => out.text(br#"","span":null}"#),
        Some(Some(name)) => {
            out.text(br#"","span":""#);
            put_text(format, out, name.as_bytes());
            out.text(br#""}"#);
        }
    }
}

#[inline(always)]
fn absent<'a>(room: Reservation<'a>, key: &Literal, absent: Absent) -> Reservation<'a> {
    if absent == Absent::Empty { room.literal(key) } else { room }
}
