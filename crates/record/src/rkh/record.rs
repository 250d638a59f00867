//! A record that is being written, and the check of its arguments.
//!
//! The table says which argument comes next and how many bytes it has, so that a record cannot
//! disagree with what a reader expects. An argument that the settings leave out is taken and not
//! written: the program says the same whatever its switches.

use tracewell_wire::rkh::{Field, FieldType, Item};

use super::{Buffer, Outcome, Refusal, Trace};
use crate::clock::Clock;

/// A record between its beginning and its end; exists only where the record passes.
///
/// One that is dropped without [`Record::end`] is given up.
#[derive(Debug)]
pub struct Record<'t, 'm, C: Clock, B: Buffer> {
    pub(super) trace: &'t mut Trace<'m, C, B>,
}

/// What stays of a record between two calls.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) frame: super::frame::Frame,
    /// Arguments that are still to come.
    pub(super) fields: &'static [Field],
    pub(super) fault: Option<Refusal>,
}

impl<C: Clock, B: Buffer> Record<'_, '_, C, B> {
    /// The next argument, a number; the high bits that do not fit are cut off.
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

    /// The next argument, a text, which gets a zero behind it.
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

    /// The next item of a user event.
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

    /// Bytes of the last argument where its form is the program's: user events before 2.3, and what
    /// a unit test expects.
    pub fn bytes(self, bytes: &[u8]) -> Self {
        if let Some(open) = &mut self.trace.open {
            match open.fields.first().map(|field| field.field_type) {
                Some(FieldType::Rest) => open.frame.bytes(&mut self.trace.buffer, bytes),
                _ => open.fault = Some(Refusal::Arguments),
            }
        }
        self
    }

    /// Checksum and flag.
    #[inline]
    pub fn end(self) -> Outcome {
        self.trace.finish()
    }

    /// Leaves the record open, for [`Trace::resume`]: for programs that begin, write and end a record
    /// by calls that share nothing but the trace.
    pub fn pause(self) {
        core::mem::forget(self);
    }
}

impl<C: Clock, B: Buffer> Drop for Record<'_, '_, C, B> {
    fn drop(&mut self) {
        self.trace.give_up();
    }
}

impl Open {
    /// Takes the next field.
    fn next(&mut self) -> Option<Field> {
        let (field, rest) = self.fields.split_first()?;
        self.fields = rest;
        Some(*field)
    }

    /// Whether every argument was written.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.fields, [] | [Field { field_type: FieldType::Items | FieldType::Rest, .. }])
    }
}

/// Halves of a byte occur in configuration records only, which are not written by argument.
pub(super) const fn is_half(field: FieldType) -> bool {
    matches!(field, FieldType::HighHalf | FieldType::LowHalf | FieldType::Number)
}
