//! A record that is being written, and the checks of its arguments.
//!
//! The event table determines the type and size of each argument, so a record always matches what
//! decoders expect. An argument that the settings omit is accepted but not written, so programs do
//! not depend on the switches.

use tracewell_wire::rkh::{FieldType, Item};

use super::open::is_half;
use super::{Buffer, Outcome, Refusal, Trace};
use crate::clock::Clock;

/// A record that has begun and not yet ended. It exists only if the record passes the filters.
///
/// Dropping it without [`Record::end`] aborts the record.
///
/// ```
/// use tracewell_record::rkh::{About, Filter, Options, Outcome, StreamBuffer, Trace};
/// use tracewell_wire::rkh::events::V3_4;
///
/// let mut memory = [0; 256];
/// let mut trace = Trace::new(Options::default(), StreamBuffer::new(&mut memory), &mut [], || 0);
/// trace.filters().all(Filter::Off);
/// let record = trace.begin(&V3_4::FWK_ASSERT, About::NOTHING).unwrap();
/// assert_eq!(record.text(b"main").arg(42).end(), Outcome::Recorded);
/// ```
#[derive(Debug)]
pub struct Record<'t, 'm, C: Clock, B: Buffer> {
    pub(super) trace: &'t mut Trace<'m, C, B>,
}

impl<C: Clock, B: Buffer> Record<'_, '_, C, B> {
    /// Writes the next argument, a number; high bits that do not fit are discarded.
    #[inline]
    pub fn arg(self, value: u32) -> Self {
        let settings = self.trace.options.settings;
        if let Some(open) = &mut self.trace.open {
            match open.next().and_then(|field| Some((field, field.field_type.bytes(&settings)?))) {
                Some((field, size)) if !is_half(field.field_type) => {
                    if field.condition.holds(&settings) {
                        open.frame.number(&mut self.trace.buffer, value, size);
                    }
                }
                _ => open.fault = Some(Refusal::Arguments),
            }
        }
        self
    }

    /// Writes the next argument, a string, followed by a NUL.
    pub fn text(self, text: &[u8]) -> Self {
        if let Some(open) = &mut self.trace.open {
            match open.next().map(|field| field.field_type) {
                Some(FieldType::Text) if text.contains(&0) => open.fault = Some(Refusal::Text),
                Some(FieldType::Text) => {
                    open.frame.bytes(&mut self.trace.buffer, text);
                    open.frame.byte(&mut self.trace.buffer, 0);
                }
                _ => open.fault = Some(Refusal::Arguments),
            }
        }
        self
    }

    /// Writes the next item of a user event.
    #[inline]
    pub fn item(self, item: Item<'_>) -> Self {
        let settings = self.trace.options.settings;
        let buffer = &mut self.trace.buffer;
        if let Some(open) = &mut self.trace.open {
            let items = open.fields.first().map(|field| field.field_type) == Some(FieldType::Items);
            match item.parts(&settings) {
                _ if !items => open.fault = Some(Refusal::Arguments),
                None => open.fault = Some(Refusal::Text),
                Some(parts) => {
                    open.frame.bytes(buffer, parts.head());
                    open.frame.bytes(buffer, parts.body);
                    if parts.zero {
                        open.frame.byte(buffer, 0);
                    }
                }
            }
        }
        self
    }

    /// Writes bytes of an argument whose form the program chooses. Such an argument is always the
    /// last. It occurs in user events (in versions before 2.3) and in expectations of unit tests.
    pub fn bytes(self, bytes: &[u8]) -> Self {
        if let Some(open) = &mut self.trace.open {
            match open.fields.first().map(|field| field.field_type) {
                Some(FieldType::Rest) => open.frame.bytes(&mut self.trace.buffer, bytes),
                _ => open.fault = Some(Refusal::Arguments),
            }
        }
        self
    }

    /// Writes the checksum and the flag.
    #[inline]
    pub fn end(self) -> Outcome {
        self.trace.finish()
    }

    /// Leaves the record open; [`Trace::resume`] continues it. This is for programs that begin,
    /// write and end a record in separate calls that share only the trace.
    pub fn pause(self) {
        core::mem::forget(self);
    }
}

impl<C: Clock, B: Buffer> Drop for Record<'_, '_, C, B> {
    fn drop(&mut self) {
        self.trace.abort();
    }
}
