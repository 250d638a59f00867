//! Writes the field `time` of an event: seconds since the first or the previous event, or a date.

use super::EventFormat;
use super::keys::Absent;
use crate::model::{Event, Severity, Trace};
use crate::text::calendar::Dates;
use crate::text::{Literal, TextBuffer, TimeForm};

/// Writes the times of a trace's events, in order.
#[derive(Debug)]
pub(super) struct Times {
    form: Form,
    /// Nanoseconds of the previous event that was written.
    before: Option<u64>,
    /// True if an event was written.
    written: bool,
    /// True if the time of a written event was known.
    is_known: bool,
}

#[derive(Debug)]
enum Form {
    Relative,
    Delta,
    Dates(Box<Dates>),
}

impl Times {
    pub(super) fn new(form: TimeForm) -> Self {
        let form = match form {
            TimeForm::Relative => Form::Relative,
            TimeForm::Delta => Form::Delta,
            TimeForm::Absolute(zone) => Form::Dates(Box::new(Dates::new(zone))),
        };
        Self { form, before: None, written: false, is_known: false }
    }

    /// Continues after an event with these ticks.
    pub(super) fn resume(&mut self, trace: &Trace, ticks: u64) {
        self.before = trace.clock.nanoseconds(ticks);
    }

    /// Combines `written` and `is_known` with the values for another part of the trace.
    pub(super) fn add(&mut self, part: &Self) {
        self.written |= part.written;
        self.is_known |= part.is_known;
    }

    /// Appends the time of the next event. Appends nothing and returns false if the clock's rate is
    /// unknown, or if the date does not fit into 64 bits.
    pub(super) fn put(&mut self, out: &mut TextBuffer, event: Event<'_>) -> bool {
        self.written = true;
        let is_known = match &mut self.form {
            Form::Relative => event.nanoseconds().map(|time| out.seconds(time, 0)).is_some(),
            Form::Delta => {
                let time = event.nanoseconds();
                let before = std::mem::replace(&mut self.before, time).or(time);
                // If the clock goes back, the difference is 0.
                let delta = time.zip(before).map(|(time, before)| time.saturating_sub(before));
                delta.map(|delta| out.seconds(delta, 0)).is_some()
            }
            Form::Dates(dates) => {
                let date = event.trace.wall_clock_ns(event.ticks());
                date.map(|ns| dates.put(out.room(Dates::ROOM), ns).done()).is_some()
            }
        };
        self.is_known |= is_known;
        is_known
    }

    /// Appends the field with its key. A date is a string in JSON. `absent` defines how an unknown
    /// time is written.
    pub(super) fn put_field(
        &mut self,
        out: &mut TextBuffer,
        (format, key, absent): (EventFormat, &Literal, Absent),
        event: Event<'_>,
    ) {
        let start = out.len();
        let is_text = format == EventFormat::JsonLines && matches!(self.form, Form::Dates(_));
        out.literal(key);
        if is_text {
            out.byte(b'"');
        }
        let is_known = self.put(out, event);
        if !is_known && absent == Absent::Omitted {
            out.truncate(start);
        } else if is_text {
            out.byte(b'"');
        }
    }

    /// Adds a warning to a trace if none of the written events had a known time.
    pub(super) fn remark(&self, trace: &mut Trace) {
        if self.written && !self.is_known {
            let message = "--time has no effect: the rate of the trace's clock is unknown: give it \
                           with -O rate=TICKS_PER_SECOND";
            trace.diagnostics.add(Severity::Warning, None, message);
        }
    }
}
